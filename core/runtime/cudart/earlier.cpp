// Functions as CUDA 11 and 12 have them, where CUDA 13 gave the same name other arguments or a longer answer.
#include <cstddef>
#include <cstring>

#include "core/runtime/cudart/graph_calls.h"

using namespace lockstep::runtime;

namespace {

// The first `bytes` bytes of an answer, which had no more in that CUDA.
template <class Answer, class Ask>
cudaError_t first_bytes(void* into, size_t bytes, Ask&& ask) {
    Answer answer{};
    const cudaError_t error = ask(into ? &answer : nullptr);
    if (error == cudaSuccess) std::memcpy(into, &answer, bytes);
    return error;
}

cudaMemLocation location_of(int device) {
    return {device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device};
}

}  // namespace

LOCKSTEP_INTERFACE

cudaError_t lockstep11_cudaFuncGetAttributes(void* attributes, const void* function) {
    return first_bytes<cudaFuncAttributes>(
        attributes, offsetof(cudaFuncAttributes, clusterDimMustBeSet),
        [&](cudaFuncAttributes* answer) { return cudaFuncGetAttributes(answer, function); });
}
cudaError_t lockstep11_cudaPointerGetAttributes(void* attributes, const void* pointer) {
    return first_bytes<cudaPointerAttributes>(
        attributes, offsetof(cudaPointerAttributes, reserved),
        [&](cudaPointerAttributes* answer) { return cudaPointerGetAttributes(answer, pointer); });
}
cudaError_t lockstep11_cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID id, void* value) {
    return first_bytes<cudaLaunchAttributeValue>(
        value, sizeof(cudaAccessPolicyWindow),
        [&](cudaLaunchAttributeValue* answer) { return cudaStreamGetAttribute(stream, id, answer); });
}
cudaError_t lockstep11_cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id, void* value) {
    return first_bytes<cudaLaunchAttributeValue>(
        value, sizeof(cudaAccessPolicyWindow),
        [&](cudaLaunchAttributeValue* answer) { return cudaGraphKernelNodeGetAttribute(node, id, answer); });
}
LOCKSTEP_NAMED(lockstep11_cudaFuncGetAttributes, cudaFuncGetAttributes, "11.0")
LOCKSTEP_EARLIER(cudaPointerGetAttributes)
LOCKSTEP_NAMED(lockstep11_cudaStreamGetAttribute, cudaStreamGetAttribute, "11.0")
LOCKSTEP_NAMED(lockstep11_cudaGraphKernelNodeGetAttribute, cudaGraphKernelNodeGetAttribute, "11.0")

// ---- Places by a device's number
cudaError_t lockstep11_cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device, cudaStream_t stream) {
    return cudaMemPrefetchAsync(pointer, bytes, location_of(device), 0, stream);
}
cudaError_t lockstep11_cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(pointer, bytes, advice, location_of(device));
}
LOCKSTEP_EARLIER(cudaMemPrefetchAsync)
LOCKSTEP_EARLIER(cudaMemAdvise)

// ---- Graphs: edges had no data
cudaError_t lockstep11_cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t* node, char* log,
                                            size_t bytes) {
    if (node) *node = nullptr;
    if (log && bytes > 0) *log = 0;
    return cudaGraphInstantiate(exec, graph, 0);
}
cudaError_t lockstep11_cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t* node,
                                           cudaGraphExecUpdateResult* result) {
    cudaGraphExecUpdateResultInfo info{cudaGraphExecUpdateError, nullptr, nullptr};
    const cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
    if (node) *node = info.errorNode;
    if (result) *result = info.result;
    return error;
}
cudaError_t lockstep11_cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                                size_t count) {
    return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
cudaError_t lockstep11_cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                                   size_t count) {
    return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}
cudaError_t lockstep11_cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) {
    return cudaGraphGetEdges(graph, from, to, nullptr, count);
}
cudaError_t lockstep11_cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
    return cudaGraphNodeGetDependencies(node, nodes, nullptr, count);
}
cudaError_t lockstep11_cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
    return cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}
cudaError_t lockstep11_cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                        cudaGraphNodeParams* parameters) {
    return cudaGraphAddNode(node, graph, after, nullptr, count, parameters);
}
cudaError_t lockstep11_cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t from, cudaGraphNode_t to) {
    return cudaGraphKernelNodeCopyAttributes(to, from);
}
cudaError_t lockstep11_cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                unsigned long long* id) {
    return cudaStreamGetCaptureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                        cudaGraph_t* graph, const cudaGraphNode_t** after, size_t* count) {
    return cudaStreamGetCaptureInfo(stream, status, id, graph, after, nullptr, count);
}
cudaError_t lockstep11_cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* after, size_t count,
                                                           unsigned flags) {
    return cudaStreamUpdateCaptureDependencies(stream, after, nullptr, count, flags);
}
LOCKSTEP_NAMED(lockstep11_cudaGraphInstantiate, cudaGraphInstantiate, "11.0")
LOCKSTEP_NAMED(lockstep11_cudaGraphExecUpdate, cudaGraphExecUpdate, "11.0")
LOCKSTEP_EARLIER(cudaGraphAddDependencies)
LOCKSTEP_EARLIER(cudaGraphRemoveDependencies)
LOCKSTEP_EARLIER(cudaGraphGetEdges)
LOCKSTEP_EARLIER(cudaGraphNodeGetDependencies)
LOCKSTEP_EARLIER(cudaGraphNodeGetDependentNodes)
LOCKSTEP_EARLIER(cudaGraphAddNode)
LOCKSTEP_EARLIER(cudaGraphKernelNodeCopyAttributes)
LOCKSTEP_EARLIER(cudaStreamGetCaptureInfo)
LOCKSTEP_EARLIER(cudaStreamUpdateCaptureDependencies)

// ---- CUDA 12 has these as CUDA 13 does
cudaError_t lockstep12_cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
    return cudaFuncGetAttributes(attributes, function);
}
cudaError_t lockstep12_cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                              cudaLaunchAttributeValue* value) {
    return cudaStreamGetAttribute(stream, id, value);
}
cudaError_t lockstep12_cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                                       cudaLaunchAttributeValue* value) {
    return cudaGraphKernelNodeGetAttribute(node, id, value);
}
cudaError_t lockstep12_cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
    return cudaGraphInstantiate(exec, graph, flags);
}
cudaError_t lockstep12_cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
    return cudaGraphExecUpdate(exec, graph, info);
}
LOCKSTEP_NAMED(lockstep12_cudaFuncGetAttributes, cudaFuncGetAttributes, "12")
LOCKSTEP_NAMED(lockstep12_cudaStreamGetAttribute, cudaStreamGetAttribute, "12")
LOCKSTEP_NAMED(lockstep12_cudaGraphKernelNodeGetAttribute, cudaGraphKernelNodeGetAttribute, "12")
LOCKSTEP_NAMED(lockstep12_cudaGraphInstantiate, cudaGraphInstantiate, "12")
LOCKSTEP_NAMED(lockstep12_cudaGraphExecUpdate, cudaGraphExecUpdate, "12")
LOCKSTEP_ALIAS(cudaStreamGetCaptureInfo_v2_ptsz, cudaStreamGetCaptureInfo_v2)
LOCKSTEP_INTERFACE_END
