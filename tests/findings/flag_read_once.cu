// Every thread waits for a flag that another program is to set, by a plain load, which the compiler takes out of the loop.
// clang takes such a loop out, as the language lets it: there is no PTX of it by clang.
// run: --grid 1 --block 64 --arg in:i32[64] --arg out:i32[64]
// exit: 1
// says: runaway: the kernel never ends
// says: the compiler has read the word that it waits for once, on line 9 in front of the loop
// says: volatile, or read it by atomicAdd(&x, 0)
__global__ void wait(int *flag, int *out) {
    while (flag[0] != 12345) {
    }
    out[threadIdx.x] = 1;
}
