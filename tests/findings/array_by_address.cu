// The same array without an index that is known late: a function that is not inlined gets its address.
// run timed: --grid 8 --block 128 --arg in:f32[1024] --arg out:f32[1024] --check all --json -
// says: for something whose address is taken, though no index chooses in it
// says: It is no register pressure: values take
__device__ __noinline__ void powers(float x, float *p) {
    p[0] = x;
    p[1] = x * x;
    p[2] = p[1] * x;
}
__global__ void cubic(const float *x, float *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float p[3];
    powers(x[t], p);
    out[t] = p[0] + p[1] + p[2];
}
