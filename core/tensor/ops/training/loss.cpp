// Losses (kernels/loss.cu). attributes.mode is the reduction: 0 mean, 1 sum, 2 none (a loss an element or row), 3 kl_div's
// mean over the first axis. Prediction and target must have the same shape: a loss never broadcasts.
//   cross_entropy    logits [R,C] and labels [R]; alpha: label smoothing; rows with the label `ignored` take no part, nor
//   nll              in the mean's count; nll: of log probabilities
//   bce_with_logits, kl_div (of log probabilities), smooth_l1 (alpha: beta, below which it is quadratic; 0 is l1)
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/layer.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/ops/training/label_refusal.h"

namespace lockstep::tensor {

namespace {
enum Reduction { mean, sum, none, batch_mean };

Launch reduce(std::string_view kernel, const Tensor& from, const Tensor& to) {
    return {kernel, {1, 1, 1}, {256, 1, 1}, {from.pointer(), to.pointer(), size_argument(from.count())}};
}

// ---- rows with labels
Shape label_shape(Types in, const Attributes& a) {
    const Shape &x = in[0].shape, &labels = in[1].shape;
    if (x.size() != 2 || labels.size() != 1 || x[0] != labels[0] || x[1] < 1)
        throw Failure(fmt::format("logits of shape {} need one label a row, but the labels have shape {}", text_of(x),
                                  text_of(labels)));
    if (in[1].dtype != DType::i32) throw Failure(fmt::format("labels are i32, not {}", name_of(in[1].dtype)));
    if (a.mode < mean || a.mode > none) throw Failure(fmt::format("there is no reduction {}", a.mode));
    return a.mode == none ? labels : Shape{};
}
int32_t ignored_of(const Attributes& a) {
    return static_cast<int32_t>(a.ignored);
}
void check_labels(const ForwardCall& call) {
    const Tensor &x = call.inputs[0], &labels = call.inputs[1];
    if (labels.largest >= x.shape[1] && labels.largest != call.attributes.ignored) refuse_label(call, x, labels);
}

// From the losses of rows to the output; a mean keeps how many rows it was over.
void reduce_rows(ForwardCall& call, const Tensor& losses) {
    const Tensor& labels = call.inputs[1];
    if (call.attributes.mode == sum) call.launch(reduce("reduce_sum", losses, call.output), "sum");
    if (call.attributes.mode != mean) return;
    const Tensor counted = call.temporary({1}, "counted", sum_type(call.dtype));
    call.launch({"mean_of_labelled",
                 {1, 1, 1},
                 {256, 1, 1},
                 {losses.pointer(), labels.pointer(), call.output.pointer(), counted.pointer(),
                  size_argument(labels.count()), ignored_of(call.attributes)}},
                "mean");
    call.save("counted", counted);
}
Tensor losses_of(ForwardCall& call) {
    return call.attributes.mode == none ? call.output : call.temporary(call.inputs[1].shape, "rows");
}
double reduction_bytes(Types in, const Attributes& a) {
    const double rows = double(in[1].count()), e = double(size_of(in[0].dtype)), s = double(size_of(sum_type(in[0].dtype)));
    return a.mode == mean ? e * (rows + 1) + 4 * rows + s : a.mode == sum ? e * (rows + 1) : 0;
}
double upstream_bytes(Types in, const Attributes& a) {  // and the count
    const double e = double(size_of(in[0].dtype)), s = double(size_of(sum_type(in[0].dtype)));
    return a.mode == mean ? e + s : a.mode == sum ? e : e * double(in[1].count());
}

void cross_entropy_forward(ForwardCall& call) {
    const Tensor &logits = call.inputs[0], &labels = call.inputs[1];
    const int64_t rows = logits.shape[0], classes = logits.shape[1];
    check_labels(call);
    const Tensor losses = losses_of(call), probabilities = call.temporary(logits.shape, "probabilities");
    call.launch(warp_a_row(
        "cross_entropy", rows,
        {logits.pointer(), labels.pointer(), losses.pointer(), probabilities.pointer(), size_argument(rows),
         size_argument(classes), ignored_of(call.attributes), scalar_argument(call.attributes.alpha, call.dtype)}));
    call.save("probabilities", probabilities);
    call.save_input(1);
    reduce_rows(call, losses);
}
void cross_entropy_backward(BackwardCall& call) {
    const Tensor &probabilities = call.kept(0), &labels = call.kept(1);
    const bool by_count = call.attributes.mode == mean;
    const Tensor& dlogits = call.allocate(0);
    call.launch(0,
                elementwise("cross_entropy_backward", dlogits.count(),
                            {probabilities.pointer(), labels.pointer(), (by_count ? call.kept(2) : probabilities).pointer(),
                             upstream_or(call, probabilities), dlogits.pointer(), reach_of(call), int32_t{by_count},
                             size_argument(dlogits.shape[0]), size_argument(dlogits.shape[1]), ignored_of(call.attributes),
                             scalar_argument(call.attributes.alpha, call.dtype)}));
}
// Operations a logit: maximum, subtract, exponential, two sums, divide; a row: some ten.
OpCost cross_entropy_cost(Types in, const Attributes& a) {
    const double n = double(in[0].count()), rows = double(in[1].count()), e = double(size_of(in[0].dtype));
    return {{6 * n + 10 * rows, e * (2 * n + rows) + 4 * rows + reduction_bytes(in, a)},
            {3 * n, e * 2 * n + 4 * rows + upstream_bytes(in, a)}};
}

void nll_forward(ForwardCall& call) {
    const Tensor &x = call.inputs[0], &labels = call.inputs[1];
    check_labels(call);
    const Tensor losses = losses_of(call);
    call.launch(elementwise("nll", labels.count(),
                            {x.pointer(), labels.pointer(), losses.pointer(), size_argument(x.shape[0]),
                             size_argument(x.shape[1]), ignored_of(call.attributes)}));
    call.save_input(1);
    reduce_rows(call, losses);
}
void nll_backward(BackwardCall& call) {
    const Tensor& labels = call.kept(0);
    const bool by_count = call.attributes.mode == mean;
    const Tensor& dx = call.allocate(0);
    call.launch(0, elementwise("nll_backward", dx.count(),
                               {labels.pointer(), (by_count ? call.kept(1) : labels).pointer(), upstream_or(call, labels),
                                dx.pointer(), reach_of(call), int32_t{by_count}, size_argument(dx.shape[0]),
                                size_argument(dx.shape[1]), ignored_of(call.attributes)}));
}
OpCost nll_cost(Types in, const Attributes& a) {
    const double n = double(in[0].count()), rows = double(in[1].count()), e = double(size_of(in[0].dtype));
    return {{2 * rows, e * (n + rows) + 4 * rows + reduction_bytes(in, a)}, {n, e * n + 4 * rows + upstream_bytes(in, a)}};
}

std::vector<Sample> label_samples(Rng& rng) {
    const int64_t classes = 33 + int64_t(rng.below(40));
    return {{{{1, 2}, {1}}},
            {{{5, 10}, {5}}, {.ignored = 3}},
            {{{3, classes}, {3}}, {.alpha = 0.2}},
            {{{4, 3}, {4}}, {.alpha = 0.1, .mode = sum}},
            {{{4, 3}, {4}}, {.mode = none, .ignored = 0}}};
}

// ---- elements
Shape element_shape(Types in, const Attributes& a) {
    if (in[0].shape != in[1].shape)
        throw Failure(fmt::format("a prediction of shape {} and a target of shape {} differ: a loss does not broadcast",
                                  text_of(in[0].shape), text_of(in[1].shape)));
    if (in[0].count() == 0) throw Failure(fmt::format("shape {} has no elements to take a loss of", text_of(in[0].shape)));
    if (a.mode < mean || a.mode > batch_mean) throw Failure(fmt::format("there is no reduction {}", a.mode));
    if (a.mode == batch_mean && in[0].shape.empty()) throw Failure("a single number has no batch to take the mean of");
    return a.mode == none ? in[0].shape : Shape{};
}
double scale_of(const Shape& x, const Attributes& a) {
    return a.mode == mean ? 1.0 / double(count_of(x)) : a.mode == batch_mean ? 1.0 / double(x[0]) : 1.0;
}

void element_forward(ForwardCall& call, std::string_view kernel, bool with_alpha) {
    const Tensor &x = call.inputs[0], &target = call.inputs[1];
    const int mode = call.attributes.mode;
    const Tensor losses = mode == none ? call.output : call.temporary(x.shape, "elements");
    Arguments arguments = {x.pointer(), target.pointer(), losses.pointer(), size_argument(x.count())};
    if (with_alpha) arguments.push_back(scalar_argument(call.attributes.alpha, call.dtype));
    call.launch(elementwise(kernel, x.count(), arguments));
    if (mode == mean) call.launch(reduce("reduce_mean", losses, call.output), "mean");
    if (mode == sum || mode == batch_mean) call.launch(reduce("reduce_sum", losses, call.output), "sum");
    if (mode == batch_mean)
        call.launch(
            elementwise("scale_add", 1,
                        {call.output.pointer(), call.output.pointer(), size_argument(1),
                         scalar_argument(scale_of(x.shape, call.attributes), call.dtype), scalar_argument(0, call.dtype)}),
            "mean");
    call.save_input(0);
    call.save_input(1);
}

void element_backward(BackwardCall& call, std::string_view kernel) {
    const Tensor &x = call.kept(0), &target = call.kept(1);
    for (size_t input = 0; input < 2; ++input) {
        if (!call.wants(input)) continue;
        const Tensor& gradient = call.allocate(input);
        call.launch(input, elementwise(kernel, x.count(),
                                       {x.pointer(), target.pointer(), upstream_or(call, x), gradient.pointer(),
                                        reach_of(call), static_cast<int32_t>(input), size_argument(x.count()),
                                        scalar_argument(scale_of(x.shape, call.attributes), call.dtype)}));
    }
}
// The target's gradient is the prediction's with both exchanged.
void smooth_l1_backward(BackwardCall& call) {
    for (size_t input = 0; input < 2; ++input) {
        if (!call.wants(input)) continue;
        const Tensor &self = call.kept(input), &other = call.kept(1 - input), &gradient = call.allocate(input);
        call.launch(
            input, elementwise("smooth_l1_backward", self.count(),
                               {self.pointer(), other.pointer(), upstream_or(call, self), gradient.pointer(), reach_of(call),
                                size_argument(self.count()), scalar_argument(call.attributes.alpha, call.dtype),
                                scalar_argument(scale_of(self.shape, call.attributes), call.dtype)}));
    }
}

// Some eight operations an element: logarithms and exponentials are one each.
OpCost element_cost(Types in, const Attributes& a) {
    const double n = double(in[0].count()), e = double(size_of(in[0].dtype));
    const double reduction = a.mode == none ? 0 : e * (n + 1) + (a.mode == batch_mean ? 2 * e : 0);
    return {{9 * n, e * 3 * n + reduction}, {12 * n, 2 * e * (3 * n + (a.mode == none ? n : 1))}};
}

std::vector<Sample> samples(std::array<double, 2> prediction, std::array<double, 2> target, double alpha) {
    std::vector<Sample> all;
    for (const int mode : {int(mean), int(sum), int(none)})
        all.push_back({{{3, 5}, {3, 5}}, {.alpha = alpha, .mode = mode}, 0, -1, 1, {prediction, target}});
    all.push_back({{{1}, {1}}, {.alpha = alpha}, 0, -1, 1, {prediction, target}});
    return all;
}
}  // namespace

const OpRow cross_entropy_row = {
    .name = "cross_entropy",
    .numbers = "alpha=0",
    .inputs = 2,
    .integer_inputs = 1u << 1,
    .takes_unit_upstream = true,
    .gradient_names = {"dlogits"},
    .kernels = {"cross_entropy", "mean_of_labelled", "reduce_sum", "cross_entropy_backward"},
    .shape = label_shape,
    .forward = cross_entropy_forward,
    .backward = cross_entropy_backward,
    .cost = cross_entropy_cost,
    .samples = label_samples,
};
const OpRow nll_row = {
    .name = "nll",
    .inputs = 2,
    .integer_inputs = 1u << 1,
    .takes_unit_upstream = true,
    .gradient_names = {"dx"},
    .kernels = {"nll", "mean_of_labelled", "reduce_sum", "nll_backward"},
    .shape = label_shape,
    .forward = nll_forward,
    .backward = nll_backward,
    .cost = nll_cost,
    .samples = label_samples,
};
const OpRow bce_with_logits_row = {
    .name = "bce_with_logits",
    .inputs = 2,
    .takes_unit_upstream = true,
    .gradient_names = {"dprediction", "dtarget"},
    .kernels = {"bce_with_logits", "reduce_mean", "reduce_sum", "bce_with_logits_backward"},
    .shape =
        [](Types in, const Attributes& a) {
            if (a.mode == batch_mean) throw Failure("only kl_div has a mean over the batch");
            return element_shape(in, a);
        },
    .forward = [](ForwardCall& call) { element_forward(call, "bce_with_logits", false); },
    .backward = [](BackwardCall& call) { element_backward(call, "bce_with_logits_backward"); },
    .cost = element_cost,
    .samples =
        [](Rng&) {
            return samples({-3, 3}, {0, 1}, 0);
        },
};
const OpRow smooth_l1_row = {
    .name = "smooth_l1",
    .numbers = "alpha=1",
    .inputs = 2,
    .takes_unit_upstream = true,
    .gradient_names = {"dprediction", "dtarget"},
    .kernels = {"smooth_l1", "reduce_mean", "reduce_sum", "smooth_l1_backward"},
    .shape =
        [](Types in, const Attributes& a) {
            if (a.mode == batch_mean) throw Failure("only kl_div has a mean over the batch");
            if (!(a.alpha >= 0)) throw Failure(fmt::format("beta is {}, and must not be below 0", a.alpha));
            return element_shape(in, a);
        },
    .forward = [](ForwardCall& call) { element_forward(call, "smooth_l1", true); },
    .backward = smooth_l1_backward,
    .cost = element_cost,
    .samples =
        [](Rng&) {
            std::vector<Sample> all = samples({-1, 1}, {-1, 1}, 0.5);
            all.push_back({{{2, 7}, {2, 7}}, {}, 0, -1, 1, {{-1, 0.9}, {1, 2}}});  // l1
            return all;
        },
};
const OpRow kl_div_row = {
    .name = "kl_div",
    .inputs = 2,
    .takes_unit_upstream = true,
    .gradient_names = {"dprediction", "dtarget"},
    .kernels = {"kl_div", "reduce_mean", "reduce_sum", "scale_add", "kl_div_backward"},
    .shape = element_shape,
    .forward = [](ForwardCall& call) { element_forward(call, "kl_div", false); },
    .backward = [](BackwardCall& call) { element_backward(call, "kl_div_backward"); },
    .cost = element_cost,
    .samples =
        [](Rng&) {
            std::vector<Sample> all = samples({-4, 0}, {0.1, 1}, 0);
            all.push_back({{{4, 3}, {4, 3}}, {.mode = batch_mean}, 0, -1, 1, {{-4, 0}, {0.1, 1}}});
            return all;
        },
};

}  // namespace lockstep::tensor
