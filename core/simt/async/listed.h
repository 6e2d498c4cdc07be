// The operands of asynchronous instructions, which lie in Program::lists (decoder_async.cpp), and the memory that their
// addresses name, checked lane by lane. Internal to core/simt.
#pragma once
#include <cstring>

#include "core/ptx/decode/views_async.h"
#include "core/simt/async/cluster.h"
#include "core/simt/execute/special.h"

namespace lockstep::simt {

class Listed {
  public:
    explicit Listed(const Special& s)
        : warp_(s.warp), entries_(ptx::listed_sources(s.warp.block->grid->program->lists, s.instruction())) {}
    bool has(uint32_t i) const { return i < entries_.size(); }
    uint32_t word(uint32_t i, uint32_t lane) const { return words(warp_, entries_[i])[lane]; }
    uint16_t half(uint32_t i, uint32_t lane) const {
        return reinterpret_cast<const uint16_t*>(operand(warp_, entries_[i]))[lane];
    }
    uint64_t wide(uint32_t i, uint32_t lane) const {
        uint64_t value;
        std::memcpy(&value, operand(warp_, entries_[i]) + lane * 8, 8);
        return value;
    }
    uint32_t predicate(uint32_t i) const { return *words(warp_, entries_[i]); }

    // An address: entries i and i + 1.
    ptx::Space space(uint32_t i) const { return rest(i).space; }
    // The same of all lanes: what does not depend on the lane is looked up once.
    struct Addresses {
        const std::byte* base = nullptr;
        uint64_t offset = 0;
        bool wide = true;
        uint64_t operator[](uint32_t lane) const {
            if (!wide) return reinterpret_cast<const uint32_t*>(base)[lane] + static_cast<uint32_t>(offset);
            return reinterpret_cast<const uint64_t*>(base)[lane] + offset;
        }
    };
    Addresses addresses(uint32_t i) const {
        const ptx::ListedAddress a = rest(i);
        const auto& variables = warp_.block->grid->variables;
        const bool named = a.variable >= 0 && static_cast<size_t>(a.variable) < variables.size();
        const uint64_t variable = named ? variables[static_cast<size_t>(a.variable)] : 0;
        return {operand(warp_, a.base), a.offset + variable, a.base_bytes != 4};
    }
    uint64_t address(uint32_t i, uint32_t lane) const { return addresses(i)[lane]; }

  private:
    ptx::ListedAddress rest(uint32_t i) const { return ptx::address_from(entries_[i], words(warp_, entries_[i + 1])); }

    const Warp& warp_;
    std::span<const int32_t> entries_;
};

// How an instruction touches memory, for the words of a fault.
struct Touch {
    uint32_t bytes = 0;
    uint32_t align = 1;
    bool is_store = false, is_atomic = false;
};

// Host memory of `address` in shared memory, of this block or of another one of the cluster (an address of .shared or of
// .shared::cluster; a generic one when `space` is generic). Sets `place`; on failure returns the lane's fault.
Fault* shared_at(const Special& s, uint32_t lane, ptx::Space space, uint64_t address, const Touch& touch, SharedPlace& place,
                 std::byte*& pointer);

// The same in global memory.
Fault* global_at(const Special& s, uint32_t lane, uint64_t address, const Touch& touch, std::byte*& pointer);

// Host memory behind `address` in global memory for a write that was checked before; null when it has been released since.
inline std::byte* global_again(Grid& grid, uint64_t address, uint64_t bytes) {
    return grid.memory->write(address, bytes);
}

}  // namespace lockstep::simt
