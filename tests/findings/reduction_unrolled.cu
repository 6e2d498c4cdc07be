// The same as reduction_without_barrier, where the compiler writes the rounds out one after the other.
// run: --grid 1 --block 128 --arg in:f32[128] --arg out:f32[1] --check all
// exit: 1
// says: The two stand on one line of a loop: put a __sync
// says: at the end of the loop's body
__global__ void sum(const float *in, float *out) {
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
#pragma unroll
    for (int s = 64; s > 0; s /= 2)
        if (t < s)
            part[t] += part[t + s];
    if (t == 0)
        *out = part[0];
}
