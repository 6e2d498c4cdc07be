// What a launch is told beside its fault and the checkers' reports: warnings of what is legal on some GPU, or a matter of
// luck; and who took which lock, for the launch that waits for one for ever. One a launch, while it runs (Grid::findings);
// all functions do nothing where it is null. Internal to core/simt.
#pragma once
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/simt/check/source_text.h"
#include "core/simt/warp.h"

namespace lockstep::simt {

// A branch one of whose ways does not come to some barrier before the two ways meet again.
struct Guard {
    uint32_t branch = 0;
    bool away_when_taken = false;
};

struct Holder {  // who changed a word last by a compare-and-swap or an exchange
    uint32_t block = 0, warp = 0, lane = 0, pc = 0;
};

struct UndefinedLanes;  // undefined.h

struct Findings {
    std::vector<Fault> warnings;      // the first of each place
    std::vector<std::string> places;  // theirs
    std::set<std::string> seen;       // places that have one
    SourceText source;
    std::map<uint32_t, std::vector<Guard>> guards;                  // by the barrier's pc
    std::map<uint32_t, uint32_t> looks;                             // at barriers that not all came to, by pc
    std::unordered_map<uint64_t, Holder> holders;                   // by token_of_word
    std::map<uint64_t, std::shared_ptr<UndefinedLanes>> undefined;  // by block and warp
};

void begin_findings(Grid& grid);
void add_warning(const Grid& grid, const std::string& place, Fault warning);

// Barrier `number` of the block is about to open.
void look_at_barrier(const Block& block, uint32_t number);
// The branch at which lanes of the warp turned away from the barrier at `pc`; no_pc: not known.
uint32_t turned_away_at(const Warp& warp, uint32_t pc, uint32_t lanes);

// A word of global memory, or of a block's shared memory at an offset.
uint64_t token_of_word(const Block& block, ptx::Space space, uint64_t address);
// A lane's compare-and-swap or exchange changed a word.
void note_holder(const Warp& warp, uint32_t pc, uint32_t lane, ptx::Space space, uint64_t address);

}  // namespace lockstep::simt
