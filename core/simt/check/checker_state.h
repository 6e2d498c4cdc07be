// What racecheck and initcheck keep. Time is the count of everything that orders threads (and of instructions that are
// looked at lane by lane), in the order in which this machine ran them: so "all that warp w did before time t" is one
// number, whatever order the driver chose. Internal to core/simt.
//
// Each cell of shadow memory (4 bytes; in pages with narrower accesses 1 byte) remembers four accesses: the last plain
// write, the last strong write or atomic, the last read, and the one before it by somebody else. An access is a time, a
// warp (numbered through the grid) and "how": its instruction, and the first and the last lane of it that came here.
//
// Two things keep the account small where kernels behave. A page of global memory that warps only touch 16 words at a time,
// one lane after the other (of 4, 8 or 16 bytes each) and in step with its 64-byte lines, remembers 16 cells as one (a byte
// of shadow a byte; opened cell by cell, with 12 bytes a byte, at the first access of another kind). A page that lanes only
// gather from, each its own way, remembers the two reads alone, those of a cell side by side (4 bytes a byte; opened too at
// the first access of another kind). And reads of a block's shared memory are put into lists first, one of regular ones and
// one of all others: a barrier of the whole block makes them of no interest, so that few ever reach their cells.
#pragma once
#include <array>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/simt/check/byte_set.h"
#include "core/simt/check/checker.h"

namespace lockstep::simt {

constexpr uint32_t page_bytes = 4096;

enum class Remembered : uint32_t { write, strong, read, earlier };  // each has three columns: time, warp, how
constexpr uint32_t remembered_count = 4;

constexpr uint32_t how_pc_bits = 22;
constexpr uint32_t lanes_bits = 0x3ff;
inline uint32_t how_of(uint32_t pc, uint32_t first, uint32_t last) {
    constexpr uint32_t most = (1u << how_pc_bits) - 1;
    return (pc < most ? pc : most) << 10 | first << 5 | last;
}

struct Recorded {  // one access that a cell remembers
    uint32_t time = 0, warp = 0, how = 0;
    uint32_t pc() const { return how >> 10; }
    uint32_t first_lane() const { return how >> 5 & 31; }
    uint32_t last_lane() const { return how & 31; }
};

constexpr uint32_t group_cells = 16;
constexpr uint32_t next_lane = 1 << 5 | 1;  // added to `how`: the same of the lanes behind
struct GroupRecorded : Recorded {  // what cell 0 of 16 remembers; cell k: the same of the lanes behind by k >> shift
    uint32_t shift = 0;
};
struct alignas(64) CellGroup {  // 16 cells of 4 bytes
    GroupRecorded write, read, earlier;
};

// A cell of 4 bytes that has only been read. A read: its time above; then the number of the warp times the loads of the
// program, and which of them; then the lanes, as in `how`. 0: none.
struct alignas(16) CellReads {
    uint64_t read = 0, earlier = 0;
};
constexpr uint32_t most_readers = 1u << how_pc_bits;  // warps times loads

class ShadowPage {  // the cells of page_bytes bytes
  public:
    explicit ShadowPage(uint32_t shift)
        : shift_(shift), stride_((page_bytes >> shift) + 16), words_(size_t{stride_} * 3 * remembered_count) {}
    enum class Short : uint8_t { groups, reads };  // of words alone
    explicit ShadowPage(Short kind) : shift_(2), stride_(0) {
        if (kind == Short::groups)
            groups_.resize(page_bytes / 4 / group_cells);
        else
            reads_ = std::make_unique<CellReads[]>(page_bytes / 4);
    }
    bool in_groups() const { return !groups_.empty(); }
    bool of_reads() const { return reads_ != nullptr; }
    bool in_cells() const { return !words_.empty(); }  // only then the accesses below work
    CellGroup& group(uint32_t cell) { return groups_[cell / group_cells]; }
    CellReads* reads() { return reads_.get(); }
    uint32_t shift() const { return shift_; }  // 2: a cell is 4 bytes; 0: one
    uint32_t stride() const { return stride_; }
    uint64_t bytes() const {
        return words_.size() * 4 + groups_.size() * sizeof(CellGroup) + (reads_ ? page_bytes / 4 * sizeof(CellReads) : 0);
    }
    // The times of an access in all cells; `stride` further on the warps, then how.
    uint32_t* times(Remembered which) { return words_.data() + size_t{static_cast<uint32_t>(which)} * 3 * stride_; }
    Recorded get(Remembered which, uint32_t cell) {
        const uint32_t* const t = times(which) + cell;
        return {t[0], t[stride_], t[2 * stride_]};
    }
    bool has_strong() const { return has_strong_; }  // whether there ever was a strong write
    void put(Remembered which, uint32_t cell, const Recorded& r) {
        if (which == Remembered::strong) has_strong_ = true;
        uint32_t* const t = times(which) + cell;
        t[0] = r.time;
        t[stride_] = r.warp;
        t[2 * stride_] = r.how;
    }

  private:
    std::unique_ptr<CellReads[]> reads_;
    uint32_t shift_, stride_;
    bool has_strong_ = false;
    std::vector<uint32_t> words_;  // columns; 16 words of padding each, so that they do not all fall into one cache set
    std::vector<CellGroup> groups_;
};

struct Region {          // shadow of an allocation, or of a block's shared memory
    uint64_t begin = 0;  // address of its first byte
    uint64_t bytes = 0;
    uint32_t birth = 1;            // what is recorded before this time was something else here
    bool by_bytes = false;         // new pages have a cell a byte
    ByteSet* unwritten = nullptr;  // of global memory: bytes that nobody has written; null: all are
    std::vector<std::unique_ptr<ShadowPage>> pages;
};

// What a thread knows of other warps: "all that warp w did before time t". Keys are block * 64 for all warps of a block,
// block * 64 + 1 + w for one. Shared by threads that know the same.
struct Known {
    uint64_t key = 0;
    uint32_t time = 0;
    uint32_t fenced = 0;  // what it did before this time had passed a fence before it was told of: see checker_fence.cpp
    uint32_t pc = 0;      // of the instruction that told of it
};
struct Clock {
    uint32_t everything = 0;   // all that anybody did before this time: of clocks that grew too large
    std::vector<Known> known;  // by key
    Known knows(uint64_t block, uint32_t warp) const;  // leaving out `everything`
};
using ClockOf = std::shared_ptr<const Clock>;

struct WarpChecks {
    uint32_t number = 0;     // through the grid
    uint32_t base = 0;       // all that the block did before this time is known here
    uint32_t warp_base = 0;  // all that the warp's own lanes did
    using Times = std::array<std::array<uint32_t, warp_size>, warp_size>;
    std::unique_ptr<Times> lanes;  // (*lanes)[a][b]: lane a knows what b did before that time
    std::vector<ClockOf> clocks;   // of each lane; empty: nothing beyond the numbers above
    uint32_t unfenced = 0;         // lanes that have written plainly, not to shared memory, since their last fence
    uint32_t fence_time = 0;       // of the warp's last fence,
    uint32_t fence_base = 0;       // and `base` then
};

struct GroupReads {  // of products of a warpgroup that nobody has waited for
    uint32_t warp = 0, group = 0, pc = 0;
    std::vector<bool> pieces;  // of 16 bytes of shared memory
};
struct GroupHazard {  // an instruction that touches a register of such a product
    uint32_t pc = 0;
    int32_t offset = 0;
};

// A plain read of words of shared memory, not yet in the cells. Each half of the warp reads 16 cells one after the other, or
// one. A read of 2 or 4 words a lane is as many of these.
struct ListedRead {
    uint32_t time = 0, warp = 0, pc = 0;
    uint8_t ramp = 0;   // bit h: half h reads 16 cells
    uint8_t shift = 0;  // of a ramp: a lane has 1 << shift cells
    uint8_t first = 0;  // of a ramp: the lane of its half that has the first cell
    uint32_t lanes = 0;
    uint32_t cell[2];  // of the block, the first of each half; equal, of all lanes: both halves read the same
};
constexpr uint32_t most_listed = 4096;  // a block; 112 KiB
// The same where the lanes' addresses have no such order.
struct ListedLanes {
    uint32_t time = 0, warp = 0, pc = 0, lanes = 0;
    uint32_t words = 0;  // a lane
    uint64_t addresses[32];
};
constexpr uint32_t most_listed_lanes = 256;  // a block; 70 KiB

struct BlockChecks {
    uint32_t linear = 0;
    uint32_t first_warp = 0;  // WarpChecks::number of warp 0
    bool alone = true;        // no other block, and no product of a warpgroup under way, reaches its shared memory
    std::vector<GroupReads> groups;
    std::vector<uint32_t> groups_closed;  // by warp: wgmma.commit_group
    Region shared;
    std::unique_ptr<ListedRead[]> listed;  // reads since the last barrier of the whole block, in order
    std::unique_ptr<ListedLanes[]> listed_lanes;
    uint32_t listed_count = 0, listed_lanes_count = 0;
    std::vector<uint64_t> listed_lines;  // by page of shared memory: the 64-byte lines that they touch
    std::vector<WarpChecks> warps;
    ByteSet local_written;
    uint32_t local_bytes = 0;                        // a thread that local_written has room for
    uint32_t fenced_base = 0;                        // at this full barrier all warps had fenced what they had written
    std::array<ClockOf, 16> arrivals;                // at barriers, by warps that do not wait there
    std::unordered_map<uint64_t, ClockOf> released;  // by token, of its shared memory
};

struct SaidRace {
    uint64_t address = UINT64_MAX;
    uint32_t pc = 0, other_pc = 0;
    ptx::Space space = ptx::Space::none;
    AccessKind kind = AccessKind::read, other_kind = AccessKind::read;
    bool operator==(const SaidRace&) const = default;
};

// A load of several registers, or of 8 bytes: what initcheck has to know of its elements. 0 bytes: another instruction.
struct WideLoad {
    uint8_t element_bytes = 0;
    uint8_t used = 0;  // a bit an element: something but moves and stores reads it
};

// A store that writes one value, the same for all threads, over one known value: the load that looks whether it is there.
struct SetOnce {
    uint32_t load = ptx::no_pc;  // none: it is no such store
    uint32_t old = 0;
};

struct CheckerState {
    Checker* owner = nullptr;
    const Grid* grid = nullptr;
    bool race = false, init = false;
    bool independent = true;    // lanes of a warp are not ordered by running in step
    bool off = false;           // time has run out
    bool lane_by_lane = false;  // for tests: without the quick ways, which must not be told from it
    uint32_t now = 1;
    uint32_t warps_per_block = 1;
    std::vector<AccessKind> kinds;  // by pc: of loads, stores, atomics
    std::vector<uint32_t> loads;    // their pcs
    std::vector<uint32_t> load_at;  // by pc: which of them
    std::vector<bool> acquires;     // by pc: an atomic whose result is used
    std::vector<bool> expected;     // by pc: a load whose value is what a compare-and-swap compares with
    std::vector<uint8_t> quiet;     // by pc: a load from what the launch does not write, and all of which is written
    std::vector<bool> fences;       // by pc: a fence for more than the block
    std::vector<bool> releases;     // by pc: an access that is a fence as well: .release, .acq_rel
    std::vector<bool> volatiles;    // by pc: a volatile access that may be to shared memory, not of a flag
    std::vector<bool> copied;       // by pc: a load whose value goes nowhere but to local memory
    std::vector<WideLoad> wide;     // by pc
    std::unordered_map<uint64_t, bool> leads;        // by two pcs: whether the first leads to the second without a barrier
    std::unordered_map<uint32_t, SetOnce> set_once;  // by the store's pc (checker_benign.cpp)
    std::vector<std::string> hints;                  // sentences, no reports
    std::vector<Region*> last_global;                // by pc
    std::unordered_map<uint32_t, std::unique_ptr<BlockChecks>> blocks;  // by Block::linear
    BlockChecks* last_block = nullptr;
    std::vector<std::unique_ptr<BlockChecks>> idle;
    std::unordered_map<uint64_t, Region> global;     // by address of the allocation
    std::unordered_map<uint64_t, ClockOf> released;  // by token; of global memory the address
    bool tokens_left_out = false;                    // there were too many
    bool pages_left_out = false;                     // likewise
    mutable bool looked_away = false;  // two accesses counted as ordered because a clock had grown too large to tell
    std::vector<GroupHazard> hazards;  // not told yet
    uint64_t page_bytes_used = 0;
    std::set<std::string> seen;  // places that have a report
    SaidRace said[64];           // the latest races told of, so as not to put the same into words cell by cell
    uint64_t beyond = 0;         // reports that had no room
};

// The pages and lists that the quick ways use (checker_race.cpp). short_page: of a place that has none; null where there can
// be none. page_for: one in cells, made or opened where it is not yet; null where no more may be made.
ShadowPage* short_page(CheckerState& state, Region& region, uint64_t offset, ShadowPage::Short kind);
ShadowPage* page_for(CheckerState& state, Region& region, uint64_t offset, bool bytewise);
Region* global_region(CheckerState& state, const Grid& grid, uint32_t pc, uint64_t address);
void write_listed(BlockChecks& block);   // into the cells
void forget_listed(BlockChecks& block);  // they are of no interest any more
// A plain read of `words` words a lane of the block's own shared memory goes to the list, at the offsets `addresses`; false,
// with nothing done, where it takes a closer look.
bool list_lanes(CheckerState& state, BlockChecks& block, const WarpChecks& warp, uint32_t pc, const uint64_t* addresses,
                uint32_t lanes, uint32_t words);
// A plain read of `words` words a lane of global memory is remembered (checker_gather.cpp); false, with nothing done, where
// it takes a closer look. read_of: what a page of reads remembers.
Recorded read_of(const CheckerState& state, uint64_t read);
bool gather_lanes(CheckerState& state, const Grid& grid, const BlockChecks& block, const WarpChecks& warp, uint32_t pc,
                  const uint64_t* addresses, uint32_t lanes, uint32_t words);

// The state of a block, made at its first access.
BlockChecks& checks_of(CheckerState& state, const Block& block);
// Time goes on: the new value of `now`.
uint32_t advance(CheckerState& state);

// One lane's part of note_release and note_acquire; `keep`: what others released there stays (an atomic, not a store).
// pc: of the access; no_pc: it is a fence as well.
void release_lane(CheckerState& state, const BlockChecks& block, const WarpChecks& warp, uint32_t lane, uint64_t token,
                  bool keep, uint32_t pc);
void acquire_lane(CheckerState& state, WarpChecks& warp, uint32_t lane, uint64_t token);

// Whether `r` happened before what lane `lane` does now; `birth` of the region.
bool happened_before(const CheckerState& state, const BlockChecks& block, const WarpChecks& warp, uint32_t lane,
                     const Recorded& r, uint32_t birth);

// Whether `r`, a plain write to global memory that happened before what lane `lane` does now, may still be unseen: a thread
// of another block told of it without a fence. The one that told, or no_pc.
uint32_t told_without_fence(const CheckerState& state, const BlockChecks& block, const WarpChecks& warp, uint32_t lane,
                            const Recorded& r, uint32_t birth);
std::vector<uint8_t> find_quiet(const Grid& grid, bool init);        // CheckerState::quiet
void find_fences(CheckerState& state, const ptx::Program& program);  // CheckerState::fences, releases, volatiles

// What an atomic makes of a plain read of the same word that is not ordered with it (checker_doubt.cpp).
enum class Doubt : uint8_t {
    race,    // it is a race; so is every other pair
    hint,    // an atomic of the reader's own follows the read, and decides
    settled  // the read says what a compare-and-swap expects: that finds out whether it is so
};
Doubt doubt_of(CheckerState& state, AccessKind kind, uint32_t pc, AccessKind other, uint32_t other_pc);
// Whether a thread may come from one instruction to another without a barrier of the block or of the warp.
bool leads_without_barrier(const ptx::Program& program, uint32_t from, uint32_t to);
struct RacePair {                    // as a report names them: the write first, or of two writes the upper one
    uint32_t first = 0, second = 0;  // pcs
    AccessKind first_kind = AccessKind::write, second_kind = AccessKind::read;
    std::string first_at, second_at;  // "tile.cu:7"
    bool one_warp = false, one_block = true, global = false;
};
// How a report goes on behind the two accesses, and its advice.
std::string explain_race(const ptx::Program& program, const RacePair& race, std::string& advice);
std::vector<bool> find_expected(const ptx::Program& program);  // CheckerState::expected
// An exchange whose result nobody uses, of a value that is no constant.
bool is_blind_exchange(const ptx::Program& program, uint32_t pc);
std::vector<WideLoad> find_wide(const ptx::Program& program);
// Whether a read of `bytes` bytes of which those in `missing` (a bit a byte) were never written uses what is not there.
// Objects are copied in wide pieces, padding and members that nobody needs with them.
bool uses_missing(const WideLoad& load, uint32_t bytes, uint32_t missing);
std::vector<bool> find_copied(const ptx::Program& program);  // CheckerState::copied

// A load, store or atomic of the executor, before it is carried out.
void note_instruction(Warp& warp, uint32_t pc, const struct Prepared& p, uint32_t mask);

struct Place {  // of an access, for reports
    ptx::Space space = ptx::Space::global;
    uint64_t address = 0;  // shared: offset in the block
    uint32_t bytes = 0;
};
// Whether a plain read and a plain write that nothing orders come to the same, whichever is first; one of them is what lane
// `lane` of the warp does now.
bool comes_to_the_same(CheckerState& state, const Warp& warp, uint32_t lane, uint32_t read_pc, uint32_t write_pc,
                       bool writes_now, const Place& place);
// As a hint where doubt_of says so.
void report_race(CheckerState& state, const Warp& warp, uint32_t pc, uint32_t lane, AccessKind kind, const Place& place,
                 const Recorded& other, AccessKind other_kind);
// Warnings: two volatile accesses with nothing that orders them; a write that another block is told of without a fence.
void warn_of_volatile(CheckerState& state, const Warp& warp, uint32_t pc, uint32_t lane, AccessKind kind, const Place& place,
                      const Recorded& other, AccessKind other_kind);
void warn_of_missing_fence(CheckerState& state, const Warp& warp, uint32_t pc, uint32_t lane, AccessKind kind,
                           const Place& place, const Recorded& write, uint32_t told_at);
void report_under_way(CheckerState& state, const Warp& warp, uint32_t pc, uint32_t lane, const GroupReads& product,
                      const Place& place, uint32_t block_of_product);
void report_touched(CheckerState& state, const Warp& warp, uint32_t pc, const std::string& name, uint32_t product);

std::vector<GroupHazard> find_group_hazards(const ptx::Program& program);
// A write of the lane to shared memory of the block `owner`: whether a product under way may still read there.
void check_group_reads(CheckerState& state, BlockChecks& owner, const Warp& warp, uint32_t pc, uint32_t lane,
                       uint64_t address, uint32_t bytes);
void report_unwritten(CheckerState& state, const Warp& warp, uint32_t pc, uint32_t lane, const Place& place);

}  // namespace lockstep::simt
