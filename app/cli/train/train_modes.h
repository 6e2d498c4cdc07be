// What `lockstep train` says of the execution mode: figures of a step, and the two threads of the queue as a timeline.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/nn/train/step_record.h"
#include "core/nn/train/trainer.h"
#include "core/trace/trace.h"

namespace lockstep::cli {

std::string modes_text();  // of the option --mode
// Adds mode, bytes, dispatch_us, kernel_us, peak_bytes, planned_bytes, device_bytes. Microseconds are measured on the host
// and on cuda, simulated on sim. null: not known in this mode.
void add_mode(nlohmann::ordered_json& json, const nn::StepRecord& step);
void print_mode(const nn::StepRecord& step);  // one line, of modes that were asked for
// The same training in each of the modes eager, graph and fused: launches, bytes and time beside each other, and whether
// losses and parameters are the same to the bit (exit status 1 where not). json: "" none, "-" stdout, else a file.
int train_in_each_mode(nn::TrainerOptions options, int64_t steps, const std::string& json);
Trace queue_timeline(const nn::StepRecord& step);

}  // namespace lockstep::cli
