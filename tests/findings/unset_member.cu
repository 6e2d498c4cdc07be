// The same, and the member that was never set is used.
// run: --grid 1 --block 64 --arg in:f32[64] --arg out:f32[64] --check all
// exit: 1
// says: initcheck: uninitialised read of 16 bytes of shared memory 'held'
// says: Let every element be written before the barrier in front of this read
struct __align__(16) Particle {
    float x, y, z, mass;
};
__global__ void neighbours(const float *in, float *out) {
    __shared__ Particle held[64];
    int t = threadIdx.x;
    held[t].x = in[t];
    held[t].y = 2 * in[t];
    held[t].z = 3 * in[t];
    __syncthreads();
    Particle other = held[(t + 1) % 64];
    out[t] = (other.x + other.y + other.z) * other.mass;
}
