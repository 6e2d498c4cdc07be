// A tile of dynamic shared memory, for which the launch gives bytes where it had to give elements.
// run: --grid 1 --block 64 --shared 64 --arg in:f32[64] --arg out:f32[64]
// exit: 1
// says: past the end of 'tile' (64 bytes)
// says: 'tile' is extern __shared__, and the launch gives it 64 bytes: --shared 256 has room for the threads of a block here
// says: 256 as the third number between <<< and >>>
// never: Guard the access
__global__ void turn_round(const float *in, float *out) {
    extern __shared__ float tile[];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncthreads();
    out[t] = tile[63 - t];
}
