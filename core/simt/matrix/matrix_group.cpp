// wgmma: 64 rows of A, in registers or in shared memory, times n columns of B in shared memory. Each of the four warps of a
// warpgroup multiplies its own 16 rows, so it does that alone, when its turn comes. Of a sparse A half the elements are
// there: its columns of B are twice as long.
//
// A matrix in shared memory is a descriptor of 64 bits: start address (bits 0 to 13), leading (16 to 29) and stride byte
// offset (32 to 45), all in units of 16 bytes, base offset (49 to 51), swizzle (62 and 63: 0 none, 1 128, 2 64, 3 32 bytes).
// Pieces of 16 bytes lie along k, or, transposed, across it. A group of 8 rows, `span` pieces (1, 8, 4, 2) apart:
//   along k    row r, piece c of k:   r % 8 * span + r / 8 * stride + c % span + c / span * leading
//   across     k, piece i of rows:    k % 8 * span + k / 8 * stride + i % span + i / span * leading
//              (no swizzle:           k % 8 + k / 8 * leading + i * stride)
// Swizzled: bits 4 and up of the address are combined by xor with as many bits from bit 7 up.
#include "core/ptx/opcodes/matrix_group.h"

#include <cstring>

#include "core/ptx/decode/views.h"
#include "core/simt/check/checker.h"
#include "core/simt/check/faults.h"
#include "core/simt/matrix/matrix.h"

namespace lockstep::simt {

namespace {

constexpr uint32_t piece = 16, rows_a_warp = 16, most_columns = 256, stored_row = ptx::group_words * 4;

struct Layout {
    uint64_t start = 0, leading = 0, stride = 0, base = 0;
    uint32_t span = 1;  // pieces between neighbouring rows of a group; also the bits that are combined, + 1

    explicit Layout(uint64_t descriptor) {
        constexpr uint32_t spans[] = {1, 8, 4, 2};
        start = (descriptor & 0x3fff) * piece;
        leading = (descriptor >> 16 & 0x3fff) * piece;
        stride = (descriptor >> 32 & 0x3fff) * piece;
        base = descriptor >> 49 & 7;
        span = spans[descriptor >> 62];
    }
    uint64_t swizzled(uint64_t address) const { return address ^ (((address >> 7) - base) & (span - 1)) << 4; }
    uint64_t along(uint32_t row, uint32_t c) const {
        return swizzled(start + row % 8 * span * piece + row / 8 * stride + c % span * piece + c / span * leading);
    }
    uint64_t across(uint32_t k, uint32_t i) const {
        if (span == 1) return start + k % 8 * piece + k / 8 * leading + i * stride;
        return swizzled(start + k % 8 * span * piece + k / 8 * stride + i % span * piece + i / span * leading);
    }
};

struct Reader {  // of pieces of the block's shared memory; tells the checkers 32 at a time
    Special& s;
    uint64_t addresses[warp_size];
    uint32_t count = 0;

    Fault* read(uint64_t address, std::byte* to) {
        const auto& shared = s.warp.block->shared;
        if (shared.size() < piece || address > shared.size() - piece)
            return access_fault(s.warp, s.pc, 0, ptx::Space::shared, address, piece, false, false);
        std::memcpy(to, shared.data() + address, piece);
        addresses[count++] = address;
        if (count == warp_size) tell();
        return nullptr;
    }
    void tell() {
        if (count)
            note_access(s.warp, s.pc, ptx::Space::shared, addresses, count == warp_size ? full_mask : (1u << count) - 1,
                        piece, AccessKind::read);
        note_group_read(s.warp, s.pc, addresses, count);
        count = 0;
    }
};

// Rows first .. first + rows - 1 of a matrix, `row_bytes` of k each.
Fault* gather(Reader& reader, uint64_t descriptor, uint32_t first, uint32_t rows, uint32_t row_bytes, bool transposed,
              std::byte* out) {
    const Layout layout(descriptor);
    if (!transposed) {
        for (uint32_t r = 0; r < rows; ++r)
            for (uint32_t c = 0; c < row_bytes / piece; ++c)
                if (Fault* fault = reader.read(layout.along(first + r, c), out + r * row_bytes + c * piece)) return fault;
        return nullptr;
    }
    for (uint32_t k = 0; k < row_bytes / 2; ++k)  // elements of 16 bits
        for (uint32_t i = 0; i < rows / 8; ++i) {
            std::byte across[piece];
            if (Fault* fault = reader.read(layout.across(k, first / 8 + i), across)) return fault;
            for (uint32_t r = 0; r < 8; ++r) std::memcpy(out + (8 * i + r) * row_bytes + 2 * k, across + 2 * r, 2);
        }
    return nullptr;
}

}  // namespace

Fault* run_matrix_group(Special& s) {
    if (Fault* fault = whole_warp(s)) return fault;
    const ptx::DecodedInstruction& i = s.instruction();
    const Block& block = *s.warp.block;
    if ((s.warp.index | 3) >= block.warps.size())
        return make_fault(
            s.warp, s.pc, 0, "synccheck",
            "wgmma needs warpgroups of 4 warps: the block's last one has " + std::to_string(block.warps.size() % 4));
    const ptx::GroupView view = ptx::as_group(i);
    const uint32_t a_index = i.list_destinations, b_index = a_index + view.b_at(), n = view.n;
    alignas(64) std::byte a[rows_a_warp * stored_row], b[most_columns * 2 * stored_row];
    Reader reader{s, {}, 0};
    const auto descriptor = [&](uint32_t index) {
        uint64_t value;
        std::memcpy(&value, listed(s, index), 8);
        return value;
    };
    if (view.a_in_registers) {  // register = row block + 2 * k block: blocks of 8 rows of 4 words
        for (uint32_t r = 0; r < 4; ++r)
            for (uint32_t row = 0; row < 8; ++row)
                std::memcpy(a + (r % 2 * 8 + row) * 32 + r / 2 * 16, listed(s, a_index + r) + row * 16, 16);
    } else if (Fault* fault = gather(reader, descriptor(a_index), s.warp.index % 4 * rows_a_warp, rows_a_warp, stored_row,
                                     view.turns_a, a)) {
        return fault;
    }
    if (Fault* fault = gather(reader, descriptor(b_index), 0, n, view.sparse ? 2 * stored_row : stored_row, view.turns_b, b))
        return fault;
    reader.tell();
    ptx::MatrixGroup group{n, view.negates_a != view.negates_b};
    if (view.sparse) {
        const uint32_t metadata = a_index + view.metadata_at(i.list_destinations);
        group.metadata = reinterpret_cast<const uint32_t*>(listed(s, metadata));
        std::memcpy(&group.selector, listed(s, metadata + 1), 4);
    }
    alignas(64) static constexpr std::byte zeros[warp_size * 4]{};
    uint32_t scale;
    std::memcpy(&scale, listed(s, a_index + view.scale_at()), 4);
    const bool keeps = (scale & 1) != view.negates_scale;
    std::byte* d[most_columns / 2];
    const std::byte* from[3 + most_columns / 2] = {a, b, reinterpret_cast<const std::byte*>(&group)};
    for (uint32_t r = 0; r < i.list_destinations; ++r) {
        d[r] = listed(s, r);
        from[3 + r] = keeps ? d[r] : zeros;
    }
    i.many(d, from);
    check_group_registers(s.warp, s.pc);
    return nullptr;
}

// wgmma.fence, commit_group, wait_group: nothing is under way in this machine, only racecheck wants to know.
Fault* run_group_order(Special& s) {
    const ptx::GroupOrderView view = ptx::as_group_order(s.instruction());
    note_group_order(s.warp, view.order, view.pending);
    return nullptr;
}

}  // namespace lockstep::simt
