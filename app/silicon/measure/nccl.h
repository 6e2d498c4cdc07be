// The part nccl of app/silicon/silicon.h: NCCL's collectives with one rank on the GPU, where the library is found.
#pragma once
#include "app/silicon/silicon.h"

namespace lockstep::comm {

void measure_nccl(device::SiliconRun& run);  // without NCCL its one row fails with why_no_nccl()

}  // namespace lockstep::comm
