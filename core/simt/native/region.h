// What one translation covers: the instructions that follow an entry, block by block, as far as they can be translated.
// Internal to core/simt/native.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "core/simt/native/native.h"

namespace lockstep::simt {

struct RegionBlock {
    uint32_t begin = 0, end = 0;  // its instructions; a branch only as the last
    bool branches = false;
    std::set<int32_t> written_before;  // registers that the region may have written on the way to it
};

struct Region {
    std::vector<RegionBlock> blocks;      // the first begins at the entry; in the order in which a way leads to them
    std::map<uint32_t, size_t> block_at;  // by its first instruction
    std::set<int32_t> registers;          // that it names
    std::set<int32_t> written;
    uint32_t instructions = 0;
};

bool can_translate(const Plan& plan, uint32_t pc);
Region region_of(const Native& native, const Plan& plan, uint32_t entry);

}  // namespace lockstep::simt
