#include "core/nn/layers/layers.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/diagnostic.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Variable;

Linear::Linear(Build& build, const std::string& layer, int64_t inputs, int64_t outputs, bool with_bias) : name(layer) {
    weight = build.parameter(layer + ".weight", {outputs, inputs}, Init::fan_in(inputs));
    if (with_bias) bias = build.parameter(layer + ".bias", {outputs}, Init::fan_in(inputs));
}

Variable Linear::operator()(Pass& pass, const Variable& x) const {
    Variable y = weight->product ? weight->product->linear(pass, *this, x)  // [..., inputs] [outputs, inputs]ᵀ
                                 : tensor::matmul(pass.tape, x, pass(weight), name + " matmul", true);
    if (bias) y = tensor::add_bias(pass.tape, y, pass(bias), name + " add");
    return y;
}

Perceptron::Perceptron(Build& build, std::span<const int64_t> widths) {
    for (size_t i = 0; i + 1 < widths.size(); ++i)
        layers.emplace_back(build, fmt::format("fc{}", i + 1), widths[i], widths[i + 1]);
}

Variable Perceptron::operator()(Pass& pass, Variable x) const {
    for (size_t i = 0; i < layers.size(); ++i) {
        const auto& product = layers[i].weight->product;
        if (i + 1 < layers.size() && product)
            if (const auto next = product->linear_into(pass, layers[i], layers[i + 1], x)) {
                x = *next;
                continue;
            }
        x = layers[i](pass, x);
        if (i + 1 < layers.size()) x = tensor::relu(pass.tape, x, fmt::format("relu{}", i + 1));
    }
    return x;
}

Conv2d::Conv2d(Build& build, const std::string& layer, int64_t inputs, int64_t outputs, int64_t kernel, int64_t step,
               int64_t around, bool with_bias)
    : name(layer), stride(step), padding(around) {
    const int64_t fan_in = inputs * kernel * kernel;
    weight = build.parameter(layer + ".weight", {outputs, inputs, kernel, kernel}, Init::fan_in(fan_in));
    if (with_bias) bias = build.parameter(layer + ".bias", {outputs}, Init::fan_in(fan_in));
}

Variable Conv2d::operator()(Pass& pass, const Variable& x) const {
    if (weight->product) return weight->product->conv2d(pass, *this, x);
    return tensor::conv2d(pass.tape, x, pass(weight), bias ? pass(bias) : Variable{}, name + " conv2d",
                          {.stride = {stride, stride}, .padding = {padding, padding}});
}

ConvTranspose2d::ConvTranspose2d(Build& build, const std::string& layer, int64_t inputs, int64_t outputs, int64_t kernel,
                                 int64_t step, int64_t around)
    : name(layer), stride(step), padding(around) {
    const Init init = Init::fan_in(outputs * kernel * kernel);  // PyTorch's fan-in is of the second axis
    weight = build.parameter(layer + ".weight", {inputs, outputs, kernel, kernel}, init);
    bias = build.parameter(layer + ".bias", {outputs}, init);
}

Variable ConvTranspose2d::operator()(Pass& pass, const Variable& x) const {
    return tensor::conv_transpose2d(pass.tape, x, pass(weight), pass(bias), name + " conv_transpose2d",
                                    {.stride = {stride, stride}, .padding = {padding, padding}});
}

BatchNorm2d::BatchNorm2d(Build& build, const std::string& layer, int64_t channels, int64_t parts)
    : name(layer), ghosts(parts) {
    weight = build.parameter(layer + ".weight", {channels}, Init::constant(1));
    bias = build.parameter(layer + ".bias", {channels}, Init::constant(0));
    running_mean = build.buffer(layer + ".running_mean", {channels}, 0);
    running_variance = build.buffer(layer + ".running_var", {channels}, 1);
}

Variable BatchNorm2d::operator()(Pass& pass, const Variable& x) const {
    // Running statistics are not halved: half-precision pictures are normalised as the parameters are stored.
    const DType given = x.dtype(), full = weight->value.dtype;
    const Variable wide = given == full ? x : tensor::cast(pass.tape, x, full, fmt::format("{} {}", name, name_of(full)));
    const Variable y = tensor::batch_norm(pass.tape, wide, pass.leaf(weight), pass.leaf(bias), pass(running_mean),
                                          pass(running_variance), pass.training, name + " batch_norm", ghosts);
    return given == full ? y : tensor::cast(pass.tape, y, given, fmt::format("{} {}", name, name_of(given)));
}

LayerNorm::LayerNorm(Build& build, const std::string& layer, int64_t width) : name(layer) {
    weight = build.parameter(layer + ".weight", {width}, Init::constant(1));
    bias = build.parameter(layer + ".bias", {width}, Init::constant(0));
}

Variable LayerNorm::operator()(Pass& pass, const Variable& x) const {
    return tensor::layer_norm(pass.tape, x, pass(weight), pass(bias), name + " layer_norm");
}

GroupNorm::GroupNorm(Build& build, const std::string& layer, int64_t count, int64_t channels) : name(layer), groups(count) {
    weight = build.parameter(layer + ".weight", {channels}, Init::constant(1));
    bias = build.parameter(layer + ".bias", {channels}, Init::constant(0));
}

Variable GroupNorm::operator()(Pass& pass, const Variable& x) const {
    return tensor::group_norm(pass.tape, x, groups, pass(weight), pass(bias), name + " group_norm");
}

RMSNorm::RMSNorm(Build& build, const std::string& layer, int64_t width) : name(layer) {
    weight = build.parameter(layer + ".weight", {width}, Init::constant(1));
}

Variable RMSNorm::operator()(Pass& pass, const Variable& x) const {
    return tensor::rms_norm(pass.tape, x, pass(weight), name + " rms_norm");
}

Embedding::Embedding(Build& build, const std::string& layer, int64_t vocabulary, int64_t width, double deviation)
    : name(layer) {
    weight = build.parameter(layer + ".weight", {vocabulary, width}, Init::normal(deviation));
}

Variable Embedding::operator()(Pass& pass, const Variable& indices) const {
    return tensor::embedding(pass.tape, pass(weight), indices, name + " embedding");
}

SelfAttention::SelfAttention(Build& build, const std::string& layer, int64_t width, int64_t query_heads, int64_t key_heads,
                             bool with_bias)
    : name(layer), heads(query_heads), kv_heads(key_heads) {
    if (width % heads != 0 || heads % kv_heads != 0)
        throw Failure(fmt::format("{}: a width of {} does not divide into {} heads with {} of keys and values", layer, width,
                                  heads, kv_heads));
    const int64_t kv = width / heads * kv_heads;
    q = Linear(build, layer + ".q", width, width, with_bias);
    k = Linear(build, layer + ".k", width, kv, with_bias);
    v = Linear(build, layer + ".v", width, kv, with_bias);
    out = Linear(build, layer + ".out", width, width, with_bias);
}

// softmax(q kᵀ / sqrt(D)) with weights dropped, times v; q [B,T,H,D], k and v [B,T,G,D] -> [B,T,H,D].
static Variable attention_dropping(Pass& pass, const Variable& q, const Variable& k, const Variable& v, double dropout,
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
    const Variable weights = tensor::dropout(tape, tensor::softmax_causal(tape, scores, name + " attention weights"),
                                             dropout, pass.random, name + " attention dropout");
    return tensor::permute(tape, tensor::matmul(tape, weights, for_every_head(v, " values"), name + " attention"),
                           {0, 2, 1, 3}, name + " attention heads");
}

Variable SelfAttention::operator()(Pass& pass, const Variable& x, const tensor::Tensor* table, Cache* cache) const {
    tensor::Tape& tape = pass.tape;
    const int64_t batch = x.shape()[0], places = x.shape()[1], width = x.shape()[2], size = width / heads;
    const int64_t before = cache && cache->keys ? cache->keys.shape[1] : 0;
    const auto split = [&](const Linear& layer, int64_t count, const char* what) {
        return tensor::reshape(tape, layer(pass, x), {batch, places, count, size}, name + what);
    };
    Variable queries = split(q, heads, " q heads"), keys = split(k, kv_heads, " k heads"),
             values = split(v, kv_heads, " v heads");
    if (table) {
        const Variable turns = tape.input(*table, "rope table");
        queries = tensor::rope(tape, queries, turns, tensor::RopeLayout::half_split, 1, before, name + " q rope");
        keys = tensor::rope(tape, keys, turns, tensor::RopeLayout::half_split, 1, before, name + " k rope");
    }
    if (cache) {
        if (before > 0) {
            const Variable earlier[] = {tape.input(cache->keys, name + " cached keys"), keys};
            keys = tensor::cat(tape, earlier, 1, name + " keys");
            const Variable past[] = {tape.input(cache->values, name + " cached values"), values};
            values = tensor::cat(tape, past, 1, name + " values");
        }
        cache->keys = keys.value;
        cache->values = values.value;
    }
    const Variable mixed =
        pass.training && dropout > 0
            ? attention_dropping(pass, queries, keys, values, dropout, name)
            : tensor::attention(tape, queries, keys, values, true, tensor::HeadLayout::positions_first, name + " attention");
    return out(pass, tensor::reshape(tape, mixed, {batch, places, width}, name + " joined"));
}

LSTMCell::LSTMCell(Build& build, const std::string& layer, int64_t inputs, int64_t size) : name(layer), hidden(size) {
    const Init init = Init::fan_in(hidden);
    weight_ih = build.parameter(layer + ".weight_ih", {4 * hidden, inputs}, init);
    weight_hh = build.parameter(layer + ".weight_hh", {4 * hidden, hidden}, init);
    bias_ih = build.parameter(layer + ".bias_ih", {4 * hidden}, init);
    bias_hh = build.parameter(layer + ".bias_hh", {4 * hidden}, init);
}

// x Wᵀ + b of one place.
static Variable gates(Pass& pass, const Variable& x, Parameter* weight, Parameter* bias, const std::string& name) {
    const Variable product = tensor::matmul(pass.tape, x, pass(weight), name + " matmul", true);
    return tensor::add_bias(pass.tape, product, pass(bias), name + " add");
}

std::pair<Variable, Variable> LSTMCell::operator()(Pass& pass, const Variable& x, const Variable& h, const Variable& c,
                                                   int64_t place) const {
    const std::string at = fmt::format("{}[{}]", name, place);
    const Variable both = tensor::lstm_cell(pass.tape, gates(pass, x, weight_ih, bias_ih, at + " input"),
                                            gates(pass, h, weight_hh, bias_hh, at + " hidden"), c, at + " cell");
    return {tensor::select(pass.tape, both, 0, 0, at + " h"), tensor::select(pass.tape, both, 0, 1, at + " c")};
}

GRUCell::GRUCell(Build& build, const std::string& layer, int64_t inputs, int64_t size) : name(layer), hidden(size) {
    const Init init = Init::fan_in(hidden);
    weight_ih = build.parameter(layer + ".weight_ih", {3 * hidden, inputs}, init);
    weight_hh = build.parameter(layer + ".weight_hh", {3 * hidden, hidden}, init);
    bias_ih = build.parameter(layer + ".bias_ih", {3 * hidden}, init);
    bias_hh = build.parameter(layer + ".bias_hh", {3 * hidden}, init);
}

Variable GRUCell::operator()(Pass& pass, const Variable& x, const Variable& h, int64_t place) const {
    const std::string at = fmt::format("{}[{}]", name, place);
    return tensor::gru_cell(pass.tape, gates(pass, x, weight_ih, bias_ih, at + " input"),
                            gates(pass, h, weight_hh, bias_hh, at + " hidden"), h, at + " cell");
}

RNNCell::RNNCell(Build& build, const std::string& layer, int64_t inputs, int64_t size) : name(layer), hidden(size) {
    const Init init = Init::fan_in(hidden);
    weight_ih = build.parameter(layer + ".weight_ih", {hidden, inputs}, init);
    weight_hh = build.parameter(layer + ".weight_hh", {hidden, hidden}, init);
    bias_ih = build.parameter(layer + ".bias_ih", {hidden}, init);
    bias_hh = build.parameter(layer + ".bias_hh", {hidden}, init);
}

Variable RNNCell::operator()(Pass& pass, const Variable& x, const Variable& h, int64_t place) const {
    const std::string at = fmt::format("{}[{}]", name, place);
    return tensor::rnn_cell(pass.tape, gates(pass, x, weight_ih, bias_ih, at + " input"),
                            gates(pass, h, weight_hh, bias_hh, at + " hidden"), at + " cell");
}

}  // namespace lockstep::nn
