// fails: global_read_sectors
extern "C" __global__ void passes(const float *x, float *y, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const float2 *from = reinterpret_cast<const float2 *>(x);
    float2 *to = reinterpret_cast<float2 *>(y);
    for (int i = first; i < n / 2; i += threads) to[i] = make_float2(0.5f * to[i].x, 0.5f * to[i].y);
    for (int i = first; i < n / 2; i += threads) to[i] = make_float2(to[i].x + from[i].x, to[i].y + from[i].y);
    for (int i = first; i < n / 2; i += threads) to[i] = make_float2(to[i].x * to[i].x, to[i].y * to[i].y);
}
