// In order into shared memory, turned on the way out.
__global__ void rotate(float *x) {
    __shared__ float part[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    part[t] = x[i];
    __syncthreads();
    x[i] = t < 3 ? part[t + 125] : part[t - 3];
}
