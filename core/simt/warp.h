// Grid, block and warp while they run, and the one executor: step(Warp&) -> WarpEvent. Two drivers pull it: simt::launch
// (functional) and model::launch (cycle by cycle). All state is copyable.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/ptx/decode/program.h"
#include "core/simt/async/async.h"
#include "core/simt/launch.h"
#include "core/simt/paths/path_state.h"

namespace lockstep::simt {

constexpr uint32_t warp_size = 32;
constexpr uint32_t full_mask = 0xffffffffu;

struct alignas(64) RegisterLine {
    std::byte bytes[64];
};

// Of a function that lanes of a warp have called. The entries of the stack that run in it lie above the one that called,
// which waits at the instruction behind the call: so the stack of paths is the stack of calls too. See call.h.
struct CallFrame {
    int32_t function = -1;    // index into Program::functions; -1: nobody runs in this frame
    int32_t caller = -1;      // the frame that called; of an unused frame the next unused one, or -1
    uint32_t call_pc = 0;     // of the call
    uint32_t depth = 0;       // 1: called by the kernel
    uint32_t local_base = 0;  // where the frame's part of a thread's local memory begins
    uint32_t lanes = 0;       // that have not returned
    std::vector<RegisterLine> registers;
};

struct Block;

struct Warp {
    Block* block = nullptr;
    uint32_t index = 0;   // within the block
    uint32_t exited = 0;  // lanes that have returned (or never existed)
    bool at_barrier = false;
    bool done = false;
    std::vector<StackEntry> stack;  // never empty before done
    std::vector<PathWait> waits;    // independent threads: one an entry of the stack, or none; see path_state.h
    SpinWatch watch;
    std::byte* registers = nullptr;  // of the running path's frame, 64-byte aligned: inside Block::registers, or a frame's
    std::vector<CallFrame> frames;   // used and unused ones; empty until the first call
    int32_t unused_frame = -1;       // the first of them
    uint64_t frame_bytes = 0;        // of the registers of used frames
    uint64_t unused_bytes = 0;       // of the registers that unused frames keep
    uint32_t local_base = 0;         // of the running path's frame: where its part of a thread's local memory begins
    uint32_t local_end = 0;          // and where it ends
    uint64_t instructions = 0;       // issued so far
    uint32_t barrier = 0;            // at_barrier: its number
    uint32_t barrier_threads = 0;    // at_barrier: threads that the barrier waits for, 0: all of the block
    uint32_t barrier_pc = 0;         // at_barrier: of the instruction that waits
    uint32_t barrier_lanes = 0;      // at_barrier: the lanes that arrived
    uint32_t barrier_says = 0;       // at_barrier: those of them whose predicate holds (bar.red)
    uint32_t cluster_arrived = 0;    // lanes whose barrier.cluster.arrive is not answered yet
    uint32_t cluster_owes = 0;       // lanes that have arrived there and not waited
    bool blocked = false;            // its last instruction was a wait that is not over (barrier.cluster.wait): only other
                                     // warps can end it. It runs again, and clears this, at the warp's next turn
    uint32_t waits_pc = ptx::no_pc;  // of the mbarrier test that was not over, when that was the warp's last one
    uint32_t waits_mbarrier = no_mbarrier;  // the offset of its mbarrier
    bool waits_parity = false;              // the phase that it waits for
    bool waits_still = false;               // no copy is on its way to that mbarrier: only other threads can end it

    uint32_t pc() const { return stack.back().pc; }
    uint32_t active() const { return stack.back().mask; }
};

struct Checker;
struct Findings;
struct Plan;  // the program prepared for the executor, see plan.h

struct MemoryWindow {  // the allocation that an instruction used last; valid while `version` is the memory's
    uint64_t version = 0;
    uint64_t begin = 0;
    uint64_t bytes = 0;
    std::byte* data = nullptr;
    bool quiet = false;  // the launch does not write it
};

class DeviceRuntime;
class Native;

struct Grid {  // what all blocks of a launch share
    const ptx::Program* program = nullptr;
    const LaunchConfig* config = nullptr;
    Memory* memory = nullptr;
    std::vector<uint64_t> variables;  // device address of each Program::variables
    uint32_t sm_count = 1;            // %nsmid
    // Where grid.sync() keeps account: 8 bytes of `memory` in a launch whose blocks all run at once, as CUDA's driver gives
    // to a cooperative launch. 0: they do not, or the program does not ask.
    uint64_t workspace = 0;
    uint64_t blocks_at_once = UINT64_MAX;
    bool synccheck = true;
    bool independent = false;                     // independent thread scheduling
    std::shared_ptr<Checker> checker;             // null: nothing is checked beyond bounds; see checker.h
    std::shared_ptr<Findings> findings;           // what is not a fault and yet told; null: nobody asks. See findings.h
    std::function<void(std::string_view)> print;  // of the kernel's printf
    uint64_t printed = 0;                         // bytes so far
    DeviceRuntime* device_runtime = nullptr;      // that launches from the kernel go to; null: they are a fault
    std::shared_ptr<DeviceRuntime> own_runtime;   // where the launch runs again: that one
    // Timed launches: of each instruction, the bytes of a lane that a load from shared memory takes at once together with
    // those behind it, or 0; null: none does.
    const uint8_t* wide_loads = nullptr;
    std::shared_ptr<const Plan> plan;   // make_block makes it where it is missing
    std::vector<MemoryWindow> windows;  // one an instruction
    uint64_t windows_closed = 0;        // native code: the memory's version for which the others have no bytes
    // How each instruction ran ahead the first time, 0: it has not; see AheadRun. Copies of the grid share it.
    std::shared_ptr<std::vector<std::atomic<uint8_t>>> usual;
    bool writes_anywhere = true;  // else only to allocations at these addresses: see find_written (ahead.h)
    std::vector<uint64_t> written;
    Dim3 cluster;                       // blocks a cluster, by axis; see cluster_of
    std::shared_ptr<Native> native;     // stretches run by native code (native.h); null: none does
    class TouchWatch* watch = nullptr;  // of blocks that run beside others: hears which global memory they touch
};

// A grid ready for make_block: the program's variables are placed in `memory` (where they stay from launch to launch).
Grid make_grid(const ptx::Program&, const LaunchConfig&, Memory&);

// Bytes of shared memory that the launch gives a block: of its own variables and dynamic.
uint64_t shared_of_launch(const Grid& grid);

// At most so many blocks of the launch run at once; fewer than it has: no workspace.
void set_blocks_at_once(Grid& grid, uint64_t blocks);

// Device addresses of Program::variables, which are allocated and initialised when `memory` does not hold them yet.
std::vector<uint64_t> place_variables(const ptx::Program&, Memory&);

struct Block {
    Grid* grid = nullptr;
    Dim3 index;
    uint32_t linear = 0;  // index.x + grid.x * (index.y + grid.y * index.z)
    uint32_t sm = 0;      // %smid
    std::vector<Warp> warps;
    std::vector<std::byte> shared;
    std::vector<std::byte> registers;  // of all warps
    std::vector<std::byte> local;      // of all threads, one after the other
    uint32_t local_bytes = 0;          // a thread: Program::local_bytes, more when calls need it
    uint32_t warps_done = 0;
    uint32_t warps_at_barrier = 0;
    std::array<uint32_t, 16> arrived = {};  // by barrier: threads that came by bar.arrive and did not wait
    int64_t clock = 0;                      // what %clock reads; the timed driver sets it
    uint32_t rank = 0;                      // %cluster_ctarank
    std::vector<Block*> cluster;            // the blocks of its cluster by rank, itself too; empty: alone. See join_cluster
    AsyncWork async;
    // Arrivals at barriers may run ahead of their issue (ahead.h). Of its barriers so many have been released, so many are
    // over for the timed driver as well, and so many arrivals at each of the next ones wait for their issue.
    struct Ahead {
        uint32_t released = 0, issued = 0;
        std::array<uint8_t, 32> waiting{};
    };
    Ahead ahead;

    Block() = default;
    Block(const Block&);  // re-points the warps; a copied or moved block is in no cluster
    Block& operator=(const Block&);
    Block(Block&&) noexcept;
    Block& operator=(Block&&) noexcept;
};

// A block ready for its first instruction.
Block make_block(Grid& grid, uint32_t linear_index);
// The same in a block that has run: no allocation when the launch is the same.
void reset_block(Block& block, Grid& grid, uint32_t linear_index);

// Blocks of a cluster see one another's shared memory and barriers, so all of them are made, joined and run together. A
// driver that has clusters (cluster_size(grid) > 1) makes the blocks linear_in_cluster(grid, cluster, 0 ... size - 1), and
// calls join_cluster on pointers to them, by rank; the blocks stay where they are until all have ended.
inline uint32_t cluster_size(const Grid& grid) {
    return static_cast<uint32_t>(grid.cluster.count());
}
uint32_t linear_in_cluster(const Grid& grid, uint32_t cluster, uint32_t rank);  // Block::linear; cluster: %clusterid, linear
void join_cluster(const std::vector<Block*>& by_rank);

struct WarpEvent {
    enum class Kind : uint8_t { executed, branch, memory, barrier, exit, fault };
    Kind kind = Kind::executed;
    uint32_t pc = 0;  // of the instruction that ran
    const ptx::DecodedInstruction* instruction = nullptr;
    uint32_t active = 0;                  // lanes of the path
    uint32_t executed = 0;                // lanes whose guard held: they did the work
    bool diverged = false;                // a branch that split the path
    bool barrier_released = false;        // this arrival released the block's barrier (all at_barrier flags are cleared)
    bool gives_way = false;               // the warp spins: other warps should run before it goes on
    ptx::Space space = ptx::Space::none;  // memory: the resolved space (never generic)
    uint8_t bytes = 0;                    // memory: a lane's bytes, vector included
    bool is_store = false;
    bool is_atomic = false;
    const uint64_t* addresses =
        nullptr;  // memory: 32, valid until the next step on this thread; shared: offset in the block
    const std::vector<uint64_t>* sectors = nullptr;  // a bulk copy: all 32-byte sectors of global memory that it touches;
                                                     // `addresses` has the first 32 of them
    int64_t until = 0;  // cycle before which the warp cannot go on: it waited for copies that are there then; 0: at once
    Fault* fault = nullptr;  // kind fault: valid until the next step on this thread
};

// For the timed driver, after an asynchronous copy: the cycle at which its bytes are there. Waits for it give that cycle in
// WarpEvent::until; tests of its mbarrier fail before it.
void set_ready(Warp& warp, uint32_t pc, int64_t cycle);

// Runs the warp's next instruction. Requires !done && !at_barrier.
WarpEvent step(Warp& warp);

// A block of the launch that runs just now; null: it does not. An empty one knows none but the block itself.
using FindBlock = std::function<const Block*(uint32_t linear)>;

// The fault of a block none of whose warps can go on: who waits where, and why that does not end. For drivers that find
// every live warp at_barrier.
Fault deadlock_fault(const Block& block, const FindBlock& find = {});
// Adds to it that so many blocks cannot start before one of those that run has ended, if there are any.
void say_what_cannot_start(Fault& fault, const Block& block, uint64_t blocks, uint64_t resident);

// The fault of a launch that ran `executed` warp instructions without an end; runs `warp` a little further to see on
// which line it spins. Requires !done && !at_barrier.
Fault runaway_fault(Warp& warp, uint64_t executed);

// Runs until the warp is done, waits at a barrier, faults, or `budget` instructions have run; the fast path of the
// functional driver. The last event tells which; `executed` lanes are added to `thread_instructions`.
WarpEvent run(Warp& warp, uint64_t budget, uint64_t& thread_instructions);

}  // namespace lockstep::simt
