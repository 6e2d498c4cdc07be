// A pointer that nobody gave a buffer.
// run: --grid 1 --block 64 --arg out:f32[64] --arg null
// says: invalid global read of 4 bytes through a null pointer: 'x' is null
// exit: 1
__global__ void copy(float *y, const float *x) {
    y[threadIdx.x] = x[threadIdx.x];
}
