// A look at the word spares most threads the atomic, which decides; and a flag that all set to the same value.
// run: --grid 4 --block 64 --arg in:i32[256ramp] --arg inout:i32[1] --arg inout:i32[1] --check all
// says: it may find an old value, which is right where the atomic behind it decides
// never: racecheck: race
__global__ void largest(const int *x, int *most, int *found) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] > *most)
        atomicMax(most, x[i]);
    if (x[i] == 17 && *found == 0)
        atomicExch(found, 1);
}
