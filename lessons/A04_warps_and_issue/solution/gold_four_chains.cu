// Two steps of v = 0.999 v + 1 are one step with other constants: half as many instructions for the same numbers.
__global__ void four_chains(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = reinterpret_cast<float4 *>(x)[i];
    const float by = 0.999f * 0.999f, plus = 0.999f + 1.0f;
#pragma unroll 32
    for (int k = 0; k < 256; ++k) {
        v.x = v.x * by + plus;
        v.y = v.y * by + plus;
        v.z = v.z * by + plus;
        v.w = v.w * by + plus;
    }
    reinterpret_cast<float4 *>(x)[i] = v;
}
