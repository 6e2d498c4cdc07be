// The spellings of matrix instructions, each with what it does to the registers of a whole warp: see products.h.
// Included by opcodes.cpp alone.
#pragma once
#include "core/ptx/opcodes/products.h"

namespace lockstep::ptx {
namespace {
namespace matrix {

// What the macros below take as words of the spelling and as types: MMA(dense, m16n8k16, f16, f16, f32).
namespace word {
using f16 = F16;
using bf16 = BF16;
using tf32 = TF32;
using e4m3 = E4M3;
using e5m2 = E5M2;
using s8 = S8;
using u8 = U8;
using s4 = S4;
using u4 = U4;
using m16n8k4 = Shape<16, 8, 4>;
using m16n8k8 = Shape<16, 8, 8>;
using m16n8k16 = Shape<16, 8, 16>;
using m16n8k32 = Shape<16, 8, 32>;
using m16n8k64 = Shape<16, 8, 64>;
using m16n8k128 = Shape<16, 8, 128>;
using m8n8k16 = Shape<8, 8, 16>;
using m8n8k32 = Shape<8, 8, 32>;
using m16n16k8 = Shape<16, 16, 8>;
using m16n16k16 = Shape<16, 16, 16>;
using m32n8k16 = Shape<32, 8, 16>;
using m8n32k16 = Shape<8, 32, 16>;
}  // namespace word
namespace sums {
using f16 = HalfSums;
using f32 = F32;
using s32 = S32;
using satfinite = S32Finite;
}  // namespace sums

}  // namespace matrix

// --- mma: what comes before the shape, the kind of product, the shape, the elements of A, of B, of C and D -------------

#define MMA(before, kind, shape, a, b, c)                                                                         \
    {                                                                                                             \
        before "." #shape ".row.col." #c "." #a "." #b "." #c,                                                    \
            matrix::kind<matrix::word::shape, matrix::word::a, matrix::word::b, matrix::sums::c, matrix::sums::c> \
    }
#define MMA_F16(before, kind, shape)                                                  \
    MMA(before, kind, shape, f16, f16, f16), MMA(before, kind, shape, f16, f16, f32), \
        MMA(before, kind, shape, bf16, bf16, f32)
#define MMA_FP8_SUMS(before, kind, shape, c)                                          \
    MMA(before, kind, shape, e4m3, e4m3, c), MMA(before, kind, shape, e4m3, e5m2, c), \
        MMA(before, kind, shape, e5m2, e4m3, c), MMA(before, kind, shape, e5m2, e5m2, c)
#define MMA_FP8(before, kind, shape) MMA_FP8_SUMS(before, kind, shape, f32), MMA_FP8_SUMS(before, kind, shape, f16)
#define MMA_INTEGER(before, kind, shape, a, b)                                                                        \
    MMA(before, kind, shape, a, b, s32), {                                                                            \
        before "." #shape ".row.col.satfinite.s32." #a "." #b ".s32",                                                 \
            matrix::kind<matrix::word::shape, matrix::word::a, matrix::word::b, matrix::S32Finite, matrix::S32Finite> \
    }
#define MMA_BYTES(before, kind, shape)                                                  \
    MMA_INTEGER(before, kind, shape, s8, s8), MMA_INTEGER(before, kind, shape, s8, u8), \
        MMA_INTEGER(before, kind, shape, u8, s8), MMA_INTEGER(before, kind, shape, u8, u8)
#define MMA_NIBBLES(before, kind, shape)                                                \
    MMA_INTEGER(before, kind, shape, s4, s4), MMA_INTEGER(before, kind, shape, s4, u4), \
        MMA_INTEGER(before, kind, shape, u4, s4), MMA_INTEGER(before, kind, shape, u4, u4)
#define MMA_BITS(shape, m, k)                                                                                        \
    {".sync.aligned." shape ".row.col.s32.b1.b1.s32.xor.popc", matrix::count_matches<m, k, matrix::Bits::differ>}, { \
        ".sync.aligned." shape ".row.col.s32.b1.b1.s32.and.popc", matrix::count_matches<m, k, matrix::Bits::both>    \
    }
#define DOUBLES(before, m, k)                                                         \
    {before "{.rn}.f64.f64.f64.f64", matrix::doubles<m, k>},                          \
        {before ".rz.f64.f64.f64.f64", matrix::rounded_doubles<m, k, FE_TOWARDZERO>}, \
        {before ".rm.f64.f64.f64.f64", matrix::rounded_doubles<m, k, FE_DOWNWARD>}, { \
        before ".rp.f64.f64.f64.f64", matrix::rounded_doubles<m, k, FE_UPWARD>        \
    }
#define QUADS(a, b, by_columns)                                                                         \
    {".sync.aligned.m8n8k4." a "." b ".f16.f16.f16.f16", matrix::quads<by_columns, true, true>},        \
        {".sync.aligned.m8n8k4." a "." b ".f32.f16.f16.f16", matrix::quads<by_columns, true, false>}, { \
        ".sync.aligned.m8n8k4." a "." b ".f32.f16.f16.f32", matrix::quads<by_columns, false, false>     \
    }

#define PLAIN ".sync.aligned"
constexpr Form mma_forms[] = {
    QUADS("row", "row", 0),
    QUADS("col", "row", 1),
    QUADS("row", "col", 2),
    QUADS("col", "col", 3),
    MMA_F16(PLAIN, dense, m16n8k8),
    MMA_F16(PLAIN, dense, m16n8k16),
    MMA(PLAIN, dense, m16n8k4, tf32, tf32, f32),
    MMA(PLAIN, dense, m16n8k8, tf32, tf32, f32),
    MMA_FP8(PLAIN, dense, m16n8k16),
    MMA_FP8(PLAIN, dense, m16n8k32),
    MMA_BYTES(PLAIN, dense, m8n8k16),
    MMA_BYTES(PLAIN, dense, m16n8k16),
    MMA_BYTES(PLAIN, dense, m16n8k32),
    MMA_NIBBLES(PLAIN, dense, m8n8k32),
    MMA_NIBBLES(PLAIN, dense, m16n8k32),
    MMA_NIBBLES(PLAIN, dense, m16n8k64),
    MMA_BITS("m8n8k128", 8, 128),
    MMA_BITS("m16n8k128", 16, 128),
    MMA_BITS("m16n8k256", 16, 256),
    DOUBLES(".sync.aligned.m8n8k4.row.col", 8, 4),
};
constexpr Form mma_doubles[] = {
    DOUBLES(".sync.aligned.m16n8k4.row.col", 16, 4),
    DOUBLES(".sync.aligned.m16n8k8.row.col", 16, 8),
    DOUBLES(".sync.aligned.m16n8k16.row.col", 16, 16),
};

#define SPARSE "(.sp|.sp::ordered_metadata).sync.aligned"
constexpr Form mma_sparse_forms[] = {
    MMA_F16(SPARSE, sparse, m16n8k16),
    MMA_F16(SPARSE, sparse, m16n8k32),
    MMA(SPARSE, sparse, m16n8k8, tf32, tf32, f32),
    MMA(SPARSE, sparse, m16n8k16, tf32, tf32, f32),
    MMA_FP8(SPARSE, sparse, m16n8k64),
    MMA_BYTES(SPARSE, sparse, m16n8k32),
    MMA_BYTES(SPARSE, sparse, m16n8k64),
    MMA_NIBBLES(SPARSE, sparse, m16n8k64),
    MMA_NIBBLES(SPARSE, sparse, m16n8k128),
};

// --- wmma: the layouts of A and B, the shape, the elements of A and B, of C and D ---------------------------------------

#define ANY_LAYOUTS "(.row|.col)(.row|.col)"
#define WMMA(layouts, shape, a, c)                                                                                 \
    {                                                                                                              \
        ".mma.sync.aligned" layouts "." #shape "." #c "." #a "." #a "." #c,                                        \
            matrix::dense<matrix::word::shape, matrix::word::a, matrix::word::a, matrix::sums::c, matrix::sums::c> \
    }
#define WMMA_F16(shape, c, d)                                                                              \
    {                                                                                                      \
        ".mma.sync.aligned" ANY_LAYOUTS "." #shape "." #d "." #c,                                          \
            matrix::dense<matrix::word::shape, matrix::F16, matrix::F16, matrix::sums::c, matrix::sums::d> \
    }
#define WMMA_INTEGER(layouts, shape, a)                                                                                \
    WMMA(layouts, shape, a, s32), {                                                                                    \
        ".mma.sync.aligned" layouts "." #shape ".s32." #a "." #a ".s32.satfinite",                                     \
            matrix::dense<matrix::word::shape, matrix::word::a, matrix::word::a, matrix::S32Finite, matrix::S32Finite> \
    }
#define WMMA_SHAPES(shape)                                                                                      \
    WMMA_F16(shape, f16, f16), WMMA_F16(shape, f32, f16), WMMA_F16(shape, f16, f32), WMMA_F16(shape, f32, f32), \
        WMMA(ANY_LAYOUTS, shape, bf16, f32), WMMA_INTEGER(ANY_LAYOUTS, shape, s8), WMMA_INTEGER(ANY_LAYOUTS, shape, u8)

constexpr Form wmma_mma_forms[] = {
    WMMA_SHAPES(m16n16k16),
    WMMA_SHAPES(m32n8k16),
    WMMA_SHAPES(m8n32k16),
    WMMA(ANY_LAYOUTS, m16n16k8, tf32, f32),
    WMMA_INTEGER(".row.col", m8n8k32, s4),
    WMMA_INTEGER(".row.col", m8n8k32, u4),
    DOUBLES(".mma.sync.aligned" ANY_LAYOUTS ".m8n8k4", 8, 4),
    {".mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", matrix::count_matches<8, 128, matrix::Bits::differ>},
    {".mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", matrix::count_matches<8, 128, matrix::Bits::both>},
};

// Loads and stores say row or col: which way the matrix lies in memory.
#define WMMA_SPACE "{.global|.shared|.shared::cta}"
#define BYTE_SHAPES "(.m16n16k16|.m32n8k16|.m8n32k16)"
constexpr Form wmma_load_forms[] = {
    {".load(.a|.b).sync.aligned(.row|.col)" BYTE_SHAPES WMMA_SPACE "(.f16|.bf16|.s8|.u8)"},
    {".load(.a|.b).sync.aligned(.row|.col).m16n16k8" WMMA_SPACE ".tf32"},
    {".load(.a|.b).sync.aligned(.row|.col).m8n8k4" WMMA_SPACE ".f64"},
    {".load.a.sync.aligned.row.m8n8k32" WMMA_SPACE "(.s4|.u4)"},
    {".load.b.sync.aligned.col.m8n8k32" WMMA_SPACE "(.s4|.u4)"},
    {".load.a.sync.aligned.row.m8n8k128" WMMA_SPACE ".b1"},
    {".load.b.sync.aligned.col.m8n8k128" WMMA_SPACE ".b1"},
    {".load.c.sync.aligned(.row|.col)" BYTE_SHAPES WMMA_SPACE "(.f16|.f32|.s32)"},
    {".load.c.sync.aligned(.row|.col).m16n16k8" WMMA_SPACE ".f32"},
    {".load.c.sync.aligned(.row|.col).m8n8k4" WMMA_SPACE ".f64"},
    {".load.c.sync.aligned(.row|.col)(.m8n8k32|.m8n8k128)" WMMA_SPACE ".s32"},
};
constexpr Form wmma_store_forms[] = {
    {".store.d.sync.aligned(.row|.col)" BYTE_SHAPES WMMA_SPACE "(.f16|.f32|.s32)"},
    {".store.d.sync.aligned(.row|.col).m16n16k8" WMMA_SPACE ".f32"},
    {".store.d.sync.aligned(.row|.col).m8n8k4" WMMA_SPACE ".f64"},
    {".store.d.sync.aligned(.row|.col)(.m8n8k32|.m8n8k128)" WMMA_SPACE ".s32"},
};

constexpr Form tile_forms[] = {{".sync.aligned.m8n8(.x1|.x2|.x4){.trans}{.shared|.shared::cta}.b16"}};
constexpr Form movmatrix_forms[] = {{".sync.aligned.m8n8.trans.b16", matrix::transpose}};

// --- wgmma: the elements of A, of B, of C and D --------------------------------------------------------------------------

#define GROUP(before, a, b, c) \
    { before "(.m64n*)." #c "." #a "." #b, matrix::group<matrix::word::a, matrix::word::b, matrix::sums::c> }
#define GROUP_BYTES(before, a, b)                                                                                         \
    GROUP(before, a, b, s32), {                                                                                           \
        before "(.m64n*).s32." #a "." #b ".satfinite", matrix::group<matrix::word::a, matrix::word::b, matrix::S32Finite> \
    }
#define GROUP_BOTH(before, a, b) GROUP(before, a, b, f32), GROUP(before, a, b, f16)
#define GROUPS(before)                                                                                  \
    GROUP_BOTH(before, f16, f16), GROUP(before, bf16, bf16, f32), GROUP(before, tf32, tf32, f32),       \
        GROUP_BOTH(before, e4m3, e4m3), GROUP_BOTH(before, e4m3, e5m2), GROUP_BOTH(before, e5m2, e4m3), \
        GROUP_BOTH(before, e5m2, e5m2), GROUP_BYTES(before, s8, s8), GROUP_BYTES(before, s8, u8),       \
        GROUP_BYTES(before, u8, s8), GROUP_BYTES(before, u8, u8)

constexpr Form wgmma_forms[] = {
    GROUPS(".mma_async.sync.aligned"),
    {".mma_async.sync.aligned(.m64n*).s32.b1.b1.and.popc", matrix::group_bits},
};
constexpr Form wgmma_sparse_forms[] = {GROUPS(".mma_async.sp.sync.aligned")};
constexpr Form wgmma_wait_forms[] = {{"(.fence|.commit_group|.wait_group).sync.aligned"}};

}  // namespace
}  // namespace lockstep::ptx
