// fails: outputs
__global__ void add_bias(const float *x, const float *bias, float *y, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] + bias[i % columns];
}
