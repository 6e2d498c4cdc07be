// printf, malloc, free, assert. Parameters lie in the local memory of the frame (call.h); pointers are generic addresses,
// each byte behind them is checked as a load would be.
#include "core/simt/memory/system.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/ptx/decode/views.h"
#include "core/simt/async/cluster.h"
#include "core/simt/check/checker.h"
#include "core/simt/check/faults.h"
#include "core/simt/execute/call.h"
#include "core/simt/execute/special.h"
#include "core/simt/memory/device_printf.h"

namespace lockstep::simt {

using ptx::Space;
using ptx::SystemFunction;

namespace {

constexpr size_t longest_string = 64 * 1024;

// Parameter k of the call: its bytes in the frame, extended to 64 bits.
uint64_t parameter(Warp& warp, uint32_t pc, uint32_t lane, uint32_t k, uint32_t bytes) {
    const ptx::Program& program = *warp.block->grid->program;
    const ptx::DecodedInstruction& i = program.instructions[pc];
    const std::span<const int32_t> parameters = ptx::listed_sources(program.lists, i);
    if (k >= parameters.size()) return 0;
    uint32_t offset;
    std::memcpy(&offset, operand(warp, parameters[k]), 4);
    uint64_t value = 0;
    std::memcpy(&value, local_of(warp, lane, offset), bytes);
    return value;
}

// Bytes that a lane may read at a generic address.
struct Readable {
    Space space = Space::global;
    uint64_t address = 0;  // in its space
    const std::byte* data = nullptr;
    uint64_t bytes = 0;  // up to the end of what holds them; 0: nothing is there
};

Readable readable(Warp& warp, uint32_t lane, uint64_t address) {
    Block& block = *warp.block;
    const auto in = [](Space space, uint64_t at, const std::byte* data, uint64_t size) -> Readable {
        return at < size ? Readable{space, at, data + at, size - at} : Readable{space, at, nullptr, 0};
    };
    if (address - ptx::shared_window < ptx::window_bytes)
        return in(Space::shared, address - ptx::shared_window, block.shared.data(), block.shared.size());
    if (address - ptx::local_window < ptx::window_bytes) {
        const uint64_t thread = uint64_t{warp.index} * warp_size + lane;
        return in(Space::local, address - ptx::local_window, block.local.data() + thread * block.local_bytes,
                  warp.local_end);
    }
    if (address - ptx::param_window < ptx::window_bytes) {
        const auto& parameters = block.grid->config->parameters;
        return in(Space::param, address - ptx::param_window, parameters.data(), parameters.size());
    }
    const Allocation* a = block.grid->memory->find(address);
    if (!a) return {Space::global, address, nullptr, 0};
    return {Space::global, address, a->contents.data() + (address - a->address), a->bytes - (address - a->address)};
}

// The string at an address, up to its zero; none, and the address of the first byte that may not be read, where it has no
// end.
std::optional<std::string> string_at(Warp& warp, uint32_t pc, uint32_t lane, uint64_t address, Readable& where) {
    where = readable(warp, lane, address);
    const auto* text = reinterpret_cast<const char*>(where.data);
    const auto most = static_cast<size_t>(std::min<uint64_t>(where.bytes, longest_string));
    const auto* end = most ? static_cast<const char*>(std::memchr(text, 0, most)) : nullptr;
    if (!end && most == longest_string) return std::string(text, most);
    if (!end) {
        where.address += where.bytes;
        return std::nullopt;
    }
    const auto length = static_cast<uint32_t>(end - text) + 1;
    uint64_t addresses[warp_size] = {};
    addresses[lane] = where.address;
    if (where.space == Space::global || where.space == Space::shared)
        note_access(warp, pc, where.space, addresses, 1u << lane, length, AccessKind::read);
    return std::string(text, end);
}

Fault* print(Special& s, uint32_t lane, int32_t& result) {
    const uint64_t format_at = parameter(s.warp, s.pc, lane, 0, 8), arguments = parameter(s.warp, s.pc, lane, 1, 8);
    Grid& grid = *s.warp.block->grid;
    result = -1;
    if (!format_at) return nullptr;
    Readable where;
    const std::optional<std::string> format = string_at(s.warp, s.pc, lane, format_at, where);
    if (!format) return access_fault(s.warp, s.pc, lane, where.space, where.address, 1, false, false);
    bool string_failed = false;
    const Formatted formatted = format_printf(
        *format,
        [&](uint64_t offset, uint32_t bytes) -> std::optional<uint64_t> {
            const Readable from = readable(s.warp, lane, arguments + offset);
            if (from.bytes < bytes) return std::nullopt;
            uint64_t value = 0;
            std::memcpy(&value, from.data, bytes);
            return value;
        },
        [&](uint64_t address) {
            auto text = string_at(s.warp, s.pc, lane, address, where);
            string_failed = !text;
            return text;
        });
    if (string_failed) return access_fault(s.warp, s.pc, lane, where.space, where.address, 1, false, false);
    if (!formatted.problem.empty()) return make_fault(s.warp, s.pc, lane, "memcheck", formatted.problem);
    result = static_cast<int32_t>(formatted.arguments);
    if (!grid.print || grid.printed >= most_printed) return nullptr;
    grid.printed += formatted.text.size();
    grid.print(formatted.text);
    if (grid.printed >= most_printed) grid.print("\n(the kernel prints more than 1 MiB: the rest is not shown)\n");
    return nullptr;
}

uint64_t give(Special& s, uint32_t lane, uint64_t bytes) {
    Grid& grid = *s.warp.block->grid;
    const std::string name =
        "heap block of thread " + triple(thread_index(s.warp, lane)) + " in block " + triple(s.warp.block->index);
    const uint64_t address = grid.memory->heap_allocate(bytes, name);
    if (!address) return 0;
    std::memset(grid.memory->write(address, bytes), 0xCD, bytes);
    grid.memory->set_maker(address,
                           std::make_shared<const Fault>(*make_fault(s.warp, s.pc, lane, "leakcheck", {}, address)));
    if (grid.checker && grid.checker->initcheck) grid.memory->mark_unwritten(address);
    return address;
}

Fault* take_back(Special& s, uint32_t lane, uint64_t address) {
    if (!address) return nullptr;
    Memory& memory = *s.warp.block->grid->memory;
    const Allocation* a = memory.nearest(address);
    const bool within = a && address - a->address < std::max<uint64_t>(a->bytes, 1);
    const std::string size = a ? "'" + a->name + "' (" + std::to_string(a->bytes) + " bytes)" : "";
    std::string message;
    if (!within || !a->heap)
        message = "free of an address that malloc did not give" + (within ? ", in " + size : std::string());
    else if (a->freed)
        message = "double free of " + size;
    else if (address != a->address)
        message = "free of an address " + std::to_string(address - a->address) + " bytes inside " + size;
    if (!message.empty()) return make_fault(s.warp, s.pc, lane, "memcheck", message, address);
    memory.release(address);
    return nullptr;
}

}  // namespace

std::vector<Fault> find_leaks(const Memory& memory) {
    constexpr size_t most_leaks = 100;
    struct Leak {
        Fault first;
        uint64_t blocks = 0, bytes = 0;
    };
    std::vector<Leak> leaks;  // by the place of their malloc
    uint64_t beyond = 0;
    for (const Allocation* const block : memory.heap_blocks()) {
        if (!block->maker) continue;
        const Fault& maker = *block->maker;
        auto leak = std::find_if(leaks.begin(), leaks.end(), [&](const Leak& l) {
            return l.first.kernel == maker.kernel && l.first.pc == maker.pc && l.first.file == maker.file;
        });
        if (leak == leaks.end()) {
            if (leaks.size() == most_leaks) {
                ++beyond;
                continue;
            }
            leaks.push_back({maker});
            leak = leaks.end() - 1;
            leak->first.allocation = block->name;
        }
        ++leak->blocks;
        leak->bytes += block->bytes;
    }
    std::vector<Fault> reports;
    for (Leak& leak : leaks) {
        leak.first.message = "leaked " + std::to_string(leak.bytes) + (leak.bytes == 1 ? " byte" : " bytes") +
                             " of the heap" + (leak.blocks == 1 ? "" : " in " + std::to_string(leak.blocks) + " blocks") +
                             (leak.blocks == 1 ? ": nobody has freed what this malloc gave"
                                               : ": nobody has freed what this malloc gave, first to this thread");
        reports.push_back(std::move(leak.first));
    }
    if (beyond) reports.back().message += "; and " + std::to_string(beyond) + " blocks of other places";
    return reports;
}

std::string assert_text(Warp& warp, uint32_t pc, uint32_t lane) {
    Readable where;
    const uint64_t address = parameter(warp, pc, lane, 0, 8);
    const std::optional<std::string> expression =
        address ? string_at(warp, pc, lane, address, where) : std::optional<std::string>();
    return expression && !expression->empty() ? "assertion `" + *expression + "` failed" : "an assert failed";
}

Fault* run_system(Special& s) {
    const auto& i = s.instruction();
    for (uint32_t rest = s.mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        Fault* fault = nullptr;
        uint64_t result = 0;
        uint32_t bytes = 0;
        switch (ptx::as_system(i).function) {
            case SystemFunction::vprintf: {
                int32_t count = 0;
                fault = print(s, lane, count);
                result = static_cast<uint32_t>(count);
                bytes = 4;
                break;
            }
            case SystemFunction::malloc:
                // Of no bytes too there is an address, as on an H200 with CUDA 13.0.
                result = give(s, lane, std::max<uint64_t>(1, parameter(s.warp, s.pc, lane, 0, 8)));
                bytes = 8;
                break;
            case SystemFunction::free:
                fault = take_back(s, lane, parameter(s.warp, s.pc, lane, 0, 8));
                break;
            case SystemFunction::assert_fail:
                fault = make_fault(s.warp, s.pc, lane, "assert", assert_text(s.warp, s.pc, lane));
                break;
            default:
                fault = run_device_call(s.warp, s.pc, lane, result, bytes);
        }
        if (fault) return fault;
        if (i.destination[0] == ptx::no_operand || !bytes) continue;
        uint32_t offset;
        std::memcpy(&offset, operand(s.warp, i.destination[0]), 4);
        std::memcpy(local_of(s.warp, lane, offset), &result, bytes);
        note_local_written(s.warp, 1u << lane, uint64_t{s.warp.local_base} + offset, bytes);
    }
    return nullptr;
}

}  // namespace lockstep::simt
