// fails: cycles
extern "C" __global__ void rms_norm(const float *x, const float *gain, float *y, int rows, int columns) {
    if (blockIdx.x + threadIdx.x > 0) return;
    for (int row = 0; row < rows; ++row) {
        const float *from = x + row * columns;
        float sum = 0.0f;
        for (int j = 0; j < columns; ++j) sum += from[j] * from[j];
        float scale = rsqrtf(sum / columns + 1e-5f);
        for (int j = 0; j < columns; ++j) y[row * columns + j] = from[j] * scale * gain[j];
    }
}
