// Graphs: nodes of work and what each comes after. An executable graph is a copy of one, so that later changes of the
// original do not reach it. A capture is a graph that streams are writing: each has the nodes that its next one comes after.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <vector>

#include "core/runtime/work.h"

namespace lockstep::runtime {

struct Node {
    Graph* graph = nullptr;
    Work work;
    std::vector<Node*> after;  // in the order in which they were said
    bool enabled = true;
    const Node* original = nullptr;  // of a node of a copy
    std::vector<void*> arguments;    // of a kernel: where each lies, for those who asked
};

struct UserObject {  // cudaUserObject_t: what is destroyed when nobody holds it any more
    void* object = nullptr;
    void (*destroy)(void*) = nullptr;
    unsigned holders = 0;
};

// Handles that are good: graphs, nodes and executable graphs by their address.
using Handles = std::unordered_set<const void*>;

struct Graph {
    explicit Graph(Handles& handles);
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph();

    Node* add(Work work, std::vector<Node*> after);
    void remove(Node* node);
    std::shared_ptr<Graph> clone() const;  // child graphs too
    std::vector<Node*> dependents(const Node* node) const;
    std::vector<Node*> in_order() const;  // each after all that it comes after; empty where they form a circle
    Node* copy_of(const Node* original) const;
    bool has_memory_nodes() const;

    Handles& handles;
    uint64_t number = 0;
    bool of_a_node = false;  // a child graph: its node owns it
    std::vector<std::unique_ptr<Node>> nodes;
    std::map<UserObject*, unsigned> objects;    // that it holds, and how often
    std::vector<std::shared_ptr<void>> memory;  // of its allocation nodes, shared with its copies
    // Where its branches run: streams and events of the clock, kept from launch to launch.
    std::vector<uint32_t> branch_streams;
    std::map<const Node*, uint32_t> branch_events;
    uint32_t begin_event = 0;
};
std::string dot_of(const Graph& graph);  // in Graphviz's language
std::string_view name_of(const Work& work);

struct GraphExec {
    std::shared_ptr<Graph> graph;
    uint64_t flags = 0;
};

struct Capture {
    uint64_t number = 0;
    std::shared_ptr<Graph> graph;
    uint32_t origin = 0;  // the stream in which it began
    int mode = 0;         // cudaStreamCaptureMode
    std::thread::id thread;
    bool invalid = false;
    bool of_the_program = false;                    // the graph was there before
    std::map<uint32_t, std::vector<Node*>> fronts;  // by stream: what its next node comes after
};

// cudaThreadExchangeStreamCaptureMode: what this thread's captures forbid; the mode before.
int exchange_capture_mode(int mode);

}  // namespace lockstep::runtime
