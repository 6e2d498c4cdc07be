// Each thread follows a chain of loads: where the next one is stands in what the last one brought.
__global__ void follow(const int* next, int* last, int steps) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < steps; ++i) at = next[at];
    last[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
