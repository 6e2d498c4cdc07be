// Double literals in a kernel of floats, on a GPU with few FP64 lanes.
// run timed: --gpu rtx3090 --grid 512 --block 256 --arg inout:f32[131072] --arg i32:131072
// says: Bound by the FP64 lanes
// says: The literals 0.5, 3.14159 and 1.0 are doubles, and make doubles of what they meet.
// says: Write 0.5f, 3.14159f and 1.0f, and use sinf(), if single precision is enough.
__global__ void wave(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 0.5 * sin(3.14159 * x[i]) + 1.0;
}
