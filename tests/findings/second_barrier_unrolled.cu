// The same as second_barrier, where the compiler writes the rounds out one after the other.
// run: --grid 2,2 --block 16,16 --arg in:f32[2048] --arg in:f32[2048] --arg out:f32[1024] --check all
// exit: 1
// says: at second_barrier_unrolled.cu:17 in round k of the loop, then written at second_barrier_unrolled.cu:14 in round k + 1
// says: the barrier at second_barrier_unrolled.cu:16 stands between the two of one round and does not separate these
// says: Put another __syncthreads() at the end of the loop's body, behind second_barrier_unrolled.cu:17
#define SIDE 16
__global__ void product(const float *a, const float *b, float *c) {
    __shared__ float left[SIDE][SIDE], right[SIDE][SIDE];
    int row = blockIdx.y * SIDE + threadIdx.y, column = blockIdx.x * SIDE + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        left[threadIdx.y][threadIdx.x] = a[row * 64 + k * SIDE + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k * SIDE + threadIdx.y) * 32 + column];
        __syncthreads();
        for (int i = 0; i < SIDE; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    }
    c[row * 32 + column] = sum;
}
