// GPT and Llama as blocks: "tokens", "layers.0" ..., "head". With a plan of 1s these are the ops of
// core/nn/models/language.cpp in its order, under its names. Shapes: B sequences, T places here, D width, H and G heads of
// queries and keys here.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/parallel/blocks/context_parallel.h"
#include "core/parallel/blocks/models.h"
#include "core/parallel/blocks/recompute.h"
#include "core/tensor/ops.h"

namespace lockstep::parallel {

using tensor::Tensor;
using tensor::Variable;

namespace {
bool llama_like(const ModelShape& shape) {
    return shape.kind == ModelShape::Kind::llama;
}

// Rows `first` to `last` of the places in `runs`.
std::vector<PlaceRun> rows_of_runs(const std::vector<PlaceRun>& runs, int64_t first, int64_t last) {
    std::vector<PlaceRun> rows;
    int64_t at = 0;
    for (const PlaceRun& run : runs) {
        const int64_t begin = std::max(first, at), end = std::min(last, at + run.last - run.first);
        if (begin < end) rows.push_back({run.first + begin - at, run.first + end - at});
        at += run.last - run.first;
    }
    return rows;
}

// tensor::rope_table of these places.
Tensor rotary_table(tensor::Heap& heap, const std::vector<PlaceRun>& runs, int64_t head_size, double base, DType type) {
    int64_t places = 0;
    for (const PlaceRun& run : runs) places += run.last - run.first;
    const auto purpose = tensor::Purpose::parameter;
    if (heap.device().name() == "meta") return make_tensor(heap, {places, head_size}, "rope table", purpose, type);
    std::vector<double> values;
    values.reserve(static_cast<size_t>(places * head_size));
    for (const PlaceRun& run : runs)
        for (int64_t p = run.first; p < run.last; ++p)
            for (int64_t i = 0; i < head_size / 2; ++i) {
                const double angle = double(p) * std::pow(base, -2.0 * double(i) / double(head_size));
                values.push_back(std::cos(angle));
                values.push_back(std::sin(angle));
            }
    return tensor_from(heap, {places, head_size}, values, "rope table", purpose, type);
}

struct Outline {  // what all blocks of one model share
    ModelShape shape;
    Rank& rank;
    DType dtype, activations;
    TensorCrossing crossing;
    std::vector<PlaceRun> runs;  // of this rank's places
    int64_t heads, kv_heads;     // here
    Tensor rope;
    std::shared_ptr<const Ring> ring;    // null: no ring
    std::shared_ptr<const Crossing> cp;  // null: no all-to-all

    int64_t head_size() const { return shape.width / shape.heads; }
    int cp_ranks() const { return rank.plan.cp; }
    // Whether gathered places are gathered again for backward; where all is recomputed they are anyhow.
    bool keeps_parts() const { return crossing.sequence && rank.plan.recompute != Recompute::full; }
    // Places that a row of activations [B,T,D] has outside of products.
    int64_t places_outside(int64_t places) const { return crossing.sequence ? places / rank.plan.tp : places; }
    void check_places(int64_t places) const {
        if (cp_ranks() > 1 && places * cp_ranks() != shape.context)
            throw Failure(fmt::format("{} places a rank are not 1/{} of the model's context of {}", places, cp_ranks(),
                                      shape.context));
        if (places > shape.context)
            throw Failure(fmt::format("{} places are too many: the model's context has {}", places, shape.context));
    }
};

struct Decoder {
    std::shared_ptr<const Outline> outline;
    std::string at;  // "layers.3."
    nn::LayerNorm layer_norm1, layer_norm2;
    nn::RMSNorm rms_norm1, rms_norm2;
    nn::Linear q, k, v, gate, up;
    RowParallelLinear out, down;
    Rerun whole, mixing;  // what `full` and `selective` recompute

    Variable mix(nn::Pass& pass, const Variable& queries, const Variable& keys, const Variable& values) const;
    Variable attention(nn::Pass& pass, const Variable& x) const;
    Variable forward(nn::Pass& pass, const Variable& x) const;
};

// Products and a softmax with the matrix of scores between them, [B,H,T,T].
Variable unfused_attention(tensor::Tape& tape, const Variable& q, const Variable& k, const Variable& v,
                           const std::string& name) {
    if (q.shape() != k.shape()) throw Failure(fmt::format("{} has as many heads of keys as of queries", name));
    const auto heads_first = [&](const Variable& x, const char* what) {
        return tensor::permute(tape, x, {0, 2, 1, 3}, name + what);
    };
    const Variable queries = heads_first(q, " q"), keys = heads_first(k, " k"), values = heads_first(v, " v");
    Variable scores = tensor::matmul(tape, queries, keys, name + " scores matmul", true);
    scores = tensor::affine(tape, scores, 1 / std::sqrt(double(q.shape()[3])), 0, name + " scale");
    const Variable weights = tensor::softmax_causal(tape, scores, name + " softmax");
    return heads_first(tensor::matmul(tape, weights, values, name + " matmul"), " positions first");
}

Variable Decoder::mix(nn::Pass& pass, const Variable& queries, const Variable& keys, const Variable& values) const {
    const std::string name = at + "attention attention";
    if (outline->ring) return ring_attention(pass.tape, queries, keys, values, *outline->ring, name);
    if (outline->cp) return all_to_all_attention(pass.tape, queries, keys, values, *outline->cp, name);
    if (!outline->shape.fused_attention) {
        const Variable mixed = unfused_attention(pass.tape, queries, keys, values, name);
        return tensor::reshape(pass.tape, mixed, mixed.shape(), name + " gapless");
    }
    return tensor::attention(pass.tape, queries, keys, values, true, tensor::HeadLayout::positions_first, name);
}

Variable Decoder::attention(nn::Pass& pass, const Variable& x) const {
    tensor::Tape& tape = pass.tape;
    const std::string name = at + "attention";
    const Variable all = outline->crossing.into(pass, x, name);  // [B,T,D]
    const int64_t batch = all.shape()[0], places = all.shape()[1], size = outline->head_size();
    const auto split = [&](const nn::Linear& layer, int64_t count, const char* what) {
        return tensor::reshape(tape, layer(pass, all), {batch, places, count, size}, name + what);
    };
    Variable queries = split(q, outline->heads, " q heads"), keys = split(k, outline->kv_heads, " k heads"),
             values = split(v, outline->kv_heads, " v heads");
    if (outline->keeps_parts()) outline->crossing.keep_part(pass, x, all, values, name);
    if (outline->rope) {
        const Variable turns = tape.input(outline->rope, "rope table");
        queries = tensor::rope(tape, queries, turns, tensor::RopeLayout::half_split, 1, 0, name + " q rope");
        keys = tensor::rope(tape, keys, turns, tensor::RopeLayout::half_split, 1, 0, name + " k rope");
    }
    const Variable inputs[] = {queries, keys, values};
    const Variable mixed = outline->rank.plan.recompute == Recompute::selective
                               ? rerun(pass, mixing, inputs, {queries.shape(), queries.dtype()}, name + " recompute")
                               : mix(pass, queries, keys, values);
    return out(pass, tensor::reshape(tape, mixed, {batch, places, outline->heads * size}, name + " joined"));
}

Variable Decoder::forward(nn::Pass& pass, const Variable& x) const {
    tensor::Tape& tape = pass.tape;
    const bool llama = llama_like(outline->shape);
    const std::string prefix = at.substr(0, at.size() - 1) + " ";
    const Variable n = llama ? rms_norm1(pass, x) : layer_norm1(pass, x);
    const Variable h = tensor::add(tape, x, attention(pass, n), prefix + "residual 1");
    const Variable normal = llama ? rms_norm2(pass, h) : layer_norm2(pass, h);
    const Variable m = outline->crossing.into(pass, normal, at + "mlp");
    const Variable gates = llama ? gate(pass, m) : Variable{};
    const Variable wide = up(pass, m);
    if (outline->keeps_parts()) outline->crossing.keep_part(pass, normal, m, wide, at + "mlp");
    const Variable inner = llama ? tensor::swiglu(tape, gates, wide, prefix + "swiglu")
                                 : tensor::unary(tape, "gelu_tanh", wide, prefix + "gelu");
    return tensor::add(tape, h, down(pass, inner), prefix + "residual 2");
}

// Heads of keys: cut, or where there are fewer than ranks, one each for several neighbours.
Split split_of_keys(ShardedBuild& build) {
    const int64_t heads = build.model.shape.kv_heads, tp = build.tp();
    if (tp == 1) return build.whole();
    if (heads % tp == 0) return build.cut(0);
    const int64_t sharing = tp / heads, part = build.tp_rank() / sharing;
    if (!build.sharing) {
        std::vector<int> ranks;
        for (int64_t i = 0; i < sharing; ++i) ranks.push_back(static_cast<int>(part * sharing + i));
        build.model.groups.push_back(build.rank.tp->group(ranks));
        build.sharing = build.model.groups.back().get();
    }
    return {0, heads, part, build.sharing, build.tp_rank() % sharing == 0};
}

nn::Linear key_linear(ShardedBuild& build, const std::string& name, bool with_bias) {
    const ModelShape& shape = build.model.shape;
    const Split split = split_of_keys(build);
    const nn::Init init = nn::Init::fan_in(shape.width);
    const int64_t outputs = shape.width / shape.heads * shape.kv_heads;
    nn::Linear linear;
    linear.name = name;
    linear.weight = build.parameter(name + ".weight", {outputs, shape.width}, init, split);
    if (with_bias) linear.bias = build.parameter(name + ".bias", {outputs}, init, split);
    return linear;
}

std::shared_ptr<Decoder> make_decoder(ShardedBuild& build, const std::shared_ptr<const Outline>& outline, int64_t index) {
    const ModelShape& shape = outline->shape;
    const int64_t d = shape.width;
    const bool llama = llama_like(shape), parts = outline->crossing.sequence;
    auto made = std::make_shared<Decoder>();
    Decoder& layer = *made;
    layer.outline = outline;
    layer.at = fmt::format("layers.{}.", index);
    const size_t first = build.model.shards.size();
    if (llama)
        layer.rms_norm1 = rms_norm_of(build, layer.at + "norm1", d, parts);
    else
        layer.layer_norm1 = layer_norm_of(build, layer.at + "norm1", d, parts);
    layer.q = column_linear(build, layer.at + "attention.q", d, d, !llama);
    layer.k = key_linear(build, layer.at + "attention.k", !llama);
    layer.v = key_linear(build, layer.at + "attention.v", !llama);
    layer.out = RowParallelLinear(build, layer.at + "attention.out", d, d, !llama, outline->crossing);
    if (llama) {
        layer.rms_norm2 = rms_norm_of(build, layer.at + "norm2", d, parts);
        layer.gate = column_linear(build, layer.at + "mlp.w1", d, shape.ffn, false);
        layer.up = column_linear(build, layer.at + "mlp.w3", d, shape.ffn, false);
        layer.down = RowParallelLinear(build, layer.at + "mlp.w2", shape.ffn, d, false, outline->crossing);
    } else {
        layer.layer_norm2 = layer_norm_of(build, layer.at + "norm2", d, parts);
        layer.up = column_linear(build, layer.at + "mlp.up", d, shape.ffn, true);
        layer.down = RowParallelLinear(build, layer.at + "mlp.down", shape.ffn, d, true, outline->crossing);
    }
    const Decoder* self = made.get();
    layer.whole = {.rank = &build.rank, .parameters = {}, .inside = [self](nn::Pass& pass, std::span<const Variable> x) {
                       return self->forward(pass, x[0]);
                   }};
    for (size_t i = first; i < build.model.shards.size(); ++i)
        layer.whole.parameters.push_back(build.model.shards[i].parameter);
    layer.mixing = {.rank = &build.rank, .parameters = {}, .inside = [self](nn::Pass& pass, std::span<const Variable> x) {
                        return self->mix(pass, x[0], x[1], x[2]);
                    }};
    return made;
}

// Rows of the table of positions for the places of activations [B,T,D], cut along T under sequence parallelism.
Variable position_rows(nn::Pass& pass, const Outline& outline, nn::Parameter* positions, int64_t places) {
    tensor::Tape& tape = pass.tape;
    const std::vector<PlaceRun> here = outline.cp_ranks() > 1 ? outline.runs : std::vector<PlaceRun>{{0, places}};
    const int64_t outside = outline.places_outside(places);
    const int64_t first = outline.crossing.sequence ? outline.rank.along("tp") * outside : 0;
    const Variable table = pass(positions);
    std::vector<Variable> rows;
    for (const PlaceRun& run : rows_of_runs(here, first, first + outside))
        rows.push_back(run == PlaceRun{0, outline.shape.context}
                           ? table
                           : tensor::slice(tape, table, 0, run.first, run.last, 1, "positions slice"));
    return rows.size() == 1 ? rows[0] : tensor::cat(tape, rows, 0, "positions cat");
}

std::shared_ptr<const Outline> outline_of(ShardedBuild& build, bool holds_layers) {
    const ModelShape& shape = build.model.shape;
    Rank& rank = build.rank;
    const ParallelPlan& plan = rank.plan;
    const bool sequence = plan.sequence_parallel && plan.tp > 1;
    auto outline = std::make_shared<Outline>(Outline{.shape = shape,
                                                     .rank = rank,
                                                     .dtype = build.dtype,
                                                     .activations = build.activations(),
                                                     .crossing = {},
                                                     .runs = places_of(plan, rank.along("cp"), shape.context),
                                                     .heads = shape.heads / plan.tp,
                                                     .kv_heads = std::max<int64_t>(1, shape.kv_heads / plan.tp),
                                                     .rope = {},
                                                     .ring = {},
                                                     .cp = {}});
    if (plan.tp > 1) outline->crossing = {std::make_shared<const Crossing>(Crossing{&rank, rank.tp.get()}), sequence};
    if (llama_like(shape) && holds_layers)
        outline->rope = rotary_table(rank.heap, outline->runs, outline->head_size(), shape.rope_base, build.activations());
    if (plan.cp > 1 && plan.context == Context::all_to_all)
        outline->cp = std::make_shared<const Crossing>(Crossing{&rank, rank.cp.get()});
    else if (plan.cp > 1)
        outline->ring = make_ring(rank);
    return outline;
}

// A tied head on another pipeline rank than the embedding: both have a copy, whose gradients are added.
void tie_over_stages(ShardedBuild& build, bool has_tokens) {
    Rank& rank = build.rank;
    const int here = rank.along("pp"), last = rank.plan.pp - 1, other[] = {0, last};
    if (here != (has_tokens ? 0 : last))
        throw Failure("a tied head needs the first stage on the first pipeline rank, the last on the last or the first");
    build.model.groups.push_back(rank.pp->group(other));
    ShardedParameter& shard = build.model.shards.back();
    shard.add_over = build.model.groups.back().get();
    shard.counts = shard.counts && has_tokens;
}
}  // namespace

void add_transformer(ShardedBuild& build, const std::vector<bool>& held) {
    ParallelModel& model = build.model;
    Rank& rank = build.rank;
    const ModelShape& shape = model.shape;
    const int64_t d = shape.width;
    const bool llama = llama_like(shape), tied = shape.tied_head;
    const bool layers_here = std::find(held.begin() + 1, held.end() - 1, true) != held.end() - 1;
    const std::shared_ptr<const Outline> outline = outline_of(build, layers_here);
    const auto outside = [outline](const MicroBatch& batch) {
        const tensor::Shape& tokens = batch.input.shape;
        return tensor::TensorType{{tokens[0], outline->places_outside(tokens[1]), outline->shape.width},
                                  outline->activations};
    };

    const bool has_tokens = held.front(), has_head = held.back();
    build.held = has_tokens || (tied && has_head);
    const VocabularyParallelEmbedding tokens(build, "tokens", shape.vocabulary, d, 0.02, outline->crossing);
    if (tied && has_tokens != has_head && rank.plan.pp > 1) tie_over_stages(build, has_tokens);
    build.held = has_tokens;
    nn::Parameter* positions = nullptr;
    if (!llama)
        positions = build.parameter("positions.weight", {shape.context, d}, nn::Init::normal(0.02),
                                    build.whole_of_parts(outline->crossing.sequence));
    const auto embed = [=](nn::Pass& pass, const Variable& x, const MicroBatch& batch) {
        const Variable ids = x.node >= 0 ? x : pass.tape.label(batch.input, "tokens");
        outline->check_places(ids.shape()[1]);
        const Variable h = tokens(pass, ids);  // [B,T,D]
        if (!positions) return h;
        return tensor::add(pass.tape, h, position_rows(pass, *outline, positions, ids.shape()[1]), "positions add");
    };
    std::vector<std::string> first_prefixes = {"tokens."};
    if (!llama) first_prefixes.push_back("positions.");
    model.blocks.push_back({"tokens", first_prefixes, has_tokens ? timed(rank, embed) : BlockForward{}, outside});

    for (int64_t i = 0; i < shape.layers; ++i) {
        build.held = held[size_t(i + 1)];
        const std::shared_ptr<const Decoder> layer = make_decoder(build, outline, i);
        const std::string name = fmt::format("layers.{}", i);
        const auto decode = [=](nn::Pass& pass, const Variable& x, const MicroBatch&) {
            if (outline->rank.plan.recompute != Recompute::full) return layer->forward(pass, x);
            return rerun(pass, layer->whole, std::span(&x, 1), {x.shape(), x.dtype()}, name + " recompute");
        };
        model.blocks.push_back({name, {name + "."}, build.held ? timed(rank, decode) : BlockForward{}, outside});
    }

    build.held = has_head;
    const nn::RMSNorm rms = llama ? rms_norm_of(build, "norm", d, outline->crossing.sequence) : nn::RMSNorm{};
    const nn::LayerNorm norm = llama ? nn::LayerNorm{} : layer_norm_of(build, "norm", d, outline->crossing.sequence);
    const nn::Linear head = tied ? nn::Linear{} : column_linear(build, "head", d, shape.vocabulary, false);
    const auto lose = [=](nn::Pass& pass, const Variable& x, const MicroBatch& batch) {
        tensor::Tape& tape = pass.tape;
        const Variable normal = llama ? rms(pass, x) : norm(pass, x);
        const Variable all = outline->crossing.into(pass, normal, "head");
        const int64_t rows = all.shape()[0] * all.shape()[1];
        const Variable h = tensor::reshape(tape, all, {rows, d}, "rows");
        Variable logits = tied ? tensor::matmul(tape, h, pass(tokens.weight), "head matmul", true) : head(pass, h);
        outline->crossing.keep_part(pass, normal, all, logits, "head");
        logits = nn::in_full(pass, logits, outline->dtype);
        const Variable loss =
            outline->crossing.tp
                ? vocabulary_parallel_cross_entropy(pass, logits, batch.target, *outline->crossing.tp, "loss")
                : tensor::softmax_cross_entropy(tape, logits, tape.label(batch.target, "next"), "loss");
        return share_of_loss(pass, loss, rows, batch);
    };
    std::vector<std::string> last_prefixes = {"norm."};
    last_prefixes.push_back(tied ? "tokens." : "head.");
    model.blocks.push_back(
        {"head", last_prefixes, has_head ? timed(rank, lose) : BlockForward{}, [dtype = build.dtype](const MicroBatch&) {
             return tensor::TensorType{{}, dtype};
         }});
}

}  // namespace lockstep::parallel
