// Slow kernels and what becomes of each when the one thing is mended that the verdict names: advice_test.cpp holds the gain
// that idealising promises against the gain that the change brings.

// Bank conflicts: columns of a tile whose rows are 32 words long; then 33.
__global__ void transpose_conflicts(const float *in, float *out, int n) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int j = threadIdx.y; j < 32; j += 8) tile[j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    int u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32;
    for (int k = 0; k < 4; ++k)
        for (int j = threadIdx.y; j < 32; j += 8) out[(v + j) * n + u] = tile[threadIdx.x][j] + k * tile[threadIdx.x][j ^ k];
}
__global__ void transpose_padded(const float *in, float *out, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int j = threadIdx.y; j < 32; j += 8) tile[j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    int u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32;
    for (int k = 0; k < 4; ++k)
        for (int j = threadIdx.y; j < 32; j += 8) out[(v + j) * n + u] = tile[threadIdx.x][j] + k * tile[threadIdx.x][j ^ k];
}

// Records of eight floats of which two are wanted; then an array for each field.
__global__ void move_records(float *p, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[8 * i] += dt * p[8 * i + 3];
}
__global__ void move_fields(float *p, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += dt * p[3 * n + i];
}

// Double literals in a float kernel; then float ones.
__global__ void wave_double(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int k = 0; k < 16; ++k) v = 0.5 * v * v + 0.25;
    x[i] = v;
}
__global__ void wave_float(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int k = 0; k < 16; ++k) v = 0.5f * v * v + 0.25f;
    x[i] = v;
}

// Four counters for everybody; then a copy of them for each of 8,192 threads of the grid.
__global__ void count_together(const unsigned char *px, unsigned *bins, int n) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) atomicAdd(&bins[px[i] & 3], 1u);
}
__global__ void count_apart(const unsigned char *px, unsigned *bins, int n) {
    int me = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    for (int i = me; i < n; i += stride) atomicAdd(&bins[((px[i] & 3) << 13) + (me & 8191)], 1u);
}

// Row and column by division; then by a shift, as the width is a power of two.
__global__ void flip_divide(const float *in, float *out, int width, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < 8; ++k) {
        int row = (i + k) / width, column = (i + k) % width;
        sum += row * 0.5f + column;
    }
    out[i] = sum + in[i];
}
__global__ void flip_shift(const float *in, float *out, int shift, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < 8; ++k) {
        int row = (i + k) >> shift, column = (i + k) & ((1 << shift) - 1);
        sum += row * 0.5f + column;
    }
    out[i] = sum + in[i];
}

// A row for each thread; then a column for each, of the transposed matrix.
__global__ void sum_rows(const float *x, float *y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int c = 0; c < cols; ++c) sum += x[r * cols + c];
    y[r] = sum;
}
__global__ void sum_columns(const float *x, float *y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int c = 0; c < cols; ++c) sum += x[c * rows + r];
    y[r] = sum;
}

// A table of constants that each thread reads at a place of its own; then a copy of it in shared memory.
__constant__ float curve[64] = {0.1f, 0.2f, 0.4f, 0.8f, 0.7f, 0.5f, 0.3f, 0.1f};
__global__ void curve_constant(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = in[i];
    for (int k = 0; k < 16; ++k) sum += curve[(threadIdx.x + k) & 63];
    out[i] = sum;
}
__global__ void curve_shared(const float *in, float *out, int n) {
    __shared__ float near[64];
    if (threadIdx.x < 64) near[threadIdx.x] = curve[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = in[i];
    for (int k = 0; k < 16; ++k) sum += near[(threadIdx.x + k) & 63];
    out[i] = sum;
}
// What constants are for: all threads read the same one.
__global__ void curve_together(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i], sum = 0;
#pragma unroll 1
    for (int k = 0; k < 16; ++k) sum = sum * x + curve[k];
    out[i] = sum;
}

// The library's sine and power; then those of the special function units.
__global__ void waves_exact(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
#pragma unroll 2
    for (int k = 0; k < 16; ++k) v = 0.5f * v + sinf(v + k);
    out[i] = v;
}
__global__ void waves_fast(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
#pragma unroll 2
    for (int k = 0; k < 16; ++k) v = 0.5f * v + __sinf(v + k);
    out[i] = v;
}
__global__ void powers_exact(const float *in, float *out, float p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
    for (int k = 1; k < 16; ++k) v += powf(v + k, p);
    out[i] = v;
}
__global__ void powers_fast(const float *in, float *out, float p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
    for (int k = 1; k < 16; ++k) v += __powf(v + k, p);
    out[i] = v;
}
// Angles that are too large for the short way of sinf().
__global__ void angles_far(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
#pragma unroll 1
    for (int k = 1; k < 8; ++k) v += sinf(200000.0f * k + v);
    out[i] = v;
}
__global__ void angles_far_fast(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
#pragma unroll 1
    for (int k = 1; k < 8; ++k) v += __sinf(200000.0f * k + v);
    out[i] = v;
}
// One call a thread is no matter.
__global__ void wave_once(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sinf(in[i]);
}
