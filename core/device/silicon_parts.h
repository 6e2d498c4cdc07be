// Who measures which part, for silicon_measure.cpp. Each asks SiliconRun::row for every row by name.
#pragma once
#include "core/device/silicon.h"

namespace lockstep::device {

PackRow clock_row(int rounds);  // the kernel clock_rate: one warp, about 64 cycles a round

void measure_launches(SiliconRun& run);  // silicon_queue.cpp; on `cuda` alone, like the next ones
void measure_copies(SiliconRun& run);
void measure_ratios(SiliconRun& run);  // silicon_ratios.cpp

}  // namespace lockstep::device
