// What one kernel launch did on the modelled GPU, as plain data: every issue and every wait of one chosen SM, and
// where and when every block ran. Times are cycles from the launch's first cycle. Program counters are instruction
// indices of the launch's ptx::Program. Everything that the warp timeline (D1) and the block view (D6) draw is here.
//
// A WarpTrack is complete: its waits and its issues cover every cycle from `begin` to `end`, and two issues in one cycle are
// the two halves of a pair, on GPUs that dispatch two. When the bound on a trace was met, `truncated` says so, and
// everything lies within `kept_from` and `kept_until`, except for issues that a wait in there refers to. Only `blocks` may
// be cut alone; then `kept_until` is the launch's end.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/trace/overview.h"
#include "core/trace/stall_reason.h"

namespace lockstep {

enum class MemoryLevel : uint8_t { none, constant, shared, l1, l2, dram };  // the farthest level that served it
std::string_view level_name(MemoryLevel);                                   // "none", "l1": as files have it

struct IssueRecord {  // one warp instruction issued on the traced SM
    int64_t cycle = 0;
    int64_t ready = 0;  // first cycle in which a dependent instruction may issue
    uint32_t pc = 0;
    uint32_t active = 0;  // lanes that executed (after the guard predicate)
    uint32_t warp = 0;    // index into KernelTrace::warps
    MemoryLevel level = MemoryLevel::none;
    uint8_t sectors = 0;  // 32-byte sectors of a global request, 0 otherwise
    uint8_t passes = 0;   // shared-memory passes (1 = no conflict), 0 otherwise
    bool folded = false;  // took no issue slot: ptxas folds it into another instruction; its cycle is that of the one before
    uint32_t early = 0;   // a load that ptxas moves up: so many cycles before `cycle` it counts as issued

    int64_t sent() const { return cycle - early; }
};

struct StallRun {  // cycles [begin, end) in which a resident warp did not issue, all for one reason
    int64_t begin = 0;
    int64_t end = 0;
    StallReason reason = StallReason::wait;
    uint32_t pc = 0;     // the instruction that waits
    int32_t cause = -1;  // index into KernelTrace::issues of the instruction waited for; -1: none
};

struct WarpTrack {       // one warp's life on the traced SM; begin <= its runs and issues < end, gap-free and disjoint
    uint32_t block = 0;  // linear block index
    uint32_t warp_in_block = 0;
    uint16_t slot = 0;       // warp slot of the SM, 0 .. warps per SM - 1
    uint16_t scheduler = 0;  // sub-core
    int64_t begin = 0;
    int64_t end = 0;
    uint64_t issued_before = 0;    // instructions that it issued before the stretch that is kept
    std::vector<StallRun> runs;    // by begin
    std::vector<uint32_t> issues;  // indices into KernelTrace::issues, by cycle
};

struct BlockRun {  // a block stays on one SM and in one slot from begin to end
    uint32_t block = 0;
    uint16_t sm = 0;
    uint16_t slot = 0;
    int64_t begin = 0;
    int64_t end = 0;
};

struct MachineTrace;  // machine_trace.h

struct KernelTrace {
    uint32_t sm = 0;                  // the SM traced in full
    uint32_t schedulers = 4;          // sub-cores an SM
    uint32_t issue_width = 1;         // dispatches a sub-core and cycle
    uint32_t warp_slots = 64;         // of the SM
    uint32_t block_slots = 0;         // resident blocks an SM for this launch
    int64_t cycles = 0;               // of the whole launch
    std::vector<WarpTrack> warps;     // in order of begin, then slot
    std::vector<IssueRecord> issues;  // in order of cycle, then scheduler
    std::vector<BlockRun> blocks;     // all SMs, in order of begin, then SM, then slot
    bool truncated = false;           // the memory bound was met: warps and issues lie within [kept_from, kept_until)
    int64_t kept_from = 0;
    int64_t kept_until = 0;
    Overview overview;                            // of the whole launch
    std::shared_ptr<const MachineTrace> machine;  // of the same stretch; null: not recorded
};

uint64_t bytes_of(const KernelTrace& trace);  // that it takes in memory, its machine too

// The part of a trace within the cycles [begin, end): waits and lives cut to them; issues within them and, of the others,
// those that a wait within them refers to. Blocks and overview stay whole.
KernelTrace stretch_of(const KernelTrace& trace, int64_t begin, int64_t end);

}  // namespace lockstep
