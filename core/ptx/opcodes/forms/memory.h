// The spellings of memory accesses, of what a warp does together, and of control. What they do stands in core/simt; here is
// how they are written. Included by opcodes.cpp alone.
#pragma once
#include "core/ptx/opcodes/opcode.h"

namespace lockstep::ptx {
namespace {

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

}  // namespace
}  // namespace lockstep::ptx
