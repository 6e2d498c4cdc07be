// Right for any grid.
extern "C" __global__ void im2col(const float *image, float *patches, int rows, int columns, int k) {
    const int wide = columns - k + 1, all = (rows - k + 1) * wide * k * k;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += gridDim.x * blockDim.x) {
        const int dx = i % k, dy = i / k % k, column = i / (k * k) % wide, row = i / (k * k) / wide;
        patches[i] = image[(row + dy) * columns + column + dx];
    }
}
