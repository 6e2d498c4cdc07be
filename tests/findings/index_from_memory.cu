// A bin that the data ask for and nobody has.
// run: --grid 1 --block 64 --arg in:i32[64ramp] --arg inout:i32[16zero]
// says: invalid global atomic of 4 bytes that reaches 4 bytes past the end of 'bins' (64 bytes): bins[16] of 16 elements, whose index is data[...]
// says: The index was read from 'data': only 0 to 15 are good there.
// exit: 1
__global__ void histogram(const int *data, int *bins) {
    atomicAdd(&bins[data[threadIdx.x]], 1);
}
