#include "app/gui/views/block_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/gui/widgets/draw.h"

namespace lockstep::gui {
namespace {

int64_t rounded_up(int64_t value, int64_t unit) {
    return unit > 1 ? (value + unit - 1) / unit * unit : value;
}

}  // namespace

WaveFacts wave_facts(int64_t blocks, int64_t sms, int64_t resident) {
    WaveFacts facts;
    facts.blocks = blocks;
    facts.at_once = sms * resident;
    if (blocks <= 0 || facts.at_once <= 0) return facts;
    facts.waves = (blocks + facts.at_once - 1) / facts.at_once;
    facts.exact = static_cast<double>(blocks) / static_cast<double>(facts.at_once);
    facts.last_share = static_cast<double>(blocks - facts.at_once * (facts.waves - 1)) / static_cast<double>(facts.at_once);
    facts.efficiency = static_cast<double>(blocks) / static_cast<double>(facts.waves * facts.at_once);
    return facts;
}

std::vector<BlockCounts> count_blocks(const KernelTrace& trace, const WaveFacts& facts, int64_t cycle) {
    std::vector<BlockCounts> waves(static_cast<size_t>(std::max<int64_t>(facts.waves, 0)));
    for (const BlockRun& block : trace.blocks) {
        const auto wave = static_cast<size_t>(block.block / std::max<int64_t>(facts.at_once, 1));
        if (wave >= waves.size()) continue;
        BlockCounts& counts = waves[wave];
        ++(block.end <= cycle ? counts.done : block.begin <= cycle ? counts.running : counts.to_come);
    }
    return waves;
}

std::vector<LimiterRow> limiter_rows(const model::KernelRun& run) {
    const model::GpuSpec& gpu = run.gpu;
    const model::Occupancy& o = run.result.occupancy;
    const int64_t registers = run.program ? run.program->registers_per_thread : 0;
    const int64_t a_warp = rounded_up(registers * 32, gpu.register_unit.value);
    const int64_t warps = o.warps_per_block;
    const int64_t asked =
        (run.program ? run.program->static_shared : 0) + run.config.dynamic_shared + gpu.shared_reserved.value;
    const int64_t shared = rounded_up(asked, gpu.shared_granule.value);
    std::vector<LimiterRow> rows = {
        {"warps", o.by_warps, fmt::format("{} of {} a block", warps, gpu.warps_per_sm.value), false},
        {"registers", o.by_registers,
         fmt::format("{} of {} a block", with_commas(a_warp * warps), with_commas(gpu.registers_per_sm.value)), false},
        {"shared memory", o.by_shared,
         asked == 0 ? "none used"
                    : fmt::format("{} of {} B a block", with_commas(shared), with_commas(gpu.shared_per_sm.value)),
         false},
        {"block slots", o.by_slots, fmt::format("1 of {} a block", gpu.blocks_per_sm.value), false},
    };
    for (LimiterRow& row : rows) row.limiter = row.name == o.limiter;
    return rows;
}

}  // namespace lockstep::gui
