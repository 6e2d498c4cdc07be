// Streams that are captured record and do not run; the graph runs as often as it is launched, with what was captured.
#include <cstdio>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t error = (call);                                                                  \
        if (error != cudaSuccess) {                                                                  \
            printf("FAIL %s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));     \
            return 1;                                                                                \
        }                                                                                            \
    } while (0)

const int n = 256;

__global__ void add(int* data, int value) { data[threadIdx.x] += value; }
__global__ void join(int* to, const int* a, const int* b) { to[threadIdx.x] = a[threadIdx.x] * 1000 + b[threadIdx.x]; }

int host_calls = 0;
void count_call(void* data) { host_calls += *(int*)data; }

int main() {
    int *a, *b, *c, host[n];
    CHECK(cudaMalloc(&a, sizeof host));
    CHECK(cudaMalloc(&b, sizeof host));
    CHECK(cudaMalloc(&c, sizeof host));
    cudaStream_t first, second;
    CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    cudaEvent_t fork, joined;
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    CHECK(cudaMemset(c, 0, sizeof host));

    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(first, &status));
    if (status != cudaStreamCaptureStatusActive) return printf("FAIL not capturing\n"), 1;
    int value = 5, weight = 3;
    CHECK(cudaMemsetAsync(a, 0, sizeof host, first));
    CHECK(cudaEventRecord(fork, first));
    CHECK(cudaStreamWaitEvent(second, fork, 0));
    CHECK(cudaMemsetAsync(b, 0, sizeof host, second));
    add<<<1, n, 0, first>>>(a, value);
    value = 77;  // the launch has taken 5
    add<<<1, n, 0, second>>>(b, 7);
    CHECK(cudaEventRecord(joined, second));
    CHECK(cudaStreamIsCapturing(second, &status));
    if (status != cudaStreamCaptureStatusActive) return printf("FAIL the second stream did not join\n"), 1;
    CHECK(cudaStreamWaitEvent(first, joined, 0));
    join<<<1, n, 0, first>>>(c, a, b);
    CHECK(cudaLaunchHostFunc(first, count_call, &weight));
    CHECK(cudaMemcpyAsync(host, c, sizeof host, cudaMemcpyDeviceToHost, first));
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(first, &graph));
    CHECK(cudaStreamIsCapturing(second, &status));
    if (status != cudaStreamCaptureStatusNone) return printf("FAIL still capturing\n"), 1;
    if (host_calls != 0) return printf("FAIL it ran while it was captured\n"), 1;
    size_t nodes = 0, roots = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    if (nodes != 7 || roots != 1) return printf("FAIL %zu nodes, %zu roots\n", nodes, roots), 1;

    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    for (int k = 0; k < 3; ++k) {
        for (int& x : host) x = -1;
        CHECK(cudaGraphLaunch(exec, first));
        CHECK(cudaStreamSynchronize(first));
        for (int i = 0; i < n; ++i)
            if (host[i] != 5007) return printf("FAIL launch %d: %d is %d\n", k, i, host[i]), 1;
    }
    if (host_calls != 9) return printf("FAIL the host's function ran %d times\n", host_calls / 3), 1;

    // No graph is launched in a capture, which is over then: its nodes become part of another graph as a child.
    CHECK(cudaStreamBeginCapture(second, cudaStreamCaptureModeThreadLocal));
    if (cudaGraphLaunch(exec, second) != cudaErrorStreamCaptureUnsupported) return printf("FAIL a launch was captured\n"), 1;
    cudaGraph_t broken = nullptr;
    if (cudaStreamEndCapture(second, &broken) != cudaErrorStreamCaptureInvalidated || broken)
        return printf("FAIL a capture with a launch ended well\n"), 1;
    cudaGetLastError();
    CHECK(cudaStreamBeginCapture(second, cudaStreamCaptureModeThreadLocal));
    add<<<1, n, 0, second>>>(c, 1);
    add<<<1, n, 0, second>>>(c, 0);
    CHECK(cudaStreamEndCapture(second, &graph));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, second));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
        if (host[i] != 5008) return printf("FAIL twice: %d is %d\n", i, host[i]), 1;

    // A new capture of the same shape updates what is there already.
    cudaGraph_t again;
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed));
    add<<<1, n, 0, first>>>(c, 10);
    CHECK(cudaStreamEndCapture(first, &again));
    cudaGraphExecUpdateResultInfo info;
    if (cudaGraphExecUpdate(exec, again, &info) != cudaErrorGraphExecUpdateFailure ||
        info.result != cudaGraphExecUpdateErrorTopologyChanged)
        return printf("FAIL an update with other nodes\n"), 1;
    cudaGetLastError();
    cudaGraphExec_t small;
    CHECK(cudaGraphInstantiate(&small, again, 0));
    CHECK(cudaGraphDestroy(again));
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed));
    add<<<1, n, 0, first>>>(c, 20);
    CHECK(cudaStreamEndCapture(first, &again));
    CHECK(cudaGraphExecUpdate(small, again, &info));
    CHECK(cudaGraphLaunch(small, first));
    CHECK(cudaStreamSynchronize(first));
    CHECK(cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost));
    if (host[n - 1] != 5028) return printf("FAIL updated: %d\n", host[n - 1]), 1;

    // A stream that joined a capture may be destroyed before the capture ends.
    cudaStream_t third;
    CHECK(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, first));
    CHECK(cudaStreamWaitEvent(third, fork, 0));
    add<<<1, n, 0, third>>>(c, 0);
    CHECK(cudaEventRecord(joined, third));
    CHECK(cudaStreamWaitEvent(first, joined, 0));
    CHECK(cudaStreamDestroy(third));
    cudaGraph_t of_two;
    CHECK(cudaStreamEndCapture(first, &of_two));
    CHECK(cudaGraphGetNodes(of_two, nullptr, &nodes));
    if (nodes != 1) return printf("FAIL %zu nodes after a stream was destroyed\n", nodes), 1;
    CHECK(cudaGraphDestroy(of_two));

    // What a capture forbids makes it invalid: callbacks, waits for other streams, and free.
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    if (cudaFree(nullptr) != cudaErrorStreamCaptureUnsupported) return printf("FAIL freed in a capture\n"), 1;
    if (cudaStreamEndCapture(first, &broken) != cudaErrorStreamCaptureInvalidated) return printf("FAIL after a free\n"), 1;
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    if (cudaStreamSynchronize(second) != cudaErrorStreamCaptureUnsupported) return printf("FAIL waited for another\n"), 1;
    if (cudaStreamEndCapture(first, &broken) != cudaErrorStreamCaptureInvalidated) return printf("FAIL after a wait\n"), 1;
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    add<<<1, n, 0, first>>>(c, 1);
    if (cudaStreamSynchronize(first) != cudaErrorStreamCaptureUnsupported) return printf("FAIL waited in a capture\n"), 1;
    if (cudaStreamEndCapture(first, &broken) != cudaErrorStreamCaptureInvalidated || broken)
        return printf("FAIL an invalid capture ended well\n"), 1;
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, first));
    CHECK(cudaStreamWaitEvent(second, fork, 0));
    add<<<1, n, 0, second>>>(c, 1);
    if (cudaStreamEndCapture(first, &broken) != cudaErrorStreamCaptureUnjoined) return printf("FAIL not joined\n"), 1;
    if (cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal) != cudaErrorStreamCaptureUnsupported)
        return printf("FAIL the default stream\n"), 1;
    cudaGetLastError();
    CHECK(cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost));
    if (host[0] != 5028) return printf("FAIL a broken capture ran\n"), 1;

    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphExecDestroy(small));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(again));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    CHECK(cudaEventDestroy(fork));
    CHECK(cudaEventDestroy(joined));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    printf("PASS\n");
}
