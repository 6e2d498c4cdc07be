// From the last column to the first.
extern "C" __global__ void rms_norm(const float *x, const float *gain, float *y, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float *from = x + row * columns;
    float *to = y + row * columns, sum = 0.0f;
    for (int j = columns - 1; j >= 0; --j) sum += from[j] * from[j];
    float scale = rsqrtf(sum / columns + 1e-5f);
    for (int j = columns - 1; j >= 0; --j) to[j] = gain[j] * scale * from[j];
}
