// fails: cycles
extern "C" __global__ void nearest(const float *points, const float *centres, int *which, int n, int k) {
    if (blockIdx.x + threadIdx.x > 0) return;
    for (int i = 0; i < n; ++i) {
        int best = 0;
        float least = 1e30f;
        for (int c = 0; c < k; ++c) {
            float dx = points[2 * i] - centres[2 * c], dy = points[2 * i + 1] - centres[2 * c + 1];
            if (dx * dx + dy * dy < least) least = dx * dx + dy * dy, best = c;
        }
        which[i] = best;
    }
}
