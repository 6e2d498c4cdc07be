#include "core/nn/data/made/planted_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/base/rng.h"
#include "core/nn/data/sampler.h"

namespace lockstep::nn {

Graph planted_graph(uint64_t seed, const PlantedGraphOptions& o) {
    const bool sizes = o.communities >= 1 && o.nodes_each >= 2 && o.features >= 1 && o.features <= 10000 &&
                       o.communities * o.nodes_each <= 20000 && o.communities <= 20000 && o.nodes_each <= 20000 &&
                       o.labelled_each >= 1 && o.labelled_each < o.nodes_each;
    const double others = static_cast<double>((o.communities - 1) * o.nodes_each);
    const double within = o.edges_within / static_cast<double>(o.nodes_each - 1);
    const double between = others > 0 ? o.edges_between / others : 0;
    if (!sizes || !(within >= 0 && within <= 1) || !(between >= 0 && between <= 1))
        throw Failure(
            "a planted graph has at most 20000 nodes, some of each community unlabelled, and as many edges as fit");

    Graph graph{.nodes = o.communities * o.nodes_each, .features = o.features, .classes = o.communities};
    const auto n = static_cast<size_t>(graph.nodes);
    Rng rng(Rng(seed).next());
    for (size_t i = 0; i < n; ++i)  // nodes of all communities mixed: no number gives its label away
        graph.label.push_back(static_cast<int32_t>(shuffled(i, n, seed) % static_cast<uint64_t>(o.communities)));

    std::vector<std::vector<int32_t>> neighbours(n);
    for (size_t a = 0; a < n; ++a)
        for (size_t b = a + 1; b < n; ++b)
            if (rng.uniform() < (graph.label[a] == graph.label[b] ? within : between)) {
                neighbours[a].push_back(static_cast<int32_t>(b));
                neighbours[b].push_back(static_cast<int32_t>(a));
            }
    graph.adjacency.row_start.push_back(0);
    for (const auto& row : neighbours) {  // ascending: the smaller ones were added first
        graph.adjacency.column.insert(graph.adjacency.column.end(), row.begin(), row.end());
        graph.adjacency.row_start.push_back(static_cast<int32_t>(graph.adjacency.column.size()));
    }
    graph.adjacency.value.assign(graph.adjacency.column.size(), 1.0f);

    const auto features = static_cast<size_t>(o.features);
    std::vector<double> means(static_cast<size_t>(o.communities) * features);
    for (double& mean : means) mean = o.signal * rng.normal();
    for (size_t i = 0; i < n; ++i)
        for (size_t f = 0; f < features; ++f)
            graph.x.push_back(static_cast<float>(means[static_cast<size_t>(graph.label[i]) * features + f] + rng.normal()));

    std::vector<int64_t> labelled(static_cast<size_t>(o.communities), 0);
    for (size_t i = 0; i < n; ++i) {
        const bool wanted = labelled[static_cast<size_t>(graph.label[i])]++ < o.labelled_each;
        (wanted ? graph.train : graph.test).push_back(static_cast<int32_t>(i));
    }
    return graph;
}

Csr normalised_adjacency(const Graph& graph) {
    const auto n = static_cast<size_t>(graph.nodes);
    const Csr& a = graph.adjacency;
    const auto scale = [&](size_t node) { return 1.0 / std::sqrt(1.0 + a.row_start[node + 1] - a.row_start[node]); };
    Csr out;
    out.row_start.push_back(0);
    for (size_t row = 0; row < n; ++row) {
        const auto add = [&](int32_t column) {
            out.column.push_back(column);
            out.value.push_back(static_cast<float>(scale(row) * scale(static_cast<size_t>(column))));
        };
        bool own = false;
        for (int32_t i = a.row_start[row]; i < a.row_start[row + 1]; ++i) {
            const int32_t column = a.column[static_cast<size_t>(i)];
            if (!own && column > static_cast<int32_t>(row)) {
                add(static_cast<int32_t>(row));
                own = true;
            }
            add(column);
        }
        if (!own) add(static_cast<int32_t>(row));
        out.row_start.push_back(static_cast<int32_t>(out.column.size()));
    }
    return out;
}

}  // namespace lockstep::nn
