// Executable graphs: making, changing and launching them; captures, which write graphs; and what graphs hold.
#include <algorithm>

#include "core/runtime/cudart/graph_calls.h"

using namespace lockstep::runtime;

namespace {

void instantiate(Runtime& r, cudaGraphExec_t* exec, cudaGraph_t handle, unsigned long long flags) {
    need(exec, "the executable graph's address");
    if (flags > 15) throw CallFailure{cudaErrorInvalidValue, "there is no such flag"};
    const Graph& graph = graph_of(r, handle);
    if (graph.in_order().size() < graph.nodes.size())
        throw CallFailure{cudaErrorInvalidValue, "the graph's edges form a circle"};
    auto made = std::make_unique<GraphExec>();
    made->graph = graph.clone();
    made->flags = flags;
    *exec = reinterpret_cast<cudaGraphExec_t>(made.get());
    r.executables()[made.get()] = std::move(made);
}

Node& node_in(Runtime& r, cudaGraphExec_t exec, cudaGraphNode_t original) {
    Node* const node = exec_of(r, exec).graph->copy_of(reinterpret_cast<const Node*>(original));
    if (!node) throw CallFailure{cudaErrorInvalidValue, "the executable graph has no copy of this node"};
    return *node;
}

size_t place_of(const Graph& graph, const Node* node) {
    const auto found =
        std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](auto& other) { return other.get() == node; });
    return static_cast<size_t>(found - graph.nodes.begin());
}

// Nodes correspond by the order in which they were added.
cudaGraphExecUpdateResultInfo difference(const Graph& now, const Graph& then) {
    if (now.nodes.size() != then.nodes.size()) return {cudaGraphExecUpdateErrorTopologyChanged, nullptr, nullptr};
    for (size_t k = 0; k < now.nodes.size(); ++k) {
        Node *const old_node = now.nodes[k].get(), *const new_node = then.nodes[k].get();
        const auto at = [&](cudaGraphExecUpdateResult result) {
            return cudaGraphExecUpdateResultInfo{result, handle_of(new_node), nullptr};
        };
        if (old_node->work.index() != new_node->work.index()) return at(cudaGraphExecUpdateErrorNodeTypeChanged);
        const bool edges =
            std::equal(old_node->after.begin(), old_node->after.end(), new_node->after.begin(), new_node->after.end(),
                       [&](const Node* a, const Node* b) { return place_of(now, a) == place_of(then, b); });
        if (!edges) return at(cudaGraphExecUpdateErrorTopologyChanged);
        if (const auto* const child = std::get_if<ChildWork>(&old_node->work)) {
            const auto inside = difference(*child->graph, *std::get<ChildWork>(new_node->work).graph);
            if (inside.result != cudaGraphExecUpdateSuccess) return inside;
        }
    }
    return {cudaGraphExecUpdateSuccess, nullptr, nullptr};
}

void take_over(Graph& now, const Graph& then) {
    for (size_t k = 0; k < now.nodes.size(); ++k) {
        Work& work = now.nodes[k]->work;
        if (auto* const child = std::get_if<ChildWork>(&work))
            take_over(*child->graph, *std::get<ChildWork>(then.nodes[k]->work).graph);
        else
            work = then.nodes[k]->work;
    }
    now.memory = then.memory;
}

UserObject& object_of(Runtime& r, cudaUserObject_t handle) {
    if (!r.handles().contains(handle)) throw CallFailure{cudaErrorInvalidValue, "this is no user object"};
    return *reinterpret_cast<UserObject*>(handle);
}

void let_go(Runtime& r, UserObject& object, unsigned count) {
    if (count > object.holders) throw CallFailure{cudaErrorInvalidValue, "the user object is not held so often"};
    object.holders -= count;
    if (object.holders > 0) return;
    object.destroy(object.object);
    r.handles().erase(&object);
    delete &object;
}

void tell_capture(Runtime& r, cudaStream_t handle, cudaStreamCaptureStatus* status, unsigned long long* id,
                  cudaGraph_t* graph, const cudaGraphNode_t** after, size_t* count) {
    need(status, "the status' address");
    const StreamState& stream = stream_of(r, handle);
    Capture* const capture = stream.capture;
    *status = !capture           ? cudaStreamCaptureStatusNone
              : capture->invalid ? cudaStreamCaptureStatusInvalidated
                                 : cudaStreamCaptureStatusActive;
    if (!capture) return;
    const std::vector<Node*>& front = capture->fronts[stream.number];
    if (id) *id = capture->number;
    if (graph) *graph = handle_of(capture->graph.get());
    if (after) *after = reinterpret_cast<const cudaGraphNode_t*>(front.data());
    if (count) *count = front.size();
}

}  // namespace

LOCKSTEP_INTERFACE

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
    return call(__func__, [&](Runtime& r) { instantiate(r, exec, graph, flags); });
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
    return call(__func__, [&](Runtime& r) { instantiate(r, exec, graph, flags); });
}
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
    return call(__func__, [&](Runtime& r) {
        need(parameters, "the parameters");
        parameters->errNode_out = nullptr;
        parameters->result_out = cudaGraphInstantiateInvalidStructure;
        instantiate(r, exec, graph, parameters->flags);
        parameters->result_out = cudaGraphInstantiateSuccess;
    });
}
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
    return call(__func__, [&](Runtime& r) {
        need(flags, "the flags' address");
        *flags = exec_of(r, exec).flags;
    });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    return call(__func__, [&](Runtime& r) {
        exec_of(r, exec);
        r.executables().erase(exec);
    });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) {
        exec_of(r, exec);
        stream_of(r, stream);
    });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) {
        const GraphExec& launched = exec_of(r, exec);
        const StreamState& state = stream_of(r, stream);
        if (state.capture) {
            state.capture->invalid = true;
            throw CallFailure{
                cudaErrorStreamCaptureUnsupported,
                "the stream is capturing, and no graph is launched in a capture: cudaGraphAddChildGraphNode adds "
                "it to the graph that is captured"};
        }
        r.submit(state.number, ChildWork{launched.graph});
    });
}

// ---- Changes of an executable graph
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
    return call(__func__, [&](Runtime& r) {
        Graph& now = *exec_of(r, exec).graph;
        const Graph& then = graph_of(r, graph);
        const cudaGraphExecUpdateResultInfo found = difference(now, then);
        if (info) *info = found;
        if (found.result != cudaGraphExecUpdateSuccess)
            throw CallFailure{cudaErrorGraphExecUpdateFailure, "the graph has other nodes or edges than the executable one"};
        take_over(now, then);
    });
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeParams* parameters) {
    return call(__func__, [&](Runtime& r) {
        Node& changed = node_in(r, exec, node);
        set_work(r, changed, node_of_parameters(r, *changed.graph, parameters));
    });
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
    return call(__func__, [&](Runtime& r) { set_work(r, node_in(r, exec, node), kernel_node(r, parameters)); });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
    return call(__func__, [&](Runtime& r) { set_work(r, node_in(r, exec, node), copy_node(r, parameters)); });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to, const void* from,
                                               size_t bytes, cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) { set_work(r, node_in(r, exec, node), copy_node(to, from, bytes, kind)); });
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const void* symbol,
                                                     const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) {
        set_work(r, node_in(r, exec, node), copy_to_symbol_node(r, symbol, from, bytes, offset, kind));
    });
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                                       const void* symbol, size_t bytes, size_t offset,
                                                       cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) {
        set_work(r, node_in(r, exec, node), copy_from_symbol_node(r, to, symbol, bytes, offset, kind));
    });
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
    return call(__func__, [&](Runtime& r) { set_work(r, node_in(r, exec, node), memset_node(parameters)); });
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
    return call(__func__, [&](Runtime& r) { set_work(r, node_in(r, exec, node), host_node(parameters)); });
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child) {
    return call(__func__, [&](Runtime& r) { set_work(r, node_in(r, exec, node), child_node(r, child)); });
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
    return call(__func__, [&](Runtime& r) { set_work(r, node_in(r, exec, node), RecordWork{&event_of(r, event)}); });
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
    return call(__func__, [&](Runtime& r) { set_work(r, node_in(r, exec, node), WaitWork{&event_of(r, event)}); });
}
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
    return call(__func__, [&](Runtime& r) {
        Node& changed = node_in(r, exec, node);
        if (!std::holds_alternative<KernelWork>(changed.work) && !std::holds_alternative<CopyWork>(changed.work) &&
            !std::holds_alternative<FillWork>(changed.work))
            throw CallFailure{cudaErrorInvalidValue, "only kernels, copies and fills can be left out"};
        changed.enabled = enabled != 0;
    });
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
    return call(__func__, [&](Runtime& r) {
        need(enabled, "the answer's address");
        *enabled = node_in(r, exec, node).enabled ? 1 : 0;
    });
}

// ---- Captures
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    return call(__func__, [&](Runtime& r) { r.begin_capture(stream_of(r, stream), mode, nullptr); });
}
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* after,
                                          const cudaGraphEdgeData*, size_t count, cudaStreamCaptureMode mode) {
    return call(__func__, [&](Runtime& r) {
        const auto into = r.graphs().find(graph);
        if (into == r.graphs().end()) throw CallFailure{cudaErrorInvalidValue, "this is no graph, or it was destroyed"};
        std::vector<Node*> front = nodes_of(r, *into->second, after, count);
        StreamState& state = stream_of(r, stream);
        r.begin_capture(state, mode, into->second).fronts[state.number] = std::move(front);
    });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    return call(__func__, [&](Runtime& r) {
        need(graph, "the graph's address");
        *graph = nullptr;
        std::shared_ptr<Graph> captured = r.end_capture(stream_of(r, stream));
        *graph = handle_of(captured.get());
        r.graphs()[captured.get()] = std::move(captured);
    });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    return call(__func__, [&](Runtime& r) { tell_capture(r, stream, status, nullptr, nullptr, nullptr, nullptr); });
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** after, const cudaGraphEdgeData** edges,
                                     size_t* count) {
    return call(__func__, [&](Runtime& r) {
        tell_capture(r, stream, status, id, graph, after, count);
        if (edges) *edges = nullptr;
    });
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* after, const cudaGraphEdgeData*,
                                                size_t count, unsigned flags) {
    return call(__func__, [&](Runtime& r) {
        const StreamState& state = stream_of(r, stream);
        if (!state.capture) throw CallFailure{cudaErrorIllegalState, "the stream is not capturing"};
        std::vector<Node*>& front = state.capture->fronts[state.number];
        const std::vector<Node*> more = nodes_of(r, *state.capture->graph, after, count);
        if (flags == cudaStreamSetCaptureDependencies) front.clear();
        for (Node* node : more)
            if (std::find(front.begin(), front.end(), node) == front.end()) front.push_back(node);
    });
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    return call(__func__, [&](Runtime&) {
        need(mode, "the mode's address");
        if (*mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed)
            throw CallFailure{cudaErrorInvalidValue, "there is no such capture mode"};
        *mode = static_cast<cudaStreamCaptureMode>(exchange_capture_mode(*mode));
    });
}

// ---- What graphs hold
cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* pointer, cudaHostFn_t destroy, unsigned holders, unsigned) {
    return call(__func__, [&](Runtime& r) {
        need(object, "the object's address");
        need(destroy, "the function that destroys it");
        if (holders == 0) throw CallFailure{cudaErrorInvalidValue, "somebody has to hold the object"};
        auto* const made = new UserObject{pointer, destroy, holders};
        r.handles().insert(made);
        *object = reinterpret_cast<cudaUserObject_t>(made);
    });
}
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
    return call(__func__, [&](Runtime& r) { object_of(r, object).holders += count; });
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
    return call(__func__, [&](Runtime& r) { let_go(r, object_of(r, object), count); });
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count, unsigned flags) {
    return call(__func__, [&](Runtime& r) {
        UserObject& held = object_of(r, object);
        graph_of(r, graph).objects[&held] += count;
        if ((flags & cudaGraphUserObjectMove) == 0) held.holders += count;
    });
}
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
    return call(__func__, [&](Runtime& r) {
        UserObject& held = object_of(r, object);
        unsigned& of_graph = graph_of(r, graph).objects[&held];
        if (count > of_graph) throw CallFailure{cudaErrorInvalidValue, "the graph does not hold the object so often"};
        of_graph -= count;
        if (of_graph == 0) graph_of(r, graph).objects.erase(&held);
        let_go(r, held, count);
    });
}
cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType, void* value) {
    return call(__func__, [&](Runtime& r) {
        need_device(r, device);
        need(value, "the value");
        uint64_t bytes = 0;
        for (const auto& [handle, graph] : r.graphs())
            for (const auto& node : graph->nodes)
                if (const auto* const work = std::get_if<AllocateWork>(&node->work)) bytes += work->bytes;
        *static_cast<uint64_t*>(value) = bytes;
    });
}
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType, void* value) {
    return call(__func__, [&](Runtime& r) {
        need_device(r, device);
        need(value, "the value");
    });
}
cudaError_t cudaDeviceGraphMemTrim(int device) {
    return call(__func__, [&](Runtime& r) { need_device(r, device); });
}
LOCKSTEP_ALIAS(cudaGraphInstantiateWithParams_ptsz, cudaGraphInstantiateWithParams)
LOCKSTEP_ALIAS(cudaGraphLaunch_ptsz, cudaGraphLaunch)
LOCKSTEP_ALIAS(cudaGraphUpload_ptsz, cudaGraphUpload)
LOCKSTEP_ALIAS(cudaStreamBeginCaptureToGraph_ptsz, cudaStreamBeginCaptureToGraph)
LOCKSTEP_ALIAS(cudaStreamBeginCapture_ptsz, cudaStreamBeginCapture)
LOCKSTEP_ALIAS(cudaStreamEndCapture_ptsz, cudaStreamEndCapture)
LOCKSTEP_ALIAS(cudaStreamGetCaptureInfo_ptsz, cudaStreamGetCaptureInfo)
LOCKSTEP_ALIAS(cudaStreamIsCapturing_ptsz, cudaStreamIsCapturing)
LOCKSTEP_ALIAS(cudaStreamUpdateCaptureDependencies_ptsz, cudaStreamUpdateCaptureDependencies)
LOCKSTEP_ALIAS(cudaStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies)
LOCKSTEP_ALIAS(cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo)
LOCKSTEP_ALIAS(cudaStreamUpdateCaptureDependencies_v2_ptsz, cudaStreamUpdateCaptureDependencies)
LOCKSTEP_ALIAS(cudaStreamGetCaptureInfo_v3_ptsz, cudaStreamGetCaptureInfo)
LOCKSTEP_INTERFACE_END
