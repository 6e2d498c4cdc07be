__global__ void halvings(const int *number, int *rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int count = 0;
    for (int left = number[i]; left > 0; left = left / 2) {
        count = count + 1;
    }
    rounds[i] = count;
}
