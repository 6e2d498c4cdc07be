#include "core/model/advice/wide_block.h"

#include <algorithm>
#include <array>

#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"

namespace lockstep::model {
namespace {

using ptx::DecodedInstruction;
using ptx::SpecialRegister;

// Lanes and warps show in them, so that another shape of the block would.
bool sees_its_warp(const DecodedInstruction& i) {
    switch (i.kind) {
        case ptx::Kind::lane_wise:
        case ptx::Kind::lane_wise_many:
        case ptx::Kind::special_register:
        case ptx::Kind::load:
        case ptx::Kind::store:
        case ptx::Kind::branch:
        case ptx::Kind::exit:
        case ptx::Kind::nop:
            return i.space == ptx::Space::shared;
        default:
            return true;
    }
}

struct Axis {
    SpecialRegister block, size, thread;
};
constexpr Axis axes[] = {{SpecialRegister::ctaid_x, SpecialRegister::ntid_x, SpecialRegister::tid_x},
                         {SpecialRegister::ctaid_y, SpecialRegister::ntid_y, SpecialRegister::tid_y}};

// The special register that a register holds there, and nothing else.
std::optional<SpecialRegister> special_in(const ptx::Flow& flow, uint32_t pc, int32_t reg) {
    const ptx::Definitions made = ptx::definitions_of(flow, pc, reg);
    if (made.from_entry || made.pcs.size() != 1) return {};
    const DecodedInstruction& i = flow.program.instructions[made.pcs.front()];
    if (i.kind != ptx::Kind::special_register) return {};
    return ptx::as_special(i).which;
}

bool may_hold_special(const ptx::Flow& flow, uint32_t pc, int32_t reg) {
    const auto made = ptx::definitions_of(flow, pc, reg).pcs;
    return std::any_of(made.begin(), made.end(),
                       [&](uint32_t at) { return flow.program.instructions[at].kind == ptx::Kind::special_register; });
}

// Whether special registers are read for the place in the grid alone.
bool knows_its_place_alone(const ptx::Program& program) {
    const ptx::Flow flow(program);
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        const DecodedInstruction& i = program.instructions[pc];
        bool special = false;
        ptx::each_read(program.lists, i, [&](int32_t reg) { special = special || may_hold_special(flow, pc, reg); });
        if (!special) continue;
        if (i.opcode == nullptr || i.opcode->name != "mad" || ptx::size_of(i.type) != 4) return false;
        std::array<std::optional<SpecialRegister>, 3> sources;
        for (size_t k = 0; k < sources.size(); ++k)
            if (ptx::is_register(i.source[k])) sources[k] = special_in(flow, pc, i.source[k]);
        const bool one_axis = std::any_of(std::begin(axes), std::end(axes), [&](const Axis& axis) {
            const bool product = (sources[0] == axis.block && sources[1] == axis.size) ||
                                 (sources[0] == axis.size && sources[1] == axis.block);
            return product && sources[2] == axis.thread;
        });
        if (!one_axis) return false;
    }
    return true;
}

}  // namespace

std::optional<WideBlock> wide_block(const KernelRun& run) {
    const simt::Dim3 grid = run.config.grid, block = run.config.block;
    const ptx::Program& program = *run.program;
    const uint64_t threads = block.count();
    if (block.x >= 32 || threads % 32 != 0 || block.z != 1 || grid.z != 1 || program.functions.size() > 1 ||
        simt::cluster_of(program, run.config).count() != 1)
        return {};
    const uint64_t width = uint64_t{grid.x} * block.x, height = uint64_t{grid.y} * block.y, high = threads / 32;
    if (width % 32 != 0 || height % high != 0 || height / high > 65'535) return {};
    if (std::any_of(program.instructions.begin(), program.instructions.end(), sees_its_warp)) return {};
    if (!knows_its_place_alone(program)) return {};
    const auto number = [](uint64_t value) { return static_cast<uint32_t>(value); };
    return WideBlock{{number(width / 32), number(height / high), 1}, {32, number(high), 1}};
}

}  // namespace lockstep::model
