// What one training step answers by name: its rows, and metrics of one of its launches (sectors_per_request@launch:fc1).
#include <algorithm>
#include <numeric>

#include "core/scene/figures/figures.h"

namespace lockstep::scene {
namespace {

using nn::StepRecord;

double elements(const std::vector<int64_t>& shape) {
    return static_cast<double>(std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()));
}

bool is_matmul(const device::LaunchEvent& launch) {
    return launch.kernel.starts_with("matmul");
}

double launches_of(const StepRecord& step, std::string_view phase) {
    return static_cast<double>(std::count_if(step.launches.begin(), step.launches.end(),
                                             [&](const auto& launch) { return launch.phase == phase; }));
}

// A product [M,K] x [K,N]: 2 M N K operations forward, and as many for each product of its backward pass.
double flops(const StepRecord& step, std::vector<int> nn::GraphNode::*launches) {
    double sum = 0;
    for (const nn::GraphNode& node : step.nodes) {
        if (node.kind != nn::GraphNode::Kind::op || node.forward_launches.empty() || node.shape.size() != 2 ||
            node.inputs.empty())
            continue;
        const nn::GraphNode& first = step.nodes.at(static_cast<size_t>(node.inputs[0]));
        const double k = first.shape.empty() ? 0 : static_cast<double>(first.shape.back());
        for (const int i : node.*launches)
            if (i >= 0 && static_cast<size_t>(i) < step.launches.size() && is_matmul(step.launches[static_cast<size_t>(i)]))
                sum += 2.0 * elements(node.shape) * k;
    }
    return sum;
}

double cycles_of(const StepRecord& step, bool products_only) {
    double sum = 0;
    for (const device::LaunchEvent& launch : step.launches)
        if (!products_only || is_matmul(launch)) sum += static_cast<double>(launch.cycles);
    return sum;
}

const device::LaunchEvent* launch_labelled(const StepRecord& step, const std::string& label) {
    for (const device::LaunchEvent& launch : step.launches) {
        std::string plain = launch.label;
        std::replace(plain.begin(), plain.end(), ' ', '_');
        if (plain == label) return &launch;
    }
    return nullptr;
}

Result<double> of_launch(const StepRecord& step, const FigureName& name) {
    const std::string label = name.place("launch");
    const device::LaunchEvent* launch = launch_labelled(step, label);
    if (!launch) {
        std::vector<std::string> known;
        for (const device::LaunchEvent& event : step.launches) {
            known.push_back(event.label);
            std::replace(known.back().begin(), known.back().end(), ' ', '_');
        }
        return Diagnostic{fmt::format("no launch of this step is labelled '{}'{}", label, did_you_mean(label, known))};
    }
    const std::string figure = name.without("launch").text;
    if (figure == "cycles") return static_cast<double>(launch->cycles);
    if (figure == "blocks") return static_cast<double>(launch->grid.count());
    if (launch->run) return model::metric_of(*launch->run->program, launch->run->result, figure);
    return Diagnostic{fmt::format("'{}' of a single launch needs its run kept", figure)};
}

constexpr Figure<StepRecord> step_rows[] = {
    {"launches", "", "Kernels of the step.", [](const StepRecord& s) { return s.launches.size(); }},
    {"forward_launches", "", "Kernels of the forward pass.", [](const StepRecord& s) { return launches_of(s, "forward"); }},
    {"backward_launches", "", "Kernels of the backward pass.",
     [](const StepRecord& s) { return launches_of(s, "backward"); }},
    {"update_launches", "", "Kernels of the optimiser.", [](const StepRecord& s) { return launches_of(s, "update"); }},
    {"matmul_launches", "", "Kernels that are matrix products.",
     [](const StepRecord& s) { return std::count_if(s.launches.begin(), s.launches.end(), is_matmul); }},
    {"parameters", "", "Elements of all parameters.",
     [](const StepRecord& s) {
         double sum = 0;
         for (const nn::GraphNode& node : s.nodes)
             if (node.kind == nn::GraphNode::Kind::parameter) sum += elements(node.shape);
         return sum;
     }},
    {"saved_bytes", "B", "That the forward pass keeps for the backward pass.",
     [](const StepRecord& s) {
         double sum = 0;
         for (const nn::GraphNode& node : s.nodes) sum += static_cast<double>(node.saved_bytes);
         return sum;
     }},
    {"flops", "", "Operations of all matrix products.",
     [](const StepRecord& s) {
         return flops(s, &nn::GraphNode::forward_launches) + flops(s, &nn::GraphNode::backward_launches);
     }},
    {"forward_flops", "", "Operations of the forward pass's matrix products.",
     [](const StepRecord& s) { return flops(s, &nn::GraphNode::forward_launches); }},
    {"backward_flops", "", "Operations of the backward pass's matrix products.",
     [](const StepRecord& s) { return flops(s, &nn::GraphNode::backward_launches); }},
    {"batch", "", "Examples of the step.", [](const StepRecord& s) { return s.batch; }},
    {"loss", "", "Of the step.", [](const StepRecord& s) { return s.loss; }},
    {"cycles", "cycles", "Of all launches.", [](const StepRecord& s) { return cycles_of(s, false); }},
    {"matmul_cycles", "cycles", "Of the matrix products.", [](const StepRecord& s) { return cycles_of(s, true); }},
    {"bytes_moved", "B", "That the launches read and write, in the modes eager, graph and fused.",
     [](const StepRecord& s) -> Result<double> {
         if (s.traffic < 0) return Diagnostic{"bytes_moved is counted in the modes eager, graph and fused"};
         return s.traffic;
     }},
    {"dispatch_us", "us", "That the modelled host takes to launch.",
     [](const StepRecord& s) {
         double sum = 0;
         for (const device::LaunchEvent& launch : s.launches) sum += launch.enqueue_end_us - launch.enqueue_begin_us;
         return sum;
     }},
    {"kernel_us", "us", "In which the modelled GPU runs kernels.",
     [](const StepRecord& s) {
         double sum = 0;
         for (const device::LaunchEvent& launch : s.launches) sum += launch.end_us - launch.begin_us;
         return sum;
     }},
    {"step_us", "us", "From the first launch to the end of the last kernel.",
     [](const StepRecord& s) {
         if (s.launches.empty()) return 0.0;
         double end = 0;
         for (const device::LaunchEvent& launch : s.launches) end = std::max(end, launch.end_us);
         return end - std::min(s.launches.front().enqueue_begin_us, s.launches.front().begin_us);
     }},
    {"peak_bytes", "B", "The most at once of what is no parameter.", [](const StepRecord& s) { return s.peak_bytes; }},
    {"planned_bytes", "B", "What a replayed step's plan said that would be.",
     [](const StepRecord& s) -> Result<double> {
         if (s.planned_bytes < 0)
             return Diagnostic{"planned_bytes is of a replayed step: mode graph or fused, three steps or more"};
         return static_cast<double>(s.planned_bytes);
     }},
    {"queue_nodes", "", "That went through the eager queue.", [](const StepRecord& s) { return s.queue.size(); }},
    {"replayed", "", "1 where the step was replayed from a captured graph.", [](const StepRecord& s) { return s.replayed; }},
};

}  // namespace

std::vector<FigureText> step_figures() {
    return texts_of(step_rows);
}

Result<double> figure_of(const nn::StepRecord& step, const FigureName& name) {
    return name.place("launch").empty() ? figure_among<StepRecord>(step_rows, step, name, "a training step")
                                        : of_launch(step, name);
}

}  // namespace lockstep::scene
