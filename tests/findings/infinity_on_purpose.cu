// A mask of minus infinity, and a NaN that came with the input.
// run: --grid 1 --block 4 --arg out:f32[4] --arg in:f32{1,nan,3,inf}
// quiet
__global__ void mask(float *y, const float *x) {
    int i = threadIdx.x;
    y[i] = i < 1 ? -__int_as_float(0x7f800000) : x[i] + 1;
}
