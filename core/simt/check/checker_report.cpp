// Reports of racecheck and initcheck as sentences: each place once, at most 100 in all.
#include <algorithm>

#include "core/simt/check/checker_state.h"
#include "core/simt/check/faults.h"

namespace lockstep::simt {

using ptx::Space;

namespace {

constexpr size_t most_reports = 100;
constexpr size_t most_places = 10'000;  // remembered, so as not to be counted twice
constexpr size_t most_hints = 20;

const char* verb(AccessKind kind) {
    switch (kind) {
        case AccessKind::read:
            return "read";
        case AccessKind::strong_read:
            return "volatile read";
        case AccessKind::write:
            return "write";
        case AccessKind::strong_write:
            return "volatile write";
        case AccessKind::atomic:
            return "atomic";
    }
    return "access";
}
bool writes(AccessKind kind) {
    return kind != AccessKind::read && kind != AccessKind::strong_read;
}

struct Side {  // one of a race's accesses
    AccessKind kind;
    uint32_t pc = 0;
    Dim3 block, thread;
    std::string file;
    int32_t line = 0, ptx_line = 0;
    std::string at() const { return file + ":" + std::to_string(line > 0 ? line : ptx_line); }
};

Dim3 coordinates(uint32_t linear, const Dim3& extent) {
    return {linear % extent.x, linear / extent.x % extent.y, linear / extent.x / extent.y};
}

// Whether a report about `place` has room and is the first of its kind.
bool is_new(CheckerState& state, std::string place) {
    if (state.seen.size() >= most_places || !state.seen.insert(std::move(place)).second) return false;
    if (state.owner->reports.size() < most_reports) return true;
    ++state.beyond;
    return false;
}

void name_place(const Warp& warp, const Place& place, Fault& fault) {
    fault.allocation.clear();
    fault.offset = place.address;
    if (place.space == Space::shared) {
        uint64_t offset = place.address;
        fault.allocation = shared_variable_at(*warp.block, offset);
        if (!fault.allocation.empty()) fault.offset = offset;
    } else if (place.space == Space::global) {
        const Allocation* const a = warp.block->grid->memory->find(place.address);
        if (!a) return;
        fault.allocation = readable_variable(a->name);
        fault.offset = place.address - a->address;
    }
}

std::string where(const Place& place, const Fault& fault) {
    return std::string(ptx::name_of(place.space)) + " memory " +
           (fault.allocation.empty() ? "at offset " : "'" + fault.allocation + "' +") + std::to_string(fault.offset);
}

}  // namespace

void report_race(CheckerState& state, const Warp& warp, uint32_t pc, uint32_t lane, AccessKind kind, const Place& place,
                 const Recorded& other, AccessKind other_kind) {
    const SaidRace now{place.address, pc, other.pc(), place.space, kind, other_kind};
    SaidRace& said = state.said[(place.address / 4 + pc * 31ull + other.pc() * 7ull) % std::size(state.said)];
    if (said == now) return;
    said = now;
    const Doubt doubt = doubt_of(state, kind, pc, other_kind, other.pc());
    if (doubt == Doubt::settled) return;
    const Grid& grid = *warp.block->grid;
    const ptx::Program& program = *grid.program;
    const uint64_t my_warp = uint64_t{warp.block->linear} * state.warps_per_block + warp.index;
    uint32_t other_lane = other.first_lane();
    if (other.warp == static_cast<uint32_t>(my_warp) && other_lane == lane) other_lane = other.last_lane();

    const auto side = [&](AccessKind what, uint32_t at, uint32_t block, uint32_t warp_in_block, uint32_t of_lane) {
        Side s{what,
               at,
               coordinates(block, grid.config->grid),
               coordinates(warp_in_block * warp_size + of_lane, grid.config->block),
               {},
               0,
               0};
        locate_fault(program, at, s.file, s.line, s.ptx_line);
        return s;
    };
    Side first =
        side(other_kind, other.pc(), other.warp / state.warps_per_block, other.warp % state.warps_per_block, other_lane);
    Side second = side(kind, pc, warp.block->linear, warp.index, lane);
    // The write before the read; of two writes as the lines go: the same words whatever ran first.
    const bool above = std::pair(second.line, second.ptx_line) < std::pair(first.line, first.ptx_line);
    const bool swap = writes(first.kind) != writes(second.kind) ? writes(second.kind) : above;
    if (swap) std::swap(first, second);

    Fault fault;
    name_place(warp, place, fault);
    const bool one_block = first.block == second.block;
    const auto by = [&](const Side& s, bool in_block) {
        return std::string(" by thread ") + triple(s.thread) + (in_block ? " of block " + triple(s.block) : "") + " at " +
               s.at();
    };
    if (doubt == Doubt::hint) {
        if (state.hints.size() < most_hints && state.seen.insert("hint " + first.at() + " " + second.at()).second)
            state.hints.push_back("read of " + bytes_text(place.bytes) + " of " + where(place, fault) + by(second, true) +
                                  " is not ordered with the atomic" + by(first, !one_block) +
                                  ": it may find an old value, which is right where the atomic behind it decides");
        return;
    }
    if (first.kind == AccessKind::write && second.kind == AccessKind::read &&
        comes_to_the_same(state, warp, lane, second.pc, first.pc, writes(kind), place)) {
        if (state.hints.size() < most_hints && state.seen.insert("benign " + first.at() + " " + second.at()).second)
            state.hints.push_back("read of " + bytes_text(place.bytes) + " of " + where(place, fault) + by(second, true) +
                                  " and the write" + by(first, !one_block) +
                                  " are not ordered, and it comes to the same whichever is first: all threads that write "
                                  "there write the same value over the same old one, and both answer the read alike or "
                                  "lead to the same write; by the letter of C++ it is a race all the same, and relaxed "
                                  "atomics make it none");
        return;
    }
    if (!is_new(state, "race " + first.at() + " " + second.at() + " " + fault.allocation)) return;
    fault.kind = "racecheck";
    fault.kernel = program.shown_name();
    fault.file = first.file;
    fault.line = first.line;
    fault.ptx_line = first.ptx_line;
    fault.pc = first.pc;
    fault.block = first.block;
    fault.thread = first.thread;
    fault.address = place.address;
    fault.other_file = second.file;
    fault.other_line = second.line;
    fault.other_ptx_line = second.ptx_line;
    fault.other_pc = second.pc;
    fault.other_block = second.block;
    fault.other_thread = second.thread;
    const bool one_warp = other.warp == static_cast<uint32_t>(my_warp);
    fault.message = std::string("race: ") + verb(first.kind) + " of " + bytes_text(place.bytes) + " to " +
                    where(place, fault) + by(first, true) + ", and " + verb(second.kind) + by(second, !one_block) +
                    explain_race(program,
                                 {first.pc, second.pc, first.kind, second.kind, first.at(), second.at(), one_warp, one_block,
                                  place.space == Space::global},
                                 fault.advice);
    state.owner->reports.push_back(std::move(fault));
}

namespace {

void name_product(const Grid& grid, const CheckerState& state, uint32_t pc, uint32_t block, uint32_t warp, Fault& fault) {
    (void)state;
    locate_fault(*grid.program, pc, fault.other_file, fault.other_line, fault.other_ptx_line);
    fault.other_pc = pc;
    fault.other_block = coordinates(block, grid.config->grid);
    fault.other_thread = coordinates(warp * warp_size, grid.config->block);
}

std::string other_place(const Fault& fault) {
    return fault.other_file + ":" + std::to_string(fault.other_line > 0 ? fault.other_line : fault.other_ptx_line);
}

}  // namespace

void report_under_way(CheckerState& state, const Warp& warp, uint32_t pc, uint32_t lane, const GroupReads& product,
                      const Place& place, uint32_t block_of_product) {
    Fault fault = *make_fault(warp, pc, lane, "racecheck", {}, place.address);
    name_place(warp, place, fault);
    name_product(*warp.block->grid, state, product.pc, block_of_product, product.warp, fault);
    const std::string at = fault.file + ":" + std::to_string(fault.line > 0 ? fault.line : fault.ptx_line);
    if (!is_new(state, "product " + at + " " + other_place(fault) + " " + fault.allocation)) return;
    fault.message = "race: write of " + bytes_text(place.bytes) + " to " + where(place, fault) + " by thread " +
                    triple(fault.thread) + " at " + at + ", while the wgmma at " + other_place(fault) +
                    " may still read it: no wgmma.wait_group between them";
    state.owner->reports.push_back(std::move(fault));
}

void report_touched(CheckerState& state, const Warp& warp, uint32_t pc, const std::string& name, uint32_t product) {
    Fault fault = *make_fault(warp, pc, 0, "racecheck", {});
    name_product(*warp.block->grid, state, product, warp.block->linear, warp.index, fault);
    const std::string at = fault.file + ":" + std::to_string(fault.line > 0 ? fault.line : fault.ptx_line);
    if (!is_new(state, "touched " + at)) return;
    fault.message = "race: " + name + " of a wgmma is used at " + at +
                    " before a wgmma.wait_group says that the product has ended, as the one at " + other_place(fault) +
                    " has not";
    state.owner->reports.push_back(std::move(fault));
}

void report_unwritten(CheckerState& state, const Warp& warp, uint32_t pc, uint32_t lane, const Place& place) {
    Fault fault = *make_fault(warp, pc, lane, "initcheck", {}, place.address);
    name_place(warp, place, fault);
    if (!is_new(state, "init " + fault.file + ":" + std::to_string(fault.line > 0 ? fault.line : fault.ptx_line) + " " +
                           fault.allocation))
        return;
    fault.message = "uninitialised read of " + bytes_text(place.bytes) + " of " + where(place, fault) + ", which " +
                    (place.space == Space::shared  ? "no thread of the block has written"
                     : place.space == Space::local ? "the thread has not written"
                                                   : "nobody has written");
    const bool adds = pc < state.kinds.size() && state.kinds[pc] == AccessKind::atomic;
    fault.advice =
        place.space == Space::shared && adds ? "Shared memory begins with what the block before left there: let the block's "
                                               "threads set it first, for sums to "
                                               "0, and put a __syncthreads() in front of the atomics."
        : place.space == Space::shared
            ? "Let every element be written before the barrier in front of this read, also those beyond the data: the halo "
              "of a tile, and the rest of the last block, which usually take 0."
        : place.space == Space::local ? "Give the variable a value where it is declared."
                                      : "Let the kernel write it before it reads it, or set it before the launch: inout: or "
                                        "in: here, cudaMemset or cudaMemcpy in a program.";
    state.owner->reports.push_back(std::move(fault));
}

}  // namespace lockstep::simt
