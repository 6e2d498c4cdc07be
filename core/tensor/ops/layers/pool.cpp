// Pooling of images x[N,C,H,W] (kernels/pool.cu): the largest or the mean of windows of attributes.kernel with stride and
// padding; max_pool2d keeps the places of the largest, no values. avg_pool2d, mode 1: padding does not count.
// adaptive_avg_pool2d: to attributes.sizes, whatever the input's; to {1, 1} it is the mean of each plane.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/layer.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/ops/second.h"

namespace lockstep::tensor {

namespace {
std::array<int64_t, 2> out_size(const Shape& x, const Attributes& a) {
    std::array<int64_t, 2> out{};
    for (size_t i = 0; i < 2; ++i) {
        const int64_t room = x[2 + i] + 2 * a.padding[i] - a.kernel[i];
        out[i] = room < 0 ? 0 : room / a.stride[i] + 1;
    }
    return out;
}

void check_image(const Shape& x) {
    if (x.size() != 4 || count_of(x) == 0)
        throw Failure(fmt::format("pooling takes a batch of images [N,C,H,W], not shape {}", text_of(x)));
}

Shape shape(Types in, const Attributes& a) {
    const Shape& x = in[0].shape;
    check_image(x);
    for (size_t i = 0; i < 2; ++i)
        if (a.kernel[i] < 1 || a.stride[i] < 1 || a.padding[i] < 0 || 2 * a.padding[i] > a.kernel[i])
            throw Failure(
                fmt::format("a window of {} with stride {} and padding {}: window and stride must be at least 1, and "
                            "the padding at most half the window",
                            a.kernel[i], a.stride[i], a.padding[i]));
    const auto out = out_size(x, a);
    if (out[0] < 1 || out[1] < 1)
        throw Failure(fmt::format("a window of {} x {} does not fit an input of shape {} with padding {} x {}", a.kernel[0],
                                  a.kernel[1], text_of(x), a.padding[0], a.padding[1]));
    return {x[0], x[1], out[0], out[1]};
}

Launch with_sizes(Launch launch, const Shape& x, const Attributes& a) {
    const auto out = out_size(x, a);
    for (const int64_t value : {x[0] * x[1], x[2], x[3], out[0], out[1], a.kernel[0], a.kernel[1], a.stride[0], a.stride[1],
                                a.padding[0], a.padding[1]})
        launch.arguments.push_back(size_argument(value));
    return launch;
}

double places(const Shape& x, const Attributes& a) {  // of all windows together
    const auto out = out_size(x, a);
    return double(x[0] * x[1] * out[0] * out[1] * a.kernel[0] * a.kernel[1]);
}

// ---- max_pool2d
void max_forward(ForwardCall& call) {
    const Tensor& x = call.inputs[0];
    const Tensor index = call.temporary(call.output.shape, "index", DType::i32);
    call.launch(
        with_sizes(elementwise("max_pool2d", call.output.count(), {x.pointer(), call.output.pointer(), index.pointer()}),
                   x.shape, call.attributes));
    call.save("index", index);
}
void max_backward(BackwardCall& call) {
    const Tensor& dx = call.allocate(0);
    call.launch(0, with_sizes(elementwise("max_pool2d_backward", dx.count(),
                                          {call.upstream.pointer(), call.kept(0).pointer(), dx.pointer()}),
                              dx.shape, call.attributes));
}
OpCost max_cost(Types in, const Attributes& a) {
    const double e = double(size_of(in[0].dtype)), x = double(in[0].count()), y = double(count_of(shape(in, a)));
    const Cost one = {places(in[0].shape, a), e * (x + y) + 4 * y};
    return {one, {y, one.bytes}};
}

// ---- avg_pool2d
int32_t counts_padding(const Attributes& a) {
    return a.mode == 0;
}
void avg_forward(ForwardCall& call) {
    const Tensor& x = call.inputs[0];
    call.launch(with_sizes(elementwise("avg_pool2d", call.output.count(),
                                       {x.pointer(), call.output.pointer(), counts_padding(call.attributes)}),
                           x.shape, call.attributes));
}
void avg_backward(BackwardCall& call) {
    const Tensor& dx = call.allocate(0);
    call.launch(0, with_sizes(elementwise("avg_pool2d_backward", dx.count(),
                                          {call.upstream.pointer(), dx.pointer(), counts_padding(call.attributes)}),
                              dx.shape, call.attributes));
}
OpCost avg_cost(Types in, const Attributes& a) {
    const double e = double(size_of(in[0].dtype)), x = double(in[0].count()), y = double(count_of(shape(in, a)));
    return {{places(in[0].shape, a), e * (x + y)}, {2 * places(in[0].shape, a), e * (x + y)}};
}

std::vector<Sample> samples(Rng& rng) {
    const int64_t side = 4 + int64_t(rng.below(6));
    return {
        {{{1, 1, 2, 2}}, {.kernel = {2, 2}, .stride = {2, 2}}},
        {{{2, 2, 5, 6}}, {.kernel = {2, 2}, .stride = {2, 2}}},
        {{{1, 2, 5, 4}}, {.kernel = {3, 3}, .stride = {2, 1}, .padding = {1, 1}}},
        {{{1, 1, side, side + 1}}, {.kernel = {3, 2}, .stride = {1, 2}, .padding = {1, 0}}},
    };
}
std::vector<Sample> avg_samples(Rng& rng) {
    std::vector<Sample> all = samples(rng);
    all.push_back({{{1, 2, 5, 4}}, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}, .mode = 1}});
    return all;
}

// ---- adaptive_avg_pool2d
Shape adaptive_shape(Types in, const Attributes& a) {
    const Shape& x = in[0].shape;
    check_image(x);
    if (a.sizes.size() != 2 || a.sizes[0] < 1 || a.sizes[1] < 1)
        throw Failure(fmt::format("the output's height and width are needed, not {}", text_of(a.sizes)));
    return {x[0], x[1], a.sizes[0], a.sizes[1]};
}
bool to_one(const Attributes& a) {
    return a.sizes[0] == 1 && a.sizes[1] == 1;
}
Arguments adaptive_arguments(const Tensor& from, const Tensor& to, const Shape& x, const Attributes& a) {
    if (to_one(a)) return {from.pointer(), to.pointer(), size_argument(x[0] * x[1]), size_argument(x[2] * x[3])};
    return {from.pointer(),           to.pointer(),        size_argument(x[0] * x[1]),
            size_argument(x[2]),      size_argument(x[3]), size_argument(a.sizes[0]),
            size_argument(a.sizes[1])};
}
void adaptive_forward(ForwardCall& call) {
    const Tensor& x = call.inputs[0];
    const Arguments arguments = adaptive_arguments(x, call.output, x.shape, call.attributes);
    if (to_one(call.attributes))
        call.launch(warp_a_row("plane_mean", x.shape[0] * x.shape[1], arguments));
    else
        call.launch(elementwise("adaptive_avg_pool2d", call.output.count(), arguments));
}
void adaptive_backward(BackwardCall& call) {
    const Tensor& dx = call.allocate(0);
    call.launch(0, elementwise(to_one(call.attributes) ? "plane_mean_backward" : "adaptive_avg_pool2d_backward", dx.count(),
                               adaptive_arguments(call.upstream, dx, dx.shape, call.attributes)));
}
OpCost adaptive_cost(Types in, const Attributes& a) {
    const double e = double(size_of(in[0].dtype)), x = double(in[0].count()), y = double(count_of(adaptive_shape(in, a)));
    return {{x + y, e * (x + y)}, {x, e * (x + y)}};
}
std::vector<Sample> adaptive_samples(Rng&) {
    return {{{{2, 3, 4, 5}}, {.sizes = {1, 1}}},
            {{{1, 2, 5, 7}}, {.sizes = {3, 2}}},
            {{{1, 1, 3, 4}}, {.sizes = {5, 4}}},
            {{{1, 2, 8, 8}}, {.sizes = {2, 4}}}};
}
}  // namespace

const OpRow max_pool2d_row = {
    .name = "max_pool2d",
    .numbers = "window",
    .inputs = 1,
    .gradient_names = {"dx"},
    .kernels = {"max_pool2d", "max_pool2d_backward"},
    .shape = shape,
    .forward = max_forward,
    .backward = max_backward,
    .differentiate = differentiate_max_pool2d,
    .cost = max_cost,
    .samples = samples,
};
const OpRow avg_pool2d_row = {
    .name = "avg_pool2d",
    .numbers = "window",
    .inputs = 1,
    .gradient_names = {"dx"},
    .kernels = {"avg_pool2d", "avg_pool2d_backward"},
    .shape = shape,
    .forward = avg_forward,
    .backward = avg_backward,
    .differentiate = differentiate_avg_pool2d,
    .cost = avg_cost,
    .samples = avg_samples,
};
const OpRow adaptive_avg_pool2d_row = {
    .name = "adaptive_avg_pool2d",
    .numbers = "sizes",
    .inputs = 1,
    .gradient_names = {"dx"},
    .kernels = {"plane_mean", "adaptive_avg_pool2d", "plane_mean_backward", "adaptive_avg_pool2d_backward"},
    .shape = adaptive_shape,
    .forward = adaptive_forward,
    .backward = adaptive_backward,
    .cost = adaptive_cost,
    .samples = adaptive_samples,
};

}  // namespace lockstep::tensor
