// fails: outputs
extern "C" __global__ void nearest(const float *points, const float *centres, int *which, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int best = 0;
    float most = -1;
    for (int c = 0; c < k; ++c) {
        float dx = points[2 * i] - centres[2 * c], dy = points[2 * i + 1] - centres[2 * c + 1];
        if (dx * dx + dy * dy > most) most = dx * dx + dy * dy, best = c;
    }
    which[i] = best;
}
