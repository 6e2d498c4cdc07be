// racecheck and initcheck: who touched which byte when, and which bytes were ever written. The executor and the handlers
// tell of every access and of everything that orders threads; all of it is nothing while Grid::checker is null.
//
// Two accesses to the same byte by different threads, one of them at least a plain write, must be ordered: by a barrier, by
// a meeting of the warp's lanes, or through an address that one thread released and the other one acquired (an atomic, a
// volatile or .relaxed/.acquire/.release access, an mbarrier). See checker_order.cpp. Of plain reads against atomics
// checker_doubt.cpp tells which are no races. Two threads that write the same value are no race.
//
// What one block knows of others is kept a warp at a time. Beyond 128 warps, a million addresses or 1 GiB of shadow memory
// the checker looks away rather than report what may be in order, and says so (LaunchResult::notes). For initcheck the
// account begins with Memory::mark_unwritten. A read of local memory whose value goes nowhere but to local memory again is
// no use of it: objects are copied whole, and bit fields are set in words that nobody has set.
#pragma once
#include <vector>

#include "core/ptx/decode/views.h"
#include "core/simt/warp.h"

namespace lockstep::simt {

// strong: .volatile, .relaxed, .acquire, .release: no race with one another or with atomics.
enum class AccessKind : uint8_t { read, write, atomic, strong_read, strong_write };

struct CheckerState;

struct Checker {
    bool racecheck = false, initcheck = false;
    std::vector<Fault> reports;  // the first of each place, at most 100; see take_reports
    std::shared_ptr<CheckerState> state;
};

// Gives the grid the checker that `options` ask for, before its first block; none for neither racecheck nor initcheck.
void begin_checks(Grid& grid, const LaunchOptions& options);
// The reports of a launch that has ended; the last one says how many more there were.
std::vector<Fault> take_reports(Grid& grid);
// What a launch is warned of, after it has ended.
std::vector<Fault> take_warnings(Grid& grid);
// Of such a launch, before take_reports: what racecheck gives to think about and is no race, and what it did not look at,
// each a sentence.
std::vector<std::string> notes_of(const Grid& grid);

// The lanes in `lanes` accessed `bytes` bytes each. Addresses: global as they are; shared: offset in the block, or an
// address of shared::cluster; local: offset in the thread's local memory.
void note_access(const Warp& warp, uint32_t pc, ptx::Space space, const uint64_t* addresses, uint32_t lanes, uint32_t bytes,
                 AccessKind kind);
// The machine itself wrote to the lanes' local memory: parameters and results of calls.
void note_local_written(const Warp& warp, uint32_t lanes, uint64_t offset, uint32_t bytes);
// The lanes of a warp met (bar.warp.sync, a shuffle, vote or match with .sync).
void note_warp_barrier(const Warp& warp, uint32_t lanes);
// The same where each lane names the lanes that it meets: masks that differ are meetings of their own.
void note_warp_barrier(const Warp& warp, uint32_t lanes, const uint32_t* members);
// All warps that wait at barrier `number` of the block are about to go on.
void note_barrier(const Block& block, uint32_t number);
// The lanes arrived at barrier `number` and do not wait there (bar.arrive).
void note_arrival(const Warp& warp, uint32_t lanes, uint32_t number);
// What the lanes did so far comes before what others do after note_acquire of the same token. A token is any number of the
// caller's; token_of is that of an mbarrier.
void note_release(const Warp& warp, uint32_t lanes, uint64_t token);
void note_acquire(const Warp& warp, uint32_t lanes, uint64_t token);
// The lanes came to an instruction that may be a fence.
void note_fence(const Warp& warp, uint32_t pc, uint32_t lanes);
// wgmma: a product that begins at `pc` reads 16 bytes of the block's shared memory at each of the addresses; and what orders
// products. wait: at most `pending` groups of the warp are still under way.
using ptx::GroupOrder;
void note_group_read(const Warp& warp, uint32_t pc, const uint64_t* addresses, uint32_t count);
void note_group_order(const Warp& warp, GroupOrder order, int64_t pending);
// Tells, at the first product of a launch, of instructions that touch the registers of products that nobody has waited for.
void check_group_registers(const Warp& warp, uint32_t pc);
// All threads of the block have ended.
void note_end(const Block& block);

// Of an object in the block's shared memory.
inline uint64_t token_of(const Block& block, uint64_t shared_offset) {
    return uint64_t{1} << 63 | uint64_t{block.linear} << 24 | (shared_offset & (ptx::window_bytes - 1));
}

}  // namespace lockstep::simt
