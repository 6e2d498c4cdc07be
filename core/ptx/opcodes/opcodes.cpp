// The opcode table. A row: name, kind, unit, letter, group, summary, operands, spellings, facts; opcode.h and facts.h say
// what each is. The spellings with their lane functions are in forms/. Where rows share a name, the first whose operands
// and spelling fit is taken. This file is compiled three times (opcodes_avx2.cpp, opcodes_avx512.cpp). Some of these use
// what those above them define.
// clang-format off
#include "core/ptx/opcodes/forms/float.h"
#include "core/ptx/opcodes/forms/integer.h"
#include "core/ptx/opcodes/forms/bits.h"
#include "core/ptx/opcodes/forms/compare.h"
#include "core/ptx/opcodes/forms/move.h"
#include "core/ptx/opcodes/forms/video.h"
#include "core/ptx/opcodes/forms/double.h"
#include "core/ptx/opcodes/forms/half.h"
#include "core/ptx/opcodes/forms/convert.h"
#include "core/ptx/opcodes/forms/matrix.h"
#include "core/ptx/opcodes/forms/memory.h"
#include "core/ptx/opcodes/forms/async.h"
// clang-format on
#include "core/ptx/opcodes/opcode_table.h"

#ifndef LOCKSTEP_SIMD
#define LOCKSTEP_SIMD portable
#endif

namespace lockstep::ptx {
namespace {

constexpr Kind one = Kind::lane_wise, many_operands = Kind::lane_wise_many;
constexpr Unit alu = Unit::alu, fma = Unit::fma, fp64 = Unit::fp64, xu = Unit::xu, lsu = Unit::lsu, cbu = Unit::cbu,
               tensor = Unit::tensor;

// clang-format off
// Modifiers that came later than their instruction; "Target ISA Notes" of the PTX ISA.
constexpr Since least_of_integers[] = {{".relu", 90}};
constexpr Since least_of_floats[] = {{".NaN", 80}, {".xorsign", 86}};
constexpr Since least_of_halves[] = {{".xorsign", 86}};
constexpr Since sums_of_halves[] = {{".bf16", 90}, {".bf16x2", 90}};
constexpr Since fma_of_halves[] = {{".relu", 80}, {".oob", 90}};
constexpr Since approximate_halves[] = {{".bf16", 90}, {".bf16x2", 90}};
constexpr Since relu_conversions[] = {{".relu", 80}};
constexpr Since brain_conversions[] = {{".bf16", 90}};
constexpr Since comparisons_of_halves[] = {{".f16", 53}, {".f16x2", 53}, {".bf16", 90}, {".bf16x2", 90}};
constexpr Since spaces[] = {{".param", 70}, {".param::entry", 70}};
constexpr Since vectors[] = {{".v8", 100}};
constexpr Since atomics[] = {{".f64", 60}, {".f16x2", 60}, {".f16", 70}, {".b16", 70}, {".u16", 70}, {".bf16", 90}, {".bf16x2", 90}, {".b128", 90}, {".v2", 90}, {".v4", 90}, {".v8", 90}};
constexpr Since prefetches[] = {{".L2::evict_last", 80}, {".L2::evict_normal", 80}, {".tensormap", 90}};
constexpr Since on_mbarriers[] = {{".try_wait", 90}, {".expect_tx", 90}, {".complete_tx", 90}};
constexpr Since proxies[] = {{".async", 90}, {".async.global", 90}, {".async::generic", 90}, {".tensormap::generic", 90}, {".mbarrier_init", 90}, {".sync_restrict::shared::cluster", 90}, {".sync_restrict::shared::cta", 90}};
constexpr Since products[] = {{".m16n8k8", 75}, {".m8n8k16", 75}, {".m8n8k32", 75}, {".m8n8k128", 75}, {".m16n8k4", 80}, {".m16n8k16", 80}, {".m16n8k32", 80}, {".m16n8k64", 80}, {".m16n8k128", 80}, {".m16n8k256", 80}, {".and", 80}, {".f64", 80}};
constexpr Since wmma_products[] = {{".s8", 72}, {".u8", 72}, {".s4", 75}, {".u4", 75}, {".b1", 75}, {".and", 80}, {".f64", 80}};

// What is left of an address.
constexpr OfAddress copied = {Effect::copied, 1}, chosen = {Effect::copied, 3}, moved = {Effect::moved, 3}, moved_first = {Effect::moved, 1};
constexpr OfAddress moved_last = {Effect::moved, 4}, in_parts = {Effect::moved, 31}, added = {Effect::added, 3}, subtracted = {Effect::subtracted, 1};

// Instructions that stand for a sequence.
constexpr Sequence integer_division[] = {
    {.bytes = 4, .latency = 145, .interval = 32, .source = "Accel-Sim, SM7_QV100: latency of integer division; interval: estimate"},
    {.bytes = 8, .latency = 290, .interval = 64, .source = "estimate: twice the 32-bit one"}};
constexpr Sequence float_division[] = {
    {.latency = 39, .interval = 16, .source = "Accel-Sim, SM7_QV100: latency of FP32 division; interval: 8 FP32 instructions"},
    {.approximate = true, .latency = 22, .interval = 8, .source = "a reciprocal on the XU and a multiplication"}};
constexpr Sequence float_root[] = {{.latency = 39, .interval = 16, .source = "estimate: as division"}};
constexpr Sequence double_division[] = {{.bytes = 8, .latency = 104, .interval = 32, .source = "gpu-benches, cuda-incore on V100: 111.55 cycles with an addition of 8; eight FP64 instructions"}};
constexpr Sequence double_reciprocal[] = {{.bytes = 8, .latency = 80, .interval = 20, .source = "counted in ptxas' output: five of the division's eight FP64 instructions, three fewer one behind the other"}};
constexpr Sequence double_inverse_root[] = {{.bytes = 8, .approximate = true, .latency = 69, .interval = 20, .source = "counted in ptxas' output: five of the root's eight FP64 instructions, three fewer one behind the other"}};
constexpr Sequence double_root[] = {{.bytes = 8, .latency = 93, .interval = 32, .source = "gpu-benches, cuda-incore on V100: 101.26 cycles with an addition of 8; eight FP64 instructions"}};

constexpr Opcode rows[] = {
    {"add", one, alu, 'I', "integer", "d = a + b", "T=TT", add_integer, {.does = Does::sum, .of_address = added, .words = 2}},
    {"sub", one, alu, 'I', "integer", "d = a - b", "T=TT", sub_integer, {.does = Does::difference, .of_address = subtracted, .words = 2}},
    {"min", one, alu, 'I', "integer", "d = the smaller of a and b", "T=TT", min_integer, {.later = least_of_integers, .of_address = moved, .words = 3}},
    {"max", one, alu, 'I', "integer", "d = the larger of a and b", "T=TT", max_integer, {.later = least_of_integers, .of_address = moved, .words = 3}},
    {"neg", one, alu, 'I', "integer", "d = -a", "T=T", neg_integer, {.words = 2}},
    {"abs", one, alu, 'I', "integer", "d = |a|", "T=T", abs_integer},
    {"sad", one, alu, 'I', "integer", "d = c + |a - b|", "T=TTT", sad_integer},
    {"mul", one, fma, 'M', "integer multiply", "d = the low half of a * b", "T=TT", mul_low, {.does = Does::product, .words = 4}},
    {"mul", one, fma, 'M', "integer multiply", "d = the high half of a * b", "T=TT", mul_high_forms, {.does = Does::product, .words = 4}},
    {"mul", one, fma, 'M', "integer multiply", "d = a * b, twice as wide", "W=TT", mul_wide, {.does = Does::product}},
    {"mul24", one, fma, 'M', "integer multiply", "d = a * b of their low 24 bits", "T=TT", mul_24},
    {"mad24", one, fma, 'M', "integer multiply", "d = a * b of their low 24 bits, + c", "T=TTT", mad_24},
    {"mad", one, fma, 'M', "integer multiply", "d = the low half of a * b, + c", "T=TTT", mad_low, {.does = Does::multiply_add, .of_address = moved_last, .words = 4}},
    {"mad", one, fma, 'M', "integer multiply", "d = the high half of a * b, + c", "T=TTT", mad_high, {.does = Does::multiply_add, .of_address = moved_last, .words = 4}},
    {"mad", one, fma, 'M', "integer multiply", "d = a * b + c, twice as wide", "W=TTW", mad_wide, {.does = Does::multiply_add, .of_address = moved_last}},
    {"dp4a", one, fma, 'M', "integer multiply", "d = c + the sum of 4 products of bytes", "U=UUU", dp4a_forms, {.since = 61}},
    {"dp2a", one, fma, 'M', "integer multiply", "d = c + the sum of 2 products of a half and a byte", "U=UUU", dp2a_forms, {.since = 61}},
    {"add", many_operands, alu, 'I', "integer", "d, carry = a + b", "TC=TT", add_carry_out, {.of_address = added}},
    {"addc", many_operands, alu, 'I', "integer", "d, carry = a + b + carry", "Tc=TTC", add_carry_in},
    {"sub", many_operands, alu, 'I', "integer", "d, carry = a - b; 0: it borrows", "TC=TT", sub_carry_out, {.of_address = subtracted}},
    {"subc", many_operands, alu, 'I', "integer", "d, carry = a - b - 1 + carry", "Tc=TTC", sub_carry_in},
    {"mad", many_operands, fma, 'M', "integer multiply", "d, carry = half of a * b, + c", "TC=TTT", mad_carry_out, {.does = Does::multiply_add, .of_address = moved_last}},
    {"madc", many_operands, fma, 'M', "integer multiply", "d, carry = half of a * b, + c + carry", "Tc=TTTC", mad_carry_in},
    {"div", one, xu, 'D', "integer divide", "d = a / b", "T=TT", div_integer, {.sequences = integer_division}},
    {"rem", one, xu, 'D', "integer divide", "d = a % b", "T=TT", rem_integer, {.sequences = integer_division}},

    {"and", one, alu, 'L', "logic and shift", "d = a & b", "T=TT", and_forms, {.does = Does::and_, .of_address = moved, .words = 2}},
    {"and", many_operands, alu, 'L', "logic and shift", "p = a & b, with !a or !b", "T=TTX", and_negated, {.does = Does::and_}},
    {"or", one, alu, 'L', "logic and shift", "d = a | b", "T=TT", or_forms, {.does = Does::or_, .of_address = moved, .words = 2}},
    {"or", many_operands, alu, 'L', "logic and shift", "p = a | b, with !a or !b", "T=TTX", or_negated, {.does = Does::or_}},
    {"xor", one, alu, 'L', "logic and shift", "d = a ^ b", "T=TT", xor_forms, {.does = Does::xor_, .words = 2}},
    {"xor", many_operands, alu, 'L', "logic and shift", "p = a ^ b, with !a or !b", "T=TTX", xor_negated, {.does = Does::xor_}},
    {"not", one, alu, 'L', "logic and shift", "d = ~a", "T=T", not_forms, {.does = Does::not_, .words = 2}},
    {"cnot", one, alu, 'L', "logic and shift", "d = a == 0", "T=T", cnot_forms},
    {"lop3", many_operands, alu, 'L', "logic and shift", "d = any function of the bits of a, b, c", "T=TTTU", lop3_forms},
    {"lop3", many_operands, alu, 'L', "logic and shift", "d|p = any function of the bits of a, b, c; whether one is set, combined", "TP=TTTIPX", lop3_predicate, {.since = 70}},
    {"shl", one, alu, 'L', "logic and shift", "d = a << b", "T=TU", shl_forms, {.does = Does::shift_left, .words = 3}},
    {"shr", one, alu, 'L', "logic and shift", "d = a >> b", "T=TU", shr_forms, {.words = 3}},
    {"shf", one, alu, 'L', "logic and shift", "d = b:a shifted by c", "T=TTU", shf_forms},
    {"bfe", one, alu, 'K', "bit field", "d = the field of a at b, c bits long", "T=TUU", bfe_forms},
    {"bfi", many_operands, alu, 'K', "bit field", "d = b with a put at c, d bits long", "T=TTUU", bfi_forms, {.does = Does::insert}},
    {"bmsk", one, alu, 'K', "bit field", "d = b ones from bit a", "T=UU", bmsk_forms, {.since = 70}},
    {"szext", one, alu, 'K', "bit field", "d = the low b bits of a, extended", "T=TU", szext_forms, {.since = 70}},
    {"fns", one, alu, 'K', "bit field", "d = where the c-th set bit of a is, from bit b on", "U=UUU", fns_forms},
    {"clz", one, alu, 'K', "bit field", "d = leading zeros of a", "U=T", clz_forms},
    {"popc", one, xu, 'K', "bit field", "d = ones in a", "U=T", popc_forms},
    {"brev", one, alu, 'K', "bit field", "d = a, bits reversed", "T=T", brev_forms},
    {"bfind", one, xu, 'K', "bit field", "d = where the highest set bit of a is", "U=T", bfind_forms},
    {"prmt", one, alu, 'K', "bit field", "d = bytes of b:a picked by c", "T=TTU", prmt_forms},

    {"setp", one, alu, 'P', "compare and select", "p = whether a compares to b", "P=TT", setp_forms, {.later = comparisons_of_halves, .does = Does::compare, .words = 2, .doubles = Doubles::on_fp64}},
    {"setp", many_operands, alu, 'P', "compare and select", "p, q = whether a compares to b, combined with c", "Pp=TTpX", setp_combined, {.later = comparisons_of_halves, .does = Does::compare, .doubles = Doubles::on_fp64}},
    {"set", many_operands, alu, 'P', "compare and select", "d = all ones (1.0) where a compares to b, else 0", "D=TTpX", set_forms, {.later = comparisons_of_halves, .doubles = Doubles::on_fp64}},
    {"selp", one, alu, 'P', "compare and select", "d = p ? a : b", "T=TTP", selp_forms, {.of_address = chosen, .words = 2}},
    {"slct", one, alu, 'P', "compare and select", "d = c >= 0 ? a : b", "D=DDT", slct_forms},
    {"testp", one, alu, 'P', "compare and select", "p = whether a is finite, a number ...", "P=T", testp_forms},
    {"isspacep", one, alu, 'P', "compare and select", "p = whether the generic address a lies in a space", "P=A", isspacep_forms, {.later = spaces}},

    {"vadd", many_operands, alu, 'v', "video", "d = a + b of parts of them, combined with c", "S=SSsX", vadd_forms},
    {"vsub", many_operands, alu, 'v', "video", "d = a - b of parts of them, combined with c", "S=SSsX", vsub_forms},
    {"vabsdiff", many_operands, alu, 'v', "video", "d = |a - b| of parts of them, combined with c", "S=SSsX", vabsdiff_forms},
    {"vmin", many_operands, alu, 'v', "video", "d = the smaller of parts of a and b, combined with c", "S=SSsX", vmin_forms},
    {"vmax", many_operands, alu, 'v', "video", "d = the larger of parts of a and b, combined with c", "S=SSsX", vmax_forms},
    {"vshl", many_operands, alu, 'v', "video", "d = a << b of parts of them, combined with c", "S=SSsX", vshl_forms},
    {"vshr", many_operands, alu, 'v', "video", "d = a >> b of parts of them, combined with c", "S=SSsX", vshr_forms},
    {"vset", many_operands, alu, 'v', "video", "d = whether parts of a and b compare, combined with c", "S=SSsX", vset_forms},
    {"vmad", many_operands, alu, 'v', "video", "d = a * b of parts of them, + c, shifted right", "S=SSSX", vmad_forms},
    {"vadd2", many_operands, alu, 'v', "video", "d = the sums of halves of a and b, in c or added to c", "S=SSSX", vadd2_forms},
    {"vadd4", many_operands, alu, 'v', "video", "d = the sums of bytes of a and b, in c or added to c", "S=SSSX", vadd4_forms},
    {"vsub2", many_operands, alu, 'v', "video", "d = the differences of halves of a and b, in c or added to c", "S=SSSX", vsub2_forms},
    {"vsub4", many_operands, alu, 'v', "video", "d = the differences of bytes of a and b, in c or added to c", "S=SSSX", vsub4_forms},
    {"vavrg2", many_operands, alu, 'v', "video", "d = the averages of halves of a and b, in c or added to c", "S=SSSX", vavrg2_forms},
    {"vavrg4", many_operands, alu, 'v', "video", "d = the averages of bytes of a and b, in c or added to c", "S=SSSX", vavrg4_forms},
    {"vabsdiff2", many_operands, alu, 'v', "video", "d = the absolute differences of halves of a and b, in c or added to c", "S=SSSX", vabsdiff2_forms},
    {"vabsdiff4", many_operands, alu, 'v', "video", "d = the absolute differences of bytes of a and b, in c or added to c", "S=SSSX", vabsdiff4_forms},
    {"vmin2", many_operands, alu, 'v', "video", "d = the smaller of halves of a and b, in c or added to c", "S=SSSX", vmin2_forms},
    {"vmin4", many_operands, alu, 'v', "video", "d = the smaller of bytes of a and b, in c or added to c", "S=SSSX", vmin4_forms},
    {"vmax2", many_operands, alu, 'v', "video", "d = the larger of halves of a and b, in c or added to c", "S=SSSX", vmax2_forms},
    {"vmax4", many_operands, alu, 'v', "video", "d = the larger of bytes of a and b, in c or added to c", "S=SSSX", vmax4_forms},
    {"vset2", many_operands, alu, 'v', "video", "d = the comparisons of halves of a and b, in c or added to c", "S=SSSX", vset2_forms},
    {"vset4", many_operands, alu, 'v', "video", "d = the comparisons of bytes of a and b, in c or added to c", "S=SSSX", vset4_forms},

    {"mov", Kind::special_register, alu, 'V', "move", "d = a special register", "", special_forms},
    {"mov", one, alu, 'V', "move", "d = a", "T=T", mov_forms, {.does = Does::copy, .of_address = copied}},
    {"mov", many_operands, alu, 'V', "move", "d = {a, b ...}", "pack", pack_forms, {.does = Does::copy, .of_address = in_parts}},
    {"mov", many_operands, alu, 'V', "move", "{d, e ...} = a", "unpack", unpack_forms, {.does = Does::copy, .of_address = in_parts}},
    {"cvta", one, alu, 'V', "move", "d = a as an address of another space", "T=T", cvta_forms, {.later = spaces, .does = Does::address, .of_address = copied}},

    {"cvt", one, alu, 'C', "convert", "d = a as another integer type", "D=T", cvt_integer, {.does = Does::convert, .of_address = copied}},
    {"cvt", one, xu, 'C', "convert", "d = a rounded to an integer", "D=T", cvt_to_integer, {.later = brain_conversions, .doubles = Doubles::at_fp64_rate}},
    {"cvt", one, xu, 'C', "convert", "d = the integer a as a float", "D=T", cvt_from_integer, {.later = brain_conversions, .doubles = Doubles::at_fp64_rate}},
    {"cvt", one, xu, 'C', "convert", "d = a as another float type", "D=T", cvt_float, {.doubles = Doubles::at_fp64_rate}},
    {"cvt", one, xu, 'C', "convert", "d = a as a float of fewer bits", "D=T", cvt_narrow, {.later = relu_conversions}},
    {"cvt", one, xu, 'C', "convert", "d = a as a tf32", "D=T", cvt_tf32, {.since = 90}},
    {"cvt", one, xu, 'C', "convert", "d = the pair a as another pair of floats", "D=T", cvt_bytes},
    {"cvt", one, xu, 'C', "convert", "d = the pair of b (low) and a (high)", "D=TT", cvt_pair, {.since = 80}},
    {"cvt", one, alu, 'C', "convert", "d = a and b (low), clamped", "U=UU", cvt_pack_halves, {.since = 72}},
    {"cvt", one, alu, 'C', "convert", "d = c, a and b (low), clamped", "U=UUU", cvt_pack, {.since = 72}},
    {"cvt", many_operands, xu, 'C', "convert", "d = a as any other type, in registers of any size", "D=TX", cvt_any, {.later = brain_conversions, .does = Does::convert, .of_address = copied, .doubles = Doubles::at_fp64_rate}},
    {"cvt", many_operands, xu, 'C', "convert", "d = the f32 a as a bf16, or back", "D=TX", cvt_brain},

    {"add", one, fma, 'F', "float", "d = a + b", "T=TT", add_f32, {.counts = Counts::addition}},
    {"sub", one, fma, 'F', "float", "d = a - b", "T=TT", sub_f32, {.counts = Counts::addition}},
    {"mul", one, fma, 'F', "float", "d = a * b", "T=TT", mul_f32, {.counts = Counts::multiplication}},
    {"fma", one, fma, 'F', "float", "d = a * b + c, rounded once", "T=TTT", fma_f32, {.counts = Counts::multiply_add, .does = Does::multiply_add}},
    {"mad", one, fma, 'F', "float", "d = a * b + c, rounded once", "T=TTT", mad_f32, {.counts = Counts::multiply_add, .does = Does::multiply_add}},
    {"min", one, alu, 'F', "float", "d = the smaller of a and b; a number before a NaN", "T=TT", min_f32, {.later = least_of_floats}},
    {"max", one, alu, 'F', "float", "d = the larger of a and b; a number before a NaN", "T=TT", max_f32, {.later = least_of_floats}},
    {"neg", one, fma, 'F', "float", "d = -a", "T=T", neg_f32, {.does = Does::sign}},
    {"abs", one, fma, 'F', "float", "d = |a|", "T=T", abs_f32, {.does = Does::sign}},
    {"copysign", one, alu, 'F', "float", "d = b with the sign of a", "T=TT", copysign_forms},
    {"add", one, fma, 'H', "half", "d = a + b", "T=TT", add_half, {.since = 53, .later = sums_of_halves, .counts = Counts::addition}},
    {"sub", one, fma, 'H', "half", "d = a - b", "T=TT", sub_half, {.since = 53, .later = sums_of_halves, .counts = Counts::addition}},
    {"mul", one, fma, 'H', "half", "d = a * b", "T=TT", mul_half, {.since = 53, .later = sums_of_halves, .counts = Counts::multiplication}},
    {"fma", one, fma, 'H', "half", "d = a * b + c, rounded once", "T=TTT", fma_half, {.since = 53, .later = fma_of_halves, .counts = Counts::multiply_add, .does = Does::multiply_add}},
    {"min", one, alu, 'H', "half", "d = the smaller of a and b; a number before a NaN", "T=TT", min_half, {.since = 80, .later = least_of_halves}},
    {"max", one, alu, 'H', "half", "d = the larger of a and b; a number before a NaN", "T=TT", max_half, {.since = 80, .later = least_of_halves}},
    {"neg", one, fma, 'H', "half", "d = -a", "T=T", neg_half, {.since = 53}},
    {"abs", one, fma, 'H', "half", "d = |a|", "T=T", abs_half, {.since = 53}},
    {"add", one, fp64, 'E', "double", "d = a + b", "T=TT", add_f64, {.counts = Counts::addition}},
    {"sub", one, fp64, 'E', "double", "d = a - b", "T=TT", sub_f64, {.counts = Counts::addition}},
    {"mul", one, fp64, 'E', "double", "d = a * b", "T=TT", mul_f64, {.counts = Counts::multiplication}},
    {"fma", one, fp64, 'E', "double", "d = a * b + c, rounded once", "T=TTT", fma_f64, {.counts = Counts::multiply_add, .does = Does::multiply_add}},
    {"mad", one, fp64, 'E', "double", "d = a * b + c, rounded once", "T=TTT", fma_f64, {.counts = Counts::multiply_add, .does = Does::multiply_add}},
    {"min", one, fp64, 'E', "double", "d = the smaller of a and b", "T=TT", min_f64},
    {"max", one, fp64, 'E', "double", "d = the larger of a and b", "T=TT", max_f64},
    {"neg", one, fp64, 'E', "double", "d = -a", "T=T", neg_f64, {.does = Does::sign}},
    {"abs", one, fp64, 'E', "double", "d = |a|", "T=T", abs_f64, {.does = Does::sign}},
    {"div", one, fp64, 'E', "double", "d = a / b", "T=TT", div_f64, {.counts = Counts::special, .sequences = double_division}},
    {"rcp", one, fp64, 'E', "double", "d = 1 / a", "T=T", rcp_f64, {.counts = Counts::special, .sequences = double_reciprocal}},
    {"sqrt", one, fp64, 'E', "double", "d = the square root of a", "T=T", sqrt_f64, {.counts = Counts::special, .sequences = double_root}},
    {"rsqrt", one, fp64, 'E', "double", "d = 1 / the square root of a", "T=T", rsqrt_f64, {.counts = Counts::special, .sequences = double_inverse_root}},
    {"div", one, xu, 'X', "special function", "d = a / b", "T=TT", div_f32, {.counts = Counts::special, .sequences = float_division}},
    {"rcp", one, xu, 'X', "special function", "d = 1 / a", "T=T", rcp_f32, {.counts = Counts::special, .sequences = float_root}},
    {"sqrt", one, xu, 'X', "special function", "d = the square root of a", "T=T", sqrt_f32, {.counts = Counts::special, .sequences = float_root}},
    {"rsqrt", one, xu, 'X', "special function", "d = 1 / the square root of a", "T=T", rsqrt_f32, {.counts = Counts::special}},
    {"ex2", one, xu, 'X', "special function", "d = 2 to the power of a", "T=T", ex2_f32, {.counts = Counts::special}},
    {"ex2", one, xu, 'X', "special function", "d = 2 to the power of a", "T=T", ex2_half, {.since = 75, .later = approximate_halves, .counts = Counts::special}},
    {"lg2", one, xu, 'X', "special function", "d = the logarithm of a to base 2", "T=T", lg2_f32, {.counts = Counts::special}},
    {"sin", one, xu, 'X', "special function", "d = the sine of a", "T=T", sin_f32, {.counts = Counts::special}},
    {"cos", one, xu, 'X', "special function", "d = the cosine of a", "T=T", cos_f32, {.counts = Counts::special}},
    {"tanh", one, xu, 'X', "special function", "d = the hyperbolic tangent of a", "T=T", tanh_f32, {.since = 75, .counts = Counts::special}},
    {"tanh", one, xu, 'X', "special function", "d = the hyperbolic tangent of a", "T=T", tanh_half, {.since = 75, .later = approximate_halves, .counts = Counts::special}},

    {"ld", Kind::load, lsu, 'R', "load", "d = [a]", "", ld_forms, {.later = vectors, .route = Route::memory, .seen = Seen::by_space, .access = Access::load, .any_order = true}},
    {"ldu", Kind::load, lsu, 'R', "load", "d = [a], the same address in all lanes", "", ldu_forms, {.route = Route::memory, .seen = Seen::by_space, .access = Access::load}},
    {"st", Kind::store, lsu, 'W', "store", "[a] = b", "", st_forms, {.later = vectors, .route = Route::memory, .seen = Seen::by_space, .access = Access::store, .writes = Writes::at_address, .any_order = true}},
    {"tex", Kind::texture, lsu, 't', "texture", "d = the texel at a, filtered", "", tex_forms, {.route = Route::memory, .seen = Seen::by_all, .access = Access::texture}},
    {"tld4", Kind::texture, lsu, 't', "texture", "d = one channel of the four texels around a", "", tld4_forms, {.route = Route::memory, .seen = Seen::by_all, .access = Access::texture}},
    {"txq", Kind::texture, lsu, 't', "texture", "d = a property of a texture", "", txq_forms, {.route = Route::memory, .seen = Seen::by_all, .access = Access::texture}},
    {"istypep", Kind::texture, alu, 'P', "compare and select", "p = whether the address a is that of a texture, a sampler or a surface", "", istypep_forms, {.route = Route::memory, .seen = Seen::by_all}},
    {"suld", Kind::surface, lsu, 's', "surface", "d = the bytes of a surface at a", "", suld_forms, {.route = Route::memory, .seen = Seen::by_all, .access = Access::surface_load}},
    {"sust", Kind::surface, lsu, 's', "surface", "the bytes of a surface at a = b", "", sust_forms, {.route = Route::memory, .seen = Seen::by_all, .access = Access::surface_store, .writes = Writes::anywhere}},
    {"sured", Kind::surface, lsu, 's', "surface", "the bytes of a surface at a combined with b", "", sured_forms, {.route = Route::memory, .seen = Seen::by_all, .access = Access::surface_store, .writes = Writes::anywhere}},
    {"suq", Kind::surface, lsu, 's', "surface", "d = a property of a surface", "", suq_forms, {.route = Route::memory, .seen = Seen::by_all}},
    {"atom", Kind::atomic, lsu, 'A', "atomic", "d = [a]; [a] = d combined with b", "", atom_forms, {.later = atomics, .route = Route::memory, .seen = Seen::by_space, .access = Access::atomic, .writes = Writes::at_address, .any_order = true}},
    {"red", Kind::atomic, lsu, 'A', "atomic", "[a] = [a] combined with b", "", red_forms, {.later = atomics, .route = Route::memory, .seen = Seen::by_space, .access = Access::atomic, .writes = Writes::at_address, .any_order = true}},
    {"shfl", Kind::shuffle, lsu, 'S', "shuffle", "d = a of another lane", "", shfl_sync_forms, {.of_address = moved_first, .route = Route::shuffle, .any_order = true}},
    {"vote", Kind::vote, alu, 'O', "vote", "d = what the lanes' predicates say together", "", vote_forms, {.any_order = true}},
    {"match", Kind::vote, alu, 'O', "vote", "d = the lanes whose a is the same", "", match_forms, {.since = 70, .any_order = true}},
    {"redux", Kind::vote, alu, 'O', "vote", "d = the lanes' a, combined", "", redux_forms, {.since = 80, .results = 16, .any_order = true}},
    {"activemask", Kind::vote, alu, 'O', "vote", "d = the lanes that run", "", activemask_forms},
    {"bar", Kind::barrier, cbu, 'B', "barrier", "waits for the block's other warps (.arrive: does not wait itself)", "", bar_forms, {.route = Route::barrier}},
    {"barrier", Kind::barrier, cbu, 'B', "barrier", "waits for the block's other warps (.arrive: does not wait itself)", "", barrier_forms, {.route = Route::barrier}},
    {"bar", Kind::barrier, cbu, 'B', "barrier", "waits for the block's other warps; d = what their c say together", "", barrier_red_forms, {.route = Route::barrier}},
    {"barrier", Kind::barrier, cbu, 'B', "barrier", "waits for the block's other warps; d = what their c say together", "", barrier_red_forms, {.route = Route::barrier}},
    {"bar", Kind::warp_barrier, cbu, 'B', "barrier", "waits for the warp's other lanes", "", bar_warp_forms},
    {"membar", Kind::fence, lsu, 'N', "fence", "orders memory accesses", "", membar_forms, {.route = Route::fence}},
    {"fence", Kind::fence, lsu, 'N', "fence", "orders memory accesses", "", fence_forms, {.route = Route::fence}},
    {"prefetch", Kind::nop, lsu, 'R', "load", "asks for the line of an address", "", prefetch_forms, {.later = prefetches}},
    {"prefetchu", Kind::nop, lsu, 'R', "load", "asks for the line of an address", "", prefetchu_forms},
    {"applypriority", Kind::nop, lsu, 'R', "load", "says how long the line of an address stays in the cache", "", applypriority_forms, {.since = 80}},
    {"discard", Kind::nop, lsu, 'W', "store", "says that nobody will read the line of an address", "", discard_forms, {.since = 80}},
    {"createpolicy", Kind::special_register, alu, 'V', "move", "d = a cache policy; the caches here follow none", "", createpolicy_forms, {.since = 80}},
    {"nanosleep", Kind::nop, cbu, 'N', "fence", "suspends the warp for about a nanoseconds", "", nanosleep_forms, {.since = 70, .route = Route::sleep}},
    {"pmevent", Kind::nop, cbu, 'N', "fence", "tells a profiler that it was here", "", pmevent_forms},
    // matrix
    {"mma", Kind::matrix, tensor, 'G', "matrix", "d = a * b + c, of matrices spread over the warp", "", mma_forms, {.since = 70, .later = products}},
    {"mma", Kind::matrix, tensor, 'G', "matrix", "d = a * b + c, of matrices spread over the warp", "", mma_doubles, {.since = 90}},
    {"mma", Kind::matrix, tensor, 'G', "matrix", "d = a * b + c; a holds every other element, e says which", "", mma_sparse_forms, {.since = 80}},
    {"wmma", Kind::matrix, tensor, 'G', "matrix", "d = a * b + c, of matrices spread over the warp", "", wmma_mma_forms, {.since = 70, .later = wmma_products}},
    {"wgmma", Kind::matrix_group, tensor, 'G', "matrix", "d += a * b, of a warpgroup and shared memory", "", wgmma_forms, {.since = 90}},
    {"wgmma", Kind::matrix_group, tensor, 'G', "matrix", "d += a * b; a holds every other element, e says which", "", wgmma_sparse_forms, {.since = 90}},
    {"wgmma", Kind::matrix_group, tensor, 'G', "matrix", "orders the products of a warpgroup", "", wgmma_wait_forms, {.since = 90}},
    {"movmatrix", Kind::matrix, tensor, 'G', "matrix", "d = a, an 8 x 8 tile, transposed", "", movmatrix_forms, {.since = 75}},
    {"wmma", Kind::matrix_load, lsu, 'R', "load", "d = a matrix at [a], spread over the warp", "", wmma_load_forms, {.since = 70, .later = wmma_products, .route = Route::memory, .seen = Seen::by_space, .access = Access::load}},
    {"ldmatrix", Kind::matrix_load, lsu, 'R', "load", "d = 8 x 8 tiles of shared memory, a row a lane", "", tile_forms, {.since = 75, .route = Route::memory, .seen = Seen::by_space, .access = Access::load}},
    {"wmma", Kind::matrix_store, lsu, 'W', "store", "[a] = a matrix spread over the warp", "", wmma_store_forms, {.since = 70, .later = wmma_products, .route = Route::memory, .seen = Seen::by_space, .access = Access::store, .writes = Writes::at_address}},
    {"stmatrix", Kind::matrix_store, lsu, 'W', "store", "8 x 8 tiles of shared memory, a row a lane, = b", "", tile_forms, {.since = 90, .route = Route::memory, .seen = Seen::by_space, .access = Access::store, .writes = Writes::at_address}},

    {"bra", Kind::branch, cbu, 'J', "branch", "goes to a label", "", bra_forms, {.route = Route::branch}},
    {"brx", Kind::branch_table, cbu, 'J', "branch", "goes to the label number a of a list", "", brx_forms, {.route = Route::branch}},
    {"call", Kind::call, cbu, 'U', "call", "runs a function", "", bra_forms, {.route = Route::branch, .writes = Writes::anywhere}},
    {"call", Kind::system, cbu, 'U', "call", "calls the system: printf, malloc, free", "", bra_forms, {.writes = Writes::anywhere}},
    {"call", Kind::trap, cbu, 'U', "call", "stops the kernel: an assertion failed", "", bra_forms, {.route = Route::exit}},
    {"ret", Kind::exit, cbu, 'Q', "exit", "ends the thread, in a kernel", "", ret_forms, {.route = Route::exit}},
    {"ret", Kind::return_, cbu, 'U', "call", "goes back from a function", "", ret_forms, {.route = Route::branch, .writes = Writes::anywhere}},
    {"exit", Kind::exit, cbu, 'Q', "exit", "ends the thread", "", bare_forms, {.route = Route::exit}},
    {"trap", Kind::trap, cbu, 'T', "trap", "stops the kernel with an error", "", bare_forms, {.route = Route::exit}},
    {"brkpt", Kind::trap, cbu, 'T', "trap", "stops the kernel for a debugger", "", bare_forms, {.route = Route::exit}},

    // asynchronous
    {"cp", Kind::async_copy, lsu, 'Y', "asynchronous copy", "[a] = [b], written when it is waited for", "", async_copy_forms, {.since = 80, .route = Route::memory, .seen = Seen::by_all, .access = Access::copy}},
    {"cp", Kind::async_wait, lsu, 'Z', "asynchronous wait", "closes a group of copies, or waits for groups", "", async_wait_forms, {.since = 80, .seen = Seen::by_cluster}},
    {"cp", Kind::bulk_copy, lsu, 'Y', "asynchronous copy", "[a] = c bytes of [b] in global memory, or a box of a tensor; a in shared memory", "", bulk_load_forms, {.since = 90, .route = Route::memory, .seen = Seen::by_all, .access = Access::copy}},
    {"cp", Kind::bulk_copy, lsu, 'Y', "asynchronous copy", "[a] = c bytes of [b] in shared memory, or a box of a tensor; a in global memory", "", bulk_store_forms, {.since = 90, .route = Route::memory, .seen = Seen::by_all, .access = Access::store, .writes = Writes::anywhere}},
    {"cp", Kind::bulk_copy, lsu, 'Y', "asynchronous copy", "asks L2 for c bytes of [b], or a box of a tensor", "", bulk_prefetch_forms, {.since = 90, .route = Route::memory, .seen = Seen::by_all, .access = Access::copy}},
    {"cp", Kind::bulk_copy, lsu, 'Y', "asynchronous copy", "[a] = [a] combined with c bytes of [b]; a in another block's shared memory", "", bulk_combine_forms, {.since = 90, .route = Route::memory, .seen = Seen::by_all, .access = Access::copy}},
    {"cp", Kind::bulk_copy, lsu, 'Y', "asynchronous copy", "[a] = [a] combined with c bytes of [b], or a box of a tensor; a in global memory", "", bulk_reduce_forms, {.since = 90, .route = Route::memory, .seen = Seen::by_all, .access = Access::store, .writes = Writes::anywhere}},
    {"cp", Kind::bulk_wait, lsu, 'Z', "asynchronous wait", "closes a group of bulk copies, or waits for groups", "", bulk_wait_forms, {.since = 90, .seen = Seen::by_cluster}},
    {"st", Kind::bulk_copy, lsu, 'Y', "asynchronous copy", "[a] = b in another block's shared memory, which tells an mbarrier", "", store_async_forms, {.since = 90, .route = Route::memory, .seen = Seen::by_all, .access = Access::copy, .any_order = true}},
    {"red", Kind::bulk_copy, lsu, 'Y', "asynchronous copy", "[a] = [a] combined with b in another block's shared memory", "", red_async_forms, {.since = 90, .route = Route::memory, .seen = Seen::by_all, .access = Access::copy, .any_order = true}},
    {"tensormap", Kind::tensor_map, lsu, 'W', "store", "a field of the tensor map at a = b, or a whole map is copied", "", tensor_map_forms, {.since = 90, .route = Route::memory, .seen = Seen::by_all, .access = Access::store, .writes = Writes::anywhere}},
    {"multimem", Kind::multimem, lsu, 'A', "atomic", "d = all replicas of a, combined", "", multimem_load_forms, {.since = 90, .route = Route::memory, .seen = Seen::by_all, .access = Access::load}},
    {"multimem", Kind::multimem, lsu, 'A', "atomic", "all replicas of a = b, or combined with b", "", multimem_forms, {.since = 90, .route = Route::memory, .seen = Seen::by_all, .access = Access::atomic, .writes = Writes::anywhere}},
    {"mbarrier", Kind::mbarrier, lsu, 'Z', "asynchronous wait", "a barrier in shared memory that counts arrivals and bytes", "", mbarrier_forms, {.since = 80, .later = on_mbarriers, .route = Route::mbarrier, .seen = Seen::by_all, .access = Access::atomic}},
    {"barrier", Kind::cluster, cbu, 'B', "barrier", "arrives at or waits for the cluster's other blocks", "", cluster_barrier_forms, {.since = 90, .route = Route::barrier, .seen = Seen::by_all}},
    {"mapa", Kind::cluster, alu, 'V', "move", "d = the shared address a in the block of rank b of the cluster", "", mapa_forms, {.since = 90, .of_address = moved_first, .seen = Seen::by_all}},
    {"getctarank", Kind::cluster, alu, 'V', "move", "d = the rank of the block in whose shared memory a is", "", mapa_forms, {.since = 90, .seen = Seen::by_all}},
    {"elect", Kind::vote, alu, 'O', "vote", "d|p = one lane of the members, and whether it is this one", "", elect_forms, {.since = 90}},
    {"fence", Kind::cluster, lsu, 'N', "fence", "orders memory accesses of different ways", "", proxy_fence_forms, {.since = 70, .later = proxies, .route = Route::fence}},
    {"setmaxnreg", Kind::cluster, cbu, 'N', "fence", "asks for more or gives back registers", "", setmaxnreg_forms, {.since = 90}},
    {"griddepcontrol", Kind::cluster, cbu, 'N', "fence", "lets the next grid start, or waits for the one before", "", griddepcontrol_forms, {.since = 90}},
};
// clang-format on

}  // namespace

namespace LOCKSTEP_SIMD {
const OpcodeTable table = {rows, sizeof(rows) / sizeof(rows[0])};
}

}  // namespace lockstep::ptx
