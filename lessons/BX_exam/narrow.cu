// One number in three narrower types, and back again.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void narrow(const float* x, float* y, float scale) {
    int i = threadIdx.x;
    float value = x[i] * scale;
    float as_f16 = __half2float(__float2half_rn(value));
    float as_bf16 = __bfloat162float(__float2bfloat16_rn(value));
    float as_tf32 = __uint_as_float((__float_as_uint(value) + 0x1000u) & 0xffffe000u);
    y[3 * i] = as_f16 / scale;
    y[3 * i + 1] = as_bf16 / scale;
    y[3 * i + 2] = as_tf32 / scale;
}
