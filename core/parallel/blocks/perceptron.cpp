// Multi-layer perceptrons as blocks, one a linear layer: "fc1", "fc2", ..., the last with the loss. Over tp they alternate
// column- and row-parallel, so that a pair needs one all-reduce each way; an odd last layer takes its part of a whole input.
#include <fmt/format.h>

#include "core/parallel/blocks/models.h"
#include "core/tensor/ops.h"

namespace lockstep::parallel {

using tensor::Variable;

void add_perceptron(ShardedBuild& build, const std::vector<bool>& held) {
    ParallelModel& model = build.model;
    Rank& rank = build.rank;
    const std::vector<int64_t>& widths = model.shape.widths;
    TensorCrossing crossing;
    if (rank.tp) crossing.tp = std::make_shared<const Crossing>(Crossing{&rank, rank.tp.get()});
    const size_t layers = widths.size() - 1;
    for (size_t i = 0; i < layers; ++i) {
        build.held = held[i];
        const std::string name = fmt::format("fc{}", i + 1);
        const bool last = i + 1 == layers, column = i % 2 == 0 && !last;
        const nn::Linear whole = column ? column_linear(build, name, widths[i], widths[i + 1], true) : nn::Linear{};
        const RowParallelLinear part =
            column ? RowParallelLinear{} : RowParallelLinear(build, name, widths[i], widths[i + 1], true, crossing);
        const bool takes_part = last && i % 2 == 0 && crossing.tp;  // its input is whole
        const DType full = build.dtype;
        const auto forward = [=](nn::Pass& pass, const Variable& given, const MicroBatch& batch) {
            tensor::Tape& tape = pass.tape;
            Variable x = given.node >= 0 ? given : tape.input(batch.input, "x");
            if (column && crossing.tp) x = crossing.into(pass, x, name);
            if (takes_part) x = take_part(tape, x, 1, *crossing.tp, name + " take_part");
            x = column ? whole(pass, x) : part(pass, x);
            if (!last) return tensor::relu(tape, x, fmt::format("relu{}", i + 1));
            const Variable logits = nn::in_full(pass, x, full);
            const Variable loss = tensor::softmax_cross_entropy(tape, logits, tape.label(batch.target, "labels"), "loss");
            return share_of_loss(pass, loss, logits.shape()[0], batch);
        };
        const int64_t outputs = column ? widths[i + 1] / rank.plan.tp : widths[i + 1];
        const auto output = [=, type = build.activations()](const MicroBatch& batch) {
            return last ? tensor::TensorType{{}, full} : tensor::TensorType{{batch.input.shape[0], outputs}, type};
        };
        model.blocks.push_back({name, {name + "."}, build.held ? timed(rank, forward) : BlockForward{}, output});
    }
}

}  // namespace lockstep::parallel
