__global__ void reverse(float *x) {
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = x[t];
    __syncthreads();
    x[t] = part[127 - t];
}
