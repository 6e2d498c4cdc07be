// All registers of an instruction, those of its operand list included: each as an offset into the warp's register file.
#pragma once
#include "core/ptx/decode/program.h"

namespace lockstep::ptx {

template <class Take>
void each_written(const Program& program, const DecodedInstruction& i, Take&& take) {
    for (uint32_t k = 0; k < i.registers_written; ++k) take(i.writes[k]);
    for (uint32_t k = 0; k < i.list_destinations; ++k) take(program.lists[i.list + k]);
}

template <class Take>
void each_read(const Program& program, const DecodedInstruction& i, Take&& take) {
    for (uint32_t k = 0; k < i.registers_read; ++k) take(i.reads[k]);
    for (uint32_t k = 0; k < i.list_sources; ++k)
        if (const int32_t operand = program.lists[i.list + i.list_destinations + k]; operand >= 0) take(operand);
}

}  // namespace lockstep::ptx
