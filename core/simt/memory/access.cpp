// Addresses -> host pointers -> values, lane by lane. A generic address is looked up in the windows of ptx/program.h.
#include "core/simt/memory/access.h"

#include <algorithm>
#include <cstring>

#include "core/ptx/decode/views.h"
#include "core/simt/async/cluster.h"
#include "core/simt/check/faults.h"
#include "core/simt/execute/pointer_homes.h"
#include "core/simt/origins/provenance.h"

namespace lockstep::simt {

using ptx::Space;

namespace {

Space space_of(uint64_t generic) {
    if (generic - ptx::shared_window < ptx::cluster_window_bytes) return Space::shared;
    if (generic - ptx::local_window < ptx::window_bytes) return Space::local;
    if (generic - ptx::param_window < ptx::window_bytes) return Space::param;
    return Space::global;
}

uint64_t lane_address(const Warp& warp, const Prepared& p, uint32_t lane) {
    if (p.address == ptx::no_operand) return static_cast<uint64_t>(p.offset);
    const std::byte* base = operand(warp, p.address);
    if (p.wide_address) {
        uint64_t address;
        std::memcpy(&address, base + lane * 8, 8);
        return address + static_cast<uint64_t>(p.offset);
    }
    uint32_t address;
    std::memcpy(&address, base + lane * 4, 4);
    return static_cast<uint32_t>(address + static_cast<uint32_t>(p.offset));
}

// Where a thread's local byte lies for the memory system: the same 32-bit word of a warp's lanes side by side, 128 bytes a
// word, and its words one after the other (CUDA Programming Guide, "Local Memory").
uint64_t interleaved(const Block& block, uint32_t warp, uint32_t lane, uint64_t offset) {
    constexpr uint64_t row = 4 * warp_size;
    const uint64_t of_warp = (uint64_t{block.grid->program->local_bytes} + 3) / 4 * row;
    const uint64_t warps = (block.grid->config->block.count() + warp_size - 1) / warp_size;
    return ptx::local_window + (block.linear * warps + warp) * of_warp + offset / 4 * row + lane * 4 + offset % 4;
}

bool inside(uint64_t offset, uint64_t bytes, uint64_t size) {
    return bytes <= size && offset <= size - bytes;
}

}  // namespace

bool locate(const Warp& warp, const Prepared& p, uint32_t mask, Access& access) {
    bool alike = true;
    access.space = p.space;
    if (p.space != Space::generic && p.space != Space::local && p.address == ptx::no_operand) {  // one for all
        std::fill(access.addresses, access.addresses + warp_size, static_cast<uint64_t>(p.offset));
        return true;
    }
    if (p.space != Space::generic && p.space != Space::local && p.address != ptx::no_operand) {  // addresses as they are
        const std::byte* const base = operand(warp, p.address);
        const auto offset = static_cast<uint64_t>(p.offset);
        if (p.wide_address) {
            const auto* const r = reinterpret_cast<const uint64_t*>(base);
            for (uint32_t lane = 0; lane < warp_size; ++lane) access.addresses[lane] = r[lane] + offset;
        } else {
            const auto* const r = reinterpret_cast<const uint32_t*>(base);
            for (uint32_t lane = 0; lane < warp_size; ++lane)
                access.addresses[lane] = static_cast<uint32_t>(r[lane] + static_cast<uint32_t>(offset));
        }
        return true;
    }
    if (p.space == Space::generic) {
        access.space = mask ? space_of(lane_address(warp, p, static_cast<uint32_t>(__builtin_ctz(mask)))) : Space::global;
    }
    for (uint32_t lane = 0; lane < warp_size; ++lane) {
        uint64_t address = lane_address(warp, p, lane);
        Space space = p.space;
        if (p.space == Space::generic) {
            space = space_of(address);
            if (space == Space::shared) address -= ptx::shared_window;
            if (space == Space::local) address -= ptx::local_window;
            if (space == Space::param) address -= ptx::param_window;
        }
        if ((mask >> lane & 1) && space != access.space) alike = false;
        access.addresses[lane] = space == Space::local ? interleaved(*warp.block, warp.index, lane, address) : address;
    }
    return alike;
}

uint64_t lane_access(const Warp& warp, const Prepared& p, uint32_t lane, Space& space) {
    const uint64_t address = lane_address(warp, p, lane);
    space = p.space == Space::generic ? space_of(address) : p.space;
    if (p.space != Space::generic) return address;
    return address - (space == Space::shared  ? ptx::shared_window
                      : space == Space::local ? ptx::local_window
                      : space == Space::param ? ptx::param_window
                                              : 0);
}

Fault* resolve(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask, bool is_store, bool is_atomic, Access& access) {
    Block& block = *warp.block;
    Grid& grid = *block.grid;
    const uint32_t bytes = p.access_bytes();
    locate(warp, p, mask, access);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        uint64_t address = lane_address(warp, p, lane);
        Space space = p.space;
        if (space == Space::generic) {
            space = space_of(address);
            if (space == Space::shared) address -= ptx::shared_window;
            if (space == Space::local) address -= ptx::local_window;
            if (space == Space::param) address -= ptx::param_window;
        }
        std::byte* pointer = nullptr;
        switch (space) {
            case Space::shared:
                pointer = shared_pointer(shared_place(block, address), bytes);
                break;
            case Space::local: {
                const uint64_t thread = uint64_t{warp.index} * warp_size + lane;
                if (inside(address, bytes, warp.local_end))
                    pointer = block.local.data() + thread * block.local_bytes + address;
                break;
            }
            case Space::param:
                if (!is_store && inside(address, bytes, grid.config->parameters.size())) {
                    pointer = const_cast<std::byte*>(grid.config->parameters.data()) + address;
                }
                break;
            default: {
                MemoryWindow& window = grid.windows[pc];
                if (window.version != grid.memory->version() || !inside(address - window.begin, bytes, window.bytes)) {
                    if (!refill(grid, pc, address, is_store)) break;
                }
                if (inside(address - window.begin, bytes, window.bytes)) pointer = window.data + (address - window.begin);
            }
        }
        if (!pointer) return access_fault(warp, pc, lane, space, address, bytes, is_store, is_atomic);
        if (address % bytes) {
            const Provenance from = provenance_of_misaligned(warp, pc, lane, {space, address, bytes, is_store});
            Fault* const fault =
                make_fault(warp, pc, lane, "memcheck",
                           "misaligned " + std::string(ptx::name_of(space)) +
                               (is_atomic  ? " atomic"
                                : is_store ? " write"
                                           : " read") +
                               " of " + std::to_string(bytes) + " bytes, the address is not a multiple of " +
                               std::to_string(bytes) + from.reason,
                           address);
            fault->advice = from.advice;
            return fault;
        }
        access.pointers[lane] = pointer;
    }
    return nullptr;
}

bool refill(Grid& grid, uint32_t pc, uint64_t address, bool is_store) {
    MemoryWindow& window = grid.windows[pc];
    const Allocation* a = grid.memory->find(address);
    const bool moves = window.bytes > 0 && window.version == grid.memory->version();
    if (a && moves && a->address != window.begin && strays(grid, pc, *a)) return false;
    window.bytes = 0;
    if (!a) return false;
    std::byte* data = is_store ? grid.memory->write(a->address, a->bytes) : a->contents.data();
    const bool quiet =
        !grid.writes_anywhere && std::find(grid.written.begin(), grid.written.end(), a->address) == grid.written.end();
    window = {grid.memory->version(), a->address, a->bytes, data, quiet};
    return true;
}

namespace {
template <class Word>
void write_words(std::byte* d, const uint64_t* values, uint32_t mask) {
    auto* const to = reinterpret_cast<Word*>(d);
    if (mask == full_mask) {
        for (uint32_t lane = 0; lane < warp_size; ++lane) to[lane] = static_cast<Word>(values[lane]);
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        to[__builtin_ctz(rest)] = static_cast<Word>(values[__builtin_ctz(rest)]);
}
}  // namespace

void write_lanes(std::byte* d, uint32_t bytes, const uint64_t* values, uint32_t mask) {
    switch (bytes) {
        case 1:
            return write_words<uint8_t>(d, values, mask);
        case 2:
            return write_words<uint16_t>(d, values, mask);
        case 4:
            return write_words<uint32_t>(d, values, mask);
        default:
            return write_words<uint64_t>(d, values, mask);
    }
}

namespace {

// Elements as wide as their registers, all of a lane at once.
template <class Element, uint32_t Vector>
void load_elements(Warp& warp, const int32_t* destinations, uint32_t mask, const Access& access) {
    Element* to[Vector];
    for (uint32_t k = 0; k < Vector; ++k) to[k] = reinterpret_cast<Element*>(operand(warp, destinations[k]));
    const auto load = [&](uint32_t lane) {
        Element elements[Vector];
        std::memcpy(elements, access.pointers[lane], sizeof elements);
        for (uint32_t k = 0; k < Vector; ++k) std::memcpy(to[k] + lane, &elements[k], sizeof(Element));
    };
    if (mask == full_mask)
        for (uint32_t lane = 0; lane < warp_size; ++lane) load(lane);
    else
        for (uint32_t rest = mask; rest; rest &= rest - 1) load(static_cast<uint32_t>(__builtin_ctz(rest)));
}
template <class Element>
bool load_elements(Warp& warp, const int32_t* destinations, uint32_t vector, uint32_t mask, const Access& access) {
    if (std::find(destinations, destinations + vector, ptx::no_operand) != destinations + vector) return false;
    if (vector == 1)
        load_elements<Element, 1>(warp, destinations, mask, access);
    else if (vector == 2)
        load_elements<Element, 2>(warp, destinations, mask, access);
    else if (vector == 4)
        load_elements<Element, 4>(warp, destinations, mask, access);
    else
        return false;
    return true;
}

}  // namespace

Fault* load_by_lane(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask, Access& access) {
    if (Fault* fault = resolve(warp, pc, p, mask, false, false, access)) return fault;
    const auto& instruction = warp.block->grid->program->instructions[pc];
    const uint32_t unused_bits = 64 - 8 * p.element_bytes;
    const ptx::Program& program = *warp.block->grid->program;
    const int32_t* const destinations = ptx::elements_given(program.lists, instruction);
    if (p.element_bytes == p.register_bytes) {
        if (p.element_bytes == 4 && load_elements<uint32_t>(warp, destinations, p.vector, mask, access)) return nullptr;
        if (p.element_bytes == 8 && load_elements<uint64_t>(warp, destinations, p.vector, mask, access)) return nullptr;
    }
    for (uint32_t element = 0; element < p.vector; ++element) {
        if (destinations[element] == ptx::no_operand) continue;
        if (p.element_bytes == 16) {
            for (uint32_t rest = mask; rest; rest &= rest - 1) {
                const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
                std::memcpy(operand(warp, destinations[element]) + lane * 16, access.pointers[lane], 16);
            }
            continue;
        }
        alignas(64) uint64_t values[warp_size];
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
            uint64_t value = 0;
            std::memcpy(&value, access.pointers[lane] + element * p.element_bytes, p.element_bytes);
            if (p.sign_extends) value = static_cast<uint64_t>(static_cast<int64_t>(value << unused_bits) >> unused_bits);
            values[lane] = value;
        }
        write_lanes(operand(warp, destinations[element]), p.register_bytes, values, mask);
    }
    return nullptr;
}

Fault* store_by_lane(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask, Access& access) {
    if (Fault* fault = resolve(warp, pc, p, mask, true, false, access)) return fault;
    const auto& instruction = warp.block->grid->program->instructions[pc];
    const ptx::Program& program = *warp.block->grid->program;
    const int32_t* const sources = ptx::elements_taken(program.lists, instruction);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        for (uint32_t element = 0; element < p.vector; ++element) {
            if (sources[element] == ptx::no_operand) continue;
            const std::byte* from = operand(warp, sources[element]) + lane * p.register_bytes;
            std::memcpy(access.pointers[lane] + element * p.element_bytes, from, p.element_bytes);
        }
    }
    return nullptr;
}

}  // namespace lockstep::simt
