// Lanes of one warp wait for a lock that one of them holds, on a GPU whose warps run one path at a time.
// run: --gpu p100 --grid 1 --block 32 --arg inout:i32{0} --arg inout:i32{0}
// exit: 1
// says: deadlock: dead-locks before Volta
// says: that thread is of the same warp and stands on line
// says: as a warp with a stack runs one path
// says: give it back inside the loop
__global__ void add_one(int *lock, int *count) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    *count += 1;
    __threadfence();
    atomicExch(lock, 0);
}
