// fails: outputs
__global__ void four_chains(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = x[4 * i], b = x[4 * i + 1], c = x[4 * i + 2], d = x[4 * i + 3];
#pragma unroll 8
    for (int k = 0; k < 256; ++k) {
        a = a * 0.999f + 1.0f;
        b = b * 0.999f + 1.0f;
        c = c * 0.999f + 1.0f;
        d = d * 0.999f + 1.0f;
    }
    x[4 * i] = a;
    x[4 * i + 1] = b;
    x[4 * i + 2] = c;
    x[4 * i + 3] = d;
}
