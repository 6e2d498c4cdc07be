#include "app/gui/views/memory/bank_data.h"

#include <algorithm>
#include <bit>
#include <map>

#include "core/model/memory/coalescer.h"

namespace lockstep::gui {

namespace {

constexpr uint64_t row_bytes = uint64_t{model::shared_banks} * model::bank_bytes;

}  // namespace

BankFacts bank_facts(const Pattern& pattern, bool atomic) {
    BankFacts facts;
    const uint32_t words = std::max(1u, pattern.bytes / model::bank_bytes);
    const uint32_t lanes_a_group =
        atomic ? std::max(1u, 32 / words) : model::lanes_together(pattern.address.data(), pattern.lanes, pattern.bytes);
    facts.groups = 32 / lanes_a_group;
    std::map<uint64_t, uint32_t> all;
    for (uint32_t first = 0; first < 32; first += lanes_a_group) {
        // In the order of the lanes, each bank takes a place in its queue for every word that is not in it yet.
        std::array<std::vector<uint64_t>, model::shared_banks> queue;
        std::vector<BankPass> passes;
        std::map<uint64_t, uint32_t> readers;
        for (uint32_t lane = first; lane < std::min(32u, first + lanes_a_group); ++lane) {
            if (!(pattern.lanes >> lane & 1)) continue;
            for (uint32_t k = 0; k < words; ++k) {
                const uint64_t word = pattern.address[lane] / model::bank_bytes + k;
                const auto bank = static_cast<size_t>(word % model::shared_banks);
                auto place = atomic ? queue[bank].end() : std::find(queue[bank].begin(), queue[bank].end(), word);
                if (place == queue[bank].end()) place = queue[bank].insert(place, word);
                const auto pass = static_cast<size_t>(place - queue[bank].begin());
                if (passes.size() <= pass) passes.resize(pass + 1);
                passes[pass].lanes |= 1u << lane;
                passes[pass].banks |= 1u << bank;
                readers[word] |= 1u << lane;
            }
        }
        for (size_t bank = 0; bank < queue.size(); ++bank)
            facts.distinct[bank] = std::max(facts.distinct[bank], static_cast<uint32_t>(queue[bank].size()));
        for (const auto& [word, lanes] : readers) {
            all[word] |= lanes;
            if (!atomic && std::popcount(lanes) > 1) ++facts.broadcasts;
        }
        facts.passes.insert(facts.passes.end(), passes.begin(), passes.end());
    }
    for (const auto& [word, lanes] : all) facts.words.push_back({word, lanes});
    for (uint32_t bank = 0; bank < facts.distinct.size(); ++bank)
        if (facts.distinct[bank] > facts.ways) facts.ways = facts.distinct[bank], facts.worst_bank = bank;
    return facts;
}

std::array<int, 2> tile_place(const TileChoice& choice, int lane) {
    switch (choice.pattern) {
        case TilePattern::row:
            return {choice.index, lane};
        case TilePattern::column:
            return {lane, choice.index};
        case TilePattern::diagonal:
            break;
    }
    return {lane, (lane + choice.index) % 32};
}

Pattern tile_pattern(const TileChoice& choice, Remedy remedy) {
    Pattern pattern;
    pattern.lanes = 0xffffffffu;
    pattern.bytes = static_cast<uint32_t>(choice.element);
    const int pitch = remedy == Remedy::padding ? 33 : 32;
    for (int lane = 0; lane < 32; ++lane) {
        const auto [row, column] = tile_place(choice, lane);
        const int place = row * pitch + (remedy == Remedy::swizzle ? column ^ row : column);
        pattern.address[static_cast<size_t>(lane)] = static_cast<uint64_t>(place) * pattern.bytes;
    }
    return pattern;
}

Pattern what_if(const Pattern& pattern, Remedy remedy) {
    Pattern changed = pattern;
    const uint64_t unit = std::max<uint64_t>(model::bank_bytes, std::bit_ceil(uint64_t{pattern.bytes}));
    for (uint64_t& address : changed.address) {
        const uint64_t row = address / row_bytes, within = address % row_bytes;
        if (remedy == Remedy::padding) address += row * unit;
        if (remedy == Remedy::swizzle) {
            const uint64_t places = row_bytes / unit, place = (within / unit) ^ (row % places);
            address = row * row_bytes + place * unit + within % unit;
        }
    }
    return changed;
}

}  // namespace lockstep::gui
