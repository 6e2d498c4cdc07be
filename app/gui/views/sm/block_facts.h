// Blocks on SMs as plain data (D6): waves, efficiency and what limits the resident blocks. B blocks, S SMs, R resident
// blocks an SM: waves = B/(S*R), efficiency = B/(ceil(waves)*S*R).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "app/gui/widgets/draw.h"
#include "core/model/launch/launch.h"

namespace lockstep::gui {

struct WaveFacts {
    int64_t blocks = 0, at_once = 0;  // at_once: S*R
    int64_t waves = 0;                // begun ones
    double exact = 0;                 // 3.08
    double last_share = 0;            // of the last wave's slots that are used, 0..1
    double efficiency = 0;
};
WaveFacts wave_facts(int64_t blocks, int64_t sms, int64_t resident);

struct BlockCounts {  // at one cycle
    int64_t done = 0, running = 0, to_come = 0;
};
// By wave (block index / at_once), `waves` of them.
std::vector<BlockCounts> count_blocks(const KernelTrace& trace, const WaveFacts& facts, int64_t cycle);

// The most blocks that any SM held at one time.
int64_t most_at_once(const KernelTrace& trace);
// "memcheck stopped here, line 3"; empty: nothing stopped the kernel.
std::string stop_text(const model::KernelRun& run);
// "Memcheck stopped the kernel in line 3 at cycle 705"
std::string stop_sentence(const model::KernelRun& run);
// Of many waves those worth a column: the first ones, those around the wave that runs, and the last; by index.
std::vector<size_t> waves_shown(const std::vector<BlockCounts>& waves, size_t most);

struct LimiterRow {
    std::string name;      // "shared memory"
    int64_t blocks = 0;    // that it allows an SM
    std::string each;      // "20,736 of 98,304 B a block"
    bool limiter = false;  // allows the fewest, alone or together with others
};
std::vector<LimiterRow> limiter_rows(const model::KernelRun& run);
std::vector<LimiterRow> limiter_rows(std::span<const model::OccupancyLimit> limits);
// "registers"; where several allow equally few, "warps and registers".
std::string limiter_names(std::span<const LimiterRow> rows);

// A bar a limit, 16 high, divided into the blocks that it allows, `resident` of them filled; the shortest are outlined.
void draw_limits(Ui& ui, const Rect& r, std::span<const LimiterRow> rows, int64_t resident);

}  // namespace lockstep::gui
