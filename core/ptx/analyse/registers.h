// How many registers a function needs; see call_graph.h for what calls add.
#pragma once
#include <vector>

#include "core/ptx/decode/program.h"

namespace lockstep::ptx {

struct LiveAtCall {
    uint32_t pc = 0;
    uint32_t registers = 0;  // 32-bit registers a thread that the caller needs after the call
};

// The most 32-bit registers of a function that are live at once, plus 2 that every kernel uses for addresses of its own.
// What the function needs at its calls goes behind `live`, in their order.
uint32_t count_registers(const Program& program, const Function& function, std::vector<LiveAtCall>& live);

}  // namespace lockstep::ptx
