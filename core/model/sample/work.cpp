// Blocks run alone, one after the other. Control flow does not depend on data (evidence.h), so it does not matter what the
// others would have written.
#include "core/model/sample/work.h"

#include <algorithm>
#include <tuple>

#include "core/base/rng.h"
#include "core/simt/driver.h"

namespace lockstep::model {
namespace {

constexpr uint64_t most_instructions_of_all = 24'000'000;  // of all blocks, so that each is run
constexpr uint64_t most_instructions = 60'000'000;         // else of those that are
constexpr uint64_t most_of_a_block = 400'000'000;
constexpr size_t least_blocks = 9, most_blocks = 160;
constexpr uint64_t least_rounds = 32;
constexpr uint64_t most_stepped = 40'000'000;  // warp instructions of the block in which loops are looked for

// Runs a block to its end by turns of turn(warp, length) -> event; false: it faults, waits for others or takes too long.
template <class Turn>
bool run_block(simt::Block& block, const Turn& turn) {
    simt::Pace pace;
    const auto each = [&](simt::Warp& warp, uint64_t length) -> std::optional<simt::WarpEvent> {
        return turn(warp, length);
    };
    while (block.warps_done < block.warps.size()) {
        uint32_t moved = 0;
        bool stopped = false;
        const bool faulted = simt::round_of(block, pace, each, moved, stopped).has_value();
        if (faulted || stopped || (!moved && !simt::can_move(block))) return false;
        if (moved) simt::look_again(block);
    }
    return true;
}

}  // namespace

Work::Work(const ptx::Program& program, const simt::LaunchConfig& config, const simt::Memory& memory,
           const simt::LaunchOptions& options, uint64_t most)
    : program_(program), config_(config), memory_(memory), grid_(simt::make_grid(program, config, memory_)), most_(most) {
    grid_.synccheck = options.synccheck;
    grid_.independent = options.independent;
}

bool Work::is_more_than(uint64_t instructions, const ptx::Program& program, const simt::LaunchConfig& config,
                        const simt::Memory& memory, const simt::LaunchOptions& options) {
    const uint64_t blocks = config.grid.count(), each = instructions / blocks;
    Work work(program, config, memory, options, each);
    return work.run(static_cast<uint32_t>(blocks / 2)) > each;
}

Work::Work(const ptx::Program& program, const simt::LaunchConfig& config, const simt::Memory& memory,
           const simt::LaunchOptions& options)
    : Work(program, config, memory, options, most_of_a_block) {
    const uint64_t blocks = config.grid.count();
    const auto middle = static_cast<uint32_t>(blocks / 2);
    usual_ = run(middle);
    if (!refusal_.empty()) return;
    if (usual_ * blocks <= most_instructions_of_all)
        look_at_all();
    else
        look_at_some();
    if (refusal_.empty() && usual_ <= most_stepped) find_loop(middle);
    block_ = {};
}

uint64_t Work::run(uint32_t linear) {
    simt::reset_block(block_, grid_, linear);
    uint64_t threads = 0, ran = 0;
    const bool ended = run_block(block_, [&](simt::Warp& warp, uint64_t length) -> std::optional<simt::WarpEvent> {
        const uint64_t before = warp.instructions;
        if (ran > most_) return std::nullopt;
        const simt::WarpEvent event = simt::run(warp, length, threads);
        ran += warp.instructions - before;
        return event;
    });
    if (!ended) refusal_ = "one of its blocks fails, waits for others or takes very long";
    ++looked_at_;
    return ran;
}

void Work::look_at_all() {
    sums_.assign(1, 0);
    for (uint64_t linear = 0; linear < config_.grid.count() && refusal_.empty(); ++linear)
        sums_.push_back(sums_.back() + run(static_cast<uint32_t>(linear)));
}

uint32_t Work::rim_of(uint64_t linear) const {
    const simt::Dim3& grid = config_.grid;
    const uint64_t at[] = {linear % grid.x, linear / grid.x % grid.y, linear / grid.x / grid.y};
    const uint64_t extent[] = {grid.x, grid.y, grid.z};
    uint32_t rim = 0;
    for (uint32_t axis = 0; axis < 3; ++axis)
        rim |= (at[axis] == 0 ? 1u : at[axis] + 1 == extent[axis] ? 2u : 0u) << 2 * axis;
    return rim;
}

// The corners, the middles of the rims, and others at random places: those have to do the same.
void Work::look_at_some() {
    const simt::Dim3& grid = config_.grid;
    std::vector<uint64_t> rims, inside;
    const auto places = [](uint64_t extent) {
        std::vector<uint64_t> at{extent / 2, 0, extent - 1};
        std::sort(at.begin(), at.end());
        at.erase(std::unique(at.begin(), at.end()), at.end());
        return at;
    };
    for (const uint64_t z : places(grid.z))
        for (const uint64_t y : places(grid.y))
            for (const uint64_t x : places(grid.x)) rims.push_back(x + grid.x * (y + uint64_t{grid.y} * z));
    Rng rng(42);
    const size_t wanted =
        std::clamp<size_t>(most_instructions / std::max<uint64_t>(1, usual_), least_blocks + rims.size(), most_blocks);
    while (rims.size() + inside.size() < wanted) inside.push_back(rng.below(grid.count()));
    for (const uint64_t linear : rims) {
        const uint64_t work = run(static_cast<uint32_t>(linear));
        if (!refusal_.empty()) return;
        of_rim_[rim_of(linear)] = work;
    }
    for (const uint64_t linear : inside) {
        const uint64_t work = run(static_cast<uint32_t>(linear));
        if (!refusal_.empty()) return;
        if (work == of(linear, linear + 1)) continue;
        refusal_ = "its blocks do different work: " + std::to_string(usual_) +
                   " warp instructions in most that were tried, " + std::to_string(work) + " in block " +
                   std::to_string(linear);
        return;
    }
}

uint64_t Work::of(uint64_t begin, uint64_t end) const {
    if (!sums_.empty()) return sums_[end] - sums_[begin];
    uint64_t sum = 0;
    for (uint64_t linear = begin; linear < end; ++linear) {
        const auto found = of_rim_.find(rim_of(linear));
        sum += found == of_rim_.end() ? usual_ : found->second;
    }
    return sum;
}

// Where the targets of branches backwards are passed at even distances, as long as that goes.
void Work::find_loop(uint32_t linear) {
    const auto& code = program_.instructions;
    std::vector<int32_t> number(code.size() + 1, -1);
    std::vector<std::pair<uint32_t, uint32_t>> pcs;  // of each head's loop
    int32_t heads = 0;
    for (uint32_t pc = 0; pc < code.size(); ++pc) {
        if (code[pc].kind != ptx::Kind::branch || code[pc].target > pc) continue;
        int32_t& head = number[code[pc].target];
        if (head < 0) {
            head = heads++;
            pcs.emplace_back(code[pc].target, 0);
        }
        pcs[static_cast<size_t>(head)].second = pc + 1;
    }
    if (heads == 0 || program_.functions.size() > 1) return;
    simt::reset_block(block_, grid_, linear);
    const size_t warps = block_.warps.size();
    std::vector<std::vector<uint64_t>> passed(warps * static_cast<size_t>(heads));
    const bool ended = run_block(block_, [&](simt::Warp& warp, uint64_t length) -> std::optional<simt::WarpEvent> {
        simt::WarpEvent event;
        for (uint64_t n = 0; n < length && !warp.done && !warp.at_barrier; ++n) {
            const uint32_t pc = warp.pc();
            if (pc < number.size() && number[pc] >= 0)
                passed[warp.index * static_cast<size_t>(heads) + static_cast<size_t>(number[pc])].push_back(
                    warp.instructions);
            event = simt::step(warp);
            if (event.kind == simt::WarpEvent::Kind::fault || event.gives_way) break;
        }
        return event;
    });
    if (!ended) return;
    for (size_t head = 0; head < static_cast<size_t>(heads); ++head) {
        Loop loop;
        std::tie(loop.begin, loop.end) = pcs[head];
        uint64_t covered = 0;
        for (size_t w = 0; w < warps; ++w) {
            const std::vector<uint64_t>& at = passed[w * static_cast<size_t>(heads) + head];
            LoopOfWarp best;
            for (size_t first = 0; first + 1 < at.size();) {
                const uint64_t length = at[first + 1] - at[first];
                size_t last = first + 1;
                while (last + 1 < at.size() && at[last + 1] - at[last] == length) ++last;
                if (last - first > best.count) best = {at[first], length, last - first};
                first = last;
            }
            loop.warps.push_back(best);
            covered += best.length * best.count;
        }
        const bool even = std::all_of(loop.warps.begin(), loop.warps.end(),
                                      [](const LoopOfWarp& each) { return each.count >= least_rounds; });
        loop.share = static_cast<double>(covered) / static_cast<double>(std::max<uint64_t>(1, usual_));
        if (even && loop.share > loop_.share + 0.02) loop_ = std::move(loop);
    }
    if (loop_.share < 0.5) loop_ = {};
}

}  // namespace lockstep::model
