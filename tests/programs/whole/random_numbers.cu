// cuRAND's device interface gives the numbers that NVIDIA's header gives: those below are of CUDA 13.0's, compiled by nvcc.
// Integers are the same; of real numbers that a logarithm is part of, the last bits may differ.
#include <algorithm>

#include <curand_kernel.h>

#include "check.h"

struct Start {
    unsigned long long seed, sequence, offset;
};

template <class State>
__global__ void integers(Start start, unsigned* out) {
    State state;
    curand_init(start.seed, start.sequence, start.offset, &state);
    out[0] = curand(&state);
    out[1] = curand(&state);
    skipahead(70000000001ull, &state);
    out[2] = curand(&state);
    skipahead_sequence(3ull, &state);
    out[3] = curand(&state);
}

template <class State>
__global__ void reals(double* out) {
    State state;
    curand_init(77ull, 2ull, 3ull, &state);
    int k = 0;
    out[k++] = curand_uniform(&state);
    out[k++] = curand_uniform_double(&state);
    out[k++] = curand_normal(&state);
    out[k++] = curand_normal(&state);
    out[k++] = curand_log_normal(&state, 0.5f, 0.25f);
    const float2 pair = curand_normal2(&state);
    out[k++] = pair.x;
    out[k++] = pair.y;
    out[k++] = curand_normal_double(&state);
    out[k++] = curand_normal_double(&state);
    const double2 two = curand_normal2_double(&state);
    out[k++] = two.x;
    out[k++] = two.y;
    out[k++] = curand_log_normal_double(&state, 0.5, 0.25);
    out[k++] = curand_poisson(&state, 3.5);
    out[k++] = curand(&state);
}

__global__ void fours(double* out, int used) {
    curandStatePhilox4_32_10_t state;
    curand_init(77ull, 5ull, 0ull, &state);
    for (int k = 0; k < used; ++k) curand(&state);
    const uint4 integer = curand4(&state);
    const float4 uniform = curand_uniform4(&state), normal = curand_normal4(&state);
    const double2 uniforms = curand_uniform2_double(&state), normals = curand_normal2_double(&state);
    const double all[] = {double(integer.x), double(integer.w), uniform.x,  uniform.w, normal.x,
                          normal.w,          uniforms.x,        uniforms.y, normals.x, normals.y};
    for (int k = 0; k < 10; ++k) out[k] = all[k];
}

const Start starts[] = {{0, 0, 0}, {1234ull << 32 | 99, 7, 0}, {42, 100000, 5}, {42, 1ull << 40, 98765432109876ull}};
const unsigned xorwow_integers[4][4] = {{3179217846u, 1883133293u, 230726847u, 838259381u},
                                        {128196300u, 3257244090u, 1349291663u, 3219171038u},
                                        {2653433952u, 3246075829u, 3392855532u, 1205898022u},
                                        {439426963u, 3082638089u, 286606275u, 2273840418u}};
const unsigned philox_integers[4][4] = {{1713891541u, 3781805453u, 468674619u, 1459315423u},
                                        {1890319529u, 4269298058u, 2612312530u, 2613325513u},
                                        {3539788205u, 4053988389u, 312244727u, 1900132462u},
                                        {3175260984u, 1001060418u, 2319604235u, 3793687169u}};
const unsigned mrg_integers[4][4] = {{545508615u, 1368065476u, 1101846435u, 3813395235u},
                                     {1022548982u, 833101180u, 1918745801u, 636059827u},
                                     {1807904791u, 2602351309u, 3772382770u, 2065095303u},
                                     {2442614787u, 2955911949u, 3043168189u, 524692821u}};
const double xorwow_reals[14] = {0.595309734, 0.577389748, -0.415333539, -0.813743114, 1.97574711, 0.758411407, -1.7897439,
                                 -1.99483587, -2.20280104, 1.26317797,   -0.365881753, 2.03987264, 1.0,         129011885.0};
const double philox_reals[14] = {0.75429827,   0.60472521,  0.258985937, 0.216538131,   2.00047493,
                                 1.43240333,   0.098142311, 0.588063604, 0.546634478,   -1.66618863,
                                 -0.238048922, 0.982362088, 6.0,         2.12982219e+09};
const double mrg_reals[14] = {0.550218284,  0.692973787,  -0.761898756, 0.464959621,   1.50685322,
                              -0.630441368, -0.407591283, -0.114732922, -0.128549871,  0.728290685,
                              -1.11859673,  1.2826466,    4.0,          1.54927848e+09};
const double philox_fours[2][10] = {{1.60392114e+09, 3.19312493e+09, 0.515680671, 0.129055887, -0.140071183, -0.209886506,
                                     0.385098967, 0.898678991, 0.084756717, 1.06992644},
                                    {3.19312493e+09, 4.26721901e+09, 0.129055887, 0.973019242, -0.452943146, -0.920506537,
                                     0.313643938, 0.446828594, 0.857804983, -0.799869855}};

bool alike(double a, double b) {
    // The sine and cosine of the fast kind are part of a normal number: an H200 differs by 4e-7 from the values here.
    return std::fabs(a - b) <= 1e-6 * std::max(1.0, std::fabs(b));
}

template <class State>
void check(const unsigned (&integer)[4][4], const double (&real)[14]) {
    unsigned *d_out, out[4];
    double *d_reals, reals_out[14];
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMalloc(&d_reals, sizeof reals_out));
    for (int k = 0; k < 4; ++k) {
        integers<State><<<1, 1>>>(starts[k], d_out);
        CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
        for (int i = 0; i < 4; ++i) EXPECT(out[i] == integer[k][i]);
    }
    reals<State><<<1, 1>>>(d_reals);
    CHECK(cudaMemcpy(reals_out, d_reals, sizeof reals_out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 14; ++i) EXPECT(alike(reals_out[i], real[i]));
    CHECK(cudaFree(d_out));
    CHECK(cudaFree(d_reals));
}

int main() {
    check<curandStateXORWOW_t>(xorwow_integers, xorwow_reals);
    check<curandStatePhilox4_32_10_t>(philox_integers, philox_reals);
    check<curandStateMRG32k3a_t>(mrg_integers, mrg_reals);
    double *d_out, out[10];
    CHECK(cudaMalloc(&d_out, sizeof out));
    for (int k = 0; k < 2; ++k) {
        fours<<<1, 1>>>(d_out, 3 * k);
        CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
        for (int i = 0; i < 10; ++i) EXPECT(alike(out[i], philox_fours[k][i]));
    }
    CHECK(cudaFree(d_out));
    return pass();
}
