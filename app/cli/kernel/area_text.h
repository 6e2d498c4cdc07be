// Estimates of area, power, price and energy as tables and JSON. Internal to app/cli.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/model/gpus/area.h"
#include "core/model/metrics/energy.h"

namespace lockstep::cli {

std::string area_text(const model::GpuSpec&, const model::AreaEstimate&);
nlohmann::ordered_json area_json(const model::GpuSpec&, const model::AreaEstimate&);
std::string price_text(const model::AreaEstimate&);
nlohmann::ordered_json price_json(const model::AreaEstimate&);  // the rows of the money
std::string energy_text(const model::LaunchEnergy&);
nlohmann::ordered_json energy_json(const model::LaunchEnergy&);
// "7nm"; "" is the GPU's own. Throws Failure for what is none.
const model::Process* process_asked(const std::string& name);

}  // namespace lockstep::cli
