#include "app/gui/views/kernel/lines/line_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "app/gui/views/kernel/lines/variable_names.h"
#include "app/gui/views/sm/warp_facts.h"
#include "core/ptx/analyse/dataflow.h"

namespace lockstep::gui {
namespace {

constexpr size_t most_a_line = 3;

int32_t document_line(const ptx::Program& program, uint32_t pc, std::string_view document) {
    const ptx::DecodedInstruction& in = program.instructions[pc];
    if (document.ends_with(".ptx")) return in.ptx_line;
    const auto file = static_cast<size_t>(in.file);
    const std::string& name =
        file < program.files.size() && !program.files[file].empty() ? program.files[file] : program.source_file;
    const bool here = name.empty() || std::filesystem::path(name).filename() == std::filesystem::path(document).filename();
    return here ? in.line : 0;
}

struct LastWrite {
    uint32_t pc = 0;
    int64_t step = 0;
};

struct NamedValue {
    std::string name, value, from;
    int64_t step = 0;
};

std::string lane_value_text(const ptx::Program& program, const simt::LaneValues& values, int lane) {
    const ptx::Type type = type_of_use(program, values.reg);
    const uint64_t bits = values.bits[lane];
    return type == ptx::Type::pred ? bits != 0 ? "true" : "false" : text_of(bits, type);
}

// Rather a number that was worked out than an address or a condition.
bool is_value(const ptx::Register& reg) {
    return reg.type != ptx::Type::pred && reg.type != ptx::Type::b64;
}

// What a store wrote, where that stands in one register; -1: it did not store.
int32_t stored_register(const ptx::Program& program, const ptx::DecodedInstruction& in) {
    if (!ptx::is_register(in.source[0]) || in.address == ptx::no_operand) return -1;
    bool writes = false;
    ptx::each_written(program.lists, in, [&](int32_t) { writes = true; });
    return writes ? -1 : in.source[0];
}

}  // namespace

std::string moment_of(const KernelState& kernel, int lane) {
    return fmt::format("warp {} of block {}, lane {}, after issue {}", kernel.history->warp_in_block, kernel.history->block,
                       lane, with_commas(kernel.lanes_step));
}

const std::vector<LineValue>& LineValues::at(const KernelState& kernel, int lane, std::string_view document) {
    lane = std::clamp(lane, 0, 31);
    const bool known = kernel.run && kernel.run->program && kernel.history && kernel.lanes && kernel.lanes_step > 0;
    if (!known) {
        values_.clear();
        lanes_.reset();
        return values_;
    }
    if (run_ != kernel.run) run_ = kernel.run, names_ = variable_names(*run_->program, run_->source), lanes_.reset();
    if (history_ == kernel.history && lanes_ == kernel.lanes && step_ == kernel.lanes_step && lane_ == lane) return values_;
    history_ = kernel.history;
    lanes_ = kernel.lanes;
    step_ = kernel.lanes_step;
    lane_ = lane;
    values_.clear();

    const ptx::Program& program = *run_->program;
    const auto end = std::min(step_, static_cast<int64_t>(history_->steps.size()));
    std::map<int32_t, LastWrite> last;  // by register: who wrote this lane's last
    for (int64_t i = 0; i < end; ++i) {
        const simt::WarpStep& step = history_->steps[static_cast<size_t>(i)];
        if (step.pc >= program.instructions.size() || (step.executed >> lane & 1) == 0) continue;
        ptx::each_written(program.lists, program.instructions[step.pc], [&](int32_t reg) { last[reg] = {step.pc, i}; });
    }
    const simt::WarpStep* const just = end > 0 ? &history_->steps[static_cast<size_t>(end) - 1] : nullptr;
    const int32_t here = just && just->pc < program.instructions.size() ? document_line(program, just->pc, document) : 0;
    std::map<int32_t, std::map<std::string, NamedValue>> by_line;  // by line, by name
    const auto take = [&](int32_t line, const NamedValue& found) {
        NamedValue& known_one = by_line[line][found.name];
        if (known_one.name.empty() || known_one.step < found.step) known_one = found;
    };
    const simt::LaneValues* nameless = nullptr;  // of the line that ran last: what it wrote last
    LastWrite nameless_by;
    for (const simt::LaneValues& values : *lanes_) {
        const auto by = last.find(values.reg.offset);
        if (by == last.end()) continue;
        const int32_t line = document_line(program, by->second.pc, document);
        if (line <= 0) continue;
        const std::string& name = by->second.pc < names_.size() ? names_[by->second.pc] : std::string();
        if (!name.empty())
            take(line,
                 {name, lane_value_text(program, values, lane),
                  fmt::format("{}: {}, written by issue {}", name, values.reg.name, by->second.step + 1), by->second.step});
        // A condition of the compiler's own making may be the opposite of the line's: beside C++ it would mislead.
        else if (line == here && (document.ends_with(".ptx") || values.reg.type != ptx::Type::pred) &&
                 (nameless == nullptr ||
                  std::pair(is_value(values.reg), by->second.step) > std::pair(is_value(nameless->reg), nameless_by.step)))
            nameless = &values, nameless_by = by->second;
    }
    if (here > 0 && (just->executed >> lane & 1) != 0) {
        const int32_t stored = stored_register(program, program.instructions[just->pc]);
        for (const simt::LaneValues& values : *lanes_)
            if (stored >= 0 && values.reg.offset == stored)
                take(here, {"stored", lane_value_text(program, values, lane),
                            fmt::format("stored: {}, by issue {}", values.reg.name, end), end});
        if (nameless != nullptr && !by_line.contains(here))
            take(here, {nameless->reg.name, lane_value_text(program, *nameless, lane),
                        fmt::format("{}, written by issue {}; its variable's name is not known", nameless->reg.name,
                                    nameless_by.step + 1),
                        nameless_by.step});
    }
    // Off its path, or held back by its guard; a branch that a lane does not take is no work that it misses.
    const uint32_t working = here > 0 && program.instructions[just->pc].kind == ptx::Kind::branch ? just->active
                             : here > 0                                                           ? just->executed
                                                                                                  : 0;
    const bool off = here > 0 && (working >> lane & 1) == 0;
    if (off) by_line[here];
    for (const auto& [line, named] : by_line) {
        std::vector<const NamedValue*> order;
        for (const auto& [name, found] : named) order.push_back(&found);
        std::stable_sort(order.begin(), order.end(),
                         [](const NamedValue* a, const NamedValue* b) { return a->step > b->step; });
        LineValue value{line, {}, {}, line == here};
        for (size_t i = 0; i < std::min(order.size(), most_a_line); ++i) {
            value.text += (i ? ", " : "") + order[i]->name + " = " + order[i]->value;
            value.from += (i ? "\n" : "") + order[i]->from;
        }
        if (off && line == here) {
            value.text += value.text.empty() ? fmt::format("lane {} is off", lane) : fmt::format("; lane {} is off", lane);
            value.from += fmt::format("{}lane {} took another path, or has ended", value.from.empty() ? "" : "\n", lane);
        }
        values_.push_back(std::move(value));
    }
    return values_;
}

}  // namespace lockstep::gui
