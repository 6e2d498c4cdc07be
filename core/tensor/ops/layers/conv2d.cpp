// Convolution of images, x[N,C,H,W] with w[F,C/G,KH,KW] (+ bias[F]) -> [N,F,OH,OW], and its transpose, which is the gradient
// of x run forwards: x[N,F,H,W], w[F,C/G,KH,KW] -> [N,C,OH,OW]. Sequences [N,C,L] with w[F,C/G,K] are images of one row.
// Attributes: stride, padding, dilation (height, width), groups; mode 0 direct (kernels/conv2d.cu), 1 im2col and a product
// (conv2d_im2col.cu; its columns are made anew for the weights' gradient rather than kept). Transposed: sizes, the rows
// and columns added at the end.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/layer.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/ops/second.h"

namespace lockstep::tensor {

namespace {
struct Convolution {  // as the kernels take it
    int64_t batch, channels, height, width, filters, out_height, out_width, kernel_height, kernel_width;
    std::array<int64_t, 2> stride, padding, dilation;
    int64_t groups;

    int64_t taps() const { return channels / groups * kernel_height * kernel_width; }
    int64_t positions() const { return out_height * out_width; }
    int64_t in() const { return batch * channels * height * width; }
    int64_t out() const { return batch * filters * positions(); }
    int64_t columns() const { return batch * groups * taps() * positions(); }
};

Convolution geometry(const Shape& x, const Shape& w, const Attributes& a) {
    const auto extent = [](const Shape& shape, size_t axis) {  // of four; a sequence has one row
        return shape.size() == 4 ? shape[axis] : axis == 2 ? 1 : shape[std::min<size_t>(axis, 2)];
    };
    Convolution c{};
    c.batch = x[0], c.channels = x[1], c.height = extent(x, 2), c.width = extent(x, 3);
    c.filters = w[0], c.kernel_height = extent(w, 2), c.kernel_width = extent(w, 3);
    c.stride = a.stride, c.padding = a.padding, c.dilation = a.dilation, c.groups = a.groups;
    const auto out = [&](int64_t size, int64_t kernel, size_t i) {
        const int64_t room = size + 2 * c.padding[i] - c.dilation[i] * (kernel - 1) - 1;
        return room < 0 ? 0 : room / c.stride[i] + 1;
    };
    c.out_height = out(c.height, c.kernel_height, 0), c.out_width = out(c.width, c.kernel_width, 1);
    return c;
}

// What both directions ask of their inputs; `features` are the channels of x that the weights' axis `axis` must fit.
void check(Types in, const Attributes& a, size_t axis, int64_t features, int64_t results) {
    const Shape &x = in[0].shape, &w = in[1].shape;
    if ((x.size() != 4 && x.size() != 3) || w.size() != x.size())
        throw Failure(
            fmt::format("an input of shape {} and weights of shape {} are not a batch of images [N,C,H,W] with "
                        "[F,C/groups,KH,KW], nor of sequences [N,C,L] with [F,C/groups,K]",
                        text_of(x), text_of(w)));
    for (size_t i = 0; i < 2; ++i)
        if (a.stride[i] < 1 || a.dilation[i] < 1 || a.padding[i] < 0)
            throw Failure(fmt::format("stride {}, dilation {} and padding {}: at least 1, 1 and 0 are needed", a.stride[i],
                                      a.dilation[i], a.padding[i]));
    if (x.size() == 3 && (a.stride[0] != 1 || a.padding[0] != 0))
        throw Failure("a sequence has one row: stride and padding by height must be 1 and 0");
    if (a.groups < 1 || w[0] % a.groups || features != x[1] || features % a.groups)
        throw Failure(
            fmt::format("{} channels of an input of shape {} do not fit weights of shape {} in {} groups: axis {} of "
                        "the weights wants {}",
                        x[1], text_of(x), text_of(w), a.groups, axis, features));
    if (in.size() > 3) throw Failure(fmt::format("takes an input, weights and a bias, not {} tensors", in.size()));
    if (in.size() == 3 && in[2].shape != Shape{results})
        throw Failure(fmt::format("a bias of shape {} does not fit {} channels of output", text_of(in[2].shape), results));
}

Arguments& append(Arguments& arguments, const Convolution& c) {
    for (const int64_t value :
         {c.batch, c.channels, c.height, c.width, c.filters, c.out_height, c.out_width, c.kernel_height, c.kernel_width,
          c.stride[0], c.stride[1], c.padding[0], c.padding[1], c.dilation[0], c.dilation[1], c.groups})
        arguments.push_back(size_argument(value));
    return arguments;
}
Launch with_sizes(Launch launch, const Convolution& c) {
    append(launch.arguments, c);
    return launch;
}
Launch tiles(std::string_view kernel, const Convolution& c, int64_t rows, int64_t columns, int64_t depth,
             Arguments arguments) {
    for (const int64_t value : {c.batch, c.groups, c.filters / c.groups, c.positions(), c.taps()})
        arguments.push_back(size_argument(value));
    return {
        kernel,
        {static_cast<uint32_t>((columns + 15) / 16), static_cast<uint32_t>((rows + 15) / 16), static_cast<uint32_t>(depth)},
        {16, 16, 1},
        arguments};
}

// The three directions, direct.
Launch forward_launch(const Convolution& c, const Tensor& x, const Tensor& w, const Tensor* bias, const Tensor& y) {
    return with_sizes(
        elementwise("conv2d", c.out(),
                    {x.pointer(), w.pointer(), (bias ? *bias : w).pointer(), y.pointer(), int32_t{bias != nullptr}}),
        c);
}
Launch data_launch(const Convolution& c, const Tensor& w, const Tensor& dy, const Tensor& dx) {
    return with_sizes(elementwise("conv2d_backward_data", c.in(), {w.pointer(), dy.pointer(), dx.pointer()}), c);
}
Launch weight_launch(const Convolution& c, const Tensor& x, const Tensor& dy, const Tensor& dw) {
    return with_sizes(block_each("conv2d_backward_weight", c.filters * c.taps(), {x.pointer(), dy.pointer(), dw.pointer()}),
                      c);
}
Launch bias_launch(const Tensor& dy, const Tensor& dbias, int64_t batch, int64_t channels, int64_t inner) {
    return block_each("channel_sum", channels,
                      {dy.pointer(), dbias.pointer(), size_argument(batch), size_argument(channels), size_argument(inner)});
}

// ---- conv2d
Shape shape(Types in, const Attributes& a) {
    const Shape &x = in[0].shape, &w = in[1].shape;
    check(in, a, 1, w.size() > 1 ? w[1] * a.groups : 0, w.empty() ? 0 : w[0]);
    const Convolution c = geometry(x, w, a);
    if (c.positions() < 1)
        throw Failure(fmt::format(
            "a window of {} x {} (dilation {} x {}) does not fit an input of shape {} with padding {} x {}", c.kernel_height,
            c.kernel_width, a.dilation[0], a.dilation[1], text_of(x), a.padding[0], a.padding[1]));
    return x.size() == 4 ? Shape{c.batch, c.filters, c.out_height, c.out_width} : Shape{c.batch, c.filters, c.out_width};
}

void forward(ForwardCall& call) {
    const Tensor &x = call.inputs[0], &w = call.inputs[1];
    const Tensor* bias = call.inputs.size() > 2 ? &call.inputs[2] : nullptr;
    const Convolution c = geometry(x.shape, w.shape, call.attributes);
    if (call.attributes.mode == 0) {
        call.launch(forward_launch(c, x, w, bias, call.output));
    } else {
        const Tensor columns = call.temporary({c.columns()}, "columns");
        call.launch(with_sizes(elementwise("im2col", c.columns(), {x.pointer(), columns.pointer()}), c), "im2col");
        call.launch(tiles("conv2d_product", c, c.filters / c.groups, c.positions(), c.batch * c.groups,
                          {w.pointer(), columns.pointer(), (bias ? *bias : w).pointer(), call.output.pointer(),
                           int32_t{bias != nullptr}}));
    }
    call.save_input(0);
    call.save_input(1);
}

void backward(BackwardCall& call) {
    const Tensor &x = call.kept(0), &w = call.kept(1), &dy = call.upstream;
    const Convolution c = geometry(x.shape, w.shape, call.attributes);
    const bool direct = call.attributes.mode == 0;
    if (call.inputs.size() > 2 && call.wants(2))
        call.launch(2, bias_launch(dy, call.allocate(2), c.batch, c.filters, c.positions()));
    if (call.wants(1)) {
        const Tensor& dw = call.allocate(1);
        if (direct) {
            call.launch(1, weight_launch(c, x, dy, dw));
        } else {
            const Tensor columns = call.temporary({c.columns()}, "columns", call.dtype);
            call.launch(1, with_sizes(elementwise("im2col", c.columns(), {x.pointer(), columns.pointer()}), c));
            call.launch(1, tiles("conv2d_product_weight", c, c.filters / c.groups, c.taps(), c.groups,
                                 {dy.pointer(), columns.pointer(), dw.pointer()}));
        }
    }
    if (call.wants(0)) {
        const Tensor& dx = call.allocate(0);
        if (direct) {
            call.launch(0, data_launch(c, w, dy, dx));
        } else {
            const Tensor columns = call.temporary({c.columns()}, "dcolumns", call.dtype);
            call.launch(0, tiles("conv2d_product_data", c, c.taps(), c.positions(), c.batch * c.groups,
                                 {w.pointer(), dy.pointer(), columns.pointer()}));
            call.launch(0, with_sizes(elementwise("col2im", c.in(), {columns.pointer(), dx.pointer()}), c));
        }
    }
}

// A product and a sum for each value of each window, whether it lies inside or hangs over the edge.
OpCost cost(Types in, const Attributes& a) {
    const Convolution c = geometry(in[0].shape, in[1].shape, a);
    const double e = double(size_of(in[0].dtype)), x = double(c.in()), w = double(in[1].count()), y = double(c.out());
    const double bias = in.size() > 2 ? double(c.filters) : 0, products = 2 * y * double(c.taps());
    OpCost cost = {{products + (bias > 0 ? y : 0), e * (x + w + bias + y)}, {2 * products, e * (2 * x + 2 * w + 2 * y)}};
    if (bias > 0) cost.backward += {y - bias, e * (y + bias)};
    if (a.mode == 1) {  // columns: written and read; for the gradients, twice
        const double columns = double(c.columns());
        cost.forward.bytes += e * 2 * columns;
        cost.backward.bytes += e * 4 * columns;
        cost.backward.operations += columns;
    }
    return cost;
}

std::vector<Sample> samples(Rng& rng) {
    std::vector<Sample> all = {
        {{{1, 1, 3, 3}, {1, 1, 3, 3}}},
        {{{2, 2, 5, 6}, {3, 2, 3, 3}, {3}}},
        {{{2, 3, 5, 5}, {4, 3, 1, 1}, {4}}},
        {{{1, 2, 6, 5}, {6, 2, 3, 2}, {6}}, {.stride = {2, 1}, .padding = {1, 1}}},
        {{{2, 4, 7, 6}, {4, 2, 3, 3}, {4}}, {.stride = {2, 2}, .padding = {2, 1}, .dilation = {2, 1}, .groups = 2}},
        {{{1, 3, 4, 4}, {3, 1, 3, 3}}, {.padding = {1, 1}, .groups = 3}},
        {{{2, 3, 8}, {4, 3, 3}, {4}}, {.stride = {1, 2}, .padding = {0, 1}}},
        {{{2, 2, 5, 6}, {3, 2, 3, 3}, {3}}, {.mode = 1}},
        {{{1, 4, 6, 5}, {4, 2, 2, 3}}, {.stride = {2, 1}, .padding = {1, 0}, .groups = 2, .mode = 1}},
    };
    const int64_t side = 5 + int64_t(rng.below(8)), channels = 1 + int64_t(rng.below(3)),
                  filters = 1 + int64_t(rng.below(9));
    all.push_back({{{2, channels, side, side + 2}, {filters, channels, 3, 3}, {filters}}, {.padding = {1, 1}}});
    return all;
}

// ---- conv_transpose2d: x is dy of a convolution, y its dx
Convolution transposed(const Shape& x, const Shape& w, const Attributes& a) {
    const bool image = x.size() == 4;
    const auto out = [&](size_t axis, size_t i) {
        const int64_t size = image ? x[axis] : i == 0 ? 1 : x[2], kernel = image ? w[axis] : i == 0 ? 1 : w[2];
        return (size - 1) * a.stride[i] - 2 * a.padding[i] + a.dilation[i] * (kernel - 1) + 1 +
               (a.sizes.size() == 2 ? a.sizes[i] : 0);
    };
    const int64_t height = out(2, 0), width = out(3, 1), channels = w[1] * a.groups;
    Convolution c = geometry(image ? Shape{x[0], channels, height, width} : Shape{x[0], channels, width}, w, a);
    c.out_height = image ? x[2] : 1, c.out_width = image ? x[3] : x[2];
    return c;
}

Shape transposed_shape(Types in, const Attributes& a) {
    const Shape &x = in[0].shape, &w = in[1].shape;
    check(in, a, 0, w.empty() ? 0 : w[0], w.size() > 1 ? w[1] * a.groups : 0);
    for (size_t i = 0; i < a.sizes.size(); ++i)
        if (i > 1 || a.sizes[i] < 0 || (a.sizes[i] >= a.stride[i] && a.sizes[i] >= a.dilation[i]))
            throw Failure(fmt::format("{} rows or columns added at the end: fewer than the stride or the dilation may be",
                                      a.sizes[i]));
    const Convolution c = transposed(x, w, a);
    if (c.height < 1 || c.width < 1)
        throw Failure(
            fmt::format("an input of shape {} with padding {} x {} has no output", text_of(x), a.padding[0], a.padding[1]));
    return x.size() == 4 ? Shape{c.batch, c.channels, c.height, c.width} : Shape{c.batch, c.channels, c.width};
}

void transposed_forward(ForwardCall& call) {
    const Tensor &x = call.inputs[0], &w = call.inputs[1];
    const Convolution c = transposed(x.shape, w.shape, call.attributes);
    call.launch(data_launch(c, w, x, call.output));
    if (call.inputs.size() > 2)
        call.launch(elementwise("add_channel", c.in(),
                                {call.output.pointer(), call.inputs[2].pointer(), size_argument(c.batch),
                                 size_argument(c.channels), size_argument(c.height * c.width)}),
                    "bias");
    call.save_input(0);
    call.save_input(1);
}

void transposed_backward(BackwardCall& call) {
    const Tensor &x = call.kept(0), &w = call.kept(1), &dy = call.upstream;
    const Convolution c = transposed(x.shape, w.shape, call.attributes);
    if (call.inputs.size() > 2 && call.wants(2))
        call.launch(2, bias_launch(dy, call.allocate(2), c.batch, c.channels, c.height * c.width));
    if (call.wants(1)) call.launch(1, weight_launch(c, dy, x, call.allocate(1)));
    if (call.wants(0)) call.launch(0, forward_launch(c, dy, w, nullptr, call.allocate(0)));
}

OpCost transposed_cost(Types in, const Attributes& a) {
    const Convolution c = transposed(in[0].shape, in[1].shape, a);
    const double e = double(size_of(in[0].dtype)), x = double(c.out()), w = double(in[1].count()), y = double(c.in());
    const double products = 2 * x * double(c.taps()), bias = in.size() > 2 ? double(c.channels) : 0;
    OpCost cost = {{products, e * (x + w + y)}, {2 * products, e * (2 * x + 2 * w + 2 * y)}};
    if (bias > 0) {
        cost.forward += {y, e * (y + bias)};
        cost.backward += {y - bias, e * (y + bias)};
    }
    return cost;
}

std::vector<Sample> transposed_samples(Rng&) {
    return {
        {{{1, 1, 2, 2}, {1, 1, 3, 3}}},
        {{{2, 3, 3, 4}, {3, 2, 3, 3}, {2}}},
        {{{1, 2, 3, 3}, {2, 3, 3, 3}, {3}}, {.sizes = {1, 1}, .stride = {2, 2}, .padding = {1, 1}}},
        {{{1, 4, 3, 3}, {4, 1, 2, 3}, {2}}, {.stride = {2, 1}, .groups = 2}},
    };
}
}  // namespace

const OpRow conv2d_row = {
    .name = "conv2d",
    .inputs = 2,
    .variadic = true,
    .gradient_names = {"dx", "dW", "db"},
    .kernels = {"conv2d", "im2col", "conv2d_product", "channel_sum", "conv2d_backward_weight", "conv2d_backward_data",
                "conv2d_product_weight", "conv2d_product_data", "col2im"},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .differentiate = differentiate_conv2d,
    .cost = cost,
    .samples = samples,
};

const OpRow conv_transpose2d_row = {
    .name = "conv_transpose2d",
    .numbers = not_from_text,
    .inputs = 2,
    .variadic = true,
    .gradient_names = {"dx", "dW", "db"},
    .kernels = {"conv2d_backward_data", "add_channel", "channel_sum", "conv2d_backward_weight", "conv2d"},
    .shape = transposed_shape,
    .forward = transposed_forward,
    .backward = transposed_backward,
    .differentiate = differentiate_conv_transpose2d,
    .cost = transposed_cost,
    .samples = transposed_samples,
};

}  // namespace lockstep::tensor
