// The part nccl of core/device/silicon.h: NCCL's collectives with one rank on the GPU, where the library is found.
#pragma once
#include "core/device/silicon.h"

namespace lockstep::comm {

void measure_nccl(device::SiliconRun& run);  // without NCCL its one row fails with why_no_nccl()

}  // namespace lockstep::comm
