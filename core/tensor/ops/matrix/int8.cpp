// Products of 8-bit integers and of two-of-four weights (kernels/int8.cu, sparse24.cu): one row a kernel.
// Attributes: alpha the scale of the left operand, beta that of the output; mode 1: a ReLU; sizes: the picture that windows
// belong to, [N,F,OH,OW]; kernel, stride, padding of windows.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/cheap_ops.h"
#include "core/tensor/ops/rows.h"

namespace lockstep::tensor {

namespace {
int64_t padded_to_words(int64_t count) {
    return (count + 3) / 4 * 4;
}
DType byte_result(Types, const Attributes&) {
    return DType::u8;
}
device::Argument float_argument(double value) {
    return static_cast<float>(value);
}
Launch whole_named(Launch launch) {
    launch.named_whole = true;
    return launch;
}
Launch tiles_of(std::string_view kernel, int64_t m, int64_t n, Arguments arguments) {
    return whole_named(
        {kernel, {static_cast<uint32_t>((n + 15) / 16), static_cast<uint32_t>((m + 15) / 16), 1}, {16, 16, 1}, arguments});
}
void check_int8_scale(double scale) {
    if (!(scale > 0) || !(scale < 1e30)) throw Failure(fmt::format("a scale of {} is impossible: above 0, finite", scale));
}
void check_scales(const TensorType& scales, int64_t rows) {
    if (scales.shape != Shape{1} && scales.shape != Shape{rows})
        throw Failure(
            fmt::format("scales of shape {} are neither one nor one for each of {} rows", text_of(scales.shape), rows));
}
int32_t by_row(const Tensor& scales) {
    return scales.count() > 1;
}

// ---- quantize
Launch quantize_launch(const Tensor& x, const Tensor& q, int64_t rows, int64_t columns, int64_t inner, double scale) {
    const int64_t words = padded_to_words(columns) / 4;
    return whole_named(elementwise("quantize_int8_f32", rows * words,
                                   {x.pointer(), x.pointer(), q.pointer(), size_argument(rows), size_argument(columns),
                                    size_argument(words), size_argument(inner), int32_t{0}, float_argument(scale)}));
}
Shape quantize_shape(Types in, const Attributes& a) {
    check_int8_scale(a.alpha);
    if (in[0].shape.empty()) throw Failure("one number has no rows: an axis is needed");
    Shape shape = in[0].shape;
    shape.back() = padded_to_words(shape.back());
    return shape;
}
void quantize_forward(ForwardCall& call) {
    const int64_t columns = call.inputs[0].shape.back();
    call.launch(
        quantize_launch(call.inputs[0], call.output, call.inputs[0].count() / columns, columns, 1, call.attributes.alpha));
}

// ---- windows: im2col gives [N,K,P], the quantizer turns it round
struct Windows {
    int64_t batch, height, width, out_height, out_width, taps;
    int64_t positions() const { return out_height * out_width; }
};
Windows windows_of(const Shape& x, const Attributes& a) {
    if (x.size() != 4) throw Failure(fmt::format("windows are of pictures [N,C,H,W], not of {}", text_of(x)));
    const auto out = [&](size_t axis) {
        const int64_t room = x[axis + 2] + 2 * a.padding[axis] - a.kernel[axis];
        return room < 0 || a.stride[axis] < 1 ? int64_t{0} : room / a.stride[axis] + 1;
    };
    const Windows w{x[0], x[2], x[3], out(0), out(1), x[1] * a.kernel[0] * a.kernel[1]};
    if (w.positions() < 1 || a.kernel[0] < 1 || a.kernel[1] < 1 || a.padding[0] < 0 || a.padding[1] < 0)
        throw Failure(fmt::format("a window of {} x {} does not fit {}", a.kernel[0], a.kernel[1], text_of(x)));
    return w;
}
Shape windows_shape(Types in, const Attributes& a) {
    check_int8_scale(a.alpha);
    const Windows w = windows_of(in[0].shape, a);
    return {w.batch * w.positions(), padded_to_words(w.taps)};
}
void windows_forward(ForwardCall& call) {
    const Attributes& a = call.attributes;
    const Tensor& x = call.inputs[0];
    const Windows w = windows_of(x.shape, a);
    const Tensor columns = call.temporary({w.batch * w.taps * w.positions()}, "columns");
    Arguments arguments = {x.pointer(), columns.pointer()};
    for (const int64_t value :
         {w.batch, x.shape[1], w.height, w.width, int64_t{1}, w.out_height, w.out_width, a.kernel[0], a.kernel[1],
          a.stride[0], a.stride[1], a.padding[0], a.padding[1], int64_t{1}, int64_t{1}, int64_t{1}})
        arguments.push_back(size_argument(value));
    call.launch(elementwise("im2col", columns.count(), arguments), "im2col");
    call.launch(quantize_launch(columns, call.output, w.batch * w.positions(), w.taps, w.positions(), a.alpha));
}
OpCost windows_cost(Types in, const Attributes& a) {
    const Windows w = windows_of(in[0].shape, a);
    const double values = double(w.batch * w.taps * w.positions());
    return {{2 * values, in[0].bytes() + 8 * values + double(w.batch * w.positions() * padded_to_words(w.taps))}, {}};
}

// ---- products
int64_t rows_of(const Shape& shape) {
    return count_of(shape) / shape.back();
}
Shape product_shape(Types in, int64_t wanted) {  // [..., K] with B of `wanted` columns
    const Shape &a = in[0].shape, &b = in[1].shape;
    if (a.empty() || b.size() != 2 || b[1] != wanted)
        throw Failure(
            fmt::format("{} times {} transposed does not fit: rows of {} are needed", text_of(a), text_of(b), wanted));
    Shape c = a;
    c.back() = b[0];
    return c;
}
Shape int8_shape(Types in, const Attributes&) {
    if (in[0].dtype != DType::u8 || in[1].dtype != DType::u8) throw Failure("both operands are u8");
    if (in[0].shape.empty() || in[0].shape.back() % 4 != 0)
        throw Failure(fmt::format("rows of {} are not padded to a multiple of 4", text_of(in[0].shape)));
    return product_shape(in, in[0].shape.back());
}
void int8_forward(ForwardCall& call) {
    const Tensor &a = call.inputs[0], &b = call.inputs[1];
    const int64_t m = rows_of(a.shape), n = b.shape[0];
    call.launch(tiles_of("int8_matmul_i32", m, n,
                         {a.pointer(), b.pointer(), call.output.pointer(), size_argument(m), size_argument(n),
                          size_argument(a.shape.back() / 4)}));
}

// ---- back to floats, or on to the next product
Shape dequantize_shape(Types in, const Attributes& a) {
    check_int8_scale(a.alpha);
    if (in[0].shape.empty() || in[0].dtype != DType::i32) throw Failure("sums are i32, with an axis at least");
    check_scales(in[1], in[0].shape.back());
    if (a.sizes.empty()) return in[0].shape;
    if (a.sizes.size() != 4 || in[0].shape != Shape{a.sizes[0] * a.sizes[2] * a.sizes[3], a.sizes[1]})
        throw Failure(fmt::format("sums of {} are not the windows of {}", text_of(in[0].shape), text_of(a.sizes)));
    return a.sizes;
}
void dequantize_forward(ForwardCall& call) {
    const Tensor &sums = call.inputs[0], &scales = call.inputs[1];
    const Shape& picture = call.attributes.sizes;
    const int64_t columns = sums.shape.back(), inner = picture.empty() ? 1 : picture[2] * picture[3];
    call.launch(whole_named(
        elementwise("dequantize_int8_f32", sums.count(),
                    {sums.pointer(), scales.pointer(), call.output.pointer(), size_argument(sums.count() / columns),
                     size_argument(columns), size_argument(inner), by_row(scales), float_argument(call.attributes.alpha)})));
}
Shape requantize_shape(Types in, const Attributes& a) {
    check_int8_scale(a.alpha), check_int8_scale(a.beta);
    if (in[0].shape.size() != 2 || in[0].dtype != DType::i32) throw Failure("sums are i32 [M,N]");
    const int64_t columns = in[0].shape[1];
    check_scales(in[1], columns);
    if (in[2].shape != Shape{columns})
        throw Failure(fmt::format("a bias of {} does not fit sums of {}", text_of(in[2].shape), text_of(in[0].shape)));
    return {in[0].shape[0], padded_to_words(columns)};
}
void requantize_forward(ForwardCall& call) {
    const Tensor &sums = call.inputs[0], &scales = call.inputs[1], &bias = call.inputs[2];
    const int64_t rows = sums.shape[0], columns = sums.shape[1], words = padded_to_words(columns) / 4;
    call.launch(whole_named(elementwise(
        "requantize_int8_f32", rows * words,
        {sums.pointer(), scales.pointer(), bias.pointer(), call.output.pointer(), size_argument(rows),
         size_argument(columns), size_argument(words), by_row(scales), static_cast<int32_t>(call.attributes.mode == 1),
         float_argument(call.attributes.alpha), float_argument(call.attributes.beta)})));
}

Shape weight_shape(Types in, const Attributes&) {
    if (in[1].dtype != DType::u8) throw Failure("weights are u8");
    const Shape shape = product_shape(in, padded_to_words(in[0].shape.empty() ? 0 : in[0].shape.back()));
    check_scales(in[2], shape.back());
    return shape;
}
void weight_forward(ForwardCall& call) {
    const Tensor &x = call.inputs[0], &q = call.inputs[1], &scales = call.inputs[2];
    const int64_t m = rows_of(x.shape), n = q.shape[0];
    call.launch(tiles_of("int8_weight_matmul_f32", m, n,
                         {x.pointer(), q.pointer(), scales.pointer(), call.output.pointer(), size_argument(m),
                          size_argument(n), size_argument(x.shape.back()), size_argument(q.shape[1]), by_row(scales)}));
}

Shape linear_shape(Types in, const Attributes& a) {
    check_int8_scale(a.alpha);
    return weight_shape(in, a);
}
void linear_forward(ForwardCall& call) {
    const Tensor &x = call.inputs[0], &q = call.inputs[1], &scales = call.inputs[2];
    const int64_t m = rows_of(x.shape), n = q.shape[0];
    call.launch(tiles_of("int8_linear_f32", m, n,
                         {x.pointer(), q.pointer(), scales.pointer(), call.output.pointer(), size_argument(m),
                          size_argument(n), size_argument(x.shape.back()), size_argument(q.shape[1] / 4), by_row(scales),
                          float_argument(call.attributes.alpha)}));
}

Shape sparse24_shape(Types in, const Attributes&) {
    const int64_t k = in[0].shape.empty() ? 0 : in[0].shape.back();
    if (k % 4 != 0) throw Failure(fmt::format("two of four needs rows of a multiple of 4, not {}", text_of(in[0].shape)));
    const Shape shape = product_shape(in, k / 2);
    if (in[2].dtype != DType::i32 || in[2].shape != Shape{shape.back(), (k + 31) / 32})
        throw Failure(fmt::format("places of shape {} do not fit weights of {} kept values", text_of(in[2].shape),
                                  text_of(in[1].shape)));
    return shape;
}
void sparse24_forward(ForwardCall& call) {
    const Tensor &x = call.inputs[0], &values = call.inputs[1], &which = call.inputs[2];
    const int64_t m = rows_of(x.shape), n = values.shape[0];
    call.launch(tiles_of("sparse24_matmul_f32", m, n,
                         {x.pointer(), values.pointer(), which.pointer(), call.output.pointer(), size_argument(m),
                          size_argument(n), size_argument(x.shape.back())}));
}
// Two operations a product of pairs; every buffer once.
OpCost cheap_product_cost(Types in, double pairs, double element) {
    const double m = double(rows_of(in[0].shape)), n = double(in[1].shape[0]);
    OpCost cost{{2 * m * n * pairs, element * m * n}, {}};
    for (const TensorType& type : in) cost.forward.bytes += type.bytes();
    return cost;
}
Sample bytes_sample(std::vector<Shape> shapes) {
    return {.shapes = std::move(shapes), .integers = DType::u8, .smooth = false, .classes = 256};
}
}  // namespace

const OpRow quantize_int8_row = {
    .name = "quantize_int8",
    .numbers = not_from_text,
    .kernels = {"quantize_int8_f32"},
    .types = {DType::f32},
    .shape = quantize_shape,
    .result = byte_result,
    .forward = quantize_forward,
    .cost =
        [](Types in, const Attributes& a) {
            return OpCost{{2 * double(in[0].count()), in[0].bytes() + double(count_of(quantize_shape(in, a)))}, {}};
        },
    .samples =
        [](Rng&) {
            return std::vector<Sample>{
                {{{1}}, {.alpha = 0.01}}, {{{3, 7}}, {.alpha = 0.005}}, {{{2, 5, 40}}, {.alpha = 0.01}}};
        },
};
const OpRow quantize_windows_row = {
    .name = "quantize_windows",
    .numbers = not_from_text,
    .kernels = {"im2col", "quantize_int8_f32"},
    .types = {DType::f32},
    .shape = windows_shape,
    .result = byte_result,
    .forward = windows_forward,
    .cost = windows_cost,
    .samples =
        [](Rng&) {
            return std::vector<Sample>{
                {{{1, 1, 3, 3}}, {.kernel = {3, 3}, .alpha = 0.01}},
                {{{2, 3, 6, 5}}, {.kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 0}, .alpha = 0.01}}};
        },
};
const OpRow int8_matmul_row = {
    .name = "int8_matmul",
    .numbers = not_from_text,
    .inputs = 2,
    .integer_inputs = 3,
    .kernels = {"int8_matmul_i32"},
    .types = {DType::f32},
    .shape = int8_shape,
    .result = [](Types, const Attributes&) { return DType::i32; },
    .forward = int8_forward,
    .cost = [](Types in, const Attributes&) { return cheap_product_cost(in, double(in[0].shape.back()), 4); },
    .samples =
        [](Rng&) {
            return std::vector<Sample>{bytes_sample({{1, 4}, {1, 4}}), bytes_sample({{2, 3, 88}, {19, 88}}),
                                       bytes_sample({{33, 128}, {5, 128}})};
        },
};
const OpRow dequantize_int8_row = {
    .name = "dequantize_int8",
    .numbers = not_from_text,
    .inputs = 2,
    .integer_inputs = 1,
    .kernels = {"dequantize_int8_f32"},
    .types = {DType::f32},
    .shape = dequantize_shape,
    .result = [](Types, const Attributes&) { return DType::f32; },
    .forward = dequantize_forward,
    .cost =
        [](Types in, const Attributes&) {
            const double n = double(in[0].count());
            return OpCost{{2 * n, in[0].bytes() + in[1].bytes() + 4 * n}, {}};
        },
    .samples =
        [](Rng&) {
            return std::vector<Sample>{
                {.shapes = {{3, 5}, {1}}, .attributes = {.alpha = 0.01}, .smooth = false, .classes = 30000},
                {.shapes = {{2, 4, 9}, {9}}, .attributes = {.alpha = 0.5}, .smooth = false, .classes = 30000},
                {.shapes = {{12, 5}, {5}},
                 .attributes = {.sizes = {2, 5, 3, 2}, .alpha = 0.5},
                 .smooth = false,
                 .classes = 30000}};
        },
};
const OpRow requantize_int8_row = {
    .name = "requantize_int8",
    .numbers = not_from_text,
    .inputs = 3,
    .integer_inputs = 1,
    .kernels = {"requantize_int8_f32"},
    .types = {DType::f32},
    .shape = requantize_shape,
    .result = byte_result,
    .forward = requantize_forward,
    .cost =
        [](Types in, const Attributes& a) {
            const double bytes = in[0].bytes() + in[1].bytes() + in[2].bytes() + double(count_of(requantize_shape(in, a)));
            return OpCost{{5 * double(in[0].count()), bytes}, {}};
        },
    .samples =
        [](Rng&) {
            return std::vector<Sample>{{.shapes = {{3, 5}, {1}, {5}},
                                        .attributes = {.alpha = 0.001, .beta = 0.1},
                                        .smooth = false,
                                        .classes = 9000},
                                       {.shapes = {{4, 18}, {18}, {18}},
                                        .attributes = {.alpha = 0.001, .beta = 0.1, .mode = 1},
                                        .smooth = false,
                                        .classes = 9000}};
        },
};
const OpRow int8_linear_row = {
    .name = "int8_linear",
    .numbers = not_from_text,
    .inputs = 3,
    .integer_inputs = 2,
    .kernels = {"int8_linear_f32"},
    .types = {DType::f32},
    .shape = linear_shape,
    .forward = linear_forward,
    .cost =
        [](Types in, const Attributes&) {
            OpCost cost = cheap_product_cost(in, double(in[0].shape.back()), 4);
            cost.forward.operations += 2 * double(in[0].count()) + 2 * double(rows_of(in[0].shape) * in[1].shape[0]);
            return cost;
        },
    .samples =
        [](Rng&) {
            std::vector<Sample> all = {bytes_sample({{1, 3}, {2, 4}, {1}}), bytes_sample({{2, 3, 37}, {19, 40}, {19}})};
            for (Sample& sample : all) sample.ranges = {{-1, 1}, {-1, 1}, {0.002, 0.008}}, sample.attributes.alpha = 0.01;
            return all;
        },
};
const OpRow int8_weight_matmul_row = {
    .name = "int8_weight_matmul",
    .numbers = not_from_text,
    .inputs = 3,
    .integer_inputs = 2,
    .kernels = {"int8_weight_matmul_f32"},
    .types = {DType::f32},
    .shape = weight_shape,
    .forward = weight_forward,
    .cost = [](Types in, const Attributes&) { return cheap_product_cost(in, double(in[0].shape.back()), 4); },
    .samples =
        [](Rng&) {
            std::vector<Sample> all = {bytes_sample({{1, 3}, {2, 4}, {1}}), bytes_sample({{2, 3, 37}, {19, 40}, {19}})};
            for (Sample& sample : all) sample.ranges = {{-1, 1}, {-1, 1}, {0.002, 0.008}};
            return all;
        },
};
const OpRow sparse24_matmul_row = {
    .name = "sparse24_matmul",
    .numbers = not_from_text,
    .inputs = 3,
    .integer_inputs = 4,
    .kernels = {"sparse24_matmul_f32"},
    .types = {DType::f32},
    .shape = sparse24_shape,
    .forward = sparse24_forward,
    .cost = [](Types in, const Attributes&) { return cheap_product_cost(in, double(in[1].shape[1]), 4); },
    .samples =
        [](Rng&) {
            const auto sample = [](std::vector<Shape> shapes) {
                return Sample{.shapes = std::move(shapes), .smooth = false, .classes = 1 << 30};
            };
            return std::vector<Sample>{sample({{1, 4}, {1, 2}, {1, 1}}), sample({{2, 3, 40}, {19, 20}, {19, 2}})};
        },
};

Variable quantize_int8(Tape& tape, const Variable& x, double scale, NodeName name) {
    return tape.apply(quantize_int8_row, {x}, std::move(name), {.alpha = scale});
}
Variable quantize_windows(Tape& tape, const Variable& x, std::array<int64_t, 2> kernel, double scale, NodeName name,
                          const Window& window) {
    return tape.apply(quantize_windows_row, {x}, std::move(name),
                      {.kernel = kernel, .stride = window.stride, .padding = window.padding, .alpha = scale});
}
Variable int8_matmul(Tape& tape, const Variable& a, const Variable& b, NodeName name) {
    return tape.apply(int8_matmul_row, {a, b}, std::move(name));
}
Variable dequantize_int8(Tape& tape, const Variable& sums, const Variable& scales, double scale, NodeName name) {
    return tape.apply(dequantize_int8_row, {sums, scales}, std::move(name), {.alpha = scale});
}
Variable dequantize_windows(Tape& tape, const Variable& sums, const Variable& scales, double scale, const Shape& picture,
                            NodeName name) {
    return tape.apply(dequantize_int8_row, {sums, scales}, std::move(name), {.sizes = picture, .alpha = scale});
}
Variable requantize_int8(Tape& tape, const Variable& sums, const Variable& scales, const Variable& bias, double scale,
                         double scale_out, bool relu, NodeName name) {
    return tape.apply(requantize_int8_row, {sums, scales, bias}, std::move(name),
                      {.alpha = scale, .beta = scale_out, .mode = relu});
}
Variable int8_linear(Tape& tape, const Variable& x, const Variable& weight, const Variable& scales, double scale,
                     NodeName name) {
    return tape.apply(int8_linear_row, {x, weight, scales}, std::move(name), {.alpha = scale});
}
Variable int8_weight_matmul(Tape& tape, const Variable& x, const Variable& weight, const Variable& scales, NodeName name) {
    return tape.apply(int8_weight_matmul_row, {x, weight, scales}, std::move(name));
}
Variable sparse24_matmul(Tape& tape, const Variable& x, const Variable& values, const Variable& which, NodeName name) {
    return tape.apply(sparse24_matmul_row, {x, values, which}, std::move(name));
}

}  // namespace lockstep::tensor
