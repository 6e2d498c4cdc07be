// How models are cut into stages, why a plan cannot run one, and the blocks that a rank holds.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/parallel/blocks/model.h"
#include "core/parallel/blocks/rank_sharding.h"
#include "core/parallel/blocks/tensor_parallel.h"
#include "core/parallel/pipeline/schedule.h"
#include "core/tensor/ops.h"

namespace lockstep::parallel {

using Kind = ModelShape::Kind;
using tensor::Variable;

namespace {
// What an extent divides into: "1, 2 or 4", the smallest eight.
std::string divisors_of(int64_t extent) {
    std::vector<int64_t> all;
    for (int64_t i = 1; i <= extent && all.size() < 8; ++i)
        if (extent % i == 0) all.push_back(i);
    if (all.size() == 1) return "1";
    const int64_t last = all.back();
    all.pop_back();
    return fmt::format("{} or {}", fmt::join(all, ", "), last);
}
std::string does_not_divide(std::string_view option, int64_t value, std::string_view what, int64_t extent) {
    return fmt::format("{} {} does not divide {} {}: {} would", option, value, extent, what, divisors_of(extent));
}

std::optional<std::string> refuse_context(const ParallelPlan& plan, const ModelShape& shape) {
    if (plan.cp == 1) return {};
    if (!shape.fused_attention) return fmt::format("--cp {} needs fused attention, and {} has none", plan.cp, shape.name);
    if (plan.context == Context::all_to_all) {
        const int64_t heads = shape.heads / plan.tp, keys = std::max<int64_t>(1, shape.kv_heads / plan.tp);
        if (heads % plan.cp)
            return does_not_divide("--cp", plan.cp, "attention heads a tp rank, which all-to-all trades", heads);
        if (keys % plan.cp)
            return does_not_divide("--cp", plan.cp, "heads of keys a tp rank, which all-to-all trades", keys);
    }
    if (shape.context % plan.cp) return does_not_divide("--cp", plan.cp, "places of a sequence", shape.context);
    if (plan.context == Context::balanced_ring && shape.context % (2 * plan.cp))
        return fmt::format(
            "a balanced ring cuts a sequence into 2 x --cp {} pieces, which do not divide {} places: a plain "
            "ring would do",
            plan.cp, shape.context);
    return {};
}

std::optional<std::string> refuse_tensor(const ParallelPlan& plan, const ModelShape& shape) {
    if (plan.tp == 1) return {};
    if (shape.kind == Kind::perceptron) {
        for (size_t i = 1; i + 1 < shape.widths.size(); ++i)
            if (shape.widths[i] % plan.tp)
                return does_not_divide("--tp", plan.tp, fmt::format("outputs of fc{}", i), shape.widths[i]);
        return {};
    }
    if (shape.heads % plan.tp) return does_not_divide("--tp", plan.tp, "attention heads", shape.heads);
    if (shape.kv_heads % plan.tp && plan.tp % shape.kv_heads)
        return fmt::format("--tp {} and {} heads of keys do not divide one another: {} would", plan.tp, shape.kv_heads,
                           divisors_of(shape.kv_heads));
    if (shape.ffn % plan.tp) return does_not_divide("--tp", plan.tp, "columns of the inner layer", shape.ffn);
    if (shape.vocabulary % plan.tp) return does_not_divide("--tp", plan.tp, "tokens of the vocabulary", shape.vocabulary);
    if (plan.sequence_parallel && shape.context / plan.cp % plan.tp)
        return does_not_divide("--tp", plan.tp, "places a rank, which sequence parallelism cuts", shape.context / plan.cp);
    return {};
}

int64_t layers_to_cut(const ModelShape& shape) {
    return shape.decodes() ? shape.layers : count_blocks(shape);
}
}  // namespace

const ModelShape& shape_named(const std::string& model) {
    std::vector<std::string> known;
    for (const ModelShape& shape : nn::model_shapes()) {
        if (shape.name == model) return shape;
        known.push_back(shape.name);
    }
    const std::string nearest = nearest_name(model, known);
    throw Failure(nearest.empty()
                      ? fmt::format("no model '{}' can be split over ranks: known are {}", model, fmt::join(known, ", "))
                      : fmt::format("no model '{}' can be split over ranks, did you mean '{}'?", model, nearest));
}

int count_blocks(const ModelShape& shape) {
    return static_cast<int>(operations_of_blocks(shape).size());
}

std::vector<int64_t> operations_of_blocks(const ModelShape& shape) {
    std::vector<int64_t> operations;
    if (shape.kind == Kind::perceptron) {
        for (size_t i = 0; i + 1 < shape.widths.size(); ++i) operations.push_back(2 * shape.widths[i] * shape.widths[i + 1]);
        return operations;
    }
    if (shape.kind == Kind::convolutional) {  // 2 x outputs x (inputs x kernel) x places
        if (!shape.any_picture) return {2 * 54 * 900, 2 * 864 * 169, 2 * 576 * 120, 2 * 120 * 84, 2 * 84 * 10};
        return {2 * 144 * 196, 2 * 2 * 2304 * 196, 2 * (4608 + 9216 + 512) * 49, 2 * (18432 + 36864 + 2048) * 16, 2 * 640};
    }
    const int64_t d = shape.width, kv = d / shape.heads * shape.kv_heads;
    const int64_t products = 2 * d * d + 2 * d * kv + (shape.kind == Kind::llama ? 3 : 2) * d * shape.ffn;
    operations.assign(static_cast<size_t>(shape.layers) + 2, 2 * products + 2 * d * shape.context);
    operations.front() = d;
    operations.back() = 2 * d * shape.vocabulary;
    return operations;
}

// The cut whose stages' operations have the smallest sum of squares; of equal ones that whose first stages are shortest,
// since those also hold the most activations.
std::vector<BlockRange> cut_into_stages(const ModelShape& shape, int stages) {
    const std::vector<int64_t> operations = operations_of_blocks(shape);
    const auto blocks = static_cast<int>(operations.size());
    if (stages < 1 || stages > blocks)
        throw Failure(
            fmt::format("{} has {} blocks, which make 1 to {} stages, not {}", shape.name, blocks, blocks, stages));
    const double unit = static_cast<double>(*std::max_element(operations.begin(), operations.end()));
    std::vector<double> before = {0};  // operations of the blocks before this one
    for (const int64_t count : operations) before.push_back(before.back() + static_cast<double>(count) / unit);
    // best[s][b]: of the blocks from b on in s stages; begin[s][b]: where the second of these begins.
    const auto n = static_cast<size_t>(blocks);
    std::vector<std::vector<double>> best(size_t(stages) + 1,
                                          std::vector<double>(n + 1, std::numeric_limits<double>::max()));
    std::vector<std::vector<size_t>> second(size_t(stages) + 1, std::vector<size_t>(n + 1, 0));
    best[0][n] = 0;
    for (size_t s = 1; s <= size_t(stages); ++s)
        for (size_t b = 0; b + s <= n; ++b)
            for (size_t end = b + 1; end + s - 1 <= n; ++end) {
                const double rest = best[s - 1][end];
                if (rest == std::numeric_limits<double>::max()) continue;
                const double one = before[end] - before[b], sum = rest + one * one;
                if (sum < best[s][b] * (1 - 1e-12)) best[s][b] = sum, second[s][b] = end;
            }
    std::vector<BlockRange> ranges;
    size_t begin = 0;
    for (size_t s = size_t(stages); s > 0; --s) {
        const size_t end = second[s][begin];
        ranges.push_back({static_cast<int>(begin), static_cast<int>(end)});
        begin = end;
    }
    return ranges;
}

int pipeline_stages(const ParallelPlan& plan) {
    if (plan.pp == 1) return 1;
    const ScheduleRow& row = schedule_named(plan.schedule);
    return plan.pp * (row.chunks == 0 ? plan.chunks : row.chunks) / row.copies;
}

std::vector<BlockRange> cut_of_plan(const ModelShape& shape, const ParallelPlan& plan, int stages) {
    if (plan.cut.empty()) return cut_into_stages(shape, stages);
    const int blocks = count_blocks(shape);
    const std::string_view among = shape.decodes() ? ", embedding and head among them," : ",";
    std::vector<BlockRange> ranges;
    int64_t end = 0;
    for (const int count : plan.cut) {
        if (count < 1 || count > blocks)
            throw Failure(fmt::format("a stage of {} blocks is impossible: {} has {}{} and every stage needs one", count,
                                      shape.name, blocks, among));
        end += count;
        ranges.push_back({static_cast<int>(end - count), static_cast<int>(end)});
    }
    if (static_cast<int>(plan.cut.size()) != stages || end != blocks)
        throw Failure(fmt::format("the cut gives {} blocks to {} stages: {} has {} blocks{} and this plan {} stages", end,
                                  plan.cut.size(), shape.name, blocks, among, stages));
    return ranges;
}

std::vector<PlaceRun> places_of(const ParallelPlan& plan, int cp_rank, int64_t context) {
    if (plan.cp > 1 && plan.context == Context::balanced_ring) {
        const int64_t piece = context / (2 * plan.cp), back = 2 * plan.cp - 1 - cp_rank;
        if (back == cp_rank + 1) return {{cp_rank * piece, (back + 1) * piece}};
        return {{cp_rank * piece, (cp_rank + 1) * piece}, {back * piece, (back + 1) * piece}};
    }
    const int64_t piece = context / plan.cp;
    return {{cp_rank * piece, (cp_rank + 1) * piece}};
}

std::optional<std::string> refusal(const ParallelPlan& plan, const ModelShape& shape, int64_t batch) {
    for (const auto& [name, value] : {std::pair{"--dp", plan.dp},
                                      {"--tp", plan.tp},
                                      {"--pp", plan.pp},
                                      {"--cp", plan.cp},
                                      {"--chunks", plan.chunks},
                                      {"--microbatches", plan.microbatches}})
        if (value < 1) return fmt::format("{} {} makes no ranks: 1 is the smallest", name, value);
    if (plan.zero < 0 || plan.zero > 3) return fmt::format("--zero {} does not exist: 0, 1, 2 and 3 do", plan.zero);
    if (!shape.decodes()) {
        if (plan.cp > 1)
            return fmt::format("--cp {} cuts sequences, and {} has none: gpt and llama do", plan.cp, shape.name);
        if (plan.tp > 1 && shape.kind == Kind::convolutional)
            return fmt::format("--tp {} cuts linear layers, and {} is convolutional: --dp and --pp split it", plan.tp,
                               shape.name);
        if (plan.sequence_parallel)
            return fmt::format("sequence parallelism cuts sequences, and {} has none: gpt and llama do", shape.name);
        if (plan.recompute != Recompute::none)
            return fmt::format("activations are recomputed in the blocks of gpt and llama, not of {}", shape.name);
    }
    if (auto why = refuse_tensor(plan, shape)) return why;
    if (auto why = refuse_context(plan, shape)) return why;
    const bool twice = plan.pp > 1 && schedule_named(plan.schedule).copies > 1;
    const int64_t stages = int64_t{plan.pp} * (twice ? 1 : plan.chunks), layers = layers_to_cut(shape);
    if (plan.pp > 1 && stages > layers)
        return fmt::format("--pp {}{} makes {} stages of {} layers: {} or fewer would do", plan.pp,
                           plan.chunks > 1 && !twice ? fmt::format(" x --chunks {}", plan.chunks) : "", stages, layers,
                           layers);
    const int64_t share = int64_t{plan.dp} * plan.microbatches;
    if (batch % share)
        return fmt::format("--dp {}{} does not divide a batch of {}: a batch of {} would do", plan.dp,
                           plan.microbatches > 1 ? fmt::format(" x --microbatches {}", plan.microbatches) : "", batch,
                           (batch / share + 1) * share);
    return {};
}

namespace {
// The mean over this rank's rows as a share of the mean over batch.examples.
Variable loss_of(nn::Pass& pass, const Variable& given, const MicroBatch& batch, DType full, const Crossing* tp,
                 bool tokens) {
    const Variable logits = nn::in_full(pass, given, full);
    const int64_t rows = logits.shape()[0];
    const Variable loss = tp && tokens
                              ? vocabulary_parallel_cross_entropy(pass, logits, batch.target, *tp, "loss")
                              : tensor::softmax_cross_entropy(
                                    pass.tape, logits, pass.tape.label(batch.target, tokens ? "next" : "labels"), "loss");
    if (batch.examples <= 0 || batch.examples == rows) return loss;
    return tensor::affine(pass.tape, loss, static_cast<double>(rows) / static_cast<double>(batch.examples), 0, "loss share");
}

// A tied head on another pipeline rank than the embedding: both have a copy, whose gradients are added.
void tie_over_stages(ParallelModel& model, Rank& rank, bool has_tokens) {
    const int here = rank.along("pp"), last = rank.plan.pp - 1, other[] = {0, last};
    if (here != (has_tokens ? 0 : last))
        throw Failure("a tied head needs the first stage on the first pipeline rank, the last on the last or the first");
    model.groups.push_back(rank.pp->group(other));
    for (ShardedParameter& shard : model.shards)
        if (shard.parameter->name == "tokens.weight") {
            shard.add_over = model.groups.back().get();
            shard.counts = shard.counts && has_tokens;
        }
}

void check_places(const ParallelPlan& plan, const ModelShape& shape, const Variable& tokens) {
    if (plan.cp > 1 && tokens.shape()[1] * plan.cp != shape.context)
        throw Failure(fmt::format("{} places a rank are not 1/{} of the model's context of {}", tokens.shape()[1], plan.cp,
                                  shape.context));
}
}  // namespace

std::unique_ptr<ParallelModel> make_model(const ModelShape& shape, const ParallelPlan& plan, Rank& rank,
                                          const std::vector<BlockRange>& held, uint64_t seed, DType dtype,
                                          std::optional<DType> compute) {
    if (const auto why = refusal(plan, shape, int64_t{plan.dp} * plan.microbatches)) throw Failure(*why);
    auto model = std::make_unique<ParallelModel>();
    model->shape = shape;
    const auto last = static_cast<size_t>(count_blocks(shape)) - 1;
    std::vector<bool> holds(last + 1, false);
    for (const BlockRange& range : held)
        for (int i = range.first; i < range.last; ++i) holds.at(static_cast<size_t>(i)) = true;
    auto sharding = std::make_unique<RankSharding>(rank, shape, holds);
    Rng rng(seed);
    nn::Build build{rank.heap, rng, model->list, dtype, compute, sharding.get()};
    build.made = [&](nn::Parameter* parameter, const tensor::Shape& full, nn::Cut cut) {
        model->shards.push_back(sharding->shard_of(parameter, full, cut));
    };
    nn::Model whole(build, shape);
    if (shape.tied_head && holds[0] != holds[last] && plan.pp > 1) tie_over_stages(*model, rank, holds[0]);
    const bool tokens = shape.decodes();
    for (size_t i = 0; i <= last; ++i) {
        nn::Block& block = whole.blocks[i];
        Block& made = model->blocks.emplace_back();
        made.output = [=, of = std::move(block.output), type = build.activations()](const MicroBatch& batch) {
            return i == last ? tensor::TensorType{{}, dtype} : tensor::TensorType{of(batch.input.shape), type};
        };
        made.name = block.name, made.prefixes = std::move(block.prefixes);
        if (!holds[i]) continue;
        made.forward = [=, &rank, tp = sharding->over_tp(), inside = std::move(block.forward)](
                           nn::Pass& pass, const Variable& given, const MicroBatch& batch) {
            rank.forward_begins(pass.tape);
            Variable x = given;
            if (x.node < 0) x = tokens ? pass.tape.label(batch.input, "tokens") : pass.tape.input(batch.input, "x");
            if (i == 0 && tokens) check_places(rank.plan, shape, x);
            x = inside(pass, x);
            if (i == last) x = loss_of(pass, x, batch, dtype, tp, tokens);
            rank.forward_took(pass.tape);
            return x;
        };
    }
    model->sharding = std::move(sharding);
    return model;
}

}  // namespace lockstep::parallel
