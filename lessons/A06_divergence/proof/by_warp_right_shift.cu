__global__ void by_warp(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (threadIdx.x >> 5 & 1)
        v = fmaxf((v - 1.0f) * 0.5f, 0.0f);
    else
        v = (v + 1.0f) * (v + 1.0f);
    x[i] = v;
}
