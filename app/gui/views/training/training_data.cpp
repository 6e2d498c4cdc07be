#include "app/gui/views/training/training_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/widgets/axis.h"

namespace lockstep::gui {

using nn::GraphNode;
using nn::StepRecord;

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
    const double range = most > 0 ? rounded(most) : 1;
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
