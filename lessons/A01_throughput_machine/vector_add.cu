// c = a + b, five ways to ask for it.
__global__ void one_thread(const float *a, const float *b, float *c, int n) {
#pragma unroll 1
    for (int i = 0; i < n; ++i) {
        c[i] = a[i] + b[i];
    }
}

__global__ void four_wide(const float4 *a, const float4 *b, float4 *c, int n) {
#pragma unroll 1
    for (int i = 0; i < n / 4; ++i) {
        float4 x = a[i], y = b[i];
        c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
}

__global__ void one_warp(const float *a, const float *b, float *c, int n) {
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += 32) {
        c[i] = a[i] + b[i];
    }
}

__global__ void many_threads(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void in_steps(const float *a, const float *b, float *c, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        c[i] = a[i] + b[i];
    }
}
