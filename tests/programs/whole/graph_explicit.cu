// Graphs built node by node: every kind of node, edges, copies, changes before and after they are made executable.
#include <cstdio>
#include <cstring>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t error = (call);                                                                  \
        if (error != cudaSuccess) {                                                                  \
            printf("FAIL %s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));     \
            return 1;                                                                                \
        }                                                                                            \
    } while (0)

const int n = 64;

__device__ int constant_of_device = 2;

__global__ void scale(int* data, int by) { data[threadIdx.x] *= by * constant_of_device; }
__global__ void sum(const int* data, int* total, int offset) {
    if (threadIdx.x == 0) {
        int result = offset;
        for (int i = 0; i < n; ++i) result += data[i];
        *total = result;
    }
}

void add_one(void* data) { ++*(int*)data; }

int main() {
    int *data, *total, source[n], result = 0, calls = 0, two = 2;
    CHECK(cudaMalloc(&data, sizeof source));
    CHECK(cudaMalloc(&total, sizeof(int)));
    for (int i = 0; i < n; ++i) source[i] = i;

    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t in, symbol, kernel, reduce, out, host, empty, clear;
    CHECK(cudaGraphAddMemcpyNode1D(&in, graph, nullptr, 0, data, source, sizeof source, cudaMemcpyHostToDevice));
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&symbol, graph, nullptr, 0, constant_of_device, &two, sizeof two, 0,
                                         cudaMemcpyHostToDevice));
    cudaMemsetParams fill;
    memset(&fill, 0, sizeof fill);
    fill.dst = total;
    fill.value = 123456789;
    fill.elementSize = 4;
    fill.width = 1;
    fill.height = 1;
    CHECK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill));
    cudaGraphNode_t before[] = {in, symbol};
    CHECK(cudaGraphAddEmptyNode(&empty, graph, before, 2));
    int by = 3, offset = 100;
    void* scale_arguments[] = {&data, &by};
    cudaKernelNodeParams launch;
    memset(&launch, 0, sizeof launch);
    launch.func = (void*)scale;
    launch.gridDim = dim3(1);
    launch.blockDim = dim3(n);
    launch.kernelParams = scale_arguments;
    CHECK(cudaGraphAddKernelNode(&kernel, graph, &empty, 1, &launch));
    by = 99;  // the node has its own copy
    void* sum_arguments[] = {&data, &total, &offset};
    launch.func = (void*)sum;
    launch.kernelParams = sum_arguments;
    CHECK(cudaGraphAddKernelNode(&reduce, graph, nullptr, 0, &launch));
    cudaMemcpy3DParms copy;
    memset(&copy, 0, sizeof copy);
    copy.srcPtr = make_cudaPitchedPtr(total, sizeof(int), sizeof(int), 1);
    copy.dstPtr = make_cudaPitchedPtr(&result, sizeof(int), sizeof(int), 1);
    copy.extent = make_cudaExtent(sizeof(int), 1, 1);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaGraphAddMemcpyNode(&out, graph, &reduce, 1, &copy));
    cudaHostNodeParams call;
    call.fn = add_one;
    call.userData = &calls;
    CHECK(cudaGraphAddHostNode(&host, graph, &out, 1, &call));
    cudaGraphNode_t from[] = {kernel, clear}, to[] = {reduce, reduce};
    CHECK(cudaGraphAddDependencies(graph, from, to, nullptr, 2));

    size_t count = 0;
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    if (count != 7) return printf("FAIL %zu edges\n", count), 1;
    CHECK(cudaGraphNodeGetDependencies(reduce, nullptr, nullptr, &count));
    if (count != 2) return printf("FAIL %zu dependencies\n", count), 1;
    cudaGraphNode_t dependents[4];
    count = 4;
    CHECK(cudaGraphNodeGetDependentNodes(reduce, dependents, nullptr, &count));
    if (count != 1 || dependents[0] != out) return printf("FAIL dependents\n"), 1;
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(clear, &type));
    if (type != cudaGraphNodeTypeMemset) return printf("FAIL type\n"), 1;
    cudaKernelNodeParams asked;
    CHECK(cudaGraphKernelNodeGetParams(kernel, &asked));
    if (asked.func != (void*)scale || asked.blockDim.x != n || *(int*)asked.kernelParams[1] != 3)
        return printf("FAIL parameters\n"), 1;
    cudaMemcpy3DParms told;
    CHECK(cudaGraphMemcpyNodeGetParams(in, &told));
    if (told.dstPtr.ptr != data || told.extent.width != sizeof source) return printf("FAIL copy parameters\n"), 1;

    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaGraphUpload(exec, stream));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    const int triangle = n * (n - 1) / 2;
    if (result != 100 + 6 * triangle || calls != 1) return printf("FAIL result %d, calls %d\n", result, calls), 1;

    // The executable graph changes alone; then a node of it is left out.
    offset = 200;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, reduce, &launch));
    source[0] = 10;
    two = 1;
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    if (result != 200 + 3 * (triangle + 10)) return printf("FAIL changed result %d\n", result), 1;
    CHECK(cudaGraphNodeSetEnabled(exec, kernel, 0));
    unsigned enabled = 7;
    CHECK(cudaGraphNodeGetEnabled(exec, kernel, &enabled));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    if (enabled != 0 || result != 200 + triangle + 10) return printf("FAIL without the kernel: %d\n", result), 1;

    // A copy of the graph as a part of another one, between two events.
    cudaGraph_t copied, outer;
    CHECK(cudaGraphClone(&copied, graph));
    cudaGraphNode_t twin;
    CHECK(cudaGraphNodeFindInClone(&twin, host, copied));
    call.userData = &two;
    CHECK(cudaGraphHostNodeSetParams(twin, &call));
    CHECK(cudaGraphCreate(&outer, 0));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    cudaGraphNode_t begun, child, ended;
    CHECK(cudaGraphAddEventRecordNode(&begun, outer, nullptr, 0, begin));
    CHECK(cudaGraphAddChildGraphNode(&child, outer, &begun, 1, copied));
    CHECK(cudaGraphAddEventRecordNode(&ended, outer, &child, 1, end));
    CHECK(cudaGraphDestroy(copied));
    cudaGraph_t inside;
    CHECK(cudaGraphChildGraphNodeGetGraph(child, &inside));
    CHECK(cudaGraphGetNodes(inside, nullptr, &count));
    if (count != 8) return printf("FAIL the child has %zu nodes\n", count), 1;
    cudaGraphExec_t nested;
    CHECK(cudaGraphInstantiateWithFlags(&nested, outer, 0));
    CHECK(cudaGraphLaunch(nested, stream));
    CHECK(cudaEventSynchronize(end));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    if (milliseconds <= 0 || milliseconds > 10) return printf("FAIL %f ms\n", milliseconds), 1;
    if (two != 2 || calls != 3 || result != 100 + 3 * (triangle + 10))
        return printf("FAIL nested: %d %d %d\n", two, calls, result), 1;

    // Memory that belongs to a graph, by the general call.
    cudaGraph_t own;
    CHECK(cudaGraphCreate(&own, 0));
    cudaGraphNodeParams general = {cudaGraphNodeTypeMemAlloc};
    general.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    general.alloc.poolProps.location.type = cudaMemLocationTypeDevice;
    general.alloc.bytesize = sizeof source;
    cudaGraphNode_t allocate, write, release;
    CHECK(cudaGraphAddNode(&allocate, own, nullptr, nullptr, 0, &general));
    void* memory = general.alloc.dptr;
    memset(&fill, 0, sizeof fill);
    fill.dst = memory;
    fill.value = 7;
    fill.elementSize = 1;
    fill.width = sizeof source;
    fill.height = 1;
    CHECK(cudaGraphAddMemsetNode(&write, own, &allocate, 1, &fill));
    cudaGraphNode_t read;
    CHECK(cudaGraphAddMemcpyNode1D(&read, own, &write, 1, source, memory, sizeof source, cudaMemcpyDeviceToHost));
    CHECK(cudaGraphAddMemFreeNode(&release, own, &read, 1, memory));
    cudaGraphExec_t of_memory;
    CHECK(cudaGraphInstantiate(&of_memory, own, 0));
    CHECK(cudaGraphLaunch(of_memory, stream));
    CHECK(cudaStreamSynchronize(stream));
    if (source[n - 1] != 0x07070707) return printf("FAIL memory of a graph: %x\n", source[n - 1]), 1;

    // A circle is no graph, and the picture of one can be written.
    CHECK(cudaGraphAddDependencies(own, &read, &write, nullptr, 1));
    cudaGraphExec_t circle;
    if (cudaGraphInstantiate(&circle, own, 0) == cudaSuccess) return printf("FAIL a circle\n"), 1;
    // Nothing can be taken out of a graph that owns memory.
    if (cudaGraphRemoveDependencies(own, &read, &write, nullptr, 1) != cudaErrorNotSupported)
        return printf("FAIL an edge of a graph with memory was removed\n"), 1;
    if (cudaGraphDestroyNode(release) != cudaErrorNotSupported) return printf("FAIL a node of a graph with memory was destroyed\n"), 1;
    CHECK(cudaGraphDebugDotPrint(graph, "/dev/null", 0));
    cudaGetLastError();

    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphExecDestroy(nested));
    CHECK(cudaGraphExecDestroy(of_memory));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(outer));
    CHECK(cudaGraphDestroy(own));
    if (cudaGraphDestroy(own) == cudaSuccess) return printf("FAIL destroyed twice\n"), 1;
    CHECK(cudaFree(data));
    CHECK(cudaFree(total));
    printf("PASS\n");
}
