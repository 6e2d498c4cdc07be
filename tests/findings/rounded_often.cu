// A sum that is rounded to half precision at each step: V100 rounds on its few special function units.
// run timed: --gpu v100 --grid 160 --block 256 --arg in:f32[40960] --arg out:f16[40960] --what-if none
// says: Conversions between half and single precision keep the special function units busy
// says: rounded_often.cu:10
// never: Conversions between integers
#include <cuda_fp16.h>
__global__ void rounded_often(const float *x, half *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    half sum = __float2half(x[i]);
    for (int k = 0; k < 64; ++k) sum = __float2half(__half2float(sum) * 0.75f + 0.125f);
    y[i] = sum;
}
