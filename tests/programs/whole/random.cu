// Random numbers made on the device: means, spreads, different numbers in every thread, pi by throwing darts.
#include <curand_kernel.h>

#include <set>
#include <vector>

#include "check.h"

__global__ void setup(curandState* states, unsigned long long seed) { curand_init(seed, threadIdx.x, 0, states + threadIdx.x); }

__global__ void darts(curandState* states, int throws, unsigned* hits, float* uniform, float* normal) {
    curandState state = states[threadIdx.x];
    unsigned inside = 0;
    float sum = 0, squares = 0;
    for (int k = 0; k < throws; ++k) {
        const float x = curand_uniform(&state), y = curand_uniform(&state);
        inside += x * x + y * y <= 1.0f;
        const float n = curand_normal(&state);
        sum += n;
        squares += n * n;
    }
    atomicAdd(hits, inside);
    uniform[threadIdx.x] = curand_uniform(&state);
    normal[2 * threadIdx.x] = sum;
    normal[2 * threadIdx.x + 1] = squares;
    states[threadIdx.x] = state;
}

__global__ void philox(unsigned* out) {
    curandStatePhilox4_32_10_t state;
    curand_init(1234ULL, 5ULL, threadIdx.x, &state);
    out[threadIdx.x] = curand(&state);
    if (threadIdx.x == 0) {
        curand_init(1234ULL, 5ULL, 0ULL, &state);
        for (int k = 0; k < 32; ++k) out[32 + k] = curand(&state);
    }
}

int main() {
    const int threads = 64, throws = 200;
    curandState* states;
    unsigned *d_hits, hits = 0;
    float *d_uniform, *d_normal;
    CHECK(cudaMalloc(&states, threads * sizeof(curandState)));
    CHECK(cudaMalloc(&d_hits, sizeof hits));
    CHECK(cudaMalloc(&d_uniform, threads * sizeof(float)));
    CHECK(cudaMalloc(&d_normal, 2 * threads * sizeof(float)));
    CHECK(cudaMemset(d_hits, 0, sizeof hits));
    setup<<<1, threads>>>(states, 2024);
    darts<<<1, threads>>>(states, throws, d_hits, d_uniform, d_normal);
    std::vector<float> uniform(threads), normal(2 * threads);
    CHECK(cudaMemcpy(&hits, d_hits, sizeof hits, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(uniform.data(), d_uniform, threads * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(normal.data(), d_normal, 2 * threads * sizeof(float), cudaMemcpyDeviceToHost));
    const double n = double(threads) * throws, pi = 4.0 * hits / n;
    EXPECT(std::fabs(pi - 3.14159265) < 0.06);
    double sum = 0, squares = 0;
    for (int t = 0; t < threads; ++t) {
        sum += normal[2 * t];
        squares += normal[2 * t + 1];
        EXPECT(uniform[t] > 0 && uniform[t] <= 1);
    }
    EXPECT(std::fabs(sum / n) < 0.04 && std::fabs(squares / n - 1.0) < 0.06);
    EXPECT(std::set<float>(uniform.begin(), uniform.end()).size() > 60);
    unsigned *d_out, out[64];
    CHECK(cudaMalloc(&d_out, sizeof out));
    philox<<<1, 32>>>(d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int k = 0; k < 32; ++k) EXPECT(out[k] == out[32 + k]);
    CHECK(cudaFree(states));
    CHECK(cudaFree(d_hits));
    CHECK(cudaFree(d_uniform));
    CHECK(cudaFree(d_normal));
    CHECK(cudaFree(d_out));
    return pass();
}
