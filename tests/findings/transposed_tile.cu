// A tile that is written by rows and read by columns, with a loop whose number of rounds differs before the barrier.
// run: --grid 2,2 --block 32,8 --arg in:f32[4096] --arg out:f32[4096] --check all
// quiet
__global__ void transpose(const float *in, float *out) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * 64 + x];
    float lift = 0;
    for (int k = 0; k < threadIdx.x % 5; ++k) lift += 1;
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * 64 + x] = tile[threadIdx.x][threadIdx.y + j] + lift;
}
