// How many blocks an SM holds at once, limit by limit, by the rules of the CUDA occupancy calculator: registers are
// allocated to warps in units and the warps that fit are rounded down to the granule; shared memory in granules.
#include <fmt/format.h>

#include <algorithm>

#include "core/model/gpus/gpu_spec.h"

namespace lockstep::model {
namespace {
// In 64 bits: what is asked for may be any number of 32.
uint64_t round_up(uint64_t n, uint32_t unit) {
    return unit == 0 ? n : (n + unit - 1) / unit * unit;
}
uint32_t registers_of_a_block(const GpuSpec& gpu) {
    return gpu.registers_per_block != 0 ? gpu.registers_per_block : gpu.registers_per_sm;
}
// Warps of so many registers that an SM has room for, and that a block may have.
uint32_t room(const GpuSpec& gpu, uint64_t a_warp) {
    return static_cast<uint32_t>(gpu.registers_per_sm / a_warp) / gpu.warp_granule * gpu.warp_granule;
}
uint32_t most_warps_of_a_block(const GpuSpec& gpu, uint64_t a_warp) {
    return static_cast<uint32_t>(registers_of_a_block(gpu) / a_warp) / gpu.block_warp_granule * gpu.block_warp_granule;
}
uint64_t registers_of_a_warp(uint32_t registers_per_thread) {
    return uint64_t{std::max<uint32_t>(1, registers_per_thread)} * 32;
}
// "warps", "warps and registers", "warps, registers and block slots".
std::string in_words(const std::vector<std::string_view>& names) {
    std::string text;
    for (size_t i = 0; i < names.size(); ++i) {
        if (i != 0) text += i + 1 == names.size() ? " and " : ", ";
        text += names[i];
    }
    return text;
}
}  // namespace

uint64_t shared_of_a_block(const GpuSpec& gpu, uint64_t asked) {
    return round_up(asked + gpu.shared_reserved, gpu.shared_granule);
}

Occupancy occupancy(const GpuSpec& gpu, uint32_t threads_per_block, uint32_t registers_per_thread, uint64_t shared_per_block,
                    uint32_t most_blocks) {
    Occupancy o;
    o.by_choice = most_blocks;
    o.warps_per_block = static_cast<uint32_t>(std::max<uint64_t>(1, (uint64_t{threads_per_block} + 31) / 32));
    o.by_slots = gpu.blocks_per_sm;
    o.by_warps = gpu.warps_per_sm / o.warps_per_block;

    const uint64_t warp_registers = round_up(registers_of_a_warp(registers_per_thread), gpu.register_unit);
    const bool too_many = o.warps_per_block > most_warps_of_a_block(gpu, warp_registers);
    o.by_registers = too_many ? 0 : room(gpu, warp_registers) / o.warps_per_block;

    const uint64_t shared = shared_of_a_block(gpu, shared_per_block);
    const bool too_much = shared > gpu.shared_per_block + gpu.shared_reserved;
    o.by_shared = shared == 0 ? o.by_slots : too_much ? 0 : static_cast<uint32_t>(gpu.shared_per_sm / shared);

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
    if (most_blocks != 0) limit(most_blocks, "your limit");
    std::vector<std::string_view> all;
    if (o.limiter == "your limit") {
        all.push_back(o.limiter);
    } else {
        if (o.by_warps == o.blocks) all.push_back("warps");
        if (o.by_registers == o.blocks) all.push_back("registers");
        if (o.by_shared == o.blocks && shared != 0) all.push_back("shared memory");
        if (o.by_slots == o.blocks) all.push_back("block slots");
    }
    o.limiters = in_words(all);
    o.fraction = static_cast<double>(o.blocks * o.warps_per_block) / gpu.warps_per_sm;
    return o;
}

std::vector<OccupancyLimit> occupancy_limits(const GpuSpec& gpu, uint32_t threads_per_block, uint32_t registers_per_thread,
                                             uint64_t shared_per_block, uint32_t most_blocks) {
    const Occupancy o = occupancy(gpu, threads_per_block, registers_per_thread, shared_per_block, most_blocks);
    const uint64_t warps = o.warps_per_block;
    const uint64_t plain = registers_of_a_warp(registers_per_thread), a_warp = round_up(plain, gpu.register_unit);
    const uint64_t shared = shared_of_a_block(gpu, shared_per_block);
    const uint64_t fit = gpu.registers_per_sm / a_warp;
    const uint32_t kept = room(gpu, a_warp);
    const uint32_t most_warps = most_warps_of_a_block(gpu, a_warp);

    std::string by_warps = fmt::format("{} threads are {} warp{} of 32", threads_per_block, warps, warps == 1 ? "" : "s");
    if (threads_per_block % 32 != 0) by_warps += ", the last one not full";
    std::string by_registers = fmt::format("{} registers x 32 lanes = {} a warp", registers_per_thread, plain);
    if (a_warp != plain) by_registers += fmt::format(", in units of {}: {}", gpu.register_unit.value, a_warp);
    by_registers += fmt::format("; room for {} warps", fit);
    if (kept != fit) by_registers += fmt::format(", in groups of {}: {}", gpu.warp_granule.value, kept);
    if (warps > most_warps && gpu.registers_per_block != 0)
        by_registers += fmt::format("; a block may have {}", registers_of_a_block(gpu));
    else if (warps > most_warps && warps <= kept)
        by_registers += fmt::format("; a block may have {}, in groups of {}", most_warps, gpu.block_warp_granule.value);
    std::string by_shared = "none used";
    if (shared != 0) {
        by_shared = fmt::format("{} B", shared_per_block);
        if (gpu.shared_reserved != 0) by_shared += fmt::format(" + {} B reserved", gpu.shared_reserved.value);
        if (shared != shared_per_block + gpu.shared_reserved)
            by_shared += fmt::format(", in granules of {} B: {} B", gpu.shared_granule.value, shared);
        if (shared > gpu.shared_per_block + gpu.shared_reserved)
            by_shared += fmt::format("; a block may have {} B", gpu.shared_per_block.value);
    }
    std::vector<OccupancyLimit> limits = {
        {"warps", o.by_warps, warps, gpu.warps_per_sm, "warps", std::move(by_warps)},
        {"registers", o.by_registers, a_warp * warps, gpu.registers_per_sm, "registers", std::move(by_registers)},
        {"shared memory", o.by_shared, shared, gpu.shared_per_sm, "B", std::move(by_shared)},
        {"block slots", o.by_slots, 1, gpu.blocks_per_sm, "blocks", "an SM keeps track of so many blocks, however small"},
    };
    if (most_blocks != 0) limits.push_back({"your limit", most_blocks, 1, most_blocks, "blocks", "chosen by hand"});
    const bool yours = o.limiter == "your limit";
    for (OccupancyLimit& limit : limits)
        limit.limiter =
            yours ? limit.name == o.limiter : limit.blocks == o.blocks && limit.a_block != 0 && limit.name != "your limit";
    return limits;
}

}  // namespace lockstep::model
