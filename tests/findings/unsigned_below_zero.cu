// The same with an unsigned index, which wraps to the largest one.
// run: --grid 1 --block 64 --arg out:f32[64] --arg in:f32[64] --arg u32:1
// says: at line 8 is 0 - 1, which is below zero, and as an unsigned int it became 4,294,967,295
// exit: 1
__global__ void difference(float *y, const float *x, unsigned step) {
    unsigned i = threadIdx.x;
    unsigned left = i
                    - step;
    y[i] = x[i] - x[left];
}
