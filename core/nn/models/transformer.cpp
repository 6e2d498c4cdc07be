// GPT and Llama as blocks: "tokens", "layers.0" ..., "head". Shapes: B sequences, T places, D width, H and G heads of
// queries and keys that this rank holds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/diagnostic.h"
#include "core/nn/models/blocks.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Tensor;
using tensor::Variable;

namespace {
bool llama_like(const ModelShape& shape) {
    return shape.kind == ModelShape::Kind::llama;
}

// tensor::rope_table of these places.
Tensor rotary_table(const Build& build, const ModelShape& shape) {
    const std::vector<PlaceRun> runs = build.sharding->rotary_rows(shape.context);
    int64_t places = 0;
    for (const PlaceRun& run : runs) places += run.last - run.first;
    const auto purpose = tensor::Purpose::parameter;
    const int64_t size = shape.head_size();
    if (build.heap.device().name() == "meta")
        return make_tensor(build.heap, {places, size}, "rope table", purpose, build.activations());
    std::vector<double> values;
    values.reserve(static_cast<size_t>(places * size));
    for (const PlaceRun& run : runs)
        for (int64_t p = run.first; p < run.last; ++p)
            for (int64_t i = 0; i < size / 2; ++i) {
                const double angle = double(p) * std::pow(shape.rope_base, -2.0 * double(i) / double(size));
                values.push_back(std::cos(angle));
                values.push_back(std::sin(angle));
            }
    return tensor_from(build.heap, {places, size}, values, "rope table", purpose, build.activations());
}

Variable dropped(Pass& pass, const Variable& x, double dropout, const std::string& name) {
    return pass.training && dropout > 0 ? tensor::dropout(pass.tape, x, dropout, pass.random, name) : x;
}

// How many places came before those of this pass.
int64_t places_before(const Pass& pass) {
    return pass.caches && pass.caches->front().keys ? pass.caches->front().keys.shape[1] : 0;
}

// Products and a softmax with the matrix of weights between them, [B,H,T,T]; q [B,T,H,D], k and v [B,T,G,D] -> [B,T,H,D].
Variable attention_by_matrix(Pass& pass, const Variable& q, const Variable& k, const Variable& v, double dropout,
                             const std::string& name) {
    tensor::Tape& tape = pass.tape;
    const int64_t batch = q.shape()[0], heads = q.shape()[2], size = q.shape()[3];
    const auto for_every_head = [&](const Variable& x, const char* what) {  // [B,T,G,D] -> [B,H,T,D]
        const Variable some = tensor::permute(tape, x, {0, 2, 1, 3}, name + what);
        const int64_t groups = some.shape()[1], places = some.shape()[2];
        if (groups == heads) return some;
        const Variable apart = tensor::reshape(tape, some, {batch, groups, 1, places, size}, name + what);
        const Variable repeated = tensor::expand(tape, apart, {batch, groups, heads / groups, places, size}, name + what);
        return tensor::reshape(tape, repeated, {batch, heads, places, size}, name + what);
    };
    const Variable products =
        tensor::matmul(tape, for_every_head(q, " queries"), for_every_head(k, " keys"), name + " attention scores", true);
    const Variable scores = tensor::affine(tape, products, 1 / std::sqrt(double(size)), 0, name + " attention scaled");
    const Variable weights = dropped(pass, tensor::softmax_causal(tape, scores, name + " attention weights"), dropout,
                                     name + " attention dropout");
    return tensor::permute(tape, tensor::matmul(tape, weights, for_every_head(v, " values"), name + " attention"),
                           {0, 2, 1, 3}, name + " attention heads");
}

struct Normalisation {  // RMSNorm of llama, LayerNorm of gpt
    LayerNorm layer_norm;
    RMSNorm rms_norm;

    Normalisation(Build& build, const std::string& name, const ModelShape& shape) {
        if (llama_like(shape))
            rms_norm = RMSNorm(build, name, shape.width);
        else
            layer_norm = LayerNorm(build, name, shape.width);
    }
    Variable operator()(Pass& pass, const Variable& x) const {
        return rms_norm.name.empty() ? layer_norm(pass, x) : rms_norm(pass, x);
    }
};

// Causal self-attention with H heads of queries and G of keys and values (grouped queries).
struct Attention {
    std::string name;  // "layers.3.attention"
    ModelShape shape;
    const Sharding* sharding;
    size_t index;  // of its cache
    Tensor rope;
    Linear q, k, v, out;
    Piece mixing;

    Attention(Build& build, size_t layer, const ModelShape& model, Tensor table)
        : name(fmt::format("layers.{}.attention", layer)),
          shape(model),
          sharding(build.sharding),
          index(layer),
          rope(std::move(table)) {
        const int64_t width = shape.width;
        const bool biases = !llama_like(shape);
        if (width % shape.heads != 0 || shape.heads % shape.kv_heads != 0)
            throw Failure(fmt::format("{}: a width of {} does not divide into {} heads with {} of keys and values", name,
                                      width, shape.heads, shape.kv_heads));
        const int64_t keys = shape.head_size() * shape.kv_heads;
        q = Linear(build, name + ".q", width, width, biases, Cut::columns);
        k = Linear(build, name + ".k", width, keys, biases, Cut::keys);
        v = Linear(build, name + ".v", width, keys, biases, Cut::keys);
        out = Linear(build, name + ".out", width, width, biases, Cut::rows);
        mixing = sharding->piece(
            PieceKind::attention, {},
            [this](Pass& pass, std::span<const Variable> x) { return mix(pass, x[0], x[1], x[2]); }, name + " recompute");
    }
    Attention(const Attention&) = delete;  // `mixing` refers to it
    Attention& operator=(const Attention&) = delete;

    Variable mix(Pass& pass, const Variable& queries, const Variable& keys, const Variable& values) const {
        const bool drops = pass.training && shape.dropout > 0;
        if (!drops && shape.fused_attention) return sharding->attention(pass, queries, keys, values, name + " attention");
        const Variable mixed = attention_by_matrix(pass, queries, keys, values, drops ? shape.dropout : 0, name);
        return drops ? mixed : tensor::reshape(pass.tape, mixed, mixed.shape(), name + " attention gapless");
    }

    // What the cache holds of earlier places, and these behind it; they are in the cache from then on.
    void go_on_from(Pass& pass, Variable& keys, Variable& values) const {
        Cache& cache = (*pass.caches)[index];
        if (cache.keys) {
            const Variable earlier[] = {pass.tape.input(cache.keys, name + " cached keys"), keys};
            keys = tensor::cat(pass.tape, earlier, 1, name + " keys");
            const Variable past[] = {pass.tape.input(cache.values, name + " cached values"), values};
            values = tensor::cat(pass.tape, past, 1, name + " values");
        }
        cache.keys = keys.value;
        cache.values = values.value;
    }

    Variable operator()(Pass& pass, const Variable& x) const {
        tensor::Tape& tape = pass.tape;
        const Variable all = sharding->into(pass, x, name);  // [B,T,D]
        const int64_t batch = all.shape()[0], places = all.shape()[1], size = shape.head_size(), tp = sharding->tp;
        const int64_t heads = shape.heads / tp, key_heads = std::max<int64_t>(1, shape.kv_heads / tp);
        const auto split = [&](const Linear& layer, int64_t count, const char* what) {
            return tensor::reshape(tape, layer(pass, all), {batch, places, count, size}, name + what);
        };
        Variable queries = split(q, heads, " q heads"), keys = split(k, key_heads, " k heads"),
                 values = split(v, key_heads, " v heads");
        sharding->keep_part(pass, x, all, values, name, true);
        if (rope) {
            const int64_t before = pass.caches && (*pass.caches)[index].keys ? (*pass.caches)[index].keys.shape[1] : 0;
            const Variable turns = tape.input(rope, "rope table");
            queries = tensor::rope(tape, queries, turns, tensor::RopeLayout::half_split, 1, before, name + " q rope");
            keys = tensor::rope(tape, keys, turns, tensor::RopeLayout::half_split, 1, before, name + " k rope");
        }
        if (pass.caches) go_on_from(pass, keys, values);
        const Variable inputs[] = {queries, keys, values};
        return out(pass, tensor::reshape(tape, mixing(pass, inputs), {batch, places, heads * size}, name + " joined"));
    }
};

struct Decoder {
    std::string name;  // "layers.3"
    ModelShape shape;
    const Sharding* sharding;
    Normalisation norm1;
    Attention attention;
    Normalisation norm2;
    Linear gate, up, down;

    Decoder(Build& build, size_t layer, const ModelShape& model, const Tensor& rope)
        : name(fmt::format("layers.{}", layer)),
          shape(model),
          sharding(build.sharding),
          norm1(build, name + ".norm1", model),
          attention(build, layer, model, rope),
          norm2(build, name + ".norm2", model) {
        const int64_t width = shape.width, ffn = shape.ffn;
        const bool llama = llama_like(shape);
        if (llama) gate = Linear(build, name + ".mlp.w1", width, ffn, false, Cut::columns);
        up = Linear(build, name + (llama ? ".mlp.w3" : ".mlp.up"), width, ffn, !llama, Cut::columns);
        down = Linear(build, name + (llama ? ".mlp.w2" : ".mlp.down"), ffn, width, !llama, Cut::rows);
    }

    Variable operator()(Pass& pass, const Variable& x) const {
        tensor::Tape& tape = pass.tape;
        const Variable mixed = dropped(pass, attention(pass, norm1(pass, x)), shape.dropout, name + " dropout 1");
        const Variable h = tensor::add(tape, x, mixed, name + " residual 1");
        const Variable normal = norm2(pass, h);
        const Variable m = sharding->into(pass, normal, name + ".mlp");
        const Variable gates = llama_like(shape) ? gate(pass, m) : Variable{};
        const Variable wide = up(pass, m);
        sharding->keep_part(pass, normal, m, wide, name + ".mlp", true);
        const Variable inner = llama_like(shape) ? tensor::swiglu(tape, gates, wide, name + " swiglu")
                                                 : tensor::unary(tape, "gelu_tanh", wide, name + " gelu");
        return tensor::add(tape, h, dropped(pass, down(pass, inner), shape.dropout, name + " dropout 2"),
                           name + " residual 2");
    }
};

struct Entrance {  // tokens, and of gpt positions, to activations
    ModelShape shape;
    const Sharding* sharding;
    Embedding tokens;
    Parameter* positions = nullptr;

    // Rows of the table of positions for T places.
    Variable position_rows(Pass& pass, int64_t before, int64_t places) const {
        const Variable table = pass(positions);
        std::vector<Variable> rows;
        for (const PlaceRun& run : sharding->position_rows(before, places, shape.context))
            rows.push_back(run == PlaceRun{0, shape.context}
                               ? table
                               : tensor::slice(pass.tape, table, 0, run.first, run.last, 1, "positions slice"));
        return rows.size() == 1 ? rows[0] : tensor::cat(pass.tape, rows, 0, "positions cat");
    }

    Variable operator()(Pass& pass, const Variable& ids) const {
        const int64_t before = places_before(pass), places = ids.shape()[1];
        if (before + places > shape.context)
            throw Failure(fmt::format("{} places are too many: the model's context has {}", before + places, shape.context));
        Variable h = tokens(pass, ids);  // [B,T,D]
        if (positions) h = tensor::add(pass.tape, h, position_rows(pass, before, places), "positions add");
        return dropped(pass, h, shape.dropout, "embedding dropout");
    }
};

struct Head {  // activations to logits [B T, vocabulary]
    ModelShape shape;
    const Sharding* sharding;
    Normalisation norm;
    Linear product;  // of a tied head: with the embedding's weight

    Variable operator()(Pass& pass, const Variable& x) const {
        tensor::Tape& tape = pass.tape;
        const Variable normal = norm(pass, x);
        const Variable all = sharding->into(pass, normal, "head");
        const Variable h = tensor::reshape(tape, all, {all.shape()[0] * all.shape()[1], shape.width}, "rows");
        const Variable logits = product(pass, h);
        sharding->keep_part(pass, normal, all, logits, "head", false);
        return logits;
    }
};
}  // namespace

std::vector<Block> transformer_blocks(Build& build, const ModelShape& shape) {
    const Sharding* sharding = build.sharding;
    const auto last = static_cast<size_t>(shape.layers) + 1;
    const bool llama = llama_like(shape), tied = shape.tied_head;
    const auto between = [sharding, width = shape.width](const tensor::Shape& tokens) {
        return tensor::Shape{tokens[0], sharding->places_outside(tokens[1]), width};
    };
    std::vector<Block> blocks;

    build.held = sharding->holds(0) || (tied && sharding->holds(last));
    Entrance entrance{shape, sharding, Embedding(build, "tokens", shape.vocabulary, shape.width, 0.02, Cut::columns)};
    build.held = sharding->holds(0);
    if (!llama) entrance.positions = build.parameter("positions.weight", {shape.context, shape.width}, Init::normal(0.02));
    blocks.push_back({"tokens", {"tokens."}, entrance, between});
    if (!llama) blocks.front().prefixes.push_back("positions.");

    Tensor rope;
    for (size_t i = 0; i + 1 < last; ++i) {
        build.held = sharding->holds(i + 1);
        if (build.held && llama && !rope) rope = rotary_table(build, shape);
        const size_t before = build.list.parameters().size();
        const auto decoder = std::make_shared<const Decoder>(build, i, shape, rope);
        std::vector<Parameter*> parameters = build.list.all();
        parameters.erase(parameters.begin(), parameters.begin() + static_cast<std::ptrdiff_t>(before));
        const Piece layer = sharding->piece(
            PieceKind::layer, std::move(parameters),
            [decoder](Pass& pass, std::span<const Variable> x) { return (*decoder)(pass, x[0]); },
            decoder->name + " recompute");
        blocks.push_back({decoder->name,
                          {decoder->name + "."},
                          [layer](Pass& pass, const Variable& x) { return layer(pass, std::span(&x, 1)); },
                          between});
    }

    build.held = sharding->holds(last);
    Head head{shape, sharding, Normalisation(build, "norm", shape)};
    if (tied)
        head.product.name = "head", head.product.weight = entrance.tokens.weight;
    else
        head.product = Linear(build, "head", shape.width, shape.vocabulary, false, Cut::columns);
    blocks.push_back({"head",
                      {"norm.", tied ? "tokens." : "head."},
                      head,
                      [=, words = shape.vocabulary / sharding->tp](const tensor::Shape& tokens) {
                          return tensor::Shape{tokens[0] * tokens[1], words};
                      }});
    return blocks;
}

}  // namespace lockstep::nn
