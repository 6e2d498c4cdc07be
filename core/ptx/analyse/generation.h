// Which generation of GPUs a program needs: the modelled GPU runs every instruction that it has on every row, a real one
// refuses what came after it.
#pragma once
#include <cstdint>
#include <string_view>

#include "core/ptx/decode/program.h"

namespace lockstep::ptx {

struct Needed {
    uint32_t compute = 0;  // 80: compute capability 8.0; 0: every GPU has all of it
    uint32_t pc = 0;       // the first instruction that needs it
};
Needed needed_generation(const Program& program);

// What one instruction needs: `spelling` is its name with all modifiers. Spellings of the memory model (fence, ld.acquire
// ...) need nothing: compilers choose them by the target, not by the source.
uint32_t needed_generation(const Opcode& row, std::string_view spelling);

}  // namespace lockstep::ptx
