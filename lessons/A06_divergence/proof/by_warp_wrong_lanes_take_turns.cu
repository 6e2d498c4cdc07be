// fails: lanes_per_issue
__global__ void by_warp(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int turn = 0; turn < 2; ++turn) {
        if ((threadIdx.x & 1) != turn) continue;
        float v = x[i];
        if ((threadIdx.x / 32) & 1)
            v = fmaxf((v - 1.0f) * 0.5f, 0.0f);
        else
            v = (v + 1.0f) * (v + 1.0f);
        x[i] = v;
    }
}
