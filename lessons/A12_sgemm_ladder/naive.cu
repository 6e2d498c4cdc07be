// Neighbouring threads take neighbouring rows of C = A B.
__global__ void naive(const float *a, const float *b, float *c, int n, int depth) {
    int row = blockIdx.x * 32 + threadIdx.x, column = blockIdx.y * 32 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < depth; ++k) {
        float x = a[row * depth + k];
        float y = b[k * n + column];
        sum += x * y;
    }
    c[row * n + column] = sum;
}
