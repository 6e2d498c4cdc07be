#include "app/gui/views/training_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::gui {
namespace {

using nn::GraphNode;
using nn::StepRecord;

int64_t width_of(const GraphNode& node) {
    return node.shape.size() == 2 ? node.shape[1] : -1;
}
bool is(const GraphNode& node, std::string_view op) {
    return node.op == op;
}

// The column with the largest |value * gradient| in one row; by value alone where no gradient was kept.
int64_t loudest(const GraphNode& node, int64_t row) {
    const int64_t width = width_of(node);
    if (width <= 0 || !node.value) return -1;
    int64_t best = 0;
    float most = -1;
    for (int64_t i = 0; i < width; ++i) {
        const size_t at = static_cast<size_t>(row * width + i);
        if (at >= node.value->size()) return -1;
        float loud = std::abs((*node.value)[at]);
        if (node.gradient && at < node.gradient->size()) loud *= std::abs((*node.gradient)[at]);
        if (loud > most) {
            most = loud;
            best = i;
        }
    }
    return best;
}

const GraphNode* input_of_kind(const StepRecord& step, const GraphNode& node, GraphNode::Kind kind) {
    for (int input : node.inputs)
        if (step.nodes[static_cast<size_t>(input)].kind == kind) return &step.nodes[static_cast<size_t>(input)];
    return nullptr;
}
const GraphNode* data_input(const StepRecord& step, const GraphNode& node) {
    if (const GraphNode* op = input_of_kind(step, node, GraphNode::Kind::op)) return op;
    return input_of_kind(step, node, GraphNode::Kind::input);
}
// A linear layer's weight is [out, in], as PyTorch stores it, or [in, out].
bool out_first(const GraphNode& weight, int64_t out) {
    return weight.shape.size() == 2 && weight.shape[0] == out;
}

float at(const nn::Values& values, int64_t index) {
    return values && index >= 0 && index < static_cast<int64_t>(values->size()) ? (*values)[static_cast<size_t>(index)]
                                                                                : NAN;
}

}  // namespace

Probe probe_of(const StepRecord& step) {
    Probe probe;
    probe.index.assign(step.nodes.size(), -1);
    probe.feature.assign(step.nodes.size(), -1);
    for (size_t i = 0; i < std::min<size_t>(step.predictions.size(), 16) && !probe.wrong; ++i)
        if (step.predictions[i] != step.labels[i]) {
            probe.image = static_cast<int>(i);
            probe.wrong = true;
        }
    const int64_t row = probe.image;
    // Backwards: the label's class through the logits, then the loudest unit of each hidden layer.
    for (size_t i = step.nodes.size(); i-- > 0;) {
        const GraphNode& node = step.nodes[i];
        int64_t& feature = probe.feature[i];
        if (node.kind == GraphNode::Kind::loss || is(node, "softmax_cross_entropy") || is(node, "mse")) {
            const auto r = static_cast<size_t>(row);
            if (const GraphNode* logits = data_input(step, node))
                probe.feature[static_cast<size_t>(logits->id)] = r < step.labels.size() ? step.labels[r] : 0;
            continue;
        }
        if (node.kind != GraphNode::Kind::op) continue;
        if (feature < 0 || is(node, "relu")) feature = loudest(node, row);
        const GraphNode* before = data_input(step, node);
        if (before && before->kind == GraphNode::Kind::op && !is(node, "matmul") && width_of(*before) == width_of(node))
            probe.feature[static_cast<size_t>(before->id)] = feature;
    }
    for (const GraphNode& node : step.nodes) {
        const auto id = static_cast<size_t>(node.id);
        if (!is(node, "matmul")) continue;
        const GraphNode* weight = input_of_kind(step, node, GraphNode::Kind::parameter);
        const GraphNode* x = data_input(step, node);
        if (!weight || !x || !weight->value) continue;
        int64_t in = probe.feature[static_cast<size_t>(x->id)];
        const int64_t out = probe.feature[id], columns = width_of(*x), width = width_of(node);
        if (x->kind == GraphNode::Kind::input && x->value) {  // the pixel that speaks loudest to the followed unit
            float most = -1;
            for (int64_t p = 0; p < columns; ++p) {
                const int64_t w = out_first(*weight, width) ? out * columns + p : p * width + out;
                const float loud = std::abs(at(x->value, row * columns + p) * at(weight->value, w));
                if (loud > most) {
                    most = loud;
                    in = p;
                }
            }
            probe.feature[static_cast<size_t>(x->id)] = in;
            probe.pixel = static_cast<int>(in);
            probe.unit = static_cast<int>(out);
        }
        if (in >= 0 && out >= 0)
            probe.index[static_cast<size_t>(weight->id)] = out_first(*weight, width) ? out * columns + in : in * width + out;
    }
    for (const GraphNode& node : step.nodes) {
        const auto id = static_cast<size_t>(node.id);
        if (node.shape.size() == 2 && probe.feature[id] >= 0 && node.kind != GraphNode::Kind::parameter)
            probe.index[id] = row * node.shape[1] + probe.feature[id];
        if (is(node, "add_bias"))
            if (const GraphNode* bias = input_of_kind(step, node, GraphNode::Kind::parameter))
                probe.index[static_cast<size_t>(bias->id)] = probe.feature[id];
        if (node.kind == GraphNode::Kind::label) probe.index[id] = row;
        if (node.kind == GraphNode::Kind::loss || (node.value && node.value->size() == 1)) probe.index[id] = 0;
    }
    return probe;
}

std::optional<ChainRule> chain_rule(const StepRecord& step, const Probe& probe, int id, int launch) {
    if (id < 0 || static_cast<size_t>(id) >= step.nodes.size()) return std::nullopt;
    const GraphNode& node = step.nodes[static_cast<size_t>(id)];
    const GraphNode* x = data_input(step, node);
    if (!x) return std::nullopt;
    const int64_t row = probe.image, out = probe.feature[static_cast<size_t>(id)],
                  in = probe.feature[static_cast<size_t>(x->id)];
    ChainRule rule;
    rule.upstream = at(node.gradient, probe.index[static_cast<size_t>(id)]);
    rule.upstream_name = fmt::format("d({})[{},{}]", node.name, row, out);
    const GraphNode* parameter = input_of_kind(step, node, GraphNode::Kind::parameter);
    if (parameter && parameter->gradient_after == launch && !node.shape.empty()) {
        // The weight's or bias's gradient sums over the images of the batch.
        const int64_t columns = width_of(*x), width = width_of(node);
        const bool weight = is(node, "matmul");
        rule.local = weight ? at(x->value, row * columns + in) : 1.0;
        rule.local_name = weight ? fmt::format("{}[{},{}]", x->name, row, in) : "a sum";
        rule.product = rule.local * rule.upstream;
        rule.term = static_cast<int>(row);
        rule.terms = static_cast<int>(node.shape[0]);
        for (int64_t r = 0; r < node.shape[0]; ++r)
            rule.total +=
                (weight ? static_cast<double>(at(x->value, r * columns + in)) : 1.0) * at(node.gradient, r * width + out);
        rule.total_name = !weight                        ? fmt::format("d{}[{}]", parameter->name, out)
                          : out_first(*parameter, width) ? fmt::format("d{}[{},{}]", parameter->name, out, in)
                                                         : fmt::format("d{}[{},{}]", parameter->name, in, out);
    } else if (is(node, "matmul")) {
        const GraphNode* weight = parameter;
        if (!weight) return std::nullopt;
        const int64_t columns = width_of(*x), width = width_of(node);
        double total = 0;
        for (int64_t o = 0; o < width; ++o)
            total += static_cast<double>(at(weight->value, out_first(*weight, width) ? o * columns + in : in * width + o)) *
                     at(node.gradient, row * width + o);
        rule.local = at(weight->value, probe.index[static_cast<size_t>(weight->id)]);
        rule.local_name = out_first(*weight, width) ? fmt::format("{}[{},{}]", weight->name, out, in)
                                                    : fmt::format("{}[{},{}]", weight->name, in, out);
        rule.product = rule.local * rule.upstream;
        rule.term = static_cast<int>(out);
        rule.terms = static_cast<int>(width);
        rule.total = total;
        rule.total_name = fmt::format("d({})[{},{}]", x->name, row, in);
    } else if (is(node, "relu") || is(node, "add_bias")) {
        const float before = at(x->value, probe.index[static_cast<size_t>(x->id)]);
        rule.local = is(node, "relu") ? (before > 0 ? 1.0 : 0.0) : 1.0;
        rule.local_name = is(node, "relu") ? (before > 0 ? "input > 0" : "input <= 0") : "a sum";
        rule.product = rule.total = rule.local * rule.upstream;
        rule.total_name = fmt::format("d({})[{},{}]", x->name, row, in);
    } else {
        return std::nullopt;
    }
    if (!std::isfinite(rule.local) || !std::isfinite(rule.upstream)) return std::nullopt;
    return rule;
}

bool value_known(const GraphNode& node, int launch) {
    return std::all_of(node.forward_launches.begin(), node.forward_launches.end(), [&](int l) { return l <= launch; });
}
bool gradient_known(const GraphNode& node, int launch) {
    return node.gradient && node.gradient_after >= 0 && node.gradient_after <= launch;
}
int node_of_launch(const StepRecord& step, int launch) {
    for (const GraphNode& node : step.nodes)
        for (const auto* list : {&node.forward_launches, &node.backward_launches, &node.update_launches})
            if ((node.kind == GraphNode::Kind::op || node.kind == GraphNode::Kind::loss || list == &node.update_launches) &&
                std::find(list->begin(), list->end(), launch) != list->end())
                return node.id;
    for (const GraphNode& node : step.nodes)
        if (std::find(node.backward_launches.begin(), node.backward_launches.end(), launch) != node.backward_launches.end())
            return node.id;
    return -1;
}

float clip_of(const std::vector<float>& values) {
    if (values.empty()) return 1;
    std::vector<float> sizes(values.size());
    std::transform(values.begin(), values.end(), sizes.begin(), [](float v) { return std::abs(v); });
    const auto at997 = sizes.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(sizes.size() - 1) * 0.997);
    std::nth_element(sizes.begin(), at997, sizes.end());
    return *at997 > 0 ? *at997 : 1e-12f;
}

Histogram histogram_of(const std::vector<float>& values, int bins) {
    Histogram h;
    h.counts.assign(static_cast<size_t>(bins), 0);
    float most = 0;
    for (float v : values)
        if (std::isfinite(v)) most = std::max(most, std::abs(v));
    // Round the range up to 1, 2 or 5 times a power of ten, so that the axis reads well.
    double range = most > 0 ? std::pow(10.0, std::floor(std::log10(most))) : 1;
    for (double step : {1.0, 2.0, 5.0, 10.0})
        if (range * step >= most) {
            range *= step;
            break;
        }
    h.low = -range;
    h.high = range;
    for (float v : values) {
        if (!std::isfinite(v)) continue;
        const double t = (v - h.low) / (h.high - h.low) * bins;
        ++h.counts[static_cast<size_t>(std::clamp(static_cast<int>(t), 0, bins - 1))];
        ++h.total;
        h.zeros += v == 0;
    }
    return h;
}

std::string signed_text(double value, int digits) {
    if (std::isnan(value)) return "NaN";
    if (value == 0) return "0";
    const double least = 0.5 * std::pow(10.0, -digits);
    return std::abs(value) < least || std::abs(value) >= 1e5 ? fmt::format("{:+.1e}", value)
                                                             : fmt::format("{:+.{}f}", value, digits);
}

std::string shape_text(const std::vector<int64_t>& shape) {
    if (shape.empty()) return "scalar";
    std::string text;
    for (int64_t extent : shape) text += (text.empty() ? "" : "×") + std::to_string(extent);
    return text;
}

}  // namespace lockstep::gui
