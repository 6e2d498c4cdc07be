// Loads in order; the turn is four selects, and every index a constant.
__global__ void scratch(const float *a, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, turn = i % 4;
    float4 v = reinterpret_cast<const float4 *>(a)[i];
    float k0 = v.x, k1 = v.y, k2 = v.z, k3 = v.w, t;
    if (turn & 1) t = k3, k3 = k2, k2 = k1, k1 = k0, k0 = t;
    if (turn & 2) t = k0, k0 = k2, k2 = t, t = k1, k1 = k3, k3 = t;
    float kept[4] = {k0, k1, k2, k3}, sum = 0.0f;
#pragma unroll
    for (int round = 0; round < 16; ++round)
#pragma unroll
        for (int k = 0; k < 4; ++k) sum = sum * 0.9f + kept[(round + k) % 4];
    out[i] = sum;
}
