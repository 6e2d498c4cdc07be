// A functional launch whose blocks run apart: on several threads of the host, with the result of running them one after the
// other, bit for bit, however many threads there are.
//
// The program's text says which launches may try: their blocks share nothing but global memory, and what they do to it
// together is adding whole numbers and the like, in any order. While blocks run, each thread keeps account of the memory
// that the launch writes (touch_watch.h). Where two threads touched the same bytes in a way that an order could show, the
// memory is put back and the launch runs again, block after block.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/simt/launch.h"

namespace lockstep::simt {

// What the text of a program says about the order of its blocks.
struct ApartFacts {
    std::string refusal;           // why their order may show, a part of a sentence: "line 12 uses what an atomic returned"
    uint64_t writes = 0;           // where what it writes may lie: origins_of_address()
    std::vector<uint64_t> reads;   // the same of each instruction's global reads; 0: it reads none
    std::vector<uint8_t> changes;  // by instruction: whether it writes, or which of the sums it adds to
    uint32_t granule = 4;          // bytes of the smallest access to global memory
};
constexpr uint8_t changes_nothing = 0, changes_by_store = 1, changes_by_sum = 2;  // and the next ones, by kind of sum
constexpr uint8_t most_sums = 3;
std::shared_ptr<const ApartFacts> apart_facts(const ptx::Program& program);

struct ApartResult {
    LaunchResult launch;
    uint32_t threads = 1;  // on which its blocks ran
    std::string why;       // they ran one after the other; "": it was too short to gain by more
    bool touched = false;  // several touched the same bytes, and the launch was run again
};
// Runs the launch on at most so many threads; as launch() where it cannot run apart, or is too short to gain by it.
ApartResult launch_apart(const ptx::Program&, const ApartFacts&, const LaunchConfig&, Memory&, const LaunchOptions&,
                         uint32_t threads);

}  // namespace lockstep::simt
