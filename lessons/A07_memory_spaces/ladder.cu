__constant__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 0};

// One warp walks through each memory in turn: every address is the value that the load before it brought.
__global__ void ladder(const int *ring, const int *far, int *out) {
    __shared__ int tile[32];
    tile[threadIdx.x] = (threadIdx.x + 1) % 32;
    int kept[32];
#pragma unroll 1
    for (int i = 0; i < 32; ++i) kept[i] = (i + ring[i]) % 32;
    __syncthreads();
    int r = ring[0];
#pragma unroll 1
    for (int k = 0; k < 16; ++k)
        r = r * 3 + 1;
    int c = 0;
#pragma unroll 1
    for (int k = 0; k < 16; ++k)
        c = table[c];
    int s = 0;
#pragma unroll 1
    for (int k = 0; k < 16; ++k)
        s = tile[s];
    int l = 0;
#pragma unroll 1
    for (int k = 0; k < 16; ++k)
        l = kept[l];
    int n = 0;
#pragma unroll 1
    for (int k = 0; k < 16; ++k)
        n = __ldg(ring + n);
    int g = 0;
#pragma unroll 1
    for (int k = 0; k < 16; ++k)
        g = __ldcg(ring + g);
    int f = 0;
#pragma unroll 1
    for (int k = 0; k < 16; ++k)
        f = far[f] + 1024;
    out[threadIdx.x] = r + c + s + l + n + g + f;
}
