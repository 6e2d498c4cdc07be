// One shared-memory request as D4 draws it: which word of which bank each lane reads, how many distinct words each bank has
// to deliver, and the passes in which they come. Counts agree with model::shared_passes().
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "app/gui/views/memory/request_data.h"

namespace lockstep::gui {

struct BankWord {
    uint64_t word = 0;   // offset / 4; its bank is word % 32, its row word / 32
    uint32_t lanes = 0;  // that touch it
};
struct BankPass {
    uint32_t lanes = 0;  // that get a word in it
    uint32_t banks = 0;  // that deliver one
};
struct BankFacts {
    std::vector<BankWord> words;          // by word, each once
    std::array<uint32_t, 32> distinct{};  // words a bank delivers one after the other, in its busiest group of lanes
    uint32_t ways = 0;                    // the most of them: "2-way"
    uint32_t worst_bank = 0;              // the first with that many
    uint32_t groups = 1;                  // of lanes that are served together (model::lanes_together): 1, 2 or 4
    std::vector<BankPass> passes;
    uint32_t broadcasts = 0;  // words that several lanes read at once
};
// Offsets within shared memory. Atomics on one word queue, reads of one word share it.
BankFacts bank_facts(const Pattern& pattern, bool atomic = false);

enum class Remedy : uint8_t { none, padding, swizzle };
enum class TilePattern : uint8_t { row, column, diagonal };

struct TileChoice {  // the sandbox of D4: a tile of 32 x 32 elements
    TilePattern pattern = TilePattern::column;
    int index = 5;    // which row or column
    int element = 4;  // bytes
};
Pattern tile_pattern(const TileChoice& choice, Remedy remedy);
// The lane's row and column in the tile, before the remedy.
std::array<int, 2> tile_place(const TileChoice& choice, int lane);

// A real request as it would be with padding after every 128 bytes, or with the places of each 128 bytes exchanged.
Pattern what_if(const Pattern& pattern, Remedy remedy);

}  // namespace lockstep::gui
