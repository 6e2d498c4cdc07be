// A row waits for its start, then for its columns, then for x. The block fetches all 512 numbers of x while it waits for the
// start, so that the last of the three trips is one to shared memory.
__global__ void uneven(const int *start, const int *column, const float *value, const float *x, float *y, int rows) {
    __shared__ float near[512];
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    int first = 0, past = 0;
    if (row < rows) first = start[row], past = start[row + 1];
    for (int i = threadIdx.x; i < 512; i += blockDim.x) near[i] = x[i];
    int e = first + lane;
    bool one = e < past;
    int c = one ? column[e] : 0;
    float v = one ? value[e] : 0.0f;
    __syncthreads();
    float sum = v * near[c];
    for (e += 32; e < past; e += 32) sum += value[e] * near[column[e]];
    for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half);
    if (lane == 0 && row < rows) y[row] = sum;
}
