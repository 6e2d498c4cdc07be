// fails: outputs
extern "C" __global__ void any_width(const float *image, const float *kernel, float *out, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (rows - 1) * (columns - 1)) return;
    int row = i / 4, column = i % 4;
    float sum = 0.0f;
    for (int dy = 0; dy < 2; ++dy)
        for (int dx = 0; dx < 2; ++dx) sum += kernel[dy * 2 + dx] * image[(row + dy) * 5 + column + dx];
    out[i] = sum;
}
