// Divisions by subtraction of what is known.
extern "C" __global__ void im2col(const float *image, float *patches, int rows, int columns, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, size = k * k, wide = columns - k + 1;
    int window = i / size, element = i - window * size, dy = element / k, dx = element - dy * k;
    int row = window / wide, column = window - row * wide;
    if (row + k <= rows) patches[i] = __ldg(&image[(row + dy) * columns + column + dx]);
}
