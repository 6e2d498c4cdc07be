// int8: weights by their largest magnitude, activations by what calibration batches show; layers' products taken over by
// Int8Product, which runs the integer kernels (kernels/int8.cu).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/nn/cheaper/workbench.h"
#include "core/tensor/cheap_ops.h"

namespace lockstep::nn {

using namespace cheaper;
using tensor::Tensor;
using tensor::Variable;

double QuantizedMatrix::value(int64_t row, int64_t column) const {
    const float scale = scales[scales.size() == 1 ? 0 : static_cast<size_t>(row)];
    return double(scale) * values[static_cast<size_t>(row * columns + column)];
}

// The scale that puts the largest magnitude at 127; 1 where all is zero.
static float int8_scale(float largest) {
    return largest > 0 ? largest / 127 : 1;
}

QuantizedMatrix quantize_matrix(std::span<const float> values, int64_t rows, bool by_row) {
    if (rows < 1 || static_cast<int64_t>(values.size()) % rows != 0)
        throw Failure(fmt::format("{} values are no {} rows", values.size(), rows));
    QuantizedMatrix q{.rows = rows, .columns = static_cast<int64_t>(values.size()) / rows, .values = {}, .scales = {}};
    const auto width = static_cast<size_t>(by_row ? q.columns : static_cast<int64_t>(values.size()));
    for (size_t first = 0; first < values.size(); first += width) {
        float largest = 0;
        for (const float value : values.subspan(first, width)) {
            if (!std::isfinite(value)) throw Failure(fmt::format("a weight of {} has no 8-bit form", value));
            largest = std::max(largest, std::abs(value));
        }
        q.scales.push_back(int8_scale(largest));
        for (const float value : values.subspan(first, width))
            q.values.push_back(static_cast<int8_t>(std::clamp(std::nearbyint(value / q.scales.back()), -127.0f, 127.0f)));
    }
    return q;
}

namespace {
struct Int8Product final : StandIn {
    Tensor weight, scales;  // u8 [rows, columns to 4], f32 [1] or [rows]
    int64_t columns = 0;
    double input_scale = 0;    // 0: activations stay f32
    bool requantizes = false;  // what it makes goes to a layer like it in 8 bits
    int64_t beside = 0;        // bytes of the embedding that stays f32 beside its head in 8 bits

    Int8Product(tensor::Heap& heap, const QuantizedMatrix& q, const std::string& name, double scale, bool chains, bool tied)
        : columns(q.columns), input_scale(scale), requantizes(chains), beside(tied ? 4 * q.rows * q.columns : 0) {
        const int64_t padded = (q.columns + 3) / 4 * 4;
        std::vector<double> bytes(static_cast<size_t>(q.rows * padded));
        for (int64_t row = 0; row < q.rows; ++row)
            for (int64_t i = 0; i < q.columns; ++i)
                bytes[static_cast<size_t>(row * padded + i)] =
                    static_cast<uint8_t>(q.values[static_cast<size_t>(row * q.columns + i)]);
        weight = tensor::tensor_from(heap, {q.rows, padded}, bytes, name, tensor::Purpose::parameter, DType::u8);
        scales = tensor::tensor_from(heap, {static_cast<int64_t>(q.scales.size())}, q.scales, name + " scales",
                                     tensor::Purpose::parameter);
    }
    int64_t bytes() const override { return weight.bytes() + scales.bytes() + beside; }

    Variable linear(Pass& pass, const Linear& at, const Variable& x) const override {
        tensor::Tape& tape = pass.tape;
        const Variable w = tape.label(weight, at.name + " int8"), s = tape.input(scales, at.name + " scales");
        if (input_scale == 0) return tensor::int8_weight_matmul(tape, x, w, s, at.name + " matmul");
        if (x.dtype() != DType::u8) return tensor::int8_linear(tape, x, w, s, input_scale, at.name + " matmul");
        return tensor::dequantize_int8(tape, tensor::int8_matmul(tape, x, w, at.name + " matmul"), s, input_scale,
                                       at.name + " dequantize");
    }
    Variable in_int8(Pass& pass, const Linear& at, const Variable& x) const {  // the layer before may have made it so
        return x.dtype() == DType::u8 ? x : tensor::quantize_int8(pass.tape, x, input_scale, at.name + " quantize");
    }
    std::optional<Variable> linear_into(Pass& pass, const Linear& at, const Linear& next, const Variable& x) const override {
        const auto* taker = dynamic_cast<const Int8Product*>(next.weight->product.get());
        if (!requantizes || !taker || taker->input_scale == 0 || !at.bias) return {};
        tensor::Tape& tape = pass.tape;
        const Variable w = tape.label(weight, at.name + " int8"), s = tape.input(scales, at.name + " scales");
        return tensor::requantize_int8(tape, tensor::int8_matmul(tape, in_int8(pass, at, x), w, at.name + " matmul"), s,
                                       pass(at.bias), input_scale, taker->input_scale, true, at.name + " requantize");
    }
    Variable conv2d(Pass& pass, const Conv2d& at, const Variable& x) const override {
        if (input_scale == 0) throw Failure(fmt::format("{}: weights alone in 8 bits are for linear layers", at.name));
        tensor::Tape& tape = pass.tape;
        const Variable w = tape.label(weight, at.name + " int8"), s = tape.input(scales, at.name + " scales");
        const tensor::Shape &kernel = at.weight->value.shape, &in = x.shape();
        const auto out = [&](size_t axis) { return (in[axis] + 2 * at.padding - kernel[axis]) / at.stride + 1; };
        const Variable q = tensor::quantize_windows(tape, x, {kernel[2], kernel[3]}, input_scale, at.name + " quantize",
                                                    {.stride = {at.stride, at.stride}, .padding = {at.padding, at.padding}});
        const Variable y =
            tensor::dequantize_windows(tape, tensor::int8_matmul(tape, q, w, at.name + " conv2d"), s, input_scale,
                                       {in[0], kernel[0], out(2), out(3)}, at.name + " dequantize");
        if (!at.bias) return y;
        const Variable bias = tensor::reshape(tape, pass(at.bias), {kernel[0], 1, 1}, at.name + " bias planes");
        return tensor::add(tape, y, bias, at.name + " add");
    }
};

float activation_scale(const std::vector<float>& seen, const QuantizeOptions& options) {
    if (seen.empty()) return 1;
    if (options.calibration == Calibration::min_max) return int8_scale(*std::max_element(seen.begin(), seen.end()));
    std::vector<float> sorted = seen;
    const auto at = static_cast<std::ptrdiff_t>(options.percentile * double(sorted.size() - 1));
    std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
    // Where most inputs are zero a percentile can be zero too: then the largest.
    return sorted[static_cast<size_t>(at)] > 0 ? int8_scale(sorted[static_cast<size_t>(at)])
                                               : int8_scale(*std::max_element(seen.begin(), seen.end()));
}

struct Int8Layer {
    QuantizedMatrix weight;
    double input_scale = 0;
    bool tied = false;
};
Alter with_int8(std::map<std::string, Int8Layer> layers, bool requantizes) {
    return [layers = std::move(layers), requantizes](Task& task, tensor::Heap& heap) {
        for (Parameter& parameter : task.list.parameters())
            if (const auto found = layers.find(parameter.name); found != layers.end())
                parameter.product = std::make_shared<Int8Product>(
                    heap, found->second.weight, parameter.name, found->second.input_scale, requantizes, found->second.tied);
    };
}

// The root of the mean square error of the weights over their root mean square, of all layers together.
double weight_error(const Weights& values, const std::map<std::string, Int8Layer>& layers) {
    double error = 0, square = 0;
    for (const auto& [name, layer] : layers) {
        const std::vector<float>& w = values.at(name);
        for (int64_t row = 0; row < layer.weight.rows; ++row)
            for (int64_t i = 0; i < layer.weight.columns; ++i) {
                const double value = w[static_cast<size_t>(row * layer.weight.columns + i)];
                const double off = value - layer.weight.value(row, i);
                error += off * off, square += value * value;
            }
    }
    return square > 0 ? std::sqrt(error / square) : 0;
}
}  // namespace

Comparison compare_quantized(const CheaperRun& run) {
    Comparison comparison = comparison_of("int8", run);
    const TrainerOptions options = trainer_options(run, run.model, steps_of(run));
    const Outcome base = trained(run, options, steps_of(run), "f32");
    add_row(run, comparison, row_of("f32", comparison, base.test, forward_cost(options)));
    const std::vector<Layer> layers = layers_of(options, base.values, QuantizeOptions{}.batches, true, true);
    const bool convolves = std::any_of(layers.begin(), layers.end(), [](const Layer& layer) { return layer.convolution; });
    const auto measure = [&](const std::string& name, const QuantizeOptions& how) {
        std::map<std::string, Int8Layer> made;
        for (const Layer& layer : layers)
            made[layer.name] = {quantize_matrix(base.values.at(layer.name), layer.rows, how.by_row),
                                how.weights_only ? 0 : double(activation_scale(layer.seen, how)), layer.tied};
        TrainerOptions cheap = options;
        cheap.alter =
            then([&](Task& task, tensor::Heap& heap) { put(task, heap, base.values); }, with_int8(made, how.requantizes));
        CheaperRow row = row_of(name, comparison, evaluated(run, cheap), forward_cost(cheap));
        row.more.push_back({"weights off by", "%", 100 * weight_error(base.values, made)});
        add_row(run, comparison, row);
    };
    if (!convolves) {
        measure("int8 weights, per tensor", {.by_row = false, .weights_only = true});
        measure("int8 weights, per channel", {.by_row = true, .weights_only = true});
    }
    measure("int8, per tensor, min-max", {.by_row = false});
    measure("int8, per channel, min-max", {.by_row = true});
    measure("int8, per tensor, 99.9 %", {.by_row = false, .calibration = Calibration::percentile});
    measure("int8, per channel, 99.9 %", {.by_row = true, .calibration = Calibration::percentile});
    if (run.model == "mlp" || run.model == "mlp512")  // a product's ReLU feeds the next product alone
        measure("int8, per channel, requantised", {.by_row = true, .requantizes = true});
    return comparison;
}

}  // namespace lockstep::nn
