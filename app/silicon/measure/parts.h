// Who measures which part, for measure.cpp. Each asks SiliconRun::row for every row by name.
#pragma once
#include "app/silicon/silicon.h"
#include "core/ptx/opcodes/opcode.h"

namespace lockstep::device {

PackRow clock_row(int rounds);    // the kernel clock_rate: one warp, about 64 cycles a round
PackRow empty_row();              // of empty_kernel_figure: one warp of relu over nothing
PackRow flush_row(size_t bytes);  // reads so much memory: then no cache holds anything else

// The kernels of `lockstep validate kernels` as a GPU of so many SMs runs them, one row a launch; `small`: one row a kind,
// to try out the way.
std::vector<PackRow> published_pack(uint32_t sms, bool small);

void measure_launches(SiliconRun& run);  // queue.cpp; on `cuda` alone, like the next ones
void measure_copies(SiliconRun& run);
void measure_micro(SiliconRun& run);    // micro.cpp
void measure_opcodes(SiliconRun& run);  // opcodes/opcodes.cpp
void measure_ratios(SiliconRun& run);   // ratios.cpp
void measure_checks(SiliconRun& run);   // checks.cpp

// Counts what a register of `type` holds on the GPU and here; whether they differ.
bool count_pieces(SiliconCheck& check, ptx::Type type, uint64_t gpu, uint64_t here);

}  // namespace lockstep::device
