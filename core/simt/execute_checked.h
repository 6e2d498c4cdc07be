// The quick way of racecheck and initcheck, part of execute_body.h: a load or store of 32-bit words by a whole warp, whose
// lanes hold one address for all of half a warp or one after the other, where all cells that it meets are in order. Then
// 16 cells take a few vector instructions. Everything else goes to note_instruction, lane by lane.
// No include guard: compiled once for each instruction set.
using CellLanes = VectorOf<uint32_t>;
static_assert(sizeof(CellLanes) == half * sizeof(uint32_t));

struct Checks {
    CheckerState& state;
    BlockChecks& block;
    WarpChecks& warp;
};

inline void cells(const uint32_t* from, CellLanes& to) {
    std::memcpy(&to, from, sizeof to);
}
inline bool none(const CellLanes& lanes) {
    return all_zero(reinterpret_cast<const Vector512&>(lanes));
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

// 16 consecutive cells, one for each lane of a half (or of both, where they hold the same addresses); false: look closer.
template <bool Store, bool Global>
inline bool check_ramp(const Checks& c, ShadowPage& page, uint32_t cell, uint32_t pc, uint32_t first, uint32_t last,
                       uint32_t birth) {
    static constexpr uint32_t one_after_the_other[half] = {0,       1 * 33,  2 * 33,  3 * 33, 4 * 33,  5 * 33,
                                                           6 * 33,  7 * 33,  264,     9 * 33, 10 * 33, 11 * 33,
                                                           12 * 33, 13 * 33, 14 * 33, 15 * 33};
    const uint32_t stride = page.stride();
    CellLanes mine;
    cells(one_after_the_other, mine);
    mine += first << 5 | last;
    const CellLanes how = mine | how_of(pc, 0, 0);
    uint32_t* const write = page.times(Remembered::write) + cell;
    uint32_t* const strong = page.times(Remembered::strong) + cell;
    uint32_t* const read = page.times(Remembered::read) + cell;
    uint32_t* const earlier = page.times(Remembered::earlier) + cell;
    if (c.state.race && (out_of_order<Global>(c, write, stride, mine) ||
                         (page.has_strong() && out_of_order<Global>(c, strong, stride, mine))))
        return false;
    const CellLanes now = CellLanes{} + c.state.now, number = CellLanes{} + c.warp.number;
    if constexpr (Store) {
        if (c.state.race && (out_of_order<Global>(c, read, stride, mine) || out_of_order<Global>(c, earlier, stride, mine)))
            return false;
        std::memcpy(write, &now, sizeof now);
        std::memcpy(write + stride, &number, sizeof number);
        std::memcpy(write + 2 * stride, &how, sizeof how);
        return true;
    }
    if (!Global && c.state.init) {
        CellLanes written, by_atomic;
        cells(write, written);
        cells(strong, by_atomic);
        if (!none(reinterpret_cast<CellLanes>((written < birth) & (by_atomic < birth)))) return false;
    }
    // Somebody else's read that is still of interest stays where it is; else the last one moves there.
    CellLanes others_time, others_warp;
    cells(earlier, others_time);
    cells(earlier + stride, others_warp);
    const CellLanes gone = reinterpret_cast<CellLanes>((others_time < c.warp.base) | (others_warp == number));
    if (Global || !none(gone)) {
        CellLanes time, warp, lanes;
        cells(read, time);
        cells(read + stride, warp);
        cells(read + 2 * stride, lanes);
        CellLanes kept = reinterpret_cast<CellLanes>((warp != number) | ((lanes & lanes_bits) != mine));
        if constexpr (!Global) kept &= gone & reinterpret_cast<CellLanes>(time >= c.warp.base);
        if (!none(kept)) {
            CellLanes old = (time & kept) | (others_time & ~kept);
            std::memcpy(earlier, &old, sizeof old);
            old = (warp & kept) | (others_warp & ~kept);
            std::memcpy(earlier + stride, &old, sizeof old);
            cells(earlier + 2 * stride, old);
            old = (lanes & kept) | (old & ~kept);
            std::memcpy(earlier + 2 * stride, &old, sizeof old);
        }
    }
    std::memcpy(read, &now, sizeof now);
    std::memcpy(read + stride, &number, sizeof number);
    std::memcpy(read + 2 * stride, &how, sizeof how);
    return true;
}

// One cell that all lanes from `first` to `last` read.
template <bool Global>
inline bool check_one(const Checks& c, ShadowPage& page, uint32_t cell, uint32_t pc, uint32_t first, uint32_t last,
                      uint32_t birth) {
    const uint32_t mine = first << 5 | last;
    const Recorded write = page.get(Remembered::write, cell);
    const Recorded strong = page.has_strong() ? page.get(Remembered::strong, cell) : Recorded{};
    if (c.state.race && (out_of_order<Global>(c, write, mine) || out_of_order<Global>(c, strong, mine))) return false;
    if (!Global && c.state.init && write.time < birth && strong.time < birth) return false;
    const Recorded read = page.get(Remembered::read, cell);
    if (!Global && read.time < c.warp.base) {
        // nothing to keep
    } else if (read.warp != c.warp.number || (read.how & lanes_bits) != mine)
        page.put(Remembered::earlier, cell, read);
    page.put(Remembered::read, cell, {c.state.now, c.warp.number, how_of(pc, first, last)});
    return true;
}

// `at`: offsets in the region of the first lanes of the two halves.
template <bool Store, bool Global>
inline bool check_halves(const Checks& c, Region& region, const Shape& shape, const uint64_t (&at)[2], uint32_t pc) {
    const bool same = at[0] == at[1] && shape.step[0] == shape.step[1];
    if (Store && same) return false;
    for (uint32_t h = 0; h < (same ? 1 : 2); ++h) {
        const bool ramp = shape.step[h] == 4;
        if (!ramp && (shape.step[h] != 0 || Store)) return false;
        const uint64_t bytes = ramp ? half * 4 : 4;
        if (region.bytes < bytes || at[h] > region.bytes - bytes || at[h] % 4) return false;
        const uint64_t in_page = at[h] % page_bytes;
        if (in_page + bytes > page_bytes) return false;
        ShadowPage* const page = region.pages[at[h] / page_bytes].get();
        if (!page || page->shift() != 2) return false;
        const auto cell = static_cast<uint32_t>(in_page / 4);
        const uint32_t first = h * half;
        const bool fine =
            ramp ? check_ramp<Store, Global>(c, *page, cell, pc, first, same ? first + half : first, region.birth)
                 : check_one<Global>(c, *page, cell, pc, first, same ? warp_size - 1 : first + half - 1, region.birth);
        if (!fine) return false;
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
    Region* const region = c.state.last_global[pc];
    if (!region || at[0] - region->begin >= region->bytes || region->unwritten) return false;
    if (!c.state.race) return true;
    at[0] -= region->begin;
    at[1] -= region->begin;
    return check_halves<Store, true>(c, *region, shape, at, pc);
}

// Called before a load, store or atomic is carried out.
template <bool Store>
[[gnu::noinline]] void check_access(const Machine& m, const Prepared& p, uint32_t pc, uint32_t mask, const Checks& c) {
    const bool word = p.code == Code::load_shared || p.code == Code::load_global || p.code == Code::store_shared ||
                      p.code == Code::store_global;
    if (p.space == ptx::Space::constant || p.space == ptx::Space::param || c.state.off) return;
    if (mask == full_mask && word && p.element_bytes == 4 &&
        c.state.kinds[pc] == (Store ? AccessKind::write : AccessKind::read) && p.address != ptx::no_operand) {
        const std::byte* const base = m.source(p.address);
        if (p.wide_address ? check_words<Store>(m, p, pc, reinterpret_cast<const uint64_t*>(base), c)
                           : check_words<Store>(m, p, pc, reinterpret_cast<const uint32_t*>(base), c))
            return;
    }
    note_instruction(m.warp, pc, p, mask);
}
