// A sum by halving in a block of 192 threads: 192, 96, ... 3, and the third of the last three is left out.
// run: --grid 2 --block 192 --arg in:f32[384] --arg out:f32[2] --check all
// says: warning: outputs: 64 of the 192 elements that block 0 loads are in no result (x[2], x[5], x[8] ...)
// says: they are in a sum in 'part' +8
// says: halving an odd number of sums leaves the last one out
// says: Take a block of a power of two, 256
__global__ void sums(const float *x, float *out) {
    __shared__ float part[192];
    int t = threadIdx.x;
    part[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}
