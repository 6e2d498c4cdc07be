// What the timing needs of each instruction, worked out once a launch from the decoded program and the GPU's row: the
// pipe it takes and for how long, the fixed latency of its result, the registers it waits for, and the names of its waits.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/model/gpus/gpu_spec.h"
#include "core/model/lowering/lowering.h"
#include "core/model/metrics/cache_use.h"
#include "core/ptx/decode/program.h"
#include "core/trace/stall_reason.h"

namespace lockstep::model {

using ptx::Route;

// One a ptx::Unit, of which Unit::lsu is a sub-core's queue of memory instructions, and the room for those of local and
// global memory, and the half of the FP32 lanes that multiplies integers too, where there are more lanes than that needs:
// "FMAHeavy" in Nsight Compute. FP32 has the others meanwhile.
constexpr uint32_t pipes = 10, mio_queue = static_cast<uint32_t>(ptx::Unit::lsu), lg_queue = 8, heavy_pipe = 9;
constexpr uint32_t unit_of(uint32_t pipe) {
    return pipe == lg_queue ? mio_queue : pipe == heavy_pipe ? static_cast<uint32_t>(ptx::Unit::fma) : pipe;
}

// What ptxas makes of an atomic whose 32 lanes may meet at one word.
enum class AtomicWay : uint8_t {
    lane_by_lane,
    of_the_warp,    // the lanes' operands are added up first (VOTE and POPC, or REDUX): one operation a warp
    by_loop,        // read, add, compare and swap, and again for those that lost: floating point in shared memory
    of_halves,      // lane by lane, each longer at L2: a sum of one half,
    of_half_pairs,  // of two
};

struct alignas(64) Timing {  // what every issue looks at comes first, in one line of the host's cache
    Route route = Route::math;
    uint8_t pipe = 0;
    CacheUse cache = CacheUse::normal;  // of loads and stores
    bool shared_by_sms = false;         // goes to memory that all SMs see: its order among them matters
    bool stores = false;                // a plain store
    bool acquires = false;              // ptxas puts CCTL.IVALL behind it: the SM's L1 forgets what it holds
    AtomicWay atomic = AtomicWay::lane_by_lane;
    StallReason result_wait = StallReason::wait;             // while a reader waits for the result
    StallReason throttle = StallReason::math_pipe_throttle;  // while the pipe or the queue has no room
    // What ptxas makes of it (lowering.h). Folded: it takes no issue slot behind another instruction of its warp; its result
    // is there when what it reads is (of a load that another brings along: when that one's result is).
    bool folded = false;
    uint8_t wide_bytes = 0;                  // of a load that brings others along; else 0
    int8_t sets_mark = -1, from_mark = -1;   // of a load: counts as issued when the mark was
    uint8_t rounds = 1;                      // of a loop, in which only the first one sets the mark (lowering.h)
    Predicated predicated = Predicated::no;  // of a branch (lowering.h)
    uint8_t more_slots = 0;                  // that its machine instructions take, beside the one in which it issues
    uint32_t loop = UINT32_MAX;              // of that loop's branch: its first instruction
    uint8_t registers_read = 0, registers_written = 0;
    uint32_t interval = 1;    // cycles for which the pipe is taken
    uint32_t latency = 1;     // issue to dependent issue, where it is fixed
    uint32_t lane_bytes = 0;  // loads and stores: of one lane, vector included
    uint32_t fence = 0;       // of an atomic or store that releases: cycles of the fence in front of it
    uint32_t slots = 0;       // machine instructions in front of it, from the program's beginning on
    uint64_t filter = 0;      // bit (register % 64) of all of them
    uint32_t writes[4] = {}, list_written = 0;
    uint32_t reads[8] = {};      // dense register numbers
    std::vector<uint32_t> list;  // more of them: of an operand list, first those written; empty for most

    bool names(uint32_t reg) const {  // reads or writes it
        for (uint32_t k = 0; k < registers_read; ++k)
            if (reads[k] == reg) return true;
        for (uint32_t k = 0; k < registers_written; ++k)
            if (writes[k] == reg) return true;
        return !list.empty() && std::find(list.begin(), list.end(), reg) != list.end();
    }
};

struct TimingOptions {
    bool lowering = true;   // without it every PTX instruction is one machine instruction, or a sequence
    bool doubles = true;    // without it conversions between float and double take nothing, as between a float and a float
    bool sequences = true;  // without it what stands for a sequence costs as one instruction of its unit
    bool short_functions = false;  // library functions (library_calls.h) are as short as the intrinsics that stand for them
    bool clusters = false;         // the launch has clusters, whose blocks see one another's shared memory
};

// One entry an instruction; at least one.
std::vector<Timing> make_timing(const GpuSpec& gpu, const ptx::Program& program, const TimingOptions& options = {});

// Cycles that a store takes from its SM to L2: half of a load's way there and back. The teaching GPU's take none.
inline int64_t store_way(const GpuSpec& gpu) {
    return gpu.folds_ptx != 0 ? gpu.l2_latency / 2 : 0;
}

// Cycles that an SM takes to count a warp in at a barrier: 32 threads a cycle on P100, 16 from Volta on (CUDA C++
// Programming Guide, throughput of __syncthreads()).
inline int64_t barrier_interval(const GpuSpec& gpu) {
    if (gpu.folds_ptx == 0 || gpu.compute.number < 60) return 0;
    return gpu.compute.number < 70 ? 1 : 2;
}

// Multiply-adds of a product of matrices by the type of A: how many of them fit in the time of one of f16.
double tensor_speed(const GpuSpec& gpu, ptx::Type type);

}  // namespace lockstep::model
