// Leaves out rounds of the loop that all blocks are in just now. What steers them (addresses, counters) is counted on:
// copies of the blocks run some rounds functionally, and what a register gains in them it gains in all. Other values stay
// as they are, so what is computed afterwards is wrong, and nothing but the time counts. Internal to core/model/sample.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "core/model/launch/machine.h"
#include "core/model/sample/evidence.h"
#include "core/model/sample/work.h"
#include "core/ptx/analyse/dataflow.h"

namespace lockstep::model {

class Rounds {
  public:
    Rounds(const ptx::Program& program, const Evidence& evidence, const Loop& loop);

    bool known() const { return known_; }
    void give_up() { known_ = false; }
    // Whether every running warp is in the loop, with at least so many rounds in front of it.
    bool all_have(Machine& machine, uint64_t rounds) const;
    uint64_t instructions_of_round(Machine& machine) const;  // of all warps that run, together
    // By running block: the warp instructions that its warps have issued.
    using Progress = std::map<uint32_t, uint64_t>;
    Progress progress(Machine& machine) const;

    struct LeftOut {
        double cycles = 0;                      // 0: something does not count evenly, and nothing has changed
        uint64_t rounds = 0, instructions = 0;  // rounds: of a block, on average
    };
    // Requires machine.is_exact() and all_have(behind + 1). Every block goes on at the pace that it had from `from` to `to`,
    // which lie `cycles` apart, until the first has `behind` rounds left.
    LeftOut leave_out(Machine& machine, const Progress& from, const Progress& to, double cycles, uint64_t behind);

  private:
    struct Counted {  // a register of one warp
        std::byte* at = nullptr;
        uint32_t bytes = 4;  // of a lane
        uint64_t period = 1;
        std::vector<uint64_t> values, gains;  // now; in `period` rounds
    };
    uint64_t left_of(const simt::Block& block) const;         // 0: a warp is not in the loop, or in its last round
    uint64_t round_of_block(const simt::Block& block) const;  // warp instructions
    // What steers the block, by copying it and running it on; none: it does not count evenly.
    std::optional<std::vector<Counted>> count_on(simt::Grid& grid, simt::Block& block);
    const std::vector<int32_t>& steering_at(uint32_t pc);

    const ptx::Program& program_;
    const Loop& loop_;
    std::vector<int32_t> steering_;
    std::optional<ptx::Liveness> liveness_;
    std::map<uint32_t, std::vector<int32_t>> live_;  // by pc: the steering registers that are read later
    bool known_ = false;
};

}  // namespace lockstep::model
