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
    static constexpr uint64_t granule = 12;  // rounds are left out by so many: registers may repeat every 1, 2, 3, 4, 6

    Rounds(const ptx::Program& program, const Evidence& evidence, const Loop& loop);

    bool known() const { return known_; }
    void give_up() { known_ = false; }
    // How many rounds every running warp still has in front of it, at least; none: some warp is not in the loop.
    std::optional<uint64_t> left(Machine& machine) const;
    uint64_t instructions_of_round(Machine& machine) const;  // of all warps that run, together
    // Requires machine.is_exact(), and a multiple of `granule` that is at most left(). False: something does not count
    // evenly, and nothing has changed.
    bool leave_out(Machine& machine, uint64_t rounds);

  private:
    struct Patch {
        std::byte* to = nullptr;
        uint32_t bytes = 4;  // of a lane
        std::vector<uint64_t> values;
    };
    bool count_on(simt::Grid& grid, simt::Block& block, uint64_t rounds, std::vector<Patch>& patches);
    const std::vector<int32_t>& steering_at(uint32_t pc);

    const ptx::Program& program_;
    const Loop& loop_;
    std::vector<int32_t> steering_;
    std::map<uint32_t, std::vector<int32_t>> live_;  // by pc: the steering registers that are read later
    bool known_ = false;
};

}  // namespace lockstep::model
