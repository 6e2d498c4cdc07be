#include "core/simt/history/rerun.h"

#include <algorithm>
#include <utility>

#include "core/simt/async/cluster.h"
#include "core/simt/execute/plan.h"
#include "core/simt/history/history.h"

namespace lockstep::simt {

Rerun::Rerun(const ptx::Program& program, const LaunchConfig& config, const Memory& before, uint32_t block, bool beside,
             std::stop_token stop)
    : memory_(before), grid_(make_grid(program, config, memory_)), watched_(block), beside_(beside), stop_(std::move(stop)) {
    units_.push_back(make_cluster_of(grid_, block, rank_));
    others_limit_ = other_warps_limit / 4;  // first: loops that count how often they wait would use up all
    if (beside) run_others();
    others_limit_ = other_warps_limit;
}

std::optional<WarpEvent> Rerun::other_turn(Warp& warp) {
    const uint64_t start = warp.instructions;
    uint64_t threads = 0;
    const WarpEvent event = simt::run(warp, beside_ ? others_turn : slice, threads);
    others_ += warp.instructions - start;
    if (others_ > others_limit_ || stop_.stop_requested()) return std::nullopt;
    return event;
}

// As many again as run. False: there are no more, or no room for them.
bool Rerun::start_more() {
    const uint32_t together = cluster_size(grid_);
    const uint64_t units = grid_.config->grid.count() / together;
    const uint64_t room = most_units(grid_);
    const size_t running = units_.size();
    for (; units_.size() < std::min<uint64_t>(2 * running, room) && next_ < units; ++next_) {
        const auto unit = static_cast<uint32_t>(next_);
        const auto number = [&](uint32_t rank) { return together == 1 ? unit : linear_in_cluster(grid_, unit, rank); };
        uint32_t first = 0;
        if (number(rank_) != watched_) units_.push_back(make_cluster_of(grid_, number(0), first));
    }
    return units_.size() > running;
}

void Rerun::run_others() {
    Pace pace;
    bool stopped = false;
    const auto turn = [&](Warp& warp, uint64_t) { return other_turn(warp); };
    while (start_more()) {
        const uint64_t patience =
            next_ < grid_.config->grid.count() / cluster_size(grid_) ? others_ + others_limit_ / 32 : UINT64_MAX;
        for (bool goes_on = true; goes_on && others_ < patience;) {
            uint32_t moved = 0;
            for (size_t i = 1; i < units_.size(); ++i)
                for (Block& block : units_[i])
                    if (round_of(block, pace, turn, moved, stopped) || stopped)
                        return;  // the watched warp shows how far it comes
            goes_on = false;
            for (size_t i = 1; i < units_.size(); ++i)
                for (Block& block : units_[i]) {
                    if (moved) look_again(block);
                    goes_on = goes_on || moved || can_move(block);
                }
        }
        units_.erase(std::remove_if(units_.begin() + 1, units_.end(), [](const auto& unit) { return ended(unit); }),
                     units_.end());
    }
}

}  // namespace lockstep::simt
