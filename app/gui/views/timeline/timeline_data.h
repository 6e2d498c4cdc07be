// What the warp timeline (D1) draws, as plain data: the rows of one traced SM, what every warp does at a cycle, sums
// over a window of cycles, and a pyramid of dominant states for windows too wide for cells. Built once a kernel run.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/gui/session.h"
#include "app/gui/views/timeline/state_code.h"

namespace lockstep::gui {

constexpr uint8_t empty_state = 255;  // no warp in the slot
constexpr int64_t first_look = 108;   // cycles of a window, before the width of its picture is known

struct TimeAxis {  // cycles [begin, end) over [x, x + width)
    int64_t begin = 0, end = 1;
    float x = 0, width = 1;
    float column() const { return width / static_cast<float>(end - begin); }
    float at(int64_t cycle) const { return x + static_cast<float>(static_cast<double>(cycle - begin) * column()); }
    int64_t cycle(float at_x) const;
};

struct SlotRow {  // one warp slot of the SM: the warps that lived in it, one after the other
    uint16_t slot = 0, scheduler = 0;
    std::vector<uint32_t> warps;  // indices into KernelTrace::warps, by begin
};

using StateCounts = std::array<uint64_t, state_count>;

struct Level {  // the pyramid: `bucket` cycles a cell
    int64_t bucket = 1;
    std::vector<StateCounts> totals;             // warp-cycles of all rows, by bucket
    std::vector<std::vector<uint8_t>> dominant;  // by row, by bucket: a StallReason or empty_state
};

struct Timeline {
    std::shared_ptr<const model::KernelRun> run;
    int64_t cycles = 0;                                 // that the trace covers
    std::vector<SlotRow> rows;                          // by scheduler, then slot
    std::vector<Level> levels;                          // bucket doubles
    std::vector<std::pair<char, std::string>> letters;  // of the program's instructions: letter, what it stands for
    // Sums from the first cycle to the beginning of each cell of levels[0], and of everything: one more than there are
    // cells.
    std::vector<std::array<int64_t, state_count>> states_until;
    std::vector<std::vector<int64_t>> issued_until, busy_until;  // by scheduler, by cell

    const KernelTrace& trace() const { return run->result.trace; }
    // Whether the trace has this cycle in full; of others only the overview is known.
    bool kept(int64_t cycle) const {
        return !trace().truncated || (cycle >= trace().kept_from && cycle < trace().kept_until);
    }
};

// The coarsest level still as fine as a column, or null when a column is finer than the finest.
const Level* level_for(const Timeline& timeline, double cycles_a_column);

constexpr size_t most_buckets = 8192;
Timeline make_timeline(std::shared_ptr<const model::KernelRun> run);

// What a warp does at a cycle.
struct WarpState {
    bool resident = false;
    const IssueRecord* issue = nullptr;  // it issues this
    const StallRun* stall = nullptr;     // or it waits
    StallReason reason() const { return stall ? stall->reason : StallReason::selected; }
    uint32_t pc() const { return issue ? issue->pc : stall ? stall->pc : 0; }
};
WarpState state_at(const KernelTrace& trace, const WarpTrack& warp, int64_t cycle);
// The warp in a row at a cycle, or -1.
int warp_at(const KernelTrace& trace, const SlotRow& row, int64_t cycle);
// How many instructions the warp has issued before the cycle: its step in WarpHistory.
int64_t issues_before(const KernelTrace& trace, const WarpTrack& warp, int64_t cycle);
// The cycle in which the warp issues its instruction number `step`, or -1 where the trace does not hold it.
int64_t cycle_of_step(const KernelTrace& trace, const WarpTrack& warp, int64_t step);
// Runs that overlap [begin, end), by binary search.
std::span<const StallRun> runs_in(const WarpTrack& warp, int64_t begin, int64_t end);
std::span<const uint32_t> issues_in(const KernelTrace& trace, const WarpTrack& warp, int64_t begin, int64_t end);

struct WindowSums {  // exact, over cycles [begin, end)
    int64_t begin = 0, end = 0;
    std::array<int64_t, state_count> states{};  // warp-cycles
    int64_t slot_cycles = 0;                    // rows with a warp in the window x cycles
    std::vector<int64_t> issued, busy;          // by scheduler: instructions; cycles in which it issued
    std::vector<int64_t> waits;                 // by pc: warp-cycles spent in front of it
    int64_t empty() const;
    int64_t issue_slots = 0;  // schedulers x issue width x cycles
    int64_t all_issued() const;
};
WindowSums sum_window(const Timeline& timeline, int64_t begin, int64_t end);
// The same without `waits`, in a time that does not grow with the window.
WindowSums quick_sums(const Timeline& timeline, int64_t begin, int64_t end);
// Instructions that a scheduler issued before a moment, which may lie within a cycle; from levels[0], smooth within a cell.
double issued_before(const Timeline& timeline, size_t scheduler, double cycle);

// For `columns` equal parts of [begin, end): each row's dominant state, and the mean number of warps in each state.
void dominant_states(const Timeline& timeline, size_t row, int64_t begin, int64_t end, std::span<uint8_t> columns);
std::vector<std::array<float, state_count>> mean_states(const Timeline& timeline, int64_t begin, int64_t end,
                                                        size_t columns);

// An instruction in a line's room: without tabs, and of a parameter's name, the kernel's mangled one and a number, the
// number.
std::string short_text(const ptx::Program& program, uint32_t pc);
// The source line of an instruction, or of the nearest one before it that has a line; -1: none.
int32_t line_of_pc(const ptx::Program& program, uint32_t pc);
// A focus worth a first look: of all windows of `window` cycles the one with the richest mix of states, and in it the
// longest wait whose cause is in sight, at its middle. Returns where the window begins.
int64_t focus_first(const Timeline& timeline, Focus& focus, int64_t window);
// Sets the clock, and with it the instruction that the focused warp issues then or waits to issue: the two never part.
void set_clock(Session& session, Focus& focus, const KernelTrace& trace, int64_t cycle);
// Points every view at one warp and cycle.
void focus_on(Session& session, Focus& focus, const Timeline& timeline, uint32_t warp, int64_t cycle);
// When the clock or the warp moved since the last call: points pc and line at what the warp does now.
struct FocusFollower {
    int64_t time = -2;
    int32_t warp = -2;
    const model::KernelRun* run = nullptr;
    void follow(const Timeline& timeline, Focus& focus);
};
// While a prediction is open, cycles from here on stay hidden; INT64_MAX: nothing is.
int64_t revealed_until(const Session& session, const Focus& focus, const KernelTrace& trace);

// Round distances between ruler labels: the least of 1, 2, 5, 10, 20, ... that is `least` or more.
int64_t ruler_step(double least);

}  // namespace lockstep::gui
