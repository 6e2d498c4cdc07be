// Rows are taken to be as long as there are rows.
// run: --grid 2,3 --block 16,16 --arg in:f32[960] --arg out:f32[960] --arg i32:24 --arg i32:40
// exit: 1
// says: past the end of 'in'
// says: Look at the pitch: h counts the rows, and the index goes on by a whole row for each of them: multiply by w.
__global__ void twice(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = 2 * in[y * h + x];
}
