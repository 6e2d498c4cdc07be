// fails: cycles
extern "C" __global__ void any_width(const float *image, const float *kernel, float *out, int rows, int columns) {
    if (blockIdx.x + threadIdx.x > 0) return;
    int wide = columns - 1;
    for (int i = 0; i < (rows - 1) * wide; ++i) {
        float sum = 0.0f;
        for (int k = 0; k < 4; ++k) sum += kernel[k] * image[(i / wide + k / 2) * columns + i % wide + k % 2];
        out[i] = sum;
    }
}
