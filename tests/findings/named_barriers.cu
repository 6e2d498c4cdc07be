// One warp fills, another one uses: each meets the other at barriers of 64 threads, and the second of them does not wait.
// run: --grid 1 --block 64 --arg in:f32[256] --arg out:f32[256] --check all
// quiet
__global__ void hand_over(const float *in, float *out) {
    __shared__ float held[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int k = 0; k < 8; ++k) {
            asm volatile("bar.sync 2, 64;" ::: "memory");
            held[lane] = in[k * 32 + lane];
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        }
    } else {
        asm volatile("bar.arrive 2, 64;" ::: "memory");
        for (int k = 0; k < 8; ++k) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[k * 32 + lane] = held[31 - lane];
            if (k < 7) asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}
