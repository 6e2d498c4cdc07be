#include "app/gui/views/sm/threads_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "app/gui/views/sm/lane_paths.h"
#include "app/gui/widgets/draw.h"
#include "core/scene/arguments/kernel_source.h"

namespace lockstep::gui {
namespace {

constexpr uint64_t warp_size = simt::warp_size;

uint64_t at_least_one(uint32_t extent) {
    return std::max<uint32_t>(1, extent);
}
uint64_t threads_of(const simt::LaunchConfig& config) {
    return std::max<uint64_t>(1, config.block.count());
}
std::string counted(uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", with_commas(static_cast<int64_t>(count)), noun, count == 1 ? "" : "s");
}

}  // namespace

ThreadPlace thread_at(const simt::LaunchConfig& config, uint64_t block, uint64_t linear) {
    const uint64_t gx = at_least_one(config.grid.x), gy = at_least_one(config.grid.y), bx = at_least_one(config.block.x),
                   by = at_least_one(config.block.y);
    ThreadPlace t;
    t.block = block;
    t.linear = linear;
    t.block_index = {static_cast<uint32_t>(block % gx), static_cast<uint32_t>(block / gx % gy),
                     static_cast<uint32_t>(block / gx / gy)};
    t.thread = {static_cast<uint32_t>(linear % bx), static_cast<uint32_t>(linear / bx % by),
                static_cast<uint32_t>(linear / bx / by)};
    t.warp = static_cast<uint32_t>(linear / warp_size);
    t.lane = static_cast<uint32_t>(linear % warp_size);
    t.row = t.block_index.y * by + t.thread.y;
    t.column = t.block_index.x * bx + t.thread.x;
    return t;
}

LaunchShape shape_of(const simt::LaunchConfig& config) {
    if (config.block.z > 1 || config.grid.z > 1) return LaunchShape::solid;
    return config.block.y > 1 || config.grid.y > 1 ? LaunchShape::sheet : LaunchShape::line;
}

uint64_t warps_in_block(const simt::LaunchConfig& config) {
    return (threads_of(config) + warp_size - 1) / warp_size;
}
uint64_t threads_in_warp(const simt::LaunchConfig& config, uint64_t warp) {
    const uint64_t threads = threads_of(config);
    return warp * warp_size >= threads ? 0 : std::min(warp_size, threads - warp * warp_size);
}

Cell cells_of(const simt::LaunchConfig& config) {
    const bool line = config.block.y <= 1 && config.block.z <= 1;
    const uint64_t threads = threads_of(config),
                   columns = line ? std::min(warp_size, threads) : at_least_one(config.block.x);
    return {columns, (threads + columns - 1) / columns};
}
Cell cell_of(const simt::LaunchConfig& config, uint64_t linear) {
    const uint64_t columns = cells_of(config).column;
    return {linear % columns, linear / columns};
}

std::string label_of(const simt::LaunchConfig& config, const ThreadPlace& thread, bool own, uint64_t step) {
    switch (shape_of(config)) {
        case LaunchShape::line:
            if (!own && step > 0) return std::to_string(thread.block_index.x * step + thread.thread.x);
            return std::to_string(own ? thread.thread.x : thread.column);
        case LaunchShape::sheet:
            return own ? fmt::format("{},{}", thread.thread.y, thread.thread.x)
                       : fmt::format("{},{}", thread.row, thread.column);
        case LaunchShape::solid:
            break;
    }
    return std::to_string(thread.linear);
}

std::vector<Formula> formulas_of(const simt::LaunchConfig& config, const ThreadPlace& thread, FormulaNames names) {
    const auto numbers = [](uint32_t block, uint32_t extent, uint32_t place) {
        return fmt::format("{} * {} + {} = {}", block, extent, place, uint64_t{block} * extent + place);
    };
    const std::string of_x = "blockIdx.x * blockDim.x + threadIdx.x";
    const std::string x = numbers(thread.block_index.x, std::max(1u, config.block.x), thread.thread.x);
    if (shape_of(config) == LaunchShape::line && !names.rows && names.step > 0)
        return {{names.own, fmt::format("blockIdx.x * {} + threadIdx.x", names.step),
                 numbers(thread.block_index.x, static_cast<uint32_t>(names.step), thread.thread.x)}};
    if (shape_of(config) == LaunchShape::line && !names.rows) return {{names.index ? "i" : "thread", of_x, x}};
    std::vector<Formula> formulas;
    if (shape_of(config) == LaunchShape::solid)
        formulas.push_back({"layer", "blockIdx.z * blockDim.z + threadIdx.z",
                            numbers(thread.block_index.z, std::max(1u, config.block.z), thread.thread.z)});
    formulas.push_back({"row", "blockIdx.y * blockDim.y + threadIdx.y",
                        numbers(thread.block_index.y, std::max(1u, config.block.y), thread.thread.y)});
    formulas.push_back({"column", of_x, x});
    return formulas;
}

ThreadState state_of(const ptx::Program& program, const simt::WarpHistory& history, size_t step, const ThreadPlace& thread) {
    if (history.block != thread.block || history.warp_in_block != thread.warp || step >= history.steps.size())
        return ThreadState::unknown;
    const simt::WarpStep& now = history.steps[step];
    if (now.active >> thread.lane & 1) return ThreadState::runs;
    return gone_lanes(program, now) >> thread.lane & 1 ? ThreadState::exited : ThreadState::waits;
}

std::string touched_by(const model::KernelRun& run, const simt::WarpStep& step, const std::vector<simt::LaneValues>& lanes,
                       uint32_t lane) {
    if (!run.program || !run.before || step.pc >= run.program->instructions.size() || lane >= warp_size ||
        !(step.executed >> lane & 1))
        return {};
    const ptx::DecodedInstruction& instruction = run.program->instructions[step.pc];
    const bool store = instruction.kind == ptx::Kind::store;
    if ((!store && instruction.kind != ptx::Kind::load) || instruction.space != ptx::Space::global ||
        instruction.address == ptx::no_operand || instruction.variable != ptx::no_variable)
        return {};
    const auto base =
        std::find_if(lanes.begin(), lanes.end(), [&](const auto& l) { return l.reg.offset == instruction.address; });
    const uint64_t bytes = ptx::size_of(instruction.type);
    if (base == lanes.end() || bytes == 0) return {};
    const uint64_t address = base->bits[lane] + static_cast<uint64_t>(instruction.offset);
    const simt::Allocation* inside = run.before->find(address);
    const simt::Allocation* found = inside ? inside : run.before->nearest(address);
    if (found == nullptr || address < found->address || (address - found->address) % bytes != 0) return {};
    std::string text = fmt::format("{} {}[{}]", store ? "stores" : "loads", found->name, (address - found->address) / bytes);
    if (!inside) text += fmt::format(", past its end ({} elements)", found->bytes / bytes);
    return text;
}

uint64_t longest_array(const model::KernelRun& run) {
    if (!run.program || !run.before) return 0;
    uint64_t longest = 0;
    const std::vector<std::string> declared =
        scene::parameter_declarations(run.source, std::string(run.program->shown_name()));
    for (size_t i = 0; i < run.program->parameters.size(); ++i) {
        const ptx::Parameter& parameter = run.program->parameters[i];
        if (parameter.bytes != 8 || parameter.offset + 8 > run.config.parameters.size()) continue;
        uint64_t address = 0;
        std::memcpy(&address, run.config.parameters.data() + parameter.offset, 8);
        const simt::Allocation* const found = run.before->find(address);
        if (found == nullptr) continue;  // a number of 64 bits
        std::string type;
        const auto element = i < declared.size() ? scene::pointed_to(declared[i], type) : std::nullopt;
        if (!element) return 0;
        longest = std::max(longest, (found->address + found->bytes - address) / size_of(*element));
    }
    return longest;
}

std::string launch_sentence(const simt::LaunchConfig& config) {
    const uint64_t blocks = std::max<uint64_t>(1, config.grid.count()), threads = threads_of(config),
                   warps = warps_in_block(config), last = threads_in_warp(config, warps - 1);
    std::string text = blocks == 1 ? fmt::format("One block of {}", counted(threads, "thread"))
                                   : fmt::format("{} of {}: {}", counted(blocks, "block"), counted(threads, "thread"),
                                                 counted(blocks * threads, "thread"));
    text += fmt::format(" in {}", counted(blocks * warps, "warp"));
    if (last == warp_size) return text + (blocks * warps == 1 ? ", all 32 lanes in use." : ", all 32 lanes of each in use.");
    if (blocks * warps == 1) return text + fmt::format(", {} of its 32 lanes in use.", last);
    if (warps == 1) return text + fmt::format(", each with {} of its 32 lanes in use.", last);
    return text + fmt::format(", the last of {} with {} of its 32 lanes in use.", blocks == 1 ? "them" : "each block", last);
}

std::string extent_text(const simt::Dim3& extent) {
    if (extent.z > 1) return fmt::format("{} × {} × {}", extent.x, extent.y, extent.z);
    return extent.y > 1 ? fmt::format("{} × {}", extent.x, extent.y) : with_commas(extent.x);
}

std::string block_text(const simt::LaunchConfig& config, const ThreadPlace& thread) {
    const simt::Dim3& b = thread.block_index;
    if (config.grid.z > 1) return fmt::format("blockIdx = ({}, {}, {})", b.x, b.y, b.z);
    return config.grid.y > 1 ? fmt::format("blockIdx = ({}, {})", b.x, b.y) : fmt::format("blockIdx.x = {}", b.x);
}

int64_t track_of(const KernelTrace& trace, uint64_t block, uint32_t warp) {
    for (size_t i = 0; i < trace.warps.size(); ++i)
        if (trace.warps[i].block == block && trace.warps[i].warp_in_block == warp) return static_cast<int64_t>(i);
    return -1;
}

}  // namespace lockstep::gui
