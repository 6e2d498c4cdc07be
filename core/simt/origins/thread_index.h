// What an index says of the threads that it is made of: the comparison that guards it, its largest value in a block, and
// whether the thread's places along x and y have changed places in it. Internal to core/simt/origins.
#pragma once
#include <optional>
#include <string>

#include "core/simt/origins/value_tree.h"

namespace lockstep::simt {

// A comparison of the index with a limit, as far as the kernel makes one before the access.
struct IndexGuard {
    uint32_t pc = 0;
    ValueNode limit;
};
// `value`: that the index has now, and that the comparison has let through.
std::optional<IndexGuard> guard_of(const ValueTrees& trees, const ValueNode& index, uint32_t pc, int64_t value);

// The largest value that some thread of the block has there, as far as it is made of thread indices.
int64_t most_in_block(const ValueNode& node, const Dim3& threads);

// Of an index past `count` elements: x * width + y instead of y * width + x, or y * height + x, where another guard would
// hide what is wrong. "": neither.
std::string advice_for_swapped(const ValueTrees& trees, uint32_t pc, const ValueNode& index, int64_t count);

}  // namespace lockstep::simt
