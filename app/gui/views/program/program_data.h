// What the pictures of a whole program draw, as plain data: its launches by kernel, its allocations over its calls, what
// each of its lines cost, and its calls, copies and kernels as bars on one clock. Made once for a run; no engine runs here.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/gui/session.h"
#include "app/gui/widgets/text_editor.h"

namespace lockstep::gui {

struct LaunchRange {               // launches of one kernel and shape, one after the other, that took the same time
    int64_t first = 0, count = 1;  // of the report
    int64_t ordinal = 1;           // of its kernel's, from 1, the first of the range
    double us = 0;                 // each
};
struct LaunchGroup {  // of one kernel and shape
    std::string kernel;
    simt::Dim3 grid, block;
    int64_t count = 0;
    double us = 0, share = 0;  // all of them; of all launches
    int hot_line = 0;          // of the document; 0: unknown, or of another file
    std::vector<LaunchRange> ranges;
    bool timed = false;
};

struct AllocationBar {
    std::string name, kind;
    uint64_t bytes = 0;
    int64_t begin = 0, end = -1;  // columns; end -1: it outlives the program
    int line = 0, freed_line = 0;
    bool leaked = false;
};
// One allocation, or, of a program with many, all of one line under one name: what they hold together over the columns.
struct AllocationRow {
    std::string name, kind;
    int line = 0, freed_line = 0;
    size_t count = 0, leaked = 0;
    uint64_t bytes = 0, leaked_bytes = 0;  // held at most; never freed
    int64_t begin = 0, end = -1;           // columns, as an AllocationBar's
    struct Level {
        int64_t column = 0;
        uint64_t bytes = 0;  // held behind it
    };
    std::vector<Level> levels;
};
struct AllocationColumn {  // a call that allocates or frees
    int line = 0;
    uint64_t bytes = 0;  // live behind it
};

enum class ProgramTrack : uint8_t { host, copy_in, kernels, copy_out, copy_within };
struct ProgramBar {
    ProgramTrack track = ProgramTrack::host;
    uint32_t stream = 0, device = 0;
    double begin_us = 0, end_us = 0;
    int64_t index = -1;     // of calls, copies or launches
    std::string_view name;  // in the report
};

struct ProgramBoard {
    std::shared_ptr<const ProgramRun> run;  // null: none has run
    std::vector<LaunchGroup> groups;        // by time, the longest first
    std::vector<AllocationBar> allocations;
    std::vector<AllocationRow> rows;
    std::vector<AllocationColumn> columns;
    uint64_t bytes_left = 0;
    std::vector<LineNote> notes;   // of the document, by line
    std::vector<ProgramBar> bars;  // by track, then by begin
    std::vector<int64_t> bar_of_launch;
    double begin_us = 0, end_us = 0;                          // of all bars
    double copy_share = 0, kernel_share = 0, busy_share = 0;  // of that time
};
ProgramBoard make_board_of(std::shared_ptr<const ProgramRun> run);

// The board of the snapshot's run, made again where that is another one.
class ProgramBoards {
  public:
    const ProgramBoard& of(const Snapshot& snapshot);

  private:
    ProgramBoard board_;
};

// Where the functions of a text run: on the device, or on the host. In order of lines.
std::vector<CodeBand> bands_of(const std::string& source);

std::string bar_time(double us);  // of what stands in a column: "6.10 µs", "618 µs", "1.22 ms"
// "4,096", "64,64"
std::string shape_text(const simt::Dim3& extents);
// What is wrong in a run, a sentence each with its line: faults, errors, leaks, races, notes.
struct ProgramFinding {
    std::string kind, message;
    int line = 0;  // of the document
    bool warning = false;
};
std::vector<ProgramFinding> findings_of(const ProgramRun& run);

}  // namespace lockstep::gui
