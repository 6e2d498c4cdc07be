// What beginners write, each beside what mends it: the verdicts on them name the cause, and promise what mending brings
// (tests/model/mistakes_test.cpp).

// Reads along rows and writes along columns, on one line.
__global__ void transpose_naive(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    if (x < w && y < h)
        out[x * h + y] = in[y * w + x];
}

// Blocks of 16 x 16 make two rows of a warp; blocks of 32 x 8 make it one.
__global__ void product(const float *a, const float *b, float *c, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) {
        float s = 0;
        for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
        c[i * n + j] = s;
    }
}

// Literals of type double in a loop over floats.
__global__ void decay_double(const float *p, float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = p[i];
        for (int j = 0; j < 32; j++) v = v * 1.0001 + 0.5;
        o[i] = v;
    }
}
__global__ void decay_float(const float *p, float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = p[i];
        for (int j = 0; j < 32; j++) v = v * 1.0001f + 0.5f;
        o[i] = v;
    }
}

// Row and column of an index by division, and by shifts.
__global__ void around_divide(const float *p, float *o, int n, int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int r = i / w, c = i % w;
        float s = 0;
        for (int j = 0; j < 16; j++) s += p[((r + j) % w) * w + c];
        o[i] = s;
    }
}
__global__ void around_shift(const float *p, float *o, int n, int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int r = i >> w, c = i & ((1 << w) - 1);
        float s = 0;
        for (int j = 0; j < 16; j++) s += p[(((r + j) & ((1 << w) - 1)) << w) + c];
        o[i] = s;
    }
}

// The textbook's first sum in shared memory: a remainder chooses who adds.
__global__ void sum_by_remainder(const float *in, float *out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        if (t % (2 * d) == 0) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// Eight counters for all threads.
__global__ void eight_bins(const int *v, int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[v[i] & 7], 1);
}

// A lock that every thread takes.
__global__ void count_locked(int *lock, int *count) {
    while (atomicCAS(lock, 0, 1) != 0);
    *count += 1;
    __threadfence();
    atomicExch(lock, 0);
}
