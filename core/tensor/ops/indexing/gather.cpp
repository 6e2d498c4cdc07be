// Elements by number along an axis, PyTorch's way: gather y[o,i,r] = x[o,index[o,i,r],r], scatter_add its counterpart.
// The index has the shape of x, but for the axis. Additions happen in the order of the index: the same bits every time.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/sequence_ops.h"

namespace lockstep::tensor {

namespace {
struct Extents {
    int64_t outer = 1, extent = 1, count = 1, inner = 1;
};
size_t axis_of(const Shape& x, const Attributes& attributes) {
    const auto axes = int64_t(x.size()), axis = attributes.axis < 0 ? attributes.axis + axes : attributes.axis;
    if (axis < 0 || axis >= axes) throw Failure(fmt::format("{} has no axis {}", text_of(x), attributes.axis));
    return size_t(axis);
}
Extents extents_of(const Shape& x, const Shape& index, const Attributes& attributes) {
    const size_t axis = axis_of(x, attributes);
    Extents e{.extent = x[axis], .count = index[axis]};
    for (size_t i = 0; i < x.size(); ++i)
        if (i != axis) (i < axis ? e.outer : e.inner) *= x[i];
    return e;
}
void check(const TensorType& x, const TensorType& index, const Attributes& attributes) {
    const size_t axis = axis_of(x.shape, attributes);
    if (index.dtype != DType::i32) throw Failure(fmt::format("indices are i32, not {}", name_of(index.dtype)));
    Shape wanted = x.shape;
    if (index.shape.size() == wanted.size()) wanted[axis] = index.shape[axis];
    if (index.shape != wanted)
        throw Failure(fmt::format("an index of shape {} does not fit {}: they may differ in axis {} alone",
                                  text_of(index.shape), text_of(x.shape), axis));
}
void append(Arguments& arguments, const Extents& e) {
    for (int64_t size : {e.outer, e.extent, e.count, e.inner}) arguments.push_back(size_argument(size));
}
Launch gathering(const Tensor& x, const Tensor& index, const Tensor& y, const Extents& e) {
    Arguments arguments = {x.pointer(), index.pointer(), y.pointer()};
    append(arguments, e);
    return elementwise("gather", y.count(), arguments);
}
Extents extents_of(const BackwardCall& call) {
    return extents_of(call.inputs[0].shape, call.inputs[1].shape, call.attributes);
}

void gather_backward(BackwardCall& call) {
    const Extents e = extents_of(call);
    const Tensor& dx = call.allocate(0);
    Arguments arguments = {call.kept(0).pointer(), call.upstream.pointer(), dx.pointer()};
    append(arguments, e);
    call.launch(0, elementwise("gather_backward", e.outer * e.inner, arguments));
}
void scatter_forward(ForwardCall& call) {
    const Tensor &x = call.inputs[0], &index = call.inputs[1], &source = call.inputs[2];
    const Extents e = extents_of(x.shape, index.shape, call.attributes);
    Arguments arguments = {x.pointer(), index.pointer(), source.pointer(), call.output.pointer()};
    append(arguments, e);
    call.launch(elementwise("scatter_add", e.outer * e.inner, arguments));
    call.save_input(1);
}
void scatter_backward(BackwardCall& call) {
    if (call.wants(0)) call.gradients[0] = call.upstream;
    if (!call.wants(2)) return;
    const Tensor& dsource = call.allocate(2);
    call.launch(2, gathering(call.upstream, call.kept(0), dsource, extents_of(call)));
}
std::vector<Sample> samples_of(bool scatter) {
    std::vector<Sample> all = {{.shapes = {{5, 7}, {5, 4}}, .attributes = {.axis = 1}, .classes = 7},
                               {.shapes = {{5, 7}, {9, 7}}, .classes = 5},
                               {.shapes = {{2, 5, 3}, {2, 4, 3}}, .attributes = {.axis = -2}, .classes = 5}};
    for (Sample& sample : all)
        if (scatter) sample.shapes.push_back(sample.shapes[1]);
    return all;
}
}  // namespace

const OpRow gather_row = {
    .name = "gather",
    .numbers = "axis",
    .inputs = 2,
    .integer_inputs = 1u << 1,
    .kernels = {"gather", "gather_backward"},
    .types = {DType::f32, DType::f64, DType::f16, DType::bf16},
    .shape =
        [](Types in, const Attributes& attributes) {
            check(in[0], in[1], attributes);
            return in[1].shape;
        },
    .forward =
        [](ForwardCall& call) {
            const Extents e = extents_of(call.inputs[0].shape, call.inputs[1].shape, call.attributes);
            call.launch(gathering(call.inputs[0], call.inputs[1], call.output, e));
            call.save_input(1);
        },
    .backward = gather_backward,
    .cost = [](Types in, const Attributes&) -> OpCost {
        const double y = double(in[1].count()), bytes = in[0].bytes() + y * double(size_of(in[0].dtype)) + 4 * y;
        return {{0, bytes}, {y, bytes}};
    },
    .samples = [](Rng&) { return samples_of(false); },
};

const OpRow scatter_add_row = {
    .name = "scatter_add",
    .numbers = "axis",
    .inputs = 3,
    .integer_inputs = 1u << 1,
    .gradient_names = {"dx", "", "dsource"},
    .kernels = {"scatter_add", "gather"},
    .types = {DType::f32, DType::f64, DType::f16, DType::bf16},
    .shape =
        [](Types in, const Attributes& attributes) {
            check(in[0], in[1], attributes);
            if (in[2].shape != in[1].shape)
                throw Failure(fmt::format("a source of shape {} needs an index of the same shape, not {}",
                                          text_of(in[2].shape), text_of(in[1].shape)));
            return in[0].shape;
        },
    .forward = scatter_forward,
    .backward = scatter_backward,
    .cost = [](Types in, const Attributes&) -> OpCost {
        const double n = double(in[1].count()), source = in[2].bytes();
        return {{n, 2 * in[0].bytes() + source + 4 * n}, {0, in[0].bytes() + source + 4 * n}};
    },
    .samples = [](Rng&) { return samples_of(true); },
};

Variable gather(Tape& tape, const Variable& x, const Variable& index, int64_t axis, NodeName name) {
    return tape.apply(gather_row, {x, index}, std::move(name), {.axis = axis});
}
Variable scatter_add(Tape& tape, const Variable& x, const Variable& index, const Variable& source, int64_t axis,
                     NodeName name) {
    return tape.apply(scatter_add_row, {x, index, source}, std::move(name), {.axis = axis});
}

}  // namespace lockstep::tensor
