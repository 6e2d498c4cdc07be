// A graph with planted communities (a stochastic block model) and noisy features, for graph convolution: features alone
// tell the communities badly, a few steps along the edges tell them well.
#pragma once
#include <cstdint>
#include <vector>

namespace lockstep::nn {

struct Csr {  // a sparse matrix by rows: row r has the entries row_start[r] .. row_start[r + 1] of column and value
    std::vector<int32_t> row_start, column;  // columns ascend within a row
    std::vector<float> value;
};

struct Graph {
    int64_t nodes = 0, features = 0, classes = 0;
    Csr adjacency;                     // undirected: symmetric, no node with itself, values 1
    std::vector<float> x;              // [nodes, features]
    std::vector<int32_t> label;        // [nodes], 0..classes-1
    std::vector<int32_t> train, test;  // nodes whose labels are trained on, and all others
};

struct PlantedGraphOptions {
    int64_t communities = 4, nodes_each = 100, features = 16;
    double edges_within = 8, edges_between = 3;  // of a node, on average: to its own community, to all others together
    double signal = 0.4;                         // deviation of a community's mean feature; a node's noise about it has 1
    int64_t labelled_each = 10;
};
Graph planted_graph(uint64_t seed, const PlantedGraphOptions& options = {});  // throws Failure on impossible options

// Kipf and Welling (2017): D^-1/2 (A + 1) D^-1/2 with D the row sums of A + 1; what a graph convolution multiplies by.
Csr normalised_adjacency(const Graph& graph);

}  // namespace lockstep::nn
