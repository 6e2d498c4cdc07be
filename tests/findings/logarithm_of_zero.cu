// The logarithm of a probability that is 0.
// run: --grid 1 --block 64 --arg out:f32[64] --arg in:f32[64ramp]
// says: y[0] is -inf, made by thread (0,0,0) of block (0,0,0) at logarithm_of_zero.cu:9 as the logarithm of a number that is not above 0
// says: Keep its argument above 0, as in logf(fmaxf(x, 1e-30f)).
__global__ void entropy(float *y, const float *p) {
    int i = threadIdx.x;
    float q = p[i];
    // What follows is -inf for 0.
    y[i] = logf(q);
}
