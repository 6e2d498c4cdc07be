// What the handlers of matrices share. Internal to core/simt. Where the elements of a fragment are is said once, in
// core/ptx/opcodes/products.h.
#pragma once
#include "core/simt/execute/special.h"

namespace lockstep::simt {

// The fault when only a part of the warp is here; null when all of it is.
Fault* whole_warp(const Special& s);

// An operand of the instruction's list: the destinations, then the sources.
std::byte* listed(const Special& s, uint32_t index);

}  // namespace lockstep::simt
