// The opcode table: one row an operation, the whole truth about it. opcodes.cpp writes the rows out.
// Parser (operands), decoder (which types), executor (`lanes` or `kind`), timing, lowering, metrics and checks (`unit`,
// `facts`), the timeline (`letter`) and tests all read the same row. A lane-wise instruction is a row and nothing else.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/ptx/opcodes/facts.h"

namespace lockstep::ptx {

enum class Type : uint8_t {
    none,
    b8,
    b16,
    b32,
    b64,
    u8,
    u16,
    u32,
    u64,
    s8,
    s16,
    s32,
    s64,
    f16,
    f16x2,
    bf16,
    f32,
    f64,
    pred,
    b128,
    bf16x2,
    u16x2,
    s16x2,
    tf32,    // in a b32 register
    e4m3,    // fp8; alone only in matrices
    e5m2,    // fp8; alone only in matrices
    e4m3x2,  // two of them in a b16 register
    e5m2x2,
    u4,  // matrices alone, as the next two
    s4,
    b1
};
enum class Space : uint8_t { none, param, global, shared, local, constant, generic };
enum class Opaque : uint8_t { none, texref, samplerref, surfref };  // variables that hold a handle

size_t size_of(Type type);  // bytes a lane; pred: 0 (a predicate is one 32-bit mask a warp); u4, s4, b1: 0
std::string_view name_of(Type type);
Type type_named(std::string_view modifier);  // ".f32"; none for anything else
std::string_view name_of(Space space);
uint32_t since_of(
    std::string_view modifier);  // compute capability that a type or another modifier needs, wherever it stands

// How the executor runs it.
enum class Kind : uint8_t {
    lane_wise,         // d = f(a, b, c) in every lane by the form's `lanes`
    lane_wise_many,    // the same with up to 4 destinations or 5 sources, by the form's `many`
    special_register,  // mov from %tid.x and its like
    load,
    store,
    branch,        // bra
    branch_table,  // brx.idx
    call,          // direct, or through a register
    return_,       // ret of a function that was called
    exit,          // ret at top level, exit
    barrier,       // bar.sync, barrier.sync, bar.arrive
    warp_barrier,  // bar.warp.sync
    shuffle,
    vote,    // vote, match, redux, activemask, elect
    atomic,  // atom and red
    fence,   // membar, fence: orders nothing in this machine, costs time
    trap,
    nop,
    matrix,        // mma, wmma.mma, movmatrix: registers of the whole warp, by the form's `many` over the operand list
    matrix_load,   // ldmatrix, wmma.load
    matrix_store,  // stmatrix, wmma.store
    matrix_group,  // wgmma: operands in shared memory
    async_copy,    // cp.async
    async_wait,    // cp.async.commit_group, wait_group, wait_all, mbarrier.arrive
    mbarrier,      // mbarrier.*
    bulk_copy,     // cp.async.bulk, cp.reduce.async.bulk, with tensor maps too
    bulk_wait,     // cp.async.bulk.commit_group, wait_group
    cluster,       // barrier.cluster, mapa, getctarank
    texture,       // tex, tld4, txq
    surface,       // suld, sust, sured, suq
    system,        // calls of vprintf, malloc, free
    tensor_map,    // tensormap.replace, tensormap.cp_fenceproxy
    multimem,      // multimem.ld_reduce, multimem.st, multimem.red
};

// Runs one lane-wise operation over all 32 lanes. Each pointer is to 32 contiguous lanes of the operand's type, 64-byte
// aligned; a predicate operand or result is one uint32_t, bit i for lane i. All 32 lanes are computed: the caller keeps
// inactive lanes. The destination may be one of the sources.
using LaneFunction = void (*)(std::byte* d, const std::byte* a, const std::byte* b, const std::byte* c);

// The same for operations with more operands: d[0..3] and s[0..4] point to lanes; unused entries are null. All
// destinations have the instruction's destination_type, the second one second_type where that is given; that one is
// written last. A destination may be one of the sources. Of Kind::matrix: as many
// as the instruction's operand list has (DecodedInstruction::list), and no destination is one of the sources.
using ManyLaneFunction = void (*)(std::byte* const* d, const std::byte* const* s);

// One spelling of an operation: what may follow the name, and what it does. In the pattern, "(.a|.b)" takes one of the
// modifiers, "{.a|.b}" one or none, anything else itself; ".L2::*" takes what begins with ".L2::".
struct Form {
    std::string_view pattern;
    LaneFunction lanes = nullptr;
    ManyLaneFunction many = nullptr;

    constexpr Form(std::string_view p) : pattern(p) {}
    constexpr Form(std::string_view p, LaneFunction f) : pattern(p), lanes(f) {}
    constexpr Form(std::string_view p, ManyLaneFunction f) : pattern(p), many(f) {}
};

struct Opcode {
    std::string_view name;  // "add": without type and modifiers; several rows may share it ("add" of integers, of f32)
    Kind kind = Kind::lane_wise;
    Unit unit = Unit::alu;
    char letter = '?';         // in cells of the warp timeline
    std::string_view group;    // "integer add": the letter's legend
    std::string_view summary;  // "d = a + b": one line for the reference page
    // destinations=sources, one letter each: T the type (the last one written), D the first type written,
    // W twice T, P predicate, U u32, A u64, S u32 of which a part may be selected (%r1.h0) or that may be negated, I a
    // number, C the carry flag, X a constant that says more of the modifiers (see below); lower case: may be absent. Rows of
    // other kinds may say it too; those that leave it empty have rules of their own, in decode.cpp.
    std::string_view operands;
    std::span<const Form> forms;
    Facts facts{};
};

// What setp and set compare and combine with. The constant operand X of their `many` functions: lane 0 the outcomes that a
// comparison holds for, lane 1 the results of a combination, lane 2 whether the predicate operand is negated, lane 3 what
// true is.
struct Comparison {
    std::string_view name;
    uint8_t outcomes;  // bit 0 less, 1 equal, 2 greater, 3 unordered
};
constexpr Comparison comparisons[] = {{".eq", 2},  {".ne", 5},   {".lt", 1},   {".le", 3},   {".gt", 4},   {".ge", 6},
                                      {".lo", 1},  {".ls", 3},   {".hi", 4},   {".hs", 6},   {".equ", 10}, {".neu", 13},
                                      {".ltu", 9}, {".leu", 11}, {".gtu", 12}, {".geu", 14}, {".num", 7},  {".nan", 8}};
struct Combination {
    std::string_view name;
    uint8_t results;  // bit 2 * comparison + predicate
};
constexpr Combination combinations[] = {{"", 12}, {".and", 8}, {".or", 14}, {".xor", 6}};

// The constant operand X of other rows, by lane. Kinds of numbers: 0 unsigned, 1 signed, 2 float. Roundings: 0 to nearest
// even, 1 toward zero, 2 down, 3 up.
namespace convert_lane {  // cvt between any types, in any registers
enum : uint32_t {
    from_bytes,  // of the source register
    from_width,  // bits of the source type
    from_kind,
    from_fraction,  // bits of a float's fraction
    to_bytes,
    to_width,
    to_kind,
    to_fraction,
    rounding,
    to_integral,  // 0, or 1 + the rounding to an integer
    flush_from,
    flush_to,
    saturated,
    count
};
}
namespace video_lane {  // the video instructions
enum : uint32_t {
    a_signed,
    b_signed,
    d_signed,
    saturate,
    a_part,  // first bit | bits << 8; of SIMD: which parts of b:a, one nibble each
    b_part,
    d_part,    // the same; of SIMD: a mask of the parts that are computed
    merge,     // whether the other bits of d are those of c
    combine,   // with c: 0 not, 1 add, 2 min, 3 max
    how,       // vset: the outcomes, as above; vshl, vshr: 1 wraps; vmad: bits to shift the result right
    plus_one,  // vmad.po
    negate_product,
    negate_c,
    count
};
}
namespace logic_lane {  // lop3.and (0), lop3.or (1)
enum : uint32_t { table, combination, negated, count };
}

// The table is compiled once for each of these; each holds the same rows in the same order.
enum class Simd : uint8_t { portable, avx2, avx512 };

Simd best_simd();                            // of this machine and this build
std::span<const Opcode> opcodes(Simd simd);  // empty when this machine or this build lacks it
std::span<const Opcode> opcodes();           // opcodes(best_simd())

// Whether `modifiers` (".rn.f32") is one of the spellings of `pattern`.
bool matches(std::string_view pattern, std::string_view modifiers);
// The same where the modifiers may stand in any order: inline assembly writes atom.add.relaxed.gpu.u32, which assemblers
// take. `types_in_order`: but for types, of which the first and the last say different things.
bool matches_in_any_order(std::string_view pattern, std::string_view modifiers, bool types_in_order = false);

}  // namespace lockstep::ptx
