extern "C" __global__ void patches(const float* image, float* columns) {
    int window = threadIdx.x / 4, element = threadIdx.x % 4;
    int row = window / 2 + element / 2, column = window % 2 + element % 2;
    columns[threadIdx.x] = image[row * 3 + column];
}
