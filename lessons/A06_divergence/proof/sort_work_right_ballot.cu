// Ballots count instead of atomics: each warp its own kinds, one warp the warps.
__global__ void sort_work(const int *kind, float *x) {
    __shared__ int item[256];
    __shared__ int zeros[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, base = blockIdx.x * 256;
    bool zero = kind[base + t] == 0;
    unsigned ballot = __ballot_sync(0xffffffffu, zero);
    if (lane == 0) zeros[warp] = __popc(ballot);
    __syncthreads();
    int before = 0, all = 0;
    for (int w = 0; w < 8; ++w) {
        if (w < warp) before += zeros[w];
        all += zeros[w];
    }
    int mine = __popc(ballot & ((1u << lane) - 1));
    int place = zero ? before + mine : all + (warp * 32 - before) + (lane - mine);
    item[place] = t;
    __syncthreads();
    int i = base + item[t];
    float v = x[i];
    if (kind[i] == 0) {
        for (int k = 0; k < 200; ++k) v = v * 0.5f + 1.0f;
    } else {
        for (int k = 0; k < 200; ++k) v = v * v * 0.25f - 2.0f;
    }
    x[i] = v;
}
