// fails: cycles
extern "C" __global__ void im2col(const float *image, float *patches, int rows, int columns, int k) {
    if (blockIdx.x + threadIdx.x > 0) return;
    int high = rows - k + 1, wide = columns - k + 1;
    for (int i = 0; i < high * wide * k * k; ++i) {
        int window = i / (k * k), element = i % (k * k);
        patches[i] = image[(window / wide + element / k) * columns + window % wide + element % k];
    }
}
