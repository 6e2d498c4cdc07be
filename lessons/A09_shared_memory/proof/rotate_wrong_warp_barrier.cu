// fails: outputs
__global__ void rotate(float *x) {
    __shared__ float part[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    part[(t + 3) % 128] = x[i];
    __syncwarp();
    x[i] = part[t];
}
