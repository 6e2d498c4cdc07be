// From the last centre to the first: of two as near, the later visit wins.
extern "C" __global__ void nearest(const float *points, const float *centres, int *which, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int best = k - 1;
    float least = INFINITY;
    for (int c = k - 1; c >= 0; --c) {
        float dx = points[2 * i] - centres[2 * c], dy = points[2 * i + 1] - centres[2 * c + 1];
        float distance = dx * dx + dy * dy;
        if (distance > least) continue;
        least = distance;
        best = c;
    }
    which[i] = best;
}
