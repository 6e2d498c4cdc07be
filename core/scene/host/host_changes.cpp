#include "core/scene/host/host_changes.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace lockstep::scene {

void Changes::add(const simt::Memory& before, const simt::Memory& after, uint64_t address, uint64_t bytes, uint64_t most) {
    const std::byte *was = before.read(address, bytes), *is = after.read(address, bytes);
    if (was == is) return;  // shared: nobody has written to it
    for (uint64_t at = 0; at < bytes && this->bytes() <= most; at += piece) {
        const uint64_t some = std::min(piece, bytes - at);
        if (std::memcmp(was + at, is + at, some) == 0) continue;
        Piece& one = pieces_.emplace_back();
        one.address = address + at;
        for (uint64_t i = 0; i < some; ++i) {
            one.bytes[i] = is[at + i];
            if (was[at + i] != is[at + i]) one.changed |= uint64_t{1} << i;
        }
    }
}

void Changes::write_to(simt::Memory& memory) const {
    for (const Piece& one : pieces_) {
        const auto some = static_cast<uint64_t>(std::bit_width(one.changed));
        std::byte* const place = memory.write(one.address, some);
        for (uint64_t i = 0; i < some; ++i)
            if (one.changed >> i & 1) place[i] = one.bytes[i];
    }
}

std::vector<std::pair<uint64_t, uint64_t>> changed_stretches(const simt::Memory& before, const simt::Memory& after,
                                                             uint64_t address, uint64_t bytes) {
    constexpr uint64_t piece = 64, most = 16;
    std::vector<std::pair<uint64_t, uint64_t>> stretches;
    const std::byte *was = before.read(address, bytes), *is = after.read(address, bytes);
    if (was == is) return stretches;
    for (uint64_t at = 0; at < bytes; at += piece) {
        const uint64_t end = std::min(bytes, at + piece);
        if (std::memcmp(was + at, is + at, end - at) == 0) continue;
        if (!stretches.empty() && (stretches.back().second == at || stretches.size() >= most)) {
            stretches.back().second = end;
            continue;
        }
        stretches.emplace_back(at, end);
    }
    // Of the first and the last piece of each only what differs.
    for (auto& [begin, end] : stretches) {
        while (was[begin] == is[begin]) ++begin;
        while (was[end - 1] == is[end - 1]) --end;
    }
    return stretches;
}

}  // namespace lockstep::scene
