// fails: outputs
extern "C" __global__ void rms_norm(const float *x, const float *gain, float *y, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float *from = x + row * columns;
    float sum = 0.0f;
    for (int j = 0; j < columns; ++j) sum += from[j] * from[j];
    float scale = rsqrtf(sum + 1e-5f);
    for (int j = 0; j < columns; ++j) y[row * columns + j] = from[j] * scale * gain[j];
}
