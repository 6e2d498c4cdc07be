// The quick ways of racecheck and initcheck, part of execute_body.h: a load or store of 1, 2 or 4 words of 32 bits a lane,
// whose lanes hold one address for all of half a warp or one after the other, where all cells that it meets are in order.
// Then 16 cells take a few vector instructions. Other reads of shared memory go to a list (list_lanes), others of global
// memory to gather_lanes, and everything else to note_instruction, lane by lane; the cells remember the same either way.
//
//   check_access -> check_words -> check_halves: locate both halves, look at both, remember both | note_instruction
//   list_known: the commonest read in place, behind load_known
//
// No include guard: compiled once for each instruction set.
using CellLanes = VectorOf<uint32_t>;
static_assert(sizeof(CellLanes) == half * sizeof(uint32_t) && half == group_cells);

struct Checks {
    CheckerState& state;
    BlockChecks& block;
    WarpChecks& warp;
};

inline void cells(const uint32_t* from, CellLanes& to) {
    take_lanes(from, to);
}
inline bool none(const CellLanes& lanes) {
    return all_zero(reinterpret_cast<const Vector512&>(lanes));
}

constexpr uint32_t all_busy = 0xffff;

// Cells of half an access: 16 one after the other, or one.
struct CellPart {
    ShadowPage* page;
    uint64_t at;  // in the region
    uint32_t cell;
    bool ramp;
    uint32_t lanes;  // of the first cell, as in `how`
    uint32_t shift;  // of a ramp: each lane has 1 << shift of the cells
    uint32_t busy;   // of a ramp: the cells whose lanes take part
    // The same, to be compared: a thread is in order with itself, where it is alone. No `how` holds several_lanes.
    uint32_t alone() const { return (lanes >> 5) == (lanes & 31) ? lanes : several_lanes; }
    static constexpr uint32_t several_lanes = 1u << 15;
};

inline void lanes_of(uint32_t lanes, uint32_t shift, CellLanes& mine) {
    static_assert(next_lane == 33);
    alignas(64) static constexpr uint32_t one_after_the_other[3][half] = {
        {0, 33, 66, 99, 132, 165, 198, 231, 264, 297, 330, 363, 396, 429, 462, 495},
        {0, 0, 33, 33, 66, 66, 99, 99, 132, 132, 165, 165, 198, 198, 231, 231},
        {0, 0, 0, 0, 33, 33, 33, 33, 66, 66, 66, 66, 99, 99, 99, 99}};
    cells(one_after_the_other[shift], mine);
    mine += lanes;
}

inline void keep_busy(uint32_t busy, CellLanes& of) {
    CellLanes counts;
    spread<uint32_t>(busy, counts);
    of &= counts;
}

// Writes what is new of the cells that are busy.
inline void put_cells(uint32_t* to, const CellLanes& now, uint32_t busy) {
    if (busy == all_busy) {
        std::memcpy(to, &now, sizeof now);
        return;
    }
    CellLanes counts, old;
    spread<uint32_t>(busy, counts);
    cells(to, old);
    old = (now & counts) | (old & ~counts);
    std::memcpy(to, &old, sizeof old);
}

// Whether one of 16 cells remembers an access of this kind that may not be in order with the lanes `mine` (as in `how`).
// Global: other blocks come here too, so that a block's own barriers do not order everything.
template <bool Global>
inline bool out_of_order(const Checks& c, const uint32_t* times, uint32_t stride, const CellLanes& mine, uint32_t busy) {
    CellLanes time, warp, how, late;
    cells(times, time);
    not_below(time, c.warp.base, late);
    if constexpr (Global) {
        CellLanes never, others;
        cells(times + stride, warp);
        const CellLanes zero = {}, in_block = warp - c.block.first_warp;
        equal_lanes(time, zero, never);
        not_below(in_block, static_cast<uint32_t>(c.block.warps.size()), others);
        late = (late | others) & ~never;
    }
    if (none(late)) return false;
    if (busy != all_busy) keep_busy(busy, late);
    cells(times + stride, warp);
    cells(times + 2 * stride, how);
    CellLanes own, same, later;
    const CellLanes number = CellLanes{} + c.warp.number, lanes = how & lanes_bits;
    equal_lanes(warp, number, own);
    equal_lanes(lanes, mine, same);
    not_below(time, c.warp.warp_base, later);
    late &= ~(own & (same | ~later));
    return !none(late);
}

template <bool Global>
inline bool out_of_order(const Checks& c, const Recorded& r, uint32_t mine) {
    const bool early = Global ? r.time == 0 || (r.warp - c.block.first_warp < c.block.warps.size() && r.time < c.warp.base)
                              : r.time < c.warp.base;
    if (early) return false;
    return !(r.warp == c.warp.number && ((r.how & lanes_bits) == mine || r.time < c.warp.warp_base));
}

template <bool Global>
inline bool out_of_order(const Checks& c, const GroupRecorded& r, const CellPart& part) {
    return out_of_order<Global>(c, r, r.shift == part.shift ? part.alone() : CellPart::several_lanes);
}

// Whether all is in order, and of shared memory written.
template <bool Store, bool Global>
inline bool look_at(const Checks& c, const CellPart& part, uint32_t birth) {
    ShadowPage& page = *part.page;
    if (Global && page.in_groups()) {
        const CellGroup& g = page.group(part.cell);
        return !out_of_order<true>(c, g.write, part) &&
               (!Store || (!out_of_order<true>(c, g.read, part) && !out_of_order<true>(c, g.earlier, part)));
    }
    if (!part.ramp) {
        const Recorded write = page.get(Remembered::write, part.cell);
        const Recorded strong = page.has_strong() ? page.get(Remembered::strong, part.cell) : Recorded{};
        if (!Global && c.state.init && write.time < birth && strong.time < birth) return false;
        return !c.state.race ||
               (!out_of_order<Global>(c, write, part.alone()) && !out_of_order<Global>(c, strong, part.alone()));
    }
    const uint32_t stride = page.stride();
    const uint32_t* const write = page.times(Remembered::write) + part.cell;
    const uint32_t* const strong = page.times(Remembered::strong) + part.cell;
    if (!Store && !Global && c.state.init) {
        CellLanes written, by_atomic = {};
        cells(write, written);
        if (page.has_strong()) cells(strong, by_atomic);
        CellLanes set, set_by_atomic;
        not_below(written, birth, set);
        not_below(by_atomic, birth, set_by_atomic);
        CellLanes unwritten = ~(set | set_by_atomic);
        if (part.busy != all_busy) keep_busy(part.busy, unwritten);
        if (!none(unwritten)) return false;
    }
    if (!c.state.race) return true;
    CellLanes mine;
    lanes_of(part.alone(), part.shift, mine);
    if (out_of_order<Global>(c, write, stride, mine, part.busy)) return false;
    if (page.has_strong() && out_of_order<Global>(c, strong, stride, mine, part.busy)) return false;
    if (!Store) return true;
    return !out_of_order<Global>(c, page.times(Remembered::read) + part.cell, stride, mine, part.busy) &&
           !out_of_order<Global>(c, page.times(Remembered::earlier) + part.cell, stride, mine, part.busy);
}

inline void remember_write(const Checks& c, const CellPart& part, uint32_t pc) {
    const uint32_t how = how_of(pc, 0, 0) | part.lanes;
    if (part.page->in_groups()) {
        part.page->group(part.cell).write = {{c.state.now, c.warp.number, how}, part.shift};
        return;
    }
    const uint32_t stride = part.page->stride();
    uint32_t* const write = part.page->times(Remembered::write) + part.cell;
    CellLanes lanes;
    lanes_of(part.lanes, part.shift, lanes);
    lanes |= how_of(pc, 0, 0);
    put_cells(write, CellLanes{} + c.state.now, part.busy);
    put_cells(write + stride, CellLanes{} + c.warp.number, part.busy);
    put_cells(write + 2 * stride, lanes, part.busy);
}

// Of global memory: another's read becomes the earlier one.
inline void remember_read(const Checks& c, const CellPart& part, uint32_t pc) {
    ShadowPage& page = *part.page;
    const Recorded mine{c.state.now, c.warp.number, how_of(pc, 0, 0) | part.lanes};
    if (page.in_groups()) {
        CellGroup& g = page.group(part.cell);
        if (g.read.warp != mine.warp || (g.read.how & lanes_bits) != part.lanes || g.read.shift != part.shift)
            g.earlier = g.read;
        g.read = {mine, part.shift};
        return;
    }
    if (!part.ramp) {
        const Recorded read = page.get(Remembered::read, part.cell);
        if (read.warp != mine.warp || (read.how & lanes_bits) != part.lanes) page.put(Remembered::earlier, part.cell, read);
        page.put(Remembered::read, part.cell, mine);
        return;
    }
    const uint32_t stride = page.stride();
    uint32_t* const read = page.times(Remembered::read) + part.cell;
    uint32_t* const earlier = page.times(Remembered::earlier) + part.cell;
    CellLanes lanes, time, warp, how;
    lanes_of(part.lanes, part.shift, lanes);
    cells(read, time);
    cells(read + stride, warp);
    cells(read + 2 * stride, how);
    CellLanes own, same;
    const CellLanes number = CellLanes{} + mine.warp, held = how & lanes_bits;
    equal_lanes(warp, number, own);
    equal_lanes(held, lanes, same);
    CellLanes other = ~(own & same);
    if (part.busy != all_busy) keep_busy(part.busy, other);
    if (!none(other)) {
        const CellLanes column[3] = {time, warp, how};
        for (uint32_t k = 0; k < 3; ++k) {
            CellLanes old;
            cells(earlier + k * stride, old);
            old = (column[k] & other) | (old & ~other);
            std::memcpy(earlier + k * stride, &old, sizeof old);
        }
    }
    lanes |= how_of(pc, 0, 0);
    put_cells(read, CellLanes{} + mine.time, part.busy);
    put_cells(read + stride, CellLanes{} + mine.warp, part.busy);
    put_cells(read + 2 * stride, lanes, part.busy);
}

// The 64-byte lines of a page that a ramp, or one cell, touches.
inline uint64_t lines_of(uint32_t cell, bool ramp) {
    const uint64_t first = uint64_t{1} << cell / half;
    return ramp ? first | uint64_t{1} << (cell + half - 1) / half : first;
}

// Appends to the list, which has room.
inline void list_read(const Checks& c, const ListedRead& r) {
    BlockChecks& block = c.block;
    block.listed[block.listed_count++] = r;
    constexpr uint32_t in_page = page_bytes / 4;
    block.listed_lines[r.cell[0] / in_page] |= lines_of(r.cell[0] % in_page, r.ramp & 1);
    block.listed_lines[r.cell[1] / in_page] |= lines_of(r.cell[1] % in_page, r.ramp >> 1);
}

constexpr uint32_t most_words = 4;  // a lane
// Room for a read of so many words.
[[gnu::noinline]] inline void make_room(BlockChecks& block) {
    if (!block.listed) block.listed = std::make_unique<ListedRead[]>(most_listed);
    if (block.listed_count > most_listed - most_words) write_listed(block);
}

// `at`: offsets in the region of the first lanes of the two halves. words: of a lane.
template <bool Store, bool Global>
inline bool check_halves(const Checks& c, Region& region, const Shape& shape, const uint64_t (&at)[2], uint32_t words,
                         uint32_t mask, uint32_t pc) {
    const uint32_t shift = words >> 1, lanes_in_part = half >> shift;
    const uint32_t busy_lanes[2] = {mask & all_busy, mask >> half};
    const bool both = busy_lanes[0] && busy_lanes[1];
    const bool same = both && at[0] == at[1] && shape.step[0] == shape.step[1];
    if (same && (Store || mask != full_mask)) return false;
    CellPart parts[2 * most_words];
    uint32_t count = 0;
    uint64_t extent[2] = {};
    for (uint32_t h = 0; h < (same ? 1 : 2); ++h) {
        if (!busy_lanes[h]) continue;
        const bool ramp = shape.step[h] == words * 4;
        if (!ramp && (shape.step[h] != 0 || Store)) return false;
        const uint64_t bytes = extent[h] = (ramp ? half : 1) * words * 4;
        if (region.bytes < bytes || at[h] > region.bytes - bytes || at[h] % (words * 4)) return false;
        for (uint32_t n = 0; n < words; ++n) {
            CellPart& part = parts[count];
            part.at = at[h] + n * (ramp ? half * 4 : 4);
            const uint64_t in_page = part.at % page_bytes;
            if (in_page + (ramp ? half * 4 : 4) > page_bytes) return false;
            part.ramp = ramp;
            part.shift = shift;
            part.busy = all_busy;
            const uint32_t first =
                h * half + (ramp ? n * lanes_in_part : static_cast<uint32_t>(__builtin_ctz(busy_lanes[h])));
            uint32_t last = same ? first + half : first;
            if (!ramp) last = (same ? half : h * half) + 31 - static_cast<uint32_t>(__builtin_clz(busy_lanes[h]));
            part.lanes = first << 5 | last;
            if (ramp && mask != full_mask) {  // the cells of the lanes, each as often as it has some
                uint32_t busy = busy_lanes[h] >> n * lanes_in_part & ((1u << lanes_in_part) - 1);
                if (!busy) continue;
                if (shift == 2) busy = (busy | busy << 6) & 0x303;
                if (shift == 2) busy = (busy | busy << 3) & 0x1111;
                if (shift == 1) busy = (busy | busy << 4) & 0xf0f;
                if (shift == 1) busy = (busy | busy << 2) & 0x3333;
                if (shift == 1) busy = (busy | busy << 1) & 0x5555;
                part.busy = busy * ((1u << words) - 1);
            }
            part.cell = static_cast<uint32_t>(in_page / 4);
            const bool whole = ramp && part.cell % half == 0 && part.busy == all_busy;
            part.page = region.pages[part.at / page_bytes].get();
            if (Global && !part.page && whole) part.page = short_page(c.state, region, part.at, ShadowPage::Short::groups);
            if (Global && part.page && part.page->of_reads()) part.page = page_for(c.state, region, part.at, false);
            if (!part.page || part.page->shift() != 2 || (Global && !whole && part.page->in_groups())) return false;
            if (!Global && Store && (c.block.listed_lines[part.at / page_bytes] & lines_of(part.cell, true)))
                write_listed(c.block);
            ++count;
        }
    }
    // Halves that share some cells and not all: lane by lane.
    if (both && !same && at[0] < at[1] + extent[1] && at[1] < at[0] + extent[0]) return false;
    for (uint32_t k = 0; k < count; ++k)
        if (!look_at<Store, Global>(c, parts[k], region.birth)) return false;
    if (!Store && !Global) {
        if (!c.state.race) return true;
        if (!c.block.listed || c.block.listed_count > most_listed - most_words) make_room(c.block);
        const uint32_t a = busy_lanes[0] ? 0 : 1, b = same || !busy_lanes[1] ? a : 1;
        ListedRead r{.time = c.state.now, .warp = c.warp.number, .pc = pc, .lanes = mask, .cell = {}};
        const bool ramps[2] = {shape.step[a] != 0, shape.step[b] != 0};
        r.ramp = static_cast<uint8_t>(ramps[0] * 1 + ramps[1] * 2);
        r.shift = static_cast<uint8_t>(shift);
        for (uint32_t n = 0; n < words; ++n) {
            r.first = static_cast<uint8_t>(n * lanes_in_part);
            r.cell[0] = static_cast<uint32_t>(at[a] / 4) + n * (ramps[0] ? half : 1);
            r.cell[1] = static_cast<uint32_t>(at[b] / 4) + n * (ramps[1] ? half : 1);
            list_read(c, r);
        }
        return true;
    }
    for (uint32_t k = 0; k < count; ++k) {
        if constexpr (Store)
            remember_write(c, parts[k], pc);
        else
            remember_read(c, parts[k], pc);
    }
    return true;
}

// What initcheck knows of global memory, where it keeps account: a load finds all written, a store writes.
template <bool Store>
inline bool account(const Checks& c, const Region& region, const Shape& shape, const uint64_t (&at)[2], uint32_t words,
                    uint32_t mask) {
    const auto take = [&](uint64_t offset, uint64_t bytes) {
        if (region.bytes < bytes || offset > region.bytes - bytes) return false;
        if (Store)
            region.unwritten->set(offset, bytes, false);
        else if (c.state.init && region.unwritten->first(offset, bytes) != offset + bytes)
            return false;
        return true;
    };
    for (uint32_t h = 0; h < 2; ++h) {
        const uint32_t busy = mask >> h * half & all_busy, lane_bytes = words * 4;
        if (!busy) continue;
        if ((shape.step[h] != 0 && shape.step[h] != lane_bytes) || at[h] % lane_bytes) return false;
        if (busy == all_busy || shape.step[h] == 0) {
            if (!take(at[h], shape.step[h] != 0 ? half * lane_bytes : lane_bytes)) return false;
            continue;
        }
        for (uint32_t rest = busy; rest; rest &= rest - 1)
            if (!take(at[h] + static_cast<uint64_t>(__builtin_ctz(rest)) * lane_bytes, lane_bytes)) return false;
    }
    return true;
}

template <bool Store, class Register>
inline bool check_words(const Machine& m, const Prepared& p, uint32_t pc, uint32_t mask, const Register* base,
                        const Checks& c) {
    const Shape& shape = mask == full_mask ? shape_of(m, p, base) : shape_of_some(m, p, base, mask);
    if (shape.step[0] == Shape::irregular || shape.step[1] == Shape::irregular) return false;
    const uint32_t words = p.access_bytes() / 4;
    const auto offset = static_cast<Register>(p.offset);
    uint64_t at[2] = {static_cast<Register>(static_cast<Register>(shape.first[0]) + offset),
                      static_cast<Register>(static_cast<Register>(shape.first[1]) + offset)};
    if (p.space == ptx::Space::shared) {
        if (!c.block.alone) return false;
        return check_halves<Store, false>(c, c.block.shared, shape, at, words, mask, pc);
    }
    Region* region = c.state.last_global[pc];
    if (!region || at[0] - region->begin >= region->bytes) region = global_region(c.state, m.grid, pc, at[0]);
    if (!region) return false;
    at[0] -= region->begin;
    at[1] -= region->begin;
    // A store writes off what it writes only when nothing has to look at it again.
    if (!Store && region->unwritten && !account<false>(c, *region, shape, at, words, mask)) return false;
    if (c.state.race && !check_halves<Store, true>(c, *region, shape, at, words, mask, pc)) return false;
    return !Store || !region->unwritten || account<true>(c, *region, shape, at, words, mask);
}

// A read without such an order.
template <class Register>
inline bool read_others(const Machine& m, const Prepared& p, uint32_t pc, uint32_t mask, const Register* base,
                        const Checks& c) {
    const auto offset = static_cast<Register>(p.offset);
    uint64_t addresses[warp_size];
    for (uint32_t lane = 0; lane < warp_size; ++lane) addresses[lane] = static_cast<Register>(base[lane] + offset);
    const uint32_t words = p.access_bytes() / 4;
    if (p.space != ptx::Space::shared) return gather_lanes(c.state, m.grid, c.block, c.warp, pc, addresses, mask, words);
    return c.block.alone && c.state.race && list_lanes(c.state, c.block, c.warp, pc, addresses, mask, words);
}

// The commonest read in place: of words of shared memory by all lanes, through a base whose shape is known, when load_known
// has found it regular, inside and aligned. False, with nothing done, where it takes a closer look.
[[gnu::always_inline]] inline bool list_known(const Machine& m, const Prepared& p, const Checks& c) {
    BlockChecks& block = c.block;
    const auto pc = static_cast<uint32_t>(&p - m.steps);
    const Shape& shape = m.shapes[p.shape & ~uint32_t{shape_known}];
    const bool ramp = shape.all_words;
    const uint64_t first = shape.first[0] + static_cast<uint64_t>(p.offset);
    const uint64_t second = shape.first[1] + static_cast<uint64_t>(p.offset);
    if (!block.listed || block.listed_count == most_listed || !block.alone || !c.state.race || c.state.off ||
        c.state.lane_by_lane || c.state.kinds[pc] != AccessKind::read)
        return false;
    ShadowPage* const pages[2] = {block.shared.pages[first / page_bytes].get(),
                                  block.shared.pages[second / page_bytes].get()};
    if (!pages[0] || !pages[1] || pages[0]->shift() != 2 || pages[1]->shift() != 2 || pages[0]->has_strong() ||
        pages[1]->has_strong())
        return false;
    // Written since the block began, where that is asked, and before its last barrier.
    const uint32_t birth = c.state.init ? block.shared.birth : 0, base = c.warp.base;
    const uint32_t* const writes[2] = {pages[0]->times(Remembered::write) + first % page_bytes / 4,
                                       pages[1]->times(Remembered::write) + second % page_bytes / 4};
    if (ramp) {
        const uint64_t last_ramp = page_bytes - half * 4;
        if (first % page_bytes > last_ramp || second % page_bytes > last_ramp) return false;
        const uint64_t distance = first < second ? second - first : first - second;
        if (distance && distance < half * 4) return false;
        if (any_outside(writes[0], writes[1], birth, base - birth)) return false;
    } else if (*writes[0] - birth >= base - birth || *writes[1] - birth >= base - birth) {
        return false;
    }
    ListedRead& r = block.listed[block.listed_count++];
    r = {.time = c.state.now,
         .warp = c.warp.number,
         .pc = pc,
         .ramp = static_cast<uint8_t>(ramp ? 3 : 0),
         .lanes = full_mask,
         .cell = {static_cast<uint32_t>(first / 4), static_cast<uint32_t>(second / 4)}};
    block.listed_lines[first / page_bytes] |= lines_of(first % page_bytes / 4, ramp);
    block.listed_lines[second / page_bytes] |= lines_of(second % page_bytes / 4, ramp);
    return true;
}

// Whether these are words of memory that the quick ways know, of the kind that `Store` says.
template <bool Store>
inline bool takes_words(const Prepared& p, uint32_t pc, const Checks& c) {
    const uint32_t bytes = p.access_bytes();
    const bool place = p.space == ptx::Space::shared || p.space == ptx::Space::global || p.space == ptx::Space::generic;
    return place && p.address != ptx::no_operand && !c.state.lane_by_lane && (bytes == 4 || bytes == 8 || bytes == 16) &&
           c.state.kinds[pc] == (Store ? AccessKind::write : AccessKind::read);
}

// Called before a load, store or atomic is carried out.
template <bool Store>
[[gnu::noinline]] void check_access(const Machine& m, const Prepared& p, uint32_t pc, uint32_t mask, const Checks& c) {
    if (p.space == ptx::Space::constant || p.space == ptx::Space::param || c.state.off) return;
    if (!Store && c.state.quiet[pc]) return;
    if (Store && p.space != ptx::Space::shared) c.warp.unfenced |= mask;
    if (takes_words<Store>(p, pc, c)) {
        const std::byte* const base = m.source(p.address);
        const auto* const wide = reinterpret_cast<const uint64_t*>(base);
        const auto* const narrow = reinterpret_cast<const uint32_t*>(base);
        if (p.wide_address ? check_words<Store>(m, p, pc, mask, wide, c) : check_words<Store>(m, p, pc, mask, narrow, c))
            return;
        if (!Store && (p.wide_address ? read_others(m, p, pc, mask, wide, c) : read_others(m, p, pc, mask, narrow, c)))
            return;
    }
    note_instruction(m.warp, pc, p, mask);
}
