// The other way round: a thread reads one pixel, and puts it into every window that holds it, k x k of them at most.
extern "C" __global__ void im2col(const float* image, float* patches, int rows, int columns, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int high = rows - k + 1, wide = columns - k + 1;
    for (; i < rows * columns; i += gridDim.x * blockDim.x) {
        float pixel = image[i];
        int row = i / columns, column = i % columns;
        for (int r = 0; r < k; ++r)
            for (int c = 0; c < k; ++c) {
                int top = row - r, left = column - c;
                if (top < 0 || top >= high || left < 0 || left >= wide) continue;
                patches[(top * wide + left) * k * k + r * k + c] = pixel;
            }
    }
}
