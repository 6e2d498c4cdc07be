// Fewer launches out of a captured graph: the same numbers, fewer bytes. Four steps, each over the launches in order:
//
//   chain     an elementwise launch joins the launch that made what it reads, when both go over the same elements
//   prologue  a sum or a mean joins the chain that makes what it alone reads
//   epilogue  a chain joins the product of matrices that made its first value
//   together  launches of one kernel that need nothing of each other become one: all parameters' updates, all norms, and
//             products of one matrix with several (queries, keys and values), which then read it once
//
// A replayed graph (mode `graph`) has the first and the last of the four: products, norms and sums stay as they are.
//
// A launch may move to another place in the order only past launches that touch nothing it writes and write nothing it
// reads. A value that only the launch's own ops read is never written; what is kept for backward, persistent or an output
// is.
//
// A prologue is made where nobody else wants the values and each thread has at most 64 of them. Plain SGD's update goes on
// from the product that makes its gradient, behind the last launch that reads the weights, so that gradient is never
// written. What waits for all gradients (a norm for clipping, Adam's step) keeps the updates apart. Dropout's row names a
// kernel that does the same with a thread an element and draws the same words. Of few blocks, products rather share a launch
// than take along what follows each of them.
//
//     const Fusion fused = fuse(graph);        // fused.graph goes to the planner and the executor
//     for (const Decision& it : fused.decisions) print("{}: {}", it.label, it.why);
#pragma once
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace lockstep::graph {

struct FusionOptions {
    bool chains = true, prologues = true, epilogues = true, together = true;
    // For native twins. A GPU's many threads gain by what a launch no longer moves; a host's few by what the cache still
    // holds, and an op of much arithmetic gains nothing there but would push the product's operands out.
    bool on_host = false;
};

struct Decision {               // of one launch of the captured graph
    int launch = -1;            // of the captured graph
    int into = -1;              // of the fused graph
    std::string kernel, label;  // "add_bias_f32", "fc1 add"
    std::string why;            // a sentence: "joins fc1 matmul: fc1 matmul's value stays in a register", "alone: ..."
};

struct Fusion {
    Graph graph;
    Traffic before, after;
    std::vector<Decision> decisions;     // one a launch of the captured graph, in its order
    std::vector<std::string> unwritten;  // buffers that are no longer in memory: "fc1 matmul"
    double unwritten_bytes = 0;          // of those buffers
};

Fusion fuse(const Graph& graph, const FusionOptions& options = {});

// For people: what became of every launch, one line each, and the sums.
std::string text_of(const Fusion& fusion);

}  // namespace lockstep::graph
