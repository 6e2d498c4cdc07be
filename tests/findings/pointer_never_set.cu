// A pointer of the module that nobody set.
// run: --grid 1 --block 64 --arg out:f32[64]
// says: through a null pointer: the pointer that was read from 'table' is null
// says: --symbol does so here
// exit: 1
__device__ const float *table;
__global__ void copy(float *y) {
    y[threadIdx.x] = table[threadIdx.x];
}
