// A launch on several threads. Each has every so many-th SM and visits its own as machine.cpp does, in the order of their
// next events. SMs meet at global memory and at the block scheduler alone: an SM that comes there waits until no SM of
// another group can come there before it. So what is shared is used in the order that one thread would have, and all cycles
// and counters are the same, whatever the number of threads.
#pragma once
#include <atomic>

#include "core/model/launch/machine.h"

namespace lockstep::model {

struct SmGroup {
    SharedState state;
    simt::Grid grid;  // the launch's, but for what the executor keeps from access to access
    WindowRecorder windows;
    SmQueue queue;
    int64_t now = 0;  // of its latest visit
    // Before this, in the order of SmQueue, the group does nothing that others can see. It only grows.
    alignas(64) std::atomic<uint64_t> bound{0};
    alignas(64) std::atomic<uint64_t> issues{0};  // now and then
    std::atomic<bool> spins{false};               // all its warps come round and change nothing, as far as it has looked
};

// As launch(), on at most so many threads; fewer where the launch is small, keeps a trace or checkpoints, is checked, calls
// functions or has clusters. A launch that faults, or that seems to run for ever, is run again by one thread from the memory
// that it began with: its words are those of launch() too. No allocation of the memory may be the host's (Memory::adopt).
TimedResult launch_on_threads(const GpuSpec&, const ptx::Program&, const simt::LaunchConfig&, simt::Memory&,
                              const TimedOptions&, uint32_t threads);

}  // namespace lockstep::model
