// fails: outputs
extern "C" __global__ void nearest(const float *points, const float *centres, int *which, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int best = 0;
    for (int c = 1; c < k; ++c)
        if (fabsf(points[2 * i] - centres[2 * c]) < fabsf(points[2 * i] - centres[2 * best])) best = c;
    which[i] = best;
}
