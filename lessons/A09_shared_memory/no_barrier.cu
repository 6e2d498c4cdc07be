__global__ void no_barrier(float *x) {
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = x[t];
    x[t] = part[127 - t];
}
