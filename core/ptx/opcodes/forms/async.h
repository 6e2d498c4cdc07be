// The spellings of asynchronous copies, barriers in memory and clusters. What they do stands in core/simt; here is how they
// are written. Included by opcodes.cpp alone.
#pragma once
#include "core/ptx/opcodes/opcode.h"

namespace lockstep::ptx {
namespace {

#define OWN_SHARED "{.shared|.shared::cta}"
#define ANY_SHARED "{.shared|.shared::cta|.shared::cluster}"
constexpr Form async_copy_forms[] = {
    {".async(.ca|.cg)(.shared|.shared::cta).global{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B}"}};
constexpr Form async_wait_forms[] = {{".async(.commit_group|.wait_group|.wait_all)"},
                                     {".async.mbarrier.arrive{.noinc}" OWN_SHARED ".b64"}};
#define TENSOR ".tensor(.1d|.2d|.3d|.4d|.5d)"
#define REDUCTIONS "(.add|.min|.max|.inc|.dec|.and|.or|.xor)"
#define COMPLETES ".mbarrier::complete_tx::bytes"
constexpr Form bulk_load_forms[] = {
    {".async.bulk(.shared::cluster|.shared::cta).global" COMPLETES "{.multicast::cluster}{.L2::cache_hint}"},
    {".async.bulk.shared::cluster.shared::cta" COMPLETES},
    {".async.bulk" TENSOR "(.shared::cluster|.shared::cta).global{.tile|.im2col}" COMPLETES
     "{.multicast::cluster}{.L2::cache_hint}"}};
constexpr Form bulk_store_forms[] = {
    {".async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}{.cp_mask}"},
    {".async.bulk" TENSOR ".global.shared::cta{.tile|.im2col_no_offs}.bulk_group{.L2::cache_hint}"}};
constexpr Form bulk_prefetch_forms[] = {{".async.bulk.prefetch.L2.global{.L2::cache_hint}"},
                                        {".async.bulk.prefetch" TENSOR ".L2.global{.tile|.im2col}{.L2::cache_hint}"}};
constexpr Form bulk_combine_forms[] = {{".reduce.async.bulk.shared::cluster.shared::cta" COMPLETES
                                        "(.add|.min|.max|.inc|.dec|.and|.or|.xor)(.s32|.u32|.s64|.u64|.b32|.b64)"}};
constexpr Form bulk_reduce_forms[] = {
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
constexpr Form multimem_load_forms[] = {ON_REPLICAS(".ld_reduce", READS),
                                        {".ld_reduce" READS "(.min|.max){.v2|.v4}(.f16x2|.bf16x2)"},
                                        {".ld_reduce" READS "(.min|.max)(.v2|.v4|.v8)(.f16|.bf16)"},
                                        {".ld_reduce" READS ".add.acc::f32{.v2|.v4}(.f16x2|.bf16x2)"},
                                        {".ld_reduce" READS ".add.acc::f32(.v2|.v4|.v8)(.f16|.bf16)"}};
constexpr Form multimem_forms[] = {
    ON_REPLICAS(".red", REDUCES),
    {".st{.weak|.relaxed|.release}" SCOPE "{.global}(.b32|.b64|.u32|.u64|.s32|.s64|.f32|.f64|.f16x2|.bf16x2)"},
    {".st{.weak|.relaxed|.release}" SCOPE "{.global}(.v2|.v4)(.f32|.f16x2|.bf16x2)"},
    {".st{.weak|.relaxed|.release}" SCOPE "{.global}(.v2|.v4|.v8)(.f16|.bf16)"}};
constexpr Form setmaxnreg_forms[] = {{"(.inc|.dec).sync.aligned.u32"}};
constexpr Form griddepcontrol_forms[] = {{"(.launch_dependents|.wait)"}};

}  // namespace
}  // namespace lockstep::ptx
