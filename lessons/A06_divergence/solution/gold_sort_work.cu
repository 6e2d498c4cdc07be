// The same list, but a place is counted with a ballot instead of waiting for one counter. The recipes are unrolled, since
// what counts rounds is work, too; and in units of four the second recipe is one instruction a round instead of two.
__global__ void sort_work(const int *kind, float *x) {
    __shared__ int item[256];
    __shared__ int zeros[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int base = blockIdx.x * blockDim.x;
    bool zero = kind[base + t] == 0;
    unsigned mask = __ballot_sync(0xffffffff, zero);
    if (lane == 0) zeros[warp] = __popc(mask);
    __syncthreads();
    int before = 0;
    for (int w = 0; w < warp; ++w) before += zeros[w];
    before += __popc(mask & ((1u << lane) - 1));
    item[zero ? before : 255 - (t - before)] = t;
    int all = 0;
#pragma unroll
    for (int w = 0; w < 8; ++w) all += zeros[w];
    __syncthreads();
    int i = base + item[t];
    float v = x[i];
    if (t < all) {
#pragma unroll 50
        for (int k = 0; k < 200; ++k) v = v * 0.5f + 1.0f;
    } else {
        v = v * 0.25f;
#pragma unroll 50
        for (int k = 0; k < 200; ++k) v = v * v - 0.5f;
        v = v * 4.0f;
    }
    x[i] = v;
}
