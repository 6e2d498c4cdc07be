// One branch in front of two long ways: it splits a warp once, and the branches of the loops behind it do not.
// run timed: --gpu v100 --grid 640 --block 256 --arg in:f32[163840] --arg out:f32[163840]
// says: two_long_ways.cu:9: The branch here splits its warp 5120 of 5120 times
// says: Let whole warps go one way
// never: Nothing of the rules
__global__ void two_long_ways(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (i & 1) {
#pragma unroll 1
        for (int k = 0; k < 100; ++k)
            v = v * 0.5f + 1;
    } else {
#pragma unroll 1
        for (int k = 0; k < 100; ++k)
            v = v * v - 2;
    }
    y[i] = v;
}
