// Every thread takes its own elements, a whole grid apart, so that any n and any grid will do.
__global__ void scale(const float *x, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 2.0f * x[i] + 1.0f;
}
