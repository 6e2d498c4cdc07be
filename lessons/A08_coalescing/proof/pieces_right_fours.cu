// Two loads of four numbers a thread; neighbouring lanes take neighbouring fours.
__global__ void pieces(const float *in, float *out) {
    const float4 *from = reinterpret_cast<const float4 *>(in);
    float4 *to = reinterpret_cast<float4 *>(out);
    for (int k = 0; k < 2; ++k) {
        int i = blockIdx.x * blockDim.x * 2 + k * blockDim.x + threadIdx.x;
        float4 v = from[i];
        to[i] = make_float4(2.0f * v.x, 2.0f * v.y, 2.0f * v.z, 2.0f * v.w);
    }
}
