// x and y change places in the index, and the guard is right.
// run: --grid 3,2 --block 16,16 --arg in:f32[960] --arg out:f32[960] --arg i32:40 --arg i32:24
// exit: 1
// says: past the end of 'in'
// says: Look at which of the two is multiplied: w counts what goes along x, so the index is (blockIdx.y * blockDim.y + threadIdx.y) * w + blockIdx.x * blockDim.x + threadIdx.x.
// never: guard the access
__global__ void twice(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = 2 * in[x * w + y];
}
