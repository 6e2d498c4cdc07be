#include "app/gui/views/tensor/attention/attention_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/tensor/op.h"

namespace lockstep::gui {

using nn::GraphNode;

namespace {

// Whether the node comes from a product by way of scaling alone.
bool comes_of_product(const nn::StepRecord& step, int id) {
    for (int steps = 0; steps < 4 && id >= 0; ++steps) {
        const GraphNode& node = step.nodes[static_cast<size_t>(id)];
        if (node.op == "matmul") return true;
        if (node.inputs.empty()) return false;
        id = node.inputs.front();
    }
    return false;
}

// How many keys each of the equal tensors has that the product's keys were put together from; 0: they were not.
int64_t keys_a_part(const nn::StepRecord& step, int id, int64_t keys, std::vector<std::string>& names) {
    for (int steps = 0; steps < 4 && id >= 0; ++steps) {
        const GraphNode& node = step.nodes[static_cast<size_t>(id)];
        if (node.op == "matmul" && node.inputs.size() == 2) {
            const GraphNode& all = step.nodes[static_cast<size_t>(node.inputs[1])];
            const auto parts = static_cast<int64_t>(all.inputs.size());
            if (all.op != "cat" || parts < 2 || keys % parts != 0) return 0;
            const bool alike = std::all_of(all.inputs.begin(), all.inputs.end(), [&](int input) {
                return step.nodes[static_cast<size_t>(input)].shape.front() == keys / parts;
            });
            for (const int input : all.inputs)
                if (alike) names.push_back(step.nodes[static_cast<size_t>(input)].name);
            return alike ? keys / parts : 0;
        }
        id = node.inputs.empty() ? -1 : node.inputs.front();
    }
    return 0;
}

std::vector<float> first_matrix(const GraphNode& node, int64_t rows, int64_t columns) {
    const auto count = static_cast<size_t>(rows * columns);
    if (!node.value || node.value->size() < count) return {};
    return {node.value->begin(), node.value->begin() + static_cast<int64_t>(count)};
}

}  // namespace

int64_t AttentionGrid::masked() const {
    int64_t count = 0;
    for (int64_t q = 0; q < queries; ++q)
        for (int64_t k = 0; k < keys; ++k) count += !sees(q, k);
    return count;
}
int64_t AttentionGrid::most_seen(int64_t query) const {
    const auto row = shares.begin() + query * keys;
    return std::max_element(row, row + keys) - row;
}

std::vector<AttentionGrid> attention_grids(const nn::StepRecord& step) {
    std::vector<AttentionGrid> grids;
    for (const GraphNode& node : step.nodes) {
        if (node.op != "softmax" || node.inputs.empty() || node.shape.size() < 2) continue;
        const GraphNode& scores = step.nodes[static_cast<size_t>(node.inputs.front())];
        if (scores.shape != node.shape || !comes_of_product(step, scores.id)) continue;
        AttentionGrid grid{.scores_name = scores.name, .shares_name = node.name};
        grid.queries = node.shape[node.shape.size() - 2];
        grid.keys = node.shape.back();
        grid.causal = node.attributes && node.attributes->causal;
        grid.part = keys_a_part(step, scores.id, grid.keys, grid.part_names);
        grid.scores_node = scores.id;
        grid.shares_node = node.id;
        grid.scores = first_matrix(scores, grid.queries, grid.keys);
        grid.shares = first_matrix(node, grid.queries, grid.keys);
        if (grid.scores.empty() || grid.shares.empty()) continue;
        for (const GraphNode& later : step.nodes) {
            if (later.op != "matmul" || later.inputs.size() != 2 || later.inputs[0] != node.id) continue;
            const GraphNode& values = step.nodes[static_cast<size_t>(later.inputs[1])];
            grid.width = later.shape.back();
            grid.values = first_matrix(values, grid.keys, grid.width);
            grid.mixed = first_matrix(later, grid.queries, grid.width);
            if (grid.values.empty() || grid.mixed.empty()) break;
            grid.mixed_node = later.id;
            grid.values_name = values.name;
            grid.mixed_name = later.name;
            break;
        }
        grids.push_back(std::move(grid));
    }
    return grids;
}

SkippedTiles skipped_tiles(int64_t places, int64_t tile) {
    SkippedTiles tiles{.across = (places + tile - 1) / tile};
    tiles.all = tiles.across * tiles.across;
    for (int64_t down = 0; down < tiles.across; ++down)  // its last query sees no key of it
        for (int64_t right = 0; right < tiles.across; ++right)
            tiles.skipped += right * tile > std::min(places, (down + 1) * tile) - 1;
    return tiles;
}

std::vector<RunningTile> running_softmax(std::span<const float> scores, int64_t seen, int64_t tile) {
    std::vector<RunningTile> tiles;
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    const auto keys = static_cast<int64_t>(scores.size());
    for (int64_t begin = 0; begin < keys; begin += tile) {
        RunningTile one{.seen = std::clamp<int64_t>(seen - begin, 0, std::min(tile, keys - begin))};
        double most = largest;
        for (int64_t k = begin; k < begin + one.seen; ++k)
            most = std::max(most, static_cast<double>(scores[static_cast<size_t>(k)]));
        for (int64_t k = begin; k < begin + one.seen; ++k)
            one.adds += std::exp(static_cast<double>(scores[static_cast<size_t>(k)]) - most);
        one.factor = begin == 0 || one.seen == 0 ? 1 : std::exp(largest - most);
        sum = sum * one.factor + one.adds;
        one.largest = largest = most;
        one.sum = sum;
        tiles.push_back(one);
    }
    return tiles;
}

double whole_sum(std::span<const float> scores, int64_t seen) {
    const auto row = scores.first(static_cast<size_t>(std::clamp<int64_t>(seen, 0, static_cast<int64_t>(scores.size()))));
    if (row.empty()) return 0;
    const double most = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (const float score : row) sum += std::exp(static_cast<double>(score) - most);
    return sum;
}

}  // namespace lockstep::gui
