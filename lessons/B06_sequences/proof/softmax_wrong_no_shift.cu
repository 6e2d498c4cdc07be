// fails: outputs
extern "C" __global__ void softmax_row(const float *scores, float *weights, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float *s = scores + row * columns;
    float sum = 0.0f;
    for (int j = 0; j < columns; ++j) sum += expf(s[j]);
    for (int j = 0; j < columns; ++j) weights[row * columns + j] = expf(s[j]) / sum;
}
