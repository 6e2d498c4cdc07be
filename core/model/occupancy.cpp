// How many blocks an SM holds at once, limit by limit, by the rules of the CUDA occupancy calculator: registers are
// allocated to warps in units and the warps that fit are rounded down to the granule; shared memory in granules.
#include <algorithm>

#include "core/model/gpu_spec.h"

namespace lockstep::model {
namespace {
uint32_t round_up(uint32_t n, uint32_t unit) {
    return unit == 0 ? n : (n + unit - 1) / unit * unit;
}
}  // namespace

Occupancy occupancy(const GpuSpec& gpu, uint32_t threads_per_block, uint32_t registers_per_thread,
                    uint32_t shared_per_block) {
    Occupancy o;
    o.warps_per_block = std::max<uint32_t>(1, (threads_per_block + 31) / 32);
    o.by_slots = gpu.blocks_per_sm;
    o.by_warps = gpu.warps_per_sm / o.warps_per_block;

    const uint32_t warp_registers = round_up(std::max<uint32_t>(1, registers_per_thread) * 32, gpu.register_unit);
    const uint32_t warps = gpu.registers_per_sm / warp_registers / gpu.warp_granule * gpu.warp_granule;
    o.by_registers = warps / o.warps_per_block;

    const uint32_t shared = round_up(shared_per_block + gpu.shared_reserved, gpu.shared_granule);
    o.by_shared = shared == 0 ? o.by_slots : gpu.shared_per_sm / shared;

    o.blocks = o.by_slots;
    o.limiter = "block slots";
    const auto limit = [&](uint32_t blocks, std::string_view limiter) {
        if (blocks >= o.blocks) return;
        o.blocks = blocks;
        o.limiter = limiter;
    };
    limit(o.by_warps, "warps");
    limit(o.by_registers, "registers");
    limit(o.by_shared, "shared memory");
    o.fraction = static_cast<double>(o.blocks * o.warps_per_block) / gpu.warps_per_sm;
    return o;
}

}  // namespace lockstep::model
