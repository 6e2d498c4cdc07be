// Rows: products of a matrix and a vector by warps, and softmax by threads, by blocks and by warps

__device__ float warp_sum(float v, int width) {
    for (int apart = width / 2; apart > 0; apart /= 2) v += __shfl_down_sync(~0u, v, apart);
    return v;
}

// y[M] = A[M,N] x[N]. Grid (M / 4), block (32, 4): a warp a row; N = 32, then N a multiple of 128, then two rows of 16 a warp (grid M / 8).
extern "C" __global__ void gemv_32(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int m, int n) {
    const int row = blockDim.y * blockIdx.x + threadIdx.y, lane = threadIdx.x;
    if (row >= m) return;
    float sum = 0;
    const int rounds = max(n / 32, 1);
#pragma unroll
    for (int i = 0; i < rounds; ++i) sum += a[row * n + i * 32 + lane] * x[i * 32 + lane];
    sum = warp_sum(sum, 32);
    if (lane == 0) y[row] = sum;
}
extern "C" __global__ void gemv_128(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int m, int n) {
    const int row = blockDim.y * blockIdx.x + threadIdx.y, lane = threadIdx.x;
    if (row >= m) return;
    float sum = 0;
    const int rounds = max(n / 128, 1);
    const float4 *const from = reinterpret_cast<const float4*>(a + row * n), *const with = reinterpret_cast<const float4*>(x);
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
        const float4 u = from[i * 32 + lane], v = with[i * 32 + lane];
        sum += u.x * v.x;
        sum += u.y * v.y;
        sum += u.z * v.z;
        sum += u.w * v.w;
    }
    sum = warp_sum(sum, 32);
    if (lane == 0) y[row] = sum;
}
extern "C" __global__ void gemv_16(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int m, int n) {
    const int lane = threadIdx.x % 16, row = (blockDim.y * blockIdx.x + threadIdx.y) * 2 + threadIdx.x / 16;
    if (row >= m) return;
    float sum = a[row * n + lane] * x[lane];
    sum = warp_sum(sum, 16);
    if (lane == 0) y[row] = sum;
}

// Softmax of rows with a running maximum and sum. A thread a row: neighbouring threads read a whole row apart, `apart` words. Block 256.
extern "C" __global__ void softmax_thread(const float* in, float* out, size_t columns, size_t apart, size_t n) {
    const size_t from = (blockIdx.x * blockDim.x + threadIdx.x) * apart;
    if (from >= n) return;
    float top = in[from], sum = 1;
    for (int i = 1; i < columns; ++i) {
        const float higher = fmaxf(top, in[from + i]);
        sum = sum * expf(top - higher) + expf(in[from + i] - higher);
        top = higher;
    }
    for (int i = 0; i < columns; ++i) out[from + i] = expf(in[from + i] - top) / sum;
}

// A block of 256 a row: each thread its share with a running maximum and sum, then together in shared memory or by shuffles.
__device__ void own_share(const float* in, size_t row, size_t columns, float& top, float& sum) {
    const size_t rounds = (columns + blockDim.x - 1) / blockDim.x;
    top = in[row * columns + threadIdx.x];
    sum = 1;
    for (int i = 1; i < rounds; ++i) {
        const int at = row * columns + i * blockDim.x + threadIdx.x;
        if (at < (row + 1) * columns) {
            const float higher = fmaxf(top, in[at]);
            sum = sum * expf(top - higher) + expf(in[at] - higher);
            top = higher;
        }
    }
}
__device__ void write_share(const float* in, float* out, size_t row, size_t columns, float top, float sum) {
    const size_t rounds = (columns + blockDim.x - 1) / blockDim.x;
    for (int i = 0; i < rounds; ++i) {
        const int at = row * columns + i * blockDim.x + threadIdx.x;
        if (at < (row + 1) * columns) out[at] = expf(in[at] - top) / sum;
    }
}
extern "C" __global__ void softmax_block(const float* in, float* out, size_t columns) {
    extern __shared__ float cache[];  // maxima, then sums
    float *const tops = cache, *const sums = cache + blockDim.x;
    own_share(in, blockIdx.x, columns, tops[threadIdx.x], sums[threadIdx.x]);
    __syncthreads();
    int length = blockDim.x;
    while (length > 1) {
        const int before = length, other = before - threadIdx.x - 1;
        length = (length + 1) / 2;
        if (threadIdx.x < length && other > int(threadIdx.x)) {
            const float higher = fmaxf(tops[threadIdx.x], tops[other]);
            sums[threadIdx.x] = sums[threadIdx.x] * expf(tops[threadIdx.x] - higher) + sums[other] * expf(tops[other] - higher);
            tops[threadIdx.x] = higher;
        }
        __syncthreads();
    }
    write_share(in, out, blockIdx.x, columns, tops[0], sums[0]);
}
__device__ void warp_join(float& top, float& sum) {
    for (int apart = 16; apart > 0; apart >>= 1) {
        const float other_top = __shfl_down_sync(~0u, top, apart), other_sum = __shfl_down_sync(~0u, sum, apart);
        const float higher = fmaxf(other_top, top);
        sum = sum * expf(top - higher) + other_sum * expf(other_top - higher);
        top = higher;
    }
}
extern "C" __global__ void softmax_shuffles(const float* in, float* out, size_t columns) {
    extern __shared__ float cache[];
    float top, sum;
    own_share(in, blockIdx.x, columns, top, sum);
    warp_join(top, sum);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) cache[2 * warp] = top, cache[2 * warp + 1] = sum;
    __syncthreads();
    top = -3.402823466e38f, sum = 0;
    if (lane < blockDim.x / 32) top = cache[2 * lane], sum = cache[2 * lane + 1];
    warp_join(top, sum);
    top = __shfl_sync(~0u, top, 0), sum = __shfl_sync(~0u, sum, 0);
    write_share(in, out, blockIdx.x, columns, top, sum);
}

// A warp two rows at once of 64 columns, or one of `32 * packs * 2`: each lane holds pairs of neighbours. Block (32, 4), in strides.
template <int packs, int together> __device__ void softmax_held(const float* in, float* out, long long rows, long long columns) {
    float held[together][packs * 2];
    const long long step = (long long)gridDim.x * blockDim.y * together;
    for (long long row = (long long)(blockIdx.x * blockDim.y + threadIdx.y) * together; row < rows; row += step) {
        float top[together], sum[together];
#pragma unroll
        for (int r = 0; r < together; ++r) {
            top[r] = -3.402823466e38f;
#pragma unroll
            for (int p = 0; p < packs; ++p) {
                const float2 pair = *reinterpret_cast<const float2*>(in + (row + r) * columns + (p * 32 + threadIdx.x) * 2);
                held[r][2 * p] = pair.x, held[r][2 * p + 1] = pair.y;
                top[r] = fmaxf(top[r], fmaxf(pair.x, pair.y));
            }
        }
#pragma unroll
        for (int r = 0; r < together; ++r)
            for (int apart = 16; apart > 0; apart /= 2) top[r] = fmaxf(top[r], __shfl_xor_sync(~0u, top[r], apart));
#pragma unroll
        for (int r = 0; r < together; ++r) {
            sum[r] = 0;
#pragma unroll
            for (int i = 0; i < packs * 2; ++i) sum[r] += held[r][i] = expf(held[r][i] - top[r]);
        }
#pragma unroll
        for (int r = 0; r < together; ++r)
            for (int apart = 16; apart > 0; apart /= 2) sum[r] += __shfl_xor_sync(~0u, sum[r], apart);
#pragma unroll
        for (int r = 0; r < together; ++r)
#pragma unroll
            for (int p = 0; p < packs; ++p)
                *reinterpret_cast<float2*>(out + (row + r) * columns + (p * 32 + threadIdx.x) * 2) =
                    make_float2(held[r][2 * p] / sum[r], held[r][2 * p + 1] / sum[r]);
    }
}
extern "C" __global__ void softmax_warp_64(const float* in, float* out, long long rows, long long columns) { softmax_held<1, 2>(in, out, rows, columns); }
extern "C" __global__ void softmax_warp_128(const float* in, float* out, long long rows, long long columns) { softmax_held<2, 1>(in, out, rows, columns); }
extern "C" __global__ void softmax_warp_512(const float* in, float* out, long long rows, long long columns) { softmax_held<8, 1>(in, out, rows, columns); }
