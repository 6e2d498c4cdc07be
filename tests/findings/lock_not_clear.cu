// A lock that holds something else than 0 before anybody has taken it.
// run: --grid 2 --block 32 --arg inout:i32{35} --arg inout:i32{0} --check all
// says: waits for 'lock' +0 to be 0 on
// says: it is 35, and no thread holds it
// says: let it begin as 0
// exit: 1
__global__ void count(int *lock, int *counted) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) { }
        __threadfence();
        *counted += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}
