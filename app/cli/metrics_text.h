// A timed run's counters for people: a summary, chosen metrics, and a table by source line.
#pragma once
#include <string>

#include "core/model/launch.h"
#include "core/ptx/program.h"

namespace lockstep::cli {

// Throws Failure when `wanted` is none of: empty (the summary), "all", "by-line", "by-window", "all@cycles:100..200", or
// names of metrics with commas between them, each as metric_of takes it ("sectors_per_request@line:7") or of a stretch of
// time
// ("dram_throughput@cycles:100..200"). `result` may be null: only the names are looked at. `run`: where time is asked about.
std::string metrics_text(const model::GpuSpec& gpu, const ptx::Program& program, const model::TimedResult* result,
                         const std::string& source, const std::string& wanted, const model::KernelRun* run);
bool asks_for_windows(const std::string& wanted);

}  // namespace lockstep::cli
