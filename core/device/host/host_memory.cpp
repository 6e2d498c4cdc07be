// Best fit over the pieces' free ranges; neighbours that are free become one.
#include "core/device/host/host_memory.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <new>

#include "core/system/system.h"

namespace lockstep::device {

namespace {
constexpr size_t large_page = size_t{2} << 20;
// A checker of addresses sees the ends of a buffer only where each is a piece of its own.
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t least_piece = 1, piece_unit = HostMemory::alignment;
#else
constexpr size_t least_piece = size_t{16} << 20, piece_unit = large_page;
#endif

size_t round_up(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}
}  // namespace

void HostMemory::Release::operator()(std::byte* memory) const {
    ::operator delete[](memory, std::align_val_t{piece_unit});
}

std::byte* HostMemory::allocate(size_t bytes) {
    if (bytes > SIZE_MAX / 2) return nullptr;
    const size_t size = round_up(std::max<size_t>(bytes, 1), alignment);
    Piece* best = nullptr;
    size_t begin = 0, least = SIZE_MAX;
    for (auto& [address, piece] : pieces_)
        for (const auto& [from, length] : piece.free)
            if (length >= size && length < least) best = &piece, begin = from, least = length;
    if (!best) {
        const size_t whole = round_up(std::max(size, least_piece), piece_unit);
        auto* memory = static_cast<std::byte*>(::operator new[](whole, std::align_val_t{piece_unit}, std::nothrow));
        if (!memory) return nullptr;
        if (piece_unit == large_page) system::advise_large_pages(memory, whole);
        Piece& piece = pieces_[memory];
        piece.memory.reset(memory);
        piece.bytes = whole;
        piece.free.emplace(0, whole);
        best = &piece, begin = 0, least = whole;
    }
    best->free.erase(begin);
    if (least > size) best->free.emplace(begin + size, least - size);
    best->used.emplace(begin, size);
    return best->memory.get() + begin;
}

void HostMemory::release(std::byte* memory) {
    const auto found = std::prev(pieces_.upper_bound(memory));
    Piece& piece = found->second;
    const auto buffer = piece.used.find(static_cast<size_t>(memory - found->first));
    auto [begin, size] = *buffer;
    piece.used.erase(buffer);
    if (piece.used.empty()) {
        pieces_.erase(found);
        return;
    }
    auto after = piece.free.lower_bound(begin);
    if (after != piece.free.end() && after->first == begin + size) {
        size += after->second;
        after = piece.free.erase(after);
    }
    if (after != piece.free.begin()) {
        const auto before = std::prev(after);
        if (before->first + before->second == begin) {
            before->second += size;
            return;
        }
    }
    piece.free.emplace(begin, size);
}

}  // namespace lockstep::device
