#include "app/cli/train_modes.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "core/model/gpu_spec.h"
#include "core/nn/execution.h"

namespace lockstep::cli {

namespace {
bool simulated(const nn::StepRecord& step) {
    return step.device.starts_with("sim:");
}

double kernel_us(const nn::StepRecord& step) {
    double sum = 0;
    for (const device::LaunchEvent& event : step.launches) sum += event.end_us - event.begin_us;
    return sum;
}

// What a host thread spends on having the launches made: beside the kernels on the host, which runs them itself; of the
// enqueue thread where there is one; of the calls on a simulated host.
double dispatch_us(const nn::StepRecord& step) {
    double sum = 0;
    if (simulated(step)) {
        for (const device::LaunchEvent& event : step.launches) sum += event.enqueue_end_us - event.enqueue_begin_us;
        return sum;
    }
    if (step.queue.empty()) return 1e6 * step.issue_seconds - kernel_us(step);
    for (const graph::QueueEvent& node : step.queue) sum += node.enqueue_end_us - node.lookup_begin_us;
    return sum;
}
}  // namespace

std::string modes_text() {
    return "how launches reach the device: direct (unless said), eager (by a queue and a second thread), graph (captured, "
           "then replayed), fused (fewer launches)";
}

void add_mode(nlohmann::ordered_json& json, const nn::StepRecord& step) {
    const auto known = [](auto value) { return value >= 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json(); };
    json["mode"] = step.mode;
    json["replayed"] = step.replayed;
    json["bytes"] = known(step.traffic);
    json["dispatch_us"] = step.launches.empty() ? nlohmann::ordered_json() : json_number(dispatch_us(step));
    json["kernel_us"] = step.launches.empty() ? nlohmann::ordered_json() : json_number(kernel_us(step));
    json["peak_bytes"] = step.peak_bytes;
    json["planned_bytes"] = known(step.planned_bytes);
    json["device_bytes"] = step.device_bytes;
}

void print_mode(const nn::StepRecord& step) {
    if (step.mode == "direct" || step.launches.empty()) return;
    fmt::print("mode {}: {} launches, {:.1f} us of dispatch, {:.1f} us of kernels ({}), {:.2f} MB at most{}{}\n", step.mode,
               step.launches.size(), dispatch_us(step), kernel_us(step), simulated(step) ? "simulated" : "measured",
               double(step.peak_bytes) / 1e6,
               step.planned_bytes >= 0 ? fmt::format(" (planned {:.2f})", double(step.planned_bytes) / 1e6) : "",
               step.traffic >= 0 ? fmt::format(", {:.2f} MB moved (derived)", step.traffic / 1e6) : "");
}

Trace queue_timeline(const nn::StepRecord& step) {
    double call_us = 0;
    if (simulated(step)) call_us = model::gpu_named(step.device.substr(4)).value().call_us;
    return graph::trace_of(step.device, step.queue, step.launches, graph::usual_depth, call_us);
}

}  // namespace lockstep::cli
