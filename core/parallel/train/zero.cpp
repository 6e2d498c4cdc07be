#include "core/parallel/train/zero.h"

#include <algorithm>

#include "core/tensor/op.h"

namespace lockstep::parallel {

using tensor::Tape;
using tensor::Variable;

ModelState zero_bytes(int zero, int ranks, DType dtype) {
    const double element = double(size_of(dtype)), n = ranks;
    const bool mixed = dtype == DType::f16 || dtype == DType::bf16;
    ModelState state{element, element, mixed ? 12 : 2 * element};
    if (zero >= 1) state.optimizer /= n;
    if (zero >= 2) state.gradients /= n;
    if (zero >= 3) state.weights /= n;
    return state;
}

double zero_traffic(int zero, int ranks, int microbatches, int reductions) {
    const double share = double(ranks - 1) / double(ranks);
    if (zero <= 1) return 2 * share;  // an all-reduce; or its two halves, gradients and then weights
    if (reductions == 0) reductions = microbatches;
    return (zero == 2 ? 1 + reductions : 2 * microbatches + reductions) * share;
}

namespace {
void block_end_backward(tensor::BackwardCall& call) {
    const auto& away = *static_cast<const GatheredBlocks::Away*>(call.attributes.context);
    away.owner->backward_begins(away, call.tape);
    call.gradients[0] = call.upstream;
}
const tensor::OpRow block_end_row = {
    .name = "block_end",
    .takes_strides = true,
    .shape = [](tensor::Types inputs, const tensor::Attributes&) { return inputs[0].shape; },
    .view = [](const tensor::Tensor& input, const tensor::Attributes&) { return input; },
    .backward = block_end_backward,
};
}  // namespace

GatheredBlocks::GatheredBlocks(Buckets& buckets, Rank& rank, std::vector<std::vector<size_t>> buckets_of,
                               std::vector<int> run_of)
    : buckets_(buckets), rank_(rank), buckets_of_(std::move(buckets_of)), run_of_(std::move(run_of)) {}

void GatheredBlocks::need(int block, double from_us) {
    for (const size_t b : buckets_of_[static_cast<size_t>(block)]) {
        buckets_.gather(buckets_.all()[b], from_us);
        buckets_.wait(buckets_.all()[b]);
    }
}

void GatheredBlocks::ahead(int block, int of) {
    if (!has(block) || run_of_[static_cast<size_t>(block)] != run_of_[static_cast<size_t>(of)]) return;
    for (const size_t b : buckets_of_[static_cast<size_t>(block)]) buckets_.gather(buckets_.all()[b], rank_.world.time_us());
}

void GatheredBlocks::let_go_but(int block, int other) {
    const auto uses = [&](int of, size_t b) {
        return has(of) &&
               std::count(buckets_of_[static_cast<size_t>(of)].begin(), buckets_of_[static_cast<size_t>(of)].end(), b);
    };
    for (size_t b = 0; b < buckets_.all().size(); ++b)
        if (!uses(block, b) && !uses(other, b)) buckets_.let_go(buckets_.all()[b]);
}

void GatheredBlocks::let_go_all() {
    for (Bucket& bucket : buckets_.all()) buckets_.let_go(bucket);
}

Variable GatheredBlocks::forward(Tape& tape, int block, const Inside& inside) {
    need(block, rank_.world.time_us());
    ahead(block + 1, block);
    const int first = static_cast<int>(tape.nodes().size());
    Variable y = inside();
    Away& away = blocks_away_.emplace_back();
    away.owner = this;
    away.block = block;
    if (tape.recording()) {
        for (const size_t b : buckets_of_[static_cast<size_t>(block)])
            away.kept.push_back({b, tape.let_go(*buckets_.all()[b].weights.storage, first)});
        tensor::Attributes attributes;
        attributes.context = &away;
        y = tape.apply(block_end_row, {y}, "block end", attributes);
    }
    const bool goes_on = has(block + 1) && run_of_[static_cast<size_t>(block) + 1] == run_of_[static_cast<size_t>(block)];
    let_go_but(-1, goes_on ? block + 1 : -1);
    return y;
}

void GatheredBlocks::backward_begins(const Away& away, Tape& tape) {
    const bool goes_on =
        has(away.block - 1) && run_of_[static_cast<size_t>(away.block) - 1] == run_of_[static_cast<size_t>(away.block)];
    let_go_but(away.block, goes_on ? away.block - 1 : -1);
    need(away.block, rank_.world.time_us());
    for (const Away::Kept& kept : away.kept) tape.bring_back(kept.places, buckets_.all()[kept.bucket].weights.storage);
    if (goes_on) ahead(away.block - 1, away.block);
}

}  // namespace lockstep::parallel
