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

namespace lockstep::model {

class Rounds {
  public:
    Rounds(const ptx::Program& program, const Evidence& evidence, const Loop& loop);

    bool known() const { return known_; }
    void give_up() { known_ = false; }
    // How many rounds every running warp still has in front of it, at least; none: some warp is not in the loop.
    std::optional<uint64_t> left(Machine& machine) const;
    uint64_t instructions_of_round(Machine& machine) const;  // of all warps that run, together
    // Requires machine.is_exact(). Leaves out at most so many rounds, which is at most left(), and says how many: as many as
    // steering registers that repeat every few rounds allow; 0: something does not count evenly, and nothing has changed.
    uint64_t leave_out(Machine& machine, uint64_t most);

  private:
    struct Counted {  // a register of one warp
        std::byte* at = nullptr;
        uint32_t bytes = 4;  // of a lane
        uint64_t period = 1;
        std::vector<uint64_t> values, gains;  // now; in `period` rounds
    };
    // What steers the block, by copying it and running it on; none: it does not count evenly.
    std::optional<std::vector<Counted>> count_on(simt::Grid& grid, simt::Block& block);
    const std::vector<int32_t>& steering_at(uint32_t pc);

    const ptx::Program& program_;
    const Loop& loop_;
    std::vector<int32_t> steering_;
    std::map<uint32_t, std::vector<int32_t>> live_;  // by pc: the steering registers that are read later
    bool known_ = false;
};

}  // namespace lockstep::model
