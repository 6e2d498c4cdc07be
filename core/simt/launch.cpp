// A launch's limits, and the functional driver: block after block, each warp from barrier to barrier. A warp that never
// reaches one gives way after a slice, so that a warp may spin on what another one writes.
#include "core/simt/launch.h"

#include <algorithm>

#include "core/simt/driver.h"
#include "core/simt/plan.h"

namespace lockstep::simt {

namespace {

std::string number(uint64_t n) {
    return std::to_string(n);
}
std::string extent(const Dim3& d) {
    return number(d.x) + " x " + number(d.y) + " x " + number(d.z);
}

constexpr uint32_t block_limit[3] = {1024, 1024, 64};              // since compute capability 2.0
constexpr uint32_t grid_limit[3] = {0x7fffffffu, 65535u, 65535u};  // since 3.0
constexpr uint64_t local_limit = uint64_t{512} << 10;              // bytes a thread
constexpr uint64_t register_limit = uint64_t{256} << 20;           // bytes of host memory that a block's registers may take

}  // namespace

std::optional<Diagnostic> check_launch(const ptx::Program& program, const LaunchConfig& config, const LaunchLimits& limits) {
    const auto refuse = [](std::string message) { return Diagnostic{std::move(message)}; };
    const Dim3 &grid = config.grid, &block = config.block;
    const uint32_t blocks[3] = {grid.x, grid.y, grid.z}, threads[3] = {block.x, block.y, block.z};
    const char axis[3] = {'x', 'y', 'z'};

    for (int i = 0; i < 3; ++i) {
        if (threads[i] == 0) {
            return refuse("a block of " + extent(block) + " has no threads: each of its sizes must be at least 1");
        }
        if (blocks[i] == 0)
            return refuse("a grid of " + extent(grid) + " has no blocks: each of its sizes must be at least 1");
    }
    // The product of three sizes may pass 64 bits; two at a time cannot.
    const uint64_t plane = uint64_t{block.x} * block.y;
    const uint64_t count = plane > UINT32_MAX ? plane : plane * block.z;
    if (count > limits.threads_per_block) {
        return refuse("a block of " + number(count) + " threads is too large: at most " + number(limits.threads_per_block) +
                      " threads a block");
    }
    for (int i = 0; i < 3; ++i) {
        if (threads[i] > block_limit[i]) {
            return refuse("a block of " + extent(block) + " threads is too large: at most " + number(block_limit[i]) +
                          " in " + axis[i] + (i == 0 && block.y == 1 && block.z == 1 ? " and in all" : ""));
        }
        if (blocks[i] > grid_limit[i]) {
            return refuse("a grid of " + extent(grid) + " blocks is too large: at most " + number(grid_limit[i]) + " in " +
                          axis[i]);
        }
    }
    if (uint64_t{grid.x} * grid.y > UINT32_MAX || uint64_t{grid.x} * grid.y * grid.z > UINT32_MAX) {
        return refuse("a grid of " + extent(grid) + " blocks is too large to run here: at most " + number(UINT32_MAX) +
                      " in all");
    }
    if (program.max_threads && count > program.max_threads) {
        return refuse("a block of " + number(count) + " threads is too large for " + program.shown_name() +
                      ": its .maxntid allows " + number(program.max_threads));
    }
    const uint32_t* const required = program.required_threads;
    if (required[0]) {
        const Dim3 needed{required[0], std::max(required[1], 1u), std::max(required[2], 1u)};
        if (!(needed == block)) {
            return refuse("a block of " + extent(block) + " threads does not fit " + program.shown_name() +
                          ": its .reqntid asks for " + extent(needed));
        }
    }
    const uint64_t fixed = std::max(program.static_shared, program.dynamic_shared_offset);
    const uint64_t granule = std::max(1u, limits.shared_granule);
    const uint64_t shared = (fixed + config.dynamic_shared + granule - 1) / granule * granule;
    if (shared > limits.shared_per_block) {
        return refuse(number(shared) + " bytes of shared memory a block (" + number(fixed) + " static, " +
                      number(config.dynamic_shared) + " dynamic) are too many: at most " + number(limits.shared_per_block));
    }
    const uint64_t warps = (count + warp_size - 1) / warp_size;
    const uint64_t registers = uint64_t{program.registers_per_thread} * warps * warp_size;
    if (registers > limits.registers_per_block) {
        return refuse(number(count) + " threads with " + number(program.registers_per_thread) + " registers each need " +
                      number(registers) + " registers a block: at most " + number(limits.registers_per_block));
    }
    if (program.local_bytes > local_limit) {
        return refuse(number(program.local_bytes) + " bytes of local memory a thread are too many: at most " +
                      number(local_limit));
    }
    if (uint64_t{program.register_bytes} * warps > register_limit) {
        return refuse("the registers of " + program.shown_name() + " would take " + number(program.register_bytes * warps) +
                      " bytes a block here: at most " + number(register_limit));
    }
    if (config.parameters.size() != program.parameter_bytes) {
        return refuse("the parameters have " + number(config.parameters.size()) + " bytes, but " + program.shown_name() +
                      " takes " + number(program.parameters.size()) +
                      (program.parameters.size() == 1 ? " parameter" : " parameters") + " of " +
                      number(program.parameter_bytes) + " bytes");
    }
    return std::nullopt;
}

LaunchResult launch(const ptx::Program& program, const LaunchConfig& config, Memory& memory, const LaunchOptions& options) {
    constexpr uint64_t check_every = 1 << 16;  // instructions between looks at the stop token
    LaunchResult result;
    Grid grid = make_grid(program, config, memory);
    grid.synccheck = options.synccheck;
    Block block;
    const uint64_t blocks = config.grid.count();
    uint64_t next_check = 0, done_blocks = 0;
    const auto look_up = [&] {
        if (result.warp_instructions < next_check) return true;
        next_check = result.warp_instructions + check_every;
        if (options.stop.stop_requested()) {
            result.stopped = true;
            return false;
        }
        if (options.progress) options.progress(static_cast<double>(done_blocks) / static_cast<double>(blocks));
        return true;
    };
    for (; done_blocks < blocks; ++done_blocks) {
        reset_block(block, grid, static_cast<uint32_t>(done_blocks));
        const auto turn = [&](Warp& warp) -> std::optional<WarpEvent> {
            if (!look_up()) return std::nullopt;
            const uint64_t before = warp.instructions;
            const uint64_t left = options.max_instructions - std::min(options.max_instructions, result.warp_instructions);
            if (left == 0) {
                result.fault = runaway_fault(warp, result.warp_instructions);
                return std::nullopt;
            }
            const WarpEvent event = run(warp, std::min(left, slice), result.thread_instructions);
            result.warp_instructions += warp.instructions - before;
            return event;
        };
        std::optional<Fault> fault = drive(block, turn);
        if (fault) result.fault = std::move(fault);
        if (result.fault || result.stopped) return result;
    }
    if (options.progress) options.progress(1.0);
    return result;
}

}  // namespace lockstep::simt
