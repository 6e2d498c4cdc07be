// Registers a thread as the ptxas of this machine gives them: only where somebody asks for it by name.
#pragma once
#include <cstdint>
#include <string>

#include "core/ptx/decode/program.h"

namespace lockstep::device {

struct PtxasRegisters {
    uint32_t count = 0;  // 1 to 255
    std::string target;  // "sm_80": what it compiled for
    // Bytes a thread: local memory for arrays and spills together; of values that found no register, stored and loaded.
    uint32_t stack = 0, spill_stores = 0, spill_loads = 0;
};
// Whether its local memory comes of register pressure or of arrays, in half a sentence; "": it has none.
std::string local_memory_text(const PtxasRegisters& told);
// compute: "8.0", of the GPU; where ptxas does not know it, the PTX's own target is taken, or a later one. Throws Failure:
// no ptxas (missing), or its first words where it refuses the PTX.
PtxasRegisters ptxas_registers(const ptx::Program& program, const std::string& compute);

}  // namespace lockstep::device
