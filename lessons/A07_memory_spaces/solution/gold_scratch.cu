// One request for the four values, which are turned in registers; and after sixteen steps the values come round again, so the
// sum of sixteen is worked out once.
__global__ void scratch(const float *a, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = reinterpret_cast<const float4 *>(a)[i];
    if (i & 1) v = make_float4(v.w, v.x, v.y, v.z);
    if (i & 2) v = make_float4(v.z, v.w, v.x, v.y);
    const float kept[4] = {v.x, v.y, v.z, v.w};
    float period = 0.0f, shrink = 1.0f;
#pragma unroll
    for (int round = 0; round < 4; ++round)
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            period = period * 0.9f + kept[(round + k) % 4];
            shrink = shrink * 0.9f;
        }
    float sum = period;
#pragma unroll
    for (int again = 0; again < 3; ++again) sum = sum * shrink + period;
    out[i] = sum;
}
