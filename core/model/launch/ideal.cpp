#include "core/model/launch/ideal.h"

#include <algorithm>

namespace lockstep::model {
namespace {
constexpr uint32_t plenty = 64u << 20;  // of registers, and of bytes

void give_all_warps_room(GpuSpec& gpu) {
    gpu.registers_per_sm.value = std::max<uint32_t>(gpu.registers_per_sm, 256 * 32 * gpu.warps_per_sm);
    gpu.shared_per_sm.value = std::max<uint32_t>(gpu.shared_per_sm, plenty);
    gpu.blocks_per_sm.value = std::max<uint32_t>(gpu.blocks_per_sm, gpu.warps_per_sm);
}

void answer_at_once(GpuSpec& gpu) {
    for (Count* latency : {&gpu.shared_latency, &gpu.constant_load_latency, &gpu.constant_l15_latency, &gpu.l1_latency,
                           &gpu.l2_latency, &gpu.dram_latency, &gpu.atomic_latency})
        latency->value = 1;
    gpu.l2_far_latency.value = gpu.dram_far_latency.value = gpu.tlb_miss_latency.value = 0;
    gpu.dram_loaded_ns.value = 0;
}
}  // namespace

GpuSpec idealised(const GpuSpec& gpu, const Idealised& ideal) {
    GpuSpec changed = gpu;
    if (ideal.fp32) {
        changed.fp64_lanes.value = std::max<double>(gpu.fp64_lanes, gpu.fp32_lanes);
        changed.fp64_latency.value = gpu.fp32_latency;
    }
    if (ideal.fast_math) {
        changed.sfu_lanes.value = std::max<double>(gpu.sfu_lanes, gpu.fp32_lanes);
        changed.sfu_latency.value = gpu.fp32_latency;
    }
    if (ideal.all_warps) give_all_warps_room(changed);
    if (ideal.no_latency) answer_at_once(changed);
    return changed;
}

}  // namespace lockstep::model
