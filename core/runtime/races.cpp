// Races between streams: each piece of work tells which memory it touches, and WorkOrder which earlier one it races with.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/ptx/ptx.h"
#include "core/runtime/runtime.h"
#include "core/simt/execute/ahead.h"
#include "core/simt/warp.h"

namespace lockstep::runtime {
namespace {

constexpr size_t most_races = 100;

std::string place_of(const WorkOrder::Piece& piece) {
    const std::string site = text_of(piece.site);
    return fmt::format("{} in stream {}{}", piece.name, piece.stream, site.empty() ? "" : " (" + site + ")");
}

}  // namespace

// Where `now` differs from `before`: intervals of bytes. Empty where there are more than `most`: a kernel that writes here
// and there may leave what lies between to others.
static std::vector<Touch> changes(const std::byte* before, const std::byte* now, uint64_t bytes, uint64_t address,
                                  size_t most) {
    std::vector<Touch> found;
    for (uint64_t at = 0; at < bytes;) {
        const std::byte* const differs = std::mismatch(before + at, before + bytes, now + at).first;
        const auto begin = static_cast<uint64_t>(differs - before);
        if (begin == bytes) break;
        uint64_t end = begin;
        // Values that stayed the same by chance lie between others that changed.
        constexpr uint64_t chance = 256;
        for (uint64_t same = 0, k = begin; k < bytes && same < chance; ++k) {
            same = before[k] == now[k] ? same + 1 : 0;
            if (same == 0) end = k + 1;
        }
        if (found.size() == most) return {};
        found.push_back({address + begin, address + end, true});
        at = end;
    }
    return found;
}

// What a kernel wrote is what it changed; what it reads begins where its pointers to buffers that it leaves alone point.
// Both are less than all that it touches: parts of a buffer may be other streams'.
std::vector<Touch> Runtime::touches_of(const ptx::Program& program, const simt::LaunchConfig& config,
                                       const simt::Memory& before) {
    constexpr size_t most_changes = 64;
    std::vector<Touch> touches;
    for (const auto& [address, block] : blocks_) {
        if (block.freed || block.bytes == 0) continue;
        const std::byte *old = before.read(address, block.bytes), *now = memory_.read(address, block.bytes);
        if (!old || !now || old == now) continue;
        const std::vector<Touch> written = changes(old, now, block.bytes, address, most_changes);
        touches.insert(touches.end(), written.begin(), written.end());
    }
    simt::Grid grid = simt::make_grid(program, config, memory_);
    simt::find_written(grid);
    if (grid.writes_anywhere) return touches;
    for (size_t at = 0; at + sizeof(uint64_t) <= config.parameters.size(); at += sizeof(uint64_t)) {
        uint64_t pointer = 0;
        std::memcpy(&pointer, config.parameters.data() + at, sizeof pointer);
        const simt::Allocation* allocation = memory_.find(pointer);
        if (allocation && std::find(grid.written.begin(), grid.written.end(), allocation->address) == grid.written.end())
            touches.push_back({pointer, pointer + 1, false});
    }
    return touches;
}

void Runtime::watch_order(const std::string& name, uint32_t stream, std::span<const Touch> touches) {
    const WorkOrder::Piece later{name, stream, site_};
    const std::optional<WorkOrder::Race> race = order_.add(later, touches);
    if (!race || report_.races.size() >= most_races) return;
    const Block* block = find(race->address);
    const simt::Allocation* allocation = memory_.find(race->address);
    const std::string memory =
        !block ? allocation ? "'" + allocation->name + "'" : fmt::format("memory at {:#x}", race->address)
        : text_of(block->site).empty() ? "'" + block->name + "'"
                                       : fmt::format("'{}' (allocated at {})", block->name, text_of(block->site));
    std::string sentence = fmt::format(
        "{} {} {} while {}, which {} it, may still run: nothing orders the two streams; cudaStreamWaitEvent does",
        place_of(later), race->later_writes ? "writes" : "reads", memory, place_of(race->earlier),
        race->earlier_writes ? "writes" : "reads");
    if (std::find(report_.races.begin(), report_.races.end(), sentence) == report_.races.end())
        report_.races.push_back(std::move(sentence));
}

// Host memory that a kernel gets a pointer to: where it may write there, the host may not even read it.
void Runtime::guard_kernel(const ptx::Program& program, const simt::LaunchConfig& config, const std::string& name,
                           uint32_t stream) {
    const auto is_host = [](const Block& block) {
        return !block.freed && block.kind != MemoryKind::device && block.kind != MemoryKind::array;
    };
    if (std::none_of(blocks_.begin(), blocks_.end(), [&](const auto& entry) { return is_host(entry.second); })) return;
    simt::Grid grid = simt::make_grid(program, config, memory_);
    simt::find_written(grid);
    std::unordered_set<uint64_t> told;
    for (size_t at = 0; at + sizeof(uint64_t) <= config.parameters.size(); at += sizeof(uint64_t)) {
        uint64_t pointer = 0;
        std::memcpy(&pointer, config.parameters.data() + at, sizeof pointer);
        const Block* const block = find(pointer);
        if (!block || !is_host(*block) || !told.insert(block->address).second) continue;
        const bool writes = grid.writes_anywhere ||
                            std::find(grid.written.begin(), grid.written.end(), block->address) != grid.written.end();
        guard(block, block->address, block->address + block->bytes, writes, name, stream);
    }
}

// A __constant__ variable without initial values is all zeros until the program sets it.
void Runtime::find_unset_constants(const ptx::Program& program) {
    const std::vector<uint64_t> addresses = simt::place_variables(program, memory_);
    for (const ptx::DecodedInstruction& i : program.instructions) {
        if (i.variable < 0 || static_cast<size_t>(i.variable) >= program.variables.size()) continue;
        const auto number = static_cast<size_t>(i.variable);
        const auto& variable = program.variables[number];
        const bool has_values =
            std::any_of(variable.initial.begin(), variable.initial.end(), [](std::byte b) { return b != std::byte{}; }) ||
            !variable.addresses.empty();
        if (variable.space != ptx::Space::constant || has_values || set_variables_.contains(addresses[number])) continue;
        if (!unset_told_.insert(program.kernel + " " + variable.name).second) continue;
        simt::Fault fault;
        fault.kind = "initcheck";
        fault.message = fmt::format("reads the __constant__ '{}', which nobody has set: it is all zeros",
                                    ptx::readable_name(variable.name));
        fault.kernel = program.shown_name();
        fault.file = i.file >= 0 && static_cast<size_t>(i.file) < program.files.size()
                         ? program.files[static_cast<size_t>(i.file)]
                         : "";
        fault.line = i.line;
        report_.faults.push_back(std::move(fault));
    }
}

}  // namespace lockstep::runtime
