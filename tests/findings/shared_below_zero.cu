// A stencil in shared memory reads to the left of its tile, by an unsigned index; the PTX is of NVRTC, with wide addresses.
// run: --grid 1 --block 64 --arg out:f32[64] --arg in:f32[64]
// says: past the end of 'tile' (256 bytes): threadIdx.x - 1 at line 10 is 0 - 1, which is below zero, and as an unsigned int it became 4,294,967,295
// never: in front of
// exit: 1
__global__ void blur(float *y, const float *x) {
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = (tile[threadIdx.x - 1] + tile[threadIdx.x]) / 2;
}
