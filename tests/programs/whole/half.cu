// Half and bfloat16 numbers on both sides: the host and the device give the same bits.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.h"

__global__ void arithmetic(const __half* a, const __half* b, __half* c, __half2* pairs, __nv_bfloat16* d, int n) {
    const int i = threadIdx.x;
    if (i >= n) return;
    c[i] = __hfma(a[i], b[i], __float2half(0.25f));
    pairs[i] = __hmul2(__halves2half2(a[i], b[i]), __float2half2_rn(2.0f));
    d[i] = __float2bfloat16(__half2float(a[i]) * 1.7f);
}

int main() {
    const int n = 64;
    __half a[n], b[n], c[n];
    __half2 pairs[n];
    __nv_bfloat16 d[n];
    for (int i = 0; i < n; ++i) {
        a[i] = __float2half(0.37f * i - 5.0f);
        b[i] = __float2half(1.0f / (i + 1));
    }
    __half *d_a, *d_b, *d_c;
    __half2* d_pairs;
    __nv_bfloat16* d_d;
    CHECK(cudaMalloc(&d_a, sizeof a));
    CHECK(cudaMalloc(&d_b, sizeof b));
    CHECK(cudaMalloc(&d_c, sizeof c));
    CHECK(cudaMalloc(&d_pairs, sizeof pairs));
    CHECK(cudaMalloc(&d_d, sizeof d));
    CHECK(cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b, sizeof b, cudaMemcpyHostToDevice));
    arithmetic<<<1, n>>>(d_a, d_b, d_c, d_pairs, d_d, n);
    CHECK(cudaMemcpy(c, d_c, sizeof c, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(pairs, d_pairs, sizeof pairs, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(d, d_d, sizeof d, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) {
        const float exact = __half2float(a[i]) * __half2float(b[i]) + 0.25f;
        EXPECT(__half_as_ushort(c[i]) == __half_as_ushort(__float2half(exact)));
        EXPECT(__low2float(pairs[i]) == 2.0f * __half2float(a[i]));
        EXPECT(__high2float(pairs[i]) == 2.0f * __half2float(b[i]));
        EXPECT(__bfloat162float(d[i]) == __bfloat162float(__float2bfloat16(__half2float(a[i]) * 1.7f)));
    }
    for (unsigned bits = 0; bits < 0x7c00; ++bits) {
        const __half h = __ushort_as_half(static_cast<unsigned short>(bits));
        EXPECT(__half_as_ushort(__float2half(__half2float(h))) == bits);
    }
    EXPECT(std::isinf(__half2float(__float2half(1e6f))));
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_c));
    CHECK(cudaFree(d_pairs));
    CHECK(cudaFree(d_d));
    return pass();
}
