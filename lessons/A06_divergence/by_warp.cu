// Half of the threads take each side. Lanes take turns now; let whole warps take turns instead:
// warps 0, 2, 4 ... of a block the first side, warps 1, 3, 5 ... the second.
__global__ void by_warp(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int second = threadIdx.x & 1;
    float v = x[i];
    if (second == 0) {
        v = v + 1.0f;
        v = v * v;
    } else {
        v = v - 1.0f;
        v = v * 0.5f;
        v = fmaxf(v, 0.0f);
    }
    x[i] = v;
}
