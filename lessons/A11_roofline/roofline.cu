// One addition for two floats read and one written.
__global__ void vector_add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

// Five neighbours added: four additions for each float of the result. `in` has n + 4 floats.
__global__ void window_sum(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + in[i + 1] + in[i + 2] + in[i + 3] + in[i + 4];
}

// A polynomial of so many terms: two operations a term, one float read and one written whatever the terms.
__global__ void polynomial(const float *in, float *out, int n, int terms) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i], y = 0.5f;
#pragma unroll 8
    for (int k = 0; k < terms; ++k) y = y * x + 0.25f;
    out[i] = y;
}

// C = A B, n x n, a tile of 16 x 16 at a time through shared memory. n is a multiple of 16.
__global__ void sgemm(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[16][16], tb[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int k0 = 0; k0 < n; k0 += 16) {
        ta[ty][tx] = a[row * n + k0 + tx];
        tb[ty][tx] = b[(k0 + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += ta[ty][k] * tb[k][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
