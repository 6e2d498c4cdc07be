// The network that messages cross: a table of links, and topologies as graphs of ranks, switches and directed links with one
// route between any two ranks. traffic.h gives the links out to messages; timing.h times whole collectives.
//
// A topology's cables between a rank and a switch, or two switches, count half of the link's latency each, so that a way
// through one switch takes the latency of the table; direct links between ranks take it whole.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/comm/network/link.h"

namespace lockstep::comm {

struct LinkRow {
    std::string_view name, title;
    double latency_us = 0, gigabytes_per_s = 0;  // one direction
    std::string_view source;
    Link link() const { return {latency_us, gigabytes_per_s * 1000}; }
};
std::span<const LinkRow> links();
const LinkRow& link_named(const std::string& name);  // throws Failure with the nearest name

struct NetworkNode {
    bool is_switch = false;
    std::string name;  // "rank 3", "spine", "pod 1 edge 0"
};
struct NetworkLink {
    int from = 0, to = 0;  // nodes; to -1: everybody (the ideal network's port)
    Link link;
};

struct TopologyShape {
    int ranks = 1;
    Link link;          // between ranks or nodes
    Link inner = {};    // two_level: inside a node
    int node_size = 8;  // two_level: ranks of a node
    int adapters = 1;   // two_level: links from a node to the spine, used as one
};

struct Network {
    std::string topology;
    TopologyShape shape;
    std::vector<NetworkNode> nodes;  // the ranks first
    std::vector<NetworkLink> links;
    std::vector<double> slowness;    // by rank: how many times longer its work takes
    bool shared = false;             // messages of several senders may meet on a link
    std::array<int, 4> extent = {};  // torus: its sides; fat tree: ports; dragonfly: hosts a router, routers a group, groups
    std::unordered_map<uint64_t, int> between;                                                  // link by from and to
    void (*path)(const Network& network, int from, int to, std::vector<int>& nodes) = nullptr;  // without `from` itself

    int ranks() const { return shape.ranks; }
    void route(int from, int to, std::vector<int>& links) const;  // the links in order; `links` is overwritten
    int connect(int from, int to, const Link& link);              // adds a directed link
    int add_switch(std::string name);
};

struct TopologyRow {
    std::string_view name, summary;
    int most_ranks = 0;
    Network (*make)(const TopologyShape& shape) = nullptr;
};
std::span<const TopologyRow> topologies();
Network make_network(const std::string& topology, const TopologyShape& shape);  // throws Failure: nearest name, what fits

// Every rank a port that nobody else uses, and nothing in between: what the closed formulas assume.
Network ideal_network(int ranks, const Link& link);

void slow_rank(Network& network, int rank, double factor);          // its work and its links take `factor` times as long
void slow_link(Network& network, int from, int to, double factor);  // all links on the way from rank to rank

}  // namespace lockstep::comm
