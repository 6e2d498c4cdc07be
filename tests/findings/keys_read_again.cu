// The same as keys_in_registers, which reads its keys again instead: all warps fit.
// run timed: --gpu a100 --grid 432 --block 128 --arg in:i32[192] --arg in:i32[4096] --arg out:i32[55296] --arg i32:1
// says: What limits it
// never: registers a thread leave room for
__global__ void keys_read_again(const int *keys, const int *table, int *y, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int at = i;
    for (int k = 0; k < 192 * rounds; ++k) at = table[(at + keys[(k % 192 + i) % 192]) & 4095];
    y[i] = at;
}
