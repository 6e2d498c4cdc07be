// A block's state: made, reset and copied. Registers are one buffer for all warps; its aligned part begins at the first
// multiple of 64 bytes, so that a copy re-points its warps into its own buffer.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "core/ptx/decode/views.h"
#include "core/simt/async/cluster.h"
#include "core/simt/device_runtime.h"
#include "core/simt/execute/ahead.h"
#include "core/simt/execute/call.h"
#include "core/simt/execute/plan.h"
#include "core/simt/warp.h"

namespace lockstep::simt {

namespace {

std::byte* aligned(std::vector<std::byte>& buffer) {
    const auto start = reinterpret_cast<uintptr_t>(buffer.data());
    return buffer.data() + (64 - start % 64) % 64;
}
size_t stride_of(const ptx::Program& program) {
    return (size_t{program.register_bytes} + 63) / 64 * 64;
}

void point_warps(Block& block) {
    for (Warp& warp : block.warps) {
        warp.block = &block;
        if (block.grid) follow_frame(warp);
    }
}

}  // namespace

Block::Block(const Block& other) {
    *this = other;
}

Block& Block::operator=(const Block& other) {
    if (this == &other) return *this;
    grid = other.grid;
    index = other.index;
    linear = other.linear;
    sm = other.sm;
    warps = other.warps;
    shared = other.shared;
    local = other.local;
    local_bytes = other.local_bytes;
    warps_done = other.warps_done;
    warps_at_barrier = other.warps_at_barrier;
    arrived = other.arrived;
    ahead = other.ahead;
    clock = other.clock;
    rank = other.rank;
    cluster.clear();
    async = other.async;
    registers.resize(other.registers.size());
    if (!registers.empty()) {
        std::byte* const from = aligned(const_cast<std::vector<std::byte>&>(other.registers));
        std::memcpy(aligned(registers), from, registers.size() - 64);
    }
    point_warps(*this);
    return *this;
}

Block::Block(Block&& other) noexcept {
    *this = std::move(other);
}

Block& Block::operator=(Block&& other) noexcept {
    if (this == &other) return *this;
    grid = other.grid;
    index = other.index;
    linear = other.linear;
    sm = other.sm;
    warps = std::move(other.warps);
    shared = std::move(other.shared);
    registers = std::move(other.registers);  // the buffer itself moves: the alignment stays
    local = std::move(other.local);
    local_bytes = other.local_bytes;
    warps_done = other.warps_done;
    warps_at_barrier = other.warps_at_barrier;
    arrived = other.arrived;
    ahead = other.ahead;
    clock = other.clock;
    rank = other.rank;
    cluster.clear();
    async = std::move(other.async);
    for (Warp& warp : warps) warp.block = this;
    return *this;
}

std::vector<uint64_t> place_variables(const ptx::Program& program, Memory& memory) {
    std::vector<uint64_t> addresses;
    std::vector<bool> fresh;
    for (const auto& v : program.variables) {
        const uint64_t before = memory.live_bytes();
        addresses.push_back(memory.variable(program.ptx_file, v.name, v.bytes, v.initial));
        fresh.push_back(memory.live_bytes() != before);
    }
    for (size_t k = 0; k < addresses.size(); ++k) {
        if (!fresh[k]) continue;
        for (const ptx::InitialAddress& a : program.variables[k].addresses) {
            const uint64_t bits = (addresses[static_cast<size_t>(a.variable)] + a.addend) >> a.shift;
            if (std::byte* to = memory.write(addresses[k] + a.at, a.bytes)) std::memcpy(to, &bits, a.bytes);
        }
    }
    return addresses;
}

// The workspace in which grid.sync() finds its counter (%envreg1 and %envreg2 hold its address), as CUDA's driver gives it
// to a cooperative launch. Every launch has it whose blocks all run at once; in a larger one grid.sync() traps, as on
// silicon. All zeros when the launch begins, whatever a fault left there.
static uint64_t place_workspace(const ptx::Program& program, Memory& memory) {
    using ptx::SpecialRegister;
    const bool asks = std::any_of(program.instructions.begin(), program.instructions.end(), [](const auto& i) {
        return ptx::reads_special(i, SpecialRegister::envreg1) || ptx::reads_special(i, SpecialRegister::envreg2);
    });
    if (!asks) return 0;
    constexpr uint64_t bytes = 8;
    const uint64_t address = memory.variable("driver", "the grid's workspace", bytes, {});
    std::memset(memory.write(address, bytes), 0, bytes);
    return address;
}

uint64_t shared_of_launch(const Grid& grid) {
    return ptx::shared_bytes(*grid.program, grid.config->dynamic_shared);
}

void set_blocks_at_once(Grid& grid, uint64_t blocks) {
    grid.blocks_at_once = blocks;
    if (grid.config->grid.count() > blocks) grid.workspace = 0;
}

Grid make_grid(const ptx::Program& program, const LaunchConfig& config, Memory& memory) {
    Grid grid;
    grid.program = &program;
    grid.config = &config;
    grid.independent = config.independent;
    grid.memory = &memory;
    grid.variables = place_variables(program, memory);
    grid.workspace = place_workspace(program, memory);
    grid.plan = make_plan(program, grid.variables);
    grid.cluster = cluster_of(program, config);
    if (config.device_runtime) grid.own_runtime = config.device_runtime->again(memory);
    grid.device_runtime = grid.own_runtime.get();
    return grid;
}

Grid make_packed_grid(const std::shared_ptr<const ptx::Packing>& packing, const LaunchConfig& config, Memory& memory) {
    Grid grid = make_grid(packing->program, config, memory);
    const std::shared_ptr<Plan> plan = make_plan(packing->program, grid.variables);
    plan->packing = packing;
    grid.plan = plan;
    return grid;
}

void reset_block(Block& block, Grid& grid, uint32_t linear_index) {
    const ptx::Program& program = *grid.program;
    if (grid.variables.size() != program.variables.size()) grid.variables = place_variables(program, *grid.memory);
    if (!grid.plan || grid.plan->program != &program || grid.plan->variables != grid.variables) {
        grid.plan = make_plan(program, grid.variables);
        grid.windows.clear();
        grid.usual = nullptr;
    }
    grid.windows.resize(program.instructions.size() + 1);
    if (!grid.usual) grid.usual = std::make_shared<std::vector<std::atomic<uint8_t>>>(grid.windows.size());

    const Dim3 extent = grid.config->grid;
    assert(linear_index < extent.count());
    const auto threads = static_cast<uint32_t>(grid.config->block.count());
    const uint32_t warps = (threads + warp_size - 1) / warp_size;
    block.grid = &grid;
    block.linear = linear_index;
    block.index = {linear_index % extent.x, linear_index / extent.x % extent.y, linear_index / extent.x / extent.y};
    const uint64_t own = shared_of_launch(grid);
    block.shared.assign(program.reserved_shared > 0 ? (own + 127) / 128 * 128 + program.reserved_shared : own,
                        grid.config->shared_fill);
    block.local_bytes = program.local_bytes;
    block.local.assign(size_t{program.local_bytes} * threads, std::byte{});
    block.registers.assign(stride_of(program) * warps + 64, std::byte{});
    block.warps_done = 0;
    block.warps_at_barrier = 0;
    block.arrived.fill(0);
    block.ahead = {};
    block.clock = 0;
    block.cluster.clear();
    block.rank = rank_in_cluster(grid, block.index);
    block.async.clear();
    block.warps.resize(warps);
    for (uint32_t w = 0; w < warps; ++w) {
        Warp& warp = block.warps[w];
        const uint32_t alive = threads - w * warp_size;
        const uint32_t mask = alive >= warp_size ? full_mask : (1u << alive) - 1;
        warp.index = w;
        warp.exited = ~mask;
        warp.at_barrier = false;
        warp.done = false;
        warp.stack.reserve(8);
        warp.stack.assign(1, StackEntry{0, ptx::no_pc, mask});
        forget_frames(warp);
        warp.instructions = 0;
        warp.waits.clear();
        warp.watch.restart();
        warp.cluster_arrived = warp.cluster_owes = 0;
        warp.blocked = false;
        warp.waits_pc = ptx::no_pc;
    }
    point_warps(block);
}

Block make_block(Grid& grid, uint32_t linear_index) {
    Block block;
    reset_block(block, grid, linear_index);
    return block;
}

}  // namespace lockstep::simt
