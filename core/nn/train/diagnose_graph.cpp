// What a recorded graph says by itself: where gradients end, units that are dead or all alike.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/nn/train/diagnose.h"

namespace lockstep::nn {

namespace {

double threshold_of(std::string_view name) {
    for (const CauseRow& row : causes())
        if (row.name == name) return row.threshold;
    return 0;
}

bool all_zero(const Values& values) {
    return values && std::all_of(values->begin(), values->end(), [](float value) { return value == 0; });
}
bool has_gradient(const GraphNode& node) {
    return node.gradient && !all_zero(node.gradient);
}
double norm_of(const Values& values) {
    double sum = 0;
    for (size_t i = 0; values && i < values->size(); ++i) sum += double((*values)[i]) * double((*values)[i]);
    return std::sqrt(sum);
}
bool rectifies(const GraphNode& node) {
    return node.op.starts_with("relu");
}
bool multiplies(const GraphNode& node) {
    return node.inputs.size() >= 2 && (node.op.find("matmul") != std::string::npos || node.op.starts_with("conv") ||
                                       node.op == "mul" || node.op == "linear");
}
std::string layer_of(const std::string& parameter) {
    const size_t dot = parameter.find_last_of('.');
    return dot == std::string::npos ? parameter : parameter.substr(0, dot);
}
std::string listed(const std::vector<std::string>& names) {
    if (names.size() == 1) return names[0];
    return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

// "w1 is all zeros": why a node's values are all zero.
std::string why_zero(std::span<const GraphNode> nodes, const GraphNode& node) {
    if (rectifies(node)) {
        const GraphNode& in = nodes[size_t(node.inputs[0])];
        std::string zero;
        for (const int input : in.inputs)
            if (nodes[size_t(input)].kind == GraphNode::Kind::parameter && all_zero(nodes[size_t(input)].value))
                zero = nodes[size_t(input)].name;
        return fmt::format("{} (relu) gives 0 for all {} elements ({})", node.name, node.value->size(),
                           !zero.empty() ? zero + " is all zeros" : "all its inputs are zero or negative");
    }
    return node.name + " is all zeros";
}

// How a gradient that reaches `node` does not get on to its input number `input`.
std::string stop_at(std::span<const GraphNode> nodes, const GraphNode& node, size_t input) {
    const GraphNode& in = nodes[size_t(node.inputs[input])];
    if (rectifies(node) && in.value &&
        std::all_of(in.value->begin(), in.value->end(), [](float value) { return value <= 0; }))
        return fmt::format("{} (relu) passes nothing back, since all its {} inputs are zero or negative", node.name,
                           in.value->size());
    if (multiplies(node))
        for (size_t other = 0; other < 2; ++other)
            if (const GraphNode& factor = nodes[size_t(node.inputs[other])]; other != input && all_zero(factor.value))
                return fmt::format("{} gets no gradient through {} ({}), since {}", in.name, node.name, node.op,
                                   why_zero(nodes, factor));
    return fmt::format("{} ({}) passes nothing back to {}, since it is flat there", node.name, node.op, in.name);
}

}  // namespace

std::optional<Cause> dead_gradients(std::span<const GraphNode> nodes, int64_t step) {
    std::vector<std::string> without, zero, dead_relus, empty_inputs;
    size_t parameters = 0;
    for (const GraphNode& node : nodes) {
        if (node.kind != GraphNode::Kind::parameter) continue;
        ++parameters;
        if (!has_gradient(node)) without.push_back(node.name);
        if (all_zero(node.value) && node.shape.size() > 1) zero.push_back(node.name);
    }
    if (without.empty()) return std::nullopt;
    std::vector<std::string> stops;
    int stopper = -1;
    for (size_t i = nodes.size(); i-- > 0;) {
        const GraphNode& node = nodes[i];
        if (node.inputs.empty() || !has_gradient(node)) continue;
        for (size_t input = 0; input < node.inputs.size(); ++input) {
            const GraphNode& in = nodes[size_t(node.inputs[input])];
            if (!in.requires_grad || !in.gradient || !all_zero(in.gradient)) continue;
            stops.push_back(stop_at(nodes, node, input));
            if (stopper < 0) stopper = node.id;
            if (rectifies(node)) dead_relus.push_back(node.name);
            for (size_t other = 0; multiplies(node) && other < 2; ++other)
                if (const GraphNode& factor = nodes[size_t(node.inputs[other])];
                    other != input && factor.kind == GraphNode::Kind::input && all_zero(factor.value))
                    empty_inputs.push_back(factor.name);
        }
    }
    // A loss whose own gradient is zero, or parameters that the loss does not depend on: nothing is wrong that could be
    // said.
    if (stops.empty()) return std::nullopt;
    if (stops.size() > 3) stops.resize(3);
    Cause cause{.name = "no_gradient", .step = step, .layer = layer_of(without.front()), .node = stopper};
    cause.text = fmt::format("in step {} {}: {}", step,
                             without.size() == parameters
                                 ? std::string("all gradients are zero, so nothing is learned")
                                 : fmt::format("no gradient reaches {}, which learn{} nothing",
                                               without.size() > 4 ? fmt::format("{} of {} parameters, {} the first",
                                                                                without.size(), parameters, without.front())
                                                                  : listed(without),
                                               without.size() == 1 ? "s" : ""),
                             fmt::join(stops, "; "));
    if (!zero.empty())
        cause.advice = fmt::format("let {} begin with different random numbers, not with zeros", listed(zero));
    else if (!empty_inputs.empty())
        cause.advice =
            fmt::format("look at the data: where {} is all zeros there is nothing to learn from", empty_inputs[0]);
    else if (!dead_relus.empty())
        cause.advice = "a smaller learning rate keeps units from dying; a leaky ReLU or a bias above 0 lets them live";
    else
        cause.advice = "begin with smaller weights, so that the op works where it is not flat";
    return cause;
}

std::optional<Cause> alike_units(std::span<const GraphNode> nodes, int64_t step) {
    for (const GraphNode& node : nodes) {
        if (node.kind != GraphNode::Kind::parameter || node.shape.size() != 2 || !node.value) continue;
        const auto rows = size_t(node.shape[0]), columns = size_t(node.shape[1]);
        if (rows < 2 || columns < 2) continue;
        const std::vector<float>& value = *node.value;
        bool by_rows = true, by_columns = true;
        for (size_t i = columns; i < value.size(); ++i) by_rows = by_rows && value[i] == value[i - columns];
        for (size_t i = 0; i < value.size(); ++i) by_columns = by_columns && (i % columns == 0 || value[i] == value[i - 1]);
        if (!by_rows && !by_columns) continue;
        const std::string layer = layer_of(node.name);
        return Cause{"symmetry", step, layer,
                     fmt::format("the units of {} are all alike in step {} ({} has the same {} everywhere), so they get the "
                                 "same gradient and stay alike: the layer works as one unit",
                                 layer, step, node.name,
                                 by_rows && by_columns ? "number"
                                 : by_rows             ? "row"
                                                       : "column"),
                     fmt::format("let {} begin with different random numbers", node.name)};
    }
    return std::nullopt;
}

std::optional<Cause> dead_units(std::span<const std::vector<GraphNode>> batches, int64_t step) {
    struct Layer {
        std::string name;
        std::vector<bool> fires;
        int64_t examples = 0;
    };
    std::map<int, Layer> layers;
    for (const std::vector<GraphNode>& nodes : batches)
        for (const GraphNode& node : nodes) {
            if (!rectifies(node) || !node.value || node.shape.size() < 2) continue;
            const bool picture = node.shape.size() == 4;
            const auto units = size_t(picture ? node.shape[1] : node.shape.back());
            const size_t inner = picture ? size_t(node.shape[2] * node.shape[3]) : 1;
            Layer& layer = layers[node.id];
            layer.name = node.name;
            layer.fires.resize(units);
            layer.examples += node.shape[0];
            for (size_t i = 0; i < node.value->size(); ++i)
                if ((*node.value)[i] > 0) layer.fires[i / inner % units] = true;
        }
    for (const auto& [id, layer] : layers) {
        const auto dead = std::count(layer.fires.begin(), layer.fires.end(), false);
        if (double(dead) < threshold_of("dead_units") * double(layer.fires.size())) continue;
        return Cause{
            "dead_units", step, layer.name,
            fmt::format("{} of the {} units of {} are dead after step {}: for none of the last {} examples are they "
                        "above 0, so no gradient reaches their weights again",
                        dead, layer.fires.size(), layer.name, step, layer.examples),
            "begin again with a smaller learning rate, or with a warm-up: one large step has put them below 0"};
    }
    return std::nullopt;
}

std::optional<Cause> vanishing_gradients(std::span<const GraphNode> nodes, int64_t step) {
    struct Relative {
        std::string name;
        double share = 0;  // the gradient's norm over the weights'
    };
    std::vector<Relative> weights;
    for (const GraphNode& node : nodes)
        if (node.kind == GraphNode::Kind::parameter && node.shape.size() > 1 && node.gradient && norm_of(node.value) > 0)
            weights.push_back({node.name, norm_of(node.gradient) / norm_of(node.value)});
    if (weights.size() < 2 || weights.back().share == 0) return std::nullopt;
    const double ratio = weights.front().share / weights.back().share;
    if (ratio > threshold_of("vanishing")) return std::nullopt;
    const std::string layer = layer_of(weights.front().name);
    return Cause{
        "vanishing", step, layer,
        fmt::format("the gradient vanishes on its way to {}: in step {} it is {:.2g} of its weights there, and {:.2g} "
                    "in {}",
                    layer, step, weights.front().share, weights.back().share, layer_of(weights.back().name)),
        "fewer layers, ReLU in place of sigmoid or tanh, a normalisation, or paths around the layers"};
}

}  // namespace lockstep::nn
