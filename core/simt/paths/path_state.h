// The paths of a warp. The stack alone says all where it is the order of execution; a warp of independent threads may need
// to know more: then entry i of Warp::waits belongs to entry i of Warp::stack. See paths.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/ptx/decode/program.h"

namespace lockstep::simt {

struct StackEntry {  // one path of the reconvergence stack; the last entry runs
    uint32_t pc = 0;
    uint32_t reconvergence = ptx::no_pc;  // popped when pc gets here
    uint32_t mask = 0;
    int32_t frame = -1;  // index into Warp::frames; -1: the kernel's own
    bool operator==(const StackEntry&) const = default;
};

struct PathWait {
    enum class Why : uint8_t {
        nothing,  // may run; of an entry with others above it that belong to it: waits where they will meet
        polite,   // has written memory, and lets those go first that spun
        spins,    // closed a loop without changing anything: runs again when something may have changed
        tired,    // took a very long turn
        members,  // at a shuffle, a vote or a warp barrier: for lanes of its member mask
        barrier,  // at a barrier of the block
    };
    Why why = Why::nothing;
    bool aligned = false;  // barrier: all lanes of the warp must come to this very instruction
    uint32_t lanes = 0;    // members, barrier: the lanes that wait, those whose guard holds
    uint32_t missing = 0;  // members: lanes that were not there when the path came
    uint32_t number = 0;   // barrier: which
    uint32_t threads = 0;  // barrier: that it waits for, 0: all of the block
    uint32_t says = 0;     // barrier: lanes whose predicate holds (bar.red)
    bool operator==(const PathWait&) const = default;
};

// One path, watched instruction by instruction: does its loop come back to exactly where it was?
struct SpinWatch {
    static constexpr uint64_t first_interval = 4096;
    static constexpr uint64_t interval_of_spinners =
        64;                          // after a path of the warp has spun, until some watches found nothing
    uint64_t next = first_interval;  // the value of Warp::instructions at which the executor looks up
    uint64_t interval = first_interval;
    uint64_t last_look = 0;  // when the last watch began or ended
    bool on = false;
    bool changed = false;                // since the snapshot: memory has, or a clock was read
    bool written = false;                // the last watched instruction changed memory
    bool reads = false;                  // memory that others may write was read since the watch began
    bool same_reads = false;             // one time round gave the same values from the same addresses as the time before
    bool moved = true;                   // something that was not watched, or a change, since the warp last gave way
    bool still = false;                  // when it gives way: all its paths are where they were when it gave way before
    bool idle = false;                   // it was, and no other warp has changed anything either
    bool stale = false;                  // another warp has changed something since this one gave way
    bool gives_way = false;              // other warps should run now
    bool patient = true;                 // has not yet let waiting lanes go on alone because others spin
    bool scattered = false;              // lanes that waited to meet others have gone on alone
    bool undefined = false;              // some lanes hold values of shuffles that nobody gave; see undefined.h
    uint32_t scattered_lanes = 0;        // those of them that went last,
    uint32_t scattered_pc = ptx::no_pc;  // and where they had waited
    uint32_t read_pc = ptx::no_pc;       // of the last watched instruction that read memory
    uint32_t steps = 0, visits = 0;      // instructions since the watch began; times that the paths stood as in the snapshot
    uint32_t laps = 0, snapshot_at = 0;  // visits since the snapshot; the step at which it is taken anew
    uint32_t taken_at = 0, loop = 0;     // the step at which it was taken; how many steps long the last loop that closed was
    uint64_t digest = 0, digest_before = 0;  // of addresses and values that one time round read
    std::vector<std::byte> registers;        // snapshot: of all frames in use
    std::vector<StackEntry> stack;           // snapshot
    std::vector<std::byte> target;           // what the next instruction may change, before it runs
    std::vector<uint64_t> target_addresses;  // of its lanes
    ptx::Space target_space = ptx::Space::none;
    uint32_t target_bytes = 0;  // of a lane; 0: it changes no memory

    void restart() {  // of a warp at its first instruction; keeps the buffers
        SpinWatch fresh;
        fresh.registers.swap(registers);
        fresh.stack.swap(stack);
        fresh.target.swap(target);
        fresh.target_addresses.swap(target_addresses);
        *this = std::move(fresh);
    }
};

}  // namespace lockstep::simt
