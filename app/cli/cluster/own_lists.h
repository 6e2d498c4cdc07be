// Lists that somebody wrote (*.collective, *.schedule), as `lockstep collective` and `lockstep schedule` take them: read,
// run, and what is wrong with them said with its place.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::cli {

// `kind`: "collective", "schedule". A Diagnostic where it cannot be read; what is read and wrong is in the rows.
Result<std::shared_ptr<const scene::ParallelScene>> read_lists(const std::string& kind, const std::string& file);

bool complain_of(std::span<const scene::ListFault> faults);  // on stderr, with advice; whether there was nothing to say
void add_faults(nlohmann::ordered_json& json, std::span<const scene::ListFault> faults);  // "right" and "wrong"

}  // namespace lockstep::cli
