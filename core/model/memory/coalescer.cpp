// Lanes mostly ascend, so the last line found is tried first; scattered lanes search the few lines of the request.
#include "core/model/memory/coalescer.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/simt/execute/ahead.h"

namespace lockstep::model {
namespace {

void add(GlobalRequest& request, uint64_t line, uint32_t sectors, uint32_t lanes = 1) {
    uint32_t i = request.lines;
    while (i > 0 && request.line[i - 1].line != line) --i;
    if (i == 0) {
        if (request.lines == GlobalRequest::most_lines) return;
        request.line[request.lines++] = {line, sectors, lanes};
        request.sectors += bits_in(sectors);
        return;
    }
    LineRequest& found = request.line[i - 1];
    request.sectors += bits_in(sectors & ~found.sectors);
    found.sectors |= sectors;
    found.lanes += lanes;
}

// Bits first .. last, both within 0 .. 3.
uint32_t sector_bits(uint64_t first, uint64_t last) {
    return (2u << last) - (1u << first);
}

// The largest number of words that one bank has to deliver to a group of lanes. `broadcast`: lanes share a word. What is
// aligned to its size goes in one piece: its banks all have the same to deliver.
uint32_t busiest_bank(const uint64_t* offsets, uint32_t group, uint32_t bytes, bool broadcast) {
    if (group == 0) return 0;
    constexpr uint32_t row = shared_banks * bank_bytes;
    const uint64_t leader = offsets[std::countr_zero(group)];
    uint64_t low = 0, apart = 0;
    for (uint32_t left = group; left != 0; left &= left - 1) {
        const uint64_t offset = offsets[std::countr_zero(left)];
        low |= offset;
        apart |= offset ^ leader;
    }
    const uint32_t words = std::max(1u, bytes / bank_bytes);
    const bool whole = (words & (words - 1)) == 0 && words <= shared_banks && (words == 1 || low % bytes == 0);
    if (broadcast && whole && apart < row) return 1;  // the everyday case: all in one row
    const uint32_t unit = whole ? words * bank_bytes : bank_bytes, pieces = whole ? 1 : words;
    const uint32_t columns = row / unit, shift = static_cast<uint32_t>(std::countr_zero(unit));
    constexpr uint32_t most_pieces = 64, none = most_pieces;
    uint64_t seen[most_pieces];  // of each column a list, latest first
    uint8_t next[most_pieces], first[shared_banks], count[shared_banks];
    uint32_t used = 0, most = 0, n = 0;
    for (uint32_t left = group; left != 0; left &= left - 1) {
        const uint64_t begin = offsets[std::countr_zero(left)] >> shift;
        for (uint64_t word = begin; word < begin + pieces && n < most_pieces; ++word) {
            const auto column = static_cast<uint32_t>(word % columns);
            if ((used >> column & 1) == 0) {
                used |= 1u << column;
                first[column] = none;
                count[column] = 0;
            }
            uint32_t at = broadcast ? first[column] : none;
            while (at != none && seen[at] != word) at = next[at];
            if (at != none) continue;
            seen[n] = word;
            next[n] = first[column];
            first[column] = static_cast<uint8_t>(n++);
            most = std::max<uint32_t>(most, ++count[column]);
        }
    }
    return most;
}

// Whether the active ones of lanes n and n ^ apart have the same address, for all n.
bool paired(const uint64_t* offsets, uint32_t mask, uint32_t apart) {
    const uint32_t lower = apart == 1 ? 0x55555555u : 0x33333333u;
    for (uint32_t left = mask & mask >> apart & lower; left != 0; left &= left - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(left));
        if (offsets[lane] != offsets[lane + apart]) return false;
    }
    return true;
}

// `pairs`: lanes whose neighbours have their address are served with them, see lanes_together().
uint32_t passes_of(const uint64_t* offsets, uint32_t mask, uint32_t bytes, bool broadcast, bool pairs) {
    const uint32_t lanes_a_group =
        pairs ? lanes_together(offsets, mask, bytes) : std::max(1u, 32 / std::max(1u, bytes / bank_bytes));
    uint32_t total = 0;
    for (uint32_t first = 0; first < 32; first += lanes_a_group) {
        const uint32_t group = lanes_a_group == 32 ? mask : mask & (((1u << lanes_a_group) - 1) << first);
        total += busiest_bank(offsets, group, bytes, broadcast);
    }
    return std::max(total, mask == 0 ? 0u : 1u);
}

}  // namespace

void coalesce(const uint64_t* addresses, uint32_t mask, uint32_t bytes, GlobalRequest& request) {
    request.lines = 0;
    request.sectors = 0;
    request.passes = 0;
    if (mask == 0xffffffffu && bytes != 0) {  // the everyday case: lane after lane, without a gap
        uint64_t apart = 0;
        for (uint32_t lane = 0; lane < 32; ++lane) apart |= addresses[lane] - addresses[0] - lane * uint64_t{bytes};
        if (apart == 0 && addresses[0] % bytes == 0 && (bytes & (bytes - 1)) == 0 && bytes <= sector_bytes) {
            const uint64_t end = addresses[0] + 32 * uint64_t{bytes};
            request.passes = std::max(1u, bytes / bank_bytes);
            for (uint64_t at = addresses[0]; at < end;) {
                const uint64_t line = at / line_bytes, stop = std::min(end, (line + 1) * line_bytes);
                const uint32_t sectors = sector_bits(at / sector_bytes % 4, (stop - 1) / sector_bytes % 4);
                request.line[request.lines++] = {line, sectors, static_cast<uint32_t>((stop - at) / bytes)};
                request.sectors += bits_in(sectors);
                at = stop;
            }
            return;
        }
    }
    const bool power = bytes != 0 && (bytes & (bytes - 1)) == 0 && bytes <= sector_bytes;
    for (uint32_t left = mask; left != 0;) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(left));
        const uint64_t begin = addresses[lane];
        uint32_t run = 1;  // lanes that follow one another without a gap
        if (power && begin % bytes == 0)
            while (lane + run < 32 && (left >> (lane + run) & 1) != 0 &&
                   addresses[lane + run] == begin + run * uint64_t{bytes})
                ++run;
        left &= run == 32 ? 0 : ~(((1u << run) - 1) << lane);
        if (run > 1) {
            const uint64_t stop = begin + run * uint64_t{bytes};
            for (uint64_t at = begin; at < stop;) {
                const uint64_t line = at / line_bytes, next = std::min(stop, (line + 1) * line_bytes);
                add(request, line, sector_bits(at / sector_bytes % 4, (next - 1) / sector_bytes % 4),
                    static_cast<uint32_t>((next - at) / bytes));
                at = next;
            }
            continue;
        }
        const uint64_t end = begin + (bytes == 0 ? 1 : bytes) - 1;
        const uint64_t first = begin / sector_bytes, last = end / sector_bytes;
        const uint64_t line = begin / line_bytes;
        if (end / line_bytes == line) {
            add(request, line, sector_bits(first % 4, last % 4));
        } else {
            add(request, line, sector_bits(first % 4, 3));
            add(request, line + 1, sector_bits(0, last % 4));
        }
    }
}

void coalesce_local(const uint64_t* addresses, uint32_t mask, uint32_t bytes, GlobalRequest& request) {
    coalesce(addresses, mask, std::min(bytes, bank_bytes), request);
    for (uint32_t word = 1; word < bytes / bank_bytes; ++word)
        for (uint32_t left = mask; left != 0; left &= left - 1) {
            const uint64_t at = addresses[std::countr_zero(left)] + word * line_bytes;
            const uint64_t sector = at / sector_bytes % 4;
            add(request, at / line_bytes, sector_bits(sector, sector));
        }
    request.passes = std::max(1u, bytes / bank_bytes);  // every lane has a bank of its own
}

uint32_t used_bytes(const uint64_t* addresses, uint32_t mask, uint32_t bytes) {
    if (mask == 0xffffffffu) {
        uint64_t short_of = 0;  // the top bit: a lane is less than `bytes` beyond the one before
        for (uint32_t lane = 0; lane + 1 < 32; ++lane) short_of |= addresses[lane + 1] - addresses[lane] - bytes;
        if (short_of >> 63 == 0) return 32 * bytes;
    }
    uint64_t begins[32], end = 0;
    uint32_t count = 0;
    bool apart = true;  // ascending, and no two overlap: the everyday case
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const uint64_t begin = addresses[std::countr_zero(left)];
        apart &= count == 0 || begin >= end;
        end = begin + bytes;
        begins[count++] = begin;
    }
    if (apart) return count * bytes;
    std::sort(begins, begins + count);
    uint64_t used = 0, from = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t begin = i == 0 ? begins[i] : std::max(begins[i], from);
        from = begins[i] + bytes;
        used += from - begin;
    }
    return static_cast<uint32_t>(used);
}

// The first word has the number of lines, the sectors, the passes and the used bytes, each line one more: its number and its
// sectors.
bool keep_request(const uint64_t* addresses, uint32_t mask, uint32_t bytes, simt::AheadSteps& steps, simt::AheadEnds& ends) {
    constexpr uint32_t places = simt::AheadSteps::most_words;
    thread_local GlobalRequest request;
    coalesce(addresses, mask, bytes, request);
    if (request.lines + 1 > ends.words_left()) return false;
    if (request.passes == 0) request.passes = l1_passes(addresses, mask, bytes);
    const uint64_t used = used_bytes(addresses, mask, bytes);
    steps.words[ends.word_end++ % places] = used << 32 | request.passes << 20 | request.sectors << 8 | request.lines;
    for (uint32_t i = 0; i < request.lines; ++i)
        steps.words[ends.word_end++ % places] = request.line[i].line << 4 | request.line[i].sectors;
    return true;
}

uint32_t kept_request(const simt::AheadSteps& steps, simt::AheadEnds& ends, GlobalRequest& request) {
    constexpr uint32_t places = simt::AheadSteps::most_words;
    const uint64_t head = steps.words[ends.word_at++ % places];
    request.lines = head & 0xff;
    request.sectors = head >> 8 & 0xfff;
    request.passes = head >> 20 & 0xfff;
    for (uint32_t i = 0; i < request.lines; ++i) {
        const uint64_t word = steps.words[ends.word_at++ % places];
        request.line[i] = {word >> 4, static_cast<uint32_t>(word & 15), 0};
    }
    return static_cast<uint32_t>(head >> 32);
}

uint32_t first_lines(const simt::AheadSteps& steps, simt::AheadEnds ends, std::span<uint64_t> lines) {
    constexpr uint32_t places = simt::AheadSteps::most_words;
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(lines.size(), steps.words[ends.word_at % places] & 0xff));
    for (uint32_t i = 0; i < count; ++i) lines[i] = steps.words[(ends.word_at + 1u + i) % places] >> 4;
    return count;
}

uint32_t distinct_words(const uint64_t* addresses, uint32_t mask) {
    uint32_t words = 0;
    while (mask != 0) {
        const uint64_t word = addresses[std::countr_zero(mask)] / bank_bytes;
        uint32_t same = 0;
        for (uint32_t lane = 0; lane < 32; ++lane)
            same |= static_cast<uint32_t>(addresses[lane] / bank_bytes == word) << lane;
        mask &= ~same;
        ++words;
    }
    return words;
}

uint32_t atomic_rounds(const uint64_t* addresses, uint32_t mask, uint64_t line) {
    uint8_t count[line_bytes / bank_bytes] = {}, most[line_bytes / sector_bytes] = {};
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const uint64_t address = addresses[std::countr_zero(left)];
        if (address / line_bytes != line) continue;
        const uint64_t at = address % line_bytes;
        uint8_t& rounds = most[at / sector_bytes];
        rounds = std::max(rounds, ++count[at / bank_bytes]);
    }
    return std::max<uint32_t>(1, std::accumulate(std::begin(most), std::end(most), 0u));
}

uint32_t tag_cycles(const GlobalRequest& request) {
    uint32_t of_set[tag_sets] = {}, most = 0;
    for (uint32_t i = 0; i < request.lines; ++i) most = std::max(most, ++of_set[request.line[i].line % tag_sets]);
    return most;
}

uint32_t lanes_together(const uint64_t* offsets, uint32_t mask, uint32_t bytes) {
    const uint32_t words = std::max(1u, bytes / bank_bytes), lanes = std::max(1u, 32 / words);
    if (words == 1 || words > 4) return lanes;
    return paired(offsets, mask, 1) || paired(offsets, mask, 2) ? 2 * lanes : lanes;
}

uint32_t shared_passes(const uint64_t* offsets, uint32_t mask, uint32_t bytes) {
    if (bytes <= bank_bytes && mask != 0) {  // the everyday case: all words lie in one row of the 32 banks
        const uint64_t leader = offsets[std::countr_zero(mask)];
        uint64_t apart = 0;
        if (mask == 0xffffffffu)
            for (uint32_t lane = 0; lane < 32; ++lane) apart |= offsets[lane] ^ leader;
        else
            for (uint32_t left = mask; left != 0; left &= left - 1) apart |= offsets[std::countr_zero(left)] ^ leader;
        if (apart < shared_banks * bank_bytes) return 1;
    }
    return passes_of(offsets, mask, bytes, true, true);
}

uint32_t l1_passes(const uint64_t* addresses, uint32_t mask, uint32_t bytes) {
    if (bytes <= bank_bytes) return shared_passes(addresses, mask, bytes);
    return passes_of(addresses, mask, bytes, true, false);
}

void written_words(const uint64_t* addresses, uint32_t mask, uint32_t bytes, const GlobalRequest& request, uint32_t* words) {
    std::fill(words, words + request.lines, 0u);
    uint32_t i = 0;  // lanes mostly go on in the line of the last one or in the next
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const uint64_t begin = addresses[std::countr_zero(left)], end = begin + std::max(1u, bytes);
        for (uint64_t at = begin; at < end;) {
            const uint64_t line = at / line_bytes, stop = std::min(end, (line + 1) * line_bytes);
            for (uint32_t tried = 0; tried < request.lines && request.line[i].line != line; ++tried)
                i = i + 1 == request.lines ? 0 : i + 1;
            const auto first = static_cast<uint32_t>(at % line_bytes / bank_bytes);
            const auto last = static_cast<uint32_t>((stop - 1) % line_bytes / bank_bytes);
            words[i] |= static_cast<uint32_t>((uint64_t{2} << last) - (uint64_t{1} << first));
            at = stop;
        }
    }
}

uint32_t shared_atomic_passes(const uint64_t* offsets, uint32_t mask, uint32_t bytes) {
    return passes_of(offsets, mask, bytes, false, false);
}

}  // namespace lockstep::model
