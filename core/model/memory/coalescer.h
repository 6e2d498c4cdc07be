// What one warp's memory instruction asks the caches for: its lanes' bytes gathered into 32-byte sectors of 128-byte
// lines, and for shared memory the passes that its bank conflicts cost.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace lockstep::simt {
struct AheadSteps;
struct AheadEnds;
}  // namespace lockstep::simt

namespace lockstep::model {

constexpr uint32_t line_bytes = 128, sector_bytes = 32;
constexpr uint32_t shared_banks = 32, bank_bytes = 4;

// How many bits are set; std::popcount is a library call where the build's baseline has no such instruction.
constexpr uint32_t bits_in(uint32_t x) {
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

struct LineRequest {
    uint64_t line = 0;     // address / 128
    uint32_t sectors = 0;  // bit i: sector i of the line
    uint32_t lanes = 0;    // accesses that fall into it (an access of two lines counts in both)
};

struct GlobalRequest {
    static constexpr uint32_t most_lines = 256;  // 32 lanes, each at most across one border, or 8 words of local memory each
    uint32_t lines = 0;
    uint32_t sectors = 0;
    uint32_t passes = 0;  // as l1_passes() counts them; 0: not counted yet
    LineRequest line[most_lines];
};

// The distinct sectors of the lanes in `mask`, lines in the order of the first lane that touches them.
// `bytes` a lane: 1 to 32.
void coalesce(const uint64_t* addresses, uint32_t mask, uint32_t bytes, GlobalRequest& request);

// The same of local memory, where a lane's 4-byte words lie 128 bytes apart: `addresses` are those of their first words.
void coalesce_local(const uint64_t* addresses, uint32_t mask, uint32_t bytes, GlobalRequest& request);

// A request and the bytes of used_bytes() in few words, to be kept for later (simt::AheadCosts::request) and read again.
bool keep_request(const uint64_t* addresses, uint32_t mask, uint32_t bytes, simt::AheadSteps& steps, simt::AheadEnds& ends);
uint32_t kept_request(const simt::AheadSteps& steps, simt::AheadEnds& ends, GlobalRequest& request);  // the used bytes

// The first lines of the request that is read next, as many as there is room for; how many.
uint32_t first_lines(const simt::AheadSteps& steps, simt::AheadEnds ends, std::span<uint64_t> lines);

// Bytes that the lanes ask for, each counted once however many lanes want it.
uint32_t used_bytes(const uint64_t* addresses, uint32_t mask, uint32_t bytes);

// In how many rounds the atomics in `mask` on the line are done: those of a sector together, but one by one on a 4-byte
// word.
uint32_t atomic_rounds(const uint64_t* addresses, uint32_t mask, uint64_t line);

// How many different 4-byte words the accesses in `mask` begin in.
uint32_t distinct_words(const uint64_t* addresses, uint32_t mask);

// Cycles that the tags of the request's lines take where conflicts of L1's banks have no figure (GpuSpec::l1_tag_overhead):
// four are looked up a cycle, each in a set of its own. That sets follow from the lowest bits of the line is an estimate.
constexpr uint32_t tag_sets = 4;
uint32_t tag_cycles(const GlobalRequest& request);

// Lanes whose accesses are served together: all for up to 4 bytes a lane, a half of the warp for 8 and a quarter for 16, as
// these make 128 bytes; twice as many where every active lane n has the address of lane n ^ 1, or every one that of n ^ 2
// (NVIDIA's developer forum, "Unexpected shared memory bank conflict": what comes back is packed then).
uint32_t lanes_together(const uint64_t* offsets, uint32_t mask, uint32_t bytes);

// Passes over the 32 banks of 4 bytes, group of lanes by group. Lanes of a group that read the same word share it
// (broadcast). At least 1 when any lane is active.
uint32_t shared_passes(const uint64_t* offsets, uint32_t mask, uint32_t bytes);

// The same over the banks of L1, where 8 bytes a lane always go by halves of the warp and 16 by quarters.
uint32_t l1_passes(const uint64_t* addresses, uint32_t mask, uint32_t bytes);

// Of each line of the request a bit for every 4-byte word that some lane writes a part of.
void written_words(const uint64_t* addresses, uint32_t mask, uint32_t bytes, const GlobalRequest& request, uint32_t* words);

// Atomics do not broadcast: lanes on the same word queue as well.
uint32_t shared_atomic_passes(const uint64_t* offsets, uint32_t mask, uint32_t bytes);

}  // namespace lockstep::model
