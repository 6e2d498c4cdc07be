// Attention, out = softmax(scale q k^T) v of each head, by wgmma and bulk tensor copies (FlashAttention-3). Launch: (ceil(T/128), heads) blocks of 384, 1280 d + 128 bytes of shared memory. arch: sm_90a
//
// The first warpgroup only copies: the queries, then keys and values, 128 at a time, two tiles of each in flight. The other two have 64
// queries each. Scores of the next tile are under way while the last one's values are summed up, so that the softmax of one
// runs beside the products of the other. Definition and lse as in attention_mma.cu.
// Maps of [heads, length, d] (boxes of 64 of d, swizzle 128 bytes): q, out 1 x 64 x 64; k, v 1 x 128 x 64.
#include "hopper.h"

namespace {

constexpr int queries = 128, keys = 128, stages = 2, threads = 384, box_of_q = 64 * 64 * 2, box_of_k = keys * 64 * 2;
constexpr float none = -1e30f;  // less than any score; unlike infinity it can be subtracted from itself

template <int d> struct Place {  // bytes in shared memory
    static constexpr int boxes = d / 64, tile = boxes * box_of_k;
    static constexpr int of_k = 2 * boxes * box_of_q, of_v = of_k + stages * tile, barriers = of_v + stages * tile;
};

// A row's running maximum and sum; the lanes of a row are four neighbours.
struct Row {
    float highest = none, total = 0;
};

// Scores of 64 x 128 become weights exp(scale (score - highest)); fade: by how much what was summed before shrinks, of the thread's
// two rows.
__device__ void soften(float (&score)[64], Row (&row)[2], float (&fade)[2], float steep) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float most = row[half].highest;
#pragma unroll
        for (int j = 0; j < keys / 8; ++j) most = fmaxf(most, fmaxf(score[4 * j + 2 * half], score[4 * j + 2 * half + 1]));
        most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
        most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
        fade[half] = exp2_fast((row[half].highest - most) * steep);
        const float base = most == none ? 0 : most * steep;
        float total = 0;
#pragma unroll
        for (int j = 0; j < keys / 8; ++j)
#pragma unroll
            for (int e = 4 * j + 2 * half; e < 4 * j + 2 * half + 2; ++e) {
                score[e] = exp2_fast(score[e] * steep - base);
                total += score[e];
            }
        row[half].highest = most;
        row[half].total = row[half].total * fade[half] + total;
    }
}
// As elements of A.
template <class T> __device__ void round(const float (&score)[64], unsigned (&weights)[keys / 16][4]) {
#pragma unroll
    for (int i = 0; i < keys / 16; ++i)
#pragma unroll
        for (int part = 0; part < 4; ++part) weights[i][part] = pair_of<T>(score[8 * i + 2 * part], score[8 * i + 2 * part + 1]);
}

template <class T, int d>
__device__ void attention_wgmma(const TensorMap& q_map, const TensorMap& k_map, const TensorMap& v_map, const TensorMap& out_map,
                                float* lse, int t, int s, int causal, float scale) {
    extern __shared__ __align__(1024) unsigned char memory[];
    using In = Place<d>;
    const unsigned shared = shared_address(memory);
    const Barrier q_full = shared + In::barriers, k_full = q_full + 8, k_empty = k_full + 8 * stages, v_full = k_empty + 8 * stages,
                  v_empty = v_full + 8 * stages;
    const int head = blockIdx.y, top = (gridDim.x - 1 - blockIdx.x) * queries;  // long rows first
    const int warpgroup = threadIdx.x / 128, lane = threadIdx.x % 32;
    const int seen = causal ? min(s, top + queries + s - t) : s, tiles = max(0, (seen + keys - 1) / keys);
    if (threadIdx.x == 0) {
        make_barrier(q_full, 1);
        for (int i = 0; i < stages; ++i) {
            make_barrier(k_full + 8 * i, 1), make_barrier(k_empty + 8 * i, 8);
            make_barrier(v_full + 8 * i, 1), make_barrier(v_empty + 8 * i, 8);
        }
        show_barriers();
    }
    __syncthreads();
    if (warpgroup == 0) {
        leave_registers<24>();
        if (__shfl_sync(~0u, threadIdx.x / 32, 0) != 0 || !is_elected()) return;
        const auto copy_tile = [&](const TensorMap& map, unsigned to, Barrier full, Barrier empty, int tile) {
            const int stage = tile % stages;
            wait(empty + 8 * stage, tile / stages % 2 ^ 1);
            expect(full + 8 * stage, In::tile);
            for (int box = 0; box < In::boxes; ++box)
                load(to + stage * In::tile + box * box_of_k, map, full + 8 * stage, box * 64, tile * keys, head);
        };
        expect(q_full, 2 * In::boxes * box_of_q);
        for (int half = 0; half < 2; ++half)
            for (int box = 0; box < In::boxes; ++box)
                load(shared + (half * In::boxes + box) * box_of_q, q_map, q_full, box * 64, top + half * 64, head);
        for (int tile = 0; tile < tiles; ++tile) {
            copy_tile(k_map, shared + In::of_k, k_full, k_empty, tile);
            copy_tile(v_map, shared + In::of_v, v_full, v_empty, tile);
        }
        return;
    }
    take_registers<240>();
    const int half = warpgroup - 1, warp = threadIdx.x / 32 % 4, first = top + half * 64 + warp * 16 + lane / 4;  // first: of two rows
    const unsigned of_q = shared + half * In::boxes * box_of_q;
    const float steep = scale * 1.4426950408889634f;  // exp(scale x) = exp2(steep x)
    float score[64], sum[d / 2];
    unsigned weights[keys / 16][4];
    Row row[2];
    float fade[2];
    const auto begin_scores = [&](int tile) {
        const unsigned of_k = shared + In::of_k + tile % stages * In::tile;
        wait(k_full + 8 * (tile % stages), tile / stages % 2);
        begin_products();
#pragma unroll
        for (int i = 0; i < d / 16; ++i)
            multiply_along<T, keys>(score, along(of_q + i / 4 * box_of_q + i % 4 * 32), along(of_k + i / 4 * box_of_k + i % 4 * 32), i > 0);
        close_products();
    };
    const auto begin_values = [&](int tile) {
        const unsigned of_v = shared + In::of_v + tile % stages * In::tile;
        wait(v_full + 8 * (tile % stages), tile / stages % 2);
        begin_products();
#pragma unroll
        for (int i = 0; i < keys / 16; ++i)
            multiply_registers_across<T, d>(sum, weights[i], across(of_v + i * 16 * 128, box_of_k), tile + i > 0);
        close_products();
    };
    const auto cut = [&](int tile) {  // keys that a query does not see
        if ((tile + 1) * keys <= (causal ? min(s, top + half * 64 + 1 + s - t) : s)) return;
#pragma unroll
        for (int e = 0; e < 64; ++e) {
            const int limit = causal ? min(s, first + e / 2 % 2 * 8 + 1 + s - t) : s;
            if (tile * keys + e / 4 * 8 + lane % 4 * 2 + e % 2 >= limit) score[e] = none;
        }
    };
    const auto release = [&](Barrier empty, int tile) {
        if (lane == 0) arrive(empty + 8 * (tile % stages));
    };
    if (tiles == 0) {  // of these queries none sees a key
#pragma unroll
        for (int i = 0; i < d / 2; ++i) sum[i] = 0;
    } else {
        wait(q_full, 0);
        begin_scores(0);
        wait_for_products<0>();
        hold(score);
        release(k_empty, 0);
        cut(0);
        soften(score, row, fade, steep);
        round<T>(score, weights);
        for (int tile = 0; tile < tiles - 1; ++tile) {
            begin_scores(tile + 1);
            begin_values(tile);
            wait_for_products<1>();
            hold(score);
            release(k_empty, tile + 1);
            cut(tile + 1);
            soften(score, row, fade, steep);
            wait_for_products<0>();
            hold(sum);
            release(v_empty, tile);
#pragma unroll
            for (int i = 0; i < d / 2; ++i) sum[i] *= fade[i / 2 % 2];
            round<T>(score, weights);
        }
        begin_values(tiles - 1);
        wait_for_products<0>();
        hold(sum);
    }
    // Out through the place of the warpgroup's queries, which nobody reads any more.
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        float all = row[i].total;
        all += __shfl_xor_sync(~0u, all, 1);
        all += __shfl_xor_sync(~0u, all, 2);
        fade[i] = all > 0 ? 1 / all : 0;
        if (lane % 4 == 0 && first + 8 * i < t) lse[(long long)head * t + first + 8 * i] = row[i].highest * scale + logf(all);
    }
    meet(1 + half, 128);
#pragma unroll
    for (int i = 0; i < d / 16; ++i) {
        const float* const of = sum + i * 8;
        store_fragments(of_q + i / 4 * box_of_q + swizzled(warp * 16 + lane % 16, i % 4 * 2 + lane / 16, 8),
                        pair_of<T>(of[0] * fade[0], of[1] * fade[0]), pair_of<T>(of[2] * fade[1], of[3] * fade[1]),
                        pair_of<T>(of[4] * fade[0], of[5] * fade[0]), pair_of<T>(of[6] * fade[1], of[7] * fade[1]));
    }
    show_to_stores();
    meet(1 + half, 128);
    if (threadIdx.x % 128 == 0) {
        for (int box = 0; box < In::boxes; ++box) store(out_map, of_q + box * box_of_q, box * 64, top + half * 64, head);
        close_stores();
        wait_for_stores<0>();
    }
}

}  // namespace

#define MAP const __grid_constant__ TensorMap
#define ATTENTION(T, D)                                                                                                        \
    extern "C" __global__ void __launch_bounds__(threads, 1) attention_wgmma_##T##_##D(                                        \
        MAP q, MAP k, MAP v, MAP out, float* lse, int t, int s, int causal, float scale) {                                     \
        attention_wgmma<T, D>(q, k, v, out, lse, t, s, causal, scale);                                                         \
    }
ATTENTION(f16, 64)
ATTENTION(f16, 128)
ATTENTION(bf16, 64)
ATTENTION(bf16, 128)
