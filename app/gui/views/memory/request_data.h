// Memory requests as the pictures D3 and D4 need them: which bytes of which 128-byte lines one warp instruction touches,
// which instructions of a run touch global or shared memory, and the one that is looked at. All of it is worked out from
// the recorded addresses of the focused warp and from the run's counters.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "app/gui/session.h"

namespace lockstep::gui {

struct Pattern {  // what one warp instruction asks for; addresses of the lanes in `lanes` count
    std::array<uint64_t, 32> address{};
    uint32_t lanes = 0;
    uint32_t bytes = 4;  // a lane
};
Pattern pattern_of(const simt::WarpAccess& access);

struct TouchedLine {
    uint64_t line = 0;                     // address / 128
    std::array<uint64_t, 2> bytes{};       // bit i of the pair: byte i of the line is used
    uint32_t sectors = 0;                  // bit s: sector s is fetched
    uint32_t used(uint32_t sector) const;  // bytes of it, 0 .. 32
    bool uses_word(uint32_t word) const;   // any byte of word 0 .. 31
};
struct RequestFacts {
    std::vector<TouchedLine> lines;             // by address
    uint32_t sectors = 0, used = 0, moved = 0;  // used, moved: bytes
    double efficiency() const { return moved == 0 ? 0 : static_cast<double>(used) / moved; }
};
// Sectors as model::coalesce() counts them; used bytes are those that some lane asked for, each once.
RequestFacts facts_of(const Pattern& pattern);

struct StrideChoice {     // the sandbox of D3
    int stride = 2;       // elements from one lane to the next: the fields of a record
    int offset = 0;       // words of 4 bytes
    int element = 4;      // bytes
    bool records = true;  // array of structures; false: structure of arrays, each field's elements side by side
    bool random = false;  // lanes read anywhere within 1 MiB
};
Pattern pattern_of(const StrideChoice& choice);
std::string name_of(const StrideChoice& choice);  // "stride 2", "random gather"

struct MemoryRow {  // an instruction of the run that touched global (or shared) memory
    uint32_t pc = 0;
    int32_t line = 0;
    std::string text;  // "ld.global.f32"
    bool is_store = false, is_atomic = false;
    uint64_t requests = 0;         // whole run, all warps
    uint64_t units = 0;            // its sectors; of shared memory: its passes
    std::vector<size_t> accesses;  // of the history, by step; empty: this warp did not run it
    double per_request() const { return requests == 0 ? 0 : static_cast<double>(units) / static_cast<double>(requests); }
};
// In program order. `history` may be null.
std::vector<MemoryRow> memory_rows(const model::KernelRun& run, const simt::WarpHistory* history, bool shared);

// Whether another row has the same line and text, as an unrolled loop's have.
bool has_twin(const std::vector<MemoryRow>& rows, const MemoryRow& row);

// Whether the learner has chosen a line since the clock moved: else the pictures follow the clock.
class LineChoice {
  public:
    void update(const Session& session, const Focus& focus, const simt::WarpHistory* history);
    bool chosen() const { return chosen_; }

  private:
    int32_t line_ = -1, pc_ = -1, warp_ = -1;
    int64_t step_ = -1, time_ = -1;
    uint64_t placed_ = 0;
    bool chosen_ = false;
};

struct Picked {
    int row = -1;          // -1: there is none
    int64_t access = -1;   // of the history; -1: this warp did not run it, or it is hidden
    size_t execution = 0;  // of `executions`
    size_t executions = 0;
    bool hidden = false;  // an open prediction hides it
};
// Of a line that was chosen, or while a prediction is open: the row of focus.pc, else of focus.line. Else the one that the
// focused warp issued last up to the clock; else `last` (a pc), else the first that the warp ran. Its execution at or before
// the clock.
Picked pick(const std::vector<MemoryRow>& rows, const Session& session, const Focus& focus, const simt::WarpHistory* history,
            int32_t last, bool chosen);
// While a prediction is open, what the warp has not reached shows no numbers.
bool is_hidden(const MemoryRow& row, const Session& session, const simt::WarpHistory* history);

// "Stopped by memcheck at line 3"; empty: the run came to its end.
std::string stopped_text(const model::KernelRun& run);

// The history of the focused warp, when it is of this kernel.
std::shared_ptr<const simt::WarpHistory> history_of(const Snapshot& snapshot);

// Moves the focus to the warp's instruction number `step`.
void look_at_step(Session& session, Focus& focus, const Snapshot& snapshot, uint64_t step);

}  // namespace lockstep::gui
