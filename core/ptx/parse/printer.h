// Module -> text: what parse reads as the same Module. Whoever changes or makes a kernel does it on the Module's statements
// and operands and prints the result. What parse leaves out is lost: comments, debug sections, attributes without a meaning
// here, the function's name of an inlined .loc. Remarks of a generated module are printed as comments, which parse leaves
// out.
#pragma once
#include <string>

#include "core/ptx/parse/module.h"

namespace lockstep::ptx {

std::string print(const Module& module);

// One statement without its semicolon: "@%p1 bra $L__BB0_2".
std::string print(const Statement& statement);

}  // namespace lockstep::ptx
