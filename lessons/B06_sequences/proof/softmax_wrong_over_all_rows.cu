// fails: outputs
extern "C" __global__ void softmax_row(const float *scores, float *weights, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float most = scores[0], sum = 0.0f;
    for (int j = 1; j < rows * columns; ++j) most = fmaxf(most, scores[j]);
    for (int j = 0; j < rows * columns; ++j) sum += expf(scores[j] - most);
    for (int j = 0; j < columns; ++j) weights[row * columns + j] = expf(scores[row * columns + j] - most) / sum;
}
