// Element-wise reduction of any element type: what a receive_reduce does with what arrives.
#pragma once
#include "core/comm/communicator.h"

namespace lockstep::comm {

// own = own + arrived (or the larger, or the smaller), element by element; `arrived` holds own.count elements of own's type.
// f16 and bf16 are added in float and rounded once; integers wrap; a NaN on either side stays.
void reduce_into(const Buffer& own, const void* arrived, Reduction reduction);

std::string_view name_of(Reduction reduction);  // "sum"

}  // namespace lockstep::comm
