// A sort in shared memory: pairs of threads, of which one works, and a barrier behind every step.
// run: --grid 1 --block 128 --arg inout:i32[128] --check all
// quiet
__global__ void sort(int *x) {
    __shared__ int held[128];
    int t = threadIdx.x;
    held[t] = x[t];
    __syncthreads();
    for (int size = 2; size <= 128; size *= 2)
        for (int far = size / 2; far > 0; far /= 2) {
            int other = t ^ far;
            if (other > t) {
                int a = held[t], b = held[other];
                if ((a > b) == ((t & size) == 0)) {
                    held[t] = b;
                    held[other] = a;
                }
            }
            __syncthreads();
        }
    x[t] = held[t];
}
