// Accesses, lane by lane and cell by cell: is everything that the cell remembers ordered before this one? The executor has
// a quicker way for whole warps whose cells are all in order (execute_checked.h); all that is not comes here.
#include <algorithm>
#include <cstring>

#include "core/ptx/decode/views.h"
#include "core/simt/check/checker_state.h"
#include "core/simt/memory/access.h"

namespace lockstep::simt {

using ptx::Space;

namespace {

constexpr uint64_t most_page_bytes = uint64_t{1} << 30;  // of host memory; what lies beyond is not looked at

bool is_read(AccessKind kind) {
    return kind == AccessKind::read || kind == AccessKind::strong_read;
}
bool is_strong(AccessKind kind) {
    return kind != AccessKind::read && kind != AccessKind::write;
}

// What a store writes, before it does: to tell whether two lanes write the same.
struct Stored {
    const Warp& warp;
    const int32_t* sources;
    uint32_t element_bytes, register_bytes;
    std::byte at(uint32_t lane, uint32_t byte) const {
        const int32_t source = sources[byte / element_bytes];
        if (source == ptx::no_operand) return {};
        return operand(warp, source)[size_t{lane} * register_bytes + byte % element_bytes];
    }
};

struct CellTouch {    // one warp instruction's access, as the cells remember it
    uint32_t number;  // of the warp, through the grid
    uint32_t pc;
    AccessKind kind;
    uint32_t time;
    const uint64_t* addresses;  // of all lanes
    uint32_t lanes;
    uint32_t last_beside(uint32_t lane) const {  // the last lane with this lane's address
        uint32_t last = lane;
        for (uint32_t rest = lanes & ~((2u << lane) - 1); rest; rest &= rest - 1)
            if (addresses[__builtin_ctz(rest)] == addresses[lane]) last = static_cast<uint32_t>(__builtin_ctz(rest));
        return last;
    }
};

struct Visit : CellTouch {  // the same, of one region
    CheckerState& state;
    const Warp& warp;
    BlockChecks& block;  // of the warp
    WarpChecks& me;
    uint32_t bytes;  // a lane
    Space space;
    const Stored* stored;       // null: unknown
    const std::byte* contents;  // of the region now; null: unknown
};

// A page of one cell a byte that remembers what `from` does.
std::unique_ptr<ShadowPage> widened(ShadowPage& from) {
    auto page = std::make_unique<ShadowPage>(0);
    for (uint32_t which = 0; which < remembered_count; ++which)
        for (uint32_t byte = 0; byte < page_bytes; ++byte)
            page->put(static_cast<Remembered>(which), byte, from.get(static_cast<Remembered>(which), byte >> 2));
    return page;
}

// A page of one cell a word that remembers what the groups, or the reads, of `from` do.
std::unique_ptr<ShadowPage> opened(const CheckerState& state, ShadowPage& from) {
    auto page = std::make_unique<ShadowPage>(2);
    for (uint32_t cell = 0; cell < page_bytes / 4; ++cell) {
        if (from.of_reads()) {
            const CellReads& reads = from.reads()[cell];
            if (reads.read) page->put(Remembered::read, cell, read_of(state, reads.read));
            if (reads.earlier) page->put(Remembered::earlier, cell, read_of(state, reads.earlier));
            continue;
        }
        const CellGroup& group = from.group(cell);
        const auto put = [&](Remembered which, GroupRecorded r) {
            r.how += (cell % group_cells >> r.shift) * next_lane;
            if (r.time) page->put(which, cell, r);
        };
        put(Remembered::write, group.write);
        put(Remembered::read, group.read);
        put(Remembered::earlier, group.earlier);
    }
    return page;
}

}  // namespace

ShadowPage* page_for(CheckerState& state, Region& region, uint64_t offset, bool bytewise) {
    auto& page = region.pages[offset / page_bytes];
    const bool cells = page && page->in_cells();
    if (cells && (page->shift() == 0 || !bytewise)) return page.get();
    const uint32_t shift = bytewise || region.by_bytes ? 0 : 2;
    if (state.page_bytes_used > most_page_bytes) {
        state.pages_left_out = true;
        return cells ? page.get() : nullptr;
    }
    state.page_bytes_used -= page ? page->bytes() : 0;
    if (page && !cells) page = opened(state, *page);
    if (!page) page = std::make_unique<ShadowPage>(shift);
    if (page->shift() == 2 && bytewise) page = widened(*page);
    region.by_bytes = region.by_bytes || bytewise;
    state.page_bytes_used += page->bytes();
    return page.get();
}

namespace {

bool writes_the_same(const Visit& v, uint32_t lane, uint32_t byte_of_lane, uint64_t offset, uint32_t cell_bytes,
                     const Recorded& other) {
    if (!v.stored) return false;
    const bool now = other.time == v.time && other.warp == v.me.number;  // by another lane of this instruction
    for (uint32_t k = 0; k < cell_bytes; ++k) {
        const std::byte mine = v.stored->at(lane, byte_of_lane + k);
        if (now ? mine != v.stored->at(other.first_lane(), byte_of_lane + k) : !v.contents || mine != v.contents[offset + k])
            return false;
    }
    return true;
}

void look(const Visit& v, const Region& region, ShadowPage& page, uint32_t cell, uint32_t lane, uint64_t offset,
          uint32_t byte_of_lane) {
    const uint32_t cell_bytes = 1u << page.shift();
    const auto in_order = [&](const Recorded& r) { return happened_before(v.state, v.block, v.me, lane, r, region.birth); };
    const auto report = [&](const Recorded& r, AccessKind other) {
        const uint64_t address = (v.space == Space::shared ? 0 : region.begin) + offset - byte_of_lane;
        report_race(v.state, v.warp, v.pc, lane, v.kind, {v.space, address, v.bytes}, r, other);
    };
    const auto kind_of = [&](const Recorded& r, AccessKind otherwise) {
        return r.pc() < v.state.kinds.size() && is_strong(v.state.kinds[r.pc()]) ? v.state.kinds[r.pc()] : otherwise;
    };
    const auto this_instruction = [&](const Recorded& r) { return r.time == v.time && r.warp == v.me.number; };

    // Most cells were never written since the region began: their columns are not looked at.
    const bool written = page.times(Remembered::write)[cell] >= region.birth;
    const Recorded write = written ? page.get(Remembered::write, cell) : Recorded{};
    if (this_instruction(write)) {
        if (v.stored && !writes_the_same(v, lane, byte_of_lane, offset, cell_bytes, write)) report(write, AccessKind::write);
        return;
    }
    if (written && !in_order(write) &&
        !(v.kind == AccessKind::write && writes_the_same(v, lane, byte_of_lane, offset, cell_bytes, write)))
        report(write, AccessKind::write);
    if (written && v.space == Space::global && v.kind != AccessKind::atomic) {
        const uint32_t told_at = told_without_fence(v.state, v.block, v.me, lane, write, region.birth);
        if (told_at != ptx::no_pc) {
            const uint64_t address = region.begin + offset - byte_of_lane;
            warn_of_missing_fence(v.state, v.warp, v.pc, lane, v.kind, {v.space, address, v.bytes}, write, told_at);
        }
    }
    if (!is_strong(v.kind) && page.has_strong()) {
        const Recorded strong = page.get(Remembered::strong, cell);
        if (!in_order(strong)) report(strong, kind_of(strong, AccessKind::atomic));
    }
    if (is_read(v.kind)) return;
    for (const Remembered which : {Remembered::read, Remembered::earlier}) {
        const Recorded read = page.get(which, cell);
        const AccessKind kind = kind_of(read, AccessKind::read);
        if ((is_strong(v.kind) && is_strong(kind)) || in_order(read)) continue;
        report(read, kind);
        if (doubt_of(v.state, v.kind, v.pc, kind, read.pc()) == Doubt::race) break;
    }
}

// Of a cell of the block's own shared memory: what its barrier has ordered is of no interest, and a read by another warp
// stays, so that both a warp's own lanes and another warp are remembered.
bool stays_earlier(const Recorded& earlier, const Recorded& old, uint32_t warp, uint32_t base) {
    return old.time < base || (earlier.time >= base && earlier.warp != warp);
}

// `base`: of the block's own shared memory, the warp's; 0 elsewhere.
void remember(const CellTouch& t, ShadowPage& page, uint32_t cell, uint32_t lane, uint32_t base) {
    const Remembered which = is_read(t.kind)               ? Remembered::read
                             : t.kind == AccessKind::write ? Remembered::write
                                                           : Remembered::strong;
    const Recorded old = page.times(which)[cell] != 0 ? page.get(which, cell) : Recorded{};
    uint32_t first = lane, last = lane;
    if (old.time == 0) {
        // the first: there is no earlier one
    } else if (old.time == t.time && old.warp == t.number) {
        first = std::min(lane, old.first_lane());
        last = std::max(lane, old.last_lane());
    } else if (which == Remembered::read &&
               (old.warp != t.number || old.first_lane() != lane || old.last_lane() != t.last_beside(lane))) {
        if (!base || !stays_earlier(page.get(Remembered::earlier, cell), old, t.number, base))
            page.put(Remembered::earlier, cell, old);
    }
    page.put(which, cell, {t.time, t.number, how_of(t.pc, first, last)});
}

WideLoad wide_at(const CheckerState& state, uint32_t pc, AccessKind kind) {
    return kind == AccessKind::atomic || pc >= state.wide.size() ? WideLoad{} : state.wide[pc];
}

// The bytes [offset, offset + v.bytes) of a region by one lane.
void visit(const Visit& v, Region& region, uint32_t lane, uint64_t offset, bool check_unwritten) {
    const bool bytewise = v.bytes < 4 || offset % 4;
    uint32_t missing = 0;  // bytes that nobody has written, a bit each
    const uint32_t base = &region == &v.block.shared && v.block.alone ? v.me.base : 0;
    for (uint64_t at = offset; at < offset + v.bytes;) {
        ShadowPage* const page = page_for(v.state, region, at, bytewise);
        const uint32_t step = page ? 1u << page->shift() : 4;
        if (page) {
            const auto cell = static_cast<uint32_t>(at % page_bytes >> page->shift());
            if (check_unwritten && page->get(Remembered::write, cell).time < region.birth &&
                page->get(Remembered::strong, cell).time < region.birth)
                for (uint32_t k = 0; k < step && at - offset + k < v.bytes; ++k) missing |= 1u << ((at - offset + k) & 31);
            if (v.state.race) look(v, region, *page, cell, lane, at, static_cast<uint32_t>(at - offset));
            remember(v, *page, cell, lane, base);
        }
        at += step;
    }
    if (missing != 0 && uses_missing(wide_at(v.state, v.pc, v.kind), v.bytes, missing))
        report_unwritten(v.state, v.warp, v.pc, lane, {v.space, offset, v.bytes});
}

Region* shared_region(CheckerState& state, const Block& block, BlockChecks& own, uint64_t& address, const Block*& owner) {
    owner = &block;
    if (address >= ptx::window_bytes) {
        const uint64_t rank = address / ptx::window_bytes - 1;
        address %= ptx::window_bytes;
        if (block.cluster.empty() ? rank != 0 : rank >= block.cluster.size()) return nullptr;
        if (!block.cluster.empty()) owner = block.cluster[rank];
    }
    if (owner == &block) return &own.shared;
    BlockChecks* const keep = state.last_block;
    Region* const region = &checks_of(state, *owner).shared;
    state.last_block = keep;
    return region;
}

// A volatile access to the block's own shared memory, before it counts as ordered behind what it reads: what other threads
// did there by volatile accesses has to be ordered by something else.
void look_at_volatile(const Visit& v, uint32_t lanes, const uint64_t* addresses) {
    Region& region = v.block.shared;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        if (region.bytes < v.bytes || addresses[lane] > region.bytes - v.bytes) continue;
        ShadowPage* const page = region.pages[addresses[lane] / page_bytes].get();
        if (!page || !page->in_cells()) continue;
        const auto cell = static_cast<uint32_t>(addresses[lane] % page_bytes >> page->shift());
        const auto compare = [&](Remembered which, AccessKind other) {
            const Recorded r = page->get(which, cell);
            const bool also = r.pc() < v.state.volatiles.size() && v.state.volatiles[r.pc()];
            if (also && r.time >= region.birth && !happened_before(v.state, v.block, v.me, lane, r, region.birth))
                warn_of_volatile(v.state, v.warp, v.pc, lane, v.kind, {v.space, addresses[lane], v.bytes}, r, other);
        };
        compare(Remembered::strong, AccessKind::strong_write);
        if (v.kind == AccessKind::strong_read) continue;
        compare(Remembered::read, AccessKind::strong_read);
        compare(Remembered::earlier, AccessKind::strong_read);
    }
}

void check_local(CheckerState& state, BlockChecks& block, const Warp& warp, uint32_t pc, const uint64_t* addresses,
                 uint32_t lanes, uint32_t bytes, AccessKind kind) {
    if (!state.init) return;
    if (block.local_bytes < warp.block->local_bytes) {  // calls need more than before: nothing there is known
        const bool fresh = block.local_bytes == 0;
        block.local_bytes = warp.block->local_bytes;
        block.local_written = ByteSet(uint64_t{block.local_bytes} * block.warps.size() * warp_size, !fresh);
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        if (addresses[lane] > block.local_bytes || bytes > block.local_bytes - addresses[lane]) continue;
        const uint64_t at = (uint64_t{warp.index} * warp_size + lane) * block.local_bytes + addresses[lane];
        if (!is_read(kind)) block.local_written.set(at, bytes, true);
        if (is_read(kind) && !(pc < state.copied.size() && state.copied[pc]) &&
            block.local_written.first(at, bytes, false) != at + bytes)
            report_unwritten(state, warp, pc, lane, {Space::local, addresses[lane], bytes});
    }
}

void note(const Warp& warp, uint32_t pc, Space space, const uint64_t* addresses, uint32_t lanes, uint32_t bytes,
          AccessKind kind, const Stored* stored) {
    const Block& block = *warp.block;
    if (!block.grid->checker || !bytes || !lanes) return;
    CheckerState& state = *block.grid->checker->state;
    if (state.off) return;
    BlockChecks& checks = checks_of(state, block);
    if (space == Space::local) return check_local(state, checks, warp, pc, addresses, lanes, bytes, kind);
    if (space == Space::param || space == Space::constant || space == Space::none) return;
    if (space == Space::shared) write_listed(checks);
    WarpChecks& me = checks.warps[warp.index];
    Visit v{{me.number, pc, kind, 0, addresses, lanes}, state, warp, checks, me, bytes, space, stored, nullptr};
    const bool acquires = kind == AccessKind::strong_read ||
                          (kind == AccessKind::atomic && (pc >= state.acquires.size() || state.acquires[pc]));
    const bool releases = kind == AccessKind::atomic || kind == AccessKind::strong_write;
    if (space == Space::shared && state.race && pc < state.volatiles.size() && state.volatiles[pc])
        look_at_volatile(v, lanes, addresses);
    const auto token = [&](uint32_t lane) {
        return space == Space::shared ? token_of(block, addresses[lane]) : addresses[lane];
    };
    if (acquires && state.race)
        for (uint32_t rest = lanes; rest; rest &= rest - 1)
            acquire_lane(state, v.me, static_cast<uint32_t>(__builtin_ctz(rest)), token(__builtin_ctz(rest)));
    v.time = advance(state);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        uint64_t address = addresses[lane];
        if (space == Space::shared) {
            const Block* owner = nullptr;
            Region* const region = shared_region(state, block, checks, address, owner);
            if (!region || address > region->bytes || bytes > region->bytes - address) continue;
            v.contents = owner->shared.data();
            if (!is_read(kind) && state.race) {
                BlockChecks* const keep = state.last_block;
                BlockChecks& reached = owner == &block ? checks : checks_of(state, *owner);
                state.last_block = keep;
                if (!reached.groups.empty()) check_group_reads(state, reached, warp, pc, lane, address, bytes);
            }
            visit(v, *region, lane, address, state.init && (is_read(kind) || kind == AccessKind::atomic));
            continue;
        }
        Region* const region = global_region(state, *block.grid, pc, address);
        if (!region || bytes > region->bytes - (address - region->begin)) continue;
        const uint64_t offset = address - region->begin;
        if (region->unwritten) {
            const bool reads = is_read(kind) || kind == AccessKind::atomic;
            if (state.init && reads && region->unwritten->first(offset, bytes) != offset + bytes) {
                uint32_t missing = 0;
                for (uint32_t k = 0; k < bytes && k < 32; ++k)
                    if (region->unwritten->first(offset + k, 1) == offset + k) missing |= 1u << k;
                if (uses_missing(wide_at(state, pc, kind), bytes, missing))
                    report_unwritten(state, warp, pc, lane, {space, address, bytes});
            }
            if (!is_read(kind)) region->unwritten->set(offset, bytes, false);
        }
        v.contents = stored ? block.grid->memory->read(region->begin, region->bytes) : nullptr;
        if (state.race) visit(v, *region, lane, offset, false);
    }
    if (!releases || !state.race) return;
    advance(state);
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        release_lane(state, checks, v.me, static_cast<uint32_t>(__builtin_ctz(rest)), token(__builtin_ctz(rest)),
                     kind == AccessKind::atomic,
                     space == Space::shared || (pc < state.releases.size() && state.releases[pc]) ? ptx::no_pc : pc);
}

}  // namespace

Region* global_region(CheckerState& state, const Grid& grid, uint32_t pc, uint64_t address) {
    Region* const last = pc < state.last_global.size() ? state.last_global[pc] : nullptr;
    if (last && address - last->begin < last->bytes) return last;
    const Allocation* const a = grid.memory->find(address);
    if (!a) return nullptr;
    Region& region = state.global[a->address];
    if (!region.bytes) {
        region.begin = a->address;
        region.bytes = a->bytes;
        region.unwritten = grid.memory->unwritten(a->address);
        region.pages.resize((a->bytes + page_bytes - 1) / page_bytes);
    }
    if (pc < state.last_global.size()) state.last_global[pc] = &region;
    return &region;
}

ShadowPage* short_page(CheckerState& state, Region& region, uint64_t offset, ShadowPage::Short kind) {
    if (region.by_bytes || state.page_bytes_used > most_page_bytes) return nullptr;
    auto& page = region.pages[offset / page_bytes];
    page = std::make_unique<ShadowPage>(kind);
    state.page_bytes_used += page->bytes();
    return page.get();
}

void forget_listed(BlockChecks& block) {
    if (!block.listed_count && !block.listed_lanes_count) return;
    block.listed_count = block.listed_lanes_count = 0;
    std::fill(block.listed_lines.begin(), block.listed_lines.end(), 0);
}

namespace {

void write_listed_read(BlockChecks& block, const ListedRead& r) {
    const uint32_t base = block.warps[r.warp - block.first_warp].base;
    const bool same = r.lanes == full_mask && r.cell[0] == r.cell[1];
    for (uint32_t h = 0; h < (same ? 1 : 2); ++h) {
        const uint32_t busy = r.lanes >> h * 16 & 0xffffu;
        if (!busy) continue;
        const bool ramp = r.ramp >> h & 1;
        for (uint32_t k = 0; k < (ramp ? group_cells : 1); ++k) {
            uint32_t first = r.first + (k >> r.shift), last = first;  // of the half
            if (!ramp) {
                first = static_cast<uint32_t>(__builtin_ctz(busy));
                last = 31 - static_cast<uint32_t>(__builtin_clz(busy));
            } else if (!(busy >> first & 1)) {
                continue;
            }
            const uint32_t how = how_of(r.pc, h * 16 + first, (same ? 16 : h * 16) + last);
            ShadowPage& page = *block.shared.pages[(r.cell[h] + k) / (page_bytes / 4)];
            const uint32_t cell = (r.cell[h] + k) % (page_bytes / 4);
            const Recorded old = page.get(Remembered::read, cell);
            const bool differs = old.warp != r.warp || ((old.how ^ how) & lanes_bits);
            if (differs && !stays_earlier(page.get(Remembered::earlier, cell), old, r.warp, base))
                page.put(Remembered::earlier, cell, old);
            page.put(Remembered::read, cell, {r.time, r.warp, how});
        }
    }
}

void write_listed_lanes(BlockChecks& block, const ListedLanes& r) {
    const uint32_t base = block.warps[r.warp - block.first_warp].base;
    const CellTouch touch{r.warp, r.pc, AccessKind::read, r.time, r.addresses, r.lanes};
    for (uint32_t rest = r.lanes; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        for (uint32_t k = 0; k < r.words; ++k) {
            const uint64_t cell = r.addresses[lane] / 4 + k;
            remember(touch, *block.shared.pages[cell / (page_bytes / 4)], cell % (page_bytes / 4), lane, base);
        }
    }
}

}  // namespace

void write_listed(BlockChecks& block) {
    if (!block.listed_count && !block.listed_lanes_count) return;
    uint32_t n = 0;
    for (uint32_t k = 0; k < block.listed_lanes_count; ++k) {  // both in order of time; of equal times these come first
        const ListedLanes& lanes = block.listed_lanes[k];
        for (; n < block.listed_count && block.listed[n].time < lanes.time; ++n) write_listed_read(block, block.listed[n]);
        write_listed_lanes(block, lanes);
    }
    for (; n < block.listed_count; ++n) write_listed_read(block, block.listed[n]);
    forget_listed(block);
}

bool list_lanes(CheckerState& state, BlockChecks& block, const WarpChecks& warp, uint32_t pc, const uint64_t* addresses,
                uint32_t lanes, uint32_t words) {
    const uint64_t bytes = uint64_t{words} * 4;
    const uint32_t birth = state.init ? block.shared.birth : 0;
    const uint64_t size = block.shared.bytes;
    if (size < bytes) return false;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        const uint64_t at = addresses[lane];
        if (at > size - bytes || at % bytes) return false;
        ShadowPage* const page = block.shared.pages[at / page_bytes].get();  // as aligned as they are, they lie in one
        if (!page || page->shift() != 2) return false;
        const auto fine = [&](const Recorded& r) {
            return r.time < warp.base ||
                   (r.warp == warp.number && (r.time < warp.warp_base || (r.first_lane() == lane && r.last_lane() == lane)));
        };
        for (uint32_t k = 0; k < words; ++k) {
            const auto cell = static_cast<uint32_t>(at % page_bytes / 4 + k);
            const Recorded write = page->get(Remembered::write, cell);
            const Recorded strong = page->has_strong() ? page->get(Remembered::strong, cell) : Recorded{};
            if (!fine(write) || !fine(strong) || (write.time < birth && strong.time < birth)) return false;
        }
    }
    if (!block.listed_lanes) block.listed_lanes = std::make_unique<ListedLanes[]>(most_listed_lanes);
    if (block.listed_lanes_count == most_listed_lanes) write_listed(block);
    ListedLanes& r = block.listed_lanes[block.listed_lanes_count++];
    r.time = advance(state);
    r.warp = warp.number;
    r.pc = pc;
    r.lanes = lanes;
    r.words = words;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const uint64_t at = r.addresses[__builtin_ctz(rest)] = addresses[__builtin_ctz(rest)];
        block.listed_lines[at / page_bytes] |= uint64_t{1} << at % page_bytes / 64;
    }
    return true;
}

void note_access(const Warp& warp, uint32_t pc, Space space, const uint64_t* addresses, uint32_t lanes, uint32_t bytes,
                 AccessKind kind) {
    note(warp, pc, space, addresses, lanes, bytes, kind, nullptr);
}

void note_local_written(const Warp& warp, uint32_t lanes, uint64_t offset, uint32_t bytes) {
    if (!warp.block->grid->checker) return;
    uint64_t addresses[warp_size];
    std::fill(addresses, addresses + warp_size, offset);
    note(warp, 0, Space::local, addresses, lanes, bytes, AccessKind::write, nullptr);
}

void note_instruction(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask) {
    const Grid& grid = *warp.block->grid;
    CheckerState& state = *grid.checker->state;
    checks_of(state, *warp.block);  // makes state.kinds
    const auto& instruction = grid.program->instructions[pc];
    const AccessKind kind = state.kinds[pc];
    const uint32_t bytes = p.access_bytes();
    Stored stored{warp, ptx::elements_taken(grid.program->lists, instruction), p.element_bytes, p.register_bytes};
    uint64_t addresses[warp_size];
    // Lanes of one instruction may go to different spaces by generic addresses.
    uint32_t of_space[3] = {};
    constexpr Space spaces[3] = {Space::global, Space::shared, Space::local};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        Space space = p.space;
        addresses[lane] = lane_access(warp, p, lane, space);
        if (addresses[lane] % bytes) continue;  // a fault, which the access itself reports
        for (uint32_t s = 0; s < 3; ++s) of_space[s] |= spaces[s] == space ? 1u << lane : 0;
    }
    for (uint32_t s = 0; s < 3; ++s)
        if (of_space[s])
            note(warp, pc, spaces[s], addresses, of_space[s], bytes, kind, kind == AccessKind::write ? &stored : nullptr);
}

}  // namespace lockstep::simt
