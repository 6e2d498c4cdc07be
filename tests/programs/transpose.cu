// out = in transposed, by padded tiles of 32 x 32; and a five-point stencil on a halo of shared memory.
extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += blockDim.y)
        if (x < columns && y + k < rows) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * columns + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += blockDim.y)
        if (x < rows && y + k < columns) out[(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
}

extern "C" __global__ void stencil(const double* in, double* out, int nx, int ny) {
    __shared__ double s[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    auto at = [&](int i, int j) { return i >= 0 && i < nx && j >= 0 && j < ny ? in[j * nx + i] : 0.0; };
    int sx = threadIdx.x + 1, sy = threadIdx.y + 1;
    s[sy][sx] = at(x, y);
    if (threadIdx.x == 0) s[sy][0] = at(x - 1, y);
    if (threadIdx.x == 31) s[sy][33] = at(x + 1, y);
    if (threadIdx.y == 0) s[0][sx] = at(x, y - 1);
    if (threadIdx.y == 7) s[9][sx] = at(x, y + 1);
    __syncthreads();
    if (x < nx && y < ny) out[y * nx + x] = 0.25 * (s[sy][sx - 1] + s[sy][sx + 1] + s[sy - 1][sx] + s[sy + 1][sx]) - s[sy][sx];
}
