// A barrier inside a loop whose number of rounds differs from thread to thread.
// run: --grid 1 --block 64 --arg in:i32[64] --arg inout:f32[64] --check all
// says: warning: synccheck: only 32 of the block's 64 threads come to the barrier on line
// says: it stands inside the loop on line 9, which some threads leave earlier than others: 32 threads
// says: Let all threads of the block take the same number of rounds
__global__ void rounds(const int *count, float *x) {
    __shared__ float held[64];
    int t = threadIdx.x;
    for (int k = 0; k < 4 + (t >= 32); ++k) {
        held[t] = x[t] + k;
        __syncthreads();
        x[t] = held[63 - t];
        __syncthreads();
    }
}
