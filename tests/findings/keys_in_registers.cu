// Each thread keeps 192 keys in its registers, to follow them through a table: few warps fit, and while each waits for
// its table nobody else runs.
// run timed: --gpu a100 --grid 432 --block 128 --arg in:i32[192] --arg in:i32[4096] --arg out:i32[55296] --arg i32:1
// says: registers a thread leave room for 8 of 64 warps on an SM, too few to fill the time
// says: __launch_bounds__(threads, blocks)
__global__ void keys_in_registers(const int *keys, const int *table, int *y, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int key[192], at = i;
#pragma unroll
    for (int k = 0; k < 192; ++k) key[k] = keys[(k + i) % 192];
#pragma unroll 1
    for (int round = 0; round < rounds; ++round)
#pragma unroll
        for (int k = 0; k < 192; ++k) at = table[(at + key[k]) & 4095];
    y[i] = at;
}
