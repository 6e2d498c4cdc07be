// Structs with padding, copied whole: what nobody set is padding, or a member that nobody looks at.
// run: --grid 1 --block 64 --arg in:f32[64] --arg out:f32[64] --check all
// quiet
struct __align__(16) Particle {
    float x, y, mass;  // and four bytes of padding
};
struct __align__(16) Node {
    float value;
    int next, seen, depth;  // depth is never set here
};
__global__ void neighbours(const float *in, float *out) {
    __shared__ Particle held[64];
    __shared__ Node nodes[64];
    int t = threadIdx.x;
    held[t].x = in[t];
    held[t].y = 2 * in[t];
    held[t].mass = 1;
    nodes[t].value = in[t];
    nodes[t].next = (t + 1) % 64;
    nodes[t].seen = 0;
    __syncthreads();
    Particle other = held[(t + 1) % 64];
    Node node = nodes[63 - t];
    out[t] = other.x + other.y * other.mass + node.value + node.next + node.seen;
}
