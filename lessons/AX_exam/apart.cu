__global__ void apart(const float *in, float *out) {
    __shared__ float part[384];
    int i = threadIdx.x;
    for (int k = i; k < 384; k += 32) part[k] = in[k];
    __syncwarp();
    out[i] = part[12 * i];
}
