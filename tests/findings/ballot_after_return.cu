// Threads past the end have stored and returned before the others vote with all lanes named: exited lanes do not count.
// run: --grid 1 --block 64 --arg out:i32[64] --arg i32:40 --check all
// run: --grid 1 --block 64 --arg out:i32[64] --arg i32:40
// quiet
__global__ void count_below(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        out[i] = -1;
        return;
    }
    unsigned here = __ballot_sync(0xffffffffu, i % 3 == 0);
    out[i] = __popc(here);
}
