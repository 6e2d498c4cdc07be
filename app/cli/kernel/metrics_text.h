// A timed run's counters for people: a summary, chosen metrics, and a table by source line.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/model/launch/launch.h"
#include "core/ptx/decode/program.h"

namespace lockstep::cli {

// `wanted`: empty (the summary), or a list with commas between of "all", "by-line", "by-window", "all@cycles:100..200" and
// names of metrics, each as metric_of takes it ("sectors_per_request@line:7") or of a stretch of time
// ("dram_throughput@cycles:100..200"). Throws Failure when an entry is none of these. `result` may be null: only the names
// are looked at. `run`: where time is asked about.
std::string metrics_text(const model::GpuSpec& gpu, const ptx::Program& program, const model::TimedResult* result,
                         const std::string& source, const std::string& wanted, const model::KernelRun* run);
// What of it JSON has: by_line, by_window, and the others under their names as asked for in `selected`.
nlohmann::ordered_json metrics_json(const ptx::Program& program, const model::TimedResult& result, const std::string& source,
                                    const std::string& wanted, const model::KernelRun* run);
// Every metric: its name, Nsight Compute's, its unit and what it says.
std::string metric_names();
nlohmann::ordered_json metric_names_json();
bool asks_for_windows(const std::string& wanted);

}  // namespace lockstep::cli
