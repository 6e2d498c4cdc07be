// Gravity of n bodies by tiles, and a Fourier transform of a power of two in shared memory.
extern "C" __global__ void gravity(const float4* bodies, float3* pull, int n) {
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = bodies[i < n ? i : 0];
    float3 a = {0.0f, 0.0f, 0.0f};
    for (int from = 0; from < n; from += blockDim.x) {
        int j = from + threadIdx.x;
        tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
        for (int k = 0; k < blockDim.x; ++k) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float r2 = dx * dx + dy * dy + dz * dz + 0.01f, inverse = rsqrtf(r2);
            float f = tile[k].w * inverse * inverse * inverse;
            a.x += f * dx;
            a.y += f * dy;
            a.z += f * dz;
        }
        __syncthreads();
    }
    if (i < n) pull[i] = a;
}

extern "C" __global__ void fourier(float2* data, int log2n) {
    extern __shared__ float2 f[];
    int n = 1 << log2n, t = threadIdx.x;  // n / 2 threads
    for (int i = t; i < n; i += blockDim.x) f[__brev(i) >> (32 - log2n)] = data[blockIdx.x * n + i];
    for (int half = 1; half < n; half *= 2) {
        __syncthreads();
        int k = t % half, i = t / half * 2 * half + k;
        float s, c;
        sincosf(-3.14159265f * k / half, &s, &c);
        float2 a = f[i], b = f[i + half], r = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
        f[i] = make_float2(a.x + r.x, a.y + r.y);
        f[i + half] = make_float2(a.x - r.x, a.y - r.y);
    }
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) data[blockIdx.x * n + i] = f[i];
}
