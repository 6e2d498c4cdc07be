extern "C" __global__ void nearest(const float* points, const float* centres, int* which, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    which[i] = 0;
}
