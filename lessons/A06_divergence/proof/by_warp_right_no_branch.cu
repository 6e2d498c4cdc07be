// Both sides are computed and one is taken: no branch, so none that splits a warp.
__global__ void by_warp(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i], up = v + 1.0f, down = fmaxf((v - 1.0f) * 0.5f, 0.0f);
    x[i] = threadIdx.x % 64 < 32 ? up * up : down;
}
