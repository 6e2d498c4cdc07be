// fails: outputs
__global__ void by_largest(const float *in, float *out) {
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float mine = in[i];
    part[t] = fmaxf(mine, 1.0f);
    for (int s = 128; s > 0; s /= 2)
        if (t < s) part[t] = fmaxf(part[t], part[t + s]);
    out[i] = mine / part[0];
}
