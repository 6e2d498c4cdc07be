struct Particle {
    float x, y, z, mass;
};
__global__ void records(const Particle *particle, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float m = particle[i].mass;
    out[i] = 2.0f * m;
}
