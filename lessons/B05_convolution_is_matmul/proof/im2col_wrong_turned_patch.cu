// fails: outputs
extern "C" __global__ void im2col(const float *image, float *patches, int rows, int columns, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int high = rows - k + 1, wide = columns - k + 1;
    if (i >= high * wide * k * k) return;
    int window = i / (k * k), element = i % (k * k);
    patches[i] = image[(window / wide + element % k) * columns + window % wide + element / k];
}
