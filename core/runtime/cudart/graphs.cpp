// Graphs: building and asking, node by node. How one runs is in core/runtime/graphs.cpp, captures are in capture.cpp here
// and there.
#include <algorithm>
#include <fstream>

#include "core/runtime/cudart/graph_calls.h"

using namespace lockstep::runtime;

namespace lockstep::runtime {

Graph& graph_of(Runtime& r, cudaGraph_t handle) {
    if (!r.handles().contains(handle)) throw CallFailure{cudaErrorInvalidValue, "this is no graph, or it was destroyed"};
    return *reinterpret_cast<Graph*>(handle);
}

Node& node_of(Runtime& r, cudaGraphNode_t handle) {
    if (!r.handles().contains(handle))
        throw CallFailure{cudaErrorInvalidValue, "this is no node of a graph, or it was destroyed"};
    return *reinterpret_cast<Node*>(handle);
}

GraphExec& exec_of(Runtime& r, cudaGraphExec_t handle) {
    const auto found = r.executables().find(handle);
    if (found == r.executables().end())
        throw CallFailure{cudaErrorInvalidValue, "this is no executable graph, or it was destroyed"};
    return *found->second;
}

std::vector<Node*> nodes_of(Runtime& r, const Graph& graph, const cudaGraphNode_t* handles, size_t count) {
    if (count > 0) need(handles, "the nodes that it comes after");
    std::vector<Node*> nodes;
    for (size_t k = 0; k < count; ++k) {
        nodes.push_back(&node_of(r, handles[k]));
        if (nodes.back()->graph != &graph) throw CallFailure{cudaErrorInvalidValue, "a node belongs to another graph"};
    }
    return nodes;
}

void add_node(Runtime& r, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, Work work) {
    need(node, "the node's address");
    Graph& into = graph_of(r, graph);
    r.check(work);
    *node = handle_of(into.add(std::move(work), nodes_of(r, into, after, count)));
}

Work kernel_node(Runtime& r, const cudaKernelNodeParams* p) {
    need(p, "the parameters");
    if (p->extra)
        throw CallFailure{cudaErrorNotSupported, "arguments in one buffer are not supported: give them as kernelParams"};
    return r.kernel_work({.function = p->func,
                          .grid = {p->gridDim.x, p->gridDim.y, p->gridDim.z},
                          .block = {p->blockDim.x, p->blockDim.y, p->blockDim.z},
                          .arguments = p->kernelParams,
                          .shared = p->sharedMemBytes});
}

Work memset_node(const cudaMemsetParams* p) {
    need(p, "the parameters");
    if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)
        throw CallFailure{cudaErrorInvalidValue, "an element has 1, 2 or 4 bytes"};
    return FillWork{.to = address_of(p->dst),
                    .pitch = p->pitch,
                    .value = p->value,
                    .element_bytes = p->elementSize,
                    .width = p->width,
                    .rows = p->height};
}

Work host_node(const cudaHostNodeParams* p) {
    need(p, "the parameters");
    need(p->fn, "the function");
    return HostWork{.function = p->fn, .data = p->userData};
}

Work copy_node(Runtime& r, const cudaMemcpy3DParms* p) {
    need(p, "the parameters");
    return copy_of(r, *p);
}

Work copy_node(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    need(to, "the destination");
    need(from, "the source");
    return CopyWork{.to = address_of(to), .from = address_of(from), .bytes = bytes, .kind = kind};
}

Work copy_to_symbol_node(Runtime& r, const void* symbol, const void* from, size_t bytes, size_t offset,
                         cudaMemcpyKind kind) {
    need(from, "the source");
    return CopyWork{.to = address_in(r, symbol, offset, bytes), .from = address_of(from), .bytes = bytes, .kind = kind};
}

Work copy_from_symbol_node(Runtime& r, void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    need(to, "the destination");
    return CopyWork{.to = address_of(to), .from = address_in(r, symbol, offset, bytes), .bytes = bytes, .kind = kind};
}

// What CUDA's reference says of cudaGraphRemoveDependencies, cudaGraphDestroyNode, cudaGraphClone and child graphs.
static void need_no_memory_nodes(const Graph& graph) {
    if (graph.has_memory_nodes())
        throw CallFailure{cudaErrorNotSupported, "a graph that allocates or frees memory stays whole and alone"};
}

Work child_node(Runtime& r, cudaGraph_t child) {
    need_no_memory_nodes(graph_of(r, child));
    std::shared_ptr<Graph> copy = graph_of(r, child).clone();
    copy->of_a_node = true;
    return ChildWork{std::move(copy)};
}

Work node_of_parameters(Runtime& r, Graph& graph, cudaGraphNodeParams* p) {
    need(p, "the parameters");
    switch (p->type) {
        case cudaGraphNodeTypeKernel:
            return kernel_node(r, &p->kernel);
        case cudaGraphNodeTypeMemcpy:
            return copy_node(r, &p->memcpy.copyParams);
        case cudaGraphNodeTypeMemset:
            return memset_node(&p->memset);
        case cudaGraphNodeTypeHost:
            return host_node(&p->host);
        case cudaGraphNodeTypeGraph:
            return child_node(r, p->graph.graph);
        case cudaGraphNodeTypeEmpty:
            return EmptyWork{};
        case cudaGraphNodeTypeWaitEvent:
            return WaitWork{&event_of(r, p->eventWait.event)};
        case cudaGraphNodeTypeEventRecord:
            return RecordWork{&event_of(r, p->eventRecord.event)};
        case cudaGraphNodeTypeMemAlloc:
            p->alloc.dptr = reinterpret_cast<void*>(r.allocate_for(graph, p->alloc.bytesize));
            return AllocateWork{address_of(p->alloc.dptr), p->alloc.bytesize};
        case cudaGraphNodeTypeMemFree:
            return ReleaseWork{address_of(p->free.dptr)};
        default:
            throw CallFailure{cudaErrorNotSupported, "the modelled GPU has no nodes of this kind"};
    }
}

void set_work(Runtime& r, Node& node, Work work) {
    if (node.work.index() != work.index())
        throw CallFailure{cudaErrorInvalidValue, "the node is of another kind: " + std::string(name_of(node.work))};
    r.check(work);
    if (auto* const kernel = std::get_if<KernelWork>(&work)) {
        const auto& before = std::get<KernelWork>(node.work);
        kernel->cooperative = before.cooperative;
        kernel->cluster = before.cluster;
    }
    node.work = std::move(work);
}

namespace {

template <class Kind>
Kind& work_of(Runtime& r, cudaGraphNode_t handle) {
    Node& node = node_of(r, handle);
    if (auto* const work = std::get_if<Kind>(&node.work)) return *work;
    throw CallFailure{cudaErrorInvalidValue, "the node is of another kind: " + std::string(name_of(node.work))};
}

// As many as there is room for, then how many there are; without room their number alone.
void list(const std::vector<Node*>& nodes, cudaGraphNode_t* into, size_t* count) {
    need(count, "the count's address");
    if (into)
        for (size_t k = 0; k < *count; ++k) into[k] = k < nodes.size() ? handle_of(nodes[k]) : nullptr;
    *count = into ? std::min(*count, nodes.size()) : nodes.size();
}

void clear(cudaGraphEdgeData* edges, size_t count) {
    if (edges) std::fill_n(edges, count, cudaGraphEdgeData{});
}

void change_edges(Runtime& r, cudaGraph_t handle, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t count,
                  bool removes) {
    const Graph& graph = graph_of(r, handle);
    if (removes) need_no_memory_nodes(graph);
    const std::vector<Node*> before = nodes_of(r, graph, from, count), behind = nodes_of(r, graph, to, count);
    for (size_t k = 0; k < count; ++k) {
        auto& after = behind[k]->after;
        const bool there = std::find(after.begin(), after.end(), before[k]) != after.end();
        if (there != removes || before[k] == behind[k])
            throw CallFailure{cudaErrorInvalidValue, removes ? "there is no such edge" : "this edge is there already"};
        if (removes)
            std::erase(after, before[k]);
        else
            after.push_back(before[k]);
    }
}

}  // namespace
}  // namespace lockstep::runtime

LOCKSTEP_INTERFACE

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
    return call(__func__, [&](Runtime& r) {
        need(graph, "the graph's address");
        if (flags != 0) throw CallFailure{cudaErrorInvalidValue, "the flags are 0"};
        auto created = std::make_shared<Graph>(r.handles());
        *graph = handle_of(created.get());
        r.graphs()[created.get()] = std::move(created);
    });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    return call(__func__, [&](Runtime& r) {
        if (graph_of(r, graph).of_a_node) throw CallFailure{cudaErrorInvalidValue, "a child graph belongs to its node"};
        r.graphs().erase(graph);
    });
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
    return call(__func__, [&](Runtime& r) {
        need(clone, "the graph's address");
        need_no_memory_nodes(graph_of(r, original));
        auto copy = graph_of(r, original).clone();
        *clone = handle_of(copy.get());
        r.graphs()[copy.get()] = std::move(copy);
    });
}
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
    return call(__func__, [&](Runtime& r) {
        need(path, "the path");
        std::ofstream file(path);
        file << dot_of(graph_of(r, graph));
        if (!file.flush()) throw CallFailure{cudaErrorOperatingSystem, std::string("the file cannot be written: ") + path};
    });
}

// ---- Nodes
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* parameters) {
    return call(__func__, [&](Runtime& r) { add_node(r, node, graph, after, count, kernel_node(r, parameters)); });
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* parameters) {
    return call(__func__, [&](Runtime& r) { add_node(r, node, graph, after, count, copy_node(r, parameters)); });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                     void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) { add_node(r, node, graph, after, count, copy_node(to, from, bytes, kind)); });
}
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                           size_t count, const void* symbol, const void* from, size_t bytes, size_t offset,
                                           cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) {
        add_node(r, node, graph, after, count, copy_to_symbol_node(r, symbol, from, bytes, offset, kind));
    });
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                             size_t count, void* to, const void* symbol, size_t bytes, size_t offset,
                                             cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) {
        add_node(r, node, graph, after, count, copy_from_symbol_node(r, to, symbol, bytes, offset, kind));
    });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* parameters) {
    return call(__func__, [&](Runtime& r) { add_node(r, node, graph, after, count, memset_node(parameters)); });
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* parameters) {
    return call(__func__, [&](Runtime& r) { add_node(r, node, graph, after, count, host_node(parameters)); });
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count) {
    return call(__func__, [&](Runtime& r) { add_node(r, node, graph, after, count, EmptyWork{}); });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                       cudaGraph_t child) {
    return call(__func__, [&](Runtime& r) { add_node(r, node, graph, after, count, child_node(r, child)); });
}
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                        cudaEvent_t event) {
    return call(__func__, [&](Runtime& r) { add_node(r, node, graph, after, count, RecordWork{&event_of(r, event)}); });
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                      cudaEvent_t event) {
    return call(__func__, [&](Runtime& r) { add_node(r, node, graph, after, count, WaitWork{&event_of(r, event)}); });
}
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                     cudaMemAllocNodeParams* parameters) {
    return call(__func__, [&](Runtime& r) {
        need(parameters, "the parameters");
        parameters->dptr = reinterpret_cast<void*>(r.allocate_for(graph_of(r, graph), parameters->bytesize));
        add_node(r, node, graph, after, count, AllocateWork{address_of(parameters->dptr), parameters->bytesize});
    });
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                    void* pointer) {
    return call(__func__, [&](Runtime& r) {
        bool given = false;
        for (const auto& other : graph_of(r, graph).nodes) {
            if (const auto* const from = std::get_if<AllocateWork>(&other->work))
                given |= from->address == address_of(pointer);
            if (const auto* const to = std::get_if<ReleaseWork>(&other->work))
                if (to->address == address_of(pointer))
                    throw CallFailure{cudaErrorInvalidValue, "another node frees this memory"};
        }
        const Block* const block = r.find(address_of(pointer));
        const bool of_graphs = block && block->name.find("graph allocation") != std::string::npos;
        if (!given && !of_graphs) throw CallFailure{cudaErrorInvalidValue, "no graph has allocated this memory"};
        add_node(r, node, graph, after, count, ReleaseWork{address_of(pointer)});
    });
}
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData*, size_t count, cudaGraphNodeParams* parameters) {
    return call(__func__, [&](Runtime& r) {
        add_node(r, node, graph, after, count, node_of_parameters(r, graph_of(r, graph), parameters));
    });
}
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* parameters) {
    return call(__func__, [&](Runtime& r) {
        Node& changed = node_of(r, node);
        set_work(r, changed, node_of_parameters(r, *changed.graph, parameters));
    });
}
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
    return call(__func__, [&](Runtime& r) {
        Node& removed = node_of(r, node);
        need_no_memory_nodes(*removed.graph);
        removed.graph->remove(&removed);
    });
}

// ---- Edges
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData*, size_t count) {
    return call(__func__, [&](Runtime& r) { change_edges(r, graph, from, to, count, false); });
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData*, size_t count) {
    return call(__func__, [&](Runtime& r) { change_edges(r, graph, from, to, count, true); });
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
    return call(__func__, [&](Runtime& r) {
        std::vector<Node*> all;
        for (const auto& node : graph_of(r, graph).nodes) all.push_back(node.get());
        list(all, nodes, count);
    });
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
    return call(__func__, [&](Runtime& r) {
        std::vector<Node*> roots;
        for (const auto& node : graph_of(r, graph).nodes)
            if (node->after.empty()) roots.push_back(node.get());
        list(roots, nodes, count);
    });
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* edges,
                              size_t* count) {
    return call(__func__, [&](Runtime& r) {
        need(count, "the count's address");
        std::vector<Node*> first, second;
        for (const auto& node : graph_of(r, graph).nodes)
            for (Node* before : node->after) {
                first.push_back(before);
                second.push_back(node.get());
            }
        size_t room = *count;
        list(first, from, &room);
        room = *count;
        list(second, to, &room);
        *count = room;
        clear(edges, from && to ? room : 0);
    });
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges,
                                         size_t* count) {
    return call(__func__, [&](Runtime& r) {
        list(node_of(r, node).after, nodes, count);
        clear(edges, nodes ? *count : 0);
    });
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges,
                                           size_t* count) {
    return call(__func__, [&](Runtime& r) {
        const Node& asked = node_of(r, node);
        list(asked.graph->dependents(&asked), nodes, count);
        clear(edges, nodes ? *count : 0);
    });
}

// ---- What a node is
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
    return call(__func__, [&](Runtime& r) {
        need(type, "the type's address");
        constexpr cudaGraphNodeType types[] = {
            cudaGraphNodeTypeEmpty,   cudaGraphNodeTypeKernel,      cudaGraphNodeTypeMemcpy,    cudaGraphNodeTypeMemset,
            cudaGraphNodeTypeHost,    cudaGraphNodeTypeEventRecord, cudaGraphNodeTypeWaitEvent, cudaGraphNodeTypeMemAlloc,
            cudaGraphNodeTypeMemFree, cudaGraphNodeTypeGraph};
        *type = types[node_of(r, node).work.index()];
    });
}
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
    return call(__func__, [&](Runtime& r) {
        need(node, "the node's address");
        Node* const found = graph_of(r, clone).copy_of(&node_of(r, original));
        if (!found) throw CallFailure{cudaErrorInvalidValue, "the graph has no copy of this node"};
        *node = handle_of(found);
    });
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
    return call(__func__, [&](Runtime& r) {
        need(parameters, "the parameters");
        KernelWork& work = work_of<KernelWork>(r, node);
        Node& asked = node_of(r, node);
        asked.arguments.clear();
        for (const auto& parameter : r.program_of(*work.kernel)->parameters)
            asked.arguments.push_back(work.parameters.data() + parameter.offset);
        *parameters = {const_cast<void*>(work.kernel->host),
                       {work.grid.x, work.grid.y, work.grid.z},
                       {work.block.x, work.block.y, work.block.z},
                       static_cast<unsigned>(work.shared),
                       asked.arguments.data(),
                       nullptr};
    });
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters) {
    return call(__func__, [&](Runtime& r) { set_work(r, node_of(r, node), kernel_node(r, parameters)); });
}
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            cudaLaunchAttributeValue* value) {
    return call(__func__, [&](Runtime& r) {
        need(value, "the value");
        const KernelWork& work = work_of<KernelWork>(r, node);
        *value = {};
        if (id == cudaLaunchAttributeCooperative) value->cooperative = work.cooperative;
        if (id == cudaLaunchAttributeClusterDimension) value->clusterDim = {work.cluster.x, work.cluster.y, work.cluster.z};
    });
}
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            const cudaLaunchAttributeValue* value) {
    return call(__func__, [&](Runtime& r) {
        need(value, "the value");
        KernelWork& work = work_of<KernelWork>(r, node);
        if (id == cudaLaunchAttributeCooperative) work.cooperative = value->cooperative != 0;
        if (id == cudaLaunchAttributeClusterDimension)
            work.cluster = {value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
    });
}
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
    return call(__func__, [&](Runtime& r) {
        const KernelWork& source = work_of<KernelWork>(r, from);
        KernelWork& target = work_of<KernelWork>(r, to);
        target.cooperative = source.cooperative;
        target.cluster = source.cluster;
    });
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
    return call(__func__, [&](Runtime& r) {
        need(parameters, "the parameters");
        *parameters = parameters_of(r, work_of<CopyWork>(r, node));
    });
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* parameters) {
    return call(__func__, [&](Runtime& r) { set_work(r, node_of(r, node), copy_node(r, parameters)); });
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t bytes,
                                           cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) { set_work(r, node_of(r, node), copy_node(to, from, bytes, kind)); });
}
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* from, size_t bytes,
                                                 size_t offset, cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) {
        set_work(r, node_of(r, node), copy_to_symbol_node(r, symbol, from, bytes, offset, kind));
    });
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to, const void* symbol, size_t bytes,
                                                   size_t offset, cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) {
        set_work(r, node_of(r, node), copy_from_symbol_node(r, to, symbol, bytes, offset, kind));
    });
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
    return call(__func__, [&](Runtime& r) {
        need(parameters, "the parameters");
        const FillWork& work = work_of<FillWork>(r, node);
        *parameters = {reinterpret_cast<void*>(work.to), work.pitch, work.value, work.element_bytes, work.width, work.rows};
    });
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
    return call(__func__, [&](Runtime& r) { set_work(r, node_of(r, node), memset_node(parameters)); });
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
    return call(__func__, [&](Runtime& r) {
        need(parameters, "the parameters");
        const HostWork& work = work_of<HostWork>(r, node);
        *parameters = {work.function, work.data};
    });
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
    return call(__func__, [&](Runtime& r) { set_work(r, node_of(r, node), host_node(parameters)); });
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
    return call(__func__, [&](Runtime& r) {
        need(graph, "the graph's address");
        *graph = handle_of(work_of<ChildWork>(r, node).graph.get());
    });
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
    return call(__func__, [&](Runtime& r) {
        need(event, "the event's address");
        *event = reinterpret_cast<cudaEvent_t>(work_of<RecordWork>(r, node).event);
    });
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return call(__func__, [&](Runtime& r) { set_work(r, node_of(r, node), RecordWork{&event_of(r, event)}); });
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
    return call(__func__, [&](Runtime& r) {
        need(event, "the event's address");
        *event = reinterpret_cast<cudaEvent_t>(work_of<WaitWork>(r, node).event);
    });
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return call(__func__, [&](Runtime& r) { set_work(r, node_of(r, node), WaitWork{&event_of(r, event)}); });
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* parameters) {
    return call(__func__, [&](Runtime& r) {
        need(parameters, "the parameters");
        const AllocateWork& work = work_of<AllocateWork>(r, node);
        *parameters = {};
        parameters->bytesize = work.bytes;
        parameters->dptr = reinterpret_cast<void*>(work.address);
    });
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
    return call(__func__, [&](Runtime& r) {
        need(pointer, "the pointer's address");
        *static_cast<void**>(pointer) = reinterpret_cast<void*>(work_of<ReleaseWork>(r, node).address);
    });
}
LOCKSTEP_ALIAS(cudaGraphAddDependencies_v2, cudaGraphAddDependencies)
LOCKSTEP_ALIAS(cudaGraphRemoveDependencies_v2, cudaGraphRemoveDependencies)
LOCKSTEP_ALIAS(cudaGraphGetEdges_v2, cudaGraphGetEdges)
LOCKSTEP_ALIAS(cudaGraphNodeGetDependencies_v2, cudaGraphNodeGetDependencies)
LOCKSTEP_ALIAS(cudaGraphNodeGetDependentNodes_v2, cudaGraphNodeGetDependentNodes)
LOCKSTEP_ALIAS(cudaGraphAddNode_v2, cudaGraphAddNode)
LOCKSTEP_INTERFACE_END
