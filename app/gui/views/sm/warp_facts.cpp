#include "app/gui/views/sm/warp_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/ptx/analyse/dataflow.h"

namespace lockstep::gui {
namespace {

const ptx::DecodedInstruction* instruction_at(const Timeline& timeline, uint32_t pc) {
    const auto& program = timeline.run->program;
    return program && pc < program->instructions.size() ? &program->instructions[pc] : nullptr;
}

std::string place(int line, uint32_t pc) {
    return line > 0 ? fmt::format("line {}", line) : fmt::format("instruction {}", pc);
}

// "waits at the barrier": one warp's share of "... wait at the barrier".
std::string doing_alone(StallReason reason) {
    std::string doing(code_of(reason).doing);
    if (const size_t their = doing.find(" their "); their != std::string::npos) doing.replace(their, 7, " its ");
    if (doing.starts_with("are ")) return "is " + doing.substr(4);
    const size_t word = std::min(doing.find(' '), doing.size());
    return doing.substr(0, word) + "s" + doing.substr(word);
}

std::string name_at(const ptx::Program& program, int32_t offset) {
    for (const ptx::Register& reg : program.registers)
        if (reg.offset == offset) return reg.name;
    return {};
}

// "load of A[i]", "fma, line 8": what an instruction leaves in its destination.
std::string holds(const Timeline& timeline, uint32_t pc) {
    const ptx::DecodedInstruction* instruction = instruction_at(timeline, pc);
    if (!instruction) return {};
    if (instruction->kind == ptx::Kind::load)
        if (const std::string what = loaded_by(*timeline.run->program, timeline.run->source, pc); !what.empty()) return what;
    const std::string name =
        instruction->opcode ? std::string(instruction->opcode->name) : operation_of(*timeline.run->program, pc);
    return instruction->line > 0 ? fmt::format("{}, line {}", name, instruction->line) : name;
}

}  // namespace

std::string operation_of(const ptx::Program& program, uint32_t pc) {
    std::string text = ptx::text_of(program, pc);
    if (!text.empty() && text[0] == '@') {
        const size_t space = text.find_first_of(" \t");
        const size_t next = space == std::string::npos ? space : text.find_first_not_of(" \t", space);
        text = next == std::string::npos ? text : text.substr(next);
    }
    return text.substr(0, text.find_first_of(" \t;"));
}

std::string_view name_of(MemoryLevel level) {
    switch (level) {
        case MemoryLevel::constant:
            return "constant cache";
        case MemoryLevel::shared:
            return "shared memory";
        case MemoryLevel::l1:
            return "L1";
        case MemoryLevel::l2:
            return "L2";
        case MemoryLevel::dram:
            return "DRAM";
        case MemoryLevel::none:
            break;
    }
    return "";
}

std::string_view served_by(MemoryLevel level, int64_t cycles, const model::GpuSpec& gpu) {
    switch (level) {
        case MemoryLevel::l1:
            return "L1 hit";
        case MemoryLevel::l2:
            return 2 * cycles > int64_t{gpu.l2_latency} + gpu.dram_latency ? "through L2" : "L2 hit";
        case MemoryLevel::dram:
            return "L2 miss";
        default:
            return name_of(level);
    }
}

Wait wait_of(const Timeline& timeline, uint32_t warp, const StallRun& stall) {
    Wait wait{{}, {}, nullptr, stall.begin, stall.end};
    const KernelTrace& trace = timeline.trace();
    const ptx::DecodedInstruction* waiting = instruction_at(timeline, stall.pc);
    const std::string where = place(waiting ? waiting->line : 0, stall.pc);
    const ptx::DecodedInstruction* producer = nullptr;
    if (stall.cause >= 0 && static_cast<size_t>(stall.cause) < trace.issues.size()) {
        wait.cause = &trace.issues[static_cast<size_t>(stall.cause)];
        producer = instruction_at(timeline, wait.cause->pc);
    }
    const std::string length =
        fmt::format("{} cycle{}", with_commas(stall.end - stall.begin), stall.end - stall.begin == 1 ? "" : "s");
    if (!producer && stall.reason == StallReason::not_selected && warp < trace.warps.size()) {
        // Whoever issued on its scheduler instead, in the wait's first cycle.
        const auto first = std::partition_point(trace.issues.begin(), trace.issues.end(),
                                                [&](const IssueRecord& i) { return i.cycle < stall.begin; });
        for (auto i = first; i != trace.issues.end() && i->cycle == stall.begin; ++i)
            if (i->warp < trace.warps.size() && trace.warps[i->warp].scheduler == trace.warps[warp].scheduler) {
                const WarpTrack& other = trace.warps[i->warp];
                wait.cause = &*i;
                wait.sentence =
                    fmt::format("Ready at {}, but warp {} of block {} was picked", where, other.warp_in_block, other.block);
                wait.chip = fmt::format("ready, but w{} of b{} was picked, {}", other.warp_in_block, other.block, length);
                return wait;
            }
    }
    if (!producer) {
        wait.sentence = fmt::format("At {} it {}", where, doing_alone(stall.reason));
        wait.chip = waiting ? fmt::format("{}: {}, {}", operation_of(*timeline.run->program, stall.pc),
                                          row_of(stall.reason).label, length)
                            : fmt::format("{}, {}", row_of(stall.reason).label, length);
        return wait;
    }
    if (wait.cause->cycle >= stall.begin) {  // not a value but an event that ended the wait: the last warp at a barrier
        const WarpTrack& other = trace.warps[std::min<size_t>(wait.cause->warp, trace.warps.size() - 1)];
        wait.sentence = fmt::format("At {} it {} until warp {} of block {} is there", place(producer->line, wait.cause->pc),
                                    doing_alone(stall.reason), other.warp_in_block, other.block);
        wait.chip = fmt::format("{}, until warp {} at {}", operation_of(*timeline.run->program, wait.cause->pc),
                                other.warp_in_block, with_commas(wait.cause->cycle));
        return wait;
    }
    if (stall.reason == StallReason::lg_throttle || stall.reason == StallReason::mio_throttle ||
        stall.reason == StallReason::math_pipe_throttle || stall.reason == StallReason::dispatch_stall) {
        const WarpTrack& other = trace.warps[std::min<size_t>(wait.cause->warp, trace.warps.size() - 1)];
        const bool own = wait.cause->warp == warp;
        const std::string holder = operation_of(*timeline.run->program, wait.cause->pc);
        wait.sentence =
            fmt::format("At {} it {}, held by {} of {}{}", where, doing_alone(stall.reason), holder,
                        place(producer->line, wait.cause->pc),
                        own ? " before it" : fmt::format(", warp {} of block {}", other.warp_in_block, other.block));
        wait.chip = fmt::format("{}, held by {}{}, {}", row_of(stall.reason).label, holder,
                                own ? " before it" : fmt::format(" of w{} b{}", other.warp_in_block, other.block), length);
        return wait;
    }
    wait.begin = wait.cause->sent();
    const bool arrives = stall.reason == StallReason::long_scoreboard || stall.reason == StallReason::short_scoreboard ||
                         stall.reason == StallReason::wait;
    if (arrives) wait.end = std::max(wait.cause->ready, stall.end);
    // The register that the producer writes and the waiting instruction reads.
    std::string reg;
    if (wait.cause->warp == warp && waiting)
        ptx::each_written(timeline.run->program->lists, *producer, [&](int32_t written) {
            ptx::each_read(timeline.run->program->lists, *waiting, [&](int32_t read) {
                if (reg.empty() && written == read) reg = name_at(*timeline.run->program, written);
            });
        });
    const bool store = producer->kind == ptx::Kind::store, load = producer->kind == ptx::Kind::load;
    const std::string what = load    ? loaded_by(*timeline.run->program, timeline.run->source, wait.cause->pc)
                             : store ? subscript_of(timeline.run->source, producer->line, true)
                                     : std::string{};
    const std::string operation = operation_of(*timeline.run->program, wait.cause->pc);
    const bool parameter = producer->space == ptx::Space::param;
    const std::string from = load && !parameter
                                 ? fmt::format("the load of {}", what.empty() ? place(producer->line, wait.cause->pc) : what)
                                 : fmt::format("{} of {}", operation, place(producer->line, wait.cause->pc));
    wait.sentence = reg.empty() ? fmt::format("Waits at {} for {}", where, from)
                                : fmt::format("Waits at {} for {}, {}", where, reg, from);
    wait.chip = operation;
    if (!what.empty())
        wait.chip += " " + what;
    else if (producer->line > 0)
        wait.chip += fmt::format(", line {}", producer->line);
    if (wait.cause->level != MemoryLevel::none)
        wait.chip += fmt::format(", {}", served_by(wait.cause->level, wait.cause->ready - wait.begin, timeline.run->gpu));
    wait.chip += fmt::format(", {} cycles", with_commas(wait.end - wait.begin));
    if (wait.cause->early != 0) wait.chip += fmt::format(" from {} on: ptxas moves it up", with_commas(wait.begin));
    return wait;
}

StallReason wait_for_result(const Timeline& timeline, const WarpTrack& warp, uint32_t index) {
    const IssueRecord& issue = timeline.trace().issues[index];
    const ptx::DecodedInstruction* writer = instruction_at(timeline, issue.pc);
    if (issue.level >= MemoryLevel::l1) return StallReason::long_scoreboard;
    if (issue.level == MemoryLevel::shared) return StallReason::short_scoreboard;
    for (const StallRun& run : runs_in(warp, issue.sent(), issue.ready))  // the timeline says it, where the warp did wait
        if (run.cause == static_cast<int32_t>(index) && run.end >= issue.ready &&
            (run.reason == StallReason::long_scoreboard || run.reason == StallReason::short_scoreboard ||
             run.reason == StallReason::wait))
            return run.reason;
    if (writer == nullptr) return StallReason::wait;
    using ptx::Kind;
    switch (writer->kind) {
        case Kind::load:
        case Kind::atomic:
            if (writer->space == ptx::Space::param || writer->space == ptx::Space::constant) return StallReason::wait;
            return writer->space == ptx::Space::shared ? StallReason::short_scoreboard : StallReason::long_scoreboard;
        case Kind::shuffle:
        case Kind::mbarrier:
            return StallReason::short_scoreboard;
        default:
            return writer->opcode != nullptr && writer->opcode->unit == ptx::Unit::xu ? StallReason::short_scoreboard
                                                                                      : StallReason::wait;
    }
}

std::vector<RegisterRow> registers_shown(const Timeline& timeline, const WarpTrack& warp, int64_t step,
                                         const std::vector<simt::LaneValues>& lanes, size_t most) {
    std::vector<RegisterRow> rows;
    const KernelTrace& trace = timeline.trace();
    std::vector<int32_t> order;
    const auto want = [&](int32_t offset) {
        if (std::find(order.begin(), order.end(), offset) == order.end()) order.push_back(offset);
    };
    const auto count = static_cast<int64_t>(warp.issues.size());
    step -= static_cast<int64_t>(warp.issued_before);  // from here on among those that the trace holds
    const auto pc_at = [&](int64_t i) { return trace.issues[warp.issues[static_cast<size_t>(i)]].pc; };
    if (step >= 0 && step < count)
        if (const auto* next = instruction_at(timeline, pc_at(step)))
            ptx::each_read(timeline.run->program->lists, *next, want);
    for (int64_t i = std::min(step, count) - 1; i >= 0 && i > step - 400 && order.size() < 4 * most; --i)
        if (const auto* done = instruction_at(timeline, pc_at(i)))
            ptx::each_written(timeline.run->program->lists, *done, want);
    // Where the trace begins not long before, also what was written earlier and is read soon.
    if (warp.issued_before > 0)
        for (int64_t i = std::max<int64_t>(0, step); i < std::min(count, step + 100) && order.size() < 4 * most; ++i)
            if (const auto* soon = instruction_at(timeline, pc_at(i)))
                ptx::each_read(timeline.run->program->lists, *soon, want);
    for (const int32_t offset : order) {
        const auto value =
            std::find_if(lanes.begin(), lanes.end(), [&](const simt::LaneValues& v) { return v.reg.offset == offset; });
        if (value == lanes.end() || rows.size() >= most) continue;
        RegisterRow row{static_cast<size_t>(value - lanes.begin()), value->reg.name, {}, 0};
        for (int64_t i = std::min(step, count) - 1; i >= 0 && row.holds.empty(); --i) {
            const IssueRecord& issue = trace.issues[warp.issues[static_cast<size_t>(i)]];
            const auto* writer = instruction_at(timeline, issue.pc);
            if (!writer) continue;
            ptx::each_written(timeline.run->program->lists, *writer, [&](int32_t written) {
                if (written != offset) return;
                row.holds = holds(timeline, issue.pc);
                row.ready = issue.ready;
                row.waits = wait_for_result(timeline, warp, warp.issues[static_cast<size_t>(i)]);
            });
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

namespace {
// Two halves in a register of 32 bits: the elements of a matrix's tile, an operand of f16x2, or what is packed out of two.
ptx::Type pair_of_halves(const ptx::Program& program, const ptx::Register& reg) {
    using ptx::Kind, ptx::Type;
    const auto pair = [](Type type) {
        return type == Type::f16 || type == Type::f16x2     ? Type::f16x2
               : type == Type::bf16 || type == Type::bf16x2 ? Type::bf16x2
                                                            : Type::none;
    };
    const auto half_at = [&](int32_t offset) {  // what a register of 16 bits is used as
        for (const auto& instruction : program.instructions) {
            if (instruction.destination[0] == offset && ptx::size_of(instruction.destination_type) == 2)
                if (const Type type = pair(instruction.destination_type); type != Type::none) return type;
            if (std::find(std::begin(instruction.source), std::end(instruction.source), offset) !=
                    std::end(instruction.source) &&
                ptx::size_of(instruction.type) == 2)
                if (const Type type = pair(instruction.type); type != Type::none) return type;
        }
        return Type::none;
    };
    for (const auto& instruction : program.instructions) {
        const bool matrix = instruction.kind == Kind::matrix || instruction.kind == Kind::matrix_load ||
                            instruction.kind == Kind::matrix_store;
        const bool listed = instruction.list_destinations + instruction.list_sources > 0;
        if (matrix && listed && pair(instruction.type) != Type::none) {
            const auto first = program.lists.begin() + instruction.list;
            const auto last = first + instruction.list_destinations + instruction.list_sources;
            if (std::find(first, last, reg.offset) != last) return pair(instruction.type);
        }
        const bool writes = instruction.destination[0] == reg.offset;
        if (instruction.kind == Kind::lane_wise && ptx::size_of(instruction.type) == 4 &&
            pair(instruction.type) != Type::none &&
            (writes || std::find(std::begin(instruction.source), std::end(instruction.source), reg.offset) !=
                           std::end(instruction.source)))
            return pair(instruction.type);
        const bool packs = writes && ptx::size_of(instruction.destination_type) == 4 && instruction.opcode != nullptr &&
                           instruction.opcode->operands == "pack";
        if (packs)
            if (const Type type = half_at(instruction.source[0]); type != Type::none) return type;
    }
    return Type::none;
}
}  // namespace

ptx::Type type_of_use(const ptx::Program& program, const ptx::Register& reg) {
    using ptx::Type;
    const auto is_float = [](Type t) { return t == Type::f32 || t == Type::f64 || t == Type::f16 || t == Type::bf16; };
    const auto is_signed = [](Type t) { return t == Type::s16 || t == Type::s32 || t == Type::s64 || t == Type::s8; };
    if (reg.type == Type::pred || is_float(reg.type)) return reg.type;
    const size_t bytes = ptx::size_of(reg.type);
    if (bytes == 4)
        if (const Type pair = pair_of_halves(program, reg); pair != Type::none) return pair;
    bool number = false;
    const auto declared = [&](int32_t offset) {
        for (const ptx::Register& one : program.registers)
            if (one.offset == offset) return one.type;
        return Type::none;
    };
    for (const auto& instruction : program.instructions) {
        // The bits of a float on their way to a shuffle or from it.
        if (ptx::facts_of(instruction).does == ptx::Does::copy &&
            (instruction.destination[0] == reg.offset || instruction.source[0] == reg.offset)) {
            const Type other =
                declared(instruction.destination[0] == reg.offset ? instruction.source[0] : instruction.destination[0]);
            if (is_float(other) && ptx::size_of(other) == bytes) return other;
        }
        const bool memory = instruction.kind == ptx::Kind::load || instruction.kind == ptx::Kind::store ||
                            instruction.kind == ptx::Kind::atomic;
        for (const int32_t d : instruction.destination)
            if (d == reg.offset && ptx::size_of(instruction.destination_type) == bytes) {
                if (is_float(instruction.destination_type)) return instruction.destination_type;
                number |= is_signed(instruction.destination_type);
            }
        for (const int32_t s : instruction.source)
            if (s == reg.offset && ptx::size_of(instruction.type) == bytes) {
                if (is_float(instruction.type)) return instruction.type;
                number |= is_signed(instruction.type) && !memory;
            }
    }
    if (bytes == 8) return Type::b64;  // almost always an address
    return number || bytes < 4 ? reg.type == Type::b16 || reg.type == Type::s16 ? Type::s16
                                 : bytes == 4                                   ? Type::s32
                                                                                : reg.type
                               : Type::u32;
}

double number_of(uint64_t bits, ptx::Type type) {
    using ptx::Type;
    switch (type) {
        case Type::f32:
            return std::bit_cast<float>(static_cast<uint32_t>(bits));
        case Type::f64:
            return std::bit_cast<double>(bits);
        case Type::f16:
        case Type::f16x2: {
            const int exponent = static_cast<int>(bits >> 10 & 31);
            const double fraction = static_cast<double>(bits & 1023) / 1024;
            const double sign = bits & 0x8000 ? -1 : 1;  // of two the low one
            if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
            return sign * (exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15));
        }
        case Type::bf16:
        case Type::bf16x2:
            return std::bit_cast<float>(static_cast<uint32_t>(bits << 16));
        case Type::s16:
            return static_cast<int16_t>(bits);
        case Type::s32:
            return static_cast<int32_t>(bits);
        case Type::s64:
            return static_cast<double>(static_cast<int64_t>(bits));
        case Type::b64:
        case Type::u64:
            return NAN;
        case Type::pred:
            return static_cast<double>(bits & 1);
        default:
            return static_cast<double>(bits & 0xffffffffu);
    }
}

std::string text_of(uint64_t bits, ptx::Type type) {
    using ptx::Type;
    if (type == Type::b64 || type == Type::u64)
        return bits < 1'000'000'000 ? with_commas(static_cast<int64_t>(bits)) : fmt::format("0x{:x}", bits);
    if (type == Type::f16x2 || type == Type::bf16x2) {
        const Type half = type == Type::f16x2 ? Type::f16 : Type::bf16;
        return text_of(bits & 0xffff, half) + " | " + text_of(bits >> 16 & 0xffff, half);
    }
    if (type == Type::u32 && (bits >> 31 & 1)) return fmt::format("0x{:08x}", bits & 0xffffffffu);  // a mask
    const double value = number_of(bits, type);
    if (type == Type::f32 || type == Type::f64 || type == Type::f16 || type == Type::bf16) {
        if (std::isnan(value)) return "nan";
        if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
        if (value == std::floor(value) && std::abs(value) < 1e7 && !(value == 0 && std::signbit(value)))
            return with_commas(std::llround(value));
        return fmt::format("{:.5g}", value);
    }
    return with_commas(static_cast<int64_t>(value));
}

}  // namespace lockstep::gui
