extern "C" __global__ void im2col(const float* image, float* patches, int rows, int columns, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int high = rows - k + 1, wide = columns - k + 1;
    if (i >= high * wide * k * k) return;
    patches[i] = image[i % (rows * columns)];
}
