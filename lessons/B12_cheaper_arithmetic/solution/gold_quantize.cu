// A weight is read once: up to 64 a thread stay in registers while the block looks for the largest. Shuffles find it with
// one barrier, and one division serves all weights.
extern "C" __global__ void quantize(const float* __restrict__ w, float* __restrict__ q, float* __restrict__ scale, int n) {
    __shared__ float of_warp[2];
    const int fours = n / 4;
    float4 own[16];
    float mine = 0.0f;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        int i = threadIdx.x + 64 * k;
        own[k] = i < fours ? ((const float4*)w)[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        mine = fmaxf(mine, fmaxf(fmaxf(fabsf(own[k].x), fabsf(own[k].y)), fmaxf(fabsf(own[k].z), fabsf(own[k].w))));
    }
    int rest = min(4 * fours, 4096);
    for (int i = rest + threadIdx.x; i < n; i += 64) mine = fmaxf(mine, fabsf(w[i]));
    for (int half = 16; half > 0; half /= 2) mine = fmaxf(mine, __shfl_xor_sync(0xffffffff, mine, half));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    float largest = fmaxf(of_warp[0], of_warp[1]);
    float step = largest > 0.0f ? largest / 127.0f : 1.0f;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        int i = threadIdx.x + 64 * k;
        if (i < fours)
            ((float4*)q)[i] =
                make_float4(rintf(own[k].x / step), rintf(own[k].y / step), rintf(own[k].z / step), rintf(own[k].w / step));
    }
    for (int i = rest + threadIdx.x; i < n; i += 64) q[i] = rintf(w[i] / step);
    if (threadIdx.x == 0) scale[0] = step;
}
