__global__ void walk(const int *next, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int stride = gridDim.x * blockDim.x;
    int at = i;
    for (int k = 0; k < 8; ++k) {
        int v = next[at];
        at = v + stride;
    }
    out[i] = at;
}
