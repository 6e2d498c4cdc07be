// Neighbouring threads take neighbouring columns of C.
__global__ void coalesced(const float *a, const float *b, float *c, int n, int depth) {
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < depth; ++k) {
        float x = a[row * depth + k];
        float y = b[k * n + column];
        sum += x * y;
    }
    c[row * n + column] = sum;
}
