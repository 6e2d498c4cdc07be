// Sorts: a bitonic network in shared memory, and one pass of a radix sort by ballots.
extern "C" __global__ void bitonic(float* data) {
    extern __shared__ float s[];
    unsigned t = threadIdx.x;
    s[t] = data[t];
    for (unsigned size = 2; size <= blockDim.x; size *= 2)
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            unsigned other = t ^ stride;
            if (other > t) {
                bool up = (t & size) == 0;
                float a = s[t], b = s[other];
                if ((a > b) == up) {
                    s[t] = b;
                    s[other] = a;
                }
            }
        }
    __syncthreads();
    data[t] = s[t];
}

// Sorts 32 keys a warp by their low `bits` bits, stably: each pass splits by one bit.
extern "C" __global__ void radix_warp(unsigned* keys, int bits) {
    __shared__ unsigned s[8][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned key = keys[blockIdx.x * blockDim.x + threadIdx.x];
    for (int b = 0; b < bits; ++b) {
        unsigned ones = __ballot_sync(0xffffffff, key >> b & 1), below = (1u << lane) - 1;
        int zeros = 32 - __popc(ones);
        int to = key >> b & 1 ? zeros + __popc(ones & below) : __popc(~ones & below);
        s[warp][to] = key;
        __syncwarp();
        key = s[warp][lane];
        __syncwarp();
    }
    keys[blockIdx.x * blockDim.x + threadIdx.x] = key;
}
