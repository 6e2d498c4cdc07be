// How the engine runs the reference's layers and losses (tests/parity/parity.h).
#pragma once
#include "tests/parity/parity.h"

namespace lockstep::parity {

namespace layers {
// Height and width; of sequences, which have one row, the length alone.
inline std::array<int64_t, 2> pair(const Call& call, const char* name, int64_t otherwise, int64_t row) {
    const Shape given = call.shape(name);
    if (given.size() == 2) return {given[0], given[1]};
    return given.empty() ? std::array<int64_t, 2>{row, otherwise} : std::array<int64_t, 2>{row, given[0]};
}
inline Attributes window(const Call& call) {
    const bool image = call.in(size_t(0)).shape().size() == 4;
    Attributes a;
    a.stride = pair(call, "stride", 1, 1);
    a.padding = pair(call, "padding", 0, 0);
    a.dilation = pair(call, "dilation", 1, 1);
    a.kernel = pair(call, "kernel", 1, 1);
    a.groups = call.integer("groups", 1);
    if (image && call.options.contains("output_padding")) a.sizes = call.shape("output_padding");
    return a;
}
inline Adapter of_row(std::string row, std::function<Attributes(const Call&)> attributes) {
    return [row, attributes](const Call& call) {
        std::vector<Variable> values;
        for (const std::string& name : call.order) values.push_back(call.in(name));
        return Outputs{call.apply_all(row, values, attributes(call))};
    };
}
inline Adapter batch_norm(bool training) {
    return [training](const Call& call) {
        std::vector<Variable> values = {call.in("x")};
        if (call.has("weight")) values.push_back(call.in("weight")), values.push_back(call.in("bias"));
        values.push_back(call.in("running_mean")), values.push_back(call.in("running_variance"));
        Attributes a;
        a.training = training;
        a.groups = call.integer("groups", 1);
        a.alpha = call.number("eps"), a.beta = call.number("momentum");
        const Variable y = call.apply_all("batch_norm", values, a);
        return training ? Outputs{y, call.in("running_mean"), call.in("running_variance")} : Outputs{y};
    };
}
inline Attributes epsilon(const Call& call) {
    Attributes a;
    a.alpha = call.number("eps");
    const Shape x = call.in("x").shape();
    a.sizes = Shape(x.end() - call.integer("axes", 1), x.end());
    return a;
}
inline Attributes reduction(const Call& call) {
    const std::string name = call.text("reduction", "mean");
    Attributes a;
    a.mode = name == "mean" ? 0 : name == "sum" ? 1 : name == "none" ? 2 : name == "batchmean" ? 3 : -1;
    a.ignored = call.integer("ignore_index", -100);
    return a;
}
inline Outputs cross_entropy(const Call& call) {
    if (call.options.empty()) return {call.apply("softmax_cross_entropy", {call.in("logits"), call.in("labels")})};
    Attributes a = reduction(call);
    a.alpha = call.number("label_smoothing");
    return {call.apply("cross_entropy", {call.in("logits"), call.in("labels")}, a)};
}
}  // namespace layers

inline std::map<std::string, Adapter> layer_adapters() {
    using namespace layers;
    return {
        {"conv2d", of_row("conv2d", window)},
        {"conv1d", of_row("conv2d", window)},
        {"conv_transpose2d", of_row("conv_transpose2d", window)},
        {"max_pool2d", of_row("max_pool2d", window)},
        {"avg_pool2d", of_row("avg_pool2d",
                              [](const Call& call) {
                                  Attributes a = window(call);
                                  a.mode = call.flag("count_include_pad", true) ? 0 : 1;
                                  return a;
                              })},
        {"adaptive_avg_pool2d",
         of_row("adaptive_avg_pool2d", [](const Call& call) { return Attributes{.sizes = call.shape("out")}; })},
        {"softmax", of_row("softmax", [](const Call& call) { return Attributes{.axis = call.integer("axis")}; })},
        {"log_softmax", of_row("log_softmax", [](const Call& call) { return Attributes{.axis = call.integer("axis")}; })},
        {"layer_norm", of_row("layer_norm", epsilon)},
        {"rms_norm", of_row("rms_norm", epsilon)},
        {"group_norm",
         of_row("group_norm",
                [](const Call& call) { return Attributes{.groups = call.integer("groups"), .alpha = call.number("eps")}; })},
        {"batch_norm", batch_norm(true)},
        {"ghost_batch_norm", batch_norm(true)},
        {"batch_norm_eval", batch_norm(false)},
        {"cross_entropy", cross_entropy},
        {"nll", of_row("nll", reduction)},
        {"bce_with_logits", of_row("bce_with_logits", reduction)},
        {"kl_div", of_row("kl_div", reduction)},
        {"l1", of_row("smooth_l1", reduction)},
        {"huber", of_row("smooth_l1",
                         [](const Call& call) {
                             Attributes a = reduction(call);
                             a.alpha = 1;  // the reference's delta, where Huber's loss and the smooth one are the same
                             return a;
                         })},
    };
}

}  // namespace lockstep::parity
