// c = a + b: 12 bytes move for every addition.
extern "C" __global__ void stream(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
