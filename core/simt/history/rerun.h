// The block that holds a warp, with its cluster, run again on a copy of the memory that the launch began with: alone, or
// beside the other blocks where it waits for what they do. Internal to core/simt.
#pragma once
#include <stop_token>
#include <vector>

#include "core/simt/driver.h"

namespace lockstep::simt {

class Rerun {
  public:
    // `beside`: the others run first, until all of them wait or have ended; then the block meets them, in short turns of the
    // watched warp, so that it waits about as seldom as in a launch. A barrier of the grid is exact so. Where blocks hand
    // values on in an order that no wait decides, the warp sees those of a block that runs last; alone, of one that runs
    // first.
    // `stop`: it ends before the watched warp has.
    Rerun(const ptx::Program& program, const LaunchConfig& config, const Memory& before, uint32_t block, bool beside,
          std::stop_token stop = {});
    Rerun(const Rerun&) = delete;
    Rerun& operator=(const Rerun&) = delete;

    // The watched warp moves by watch(warp), at most turn() instructions at once, which returns its last event, or nothing
    // to stop; all others as in a launch.
    template <class Watch>
    std::optional<Fault> run(uint32_t warp, const Watch& watch) {
        const auto turn = [&](Warp& w) -> std::optional<WarpEvent> {
            if (w.index == warp && w.block == &block()) return watch(w);
            return other_turn(w);
        };
        std::optional<Fault> fault = drive(units_, turn);
        needs_others_ = !beside_ && fault && fault->kind == "deadlock" && grid_.config->grid.count() > units_.front().size();
        return fault;
    }

    uint64_t turn() const { return beside_ ? short_turn : slice; }
    bool needs_others() const { return needs_others_; }  // alone it could only wait for ever
    Block& block() { return units_.front()[rank_]; }
    Memory& memory() { return memory_; }

  private:
    static constexpr uint64_t short_turn = 64, others_turn = 1024;  // beside one another; alone a slice
    std::optional<WarpEvent> other_turn(Warp& warp);
    void run_others();
    bool start_more();

    Memory memory_;
    Grid grid_;
    std::vector<std::vector<Block>> units_;  // the watched one first; blocks stay where they are
    uint32_t rank_ = 0;                      // of the watched block in its cluster
    uint32_t watched_ = 0;                   // the block's number
    bool beside_ = false, needs_others_ = false;
    uint64_t next_ = 0;    // unit to start
    uint64_t others_ = 0;  // instructions of the warps that nobody watches
    uint64_t others_limit_;
    std::stop_token stop_;
};

}  // namespace lockstep::simt
