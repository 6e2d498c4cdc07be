// The other file of the linked program: see main.cu.
#include "shared.cuh"

__constant__ float weights[4] = {0, 10, 20, 30};
extern __shared__ double dynamic_memory[];

__device__ int twice(int x) { return 2 * x; }
static __device__ int square(int x) { return x * x; }
__device__ int (*chosen)(int) = square;

static __device__ int helper(int x) { return x - 1; }
static __global__ void same_name(int* out) { out[0] = helper(own) * scale[0] + 1000 * scale[1]; }

__global__ void count(int* out) {
    dynamic_memory[0] = 1.0;
    atomicAdd(&counter, static_cast<int>(dynamic_memory[0]));
    if (threadIdx.x == 0) out[blockIdx.x] = plus_static(3);
}

int run_solver(int* scratch) {
    int result = 0;
    same_name<<<1, 1>>>(scratch);
    fill<<<1, 16>>>(scratch + 1, 5);
    CHECK(cudaMemcpy(&result, scratch, sizeof result, cudaMemcpyDeviceToHost));
    return result;
}

int host_view_of_counter() {
    int seen = 0;
    CHECK(cudaMemcpyFromSymbol(&seen, counter, sizeof seen));
    return seen;
}
