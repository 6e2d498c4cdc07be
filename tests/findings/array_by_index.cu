// A small array of a thread's own whose index the data give: it lies in local memory, and no register is short.
// run timed: --grid 8 --block 128 --arg in:i32[32768] --arg out:i32[16384] --arg i32:32 --check all --json -
// says: for an array whose index is known only when the kernel runs: registers cannot be chosen by a number
// says: It is no register pressure: values take
// never: Register pressure: the kernel's
__global__ void digits(const int *x, int *out, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, count[16] = {0};
    for (int i = 0; i < n; ++i) count[x[t * n + i] & 15]++;
    for (int k = 0; k < 16; ++k) out[t * 16 + k] = count[k];
}
