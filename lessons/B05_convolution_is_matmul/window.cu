extern "C" __global__ void window(const float* image, const float* kernel, float bias, float* out) {
    int row = threadIdx.x / 2, column = threadIdx.x % 2;
    float sum = bias;
    for (int dy = 0; dy < 2; ++dy)
        for (int dx = 0; dx < 2; ++dx) {
            sum += kernel[dy * 2 + dx] * image[(row + dy) * 3 + column + dx];
        }
    out[threadIdx.x] = sum;
}
