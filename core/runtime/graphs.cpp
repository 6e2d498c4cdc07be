// Graphs: how they are built and copied, and how one runs: node by node in an order that its edges allow, each on the branch
// of the node before it, so that on the clock branches overlap.
#include "core/runtime/graphs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ptx/ptx.h"
#include "core/runtime/runtime.h"

namespace lockstep::runtime {

Graph::Graph(Handles& known) : handles(known) {
    handles.insert(this);
}

Graph::~Graph() {
    for (const auto& node : nodes) handles.erase(node.get());
    for (const auto& [object, count] : objects) {
        object->holders -= std::min(object->holders, count);
        if (object->holders > 0) continue;
        object->destroy(object->object);
        handles.erase(object);
        delete object;
    }
    handles.erase(this);
}

Node* Graph::add(Work work, std::vector<Node*> after) {
    auto node = std::make_unique<Node>();
    node->graph = this;
    node->work = std::move(work);
    for (Node* before : after)
        if (std::find(node->after.begin(), node->after.end(), before) == node->after.end()) node->after.push_back(before);
    handles.insert(node.get());
    nodes.push_back(std::move(node));
    return nodes.back().get();
}

void Graph::remove(Node* node) {
    for (const auto& other : nodes) std::erase(other->after, node);
    handles.erase(node);
    std::erase_if(nodes, [&](const auto& other) { return other.get() == node; });
}

std::shared_ptr<Graph> Graph::clone() const {
    auto copy = std::make_shared<Graph>(handles);
    copy->number = number;
    copy->memory = memory;
    std::map<const Node*, Node*> twin;
    for (const auto& node : nodes) {
        Work work = node->work;
        if (auto* const child = std::get_if<ChildWork>(&work)) {
            child->graph = child->graph->clone();
            child->graph->of_a_node = true;
        }
        Node* const added = copy->add(std::move(work), {});
        added->enabled = node->enabled;
        added->original = node.get();
        twin[node.get()] = added;
    }
    for (const auto& node : nodes)
        for (const Node* before : node->after) twin[node.get()]->after.push_back(twin.at(before));
    for (const auto& [object, count] : objects) {
        copy->objects[object] = count;
        object->holders += count;
    }
    return copy;
}

std::vector<Node*> Graph::dependents(const Node* node) const {
    std::vector<Node*> found;
    for (const auto& other : nodes)
        if (std::find(other->after.begin(), other->after.end(), node) != other->after.end()) found.push_back(other.get());
    return found;
}

std::vector<Node*> Graph::in_order() const {
    std::vector<Node*> order;
    std::unordered_set<const Node*> placed;
    bool any = true;
    while (any && order.size() < nodes.size()) {
        any = false;
        for (const auto& node : nodes) {
            const bool ready =
                std::all_of(node->after.begin(), node->after.end(), [&](auto* n) { return placed.contains(n); });
            if (!ready || placed.contains(node.get())) continue;
            placed.insert(node.get());
            order.push_back(node.get());
            any = true;
        }
    }
    if (order.size() < nodes.size()) order.clear();
    return order;
}

Node* Graph::copy_of(const Node* original) const {
    for (const auto& node : nodes)
        if (node->original == original || node.get() == original) return node.get();
    for (const auto& node : nodes)
        if (const auto* const child = std::get_if<ChildWork>(&node->work))
            if (Node* const found = child->graph->copy_of(original)) return found;
    return nullptr;
}

bool Graph::has_memory_nodes() const {
    return std::any_of(nodes.begin(), nodes.end(), [](const auto& node) {
        return std::holds_alternative<AllocateWork>(node->work) || std::holds_alternative<ReleaseWork>(node->work);
    });
}

std::string_view name_of(const Work& work) {
    constexpr std::string_view names[] = {"empty",        "kernel",     "memcpy",    "memset",   "host",
                                          "event record", "event wait", "mem alloc", "mem free", "child graph"};
    return names[work.index()];
}

std::string dot_of(const Graph& graph) {
    std::string text = "digraph graph_1 {\n  node [shape=box];\n";
    std::map<const Node*, size_t> numbers;
    for (const auto& node : graph.nodes) {
        const size_t number = numbers.emplace(node.get(), numbers.size()).first->second;
        std::string label(name_of(node->work));
        if (const auto* const kernel = std::get_if<KernelWork>(&node->work))
            label += fmt::format("\\n{}\\n({},{},{}) x ({},{},{})", ptx::readable_name(kernel->kernel->name), kernel->grid.x,
                                 kernel->grid.y, kernel->grid.z, kernel->block.x, kernel->block.y, kernel->block.z);
        if (const auto* const copy = std::get_if<CopyWork>(&node->work))
            label += fmt::format("\\n{} bytes", copy->bytes * copy->rows * copy->slices);
        if (const auto* const fill = std::get_if<FillWork>(&node->work))
            label += fmt::format("\\n{} bytes", fill->width * fill->element_bytes * fill->rows);
        text += fmt::format("  node_{} [label=\"{} {}\"];\n", number, number, label);
    }
    for (const auto& node : graph.nodes)
        for (const Node* before : node->after)
            text += fmt::format("  node_{} -> node_{};\n", numbers[before], numbers[node.get()]);
    return text + "}\n";
}

namespace {

struct Branches {  // where each node runs: 0 is the stream of the launch itself
    std::map<const Node*, size_t> of;
    std::unordered_set<const Node*> awaited;  // by a node on another branch, or by the end
    std::vector<const Node*> last;            // by branch
};

// A node goes on where the first node before it stopped that nobody has gone on from; else it begins a branch.
Branches branches_of(const std::vector<Node*>& order) {
    Branches branches;
    branches.last.push_back(nullptr);
    std::unordered_set<const Node*> continued;
    bool main_is_taken = false;
    for (const Node* node : order) {
        size_t branch = branches.last.size();
        for (const Node* before : node->after)
            if (continued.insert(before).second) {
                branch = branches.of.at(before);
                break;
            }
        if (node->after.empty() && !std::exchange(main_is_taken, true)) branch = 0;
        if (branch == branches.last.size()) branches.last.push_back(nullptr);
        branches.of[node] = branch;
        branches.last[branch] = node;
        for (const Node* before : node->after)
            if (branches.of.at(before) != branch) branches.awaited.insert(before);
    }
    for (size_t k = 1; k < branches.last.size(); ++k) branches.awaited.insert(branches.last[k]);
    return branches;
}

}  // namespace

// The host pays for one launch, and next to nothing for the nodes after the first (the figure is that of core/device).
void Runtime::run_graph(Graph& graph, uint32_t stream) {
    constexpr double graph_node_us = 0.2;
    const bool outermost = !node_us_;
    if (outermost) give_call_stream(stream);
    if (outermost) node_us_ = static_cast<double>(gpu_.launch_us);
    struct Ends {
        std::optional<double>& node;
        bool outermost;
        ~Ends() {
            if (outermost) node.reset();
        }
    } const ends{node_us_, outermost};
    const std::vector<Node*> order = graph.in_order();
    const Branches branches = branches_of(order);
    const auto free_mark = [&](model::HostVerb verb, uint32_t on, uint32_t event) {
        const std::optional<double> cost = std::exchange(node_us_, 0.0);
        mark(verb, on, event);
        node_us_ = cost;
    };
    while (graph.branch_streams.size() + 1 < branches.last.size()) {
        graph.branch_streams.push_back(next_stream_++);
        clock_.set_independent(graph.branch_streams.back());
        order_.set_independent(graph.branch_streams.back());
    }
    const auto stream_of_branch = [&](size_t branch) { return branch == 0 ? stream : graph.branch_streams[branch - 1]; };
    if (branches.last.size() > 1) {
        several_streams_ = true;
        if (graph.begin_event == 0) graph.begin_event = next_event_++;
        free_mark(model::HostVerb::record, stream, graph.begin_event);
    }
    std::vector<bool> begun(branches.last.size());
    begun[0] = true;
    for (const Node* node : order) {
        const size_t branch = branches.of.at(node);
        const uint32_t on = stream_of_branch(branch);
        if (!begun[branch]) free_mark(model::HostVerb::wait, on, graph.begin_event);
        begun[branch] = true;
        for (const Node* before : node->after)
            if (branches.of.at(before) != branch) free_mark(model::HostVerb::wait, on, graph.branch_events.at(before));
        const size_t done = last_in_stream_.contains(on) ? last_in_stream_.at(on) : SIZE_MAX;
        if (node->enabled) run(on, node->work, false);
        if (last_in_stream_.contains(on) && last_in_stream_.at(on) != done) node_us_ = graph_node_us;
        if (!branches.awaited.contains(node)) continue;
        uint32_t& event = graph.branch_events[node];
        if (event == 0) event = next_event_++;
        free_mark(model::HostVerb::record, on, event);
    }
    for (size_t k = 1; k < branches.last.size(); ++k)
        free_mark(model::HostVerb::wait, stream, graph.branch_events.at(branches.last[k]));
}

void Runtime::run(uint32_t stream, const Work& work, bool blocking) {
    if (const auto* const kernel = std::get_if<KernelWork>(&work)) run_kernel(stream, *kernel);
    if (const auto* const copy = std::get_if<CopyWork>(&work)) run_copy(stream, *copy, blocking);
    if (const auto* const fill = std::get_if<FillWork>(&work)) run_fill(stream, *fill, blocking);
    if (const auto* const host = std::get_if<HostWork>(&work)) run_on_host(stream, *host);
    if (const auto* const record = std::get_if<RecordWork>(&work); record && is_event(record->event))
        run_record(stream, *record->event);
    if (const auto* const wait = std::get_if<WaitWork>(&work); wait && is_event(wait->event)) run_wait(stream, *wait->event);
    if (const auto* const child = std::get_if<ChildWork>(&work)) run_graph(*child->graph, stream);
}

void Runtime::check(const Work& work) const {
    if (const auto* const copy = std::get_if<CopyWork>(&work)) check_copy(*copy);
    if (const auto* const fill = std::get_if<FillWork>(&work)) check_fill(*fill);
}

// Memory of a graph lives as long as a graph that knows it.
uint64_t Runtime::allocate_for(Graph& graph, uint64_t bytes) {
    const uint64_t address = allocate(bytes, MemoryKind::device, "graph allocation");
    graph.memory.emplace_back(nullptr, [this, address](void*) {
        const Block* block = find(address);
        if (block && !block->freed) release(address, false);
    });
    return address;
}

}  // namespace lockstep::runtime
