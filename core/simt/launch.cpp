// A launch's limits, and the functional driver: block after block, each warp from barrier to barrier (driver.h has the
// orders). A warp that never reaches one gives way after a slice, so that a warp may spin on what another one writes; a
// block that runs long gets company, as on a GPU, where many are resident, so that blocks may wait for one another as well.
#include "core/simt/launch.h"

#include <algorithm>

#include "core/base/sizes.h"
#include "core/simt/async/cluster.h"
#include "core/simt/check/checker.h"
#include "core/simt/driver.h"
#include "core/simt/execute/ahead.h"
#include "core/simt/memory/kept.h"
#include "core/simt/native/native.h"
#include "core/simt/origins/observe.h"

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
    if (const auto refused = check_cluster(program, config, limits)) return refused;
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
    const uint64_t fixed = ptx::shared_bytes(program, 0);
    const uint64_t granule = std::max(1u, limits.shared_granule);
    const uint64_t shared = (fixed + config.dynamic_shared + granule - 1) / granule * granule;
    if (shared > limits.shared_per_block) {
        return refuse(number(shared) + " bytes of shared memory a block (" + number(fixed) + " static, " +
                      number(config.dynamic_shared) + " dynamic" +
                      (shared != fixed + config.dynamic_shared ? ", in granules of " + number(granule) : "") +
                      ") are too many: at most " + number(limits.shared_per_block) + " (" +
                      size_text(limits.shared_per_block) + ")");
    }
    const uint64_t warps = (count + warp_size - 1) / warp_size;
    const uint32_t a_thread =
        limits.compute == 0 ? program.registers_per_thread : ptx::registers_on(program, limits.compute);
    const uint64_t plain = uint64_t{a_thread} * warp_size, unit = std::max(1u, limits.register_unit);
    const uint64_t a_warp = (plain + unit - 1) / unit * unit, registers = a_warp * warps;
    if (registers > limits.registers_per_block) {
        return refuse(number(count) + " threads with " + number(a_thread) + " registers each need " + number(registers) +
                      " registers a block" +
                      (a_warp != plain ? ", " + number(a_warp) + " a warp in units of " + number(unit) : "") + ": at most " +
                      number(limits.registers_per_block));
    }
    const uint64_t granule_of_warps = std::max(1u, limits.warp_granule);
    const uint64_t room = a_warp == 0 ? warps : limits.registers_per_block / a_warp / granule_of_warps * granule_of_warps;
    if (warps > room) {
        return refuse("a block of " + number(warps) + " warps with " + number(a_thread) +
                      " registers a thread is too large: there are registers for at most " + number(room) +
                      " warps, in groups of " + number(granule_of_warps));
    }
    if (program.local_bytes > local_limit) {
        return refuse(size_text(program.local_bytes) + " of local memory a thread are too many: at most " +
                      size_text(local_limit));
    }
    if (uint64_t{program.register_bytes} * warps > register_limit) {
        return refuse("the registers of " + program.shown_name() + " would take " +
                      size_text(uint64_t{program.register_bytes} * warps) + " a block here: at most " +
                      size_text(register_limit));
    }
    if (config.parameters.size() != program.parameter_bytes) {
        return refuse("the parameters have " + number(config.parameters.size()) + " bytes, but " + program.shown_name() +
                      " takes " + number(program.parameters.size()) +
                      (program.parameters.size() == 1 ? " parameter" : " parameters") + " of " +
                      number(program.parameter_bytes) + " bytes");
    }
    return std::nullopt;
}

namespace {

constexpr uint64_t patience = 4'000'000;         // warp instructions that a unit runs alone before another one joins it
constexpr uint64_t most_resident = 8192;         // blocks, whatever LaunchOptions says
constexpr uint64_t resident_bytes = 2ull << 30;  // of their registers, local and shared memory, where blocks wait for others
constexpr uint64_t resident_at_random = 4;       // units that random order mixes from the start

// The order in which blocks start: a permutation of 0 .. count-1 that needs no memory. Random order is a Feistel network
// over the next power of four, walked until it lands inside (Black and Rogaway, "Ciphers with arbitrary finite domains").
class StartOrder {
  public:
    StartOrder(WarpOrder order, uint64_t seed, uint64_t count) : order_(order), seed_(seed), count_(count) {
        while (half_bits_ < 31 && (uint64_t{1} << 2 * half_bits_) < count) ++half_bits_;
    }
    uint64_t operator[](uint64_t i) const {
        if (order_ == WarpOrder::reverse) return count_ - 1 - i;
        if (order_ != WarpOrder::random) return i;
        do i = shuffled(i);
        while (i >= count_);
        return i;
    }

  private:
    uint64_t shuffled(uint64_t i) const {
        const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
        uint64_t left = i >> half_bits_, right = i & mask;
        for (uint64_t round = 0; round < 4; ++round) {
            uint64_t mixed = (right + seed_ * 0x9e3779b97f4a7c15ull + round) * 0xbf58476d1ce4e5b9ull;
            mixed ^= mixed >> 29;
            const uint64_t next = (left ^ (mixed * 0x94d049bb133111ebull >> 33)) & mask;
            left = right;
            right = next;
        }
        return left << half_bits_ | right;
    }
    WarpOrder order_;
    uint64_t seed_, count_;
    uint32_t half_bits_ = 1;
};

// What starts and ends together: a block; a cluster's blocks.
struct Unit {
    std::vector<Block> blocks;
};

// One turn of a warp, instruction by instruction, while somebody looks on.
WarpEvent observed_turn(Warp& warp, uint64_t budget, uint64_t& thread_instructions, Observer& observer) {
    for (uint64_t left = budget;; --left) {
        observer.before(warp);
        const WarpEvent event = step(warp);
        observer.after(warp, event);
        thread_instructions += static_cast<uint64_t>(__builtin_popcount(event.executed));
        if (warp.done || event.gives_way || warp.at_barrier || left <= 1 || event.kind == WarpEvent::Kind::barrier ||
            event.kind == WarpEvent::Kind::fault)
            return event;
    }
}

LaunchResult run_blocks(Grid& grid, const LaunchOptions& options, Observer* observer = nullptr) {
    constexpr uint64_t check_every = 1 << 16;  // instructions between looks at the stop token
    const LaunchConfig& config = *grid.config;
    LaunchResult result;
    const uint32_t together = cluster_size(grid);  // blocks of a unit
    const uint64_t units = config.grid.count() / together;
    const StartOrder order(options.order, options.seed, units);
    Pace pace{options.order, Rng(options.seed)};

    const uint64_t most = std::min(most_units(grid), std::max<uint64_t>(1, options.resident_blocks / together));

    std::vector<std::unique_ptr<Unit>> resident, idle;
    uint64_t started = 0, done = 0, next_check = 0, last_start = 0;
    const auto start = [&] {
        if (idle.empty()) idle.push_back(std::make_unique<Unit>());
        std::unique_ptr<Unit> unit = std::move(idle.back());
        idle.pop_back();
        unit->blocks.resize(together);
        const auto number_of_unit = static_cast<uint32_t>(order[started++]);
        if (together == 1) {
            reset_block(unit->blocks[0], grid, number_of_unit);
        } else {
            std::vector<Block*> by_rank;
            for (uint32_t rank = 0; rank < together; ++rank) {
                reset_block(unit->blocks[rank], grid, linear_in_cluster(grid, number_of_unit, rank));
                by_rank.push_back(&unit->blocks[rank]);
            }
            join_cluster(by_rank);
        }
        resident.push_back(std::move(unit));
        last_start = result.warp_instructions;
    };
    const auto turn = [&](Warp& warp, uint64_t length) -> std::optional<WarpEvent> {
        if (result.warp_instructions >= next_check) {
            next_check = result.warp_instructions + check_every;
            if (options.stop.stop_requested()) {
                result.stopped = true;
                return std::nullopt;
            }
            if (options.progress) options.progress(static_cast<double>(done) / static_cast<double>(units));
        }
        const uint64_t before = warp.instructions;
        const uint64_t left = options.max_instructions - std::min(options.max_instructions, result.warp_instructions);
        if (left == 0) {
            result.fault = runaway_fault(warp, result.warp_instructions);
            return std::nullopt;
        }
        warp.block->clock = std::max(warp.block->clock, static_cast<int64_t>(result.warp_instructions));
        const uint64_t budget = std::min(left, length);
        const WarpEvent event = observer && observer->wants(*warp.block)
                                    ? observed_turn(warp, budget, result.thread_instructions, *observer)
                                    : run(warp, budget, result.thread_instructions);
        result.warp_instructions += warp.instructions - before;
        return event;
    };

    while (done < units) {
        const bool impatient = result.warp_instructions - last_start > patience;
        const uint64_t wanted = impatient                            ? resident.size() + 1
                                : options.order == WarpOrder::random ? resident_at_random
                                                                     : 1;
        while (started < units && resident.size() < std::min(most, wanted)) start();
        uint32_t moved = 0;
        for (size_t i = 0; i < resident.size();) {
            Unit& unit = *resident[i];
            for (Block& block : unit.blocks) {
                bool stopped = false;
                if (auto fault = round_of(block, pace, turn, moved, stopped)) result.fault = std::move(fault);
                if (stopped || result.fault) return result;
            }
            if (!ended(unit.blocks)) {
                ++i;
                continue;
            }
            ++done;
            if (observer) std::for_each(unit.blocks.begin(), unit.blocks.end(), [&](Block& b) { observer->ended(b); });
            if (observer && observer->done()) return result;
            idle.push_back(std::move(resident[i]));
            resident.erase(resident.begin() + static_cast<std::ptrdiff_t>(i));
        }
        if (moved)
            for (const auto& unit : resident)
                for (Block& block : unit->blocks) look_again(block);
        if (moved || resident.empty()) continue;
        const bool some_can = std::any_of(resident.begin(), resident.end(), [](const auto& unit) {
            return std::any_of(unit->blocks.begin(), unit->blocks.end(), [](const Block& block) { return can_move(block); });
        });
        if (some_can) continue;
        if (started < units && resident.size() < most) {  // all wait: perhaps for a block that has not started
            for (size_t more = resident.size(); more > 0 && started < units && resident.size() < most; --more) start();
            continue;
        }
        for (const auto& unit : resident)
            for (const Block& block : unit->blocks)
                if (block.warps_done < block.warps.size()) {
                    result.fault = deadlock_fault(block, [&](uint32_t linear) -> const Block* {
                        for (const auto& other : resident)
                            for (const Block& running : other->blocks)
                                if (running.linear == linear) return &running;
                        return nullptr;
                    });
                    say_what_cannot_start(*result.fault, block, units - started, resident.size());
                    return result;
                }
    }
    if (options.progress) options.progress(1.0);
    return result;
}

}  // namespace

uint64_t most_units(const Grid& grid) {
    const ptx::Program& program = *grid.program;
    const LaunchConfig& config = *grid.config;
    const uint64_t together = cluster_size(grid);
    const uint64_t block_bytes = std::max<uint64_t>(
        1, uint64_t{program.register_bytes} * ((config.block.count() + warp_size - 1) / warp_size) +
               uint64_t{program.local_bytes} * config.block.count() + ptx::shared_bytes(program, config.dynamic_shared));
    return std::clamp<uint64_t>(resident_bytes / (block_bytes * together), 1, most_resident);
}

LaunchResult launch(const ptx::Program& program, const LaunchConfig& config, Memory& memory, const LaunchOptions& options) {
    const auto run = [&](Grid& grid) {
        begin_checks(grid, options);
        LaunchResult result = run_blocks(grid, options);
        result.notes = notes_of(grid);
        result.reports = take_reports(grid);
        result.warnings = take_warnings(grid);
        return result;
    };
    const auto begin = [&] {
        Grid grid = make_grid(program, config, memory);
        grid.synccheck = options.synccheck;
        grid.independent = options.independent;
        grid.print = options.print;
        if (options.device_runtime) grid.device_runtime = options.device_runtime;
        set_blocks_at_once(grid, options.resident_blocks);
        return grid;
    };
    Grid grid = begin();
    if (options.native && !options.racecheck && !options.initcheck)
        grid.native = options.translated ? options.translated : native_of(grid);
    if (grid.native) {
        find_written(grid);
        if (Kept kept; kept.keep(grid)) {
            LaunchResult result = run(grid);
            result.native = true;
            const bool tells = !result.warnings.empty() && grid.native->shuffles;
            if (!result.fault && !tells) return result;
            ++grid.native->undone;
            kept.put_back(memory);  // registers that nobody reads later were not written, and words may tell of them
        }
        grid = begin();
    }
    return run(grid);
}

LaunchResult launch_observed(const ptx::Program& program, const LaunchConfig& config, Memory& memory,
                             const LaunchOptions& options, Observer& observer) {
    Grid grid = make_grid(program, config, memory);
    grid.synccheck = options.synccheck;
    grid.independent = options.independent;
    if (options.device_runtime) grid.device_runtime = options.device_runtime;
    set_blocks_at_once(grid, options.resident_blocks);
    return run_blocks(grid, options, &observer);
}

}  // namespace lockstep::simt
