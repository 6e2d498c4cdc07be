// Leaves out rounds of the loop that all blocks are in just now. What steers them (addresses, counters) is counted on:
// copies of the blocks run some rounds functionally, and what a register gains in them it gains in all. Other values stay
// as they are, so what is computed afterwards is wrong, and nothing but the time counts.
//
// A block that comes to its end meanwhile, while others wait to start, goes on from the beginning of its loop as the next
// one, which never starts: the two do the same. Where none wait it ends, and those that stay on its SM go on at the pace
// that was measured of so many. Internal to core/model/sample.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
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
    struct Waiting {  // blocks that have not started
        uint64_t blocks = 0;
        bool alike = true;  // they do as much as others: `instructions` of warps each. Else no running block is to end
        double instructions = 0;
        uint64_t at_most = UINT64_MAX;  // of them are left out
    };
    // Rounds up to which leave_out() may get some block: to the end of its loop, or to that of the first where nobody knows
    // how those that it leaves behind would go on. 0: some block is not in the loop.
    uint64_t within_reach(Machine& machine, const Waiting& waiting) const;
    uint64_t instructions_of_round(Machine& machine) const;  // of all warps that run, together
    struct Progress {
        uint32_t sm = 0;
        uint64_t issued = 0;  // warp instructions of its warps
    };
    using ProgressOfBlocks = std::map<uint32_t, Progress>;  // that run
    ProgressOfBlocks progress(Machine& machine) const;

    struct Measured {
        ProgressOfBlocks from, to;
        double cycles = 0;  // that lie between them
    };
    struct LeftOut {
        double cycles = 0;  // 0: nothing has changed; known() says whether it can be tried again
        double rounds = 0;  // of a block that ran then, on average
        double instructions = 0;
        uint64_t blocks = 0;                        // that will never start
        double active_cycles = 0, warp_cycles = 0;  // SMs with a block, and warps, each summed over the cycles
    };
    // Requires machine.is_exact(). Blocks go on at the pace of those that stood alike: as many on their SM, as many of them
    // older. Until the last has `behind` rounds left, or one would leave behind fewer on its SM than were measured on any.
    // What the first of `measured` does not know, the next may: it is shorter, so blocks ended in it on fewer SMs.
    LeftOut leave_out(Machine& machine, std::span<const Measured> measured, uint64_t behind, const Waiting& waiting);

  private:
    struct Place {  // a block and those that go on in its place
        simt::Block* block = nullptr;
        double begin = 0, at = 0;  // rounds of the loop that are done: when the time begins, and now
        bool over = false;
    };
    using Sms = std::map<uint32_t, std::vector<Place*>>;    // each with what runs on it, the oldest first
    using Paces = std::map<uint32_t, std::vector<double>>;  // rounds a cycle, by how many there are and how many are older
    Paces paces_of(const Measured& measured) const;
    LeftOut flow(Sms& sms, const Paces& paces, double count, double behind, double between, const Waiting& waiting) const;
    enum class Stand { before, in, behind };
    Stand stand_of(const simt::Block& block) const;
    using Register = std::pair<size_t, int32_t>;  // warp of the block, place of the register; none is a predicate
    struct Gains {
        uint64_t period = 1;
        std::map<Register, std::vector<uint64_t>> registers;  // what each lane gains in `period` rounds
        std::set<Register> differ;                            // from block to block
        void add(const Gains& other);
    };
    uint64_t left_of(const simt::Block& block) const;         // 0: a warp is not in the loop, or in its last round
    uint64_t round_of_block(const simt::Block& block) const;  // warp instructions
    // What steers the block, by copying it and running it on; none: it does not count evenly. Requires that it has
    // rounds_tried of them left.
    std::optional<Gains> count_on(simt::Grid& grid, simt::Block& block);
    // What of these steers the block where it stands; none: they do not say.
    std::optional<Gains> picked(const Gains& from, const simt::Block& block);
    int64_t move(const Place& place, const Gains& gains, int64_t behind);  // by as many rounds as it returns
    const std::vector<int32_t>& steering_at(uint32_t pc);

    const ptx::Program& program_;
    const Loop& loop_;
    const ptx::Program light_;  // what copies run: see steering_of()
    std::vector<int32_t> steering_;
    std::optional<ptx::Liveness> liveness_;
    std::map<uint32_t, std::vector<int32_t>> live_;  // by pc: the steering registers that are read later
    bool known_ = false;
};

}  // namespace lockstep::model
