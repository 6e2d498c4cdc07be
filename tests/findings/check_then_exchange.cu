// The largest element, by a test and an exchange that are not one step.
// run: --grid 4 --block 64 --arg in:f32[256ramp] --arg inout:f32[1] --check all
// exit: 1
// says: racecheck: race: atomic of 4 bytes to global memory 'most' +0
// says: another thread may change it between the read and the exchange, which writes over it without looking
// says: Let one atomic do both: atomicMax() or atomicMin()
// never: which is right where the atomic behind it decides
__global__ void largest(const float *x, float *most) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] > *most)
        atomicExch(most, x[i]);
}
