// fails: outputs
__global__ void window(const int *in, int *out) {
    __shared__ int part[264];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    part[t] = in[i];
    if (t < 8) part[256 + t] = in[i + 256];
    int sum = 0;
    for (int k = 0; k < 9; ++k) sum += part[t + k];
    out[i] = sum;
}
