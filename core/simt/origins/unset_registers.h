// A local variable that is used before it has a value, `float sum; sum += x[i];`: where the compiler leaves it in a register
// that nothing has written, the kernel is run again functionally, and what is made of that register is followed to where it
// is stored, decides a branch or becomes an address. Values that are only copied, or thrown away, are nobody's business.
#pragma once
#include <vector>

#include "core/simt/launch.h"

namespace lockstep::simt {

// The registers that a thread may read before it has written them; empty for most programs.
std::vector<int32_t> registers_never_set(const ptx::Program& program);

// Warnings of kind "initcheck". Nothing is run where a program has no such register, or took more instructions than are
// worth running again.
std::vector<Fault> unset_registers(const ptx::Program&, const LaunchConfig&, const Memory& before,
                                   const LaunchOptions& options, uint64_t warp_instructions);

// The variable that a line of C++ changes by what it held before: `sum` of "sum += x[i];", of "++sum;", of
// "sum = fmaxf(sum, x[i]);"; "": there is none, or the line sets it first, as a loop's header does.
std::string accumulator_in(const std::string& line);

}  // namespace lockstep::simt
