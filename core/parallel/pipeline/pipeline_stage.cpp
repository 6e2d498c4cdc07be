#include "core/parallel/pipeline/pipeline_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/walk.h"

namespace lockstep::parallel {

using tensor::Tensor;

tensor::Tensor copy_of_tensor(tensor::Tape& tape, const Tensor& from, std::string_view name, tensor::Purpose purpose) {
    Tensor copy = tensor::make_tensor(tape.heap(), from.shape, name, purpose, from.dtype);
    tape.launch(tensor::copy_strided(from, copy), {name, "copy"}, "update", from.dtype);
    return copy;
}

Tensor forward_stage(const PipelineJob& job, StagePass& pass, const Tensor& x, const MicroBatch& batch, bool record) {
    tensor::Tape& tape = *pass.tape;
    tape.clear();
    std::optional<tensor::NoGrad> no_grad;
    if (!record) no_grad.emplace(tape);
    nn::Pass forward{.tape = tape, .training = job.training, .step = job.step};
    if (job.random) forward.random = job.random(pass.stage, pass.microbatch);
    tensor::Variable value;
    if (x) value = tape.input(x, fmt::format("input of stage {}", pass.stage), tensor::floating(x.dtype));
    pass.input = value.node;
    const BlockRange range = job.stages[size_t(pass.stage)];
    for (int block = range.first; block < range.last; ++block)
        value = job.model.blocks[size_t(block)].forward(forward, value, batch);
    pass.root = value.node;
    pass.leaves.clear();
    pass.taken = 0;
    if (record) {
        std::vector<int> first_use(tape.nodes().size(), INT_MAX);
        for (size_t id = tape.nodes().size(); id-- > 0;)
            for (const int from : tape.nodes()[id].inputs) first_use[size_t(from)] = static_cast<int>(id);
        size_t number = 0;
        for (const nn::Parameter& parameter : job.model.list.parameters()) {
            if (parameter.pass == forward.number && parameter.trainable)
                pass.leaves.push_back({number, parameter.node, first_use[size_t(parameter.node)]});
            ++number;
        }
        std::stable_sort(pass.leaves.begin(), pass.leaves.end(),
                         [](const StagePass::Leaf& a, const StagePass::Leaf& b) { return a.first_use > b.first_use; });
    }
    std::vector<int> launches;
    return tape.contiguous(value.value, "output", "forward", launches);
}

Tensor backward_stage(const PipelineJob& job, StagePass& pass, const Tensor& seed, BackwardPart part,
                      const std::function<void(size_t, Tensor)>& take) {
    tensor::Tape& tape = *pass.tape;
    const auto take_leaf = [&](const StagePass::Leaf& leaf) {
        const bool shared = tape.nodes()[size_t(leaf.node)].gradient_borrowed;
        Tensor gradient = tape.take_gradient(leaf.node);
        if (gradient && shared) gradient = copy_of_tensor(tape, gradient, "gradient", tensor::Purpose::gradient);
        take(leaf.parameter, std::move(gradient));
    };
    if (part != BackwardPart::weights) {
        const tensor::Root root{{pass.root, {}}, seed};
        tape.begin_backward(std::span(&root, 1), {.defer_weights = part == BackwardPart::inputs});
    }
    while (const std::optional<int> node =
               part == BackwardPart::weights ? tape.step_backward_weights() : tape.step_backward()) {
        job.rank.backward_took(tape, *node, part);
        if (part == BackwardPart::inputs) continue;
        for (; pass.taken < pass.leaves.size() && pass.leaves[pass.taken].first_use >= *node; ++pass.taken)
            take_leaf(pass.leaves[pass.taken]);
    }
    if (part != BackwardPart::inputs)
        for (; pass.taken < pass.leaves.size(); ++pass.taken) take_leaf(pass.leaves[pass.taken]);
    if (part == BackwardPart::weights || pass.input < 0) return {};
    Tensor gradient = tape.take_gradient(pass.input);
    if (!gradient)
        throw Failure(fmt::format("no gradient reaches what stage {} is given: its blocks do not use it", pass.stage));
    return gradient;
}

}  // namespace lockstep::parallel
