// Reads of global memory by lanes that go each their own way: what look and remember (checker_race.cpp) do of them, for all
// lanes of a warp at once. The cells lie far apart, so that their shadow is asked for before it is needed. A page that knows
// of no other accesses keeps the two reads of a cell side by side.
#include <algorithm>

#include "core/simt/check/checker_state.h"

namespace lockstep::simt {

namespace {

struct Gather {  // a warp's read, as the cells remember it
    uint32_t time, warp, pc;
    const uint64_t* addresses;
    uint32_t lanes;
    // The last lane with the address of `lane`.
    uint32_t last_beside(uint32_t lane) const {
        uint32_t last = lane;
        for (uint32_t rest = lanes & ~((2u << lane) - 1); rest; rest &= rest - 1)
            if (addresses[__builtin_ctz(rest)] == addresses[lane]) last = static_cast<uint32_t>(__builtin_ctz(rest));
        return last;
    }
    // The read of a cell by `lane` behind `old`, and whether that becomes the earlier one.
    [[gnu::noinline]] Recorded behind(const Recorded& old, uint32_t lane, bool& keeps) const {
        const bool now = old.time == time && old.warp == warp;  // by another lane of this instruction
        keeps =
            old.time != 0 && !now && (old.warp != warp || old.first_lane() != lane || old.last_lane() != last_beside(lane));
        return {time, warp,
                how_of(pc, now ? std::min(lane, old.first_lane()) : lane, now ? std::max(lane, old.last_lane()) : lane)};
    }
};

// Whether a plain read by `lane` is ordered behind `r` by what is quickly known.
bool is_ordered(const BlockChecks& block, const WarpChecks& warp, uint32_t lane, const Recorded& r) {
    if (r.time == 0 || (r.warp - block.first_warp < block.warps.size() && r.time < warp.base)) return true;
    return r.warp == warp.number && (r.time < warp.warp_base || (r.first_lane() == lane && r.last_lane() == lane));
}

void remember_in_cell(const Gather& g, ShadowPage& page, uint32_t cell, uint32_t lane) {
    bool keeps = false;
    const Recorded old = page.get(Remembered::read, cell), now = g.behind(old, lane, keeps);
    if (keeps) page.put(Remembered::earlier, cell, old);
    page.put(Remembered::read, cell, now);
}

// The same in a cell of reads alone.
struct Reader {
    uint32_t first, loads;  // of the warp
    uint64_t read;          // without lanes
};
inline void remember_read(const CheckerState& state, const Gather& g, const Reader& by, CellReads& cell, uint32_t lane) {
    const uint64_t old = cell.read;
    uint32_t together = lane << 5 | lane;
    bool keeps = true;
    if (old && (static_cast<uint32_t>(old) >> 10) - by.first < by.loads) [[unlikely]]  // by this warp
        together = g.behind(read_of(state, old), lane, keeps).how & lanes_bits;
    if (keeps) cell.earlier = old;
    cell.read = by.read | together;
}

}  // namespace

Recorded read_of(const CheckerState& state, uint64_t read) {
    const auto reader = static_cast<uint32_t>(read) >> 10;
    const auto loads = static_cast<uint32_t>(state.loads.size());
    return {static_cast<uint32_t>(read >> 32), reader / loads,
            how_of(state.loads[reader % loads], 0, 0) | (static_cast<uint32_t>(read) & lanes_bits)};
}

bool gather_lanes(CheckerState& state, const Grid& grid, const BlockChecks& block, const WarpChecks& warp, uint32_t pc,
                  const uint64_t* addresses, uint32_t lanes, uint32_t words) {
    const uint64_t bytes = uint64_t{words} * 4;
    Region* const region = global_region(state, grid, pc, addresses[__builtin_ctz(lanes)]);
    if (!region || region->bytes < bytes || region->by_bytes) return false;
    const auto loads = static_cast<uint32_t>(state.loads.size());
    if ((uint64_t{warp.number} + 1) * loads > most_readers) return false;
    const uint64_t begin = region->begin, last = region->bytes - bytes;
    uint64_t outside = 0, low = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const uint64_t at = addresses[__builtin_ctz(rest)] - begin;
        outside |= (last - at) | at;
        low |= at;
    }
    if (outside >> 63 || (low & (bytes - 1))) return false;
    if (state.init && region->unwritten)
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            const uint64_t at = addresses[__builtin_ctz(rest)] - begin;
            if (region->unwritten->first(at, bytes) != at + bytes) return false;
        }
    if (!state.race) return true;
    const std::unique_ptr<ShadowPage>* const shadow = region->pages.data();
    CellReads* reads[warp_size];  // of lanes in pages of reads
    uint32_t others = 0;          // the other lanes
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        const uint64_t at = addresses[lane] - begin;
        ShadowPage* page = shadow[at / page_bytes].get();
        if (!page || !page->of_reads()) {
            if (!page) page = short_page(state, *region, at, ShadowPage::Short::reads);
            if (page && page->in_groups()) page = page_for(state, *region, at, false);
            if (!page || page->shift() != 2) return false;
        }
        if (page->of_reads()) {
            reads[lane] = page->reads() + at % page_bytes / 4;
            __builtin_prefetch(reads[lane], 1);
        } else {
            others |= 1u << lane;
            __builtin_prefetch(page->times(Remembered::write) + at % page_bytes / 4);
            __builtin_prefetch(page->times(Remembered::read) + at % page_bytes / 4, 1);
        }
    }
    for (uint32_t rest = others; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        const uint64_t at = addresses[lane] - begin;
        ShadowPage& page = *shadow[at / page_bytes];
        for (auto cell = static_cast<uint32_t>(at % page_bytes / 4), end = cell + words; cell < end; ++cell) {
            const bool written = page.times(Remembered::write)[cell] != 0;
            if (written && !is_ordered(block, warp, lane, page.get(Remembered::write, cell))) return false;
            if (page.has_strong() && !is_ordered(block, warp, lane, page.get(Remembered::strong, cell))) return false;
        }
    }
    const Gather g{advance(state), warp.number, pc, addresses, lanes};
    const uint32_t first = warp.number * loads;
    const Reader by{first, loads, uint64_t{g.time} << 32 | uint64_t{first + state.load_at[pc]} << 10};
    for (uint32_t rest = lanes & ~others; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        CellReads* const cells = reads[lane];
        remember_read(state, g, by, cells[0], lane);
        for (uint32_t k = 1; k < words; ++k) remember_read(state, g, by, cells[k], lane);
    }
    for (uint32_t rest = others; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        const uint64_t at = addresses[lane] - begin;
        for (auto cell = static_cast<uint32_t>(at % page_bytes / 4), end = cell + words; cell < end; ++cell)
            remember_in_cell(g, *shadow[at / page_bytes], cell, lane);
    }
    return true;
}

}  // namespace lockstep::simt
