// Each block takes one run of neighbours, in one walk.
__global__ void two_passes(const float *x, const float *z, float *y, int n) {
    int run = (n + gridDim.x - 1) / gridDim.x, begin = blockIdx.x * run, end = min(begin + run, n);
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x) y[i] = (3.0f * x[i] + 1.0f) * z[i];
}
