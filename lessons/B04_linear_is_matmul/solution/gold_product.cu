// A block's four rows of x and eight columns of w come to shared memory in pieces of 32; every number that is fetched is
// then used by all threads that need it. The next piece is asked for while this one is summed up.
__global__ void product(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int rows,
                        int columns, int inner) {
    __shared__ float of_x[4][33], of_w[32][8];
    int row0 = blockIdx.y * 4, column0 = blockIdx.x * 8;
    int lane = threadIdx.y * 8 + threadIdx.x;
    int row = row0 + threadIdx.y, column = column0 + threadIdx.x;
    float sum = 0.0f;
    float next_x[4], next_w[8];
    const auto ask = [&](int from) {
#pragma unroll
        for (int r = 0; r < 4; ++r)
            next_x[r] = row0 + r < rows && from + lane < inner ? x[(row0 + r) * inner + from + lane] : 0.0f;
#pragma unroll
        for (int k = 0; k < 8; ++k)
            next_w[k] = from + 4 * k + threadIdx.y < inner && column < columns
                            ? w[(from + 4 * k + threadIdx.y) * columns + column]
                            : 0.0f;
    };
    ask(0);
    for (int from = 0; from < inner; from += 32) {
#pragma unroll
        for (int r = 0; r < 4; ++r) of_x[r][lane] = next_x[r];
#pragma unroll
        for (int k = 0; k < 8; ++k) of_w[4 * k + threadIdx.y][threadIdx.x] = next_w[k];
        __syncthreads();
        if (from + 32 < inner) ask(from + 32);
#pragma unroll
        for (int k = 0; k < 32; ++k) sum += of_x[threadIdx.y][k] * of_w[k][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && column < columns) y[row * columns + column] = sum;
}
