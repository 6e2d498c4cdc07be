// A tile that is one element too short.
// run: --grid 1 --block 64 --arg out:i32[64]
// says: invalid shared write of 4 bytes that reaches 4 bytes past the end of 'tile' (252 bytes): tile[63] of 63 elements, whose index is threadIdx.x
// exit: 1
__global__ void turn(int *y) {
    __shared__ int tile[63];
    int i = threadIdx.x;
    tile[i] = i;
    __syncthreads();
    y[i] = tile[63 - i];
}
