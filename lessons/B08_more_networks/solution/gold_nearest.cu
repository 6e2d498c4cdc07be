// Each lane fetches a centre of its own, and all lanes hear of it by a shuffle: a warp asks for 32 centres at once.
extern "C" __global__ void nearest(const float* __restrict__ points, const float* __restrict__ centres,
                                   int* __restrict__ which, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x;
    float2 own = i < n ? ((const float2*)points)[i] : make_float2(0.0f, 0.0f);
    int best = 0;
    float least = 1e30f;
    for (int from = 0; from < k; from += 32) {
        float2 mine = from + lane < k ? ((const float2*)centres)[from + lane] : make_float2(0.0f, 0.0f);
        int many = min(32, k - from);
#pragma unroll 8
        for (int c = 0; c < many; ++c) {
            float dx = own.x - __shfl_sync(0xffffffff, mine.x, c), dy = own.y - __shfl_sync(0xffffffff, mine.y, c);
            float distance = dx * dx + dy * dy;
            if (distance < least) {
                least = distance;
                best = from + c;
            }
        }
    }
    if (i < n) which[i] = best;
}
