// A program of two files whose device code needs each other: functions, variables, constants, pointers, templates, and
// names that both have for themselves. Built with --rdc from main.cu and solver.cu.
#include "shared.cuh"

__device__ int counter = 7;
extern __shared__ int dynamic_memory[];

static __device__ int helper(int x) { return x + 1; }
static __global__ void same_name(int* out) { out[0] = helper(own) * scale[0]; }

__global__ void from_main(int* out) {
    dynamic_memory[threadIdx.x] = twice(threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = dynamic_memory[31 - threadIdx.x] + helper(thrice(2));
    if (threadIdx.x == 0) atomicAdd(&counter, 1);
}

__global__ void by_pointer(int* out) { out[threadIdx.x] = chosen(threadIdx.x) + static_cast<int>(weights[threadIdx.x % 4]); }

int main() {
    int *d_out, out[32];
    CHECK(cudaMalloc(&d_out, sizeof out));
    from_main<<<1, 32, 32 * sizeof(int)>>>(d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; ++i) EXPECT(out[i] == 2 * (31 - i) + 7);

    by_pointer<<<1, 32>>>(d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; ++i) EXPECT(out[i] == i * i + 10 * (i % 4));

    fill<<<1, 32>>>(d_out, 41);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    EXPECT(out[0] == 42 && out[31] == 42);

    // What both files have under the same name is two things.
    const int factors[2] = {5, 5};
    CHECK(cudaMemcpyToSymbol(scale, factors, sizeof factors));
    same_name<<<1, 1>>>(d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(out[0] == 505);
    EXPECT(run_solver(d_out) == 1099);

    count<<<2, 32, sizeof(double)>>>(d_out);  // a kernel of the other file
    CHECK(cudaDeviceSynchronize());
    EXPECT(host_view_of_counter() == 7 + 1 + 64);
    int seen = 0;
    CHECK(cudaMemcpyFromSymbol(&seen, counter, sizeof seen));
    EXPECT(seen == 72);
    CHECK(cudaFree(d_out));
    return pass();
}
