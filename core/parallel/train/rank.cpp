// A rank's groups, and its compute clock: the ops of a tape, each counted once, when communication or the end of a block
// asks.
#include "core/parallel/train/rank.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"

namespace lockstep::parallel {

namespace {
OpTime time_of_node(const OpTimes& times, const tensor::Tape& tape, const tensor::Node& node) {
    if (!node.op || node.op->kernels.empty()) return {};
    std::vector<tensor::TensorType> inputs;
    for (const int from : node.inputs) {
        const tensor::Node& input = tape.nodes()[size_t(from)];
        inputs.push_back({input.shape, input.dtype});
    }
    return times.of(*node.op, inputs, node.attributes);
}
}  // namespace

void Rank::forward_begins(const tensor::Tape& tape) {
    counted = {&tape, static_cast<int>(tape.nodes().size())};
}

void Rank::forward_took(const tensor::Tape& tape, int from_node) {
    const int end = static_cast<int>(tape.nodes().size());
    int begin = from_node;
    if (counted.tape == &tape && counted.nodes <= end) begin = std::max(begin, counted.nodes);
    double us = 0;
    for (int id = begin; id < end; ++id) us += time_of_node(times, tape, tape.nodes()[size_t(id)]).forward_us;
    if (us > 0) world.advance(us, "forward");
    counted = {&tape, end};
}

void Rank::backward_took(const tensor::Tape& tape, int id, BackwardPart part) {
    const tensor::Node& node = tape.nodes()[size_t(id)];
    const OpTime time = time_of_node(times, tape, node);
    double us = time.backward_us;
    bool weights = false, others = false;  // what gets a gradient
    for (const int from : node.inputs) {
        const tensor::Node& input = tape.nodes()[size_t(from)];
        if (input.requires_grad) (input.weights_only ? weights : others) = true;
    }
    if (weights && !node.weights_only) {
        us = others && part != BackwardPart::weights ? time.backward_input_us : 0;
        if (part != BackwardPart::inputs) us += time.backward_us - time.backward_input_us;
    }
    if (us > 0) world.advance(us, part == BackwardPart::weights ? "backward of weights" : "backward");
}

Rank make_rank(const ParallelPlan& plan, comm::Communicator& world, device::Device& device, tensor::Heap& heap,
               const OpTimes& times) {
    if (plan.ranks() != world.size())
        throw Failure(fmt::format("dp {} x tp {} x pp {} x cp {} are {} ranks, but {} run: start {} or change the plan",
                                  plan.dp, plan.tp, plan.pp, plan.cp, plan.ranks(), world.size(), plan.ranks()));
    Rank rank{plan, mesh_of(plan), world, device, heap, times, {}, {}, {}, {}};
    const auto group_along = [&](std::string_view axis) -> std::unique_ptr<comm::Communicator> {
        if (rank.mesh.size(axis) == 1) return nullptr;
        return world.group(rank.mesh.group(world.rank(), axis));
    };
    rank.tp = group_along("tp");
    rank.dp = group_along("dp");
    rank.cp = group_along("cp");
    rank.pp = group_along("pp");
    return rank;
}

}  // namespace lockstep::parallel
