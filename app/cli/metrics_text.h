// A timed run's counters for people: a summary, chosen metrics, and a table by source line.
#pragma once
#include <string>

#include "core/model/launch.h"
#include "core/ptx/program.h"

namespace lockstep::cli {

// Throws Failure when `wanted` is none of: empty (the summary), "all", "by-line", or names of metrics with commas between
// them, each as metric_of takes it ("sectors_per_request@line:7"). `result` may be null: only the names are looked at.
std::string metrics_text(const model::GpuSpec& gpu, const ptx::Program& program, const model::TimedResult* result,
                         const std::string& source, const std::string& wanted);

}  // namespace lockstep::cli
