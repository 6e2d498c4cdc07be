// Registers a thread as the ptxas of this machine gives them: only where somebody asks for it by name.
#pragma once
#include <cstdint>
#include <string>

#include "core/ptx/decode/program.h"

namespace lockstep::device {

struct PtxasRegisters {
    uint32_t count = 0;  // 1 to 255
    std::string target;  // "sm_80": what it compiled for
};
// compute: "8.0", of the GPU; where ptxas does not know it, the PTX's own target is taken, or a later one. Throws Failure:
// no ptxas (missing), or its first words where it refuses the PTX.
PtxasRegisters ptxas_registers(const ptx::Program& program, const std::string& compute);

}  // namespace lockstep::device
