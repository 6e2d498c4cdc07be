// What the blocks of a launch do, from functional runs of some of them. Internal to core/model/sample.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/simt/warp.h"

namespace lockstep::model {

// A loop that every warp goes round at an even pace: `count` rounds of `length` instructions, behind its first `begin`.
struct LoopOfWarp {
    uint64_t begin = 0, length = 0, count = 0;
};
struct Loop {
    std::vector<LoopOfWarp> warps;  // of a block; empty: there is none
    double share = 0;               // of the block's instructions
    uint32_t begin = 0, end = 0;    // pcs
};

class Work {
  public:
    // Runs blocks on a copy of `memory` until what they do is known.
    Work(const ptx::Program&, const simt::LaunchConfig&, const simt::Memory&, const simt::LaunchOptions&);

    const std::string& refusal() const { return refusal_; }  // one sentence without its full stop
    uint64_t looked_at() const { return looked_at_; }
    // Warp instructions of the blocks begin ... end - 1.
    uint64_t of(uint64_t begin, uint64_t end) const;
    uint64_t usual() const { return usual_; }  // of most blocks
    const Loop& loop() const { return loop_; }

    // Whether a block in the middle, times all blocks, comes to more than so many warp instructions.
    static bool is_more_than(uint64_t instructions, const ptx::Program&, const simt::LaunchConfig&, const simt::Memory&,
                             const simt::LaunchOptions&);

  private:
    Work(const ptx::Program&, const simt::LaunchConfig&, const simt::Memory&, const simt::LaunchOptions&, uint64_t most);
    uint64_t run(uint32_t linear);
    void find_loop(uint32_t linear);
    uint32_t rim_of(uint64_t linear) const;
    void look_at_all();
    void look_at_some();

    const ptx::Program& program_;
    const simt::LaunchConfig& config_;
    simt::Memory memory_;
    simt::Grid grid_;
    simt::Block block_;
    std::string refusal_;
    uint64_t looked_at_ = 0, usual_ = 0;
    uint64_t most_;                        // warp instructions of a block
    std::vector<uint64_t> sums_;           // of all blocks, where all were run: of the first 0, 1, 2 ...
    std::map<uint32_t, uint64_t> of_rim_;  // else: of blocks at the rims of the grid that differ
    Loop loop_;
};

}  // namespace lockstep::model
