// One thread sets a counter of the block, and the others take numbers from it without a barrier in between.
// run: --grid 2 --block 64 --arg in:i32[128] --arg out:i32[128] --check all
// exit: 1
// says: race: write of 4 bytes to shared memory 'front' +0 by thread (0,0,0)
// says: and atomic by thread
// says: between counter_without_barrier.cu:10 and counter_without_barrier.cu:11
__global__ void number(const int *x, int *place) {
    __shared__ int front;
    int i = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x == 0) front = 0;
    int mine = atomicAdd(&front, 1);
    place[i] = x[i] * 64 + mine;
}
