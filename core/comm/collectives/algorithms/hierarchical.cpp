// Hierarchical algorithms: first within every node of `node_size` ranks, then between nodes, then within nodes again, so
// that a node's slow link carries little. With full nodes every rank speaks for its share of the buffer between the nodes;
// with a last node that is smaller, the first rank of each node speaks for all of it.
#include "core/comm/collectives/algorithms/hierarchical.h"

#include <algorithm>

#include "core/comm/collectives/algorithms/algorithms.h"

namespace lockstep::comm {
namespace {

struct NodeRanks {
    std::vector<std::vector<int>> of;  // by node
    bool full = true;                  // all of one size

    explicit NodeRanks(const CollectiveShape& shape) {
        for (int rank = 0; rank < shape.ranks; ++rank) {
            if (rank % shape.node_size == 0) of.emplace_back();
            of.back().push_back(rank);
        }
        full = of.back().size() == of.front().size();
    }
    int count() const { return static_cast<int>(of.size()); }
    int largest() const { return static_cast<int>(of.front().size()); }
    std::vector<int> leaders() const {
        std::vector<int> first;
        for (const auto& ranks : of) first.push_back(ranks.front());
        return first;
    }
    std::vector<int> places(int place) const {  // that rank of every node
        std::vector<int> ranks;
        for (const auto& node : of) ranks.push_back(node[size_t(place)]);
        return ranks;
    }
    // The node of `root` first, and root the first of its node.
    void begin_with(int root) {
        const auto home = std::find_if(of.begin(), of.end(), [&](const auto& ranks) {
            return std::find(ranks.begin(), ranks.end(), root) != ranks.end();
        });
        std::rotate(of.begin(), home, of.end());
        std::rotate(of.front().begin(), std::find(of.front().begin(), of.front().end(), root), of.front().end());
    }
};

std::vector<Chunks> even_runs(int count, int run) {
    std::vector<Chunks> blocks;
    for (int i = 0; i < count; ++i) blocks.push_back({i * run, run});
    return blocks;
}

}  // namespace

Collective hierarchical_all_reduce(const CollectiveShape& shape) {
    const NodeRanks nodes(shape);
    const int m = nodes.count(), g = nodes.largest();
    if (nodes.full) {
        StepList list(shape, g * m);
        const auto shares = even_runs(g, m);  // one a rank of a node, in m chunks
        int within = 0, between = 0, last = 0;
        for (const auto& ranks : nodes.of) within = ring_reduce_scatter(list, 0, ranks, shares);
        for (int place = 0; place < g; ++place) {
            std::vector<Chunks> chunks;
            for (int node = 0; node < m; ++node) chunks.push_back({place * m + node, 1});
            const auto ranks = nodes.places(place);
            between = ring_reduce_scatter(list, within, ranks, chunks);
            last = ring_all_gather(list, between, ranks, chunks);
        }
        for (const auto& ranks : nodes.of) ring_all_gather(list, last, ranks, shares);
        return list.finish();
    }
    StepList list(shape, m * shape.pieces);
    const auto pieces = one_chunk_each(m * shape.pieces);
    int within = 0;
    for (const auto& ranks : nodes.of) within = std::max(within, chain_reduce(list, 0, ranks, pieces));
    const auto leaders = nodes.leaders();
    const auto blocks = even_runs(m, shape.pieces);
    const int last = ring_all_gather(list, ring_reduce_scatter(list, within, leaders, blocks), leaders, blocks);
    for (const auto& ranks : nodes.of) chain_broadcast(list, last, ranks, pieces);
    return list.finish();
}

Collective hierarchical_all_gather(const CollectiveShape& shape) {
    const NodeRanks nodes(shape);
    StepList list(shape, shape.ranks);
    const auto chunks_of = [](const std::vector<int>& ranks) {
        std::vector<Chunks> chunks;
        for (const int rank : ranks) chunks.push_back({rank, 1});
        return chunks;
    };
    if (nodes.full) {  // between nodes each rank its own chunk; within the node what each has collected
        int between = 0;
        for (int place = 0; place < nodes.largest(); ++place) {
            const auto ranks = nodes.places(place);
            between = ring_all_gather(list, 0, ranks, chunks_of(ranks));
        }
        for (const auto& ranks : nodes.of)
            for (const auto& whose : nodes.of) ring_all_gather(list, between, ranks, chunks_of(whose));
        return list.finish();
    }
    std::vector<Chunks> blocks;
    for (const auto& ranks : nodes.of) {
        blocks.push_back({ranks.front(), static_cast<int>(ranks.size())});
        for (size_t i = 1; i < ranks.size(); ++i) list.transfer(0, ranks[i], ranks.front(), {ranks[i], 1}, false);
    }
    const int between = ring_all_gather(list, 1, nodes.leaders(), blocks);
    for (const auto& ranks : nodes.of) chain_broadcast(list, between, ranks, one_chunk_each(shape.ranks));
    return list.finish();
}

Collective hierarchical_broadcast(const CollectiveShape& shape) {
    NodeRanks nodes(shape);
    nodes.begin_with(shape.root);
    StepList list(shape, shape.pieces);
    const auto pieces = one_chunk_each(shape.pieces);
    chain_broadcast(list, 0, nodes.leaders(), pieces);
    for (int node = 0; node < nodes.count(); ++node)  // the node's first rank has piece p before round node + p
        chain_broadcast(list, node, nodes.of[size_t(node)], pieces);
    return list.finish();
}

Collective hierarchical_reduce(const CollectiveShape& shape) {
    NodeRanks nodes(shape);
    nodes.begin_with(shape.root);
    StepList list(shape, shape.pieces);
    const auto pieces = one_chunk_each(shape.pieces);
    int within = 0;
    for (const auto& ranks : nodes.of) within = std::max(within, chain_reduce(list, 0, ranks, pieces));
    chain_reduce(list, within, nodes.leaders(), pieces);
    return list.finish();
}

Collective hierarchical_barrier(const CollectiveShape& shape) {
    const NodeRanks nodes(shape);
    StepList list(shape, 1);
    const auto each_member = [&](auto transfer) {
        for (const auto& ranks : nodes.of)
            for (size_t i = 1; i < ranks.size(); ++i) transfer(ranks[i], ranks.front());
    };
    each_member([&](int member, int leader) { list.transfer(0, member, leader, {0, 1}, false); });
    const auto leaders = nodes.leaders();
    int round = 1;
    for (int distance = 1; distance < nodes.count(); distance *= 2, ++round)
        for (int node = 0; node < nodes.count(); ++node)
            list.transfer(round, leaders[size_t(node)], leaders[size_t((node + distance) % nodes.count())], {0, 1}, false);
    each_member([&](int member, int leader) { list.transfer(round, leader, member, {0, 1}, false); });
    return list.finish();
}

}  // namespace lockstep::comm
