// The exponentials are kept where the weights will be.
extern "C" __global__ void softmax_row(const float *scores, float *weights, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float *s = scores + row * columns;
    float *w = weights + row * columns, most = -INFINITY, sum = 0.0f;
    for (int j = 0; j < columns; ++j) most = fmaxf(most, s[j]);
    for (int j = 0; j < columns; ++j) sum += w[j] = expf(s[j] - most);
    for (int j = 0; j < columns; ++j) w[j] /= sum;
}
