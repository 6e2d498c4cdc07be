// For tests of parallel runs: a program on as many ranks as a plan says, each with a host device of its own, and a serial
// transformer to hold them against.
#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/rng.h"
#include "core/comm/in_process.h"
#include "core/device/device.h"
#include "core/parallel/blocks/comm_ops.h"
#include "core/parallel/blocks/model.h"
#include "core/parallel/train/rank.h"
#include "tests/catch.h"

namespace parallel_test {

using namespace lockstep;
using namespace lockstep::parallel;

inline comm::GroupResult run_ranks(const ParallelPlan& plan, const std::function<void(Rank&)>& program,
                                   const std::string& device_name = "host", const comm::Link& link = {}) {
    const OpTimes times(model::gpu_named("a100").value());
    return comm::run_in_process(plan.ranks(), link, [&](comm::Communicator& world) {
        const auto device = device::open_device(device_name).value();
        tensor::Heap heap(*device);
        Rank rank = make_rank(plan, world, *device, heap, times);
        program(rank);
    });
}

inline void check_no_problem(const comm::GroupResult& result) {
    CHECK_FALSE(result.deadlock);
    for (const comm::RankResult& rank : result.ranks) CHECK(rank.failure == "");
}

// The largest |a - b| over the largest |b|, or over `least` where all are smaller: 0 for equal ones, NaN where one is.
inline double apart(const std::vector<double>& a, const std::vector<double>& b, double least = 1e-300) {
    if (a.size() != b.size()) return INFINITY;
    double most = 0, scale = least;
    for (size_t i = 0; i < a.size(); ++i) {
        if (std::isnan(a[i]) || std::isnan(b[i])) return NAN;
        most = std::max(most, std::abs(a[i] - b[i])), scale = std::max(scale, std::abs(b[i]));
    }
    return most / scale;
}

// A rank's part of values laid out as `shard.full`.
inline std::vector<double> part_of(const std::vector<double>& values, const ShardedParameter& shard) {
    if (shard.axis < 0) return values;
    int64_t outer = 1, inner = 1;
    for (size_t i = 0; i < shard.full.size(); ++i)
        if (int(i) != shard.axis) (int(i) < shard.axis ? outer : inner) *= shard.full[i];
    const int64_t extent = shard.full[size_t(shard.axis)], run = extent / shard.parts;
    std::vector<double> part;
    for (int64_t o = 0; o < outer; ++o)
        for (int64_t e = shard.part * run; e < (shard.part + 1) * run; ++e)
            for (int64_t i = 0; i < inner; ++i) part.push_back(values[size_t((o * extent + e) * inner + i)]);
    return part;
}

struct Serial {  // of one step of a serial model
    double loss = 0;
    std::map<std::string, std::vector<double>> values, gradients;  // by parameter
};

struct Tokens {  // of whole sequences
    int64_t batch = 2, context = 8;
    std::vector<int32_t> input, target;  // [batch, context]
};
inline Tokens tokens_of(int64_t batch, int64_t context, int64_t vocabulary, uint64_t seed) {
    Tokens tokens{batch, context, {}, {}};
    Rng rng(seed);
    for (int64_t i = 0; i < batch * context; ++i) {
        tokens.input.push_back(int32_t(rng.below(uint64_t(vocabulary))));
        tokens.target.push_back(int32_t(rng.below(uint64_t(vocabulary))));
    }
    return tokens;
}

// This rank's places of all sequences.
inline MicroBatch micro_batch(const Rank& rank, const Tokens& tokens) {
    std::vector<int32_t> input, target;
    int64_t places = 0;
    for (int64_t b = 0; b < tokens.batch; ++b)
        for (const PlaceRun& run : places_of(rank.plan, rank.along("cp"), tokens.context))
            for (int64_t t = run.first; t < run.last; ++t) {
                input.push_back(tokens.input[size_t(b * tokens.context + t)]);
                target.push_back(tokens.target[size_t(b * tokens.context + t)]);
                places += b == 0;
            }
    MicroBatch batch;
    batch.input = tensor::reshaped(tensor::labels_from(rank.heap, input, "tokens"), {tokens.batch, places});
    batch.target = tensor::labels_from(rank.heap, target, "next");
    batch.examples = tokens.batch * tokens.context;
    return batch;
}

struct Step {  // of one rank: its loss and gradients, added over the ranks that share them, cp and dp too
    double loss = 0;
    std::map<std::string, std::vector<double>> gradients;
    int64_t kept_bytes = 0;  // for backward, at the end of forward
};
// Stages one after another: what leaves one rank's blocks goes to the next pipeline rank, and its gradient comes back.
// `deferred`: backward of the activations first, of the weights later.
inline Step step_of(Rank& rank, ParallelModel& model, const MicroBatch& batch, bool deferred = false) {
    tensor::Tape tape(rank.heap);
    nn::Pass pass{tape};
    const int stage = rank.along("pp"), stages = rank.plan.pp;
    tensor::Variable x, arrived;
    const Block* before = nullptr;
    for (const Block& block : model.blocks) {
        if (block.forward) {
            if (before && !before->forward) {
                const tensor::TensorType type = before->output(batch);
                const auto purpose = tensor::Purpose::activation;
                arrived =
                    tape.input(tensor::make_tensor(rank.heap, type.shape, "arrived", purpose, type.dtype), "arrived", true);
                receive(*rank.pp, rank.device, stage - 1, arrived.value, "activation");
                x = arrived;
            }
            x = block.forward(pass, x, batch);
            if (block.output(batch).shape != x.shape() || block.output(batch).dtype != x.dtype())
                throw Failure(block.name + " gives another shape than it says");
        }
        before = &block;
    }
    Step step;
    step.kept_bytes = tape.saved_bytes();
    if (stage + 1 < stages) {
        send(*rank.pp, rank.device, stage + 1, x.value, "activation");
        const tensor::Tensor gradient =
            tensor::make_tensor(rank.heap, x.shape(), "gradient", tensor::Purpose::gradient, x.dtype());
        receive(*rank.pp, rank.device, stage + 1, gradient, "gradient");
        tape.backward(x, gradient);
    } else {
        tape.backward(x, {}, {.defer_weights = deferred});
        if (deferred) tape.backward_weights();
        for (comm::Communicator* group : {rank.cp.get(), rank.dp.get()})
            if (group) all_reduce(*group, rank.device, x.value);
        step.loss = tensor::values_of(rank.heap, x.value)[0];
    }
    if (arrived.node >= 0) send(*rank.pp, rank.device, stage - 1, tape.take_gradient(arrived.node), "gradient");
    for (const ShardedParameter& shard : model.shards) {
        const tensor::Tensor gradient = tape.take_gradient(shard.parameter->node);
        for (comm::Communicator* group : {shard.add_over, rank.cp.get(), rank.dp.get()})
            if (group) all_reduce(*group, rank.device, gradient);
        step.gradients[shard.parameter->name] = tensor::values_of(rank.heap, gradient);
    }
    return step;
}
inline std::unique_ptr<ParallelModel> own_stage(Rank& rank, const ModelShape& shape, uint64_t seed, DType dtype,
                                                std::optional<DType> compute = {}) {
    const auto stages = cut_into_stages(shape, rank.plan.pp);
    return make_model(shape, rank.plan, rank, {stages[size_t(rank.along("pp"))]}, seed, dtype, compute);
}

}  // namespace parallel_test
