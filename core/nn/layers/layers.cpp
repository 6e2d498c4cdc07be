#include "core/nn/layers/layers.h"

#include <fmt/format.h>

#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Variable;

Variable Sharding::embedding(Pass& pass, const Embedding& table, const Variable& ids) const {
    return tensor::embedding(pass.tape, pass(table.weight), ids, table.name + " embedding");
}
Variable Sharding::attention(Pass& pass, const Variable& q, const Variable& k, const Variable& v,
                             const std::string& name) const {
    return tensor::attention(pass.tape, q, k, v, true, tensor::HeadLayout::positions_first, name);
}
Variable Sharding::batch_norm(Pass& pass, const BatchNorm2d& layer, const Variable& x) const {
    return tensor::batch_norm(pass.tape, x, pass.leaf(layer.weight), pass.leaf(layer.bias), pass(layer.running_mean),
                              pass(layer.running_variance), pass.training, layer.name + " batch_norm", layer.ghosts);
}

Linear::Linear(Build& build, const std::string& layer, int64_t inputs, int64_t outputs, bool with_bias, Cut cut)
    : name(layer) {
    weight = build.parameter(layer + ".weight", {outputs, inputs}, Init::fan_in(inputs), cut);
    if (cut == Cut::rows) sharding = build.sharding, cut = Cut::whole;
    if (with_bias) bias = build.parameter(layer + ".bias", {outputs}, Init::fan_in(inputs), cut);
}

Variable Linear::operator()(Pass& pass, const Variable& x) const {
    Variable y = weight->product ? weight->product->linear(pass, *this, x)  // [..., inputs] [outputs, inputs]ᵀ
                                 : tensor::matmul(pass.tape, x, pass(weight), name + " matmul", true);
    if (sharding) y = sharding->out_of(pass, y, name);
    if (bias) y = tensor::add_bias(pass.tape, y, pass(bias), name + " add");
    return y;
}

Perceptron::Perceptron(Build& build, std::span<const int64_t> widths) : sharding(build.sharding) {
    const size_t count = widths.size() - 1;
    for (size_t i = 0; i < count; ++i) {
        build.held = sharding->holds(i);
        layers.emplace_back(build, fmt::format("fc{}", i + 1), widths[i], widths[i + 1], true,
                            by_columns(i, count) ? Cut::columns : Cut::rows);
    }
}

Variable Perceptron::layer(Pass& pass, size_t i, const Variable& x) const {
    const Linear& linear = layers[i];
    const bool last = i + 1 == layers.size();
    if (!last && linear.weight->product)
        if (const auto next = linear.weight->product->linear_into(pass, linear, layers[i + 1], x)) return *next;
    const Variable in = by_columns(i, layers.size()) ? sharding->into(pass, x, linear.name)
                        : last && i % 2 == 0         ? sharding->take_part(pass, x, linear.name + " take_part")
                                                     : x;
    const Variable y = linear(pass, in);
    return last ? y : tensor::relu(pass.tape, y, fmt::format("relu{}", i + 1));
}

Variable Perceptron::operator()(Pass& pass, Variable x) const {
    for (size_t i = 0; i < layers.size(); ++i) x = layer(pass, i, x);
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
    : name(layer), ghosts(parts), sharding(build.sharding) {
    weight = build.parameter(layer + ".weight", {channels}, Init::constant(1));
    bias = build.parameter(layer + ".bias", {channels}, Init::constant(0));
    running_mean = build.buffer(layer + ".running_mean", {channels}, 0);
    running_variance = build.buffer(layer + ".running_var", {channels}, 1);
}

Variable BatchNorm2d::operator()(Pass& pass, const Variable& x) const {
    // Running statistics are not halved: half-precision pictures are normalised as the parameters are stored.
    const DType given = x.dtype(), full = weight->value.dtype;
    const Variable wide = given == full ? x : tensor::cast(pass.tape, x, full, fmt::format("{} {}", name, name_of(full)));
    const Variable y = sharding->batch_norm(pass, *this, wide);
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

Embedding::Embedding(Build& build, const std::string& layer, int64_t words, int64_t width, double deviation, Cut cut)
    : name(layer), vocabulary(words), sharding(build.sharding) {
    weight = build.parameter(layer + ".weight", {vocabulary, width}, Init::normal(deviation), cut);
}

Variable Embedding::operator()(Pass& pass, const Variable& indices) const {
    return sharding->embedding(pass, *this, indices);
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
