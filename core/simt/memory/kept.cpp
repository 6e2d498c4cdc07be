#include "core/simt/memory/kept.h"

#include <cstring>

namespace lockstep::simt {

bool Kept::keep(const Grid& grid) {
    if (grid.writes_anywhere) return false;
    for (const uint64_t address : grid.written) {
        const Allocation* const allocation = grid.memory->find(address);
        if (allocation == nullptr || allocation->contents.of_host()) return false;
        contents_.emplace_back(address, allocation->contents);
        bytes_ += allocation->bytes;
    }
    return true;
}

void Kept::put_back(Memory& memory) const {
    for (const auto& [address, contents] : contents_)
        std::memcpy(memory.write(address, contents.size()), contents.data(), contents.size());
}

}  // namespace lockstep::simt
