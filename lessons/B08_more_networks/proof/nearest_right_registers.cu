// The point stays in registers.
extern "C" __global__ void nearest(const float *points, const float *centres, int *which, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float2 own = reinterpret_cast<const float2 *>(points)[i];
    int best = 0;
    float least = INFINITY;
    for (int c = 0; c < k; ++c) {
        const float2 there = reinterpret_cast<const float2 *>(centres)[c];
        const float dx = own.x - there.x, dy = own.y - there.y, far = dx * dx + dy * dy;
        if (far < least) least = far, best = c;
    }
    which[i] = best;
}
