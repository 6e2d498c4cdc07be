// What came of a launch as JSON: the keys of `lockstep run --json`, which the command line and Python share.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "core/api/api.h"

namespace lockstep::api {

// A number as JSON has it: NaN and infinities are the strings "nan", "inf", "-inf".
nlohmann::ordered_json json_number(double value);
nlohmann::ordered_json indices(const simt::Dim3& d);
nlohmann::ordered_json diagnostic_json(const simt::Fault& fault);
nlohmann::ordered_json verdict_json(const model::Verdict& verdict);
// What bounds the launch, and how far the times of such kernels were from published measurements.
nlohmann::ordered_json time_error_json(const model::TimedResult& timed);
// gpu, kernel, grid, block, cycles, time_us, metrics, verdict, diagnostics, warnings, notes and occupancy; no outputs.
nlohmann::ordered_json report_of(const Launched& launched);

}  // namespace lockstep::api
