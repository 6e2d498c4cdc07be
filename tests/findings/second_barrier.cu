// The loop over tiles has its first barrier and lacks the second.
// run: --grid 2,2 --block 16,16 --arg in:f32[1024] --arg in:f32[1024] --arg out:f32[1024] --arg i32:32 --check all
// exit: 1
// says: read at second_barrier.cu:17 in round k of the loop, then written at second_barrier.cu:14 in round k + 1
// says: the barrier at second_barrier.cu:16 stands between the two of one round and does not separate these
// says: Put another __syncthreads() at the end of the loop's body, behind second_barrier.cu:17
// says: at second_barrier.cu:17 in round k of the loop, then written at second_barrier.cu:15 in round k + 1
#define SIDE 16
__global__ void product(const float *a, const float *b, float *c, int n) {
    __shared__ float left[SIDE][SIDE], right[SIDE][SIDE];
    int row = blockIdx.y * SIDE + threadIdx.y, column = blockIdx.x * SIDE + threadIdx.x;
    float sum = 0;
    for (int tile = 0; tile < n / SIDE; ++tile) {
        left[threadIdx.y][threadIdx.x] = a[row * n + tile * SIDE + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(tile * SIDE + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < SIDE; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    }
    c[row * n + column] = sum;
}
