// One walk finds both: the sum is scaled whenever a larger score comes.
extern "C" __global__ void softmax_row(const float *scores, float *weights, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float *s = scores + row * columns;
    float most = s[0], sum = 1.0f;
    for (int j = 1; j < columns; ++j) {
        if (s[j] > most) {
            sum *= expf(most - s[j]);
            most = s[j];
        }
        sum += expf(s[j] - most);
    }
    for (int j = 0; j < columns; ++j) weights[row * columns + j] = expf(s[j] - most) / sum;
}
