// Three numbers are read for each pair of gradients; a thread asks for four neighbours of each at once.
extern "C" __global__ void both(const float* __restrict__ up, const float* __restrict__ a, const float* __restrict__ b,
                                float* __restrict__ da, float* __restrict__ db, int n) {
    int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 3 < n) {
        float4 u = *(const float4*)(up + first), p = *(const float4*)(a + first), q = *(const float4*)(b + first);
        *(float4*)(da + first) = make_float4(u.x * q.x, u.y * q.y, u.z * q.z, u.w * q.w);
        *(float4*)(db + first) = make_float4(u.x * p.x, u.y * p.y, u.z * p.z, u.w * p.w);
        return;
    }
    for (int i = first; i < n; ++i) {
        float u = up[i], p = a[i], q = b[i];
        da[i] = u * q;
        db[i] = u * p;
    }
}
