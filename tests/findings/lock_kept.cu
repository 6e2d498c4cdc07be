// Some threads return with the lock in their hands, and the others wait for it for ever.
// run: --grid 2 --block 32 --arg inout:i32{0,0,0,0} --arg inout:i32{0,0,0,0} --arg in:i32{0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3} --arg i32:64 --check all
// exit: 1
// says: deadlock: no warp of the block can go on
// says: wants the lock
// says: took last, on line 11, and has not given back; that thread has ended, so that nobody gives it back
// says: Give the lock back on every way out
__global__ void tally(int *lock, int *count, const int *key, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    while (atomicCAS(&lock[key[i]], 0, 1) != 0) {
    }
    if (count[key[i]] >= 5) return;
    count[key[i]]++;
    __threadfence();
    atomicExch(&lock[key[i]], 0);
}
