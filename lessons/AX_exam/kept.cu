__global__ void kept(const float *in, float *out) {
    __shared__ float mine[5120];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    for (int k = 0; k < 4; ++k) mine[k * 1280 + t] = in[i];
    __syncthreads();
    out[i] = mine[t] + mine[1280 + t];
}
