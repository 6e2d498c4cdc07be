// Which step of an index led it astray: the innermost operation, or the argument, whose value is already too small or too
// large. Internal to core/simt/origins.
#pragma once
#include <cstdint>
#include <string>

#include "core/simt/origins/value_tree.h"

namespace lockstep::simt {

struct Strayed {
    std::string words;     // "n - k at line 7 is 10 - 12 = -2", "pitch is -64"; "" where nothing tells more than the index
    std::string argument;  // its name, where an argument alone is wrong
};
// Of an index of `value` where 0 to count - 1 are good.
Strayed strayed_of(const ValueTrees& trees, const ValueNode& index, int64_t value, int64_t count);

}  // namespace lockstep::simt
