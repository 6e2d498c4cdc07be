// Launches whose registers share places (core/ptx/analyse/packing.h): the same bits and the same cycles in less of the
// host's memory, so that a launch on many SMs costs no more an instruction than one on few.
#pragma once
#include "core/model/launch/launch.h"

namespace lockstep::model {

enum class Pack : uint8_t {
    nowhere,
    where_it_pays,  // where registers would take more than the host's caches hold, and packing saves more than it keeps
    everywhere,     // wherever it can be done: to prove that nobody can tell
};

// launch() is this with Pack::where_it_pays. Only launches that nobody looks into are packed: without a trace, checkpoints
// or checkers. What they may write is kept until they end; one that ends with a fault or a warning runs again, not packed,
// from there, so that its words are made of all registers.
TimedResult launch(const GpuSpec&, const ptx::Program&, const simt::LaunchConfig&, simt::Memory&, const TimedOptions&, Pack);

// Whether such a launch would be packed.
bool is_packed(const GpuSpec&, const ptx::Program&, const simt::LaunchConfig&, simt::Memory&, const TimedOptions&, Pack);

}  // namespace lockstep::model
