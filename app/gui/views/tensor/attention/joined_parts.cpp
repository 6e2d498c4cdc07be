#include "app/gui/views/tensor/attention/joined_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/tensor/tensor_text.h"

namespace lockstep::gui {

using nn::GraphNode;

namespace {

PartMatrix matrix_of(const GraphNode& node, std::string name) {
    if (!node.value || node.shape.size() != 2 || node.value->size() < static_cast<size_t>(node.shape[0] * node.shape[1]))
        return {};
    return {node.id, std::move(name), node.shape[0], node.shape[1], {node.value->begin(), node.value->end()}};
}

// Whether the node adds up nodes of `terms`, all of them.
bool adds_up(const nn::StepRecord& step, int id, const std::vector<int>& terms) {
    std::vector<int> open{id}, found;
    while (!open.empty()) {
        const int at = open.back();
        open.pop_back();
        if (std::find(terms.begin(), terms.end(), at) != terms.end()) {
            found.push_back(at);
            continue;
        }
        const GraphNode& node = step.nodes[static_cast<size_t>(at)];
        if (node.op != "add") return false;
        open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    }
    return found.size() == terms.size();
}

}  // namespace

JoinedParts joined_parts(const nn::StepRecord& step) {
    JoinedParts joined;
    std::vector<int> numerators, denominators;
    for (const GraphNode& node : step.nodes) {
        if (node.op != "exp" || node.inputs.empty() || node.shape.size() != 2) continue;
        if (step.nodes[static_cast<size_t>(node.inputs.front())].op != "matmul") continue;
        const std::string number = std::to_string(joined.parts.size() + 1);
        KeysPart part{.powers = matrix_of(node, node.name)};
        for (const GraphNode& later : step.nodes) {
            if (later.op != "matmul" || later.inputs.size() != 2 || later.inputs[0] != node.id) continue;
            const bool sums = later.shape.back() == 1;
            PartMatrix& made = sums ? part.denominator : part.numerator;
            if (!made.there()) made = matrix_of(later, (sums ? "d" : "n") + number);
        }
        // Or the program divides each part's numerator by itself: a softmax of the same scores, times its values.
        for (const GraphNode& own : step.nodes) {
            if (own.op != "softmax" || own.inputs.empty() || own.inputs.front() != node.inputs.front()) continue;
            for (const GraphNode& later : step.nodes)
                if (later.op == "matmul" && later.inputs.size() == 2 && later.inputs[0] == own.id && !part.numerator.there())
                    part.numerator = matrix_of(later, later.name), part.divided = true;
        }
        if (!part.powers.there() || !part.numerator.there() || !part.denominator.there()) continue;
        numerators.push_back(part.numerator.node);
        denominators.push_back(part.denominator.node);
        joined.parts.push_back(std::move(part));
    }
    if (joined.parts.size() < 2) return joined;
    const KeysPart& first = joined.parts.front();
    joined.whole = {0, "all keys at once", first.numerator.rows, first.numerator.columns, {}};
    for (int64_t row = 0; row < joined.whole.rows; ++row)
        for (int64_t column = 0; column < joined.whole.columns; ++column) {
            double above = 0, below = 0;
            for (const KeysPart& part : joined.parts) {
                const double d = part.denominator.at(row, 0);
                above += static_cast<double>(part.numerator.at(row, column)) * (part.divided ? d : 1);
                below += d;
            }
            joined.whole.values.push_back(static_cast<float>(above / below));
        }
    if (joined.divided()) {
        for (const GraphNode& node : step.nodes)
            if (node.name == "o" && node.shape == step.nodes[static_cast<size_t>(first.numerator.node)].shape)
                joined.output = matrix_of(node, node.name);
        return joined;
    }
    for (const GraphNode& node : step.nodes) {
        if (node.op != "div" || node.inputs.size() != 2) continue;
        if (!adds_up(step, node.inputs[0], numerators) || !adds_up(step, node.inputs[1], denominators)) continue;
        joined.numerator = matrix_of(step.nodes[static_cast<size_t>(node.inputs[0])], "n");
        joined.denominator = matrix_of(step.nodes[static_cast<size_t>(node.inputs[1])], "d");
        joined.output = matrix_of(node, node.name);
        break;
    }
    return joined;
}

double JoinedParts::most_off() const {
    double most = 0;
    for (size_t i = 0; i < std::min(output.values.size(), whole.values.size()); ++i)
        most = std::max(most, std::abs(static_cast<double>(output.values[i]) - static_cast<double>(whole.values[i])));
    return most;
}

std::string joined_sum_words(const JoinedParts& joined, int64_t row) {
    std::string text;
    for (const KeysPart& part : joined.parts)
        text += (text.empty() ? "" : " + ") + element_number(part.denominator.at(row, 0), 4);
    return fmt::format("d of query {}: {} = {}", row + 1, text, element_number(joined.denominator.at(row, 0), 4));
}

}  // namespace lockstep::gui
