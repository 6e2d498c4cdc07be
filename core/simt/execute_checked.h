// The quick ways of racecheck and initcheck, part of execute_body.h: a load or store of 32-bit words by a whole warp, whose
// lanes hold one address for all of half a warp or one after the other, where all cells that it meets are in order. Then
// 16 cells take a few vector instructions. Everything else goes to note_instruction, lane by lane, and the cells remember
// the same either way.
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
    std::memcpy(&to, from, sizeof to);
}
inline bool none(const CellLanes& lanes) {
    Vector512 all;
    std::memcpy(&all, &lanes, sizeof all);
    return all_zero(all);
}

// The cells of half an access: 16 one after the other, or one.
struct CellPart {
    ShadowPage* page;
    uint64_t at;  // in the region
    uint32_t cell;
    bool ramp;
    uint32_t lanes;  // of the first cell, as in `how`
    // The same, to be compared: a thread is in order with itself, where it is alone. No `how` holds several_lanes.
    uint32_t alone() const { return (lanes >> 5) == (lanes & 31) ? lanes : several_lanes; }
    static constexpr uint32_t several_lanes = 1u << 15;
};

inline void lanes_of(uint32_t lanes, CellLanes& mine) {
    static constexpr uint32_t one_after_the_other[half] = {0,       1 * 33,  2 * 33,  3 * 33, 4 * 33,  5 * 33,
                                                           6 * 33,  7 * 33,  264,     9 * 33, 10 * 33, 11 * 33,
                                                           12 * 33, 13 * 33, 14 * 33, 15 * 33};
    static_assert(next_lane == 33);
    cells(one_after_the_other, mine);
    mine += lanes;
}

// Whether one of 16 cells remembers an access of this kind that may not be in order with the lanes `mine` (as in `how`).
// Global: other blocks come here too, so that a block's own barriers do not order everything.
template <bool Global>
inline bool out_of_order(const Checks& c, const uint32_t* times, uint32_t stride, const CellLanes& mine) {
    CellLanes time, warp, how;
    cells(times, time);
    CellLanes late;
    if constexpr (Global) {
        cells(times + stride, warp);
        const auto count = static_cast<uint32_t>(c.block.warps.size());
        late = reinterpret_cast<CellLanes>((time != 0) & ~((warp - c.block.first_warp < count) & (time < c.warp.base)));
    } else {
        late = reinterpret_cast<CellLanes>(time >= c.warp.base);
    }
    if (none(late)) return false;
    cells(times + stride, warp);
    cells(times + 2 * stride, how);
    const auto fine = (warp == c.warp.number) & (((how & lanes_bits) == mine) | (time < c.warp.warp_base));
    return !none(late & ~reinterpret_cast<CellLanes>(fine));
}

template <bool Global>
inline bool out_of_order(const Checks& c, const Recorded& r, uint32_t mine) {
    const bool early = Global ? r.time == 0 || (r.warp - c.block.first_warp < c.block.warps.size() && r.time < c.warp.base)
                              : r.time < c.warp.base;
    if (early) return false;
    return !(r.warp == c.warp.number && ((r.how & lanes_bits) == mine || r.time < c.warp.warp_base));
}

// Whether all is in order, and of shared memory written.
template <bool Store, bool Global>
inline bool look_at(const Checks& c, const CellPart& part, uint32_t birth) {
    ShadowPage& page = *part.page;
    if (Global && page.in_groups()) {
        const CellGroup& g = page.group(part.cell);
        return !out_of_order<true>(c, g.write, part.alone()) &&
               (!Store || (!out_of_order<true>(c, g.read, part.alone()) && !out_of_order<true>(c, g.earlier, part.alone())));
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
        if (!none(reinterpret_cast<CellLanes>((written < birth) & (by_atomic < birth)))) return false;
    }
    if (!c.state.race) return true;
    CellLanes mine;
    lanes_of(part.alone(), mine);
    if (out_of_order<Global>(c, write, stride, mine)) return false;
    if (page.has_strong() && out_of_order<Global>(c, strong, stride, mine)) return false;
    if (!Store) return true;
    return !out_of_order<Global>(c, page.times(Remembered::read) + part.cell, stride, mine) &&
           !out_of_order<Global>(c, page.times(Remembered::earlier) + part.cell, stride, mine);
}

inline void remember_write(const Checks& c, const CellPart& part, uint32_t pc) {
    const uint32_t how = how_of(pc, 0, 0) | part.lanes;
    if (part.page->in_groups()) {
        part.page->group(part.cell).write = {c.state.now, c.warp.number, how};
        return;
    }
    const uint32_t stride = part.page->stride();
    uint32_t* const write = part.page->times(Remembered::write) + part.cell;
    CellLanes lanes;
    lanes_of(part.lanes, lanes);
    lanes |= how_of(pc, 0, 0);
    const CellLanes now = CellLanes{} + c.state.now, number = CellLanes{} + c.warp.number;
    std::memcpy(write, &now, sizeof now);
    std::memcpy(write + stride, &number, sizeof number);
    std::memcpy(write + 2 * stride, &lanes, sizeof lanes);
}

// Of global memory: another's read becomes the earlier one.
inline void remember_read(const Checks& c, const CellPart& part, uint32_t pc) {
    ShadowPage& page = *part.page;
    const Recorded mine{c.state.now, c.warp.number, how_of(pc, 0, 0) | part.lanes};
    if (page.in_groups()) {
        CellGroup& g = page.group(part.cell);
        if (g.read.warp != mine.warp || (g.read.how & lanes_bits) != part.lanes) g.earlier = g.read;
        g.read = mine;
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
    lanes_of(part.lanes, lanes);
    cells(read, time);
    cells(read + stride, warp);
    cells(read + 2 * stride, how);
    const auto other = reinterpret_cast<CellLanes>((warp != mine.warp) | ((how & lanes_bits) != lanes));
    if (!none(other)) {
        const CellLanes column[3] = {time, warp, how};
        for (uint32_t k = 0; k < 3; ++k) {
            CellLanes old;
            cells(earlier + k * stride, old);
            old = (column[k] & other) | (old & ~other);
            std::memcpy(earlier + k * stride, &old, sizeof old);
        }
    }
    const CellLanes now = CellLanes{} + mine.time, number = CellLanes{} + mine.warp;
    lanes |= how_of(pc, 0, 0);
    std::memcpy(read, &now, sizeof now);
    std::memcpy(read + stride, &number, sizeof number);
    std::memcpy(read + 2 * stride, &lanes, sizeof lanes);
}

// The 64-byte lines of a page that a ramp, or one cell, touches.
inline uint64_t lines_of(uint32_t cell, bool ramp) {
    const uint64_t first = uint64_t{1} << cell / half;
    return ramp ? first | uint64_t{1} << (cell + half - 1) / half : first;
}

// Appends to the list, which has room.
inline void list_read(const Checks& c, uint32_t pc, uint32_t ramp, uint64_t at, uint64_t other) {
    BlockChecks& block = c.block;
    ListedRead& r = block.listed[block.listed_count++];
    r.time = c.state.now;
    r.warp = c.warp.number;
    r.pc = pc;
    r.ramp = ramp;
    r.cell[0] = static_cast<uint32_t>(at / 4);
    r.cell[1] = static_cast<uint32_t>(other / 4);
    block.listed_lines[at / page_bytes] |= lines_of(at % page_bytes / 4, ramp & 1);
    block.listed_lines[other / page_bytes] |= lines_of(other % page_bytes / 4, ramp >> 1);
}

[[gnu::noinline]] inline void make_room(BlockChecks& block) {
    if (!block.listed) block.listed = std::make_unique<ListedRead[]>(most_listed);
    if (block.listed_count == most_listed) write_listed(block);
}

// `at`: offsets in the region of the first lanes of the two halves.
template <bool Store, bool Global>
inline bool check_halves(const Checks& c, Region& region, const Shape& shape, const uint64_t (&at)[2], uint32_t pc) {
    const bool same = at[0] == at[1] && shape.step[0] == shape.step[1];
    if (Store && same) return false;
    CellPart parts[2];
    const uint32_t count = same ? 1 : 2;
    for (uint32_t h = 0; h < count; ++h) {
        CellPart& part = parts[h];
        part.at = at[h];
        part.ramp = shape.step[h] == 4;
        if (!part.ramp && (shape.step[h] != 0 || Store)) return false;
        const uint64_t bytes = part.ramp ? half * 4 : 4;
        if (region.bytes < bytes || at[h] > region.bytes - bytes || at[h] % 4) return false;
        const uint64_t in_page = at[h] % page_bytes;
        if (in_page + bytes > page_bytes) return false;
        part.cell = static_cast<uint32_t>(in_page / 4);
        const bool whole = part.ramp && part.cell % half == 0;
        part.page = region.pages[at[h] / page_bytes].get();
        if (Global && !part.page && whole) part.page = grouped_page(c.state, region, at[h]);
        if (!part.page || part.page->shift() != 2 || (Global && !whole && part.page->in_groups())) return false;
        const uint32_t first = h * half;
        part.lanes = first << 5 | (part.ramp ? (same ? first + half : first) : (same ? warp_size - 1 : first + half - 1));
        if (!Global && Store && (c.block.listed_lines[at[h] / page_bytes] & lines_of(part.cell, true)))
            write_listed(c.block);
    }
    // Halves that share some cells and not all: lane by lane.
    if (!same && at[0] < at[1] + (parts[1].ramp ? 64 : 4) && at[1] < at[0] + (parts[0].ramp ? 64 : 4)) return false;
    for (uint32_t h = 0; h < count; ++h)
        if (!look_at<Store, Global>(c, parts[h], region.birth)) return false;
    if (!Store && !Global) {
        if (!c.state.race) return true;
        if (!c.block.listed || c.block.listed_count == most_listed) make_room(c.block);
        const uint32_t second = same ? 0 : 1;
        list_read(c, pc, parts[0].ramp * 1u + parts[second].ramp * 2u, at[0], at[second]);
        return true;
    }
    for (uint32_t h = 0; h < count; ++h) {
        if constexpr (Store)
            remember_write(c, parts[h], pc);
        else
            remember_read(c, parts[h], pc);
    }
    return true;
}

// What initcheck knows of global memory, where it keeps account: a load finds all written, a store writes.
template <bool Store>
inline bool account(const Checks& c, const Region& region, const Shape& shape, const uint64_t (&at)[2]) {
    for (uint32_t h = 0; h < 2; ++h) {
        if (shape.step[h] != 0 && shape.step[h] != 4) return false;
        const uint64_t bytes = shape.step[h] == 4 ? half * 4 : 4;
        if (at[h] % 4 || region.bytes < bytes || at[h] > region.bytes - bytes) return false;
        if (Store)
            region.unwritten->set(at[h], bytes, false);
        else if (c.state.init && region.unwritten->first(at[h], bytes) != at[h] + bytes)
            return false;
    }
    return true;
}

template <bool Store, class Register>
inline bool check_words(const Machine& m, const Prepared& p, uint32_t pc, const Register* base, const Checks& c) {
    const Shape& shape = shape_of(m, p, base);
    if (shape.step[0] == Shape::irregular || shape.step[1] == Shape::irregular) return false;
    const auto offset = static_cast<Register>(p.offset);
    uint64_t at[2] = {static_cast<Register>(static_cast<Register>(shape.first[0]) + offset),
                      static_cast<Register>(static_cast<Register>(shape.first[1]) + offset)};
    if (p.space == ptx::Space::shared) {
        if (!c.block.alone) return false;
        return check_halves<Store, false>(c, c.block.shared, shape, at, pc);
    }
    Region* region = c.state.last_global[pc];
    if (!region || at[0] - region->begin >= region->bytes) region = global_region(c.state, m.grid, pc, at[0]);
    if (!region) return false;
    at[0] -= region->begin;
    at[1] -= region->begin;
    // A store writes off what it writes only when nothing has to look at it again.
    if (!Store && region->unwritten && !account<false>(c, *region, shape, at)) return false;
    if (c.state.race && !check_halves<Store, true>(c, *region, shape, at, pc)) return false;
    return !Store || !region->unwritten || account<true>(c, *region, shape, at);
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
        CellLanes a, b;
        cells(writes[0], a);
        cells(writes[1], b);
        const auto late = reinterpret_cast<CellLanes>((a - birth >= base - birth) | (b - birth >= base - birth));
        if (!none(late)) return false;
    } else if (*writes[0] - birth >= base - birth || *writes[1] - birth >= base - birth) {
        return false;
    }
    list_read(c, pc, ramp ? 3 : 0, first, second);
    return true;
}

// Called before a load, store or atomic is carried out.
template <bool Store>
[[gnu::noinline]] void check_access(const Machine& m, const Prepared& p, uint32_t pc, uint32_t mask, const Checks& c) {
    const bool word = p.code == Code::load_shared || p.code == Code::load_global || p.code == Code::store_shared ||
                      p.code == Code::store_global;
    if (p.space == ptx::Space::constant || p.space == ptx::Space::param || c.state.off) return;
    if (mask == full_mask && word && p.element_bytes == 4 && !c.state.lane_by_lane &&
        c.state.kinds[pc] == (Store ? AccessKind::write : AccessKind::read) && p.address != ptx::no_operand) {
        const std::byte* const base = m.source(p.address);
        if (p.wide_address ? check_words<Store>(m, p, pc, reinterpret_cast<const uint64_t*>(base), c)
                           : check_words<Store>(m, p, pc, reinterpret_cast<const uint32_t*>(base), c))
            return;
    }
    note_instruction(m.warp, pc, p, mask);
}
