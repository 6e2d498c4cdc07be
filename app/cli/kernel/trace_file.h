// `--trace FILE`: a timeline, written as its file's name ends.
#pragma once
#include <functional>
#include <string>

#include "core/trace/kernel_trace.h"
#include "core/trace/trace.h"

namespace lockstep::cli {

void check_trace_name(const std::string& file);  // .json, .csv, .txt or a device; else it is told
void write_trace(const Trace& trace, const std::string& file);
// The warp timeline of one SM; `name_of`: an instruction's text. What was cut off it is told.
void write_trace(const KernelTrace& trace, const std::string& kernel, const std::function<std::string(uint32_t pc)>& name_of,
                 const std::string& file);

}  // namespace lockstep::cli
