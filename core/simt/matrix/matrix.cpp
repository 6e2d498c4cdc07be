// Products of matrices in registers, and loads and stores of their fragments.
#include "core/simt/matrix/matrix.h"

#include <algorithm>
#include <cstring>

#include "core/ptx/decode/views.h"
#include "core/simt/check/checker.h"
#include "core/simt/check/faults.h"

namespace lockstep::simt {

using ptx::MatrixOperand;
using ptx::Space;

namespace {

constexpr uint32_t most_operands = 160;  // of a product in registers

std::string name_of(const Special& s) {
    return std::string(s.instruction().opcode->name);
}

}  // namespace

Fault* whole_warp(const Special& s) {
    if (s.mask == full_mask) return nullptr;
    const auto missing = static_cast<uint32_t>(__builtin_ctz(~s.mask));
    return make_fault(s.warp, s.pc, static_cast<uint32_t>(__builtin_ctz(s.mask)), "synccheck",
                      name_of(s) + " needs all 32 lanes of the warp: lane " + std::to_string(missing) +
                          (s.warp.exited >> missing & 1 ? " has exited or never existed"
                           : s.path >> missing & 1      ? " is guarded off"
                                                        : " is on another path"));
}

std::byte* listed(const Special& s, uint32_t index) {
    const ptx::Program& program = *s.warp.block->grid->program;
    return operand(s.warp, program.lists[program.instructions[s.pc].list + index]);
}

Fault* run_matrix(Special& s) {
    if (Fault* fault = whole_warp(s)) return fault;
    const ptx::DecodedInstruction& i = s.instruction();
    std::byte* to[most_operands];
    const std::byte* from[most_operands];
    for (uint32_t k = 0; k < i.list_destinations; ++k) to[k] = listed(s, k);
    for (uint32_t k = 0; k < i.list_sources; ++k) from[k] = listed(s, i.list_destinations + k);
    i.many(to, from);
    return nullptr;
}

namespace {

// --- ldmatrix and stmatrix: lanes 8 t to 8 t + 7 point at the rows of tile t, 16 bytes each -------------------------

Fault* find_tile_rows(Special& s, bool is_store, uint32_t tiles) {
    s.lanes = tiles == 4 ? full_mask : (1u << 8 * tiles) - 1;
    if (Fault* fault = resolve(s.warp, s.pc, s.p, s.lanes, is_store, false, s.access)) return fault;
    if (s.access.space != Space::shared)
        return make_fault(
            s.warp, s.pc, 0, "memcheck",
            name_of(s) + " takes addresses in shared memory, this one is in ." + std::string(ptx::name_of(s.access.space)),
            s.access.addresses[0]);
    s.is_memory = true;
    s.is_store = is_store;
    s.bytes = 16;
    note_access(s.warp, s.pc, Space::shared, s.access.addresses, s.lanes, 16,
                is_store ? AccessKind::write : AccessKind::read);
    return nullptr;
}

using TileBits = uint16_t[8][8];

void transpose(const TileBits& from, TileBits& to) {
    for (uint32_t r = 0; r < 8; ++r)
        for (uint32_t c = 0; c < 8; ++c) to[c][r] = from[r][c];
}

Fault* load_tiles(Special& s, bool turned) {
    const uint32_t tiles = s.instruction().list_destinations;
    if (Fault* fault = find_tile_rows(s, false, tiles)) return fault;
    for (uint32_t t = 0; t < tiles; ++t) {
        TileBits rows, columns;
        for (uint32_t r = 0; r < 8; ++r) std::memcpy(rows[r], s.access.pointers[8 * t + r], 16);
        if (turned) transpose(rows, columns);
        std::memcpy(listed(s, t), turned ? columns : rows, sizeof rows);
    }
    return nullptr;
}

Fault* store_tiles(Special& s, bool turned) {
    const uint32_t tiles = s.instruction().list_sources;
    if (Fault* fault = find_tile_rows(s, true, tiles)) return fault;
    for (uint32_t t = 0; t < tiles; ++t) {
        TileBits rows, columns;
        std::memcpy(rows, listed(s, t), sizeof rows);
        if (turned) transpose(rows, columns);
        for (uint32_t r = 0; r < 8; ++r) std::memcpy(s.access.pointers[8 * t + r], (turned ? columns : rows)[r], 16);
    }
    return nullptr;
}

// --- wmma: a matrix in memory, line after line `stride` elements apart ----------------------------------------------

constexpr uint32_t most_lines = 32, most_matrix_bytes = 2048;

struct Lines {
    uint32_t count = 0, bytes = 0;  // bytes of one
    std::byte* pointer[most_lines];
};

// The fragment of `which` as rows of A, columns of B, rows of C: how many, how long, and of which elements.
struct Fragment {
    uint32_t outer = 0, inner = 0, bits = 0;
    bool turned = false;  // the lines in memory run across them
};

Fragment fragment_of(const ptx::DecodedInstruction& i) {
    const auto [which, by_columns] = ptx::as_fragment(i);
    Fragment f;
    f.outer = which == MatrixOperand::b ? i.shape[1] : i.shape[0];
    f.inner = which == MatrixOperand::c ? i.shape[1] : i.shape[2];
    const bool nibbles = i.type == ptx::Type::s4 || i.type == ptx::Type::u4;
    f.bits = i.type == ptx::Type::b1 ? 1 : nibbles ? 4 : static_cast<uint32_t>(8 * ptx::size_of(i.type));
    f.turned = which == MatrixOperand::b ? !by_columns : by_columns;
    return f;
}

std::byte* find(Special& s, uint64_t address, uint32_t bytes, bool is_store) {
    Block& block = *s.warp.block;
    if (s.access.space == Space::shared) {
        const bool inside = bytes <= block.shared.size() && address <= block.shared.size() - bytes;
        return inside ? block.shared.data() + address : nullptr;
    }
    Grid& grid = *block.grid;
    const MemoryWindow& window = grid.windows[s.pc];
    const auto inside = [&] { return bytes <= window.bytes && address - window.begin <= window.bytes - bytes; };
    if ((window.version != grid.memory->version() || !inside()) && !refill(grid, s.pc, address, is_store)) return nullptr;
    return inside() ? window.data + (address - window.begin) : nullptr;
}

// Checks and finds the lines; the event's lanes are the matrix in 32 equal parts.
Fault* find_lines(Special& s, const Fragment& f, bool is_store, Lines& lines) {
    const ptx::DecodedInstruction& i = s.instruction();
    const uint32_t length = f.turned ? f.outer : f.inner;
    lines.count = f.turned ? f.inner : f.outer;
    lines.bytes = length * f.bits / 8;
    locate(s.warp, s.p, full_mask, s.access);
    const uint64_t base = s.access.addresses[0];
    for (uint32_t lane = 1; lane < warp_size; ++lane)
        if (s.access.addresses[lane] != base)
            return make_fault(
                s.warp, s.pc, lane, "synccheck",
                "all lanes of wmma must give the same address: lane " + std::to_string(lane) + " gives another than lane 0",
                s.access.addresses[lane]);
    if (s.access.space != Space::shared && s.access.space != Space::global)
        return make_fault(
            s.warp, s.pc, 0, "memcheck",
            "wmma takes addresses in global or shared memory, this one is in ." + std::string(ptx::name_of(s.access.space)),
            base);
    const uint64_t elements = i.source[0] == ptx::no_operand ? length : words(s.warp, i.source[0])[0];
    const uint64_t stride = elements * f.bits / 8;
    const uint32_t align = std::min(16u, lines.bytes);
    for (uint32_t k = 0; k < lines.count; ++k) {
        const uint64_t address = base + k * stride;
        lines.pointer[k] = find(s, address, lines.bytes, is_store);
        if (!lines.pointer[k]) return access_fault(s.warp, s.pc, 0, s.access.space, address, lines.bytes, is_store, false);
        if (address % align)
            return make_fault(s.warp, s.pc, 0, "memcheck",
                              "misaligned " + std::string(ptx::name_of(s.access.space)) + (is_store ? " write" : " read") +
                                  " of a matrix: line " + std::to_string(k) + " does not begin at a multiple of " +
                                  std::to_string(align) + " bytes",
                              address);
    }
    s.is_memory = true;
    s.is_store = is_store;
    s.lanes = full_mask;
    s.bytes = lines.count * lines.bytes / warp_size;
    const uint32_t in_line = lines.bytes / s.bytes;
    for (uint32_t lane = 0; lane < warp_size; ++lane)
        s.access.addresses[lane] = base + lane / in_line * stride + lane % in_line * s.bytes;
    note_access(s.warp, s.pc, s.access.space, s.access.addresses, full_mask, s.bytes,
                is_store ? AccessKind::write : AccessKind::read);
    return nullptr;
}

template <class Element>
void gather_across(const Lines& lines, uint32_t outer, std::byte* dense) {
    for (uint32_t k = 0; k < lines.count; ++k)
        for (uint32_t o = 0; o < outer; ++o)
            std::memcpy(dense + (o * lines.count + k) * sizeof(Element), lines.pointer[k] + o * sizeof(Element),
                        sizeof(Element));
}
template <class Element>
void scatter_across(const Lines& lines, uint32_t outer, const std::byte* dense) {
    for (uint32_t k = 0; k < lines.count; ++k)
        for (uint32_t o = 0; o < outer; ++o)
            std::memcpy(lines.pointer[k] + o * sizeof(Element), dense + (o * lines.count + k) * sizeof(Element),
                        sizeof(Element));
}

// Between lines in memory and `dense`, the fragment's rows (of B: columns) one after the other.
void copy_in(const Lines& lines, const Fragment& f, std::byte* dense) {
    if (!f.turned) {
        for (uint32_t k = 0; k < lines.count; ++k) std::memcpy(dense + k * lines.bytes, lines.pointer[k], lines.bytes);
        return;
    }
    f.bits == 8    ? gather_across<uint8_t>(lines, f.outer, dense)
    : f.bits == 16 ? gather_across<uint16_t>(lines, f.outer, dense)
    : f.bits == 32 ? gather_across<uint32_t>(lines, f.outer, dense)
                   : gather_across<uint64_t>(lines, f.outer, dense);
}
void copy_out(const Lines& lines, const Fragment& f, const std::byte* dense) {
    if (!f.turned) {
        for (uint32_t k = 0; k < lines.count; ++k) std::memcpy(lines.pointer[k], dense + k * lines.bytes, lines.bytes);
        return;
    }
    f.bits == 16   ? scatter_across<uint16_t>(lines, f.outer, dense)
    : f.bits == 32 ? scatter_across<uint32_t>(lines, f.outer, dense)
                   : scatter_across<uint64_t>(lines, f.outer, dense);
}

// Where C's element of row and column is: a register of the list, and a place in it in elements. See
// core/ptx/opcodes/products.h.
struct Place {
    uint32_t reg, element;
};
Place place_in_sums(const Fragment& f, uint32_t row, uint32_t column) {
    const uint32_t block = row / 8 + f.outer / 8 * (column / 8), lane = row % 8 * 4 + column % 8 / 2;
    if (f.bits == 16) return {block, 2 * lane + column % 2};
    return {2 * block + column % 2, lane};
}

Fault* load_fragment(Special& s) {
    const ptx::DecodedInstruction& i = s.instruction();
    const Fragment f = fragment_of(i);
    Lines lines;
    if (Fault* fault = find_lines(s, f, false, lines)) return fault;
    alignas(64) std::byte dense[most_matrix_bytes];
    copy_in(lines, f, dense);
    const MatrixOperand which = ptx::as_fragment(i).operand;
    const size_t size = f.bits / 8;
    if (which == MatrixOperand::c) {
        for (uint32_t row = 0; row < f.outer; ++row)
            for (uint32_t column = 0; column < f.inner; ++column) {
                const Place at = place_in_sums(f, row, column);
                std::memcpy(listed(s, at.reg) + at.element * size, dense + (row * f.inner + column) * size, size);
            }
        return nullptr;
    }
    // Blocks of 8 x 4 words; where more registers are named than hold the matrix, the others hold it again.
    const size_t block_line = f.bits == 64 ? 32 : 16, line = f.inner * f.bits / 8;
    const auto outer_blocks = f.outer / 8, inner_blocks = static_cast<uint32_t>(line / block_line);
    const uint32_t registers = outer_blocks * inner_blocks;
    for (uint32_t r = 0; r < i.list_destinations; ++r) {
        const uint32_t block = r % registers;
        const uint32_t o = which == MatrixOperand::a ? block % outer_blocks : block / inner_blocks;
        const uint32_t k = which == MatrixOperand::a ? block / outer_blocks : block % inner_blocks;
        std::byte* const d = listed(s, r);
        for (uint32_t row = 0; row < 8; ++row)
            std::memcpy(d + row * block_line, dense + (8 * o + row) * line + k * block_line, block_line);
    }
    return nullptr;
}

Fault* store_fragment(Special& s) {
    const Fragment f = fragment_of(s.instruction());
    Lines lines;
    if (Fault* fault = find_lines(s, f, true, lines)) return fault;
    alignas(64) std::byte dense[most_matrix_bytes];
    const size_t size = f.bits / 8;
    for (uint32_t row = 0; row < f.outer; ++row)
        for (uint32_t column = 0; column < f.inner; ++column) {
            const Place at = place_in_sums(f, row, column);
            std::memcpy(dense + (row * f.inner + column) * size, listed(s, at.reg) + at.element * size, size);
        }
    copy_out(lines, f, dense);
    return nullptr;
}

bool is_tiles(const Special& s) {
    return ptx::as_fragment(s.instruction()).operand == MatrixOperand::tiles;
}

}  // namespace

Fault* run_matrix_load(Special& s) {
    if (Fault* fault = whole_warp(s)) return fault;
    return is_tiles(s) ? load_tiles(s, ptx::as_fragment(s.instruction()).turned) : load_fragment(s);
}

Fault* run_matrix_store(Special& s) {
    if (Fault* fault = whole_warp(s)) return fault;
    return is_tiles(s) ? store_tiles(s, ptx::as_fragment(s.instruction()).turned) : store_fragment(s);
}

}  // namespace lockstep::simt
