// The opcode table. A row: name, kind, unit, letter, group, summary, operands, spellings; opcode.h says what each is.
// The spellings with their lane functions are in forms_*.h. Where rows share a name, the first whose operands and spelling
// fit is taken. This file is compiled three times (opcodes_avx2.cpp, opcodes_avx512.cpp).
// Some of these use what those above them define.
// clang-format off
#include "core/ptx/opcodes/forms_float.h"
#include "core/ptx/opcodes/forms_integer.h"
#include "core/ptx/opcodes/forms_bits.h"
#include "core/ptx/opcodes/forms_compare.h"
#include "core/ptx/opcodes/forms_move.h"
#include "core/ptx/opcodes/forms_video.h"
#include "core/ptx/opcodes/forms_double.h"
#include "core/ptx/opcodes/forms_half.h"
#include "core/ptx/opcodes/forms_convert.h"
#include "core/ptx/opcodes/forms_matrix.h"
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

#define DATA_TYPES "(.f32|.u32|.s32|.b32|.f64|.u64|.s64|.b64|.u8|.s8|.b8|.u16|.s16|.b16|.f16|.bf16|.f16x2|.bf16x2|.b128)"
#define SCOPE "{.sys|.gpu|.cta|.cluster}"
#define SPACES "{.global|.shared|.shared::cta|.shared::cluster|.local|.const|.const[*|.param|.param::entry|.param::func}"
#define CACHE                                                                                    \
    "{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}" \
    "{.L2::evict_normal|.L2::evict_first|.L2::evict_last}{.L2::cache_hint}"
#define LOADED CACHE "{.L2::64B|.L2::128B|.L2::256B}{.v2|.v4|.v8}" DATA_TYPES
constexpr Form special_forms[] = {{"(.u32|.b32|.s32|.u64|.b64|.s64|.u16|.b16|.s16|.pred)"}};
constexpr Form ld_forms[] = {{"{.weak}" SPACES "{.ca|.cg|.cs|.lu|.cv}{.nc}" LOADED},
                             {"{.weak}" SPACES "(.nc)(.ca|.cg|.cs)" LOADED},
                             {".volatile" SPACES LOADED},
                             {"(.relaxed|.acquire)" SCOPE SPACES LOADED},
                             {".mmio.relaxed.sys{.global}" LOADED}};
constexpr Form ldu_forms[] = {{"{.global}{.v2|.v4}" DATA_TYPES}};
constexpr Form st_forms[] = {{"{.weak}" SPACES "{.wb|.cg|.cs|.wt}" CACHE "{.v2|.v4|.v8}" DATA_TYPES},
                             {".volatile" SPACES "{.v2|.v4|.v8}" DATA_TYPES},
                             {"(.relaxed|.release)" SCOPE SPACES CACHE "{.v2|.v4|.v8}" DATA_TYPES},
                             {".mmio.relaxed.sys{.global}{.v2|.v4|.v8}" DATA_TYPES}};
#define ORDERING "{.relaxed|.acquire|.release|.acq_rel}" SCOPE "{.global|.shared|.shared::cta|.shared::cluster}"
#define HINT "{.L2::cache_hint}"
#define ATOMICS                                                                                         \
    {ORDERING "(.add|.min|.max)" HINT "(.u32|.s32|.u64|.s64)"}, {ORDERING ".add" HINT "{.v2|.v4}.f32"}, \
        {ORDERING ".add" HINT ".f64"}, {ORDERING "(.inc|.dec)" HINT ".u32"},                            \
        {ORDERING "(.and|.or|.xor)" HINT "(.b32|.b64|.u32|.s32|.u64)"},                                 \
        {ORDERING ".add.noftz" HINT "(.f16|.f16x2|.bf16|.bf16x2)"},                                     \
        {ORDERING "(.add|.min|.max).noftz" HINT "(.v2|.v4|.v8)(.f16|.bf16)"}, {                         \
        ORDERING "(.add|.min|.max).noftz" HINT "(.v2|.v4)(.f16x2|.bf16x2)"                              \
    }
constexpr Form atom_forms[] = {
    ATOMICS, {ORDERING "(.exch|.cas)" HINT "(.b32|.b64|.u32|.u64|.s32|.b128)"}, {ORDERING ".cas(.b16|.u16)"}};
constexpr Form red_forms[] = {ATOMICS};
#define SURFACE "(.1d|.2d|.3d|.a1d|.a2d)"
#define OUT_OF_RANGE "(.trap|.clamp|.zero)"
constexpr Form tex_forms[] = {
    {"{.base|.level|.grad}(.1d|.2d|.3d|.a1d|.a2d|.cube|.acube).v4(.f32|.s32|.u32|.f16)(.s32|.f32)"},
    {"{.base|.level|.grad}(.1d|.2d|.3d|.a1d|.a2d|.cube|.acube).v2.f16x2(.s32|.f32)"},
    {"{.base}(.2dms|.a2dms).v4(.f32|.s32|.u32|.f16).s32"},
    {"{.base}(.2dms|.a2dms).v2.f16x2.s32"}};
constexpr Form tld4_forms[] = {{"(.r|.g|.b|.a)(.2d|.a2d|.cube|.acube).v4(.f32|.s32|.u32).f32"}};
constexpr Form txq_forms[] = {
    {"(.width|.height|.depth|.channel_data_type|.channel_order|.normalized_coords|.array_size|.num_mipmap_levels"
     "|.num_samples|.force_unnormalized_coords|.filter_mode|.addr_mode_0|.addr_mode_1|.addr_mode_2).b32"},
    {".level(.width|.height|.depth).b32"}};
constexpr Form istypep_forms[] = {{"(.texref|.samplerref|.surfref)"}};
constexpr Form suq_forms[] = {{"(.width|.height|.depth|.channel_data_type|.channel_order|.array_size|.memory_layout).b32"}};
constexpr Form suld_forms[] = {{".b" SURFACE "{.ca|.cg|.cs|.cv}{.v2|.v4}(.b8|.b16|.b32|.b64)" OUT_OF_RANGE}};
constexpr Form sust_forms[] = {{".b" SURFACE "{.wb|.cg|.cs|.wt}{.v2|.v4}(.b8|.b16|.b32|.b64)" OUT_OF_RANGE},
                               {".p" SURFACE "{.wb|.cg|.cs|.wt}{.v2|.v4}(.b32|.u32|.s32|.f32)" OUT_OF_RANGE}};
constexpr Form sured_forms[] = {{".b(.add|.min|.max)" SURFACE "(.u32|.s32|.u64|.s64)" OUT_OF_RANGE},
                                {".b(.and|.or)" SURFACE "(.b32|.b64|.u32|.s32)" OUT_OF_RANGE},
                                {".p(.add|.min|.max|.and|.or)" SURFACE ".b32" OUT_OF_RANGE}};
constexpr Form shfl_sync_forms[] = {{"{.sync}(.up|.down|.bfly|.idx).b32"}};
constexpr Form vote_forms[] = {{"{.sync}(.all|.any|.uni).pred"}, {"{.sync}.ballot.b32"}};
constexpr Form match_forms[] = {{"(.any|.all).sync(.b32|.b64)"}};
constexpr Form redux_forms[] = {{".sync(.add|.min|.max)(.u32|.s32)"}, {".sync(.and|.or|.xor).b32"}};
constexpr Form activemask_forms[] = {{".b32"}};
constexpr Form bar_forms[] = {{"{.cta}(.sync|.arrive)"}};
constexpr Form barrier_forms[] = {{"{.cta}(.sync|.arrive){.aligned}"}};
constexpr Form barrier_red_forms[] = {{"{.cta}.red.popc{.aligned}.u32"}, {"{.cta}.red(.and|.or){.aligned}.pred"}};
constexpr Form bar_warp_forms[] = {{".warp.sync"}};
constexpr Form membar_forms[] = {{"(.cta|.gl|.sys)"}, {".proxy.alias"}};
constexpr Form fence_forms[] = {{"{.sc|.acq_rel|.acquire|.release}(.cta|.gpu|.sys|.cluster)"}};
constexpr Form bra_forms[] = {{"{.uni}"}};
constexpr Form brx_forms[] = {{".idx{.uni}"}};
constexpr Form ret_forms[] = {{"{.uni}"}};
constexpr Form bare_forms[] = {{""}};
constexpr Form nanosleep_forms[] = {{".u32"}};
constexpr Form pmevent_forms[] = {{"{.mask}"}};
constexpr Form prefetch_forms[] = {
    {"{.global|.local}(.L1|.L2)"}, {".global(.L2::evict_last|.L2::evict_normal)"}, {"{.const|.param}.tensormap"}};
constexpr Form prefetchu_forms[] = {{".L1"}};
constexpr Form applypriority_forms[] = {{"{.global}.L2::evict_normal"}};
constexpr Form discard_forms[] = {{"{.global}.L2"}};
#define PRIORITY "(.L2::evict_last|.L2::evict_normal|.L2::evict_first|.L2::evict_unchanged)"
constexpr Form createpolicy_forms[] = {{".fractional" PRIORITY "{.L2::evict_first|.L2::evict_unchanged}.b64"},
                                       {".range{.global}" PRIORITY "{.L2::evict_first|.L2::evict_unchanged}.b64"},
                                       {".cvt.L2.b64"}};

#define OWN_SHARED "{.shared|.shared::cta}"
#define ANY_SHARED "{.shared|.shared::cta|.shared::cluster}"
constexpr Form async_copy_forms[] = {
    {".async(.ca|.cg)(.shared|.shared::cta).global{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B}"}};
constexpr Form async_wait_forms[] = {{".async(.commit_group|.wait_group|.wait_all)"},
                                     {".async.mbarrier.arrive{.noinc}" OWN_SHARED ".b64"}};
#define TENSOR ".tensor(.1d|.2d|.3d|.4d|.5d)"
#define REDUCTIONS "(.add|.min|.max|.inc|.dec|.and|.or|.xor)"
#define COMPLETES ".mbarrier::complete_tx::bytes"
constexpr Form bulk_copy_forms[] = {
    {".async.bulk(.shared::cluster|.shared::cta).global" COMPLETES "{.multicast::cluster}{.L2::cache_hint}"},
    {".async.bulk.shared::cluster.shared::cta" COMPLETES},
    {".async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}{.cp_mask}"},
    {".async.bulk.prefetch.L2.global{.L2::cache_hint}"},
    {".async.bulk" TENSOR "(.shared::cluster|.shared::cta).global{.tile|.im2col}" COMPLETES
     "{.multicast::cluster}{.L2::cache_hint}"},
    {".async.bulk" TENSOR ".global.shared::cta{.tile|.im2col_no_offs}.bulk_group{.L2::cache_hint}"},
    {".async.bulk.prefetch" TENSOR ".L2.global{.tile|.im2col}{.L2::cache_hint}"}};
constexpr Form bulk_reduce_forms[] = {
    {".reduce.async.bulk.shared::cluster.shared::cta" COMPLETES
     "(.add|.min|.max|.inc|.dec|.and|.or|.xor)(.s32|.u32|.s64|.u64|.b32|.b64)"},
    {".reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}" REDUCTIONS
     "(.b32|.u32|.s32|.b64|.u64|.s64|.f32|.f64|.f16|.bf16)"},
    {".reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}(.add).noftz(.f16|.bf16)"},
    {".reduce.async.bulk" TENSOR ".global.shared::cta" REDUCTIONS "{.tile|.im2col_no_offs}.bulk_group{.L2::cache_hint}"}};
constexpr Form bulk_wait_forms[] = {{".async.bulk.commit_group"}, {".async.bulk.wait_group{.read}"}};
constexpr Form store_async_forms[] = {
    {".async{.weak}{.shared::cluster}" COMPLETES "{.v2|.v4}(.b32|.b64|.u32|.u64|.s32|.s64|.f32|.f64)"}};
constexpr Form red_async_forms[] = {{".async.relaxed.cluster{.shared::cluster}" COMPLETES "(.inc|.dec).u32"},
                                    {".async.relaxed.cluster{.shared::cluster}" COMPLETES "(.min|.max|.add)(.u32|.s32)"},
                                    {".async.relaxed.cluster{.shared::cluster}" COMPLETES ".add(.u64|.s64)"},
                                    {".async.relaxed.cluster{.shared::cluster}" COMPLETES "(.and|.or|.xor).b32"}};
constexpr Form mbarrier_forms[] = {
    {"(.init|.inval)" OWN_SHARED ".b64"},
    {"(.expect_tx|.complete_tx){.relaxed}{.cta|.cluster}" ANY_SHARED ".b64"},
    {"(.arrive|.arrive_drop){.expect_tx}{.release|.relaxed}{.cta|.cluster}" ANY_SHARED ".b64"},
    {"(.arrive|.arrive_drop).expect_tx(.shared|.shared::cta|.shared::cluster){.release|.relaxed}{.cta|.cluster}.b64"},
    {"(.arrive|.arrive_drop).noComplete{.release}{.cta}" OWN_SHARED ".b64"},
    {"(.test_wait|.try_wait){.parity}{.acquire|.relaxed}{.cta|.cluster}" OWN_SHARED ".b64"},
    {".pending_count.b64"}};
constexpr Form cluster_barrier_forms[] = {{".cluster.arrive{.release|.relaxed}{.aligned}"},
                                          {".cluster.wait{.acquire}{.aligned}"}};
constexpr Form mapa_forms[] = {{"{.shared::cluster}(.u32|.u64)"}};
constexpr Form elect_forms[] = {{".sync"}};
constexpr Form proxy_fence_forms[] = {
    {".proxy(.alias|.async|.async.global|.async.shared::cta|.async.shared::cluster)"},
    {".proxy(.async){.global|.shared::cta|.shared::cluster}"},
    {".proxy(.tensormap::generic)(.acquire|.release)(.cta|.cluster|.gpu|.sys)"},
    {".proxy(.async::generic)(.acquire|.release)(.sync_restrict::shared::cluster|.sync_restrict::shared::cta).cluster"},
    {"(.mbarrier_init).release.cluster"},
    {"(.acquire|.release)(.sync_restrict::shared::cluster|.sync_restrict::shared::cta).cluster"}};
constexpr Form tensor_map_forms[] = {
    {".replace.tile.global_address{.global|.shared::cta}.b1024.b64"},
    {".replace.tile.global_stride{.global|.shared::cta}.b1024.b64"},
    {".replace.tile(.rank|.box_dim|.global_dim|.element_stride){.global|.shared::cta}.b1024.b32"},
    {".replace.tile(.elemtype|.interleave_layout|.swizzle_mode|.swizzle_atomicity|.fill_mode){.global|.shared::cta}"
     ".b1024.b32"},
    {".cp_fenceproxy.global.shared::cta.tensormap::generic.release(.cta|.cluster|.gpu|.sys).sync.aligned"}};
#define READS "{.weak|.relaxed|.acquire}" SCOPE "{.global}"
#define REDUCES "{.relaxed|.release}" SCOPE "{.global}"
#define ON_REPLICAS(what, how)                                                                                 \
    {what how ".add(.u32|.s32|.u64|.f32|.f64|.f16x2|.bf16x2)"}, {what how "(.min|.max)(.u32|.s32|.u64|.s64)"}, \
        {what how "(.and|.or|.xor)(.b32|.b64)"}, {what how ".add(.v2|.v4)(.f32|.f16x2|.bf16x2)"}, {            \
        what how ".add(.v2|.v4|.v8)(.f16|.bf16)"                                                               \
    }
constexpr Form multimem_forms[] = {
    ON_REPLICAS(".ld_reduce", READS),
    {".ld_reduce" READS "(.min|.max){.v2|.v4}(.f16x2|.bf16x2)"},
    {".ld_reduce" READS "(.min|.max)(.v2|.v4|.v8)(.f16|.bf16)"},
    {".ld_reduce" READS ".add.acc::f32{.v2|.v4}(.f16x2|.bf16x2)"},
    {".ld_reduce" READS ".add.acc::f32(.v2|.v4|.v8)(.f16|.bf16)"},
    ON_REPLICAS(".red", REDUCES),
    {".st{.weak|.relaxed|.release}" SCOPE "{.global}(.b32|.b64|.u32|.u64|.s32|.s64|.f32|.f64|.f16x2|.bf16x2)"},
    {".st{.weak|.relaxed|.release}" SCOPE "{.global}(.v2|.v4)(.f32|.f16x2|.bf16x2)"},
    {".st{.weak|.relaxed|.release}" SCOPE "{.global}(.v2|.v4|.v8)(.f16|.bf16)"}};
constexpr Form setmaxnreg_forms[] = {{"(.inc|.dec).sync.aligned.u32"}};
constexpr Form griddepcontrol_forms[] = {{"(.launch_dependents|.wait)"}};

// clang-format off
constexpr Opcode rows[] = {
    {"add", one, alu, 'I', "integer", "d = a + b", "T=TT", add_integer},
    {"sub", one, alu, 'I', "integer", "d = a - b", "T=TT", sub_integer},
    {"min", one, alu, 'I', "integer", "d = the smaller of a and b", "T=TT", min_integer},
    {"max", one, alu, 'I', "integer", "d = the larger of a and b", "T=TT", max_integer},
    {"neg", one, alu, 'I', "integer", "d = -a", "T=T", neg_integer},
    {"abs", one, alu, 'I', "integer", "d = |a|", "T=T", abs_integer},
    {"sad", one, alu, 'I', "integer", "d = c + |a - b|", "T=TTT", sad_integer},
    {"mul", one, fma, 'M', "integer multiply", "d = the low half of a * b", "T=TT", mul_low},
    {"mul", one, fma, 'M', "integer multiply", "d = the high half of a * b", "T=TT", mul_high_forms},
    {"mul", one, fma, 'M', "integer multiply", "d = a * b, twice as wide", "W=TT", mul_wide},
    {"mul24", one, fma, 'M', "integer multiply", "d = a * b of their low 24 bits", "T=TT", mul_24},
    {"mad24", one, fma, 'M', "integer multiply", "d = a * b of their low 24 bits, + c", "T=TTT", mad_24},
    {"mad", one, fma, 'M', "integer multiply", "d = the low half of a * b, + c", "T=TTT", mad_low},
    {"mad", one, fma, 'M', "integer multiply", "d = the high half of a * b, + c", "T=TTT", mad_high},
    {"mad", one, fma, 'M', "integer multiply", "d = a * b + c, twice as wide", "W=TTW", mad_wide},
    {"dp4a", one, fma, 'M', "integer multiply", "d = c + the sum of 4 products of bytes", "U=UUU", dp4a_forms},
    {"dp2a", one, fma, 'M', "integer multiply", "d = c + the sum of 2 products of a half and a byte", "U=UUU", dp2a_forms},
    {"add", many_operands, alu, 'I', "integer", "d, carry = a + b", "TC=TT", add_carry_out},
    {"addc", many_operands, alu, 'I', "integer", "d, carry = a + b + carry", "Tc=TTC", add_carry_in},
    {"sub", many_operands, alu, 'I', "integer", "d, borrow = a - b", "TC=TT", sub_carry_out},
    {"subc", many_operands, alu, 'I', "integer", "d, borrow = a - b - borrow", "Tc=TTC", sub_carry_in},
    {"mad", many_operands, fma, 'M', "integer multiply", "d, carry = half of a * b, + c", "TC=TTT", mad_carry_out},
    {"madc", many_operands, fma, 'M', "integer multiply", "d, carry = half of a * b, + c + carry", "Tc=TTTC", mad_carry_in},
    {"div", one, xu, 'D', "integer divide", "d = a / b", "T=TT", div_integer},
    {"rem", one, xu, 'D', "integer divide", "d = a % b", "T=TT", rem_integer},

    {"and", one, alu, 'L', "logic and shift", "d = a & b", "T=TT", and_forms},
    {"and", many_operands, alu, 'L', "logic and shift", "p = a & b, with !a or !b", "T=TTX", and_negated},
    {"or", one, alu, 'L', "logic and shift", "d = a | b", "T=TT", or_forms},
    {"or", many_operands, alu, 'L', "logic and shift", "p = a | b, with !a or !b", "T=TTX", or_negated},
    {"xor", one, alu, 'L', "logic and shift", "d = a ^ b", "T=TT", xor_forms},
    {"xor", many_operands, alu, 'L', "logic and shift", "p = a ^ b, with !a or !b", "T=TTX", xor_negated},
    {"not", one, alu, 'L', "logic and shift", "d = ~a", "T=T", not_forms},
    {"cnot", one, alu, 'L', "logic and shift", "d = a == 0", "T=T", cnot_forms},
    {"lop3", many_operands, alu, 'L', "logic and shift", "d = any function of the bits of a, b, c", "T=TTTU", lop3_forms},
    {"lop3", many_operands, alu, 'L', "logic and shift", "d|p = any function of the bits of a, b, c; whether one is set, combined", "TP=TTTIPX", lop3_predicate},
    {"shl", one, alu, 'L', "logic and shift", "d = a << b", "T=TU", shl_forms},
    {"shr", one, alu, 'L', "logic and shift", "d = a >> b", "T=TU", shr_forms},
    {"shf", one, alu, 'L', "logic and shift", "d = b:a shifted by c", "T=TTU", shf_forms},
    {"bfe", one, alu, 'K', "bit field", "d = the field of a at b, c bits long", "T=TUU", bfe_forms},
    {"bfi", many_operands, alu, 'K', "bit field", "d = b with a put at c, d bits long", "T=TTUU", bfi_forms},
    {"bmsk", one, alu, 'K', "bit field", "d = b ones from bit a", "T=UU", bmsk_forms},
    {"szext", one, alu, 'K', "bit field", "d = the low b bits of a, extended", "T=TU", szext_forms},
    {"fns", one, alu, 'K', "bit field", "d = where the c-th set bit of a is, from bit b on", "U=UUU", fns_forms},
    {"clz", one, alu, 'K', "bit field", "d = leading zeros of a", "U=T", clz_forms},
    {"popc", one, xu, 'K', "bit field", "d = ones in a", "U=T", popc_forms},
    {"brev", one, alu, 'K', "bit field", "d = a, bits reversed", "T=T", brev_forms},
    {"bfind", one, xu, 'K', "bit field", "d = where the highest set bit of a is", "U=T", bfind_forms},
    {"prmt", one, alu, 'K', "bit field", "d = bytes of b:a picked by c", "T=TTU", prmt_forms},

    {"setp", one, alu, 'P', "compare and select", "p = whether a compares to b", "P=TT", setp_forms},
    {"setp", many_operands, alu, 'P', "compare and select", "p, q = whether a compares to b, combined with c", "Pp=TTpX", setp_combined},
    {"set", many_operands, alu, 'P', "compare and select", "d = all ones (1.0) where a compares to b, else 0", "D=TTpX", set_forms},
    {"selp", one, alu, 'P', "compare and select", "d = p ? a : b", "T=TTP", selp_forms},
    {"slct", one, alu, 'P', "compare and select", "d = c >= 0 ? a : b", "D=DDT", slct_forms},
    {"testp", one, alu, 'P', "compare and select", "p = whether a is finite, a number ...", "P=T", testp_forms},
    {"isspacep", one, alu, 'P', "compare and select", "p = whether the generic address a lies in a space", "P=A", isspacep_forms},

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
    {"mov", one, alu, 'V', "move", "d = a", "T=T", mov_forms},
    {"mov", many_operands, alu, 'V', "move", "d = {a, b ...}", "pack", pack_forms},
    {"mov", many_operands, alu, 'V', "move", "{d, e ...} = a", "unpack", unpack_forms},
    {"cvta", one, alu, 'V', "move", "d = a as an address of another space", "T=T", cvta_forms},

    {"cvt", one, alu, 'C', "convert", "d = a as another integer type", "D=T", cvt_integer},
    {"cvt", one, xu, 'C', "convert", "d = a rounded to an integer", "D=T", cvt_to_integer},
    {"cvt", one, xu, 'C', "convert", "d = the integer a as a float", "D=T", cvt_from_integer},
    {"cvt", one, xu, 'C', "convert", "d = a as another float type", "D=T", cvt_float},
    {"cvt", one, xu, 'C', "convert", "d = a as a float of fewer bits", "D=T", cvt_narrow},
    {"cvt", one, xu, 'C', "convert", "d = the pair a as another pair of floats", "D=T", cvt_bytes},
    {"cvt", one, xu, 'C', "convert", "d = the pair of b (low) and a (high)", "D=TT", cvt_pair},
    {"cvt", one, alu, 'C', "convert", "d = a and b (low), clamped", "U=UU", cvt_pack_halves},
    {"cvt", one, alu, 'C', "convert", "d = c, a and b (low), clamped", "U=UUU", cvt_pack},
    {"cvt", many_operands, xu, 'C', "convert", "d = a as any other type, in registers of any size", "D=TX", cvt_any},

    {"add", one, fma, 'F', "float", "d = a + b", "T=TT", add_f32},
    {"sub", one, fma, 'F', "float", "d = a - b", "T=TT", sub_f32},
    {"mul", one, fma, 'F', "float", "d = a * b", "T=TT", mul_f32},
    {"fma", one, fma, 'F', "float", "d = a * b + c, rounded once", "T=TTT", fma_f32},
    {"mad", one, fma, 'F', "float", "d = a * b + c, rounded once", "T=TTT", mad_f32},
    {"min", one, alu, 'F', "float", "d = the smaller of a and b; a number before a NaN", "T=TT", min_f32},
    {"max", one, alu, 'F', "float", "d = the larger of a and b; a number before a NaN", "T=TT", max_f32},
    {"neg", one, fma, 'F', "float", "d = -a", "T=T", neg_f32},
    {"abs", one, fma, 'F', "float", "d = |a|", "T=T", abs_f32},
    {"copysign", one, alu, 'F', "float", "d = b with the sign of a", "T=TT", copysign_forms},
    {"add", one, fma, 'H', "half", "d = a + b", "T=TT", add_half},
    {"sub", one, fma, 'H', "half", "d = a - b", "T=TT", sub_half},
    {"mul", one, fma, 'H', "half", "d = a * b", "T=TT", mul_half},
    {"fma", one, fma, 'H', "half", "d = a * b + c, rounded once", "T=TTT", fma_half},
    {"min", one, alu, 'H', "half", "d = the smaller of a and b; a number before a NaN", "T=TT", min_half},
    {"max", one, alu, 'H', "half", "d = the larger of a and b; a number before a NaN", "T=TT", max_half},
    {"neg", one, fma, 'H', "half", "d = -a", "T=T", neg_half},
    {"abs", one, fma, 'H', "half", "d = |a|", "T=T", abs_half},
    {"add", one, fp64, 'E', "double", "d = a + b", "T=TT", add_f64},
    {"sub", one, fp64, 'E', "double", "d = a - b", "T=TT", sub_f64},
    {"mul", one, fp64, 'E', "double", "d = a * b", "T=TT", mul_f64},
    {"fma", one, fp64, 'E', "double", "d = a * b + c, rounded once", "T=TTT", fma_f64},
    {"mad", one, fp64, 'E', "double", "d = a * b + c, rounded once", "T=TTT", fma_f64},
    {"min", one, fp64, 'E', "double", "d = the smaller of a and b", "T=TT", min_f64},
    {"max", one, fp64, 'E', "double", "d = the larger of a and b", "T=TT", max_f64},
    {"neg", one, fp64, 'E', "double", "d = -a", "T=T", neg_f64},
    {"abs", one, fp64, 'E', "double", "d = |a|", "T=T", abs_f64},
    {"div", one, fp64, 'E', "double", "d = a / b", "T=TT", div_f64},
    {"rcp", one, fp64, 'E', "double", "d = 1 / a", "T=T", rcp_f64},
    {"sqrt", one, fp64, 'E', "double", "d = the square root of a", "T=T", sqrt_f64},
    {"rsqrt", one, fp64, 'E', "double", "d = 1 / the square root of a", "T=T", rsqrt_f64},
    {"div", one, xu, 'X', "special function", "d = a / b", "T=TT", div_f32},
    {"rcp", one, xu, 'X', "special function", "d = 1 / a", "T=T", rcp_f32},
    {"sqrt", one, xu, 'X', "special function", "d = the square root of a", "T=T", sqrt_f32},
    {"rsqrt", one, xu, 'X', "special function", "d = 1 / the square root of a", "T=T", rsqrt_f32},
    {"ex2", one, xu, 'X', "special function", "d = 2 to the power of a", "T=T", ex2_f32},
    {"ex2", one, xu, 'X', "special function", "d = 2 to the power of a", "T=T", ex2_half},
    {"lg2", one, xu, 'X', "special function", "d = the logarithm of a to base 2", "T=T", lg2_f32},
    {"sin", one, xu, 'X', "special function", "d = the sine of a", "T=T", sin_f32},
    {"cos", one, xu, 'X', "special function", "d = the cosine of a", "T=T", cos_f32},
    {"tanh", one, xu, 'X', "special function", "d = the hyperbolic tangent of a", "T=T", tanh_f32},
    {"tanh", one, xu, 'X', "special function", "d = the hyperbolic tangent of a", "T=T", tanh_half},

    {"ld", Kind::load, lsu, 'R', "load", "d = [a]", "", ld_forms},
    {"ldu", Kind::load, lsu, 'R', "load", "d = [a], the same address in all lanes", "", ldu_forms},
    {"st", Kind::store, lsu, 'W', "store", "[a] = b", "", st_forms},
    {"tex", Kind::texture, lsu, 't', "texture", "d = the texel at a, filtered", "", tex_forms},
    {"tld4", Kind::texture, lsu, 't', "texture", "d = one channel of the four texels around a", "", tld4_forms},
    {"txq", Kind::texture, lsu, 't', "texture", "d = a property of a texture", "", txq_forms},
    {"istypep", Kind::texture, alu, 'P', "compare and select", "p = whether the address a is that of a texture, a sampler or a surface", "", istypep_forms},
    {"suld", Kind::surface, lsu, 's', "surface", "d = the bytes of a surface at a", "", suld_forms},
    {"sust", Kind::surface, lsu, 's', "surface", "the bytes of a surface at a = b", "", sust_forms},
    {"sured", Kind::surface, lsu, 's', "surface", "the bytes of a surface at a combined with b", "", sured_forms},
    {"suq", Kind::surface, lsu, 's', "surface", "d = a property of a surface", "", suq_forms},
    {"atom", Kind::atomic, lsu, 'A', "atomic", "d = [a]; [a] = d combined with b", "", atom_forms},
    {"red", Kind::atomic, lsu, 'A', "atomic", "[a] = [a] combined with b", "", red_forms},
    {"shfl", Kind::shuffle, lsu, 'S', "shuffle", "d = a of another lane", "", shfl_sync_forms},
    {"vote", Kind::vote, alu, 'O', "vote", "d = what the lanes' predicates say together", "", vote_forms},
    {"match", Kind::vote, alu, 'O', "vote", "d = the lanes whose a is the same", "", match_forms},
    {"redux", Kind::vote, alu, 'O', "vote", "d = the lanes' a, combined", "", redux_forms},
    {"activemask", Kind::vote, alu, 'O', "vote", "d = the lanes that run", "", activemask_forms},
    {"bar", Kind::barrier, cbu, 'B', "barrier", "waits for the block's other warps (.arrive: does not wait itself)", "", bar_forms},
    {"barrier", Kind::barrier, cbu, 'B', "barrier", "waits for the block's other warps (.arrive: does not wait itself)", "", barrier_forms},
    {"bar", Kind::barrier, cbu, 'B', "barrier", "waits for the block's other warps; d = what their c say together", "", barrier_red_forms},
    {"barrier", Kind::barrier, cbu, 'B', "barrier", "waits for the block's other warps; d = what their c say together", "", barrier_red_forms},
    {"bar", Kind::warp_barrier, cbu, 'B', "barrier", "waits for the warp's other lanes", "", bar_warp_forms},
    {"membar", Kind::fence, lsu, 'N', "fence", "orders memory accesses", "", membar_forms},
    {"fence", Kind::fence, lsu, 'N', "fence", "orders memory accesses", "", fence_forms},
    {"prefetch", Kind::nop, lsu, 'R', "load", "asks for the line of an address", "", prefetch_forms},
    {"prefetchu", Kind::nop, lsu, 'R', "load", "asks for the line of an address", "", prefetchu_forms},
    {"applypriority", Kind::nop, lsu, 'R', "load", "says how long the line of an address stays in the cache", "", applypriority_forms},
    {"discard", Kind::nop, lsu, 'W', "store", "says that nobody will read the line of an address", "", discard_forms},
    {"createpolicy", Kind::special_register, alu, 'V', "move", "d = a cache policy; the caches here follow none", "", createpolicy_forms},
    {"nanosleep", Kind::nop, cbu, 'N', "fence", "suspends the warp for about a nanoseconds", "", nanosleep_forms},
    {"pmevent", Kind::nop, cbu, 'N', "fence", "tells a profiler that it was here", "", pmevent_forms},
    // matrix
    {"mma", Kind::matrix, tensor, 'G', "matrix", "d = a * b + c, of matrices spread over the warp", "", mma_forms},
    {"mma", Kind::matrix, tensor, 'G', "matrix", "d = a * b + c; a holds every other element, e says which", "", mma_sparse_forms},
    {"wmma", Kind::matrix, tensor, 'G', "matrix", "d = a * b + c, of matrices spread over the warp", "", wmma_mma_forms},
    {"wgmma", Kind::matrix_group, tensor, 'G', "matrix", "d += a * b, of a warpgroup and shared memory", "", wgmma_forms},
    {"wgmma", Kind::matrix_group, tensor, 'G', "matrix", "d += a * b; a holds every other element, e says which", "", wgmma_sparse_forms},
    {"wgmma", Kind::matrix_group, tensor, 'G', "matrix", "orders the products of a warpgroup", "", wgmma_wait_forms},
    {"movmatrix", Kind::matrix, tensor, 'G', "matrix", "d = a, an 8 x 8 tile, transposed", "", movmatrix_forms},
    {"wmma", Kind::matrix_load, lsu, 'R', "load", "d = a matrix at [a], spread over the warp", "", wmma_load_forms},
    {"ldmatrix", Kind::matrix_load, lsu, 'R', "load", "d = 8 x 8 tiles of shared memory, a row a lane", "", tile_forms},
    {"wmma", Kind::matrix_store, lsu, 'W', "store", "[a] = a matrix spread over the warp", "", wmma_store_forms},
    {"stmatrix", Kind::matrix_store, lsu, 'W', "store", "8 x 8 tiles of shared memory, a row a lane, = b", "", tile_forms},

    {"bra", Kind::branch, cbu, 'J', "branch", "goes to a label", "", bra_forms},
    {"brx", Kind::branch_table, cbu, 'J', "branch", "goes to the label number a of a list", "", brx_forms},
    {"call", Kind::call, cbu, 'U', "call", "runs a function", "", bra_forms},
    {"ret", Kind::exit, cbu, 'Q', "exit", "ends the thread, in a kernel", "", ret_forms},
    {"ret", Kind::return_, cbu, 'U', "call", "goes back from a function", "", ret_forms},
    {"exit", Kind::exit, cbu, 'Q', "exit", "ends the thread", "", bare_forms},
    {"trap", Kind::trap, cbu, 'T', "trap", "stops the kernel with an error", "", bare_forms},
    {"brkpt", Kind::trap, cbu, 'T', "trap", "stops the kernel for a debugger", "", bare_forms},

    // asynchronous
    {"cp", Kind::async_copy, lsu, 'Y', "asynchronous copy", "[a] = [b], written when it is waited for", "", async_copy_forms},
    {"cp", Kind::async_wait, lsu, 'Z', "asynchronous wait", "closes a group of copies, or waits for groups", "", async_wait_forms},
    {"cp", Kind::bulk_copy, lsu, 'Y', "asynchronous copy", "[a] = c bytes of [b], or a box of a tensor", "", bulk_copy_forms},
    {"cp", Kind::bulk_copy, lsu, 'Y', "asynchronous copy", "[a] = [a] combined with c bytes of [b], or a box of a tensor", "", bulk_reduce_forms},
    {"cp", Kind::bulk_wait, lsu, 'Z', "asynchronous wait", "closes a group of bulk copies, or waits for groups", "", bulk_wait_forms},
    {"st", Kind::bulk_copy, lsu, 'Y', "asynchronous copy", "[a] = b in another block's shared memory, which tells an mbarrier", "", store_async_forms},
    {"red", Kind::bulk_copy, lsu, 'Y', "asynchronous copy", "[a] = [a] combined with b in another block's shared memory", "", red_async_forms},
    {"tensormap", Kind::tensor_map, lsu, 'W', "store", "a field of the tensor map at a = b, or a whole map is copied", "", tensor_map_forms},
    {"multimem", Kind::multimem, lsu, 'A', "atomic", "all replicas of a at once: d = them combined, they = b, or combined with b", "", multimem_forms},
    {"mbarrier", Kind::mbarrier, lsu, 'Z', "asynchronous wait", "a barrier in shared memory that counts arrivals and bytes", "", mbarrier_forms},
    {"barrier", Kind::cluster, cbu, 'B', "barrier", "arrives at or waits for the cluster's other blocks", "", cluster_barrier_forms},
    {"mapa", Kind::cluster, alu, 'V', "move", "d = the shared address a in the block of rank b of the cluster", "", mapa_forms},
    {"getctarank", Kind::cluster, alu, 'V', "move", "d = the rank of the block in whose shared memory a is", "", mapa_forms},
    {"elect", Kind::vote, alu, 'O', "vote", "d|p = one lane of the members, and whether it is this one", "", elect_forms},
    {"fence", Kind::cluster, lsu, 'N', "fence", "orders memory accesses of different ways", "", proxy_fence_forms},
    {"setmaxnreg", Kind::cluster, cbu, 'N', "fence", "asks for more or gives back registers", "", setmaxnreg_forms},
    {"griddepcontrol", Kind::cluster, cbu, 'N', "fence", "lets the next grid start, or waits for the one before", "", griddepcontrol_forms},
};
// clang-format on

}  // namespace

namespace LOCKSTEP_SIMD {
const OpcodeTable table = {rows, sizeof(rows) / sizeof(rows[0])};
}

}  // namespace lockstep::ptx
