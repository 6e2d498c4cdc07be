// A square matrix of floats transposed: neighbours read together, or written together. Grid (n / 16, n / 16), block (16, 16)
extern "C" __global__ void transpose_reads_together(const float* in, float* out, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) out[x * n + y] = in[y * n + x];
}
extern "C" __global__ void transpose_writes_together(const float* in, float* out, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) out[y * n + x] = in[x * n + y];
}
