// What the calls about graphs share: handles, and the work of a node from what a program gives for it.
#pragma once
#include <vector>

#include "core/runtime/cudart/call.h"

namespace lockstep::runtime {

Graph& graph_of(Runtime& r, cudaGraph_t handle);
Node& node_of(Runtime& r, cudaGraphNode_t handle);
GraphExec& exec_of(Runtime& r, cudaGraphExec_t handle);
std::vector<Node*> nodes_of(Runtime& r, const Graph& graph, const cudaGraphNode_t* handles, size_t count);
inline cudaGraph_t handle_of(Graph* graph) {
    return reinterpret_cast<cudaGraph_t>(graph);
}
inline cudaGraphNode_t handle_of(Node* node) {
    return reinterpret_cast<cudaGraphNode_t>(node);
}

void add_node(Runtime& r, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, Work work);
void set_work(Runtime& r, Node& node, Work work);  // of the kind that it has

Work kernel_node(Runtime& r, const cudaKernelNodeParams* parameters);
Work memset_node(const cudaMemsetParams* parameters);
Work host_node(const cudaHostNodeParams* parameters);
Work copy_node(Runtime& r, const cudaMemcpy3DParms* parameters);
Work copy_node(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
Work copy_to_symbol_node(Runtime& r, const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind);
Work copy_from_symbol_node(Runtime& r, void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind);
Work child_node(Runtime& r, cudaGraph_t child);
Work node_of_parameters(Runtime& r, Graph& graph, cudaGraphNodeParams* parameters);

}  // namespace lockstep::runtime
