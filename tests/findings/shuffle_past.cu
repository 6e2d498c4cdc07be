// A shuffle inside an if names all lanes; those that do not take it go past it to more work.
// run: --grid 1 --block 32 --arg in:i32[32] --arg out:i32[32] --arg i32:20
// exit: 1
// says: synccheck: the shuffle's member mask 0xffffffff names lane 20
// says: Name only the lanes that come
__global__ void sums(const int *in, int *out, int n) {
    int t = threadIdx.x, v = in[t];
    if (t < n) v += __shfl_xor_sync(0xffffffffu, v, 1);
    if (v % 2) v += in[31 - t];
    out[t] = v;
}
