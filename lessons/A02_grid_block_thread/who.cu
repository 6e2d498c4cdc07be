__global__ void who(int* thread_of, int* block_of) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    thread_of[i] = threadIdx.x;
    block_of[i] = blockIdx.x;
}
