// Each thread finds the nearest of k centres for one point.
__global__ void nearest(const int *px, const int *py, const int *cx, const int *cy, int *own, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int best = 0, least = 0x7fffffff;
    for (int j = 0; j < k; ++j) {
        int dx = px[i] - cx[j], dy = py[i] - cy[j];
        int far = dx * dx + dy * dy;
        if (far < least) least = far, best = j;
    }
    own[i] = best;
}
