// fails: outputs
__global__ void axpy(float a, const float *x, float *y, int n) {
    int i = min(blockIdx.x * blockDim.x + threadIdx.x, n - 1);
    y[i] = a * x[i] + y[i];
}
