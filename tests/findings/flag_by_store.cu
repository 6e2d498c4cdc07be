// A thread waits for a flag that a thread of another warp sets by a plain store. A barrier between the two would be one that
// the waiting thread never comes to.
// run: --grid 1 --block 64 --arg inout:i32{0} --arg out:f32[2] --check all
// says: racecheck: race: atomic of 4 bytes to global memory 'flag' +0 by thread (0,0,0)
// says: waits for what flag_by_store.cu:11 writes: write it by an atomic, atomicExch(), behind a __threadfence_block()
// never: Put a __syncthreads()
// exit: 1
__global__ void hand_over(int *flag, float *x) {
    if (threadIdx.x == 0) { while (atomicAdd(flag, 0) == 0); x[0] = x[1] + 1; }
    if (threadIdx.x == 32) { x[1] = 2.0f;
        *flag = 1; }
}
