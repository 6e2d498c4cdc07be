// Attention, out = softmax(scale q k^T) v of each head, by mma.sync in tiles with an online softmax (FlashAttention-2). Launch: (ceil(T/128), heads) blocks of 128, 512 d bytes of shared memory. arch: sm_80
//
// q, out [heads, T, d], k, v [heads, S, d], d 64 or 128, 16-bit elements; lse[heads, T] the logarithm of each row's sum. Causal: query
// i sees keys 0 .. i + S - T. A warp has 32 queries; keys come 64 at a time. While the scores of a tile are computed, its values
// are on the way; while values are summed up, the next keys.
#include "ampere.h"

namespace {

constexpr int queries = 128, keys = 64, threads = 128;
constexpr float none = -1e30f;  // less than any score; unlike infinity it can be subtracted from itself

// Rows first .. first + rows - 1 of x[length, d] to shared memory, by chunks of 16 bytes; zeros beyond the end.
template <class T, int d, int rows> __device__ void copy_rows(unsigned to, const T* x, int first, int length) {
    constexpr int chunks = d / 8, step = threads / chunks;  // a thread copies the same chunk of every step-th row
    const int row = threadIdx.x / chunks;
    to += swizzled(row, threadIdx.x % chunks, chunks);
    const T* const from = x + (long long)first * d + threadIdx.x * 8;
#pragma unroll
    for (int i = 0; i < rows; i += step) {
        const bool inside = first + row + i < length;
        copy_16(to + i * d * 2, inside ? from + i * d : x, inside);
    }
}

template <class T, int d>
__device__ void attention_mma(const T* q, const T* k, const T* v, T* out, float* lse, int t, int s, int causal, float scale) {
    extern __shared__ __align__(1024) unsigned char memory[];
    constexpr int blocks = d / 8;  // of 8 columns of the output
    const unsigned of_q = shared_address(memory), of_k = of_q + queries * d * 2, of_v = of_k + keys * d * 2;
    const int head = blockIdx.y, top = (gridDim.x - 1 - blockIdx.x) * queries;  // long rows first
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, down = warp * 32;
    q += (long long)head * t * d, k += (long long)head * s * d, v += (long long)head * s * d;
    const int seen = causal ? min(s, top + queries + s - t) : s, tiles = max(0, (seen + keys - 1) / keys);
    // Of 16 rows and 2 chunks that fragments() reads, lane n names row n % 16 of chunk n / 16: swizzled() with what does not change taken out.
    const unsigned own_row = lane % 16 * d * 2, key = (lane / 16 ^ lane % 8) * 16;
    const auto place = [&](int sixteen, int two) { return sixteen * 32 * d + own_row + (key ^ two * 32); };
    const float steep = scale * 1.4426950408889634f;  // exp(scale x) = exp2(steep x)

    copy_rows<T, d, queries>(of_q, q, top, t);
    if (tiles) copy_rows<T, d, keys>(of_k, k, 0, s);
    close_copies();
    float sum[2][blocks][4] = {}, highest[2][2], total[2][2] = {};  // [16 rows, of 8 below 8]
#pragma unroll
    for (int i = 0; i < 2; ++i) highest[i][0] = highest[i][1] = none;
    for (int tile = 0; tile < tiles; ++tile) {
        wait_for_copies<0>();
        __syncthreads();  // keys are there; nobody reads the values before any more
        copy_rows<T, d, keys>(of_v, v, tile * keys, s);
        close_copies();
        float score[2][keys / 8][4] = {};
#pragma unroll
        for (int step = 0; step < d / 16; ++step) {
            unsigned a[2][4];
#pragma unroll
            for (int i = 0; i < 2; ++i) fragments(a[i], of_q + place(warp * 2 + i, step));
#pragma unroll
            for (int j = 0; j < keys / 16; ++j) {
                unsigned b[4];  // 16 keys, 16 of d: keys 0 to 7 are b[0], b[2]
                fragments(b, of_k + place(j, step));
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    multiply<T>(score[i][2 * j], a[i], b[0], b[2]);
                    multiply<T>(score[i][2 * j + 1], a[i], b[1], b[3]);
                }
            }
        }
        wait_for_copies<0>();
        __syncthreads();  // values are there; nobody reads the keys any more
        if (tile + 1 < tiles) copy_rows<T, d, keys>(of_k, k, (tile + 1) * keys, s);
        close_copies();

        const bool edge = (tile + 1) * keys > (causal ? min(s, top + 1 + s - t) : s);
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int row = top + down + i * 16 + half * 8 + lane / 4, limit = causal ? min(s, row + 1 + s - t) : s;
                float most = highest[i][half];
#pragma unroll
                for (int j = 0; j < keys / 8; ++j)
#pragma unroll
                    for (int e = 2 * half; e < 2 * half + 2; ++e) {
                        if (edge && tile * keys + j * 8 + lane % 4 * 2 + e % 2 >= limit) score[i][j][e] = none;
                        most = fmaxf(most, score[i][j][e]);
                    }
                most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
                most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
                const float fade = exp2_fast((highest[i][half] - most) * steep), base = most == none ? 0 : most * steep;
                highest[i][half] = most;
                total[i][half] *= fade;
#pragma unroll
                for (int j = 0; j < keys / 8; ++j)
#pragma unroll
                    for (int e = 2 * half; e < 2 * half + 2; ++e) {
                        score[i][j][e] = exp2_fast(score[i][j][e] * steep - base);
                        total[i][half] += score[i][j][e];
                    }
#pragma unroll
                for (int j = 0; j < blocks; ++j) sum[i][j][2 * half] *= fade, sum[i][j][2 * half + 1] *= fade;
            }
#pragma unroll
        for (int step = 0; step < keys / 16; ++step) {
            unsigned a[2][4];
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int part = 0; part < 4; ++part) {
                    const float* const two = &score[i][2 * step + part / 2][part % 2 * 2];
                    a[i][part] = pair_of<T>(two[0], two[1]);
                }
#pragma unroll
            for (int j = 0; j < d / 16; ++j) {
                unsigned b[4];
                fragments_transposed(b, of_v + place(step, j));
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    multiply<T>(sum[i][2 * j], a[i], b[0], b[1]);
                    multiply<T>(sum[i][2 * j + 1], a[i], b[2], b[3]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = top + down + i * 16 + half * 8 + lane / 4;
            float all = total[i][half];
            all += __shfl_xor_sync(~0u, all, 1);
            all += __shfl_xor_sync(~0u, all, 2);
            const float part = all > 0 ? 1 / all : 0;
            if (row >= t) continue;
            T* const to = out + ((long long)head * t + row) * d + lane % 4 * 2;
#pragma unroll
            for (int j = 0; j < blocks; ++j)
                *reinterpret_cast<unsigned*>(to + j * 8) = pair_of<T>(sum[i][j][2 * half] * part, sum[i][j][2 * half + 1] * part);
            if (lane % 4 == 0) lse[(long long)head * t + row] = highest[i][half] * scale + logf(all);
        }
}

}  // namespace

#define ATTENTION(T, D)                                                                                                        \
    extern "C" __global__ void __launch_bounds__(threads, 2) attention_mma_##T##_##D(                                          \
        const T* q, const T* k, const T* v, T* out, float* lse, int t, int s, int causal, float scale) {                       \
        attention_mma<T, D>(q, k, v, out, lse, t, s, causal, scale);                                                           \
    }
ATTENTION(f16, 64)
ATTENTION(f16, 128)
ATTENTION(bf16, 64)
ATTENTION(bf16, 128)
