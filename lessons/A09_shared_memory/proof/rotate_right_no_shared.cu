// Each thread reads what it will write; all have read before the first one writes.
__global__ void rotate(float *x) {
    int t = threadIdx.x, first = blockIdx.x * 128;
    float v = x[first + (t + 125) % 128];
    __syncthreads();
    x[first + t] = v;
}
