// Each block moves its 128 numbers three places on: the number of thread t goes to place t + 3, the last three to the front.
// Most of them arrive. Make it right for all: a thread reads what another one wrote.
__global__ void rotate(float *x) {
    __shared__ float part[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    part[(t + 3) % 128] = x[i];
    x[i] = part[t];
}
