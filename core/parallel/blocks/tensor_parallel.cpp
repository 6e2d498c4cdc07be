// Cross-entropy of logits that are cut over ranks. Forward, for rows r and this rank's classes:
//     m = max over all classes (all-reduce), p = exp(x - m), s = sum p and t = x[label] - m where the label is here
//     (one all-reduce of both), p /= s, loss = mean(log s - t).
// Backward is local: (p - onehot) / R. Kept: p, this rank's classes alone.
#include "core/parallel/blocks/tensor_parallel.h"

#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops.h"
#include "core/tensor/ops/walk.h"

namespace lockstep::parallel {

using tensor::BackwardCall;
using tensor::elementwise;
using tensor::ForwardCall;
using tensor::Launch;
using tensor::scalar_argument;
using tensor::size_argument;
using tensor::Tensor;

namespace {
tensor::Shape split_loss_shape(tensor::Types in, const tensor::Attributes&) {
    const tensor::Shape &logits = in[0].shape, &labels = in[1].shape;
    if (logits.size() != 2 || labels.size() != 1 || logits[0] != labels[0])
        throw Failure(fmt::format("logits of shape {} need one label a row, but the labels have shape {}",
                                  tensor::text_of(logits), tensor::text_of(labels)));
    return {};
}

// y = x with its row's value; y may be x.
Launch loss_by_rows(std::string_view kernel, const Tensor& x, const Tensor& row_values, const Tensor& y) {
    tensor::Arguments arguments = {x.pointer(), row_values.pointer(), y.pointer(), size_argument(x.count()), int32_t{2}};
    append_walk(arguments, x.shape, x.strides);
    append_strides(arguments, {1, 0});
    return elementwise(kernel, x.count(), arguments);
}
Launch loss_pair(std::string_view kernel, const Tensor& a, const Tensor& b, const Tensor& y) {
    return elementwise(kernel, y.count(), {a.pointer(), b.pointer(), y.pointer(), size_argument(y.count())});
}
Launch loss_each(std::string_view kernel, const Tensor& x, const Tensor& y) {
    return elementwise(kernel, y.count(), {x.pointer(), y.pointer(), size_argument(y.count())});
}

void split_loss_forward(ForwardCall& call) {
    const Crossing& tp = *static_cast<const Crossing*>(call.attributes.context);
    device::Device& device = call.tape.heap().device();
    const Tensor &logits = call.inputs[0], &label = call.inputs[1], &row = call.inputs[2], &mine = call.inputs[3];
    const int64_t rows = logits.shape[0], classes = logits.shape[1];
    const Tensor largest = call.temporary({rows}, "largest");
    Launch most = sum_strided(logits, largest, 2);
    most.kernel = "amax";
    call.launch(most, "largest");
    tp.rank->forward_took(call.tape);
    all_reduce(*tp.group, device, largest, comm::Reduction::max);

    const Tensor p = call.temporary({rows, classes}, "probabilities");
    call.launch(loss_by_rows("sub_broadcast", logits, largest, p));
    const Tensor both = call.temporary({2, rows}, "sums and targets");
    const Tensor sums = sliced(both, 0, 0, 1), targets = sliced(both, 0, 1, 2);
    call.launch(elementwise("gather", rows,
                            {p.pointer(), row.pointer(), targets.pointer(), size_argument(rows), size_argument(classes),
                             size_argument(1), size_argument(1)}));
    call.launch(loss_pair("mul", targets, mine, targets));
    call.launch(loss_each("exp_value", p, p));
    call.launch({"sum_rows",
                 {static_cast<uint32_t>(rows), 1, 1},
                 {256, 1, 1},
                 {p.pointer(), sums.pointer(), size_argument(rows), size_argument(classes)}});
    all_reduce(*tp.group, device, both);
    call.launch(loss_by_rows("div_broadcast", p, sums, p));
    const Tensor losses = call.temporary({rows}, "rows");
    call.launch(loss_each("log_value", sums, losses));
    call.launch(loss_pair("sub", losses, targets, losses));
    call.launch({"reduce_mean", {1, 1, 1}, {256, 1, 1}, {losses.pointer(), call.output.pointer(), size_argument(rows)}},
                "mean");
    call.save("probabilities", p);
    call.save("label", label);
}

void split_loss_backward(BackwardCall& call) {
    const Tensor &p = call.kept(0), &label = call.kept(1);
    const int64_t rows = p.shape[0], classes = p.shape[1];
    const Tensor& dlogits = call.allocate(0);
    call.launch(0, elementwise("softmax_cross_entropy_backward", dlogits.count(),
                               {p.pointer(), label.pointer(), dlogits.pointer(), size_argument(rows), size_argument(classes),
                                scalar_argument(1.0 / static_cast<double>(rows), call.dtype)}));
    times_upstream(call, 0);
}

// As softmax_cross_entropy's, of the classes here; each step is a kernel of its own: 8 values are moved.
tensor::OpCost split_loss_cost(tensor::Types in, const tensor::Attributes&) {
    const double rows = double(in[1].count()), n = double(in[0].count()), e = double(size_of(in[0].dtype));
    return {{5 * n + 4 * rows, e * (8 * n + 12 * rows)}, {3 * n, e * (4 * n + 1) + 4 * rows}};
}

const tensor::OpRow split_loss_row = {
    .name = "vocabulary_parallel_cross_entropy",
    .inputs = 4,
    .integer_inputs = 1u << 1 | 1u << 2,
    .constant_inputs = 1u << 3,
    .takes_unit_upstream = true,
    .gradient_names = {"dlogits"},
    .kernels = {"amax", "sub_broadcast", "gather", "mul", "exp_value", "sum_rows", "div_broadcast", "log_value", "sub",
                "reduce_mean", "softmax_cross_entropy_backward", "mul_broadcast"},
    .shape = split_loss_shape,
    .forward = split_loss_forward,
    .backward = split_loss_backward,
    .cost = split_loss_cost,
};
}  // namespace

tensor::Variable vocabulary_parallel_cross_entropy(nn::Pass& pass, const tensor::Variable& logits, const Tensor& labels,
                                                   const Crossing& tp, tensor::NodeName name) {
    tensor::Tape& tape = pass.tape;
    const int64_t parts = tp.group->size();
    const LocalLabels local =
        local_labels(tape.heap(), labels, logits.shape()[1] * parts, parts, tp.group->rank(), logits.dtype(), "labels");
    const tensor::Variable inputs[] = {logits, tape.label(local.label, "labels here"), tape.label(local.row, "labels rows"),
                                       tape.input(local.mine, "labels mine")};
    return tape.apply(split_loss_row, inputs, std::move(name), {.context = &tp});
}

LocalLabels local_labels(tensor::Heap& heap, const Tensor& labels, int64_t classes, int64_t parts, int64_t part, DType type,
                         const std::string& name) {
    const int64_t count = labels.count(), here = classes / parts, first = part * here;
    if (heap.device().name() == "meta") {
        const auto make = [&](DType of) { return tensor::make_tensor(heap, {count}, name, tensor::Purpose::data, of); };
        return {make(DType::i32), make(DType::i32), make(type)};
    }
    std::vector<int32_t> row(static_cast<size_t>(count)), label(row.size());
    std::vector<double> mine(row.size());
    heap.device().copy_out(row.data(), labels.pointer(), row.size() * sizeof(int32_t));
    for (size_t i = 0; i < row.size(); ++i) {
        const int64_t given = row[i];
        if (given < 0 || given >= classes)
            throw Failure(fmt::format("{}: {} is outside of the {} rows of the vocabulary", name, given, classes));
        const bool inside = given >= first && given < first + here;
        row[i] = inside ? static_cast<int32_t>(given - first) : 0;
        label[i] = inside ? row[i] : -1;
        mine[i] = inside ? 1 : 0;
    }
    const Tensor others = tensor::make_tensor(heap, {count}, {name, "here"}, tensor::Purpose::data, DType::i32);
    heap.device().copy_in(others.pointer(), label.data(), label.size() * sizeof(int32_t));
    return {tensor::labels_from(heap, row, name), others,
            tensor::tensor_from(heap, {count}, mine, name + " mine", tensor::Purpose::data, type)};
}

}  // namespace lockstep::parallel
