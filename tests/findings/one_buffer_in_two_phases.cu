// Two names for dynamic shared memory, one after the other.
// run: --grid 1 --block 64 --shared 512 --arg in:f32[64] --arg out:i32[64] --check all
// quiet
__global__ void phases(const float *x, int *y) {
    extern __shared__ float numbers[];
    extern __shared__ int places[];
    int t = threadIdx.x;
    numbers[t] = x[t];
    __syncthreads();
    int place = numbers[63 - t] > 0 ? t : -t;
    __syncthreads();
    places[t] = place;
    __syncthreads();
    y[t] = places[63 - t];
}
