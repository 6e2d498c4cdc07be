// fails: cycles
extern "C" __global__ void softmax_row(const float *scores, float *weights, int rows, int columns) {
    if (blockIdx.x + threadIdx.x > 0) return;
    for (int row = 0; row < rows; ++row) {
        const float *s = scores + row * columns;
        float most = s[0], sum = 0.0f;
        for (int j = 1; j < columns; ++j) most = fmaxf(most, s[j]);
        for (int j = 0; j < columns; ++j) sum += expf(s[j] - most);
        for (int j = 0; j < columns; ++j) weights[row * columns + j] = expf(s[j] - most) / sum;
    }
}
