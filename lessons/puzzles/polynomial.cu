// A value read, then nothing but arithmetic, in four chains that do not wait for each other.
__global__ void polynomial(const float* x, float* y, int terms) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i], a = v, b = v + 1, c = v + 2, d = v + 3;
    for (int k = 0; k < terms; ++k) {
        a = a * v + 0.5f;
        b = b * v + 0.25f;
        c = c * v + 0.125f;
        d = d * v + 0.0625f;
    }
    y[i] = a + b + c + d;
}
