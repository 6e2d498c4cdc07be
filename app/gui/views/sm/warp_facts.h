// What can be said in words about one warp at one cycle: what it does, what it waits for, and what its registers hold.
#pragma once
#include <string>
#include <vector>

#include "app/gui/views/kernel/lines/subscripts.h"
#include "app/gui/views/timeline/timeline_data.h"

namespace lockstep::gui {

// "ld.global.f32" of "@%p1 ld.global.f32 %f1, [%rd1]".
std::string operation_of(const ptx::Program& program, uint32_t pc);
std::string_view name_of(MemoryLevel level);  // "L2": the farthest that served it
// "L2 miss": of a load that went on to DRAM; "through L2": of one that took longer than a hit there, as its line was still
// on its way for an earlier load, or L2 was busy.
std::string_view served_by(MemoryLevel level, int64_t cycles, const model::GpuSpec& gpu);

struct Wait {              // what the focused warp waits for
    std::string sentence;  // "Waits at line 7 for %f1, the load of A[i]"
    std::string chip;      // "ld.global.f32 A[i], L2 miss, 425 cycles"
    const IssueRecord* cause = nullptr;
    int64_t begin = 0, end = 0;  // of the whole wait: from the cause's issue to the end of the stall
};
Wait wait_of(const Timeline& timeline, uint32_t warp, const StallRun& stall);

struct RegisterRow {
    size_t lane_values = 0;   // index into Snapshot::lanes
    std::string name, holds;  // "%f1"; "load of A[i]", "fma, line 8"
    int64_t ready = 0;        // cycle from which it may be read; pending while the focus is before it
    StallReason waits = StallReason::long_scoreboard;  // what a reader would wait for while it is pending
};
// What a reader of this instruction's result waits for, in a stall's words.
StallReason wait_for_result(const Timeline& timeline, const WarpTrack& warp, uint32_t issue);
// The registers worth showing at history step `step`: those that the next instruction touches, then the most recently
// written ones.
std::vector<RegisterRow> registers_shown(const Timeline& timeline, const WarpTrack& warp, int64_t step,
                                         const std::vector<simt::LaneValues>& lanes, size_t most);

// How the program uses a register: the PTX type of a register says only its width.
ptx::Type type_of_use(const ptx::Program& program, const ptx::Register& reg);
double number_of(uint64_t bits, ptx::Type type);     // NaN for an address; of a pair of halves the low one
std::string text_of(uint64_t bits, ptx::Type type);  // a pair: "1.5 | -0.25", the low one first

}  // namespace lockstep::gui
