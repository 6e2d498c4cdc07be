// A loop that waits for an exact fraction, which is stepped over.
// run functional: --grid 1 --block 32 --arg out:f32[32] --max-instructions 100000
// exit: 1
// says: runaway: the kernel still ran after 100000 warp instructions
// says: rounds before
// says: a != that is stepped over
__global__ void tenths(float *y) {
    float x = 0;
    int count = 0;
#pragma unroll 1
    while (x != 1.0f) {
        x += 0.1f;
        y[threadIdx.x] = x;
        ++count;
    }
    y[threadIdx.x] = count;
}
