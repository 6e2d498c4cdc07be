__constant__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 0};
// One warp walks through each memory in turn: every address is the value that the load before it brought.
__global__ void ladder(const int *__restrict__ ring, const int *wide, const int *far, int *out) {
    __shared__ int tile[32];
    int kept[32], lane = threadIdx.x, seen = 0;
    tile[lane] = (lane + 1) % 32;
#pragma unroll 1
    for (int i = 0; i < 32; ++i)
        kept[i] = ring[i];
#pragma unroll 4
    for (int k = 0; k < 64; ++k)  // brings 256 KiB into L2: more than L1 can keep
        seen += wide[(32 * k + lane) * 32];
    __syncthreads();
    float r = seen;
    int c = 0, s = 0, l = 0, n = 0, g = 0, f = 0;
#pragma unroll 1
    for (int k = 0; k < 16; ++k)
        r = r * 0.5f + 1.0f;
#pragma unroll 1
    for (int k = 0; k < 16; ++k)
        c = table[c];
#pragma unroll 1
    for (int k = 0; k < 16; ++k)
        s = tile[s];
#pragma unroll 1
    for (int k = 0; k < 16; ++k)
        l = kept[l];
#pragma unroll 1
    for (int k = 0; k < 16; ++k)
        n = ring[n + lane / 32];
#pragma unroll 1
    for (int k = 0; k < 16; ++k)
        g = wide[g] + 32;
#pragma unroll 1
    for (int k = 0; k < 16; ++k)
        f = far[f] + 1024;
    out[lane] = static_cast<int>(r) + c + s + l + n + g + f;
}
