// fails: outputs
__global__ void rotate(float *x) {
    __shared__ volatile float part[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    part[(t + 3) % 128] = x[i];
    for (int wait = 0; wait < 2000; ++wait) __nanosleep(20);
    x[i] = part[t];
}
