#include "app/cli/train/train_modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/long_work.h"
#include "core/base/diagnostic.h"
#include "core/base/tell.h"
#include "core/model/gpus/gpu_spec.h"
#include "core/nn/train/execution.h"

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
           "then replayed, neighbours element by element in one launch), fused (with products, norms and sums too); each: "
           "the last three beside each other";
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
    fmt::print("mode {}: {} launches, {:.1f} µs of dispatch, {:.1f} µs of kernels ({}), {:.2f} MB at most{}{}\n", step.mode,
               step.launches.size(), dispatch_us(step), kernel_us(step), simulated(step) ? "simulated" : "measured",
               double(step.peak_bytes) / 1e6,
               step.planned_bytes >= 0 ? fmt::format(" (planned {:.2f})", double(step.planned_bytes) / 1e6) : "",
               step.traffic >= 0 ? fmt::format(", {:.2f} MB moved (derived)", step.traffic / 1e6) : "");
}

int train_in_each_mode(nn::TrainerOptions options, int64_t steps, const std::string& json) {
    struct Row {
        std::string mode;
        nn::StepRecord step;
        double dispatch = 0, kernels = 0, whole = 0;  // microseconds, the least of its steps
        int64_t counted = 0;
        std::vector<double> losses;
        std::vector<float> parameters;
    };
    // The modes take turns, step by step: a shared computer's speed changes from one second to the next.
    constexpr nn::Mode modes[] = {nn::Mode::eager, nn::Mode::graph, nn::Mode::fused};
    std::vector<Row> rows;
    std::vector<nn::Trainer> trainers;
    options.keep_launches = true;
    LongWork work(options.model + " in each mode", LongWork::Interrupt::held);
    // On the host a step is short, and Ctrl-C lets it end; on a modelled GPU it is given up.
    if (options.device != "host") options.stop = work.token();
    for (const nn::Mode mode : modes) {
        options.mode = mode;
        trainers.emplace_back(options);
        rows.emplace_back().mode = nn::name_of(mode);
    }
    nn::StepRecord step;
    bool given_up = false;
    for (int64_t i = 0; i < steps && !work.interrupted() && !given_up; ++i)
        for (size_t m = 0; m < rows.size(); ++m) {
            Row& row = rows[m];
            work((double(i) + double(m) / double(rows.size())) / double(steps));
            try {
                trainers[m].step(step);
            } catch (const Cancelled&) {
                if (!work.interrupted()) throw;
                given_up = true;
                break;
            }
            row.losses.push_back(step.loss);
            const bool counts = modes[m] == nn::Mode::eager ? i >= 2 || i + 1 == steps : step.replayed;  // warm, or captured
            if (!counts) continue;
            double whole = 1e6 * step.issue_seconds;
            if (simulated(step) && !step.launches.empty())
                whole = step.launches.back().end_us - step.launches.front().enqueue_begin_us;
            const auto least = [&](double& known, double now) { known = row.counted == 0 ? now : std::min(known, now); };
            least(row.dispatch, dispatch_us(step));
            least(row.kernels, kernel_us(step));
            least(row.whole, whole);
            ++row.counted;
            row.step = step;
        }
    work.clear();
    const bool all_counted = std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.counted > 0; });
    if (work.interrupted()) {
        tell("stopped by Ctrl-C after {} of {} steps in each mode{}\n", rows.back().losses.size(), steps,
             all_counted ? "; what follows is of those" : ", before every mode had a step that counts");
        if (!all_counted) return interrupted_status;
    }
    if (given_up)  // the modes before have one step more than those behind
        for (Row& row : rows) row.losses.resize(rows.back().losses.size());
    for (size_t m = 0; m < rows.size(); ++m) {
        if (!given_up) rows[m].parameters = trainers[m].export_parameters();
        if (rows[m].counted == 0)
            throw Failure(fmt::format("no step of mode {} was replayed in {} steps: --steps {} or more", rows[m].mode, steps,
                                      std::max<int64_t>(steps + 2, 6)));
    }
    bool same = true;
    for (const Row& row : rows) {
        same = same && row.parameters == rows[0].parameters;
        for (size_t i = 0; i < row.losses.size(); ++i) same = same && row.losses[i] == rows[0].losses[i];
    }
    const nn::StepRecord& first = rows[0].step;
    nlohmann::ordered_json all{{"model", options.model}, {"device", first.device}, {"steps", steps}, {"same_bits", same}};
    for (const Row& row : rows)
        all["modes"].push_back({{"mode", row.mode},
                                {"launches", row.step.launches.size()},
                                {"bytes", row.step.traffic >= 0 ? json_number(row.step.traffic) : nlohmann::ordered_json()},
                                {"dispatch_us", json_number(row.dispatch)},
                                {"kernel_us", json_number(row.kernels)},
                                {"step_us", json_number(row.whole)},
                                {"peak_bytes", row.step.peak_bytes},
                                {"device_bytes", row.step.device_bytes}});
    if (json != "-") {
        const char* of = simulated(first) ? "simulated" : "measured, the least of the steps";
        fmt::print("a step of {} on {} (launches counted, bytes derived, times {})\n", options.model, first.device, of);
        fmt::print("{:<6} {:>9} {:>10} {:>12} {:>12} {:>12} {:>10}\n", "mode", "launches", "MB moved", "dispatch µs",
                   "kernels µs", "step µs", "MB at most");
        for (const Row& row : rows)
            fmt::print("{:<6} {:>9} {:>10} {:>12.1f} {:>12.1f} {:>12.1f} {:>10.2f}\n", row.mode, row.step.launches.size(),
                       row.step.traffic >= 0 ? fmt::format("{:.2f}", row.step.traffic / 1e6) : "-", row.dispatch,
                       row.kernels, row.whole, double(row.step.peak_bytes) / 1e6);
        fmt::print("losses of {} steps{}: {} (executed)\n", rows.back().losses.size(), given_up ? "" : " and all parameters",
                   same ? "the same bits in every mode" : "NOT the same bits");
    }
    if (work.interrupted()) all["stopped"] = true, all["steps"] = rows.back().losses.size();
    if (!json.empty()) write_json(all, json);
    if (work.interrupted()) return interrupted_status;
    return same ? 0 : 1;
}

Trace queue_timeline(const nn::StepRecord& step) {
    double call_us = 0;
    if (simulated(step)) call_us = model::gpu_named(step.device.substr(4)).value().call_us;
    return graph::trace_of(step.device, step.queue, step.launches, graph::usual_depth, call_us);
}

}  // namespace lockstep::cli
