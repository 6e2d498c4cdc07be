// `--trace FILE`: a timeline, written as its file's name ends.
#pragma once
#include <string>

#include "core/trace/trace.h"

namespace lockstep::cli {

void check_trace_name(const std::string& file);  // .json, .csv, .txt or a device; else it is told
void write_trace(const Trace& trace, const std::string& file);

}  // namespace lockstep::cli
