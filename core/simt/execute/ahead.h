// For the timed driver: a warp's instructions that only the warp itself can see, run in one go, to be issued one by one
// later, each in its cycle.
#pragma once
#include <array>
#include <cstring>
#include <memory>

#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/analyse/packing.h"
#include "core/simt/warp.h"

namespace lockstep::simt {

// Instructions that have run, one behind the other in the program, each as it ran the first time: Grid::usual. One that ran
// another way is alone.
struct AheadRun {
    uint32_t pc : 20;  // of the first
    uint32_t alone : 1;
    uint32_t passes : 8;  // alone: over the banks of shared memory
    uint32_t more;        // how many they are; alone: the lanes that took part
};
// How an instruction ran: so many passes over the banks, of all lanes of the path, or one of these.
constexpr uint8_t ran_with_all_lanes = 0xfe, ran_with_none = 0xff;
constexpr uint32_t most_ahead_pc = 1u << 20;

// Of one warp, first in, first out: rings.
struct AheadSteps {
    static constexpr uint32_t most = 32, most_words = 128;
    std::array<AheadRun, most> run;
    std::array<uint64_t, most_words> words;  // of an access to global memory what AheadCosts::request wrote
};
// Of all warps of an SM. What nobody has written holds anything: a short launch does not touch it.
class AheadRings {
  public:
    AheadRings() = default;
    explicit AheadRings(size_t count) : rings_(std::make_unique_for_overwrite<AheadSteps[]>(count)), count_(count) {}
    AheadRings(const AheadRings& other) : AheadRings(other.count_) {
        if (count_ != 0) std::memcpy(rings_.get(), other.rings_.get(), bytes());
    }
    AheadRings& operator=(const AheadRings& other) {
        if (this != &other) *this = AheadRings(other);
        return *this;
    }
    AheadRings(AheadRings&&) = default;
    AheadRings& operator=(AheadRings&&) = default;
    AheadSteps& operator[](size_t i) { return rings_[i]; }
    const AheadSteps& operator[](size_t i) const { return rings_[i]; }
    size_t bytes() const { return count_ * sizeof(AheadSteps); }

  private:
    std::unique_ptr<AheadSteps[]> rings_;
    size_t count_ = 0;
};

struct AheadEnds {  // counts that only grow; modulo `most` and `most_words` they are places in the rings
    uint16_t at = 0, end = 0, word_at = 0, word_end = 0;

    bool empty() const { return at == end; }
    uint32_t room() const { return AheadSteps::most - static_cast<uint16_t>(end - at); }
    uint32_t words_left() const { return AheadSteps::most_words - static_cast<uint16_t>(word_end - word_at); }
};

// What the timing model wants to know of an access.
struct AheadCosts {
    // The passes of a shared access: offsets of 32 lanes, mask, bytes a lane.
    uint32_t (*passes)(const uint64_t* offsets, uint32_t mask, uint32_t bytes) = nullptr;
    // Writes an access to global memory into the ring `words` from `end` on and moves `end`; false: there is no room.
    bool (*request)(const uint64_t* addresses, uint32_t mask, uint32_t bytes, AheadSteps& steps, AheadEnds& ends) = nullptr;
    bool shared = true;  // accesses to shared memory run ahead too: warps that race through it can tell
};

// Runs the next instructions of a warp as long as nobody but the warp can tell when they run, and writes down what each
// did; all were run by the path that was active before. They are lane-wise arithmetic, loads of parameters, weak loads and
// stores of shared memory (where AheadCosts says so), weak loads of global memory that the launch does not write
// (find_written), branches that do not split, and the arrival of the whole warp at a barrier of the whole block, behind
// which it goes on when that is released: Block::ahead. Returns how many; 0: only step() can go on, or another warp of the
// block.
uint32_t run_ahead(Warp& warp, AheadSteps& steps, AheadEnds& ends, const AheadCosts& costs);

// Finds the allocations that the launch may write: Grid::written. Where a store's address comes from is followed through
// the registers back to the parameters; what is not understood may write anywhere.
void find_written(Grid& grid);
// What an address may point into: a bit for each parameter and others for variables; anywhere: that is not known.
constexpr uint64_t origin_anywhere = uint64_t{1} << 63;
uint64_t origins_of_address(const ptx::Origins& origins, uint32_t pc, const ptx::MemoryOperand& access);
// The allocations that such origins stand for in a launch; false: any.
bool find_allocations(const Grid& grid, uint64_t origins, std::vector<uint64_t>& found);

// A grid as make_grid gives it, of a launch whose registers share places: see packing.h. Beside faults, of which the words
// may be wrong, such a launch may end with one of kind "packed": a warp came to where it was, so that old values of
// registers may count. `packing` was made of the program that was decoded.
Grid make_packed_grid(const std::shared_ptr<const ptx::Packing>& packing, const LaunchConfig& config, Memory& memory);
// What is found in some of a launch's blocks, apart from what is in others; and what was found so becomes the grid's.
std::shared_ptr<Findings> make_findings();
void move_findings(Grid& grid, Findings& from);
// Whether anything was found that a launch tells about registers: a fault aside, its warnings.
bool has_warnings(const Grid& grid);

// Whether all barriers of the program are one, for the whole block: those alone run ahead.
bool barriers_alike(const Grid& grid);

// What the lanes `lanes` ask of the nanosleep at `pc`: the longest of them, in nanoseconds, at most a millisecond.
uint32_t longest_sleep(const Warp& warp, uint32_t pc, uint32_t lanes);

}  // namespace lockstep::simt
