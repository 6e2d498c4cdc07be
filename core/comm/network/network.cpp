// Topologies: one function and one row each. Routes are fixed: the shorter way round a ring, dimension by dimension in a
// torus, up and down a fat tree by the receiver's number, at most one global link in a dragonfly.
#include "core/comm/network/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"

namespace lockstep::comm {
namespace {

using Path = std::vector<int>;
uint64_t link_key(int from, int to) {
    return static_cast<uint64_t>(static_cast<uint32_t>(from)) << 32 | static_cast<uint32_t>(to);
}
Link half_latency(const Link& link) {
    return {link.latency_us / 2, link.bytes_per_us};
}

Network with_ranks(const TopologyShape& shape, bool shared) {
    Network network;
    network.shape = shape;
    network.shared = shared;
    network.slowness.assign(static_cast<size_t>(shape.ranks), 1.0);
    for (int rank = 0; rank < shape.ranks; ++rank) network.nodes.push_back({false, fmt::format("rank {}", rank)});
    return network;
}

void both_ways(Network& network, int a, int b, const Link& link) {
    network.connect(a, b, link);
    network.connect(b, a, link);
}

// One step along a closed line of `extent` places, the shorter way, upwards when both are as long.
int closer(int at, int to, int extent) {
    const int up = (to - at + extent) % extent;
    return 2 * up <= extent ? (at + 1) % extent : (at + extent - 1) % extent;
}

Network make_ring(const TopologyShape& shape) {
    Network network = with_ranks(shape, shape.ranks > 2);
    for (int rank = 0; rank < shape.ranks && shape.ranks > 1; ++rank) {
        network.connect(rank, (rank + 1) % shape.ranks, shape.link);
        if (shape.ranks > 2) network.connect((rank + 1) % shape.ranks, rank, shape.link);
    }
    network.path = [](const Network& n, int from, int to, Path& nodes) {
        for (int at = from; at != to;) nodes.push_back(at = closer(at, to, n.ranks()));
    };
    return network;
}

Network make_fully_connected(const TopologyShape& shape) {
    Network network = with_ranks(shape, false);
    for (int from = 0; from < shape.ranks; ++from)
        for (int to = 0; to < shape.ranks; ++to)
            if (from != to) network.connect(from, to, shape.link);
    network.path = [](const Network&, int, int to, Path& nodes) { nodes.push_back(to); };
    return network;
}

Network make_switch(const TopologyShape& shape) {
    Network network = with_ranks(shape, true);
    const int hub = network.add_switch("switch");
    for (int rank = 0; rank < shape.ranks; ++rank) both_ways(network, rank, hub, half_latency(shape.link));
    network.path = [](const Network& n, int, int to, Path& nodes) { nodes.insert(nodes.end(), {n.ranks(), to}); };
    return network;
}

// Switches: one a node, numbered from ranks() on, then the spine.
Network make_two_level(const TopologyShape& shape) {
    Network network = with_ranks(shape, true);
    const int nodes = (shape.ranks + shape.node_size - 1) / shape.node_size;
    for (int node = 0; node < nodes; ++node) network.add_switch(fmt::format("node {}", node));
    const int spine = network.add_switch("spine");
    for (int rank = 0; rank < shape.ranks; ++rank)
        both_ways(network, rank, shape.ranks + rank / shape.node_size, half_latency(shape.inner));
    Link uplink = half_latency(shape.link);
    uplink.bytes_per_us *= shape.adapters;
    for (int node = 0; node < nodes; ++node) both_ways(network, shape.ranks + node, spine, uplink);
    network.path = [](const Network& n, int from, int to, Path& way) {
        const int size = n.shape.node_size, first = n.ranks() + from / size, last = n.ranks() + to / size;
        way.push_back(first);
        if (first != last) way.insert(way.end(), {static_cast<int>(n.nodes.size()) - 1, last});
        way.push_back(to);
    };
    return network;
}

// k-ary fat tree (Al-Fares 2008): k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 cores, k/2 ranks an edge switch.
// Switches after the ranks: by pod its edges, then its aggregations; the cores last.
Network make_fat_tree(const TopologyShape& shape) {
    int k = 2;
    while (k * k * k / 4 < shape.ranks) k += 2;
    Network network = with_ranks(shape, true);
    const int half = k / 2, per_edge = half;
    const int pods = (shape.ranks + half * half - 1) / (half * half);
    network.extent = {k, pods, 0, 0};
    for (int pod = 0; pod < pods; ++pod)
        for (int i = 0; i < k; ++i)
            network.add_switch(fmt::format("pod {} {} {}", pod, i < half ? "edge" : "aggregation", i % half));
    const int cores = shape.ranks + pods * k;
    for (int core = 0; core < half * half; ++core) network.add_switch(fmt::format("core {}", core));
    const Link cable = half_latency(shape.link);
    for (int rank = 0; rank < shape.ranks; ++rank) {
        const int edge = rank / per_edge;
        both_ways(network, rank, shape.ranks + edge / half * k + edge % half, cable);
    }
    for (int pod = 0; pod < pods; ++pod)
        for (int up = 0; up < half; ++up) {
            const int aggregation = shape.ranks + pod * k + half + up;
            for (int edge = 0; edge < half; ++edge) both_ways(network, shape.ranks + pod * k + edge, aggregation, cable);
            for (int core = 0; core < half; ++core) both_ways(network, aggregation, cores + up * half + core, cable);
        }
    network.path = [](const Network& n, int from, int to, Path& way) {
        const int ports = n.extent[0], h = ports / 2;
        const auto edge_of = [&](int rank) { return n.ranks() + rank / h / h * ports + rank / h % h; };
        const auto pod_of = [&](int rank) { return rank / (h * h); };
        const int up = to % h;
        way.push_back(edge_of(from));
        if (edge_of(from) != edge_of(to)) {
            way.push_back(n.ranks() + pod_of(from) * ports + h + up);
            if (pod_of(from) != pod_of(to))
                way.insert(way.end(),
                           {n.ranks() + n.extent[1] * ports + up * h + to / h % h, n.ranks() + pod_of(to) * ports + h + up});
            way.push_back(edge_of(to));
        }
        way.push_back(to);
    };
    return network;
}

// Sides as even as the number allows, the longest last: 12 is 3 x 4, or 2 x 2 x 3.
std::array<int, 4> sides_of(int ranks, int dimensions) {
    std::array<int, 4> sides = {1, 1, 1, 1};
    int left = ranks;
    for (int d = 0; d < dimensions; ++d) {
        int side = static_cast<int>(std::floor(std::pow(static_cast<double>(left), 1.0 / (dimensions - d)) + 1e-9));
        while (left % side != 0) --side;
        sides[size_t(d)] = side;
        left /= side;
    }
    return sides;
}

Network make_torus(const TopologyShape& shape, int dimensions) {
    Network network = with_ranks(shape, shape.ranks > 2);
    network.extent = sides_of(shape.ranks, dimensions);
    for (int rank = 0; rank < shape.ranks; ++rank) {
        int stride = 1;
        for (int d = dimensions - 1; d >= 0; --d) {
            const int side = network.extent[size_t(d)], place = rank / stride % side;
            const int next = rank + ((place + 1) % side - place) * stride;
            if (side > 1) network.connect(rank, next, shape.link);
            if (side > 2) network.connect(next, rank, shape.link);
            stride *= side;
        }
    }
    network.path = [](const Network& n, int from, int to, Path& nodes) {
        int at = from, step = 1;
        for (int d = 3; d >= 0; --d) {
            const int side = std::max(1, n.extent[size_t(d)]);
            while (at / step % side != to / step % side) {
                const int place = at / step % side;
                nodes.push_back(at += (closer(place, to / step % side, side) - place) * step);
            }
            step *= side;
        }
    };
    return network;
}

// Dragonfly (Kim 2008), balanced: h ranks and h global links a router, 2h routers a group, fully connected; one global link
// between any two groups, the q-th of a group on its router q mod 2h. Routers after the ranks, by group.
Network make_dragonfly(const TopologyShape& shape) {
    int h = 1;
    while (h * 2 * h * (2 * h * h + 1) < shape.ranks) ++h;
    Network network = with_ranks(shape, true);
    const int routers = 2 * h, groups = (shape.ranks + h * routers - 1) / (h * routers);
    network.extent = {h, routers, groups, 0};
    for (int group = 0; group < groups; ++group)
        for (int router = 0; router < routers; ++router)
            network.add_switch(fmt::format("group {} router {}", group, router));
    const Link cable = half_latency(shape.link);
    for (int rank = 0; rank < shape.ranks; ++rank) both_ways(network, rank, shape.ranks + rank / h, cable);
    for (int group = 0; group < groups; ++group) {
        const int first = shape.ranks + group * routers;
        for (int a = 0; a < routers; ++a)
            for (int b = 0; b < a; ++b) both_ways(network, first + a, first + b, cable);
        for (int other = 0; other < groups; ++other) {
            if (other == group) continue;
            const int mine = (other - group - 1 + groups) % groups, theirs = (group - other - 1 + groups) % groups;
            network.connect(first + mine % routers, shape.ranks + other * routers + theirs % routers, cable);
        }
    }
    network.path = [](const Network& n, int from, int to, Path& way) {
        const int hosts = n.extent[0], per_group = n.extent[1], count = n.extent[2];
        const auto router_of = [&](int rank) { return n.ranks() + rank / hosts; };
        const auto group_of = [&](int rank) { return rank / hosts / per_group; };
        const auto gateway = [&](int group, int other) {
            return n.ranks() + group * per_group + (other - group - 1 + count) % count % per_group;
        };
        const auto go = [&](int node) {
            if (way.empty() || way.back() != node) way.push_back(node);
        };
        go(router_of(from));
        if (group_of(from) != group_of(to)) {
            go(gateway(group_of(from), group_of(to)));
            go(gateway(group_of(to), group_of(from)));
        }
        go(router_of(to));
        go(to);
    };
    return network;
}

}  // namespace

std::span<const TopologyRow> topologies() {
    static constexpr TopologyRow table[] = {
        {"switch", "every rank one cable to one switch that never blocks", 16384, make_switch},
        {"ring", "every rank a link to its two neighbours", 16384, make_ring},
        {"fully_connected", "a link of its own between any two ranks", 512, make_fully_connected},
        {"two_level", "nodes of ranks on an inner switch, nodes on a spine", 16384, make_two_level},
        {"fat_tree", "three levels of switches, as much bandwidth at the top as at the bottom", 16384, make_fat_tree},
        {"torus2d", "a grid closed in both directions", 16384,
         [](const TopologyShape& shape) { return make_torus(shape, 2); }},
        {"torus3d", "a cube closed in all directions", 16384,
         [](const TopologyShape& shape) { return make_torus(shape, 3); }},
        {"dragonfly", "fully connected groups, one link between any two of them", 16384, make_dragonfly},
    };
    return table;
}

Network make_network(const std::string& topology, const TopologyShape& shape) {
    std::vector<std::string> known;
    for (const TopologyRow& row : topologies()) {
        known.emplace_back(row.name);
        if (row.name != topology) continue;
        if (shape.ranks < 1 || shape.ranks > row.most_ranks)
            throw Failure(
                fmt::format("a {} network of {} ranks is impossible: 1 to {}", topology, shape.ranks, row.most_ranks));
        if (shape.node_size < 1 || shape.adapters < 1) throw Failure("a node needs at least one rank and one adapter");
        Network network = row.make(shape);
        network.topology = topology;
        return network;
    }
    throw Failure(fmt::format("there is no topology '{}'{}", topology, did_you_mean(topology, known)));
}

Network ideal_network(int ranks, const Link& link) {
    Network network = with_ranks({.ranks = ranks, .link = link}, false);
    network.topology = "ideal";
    for (int rank = 0; rank < ranks; ++rank) network.links.push_back({rank, -1, link});
    return network;
}

void Network::route(int from, int to, std::vector<int>& way) const {
    way.clear();
    if (!path) {  // the ideal network: the sender's port
        way.push_back(from);
        return;
    }
    path(*this, from, to, way);
    int at = from;
    for (int& place : way) {
        const int next = place;
        place = between.at(link_key(at, next));
        at = next;
    }
}

int Network::connect(int from, int to, const Link& link) {
    const auto [found, is_new] = between.emplace(link_key(from, to), static_cast<int>(links.size()));
    if (is_new) links.push_back({from, to, link});
    return found->second;
}

int Network::add_switch(std::string name) {
    nodes.push_back({true, std::move(name)});
    return static_cast<int>(nodes.size()) - 1;
}

static void expect_slowness(const char* what, double factor) {  // beyond, times are no finite numbers any more
    if (!(factor >= 1e-6 && factor <= 1e6))
        throw Failure(fmt::format("a slow {}'s factor is a number from 1e-6 to 1e6: 2 makes it take twice as long", what));
}

void slow_rank(Network& network, int rank, double factor) {
    if (rank < 0 || rank >= network.ranks())
        throw Failure(
            fmt::format("rank {} cannot be slow: the {} ranks are 0 to {}", rank, network.ranks(), network.ranks() - 1));
    expect_slowness("rank", factor);
    network.slowness[static_cast<size_t>(rank)] *= factor;
    for (NetworkLink& link : network.links)
        if (link.from == rank || link.to == rank) link.link.bytes_per_us /= factor;
}

void slow_link(Network& network, int from, int to, double factor) {
    if (std::min(from, to) < 0 || std::max(from, to) >= network.ranks() || from == to)
        throw Failure(fmt::format("there is no link from rank {} to rank {} among {} ranks", from, to, network.ranks()));
    expect_slowness("link", factor);
    std::vector<int> way;
    network.route(from, to, way);
    for (const int link : way) network.links[static_cast<size_t>(link)].link.bytes_per_us /= factor;
}

}  // namespace lockstep::comm
