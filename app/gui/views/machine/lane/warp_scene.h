// What the machine shows of one warp and of one of its lanes at the clock, as plain data: which lanes work, what it issues
// or waits for, how far its request is, and the values of its registers, which the worker fetches.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/views/machine/lane/lane_bits.h"
#include "app/gui/views/machine/machine_scene.h"
#include "app/gui/views/sm/warp_facts.h"

namespace lockstep::gui {

struct MachineFrame;

// The values of the focused warp's registers at the steps that were looked at last. A step's result often takes the place of
// one of its sources, so the values in front of a step and behind it are both needed.
struct KeptLanes {
    using Values = std::shared_ptr<const std::vector<simt::LaneValues>>;
    void adopt(const Snapshot& snapshot);
    Values at(int64_t step) const;  // null: not here (yet)
    // Asks for a step besides the one that the clock stands on, and then for that one again.
    void ask(Session& session, const Focus& focus, const Snapshot& snapshot, int64_t step);

  private:
    static constexpr size_t most = 24;
    std::shared_ptr<const simt::WarpHistory> history_;
    std::map<int64_t, Values> values_;
    int64_t asked_ = -1, stood_ = -1;
};

enum class LaneMark : uint8_t { works, guarded, waits, gone };  // guarded: its predicate keeps it off
struct WarpNow {
    uint32_t warp = UINT32_MAX;  // index into KernelTrace::warps; UINT32_MAX: there is none
    const WarpTrack* track = nullptr;
    WarpState state;
    int64_t step = 0;                     // of the instruction that it issues or waits to issue
    const simt::WarpStep* now = nullptr;  // the same in its history; null: not here (yet)
    uint32_t pc = 0;
    bool fetching = false;  // its history is on its way
    std::array<LaneMark, 32> marks{};
    std::array<int, 32> path{};  // number of the path that a lane is on
    uint32_t works = 0;          // lanes
    std::optional<Wait> wait;    // for what
    int64_t awaited = -1;        // request that it waits for
    const ptx::DecodedInstruction* instruction = nullptr;
};
WarpNow warp_now(const MachineFrame& frame);
bool is_hidden(const MachineFrame& frame, const WarpNow& warp);   // by a question that is still open
int picked_lane(const MachineFrame& frame, const WarpNow& warp);  // the focus's, else the first that works

// Where a request is on the row of stations: 0 the SM, 1 L1, 2 L2, 3 DRAM; between them it travels.
struct WayPlace {
    double at = 0;
    bool back = false, waits = false;  // in a queue
};
WayPlace way_of(const Stations& stations, const RequestRecord& request, double clock);
struct WayWords {
    std::array<std::string, 4> name, word;  // "L2", "miss"; "" before it is known
};
WayWords way_words(const MachineFrame& frame, const RequestRecord& request, const Stations& stations, double clock);

// The instruction whose arithmetic is shown: the one that issues, else the one before it.
struct LaneNow {
    int lane = 0;
    int64_t step = -1;  // of it; -1: none has issued yet
    const IssueRecord* issue = nullptr;
    const ptx::DecodedInstruction* instruction = nullptr;
    KeptLanes::Values before, after;  // null: being fetched
    std::optional<LaneArithmetic> arithmetic;
    const simt::WarpAccess* access = nullptr;  // to memory
    bool worked = false;                       // the lane was on
    int64_t age = 0, latency = 1;              // cycles since it issued; until its result may be read
    bool needs_before = false;                 // its result took the place of a source
};
LaneNow lane_now(const MachineFrame& frame, const WarpNow& warp);

struct LaneRow {  // a register of a lane
    std::string name, holds, value;
    ptx::Type type = ptx::Type::none;
    uint64_t bits = 0;
    int64_t ready = 0;
    StallReason waits = StallReason::wait;
    bool read = false, written = false;  // by the instruction
    const simt::LaneValues* values = nullptr;
    bool unwritten = false;  // nobody has given it a value yet
};
// Registers as they are at the clock; what `pictured` reads and writes first, null: no instruction is pictured.
std::vector<LaneRow> lane_rows(const MachineFrame& frame, const WarpNow& warp, const ptx::DecodedInstruction* pictured,
                               const std::vector<simt::LaneValues>& values, int lane, size_t most);
struct NextIssue {
    int64_t cycle = 0;
    uint32_t pc = 0;
    std::string text;
};
std::vector<NextIssue> next_issues(const MachineFrame& frame, const WarpNow& warp, size_t most);  // after the clock's cycle
std::string source_line(const MachineFrame& frame, int32_t line);   // its text, without what it is indented by
std::string pipe_name(const ptx::DecodedInstruction& instruction);  // "FP32"

}  // namespace lockstep::gui
