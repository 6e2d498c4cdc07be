#include "core/simt/apart/apart.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "core/simt/apart/touch_watch.h"
#include "core/simt/driver.h"
#include "core/simt/execute/ahead.h"
#include "core/simt/native/native.h"

namespace lockstep::simt {
namespace {

constexpr uint64_t least_work = 50'000;                // warp instructions, as many as the text has: less is not worth it
constexpr uint64_t most_watched = uint64_t{16} << 30;  // bytes
constexpr uint64_t look_every = 1 << 16;               // warp instructions

// What the threads of a launch share.
struct Apart {
    const LaunchConfig& config;
    const LaunchOptions& options;
    uint64_t blocks = 0, chunk = 1;
    std::atomic<uint64_t> next{0};  // block that nobody has taken
    std::atomic<bool> given_up{false};
};

struct Counts {
    uint64_t warp_instructions = 0, thread_instructions = 0;
};

// One thread: its blocks in ascending order. Whatever is out of the ordinary (a fault, a block that waits for another one, a
// launch that is too long or is stopped) gives up: then the launch runs again block after block, and says it there.
// Thread k begins with the k-th part, however late it comes, so that each has its share of a small grid.
void run_thread(Apart& apart, Grid& grid, Counts& counts, uint64_t number_of_thread) {
    Block block;
    Pace pace;
    uint64_t next_look = look_every;
    const auto turn = [&](Warp& warp, uint64_t length) -> std::optional<WarpEvent> {
        if (counts.warp_instructions >= next_look) {
            next_look = counts.warp_instructions + look_every;
            if (apart.options.stop.stop_requested()) apart.given_up = true;
            if (number_of_thread == 0 && apart.options.progress)
                apart.options.progress(static_cast<double>(std::min(apart.next.load(), apart.blocks)) /
                                       static_cast<double>(apart.blocks));
        }
        const uint64_t before = warp.instructions;
        const uint64_t left =
            apart.options.max_instructions - std::min(apart.options.max_instructions, counts.warp_instructions);
        if (left == 0) apart.given_up = true;
        if (apart.given_up) return std::nullopt;
        const WarpEvent event = run(warp, std::min(left, length), counts.thread_instructions);
        counts.warp_instructions += warp.instructions - before;
        return event;
    };
    for (uint64_t begin = number_of_thread * apart.chunk; begin < apart.blocks; begin = apart.next.fetch_add(apart.chunk)) {
        const uint64_t end = std::min(begin + apart.chunk, apart.blocks);
        for (uint64_t number = begin; number < end; ++number) {
            reset_block(block, grid, static_cast<uint32_t>(number));
            while (block.warps_done < block.warps.size()) {
                uint32_t moved = 0;
                bool stopped = false;
                const bool faulted = round_of(block, pace, turn, moved, stopped).has_value();
                if (faulted || stopped || (!moved && !can_move(block))) {
                    apart.given_up = true;
                    return;
                }
                if (moved) look_again(block);
            }
        }
    }
}

// How each access to global memory is noted in this launch: reads of what it does not write are not.
std::vector<uint8_t> ways_of(const Grid& grid, const ApartFacts& facts) {
    std::vector<uint8_t> ways(facts.reads.size() + 1, TouchWatch::unwatched);
    for (size_t pc = 0; pc < facts.reads.size(); ++pc) {
        if (facts.changes[pc] != changes_nothing)
            ways[pc] = static_cast<uint8_t>(TouchWatch::write + (facts.changes[pc] - changes_by_store));
        if (facts.reads[pc] == 0 || facts.changes[pc] != changes_nothing) continue;
        std::vector<uint64_t> from;
        const bool known = find_allocations(grid, facts.reads[pc], from);
        const bool apart = known && std::none_of(from.begin(), from.end(), [&](uint64_t address) {
                               return std::find(grid.written.begin(), grid.written.end(), address) != grid.written.end();
                           });
        if (!apart) ways[pc] = TouchWatch::read;
    }
    return ways;
}

// Kinds of instruction that read global memory without being asked how: only from what the launch leaves alone.
bool reads_by_others(const ptx::Program& program, const std::vector<uint8_t>& ways) {
    for (size_t pc = 0; pc < program.instructions.size(); ++pc) {
        const ptx::Kind kind = program.instructions[pc].kind;
        const bool asked = kind == ptx::Kind::load || kind == ptx::Kind::store || kind == ptx::Kind::atomic;
        if (!asked && ways[pc] != TouchWatch::unwatched) return true;
    }
    return false;
}

// An instruction of a loop is taken for sixteen.
bool is_worth_it(const ptx::Program& program, const LaunchConfig& config) {
    uint64_t work = program.instructions.size();
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc)
        if (const uint32_t target = program.instructions[pc].target; target <= pc) work += 15 * uint64_t{pc + 1 - target};
    const uint64_t warps = config.grid.count() * ((config.block.count() + warp_size - 1) / warp_size);
    return config.grid.count() > 1 && warps * work >= least_work;
}

bool checks_something(const LaunchOptions& options) {
    return options.racecheck || options.initcheck || options.order != WarpOrder::round_robin;
}

// The memory that the launch may write, made its own where others share it; nothing: there is too much of it.
std::unique_ptr<WatchedMemory> watched_memory(Grid& grid, uint32_t granule) {
    std::vector<WatchedMemory::Region> regions;
    uint64_t sum = 0;
    std::vector<uint64_t> addresses = grid.written;
    std::sort(addresses.begin(), addresses.end());
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
    for (const uint64_t address : addresses) {
        const Allocation* const allocation = grid.memory->find(address);
        if (!allocation || allocation->bytes == 0) continue;
        sum += allocation->bytes;
        regions.push_back({address, allocation->bytes, grid.memory->write(address, allocation->bytes), 0});
    }
    if (sum > most_watched) return nullptr;
    return std::make_unique<WatchedMemory>(std::move(regions), granule);
}

}  // namespace

ApartResult launch_apart(const ptx::Program& program, const ApartFacts& facts, const LaunchConfig& config, Memory& memory,
                         const LaunchOptions& options, uint32_t threads) {
    ApartResult result;
    const auto in_order = [&](std::string why) {
        result.threads = 1;
        result.why = std::move(why);
        result.launch = launch(program, config, memory, options);
        return std::move(result);
    };
    if (!facts.refusal.empty()) return in_order(facts.refusal);
    if (checks_something(options)) return in_order("the checkers follow it access by access");
    if (cluster_of(program, config).count() > 1) return in_order("its blocks form clusters");
    threads = static_cast<uint32_t>(std::min<uint64_t>(threads, config.grid.count()));
    if (threads < 2 || !is_worth_it(program, config)) return in_order("");
    Grid grid = make_grid(program, config, memory);
    grid.synccheck = options.synccheck;
    grid.independent = options.independent;
    set_blocks_at_once(grid, options.resident_blocks);
    memory.assume_written();
    grid.written.clear();
    grid.writes_anywhere = !find_allocations(grid, facts.writes, grid.written);
    if (grid.writes_anywhere) return in_order("it writes where pointers that lie in memory say");
    const std::vector<uint8_t> ways = ways_of(grid, facts);
    const std::unique_ptr<WatchedMemory> watched = watched_memory(grid, facts.granule);
    if (!watched) return in_order("it may write more memory than is kept account of");
    if (reads_by_others(program, ways)) return in_order("it reads what it writes past the registers");

    Apart apart{.config = config, .options = options, .blocks = config.grid.count()};
    apart.chunk = std::clamp<uint64_t>(apart.blocks / threads / 16, 1, 64);
    apart.next = threads * apart.chunk;
    if (options.native) {
        std::vector<bool> noted(ways.size());
        for (size_t pc = 0; pc < ways.size(); ++pc) noted[pc] = ways[pc] != TouchWatch::unwatched;
        grid.native = native_of(grid, &noted);
    }
    std::vector<std::unique_ptr<TouchWatch>> watches;
    std::vector<Grid> grids(threads, grid);
    std::vector<Counts> counts(threads);
    for (Grid& own : grids) {
        watches.push_back(std::make_unique<TouchWatch>(*watched, ways));
        own.watch = watches.back().get();
    }
    {
        std::vector<std::jthread> others;
        for (uint32_t k = 1; k < threads; ++k) others.emplace_back([&, k] { run_thread(apart, grids[k], counts[k], k); });
        run_thread(apart, grids[0], counts[0], 0);
    }
    for (const Counts& own : counts) {
        result.launch.warp_instructions += own.warp_instructions;
        result.launch.thread_instructions += own.thread_instructions;
    }
    const bool too_long = result.launch.warp_instructions > options.max_instructions;
    result.touched = !apart.given_up && TouchWatch::collide(*watched, watches);
    if (apart.given_up || too_long || result.touched) {
        if (apart.given_up && grid.native) ++grid.native->undone;
        watched->put_back();
        return in_order(result.touched ? "its blocks touched the same bytes"
                                       : "one of its blocks waited, failed or was stopped");
    }
    if (options.progress) options.progress(1.0);
    result.threads = threads;
    result.launch.native = grid.native != nullptr;
    return result;
}

}  // namespace lockstep::simt
