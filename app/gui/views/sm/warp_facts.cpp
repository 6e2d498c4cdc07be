#include "app/gui/views/sm/warp_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/units.h"
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

namespace {

std::string length_of(const StallRun& stall) {
    const int64_t cycles = stall.end - stall.begin;
    return counted(cycles, "cycle");
}

// Who issued on the warp's scheduler instead, in the wait's first cycle; null: nobody.
const IssueRecord* picked_instead(const KernelTrace& trace, uint32_t warp, int64_t cycle) {
    const auto first = std::partition_point(trace.issues.begin(), trace.issues.end(),
                                            [&](const IssueRecord& i) { return i.cycle < cycle; });
    for (auto i = first; i != trace.issues.end() && i->cycle == cycle; ++i)
        if (i->warp < trace.warps.size() && trace.warps[i->warp].scheduler == trace.warps[warp].scheduler) return &*i;
    return nullptr;
}

// A wait that no instruction of the trace is the cause of.
void explain_alone(Wait& wait, const Timeline& timeline, uint32_t warp, const StallRun& stall, const std::string& where) {
    const KernelTrace& trace = timeline.trace();
    if (stall.reason == StallReason::not_selected && warp < trace.warps.size())
        if (const IssueRecord* picked = picked_instead(trace, warp, stall.begin); picked != nullptr) {
            const WarpTrack& other = trace.warps[picked->warp];
            wait.cause = picked;
            wait.sentence =
                fmt::format("Ready at {}, but warp {} of block {} was picked", where, other.warp_in_block, other.block);
            wait.chip =
                fmt::format("ready, but w{} of b{} was picked, {}", other.warp_in_block, other.block, length_of(stall));
            return;
        }
    wait.sentence = fmt::format("At {} it {}", where, doing_alone(stall.reason));
    wait.chip = fmt::format("{}, {}", row_of(stall.reason).label, length_of(stall));
    if (instruction_at(timeline, stall.pc) != nullptr)
        wait.chip = operation_of(*timeline.run->program, stall.pc) + ": " + wait.chip;
}

const WarpTrack& warp_of_cause(const Wait& wait, const KernelTrace& trace) {
    return trace.warps[std::min<size_t>(wait.cause->warp, trace.warps.size() - 1)];
}

// Not a value but an event ended the wait: the last warp at a barrier.
void explain_event(Wait& wait, const Timeline& timeline, const StallRun& stall, const ptx::DecodedInstruction& event) {
    const WarpTrack& other = warp_of_cause(wait, timeline.trace());
    wait.sentence = fmt::format("At {} it {} until warp {} of block {} is there", place(event.line, wait.cause->pc),
                                doing_alone(stall.reason), other.warp_in_block, other.block);
    wait.chip = fmt::format("{}, until warp {} at {}", operation_of(*timeline.run->program, wait.cause->pc),
                            other.warp_in_block, with_commas(wait.cause->cycle));
}

bool is_throttle(StallReason reason) {
    return reason == StallReason::lg_throttle || reason == StallReason::mio_throttle ||
           reason == StallReason::math_pipe_throttle || reason == StallReason::dispatch_stall;
}

// A unit or a queue is full, and an instruction holds it.
void explain_throttle(Wait& wait, const Timeline& timeline, uint32_t warp, const StallRun& stall,
                      const ptx::DecodedInstruction& holder, const std::string& where) {
    const WarpTrack& other = warp_of_cause(wait, timeline.trace());
    const bool own = wait.cause->warp == warp;
    const std::string name = operation_of(*timeline.run->program, wait.cause->pc);
    wait.sentence = fmt::format("At {} it {}, held by {} of {}{}", where, doing_alone(stall.reason), name,
                                place(holder.line, wait.cause->pc),
                                own ? " before it" : fmt::format(", warp {} of block {}", other.warp_in_block, other.block));
    wait.chip =
        fmt::format("{}, held by {}{}, {}", row_of(stall.reason).label, name,
                    own ? " before it" : fmt::format(" of w{} b{}", other.warp_in_block, other.block), length_of(stall));
}

// The register that the producer writes and the waiting instruction reads.
std::string register_between(const ptx::Program& program, const ptx::DecodedInstruction& producer,
                             const ptx::DecodedInstruction& waiting) {
    std::string reg;
    ptx::each_written(program.lists, producer, [&](int32_t written) {
        ptx::each_read(program.lists, waiting, [&](int32_t read) {
            if (reg.empty() && written == read) reg = name_at(program, written);
        });
    });
    return reg;
}

// What a load brings or a store writes, in the source's words: "A[row][k]".
std::string moved_by(const Timeline& timeline, const ptx::DecodedInstruction& producer, uint32_t pc) {
    if (producer.kind == ptx::Kind::load) return loaded_by(*timeline.run->program, timeline.run->source, pc);
    return producer.kind == ptx::Kind::store ? subscript_of(timeline.run->source, producer.line, true) : std::string{};
}

bool waits_for_value(StallReason reason) {
    return reason == StallReason::long_scoreboard || reason == StallReason::short_scoreboard || reason == StallReason::wait;
}

void explain_value(Wait& wait, const Timeline& timeline, uint32_t warp, const StallRun& stall,
                   const ptx::DecodedInstruction& producer, const std::string& where) {
    const ptx::Program& program = *timeline.run->program;
    const IssueRecord& cause = *wait.cause;
    const ptx::DecodedInstruction* waiting = instruction_at(timeline, stall.pc);
    wait.begin = cause.sent();
    if (waits_for_value(stall.reason)) wait.end = std::max(cause.ready, stall.end);
    const std::string reg = cause.warp == warp && waiting ? register_between(program, producer, *waiting) : std::string();
    const std::string what = moved_by(timeline, producer, cause.pc), operation = operation_of(program, cause.pc);
    const bool load = producer.kind == ptx::Kind::load && producer.space != ptx::Space::param;
    const std::string from = load ? fmt::format("the load of {}", what.empty() ? place(producer.line, cause.pc) : what)
                                  : fmt::format("{} of {}", operation, place(producer.line, cause.pc));
    wait.sentence = fmt::format("Waits at {} for {}{}", where, reg.empty() ? "" : reg + ", ", from);
    wait.chip = operation;
    if (!what.empty())
        wait.chip += " " + what;
    else if (producer.line > 0)
        wait.chip += fmt::format(", line {}", producer.line);
    if (cause.level != MemoryLevel::none)
        wait.chip += fmt::format(", {}", served_by(cause.level, cause.ready - wait.begin, timeline.run->gpu));
    wait.chip += fmt::format(", {}", counted(wait.end - wait.begin, "cycle"));
    if (cause.early != 0) wait.chip += fmt::format(" from {} on: ptxas moves it up", with_commas(wait.begin));
}

}  // namespace

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
    if (!producer)
        explain_alone(wait, timeline, warp, stall, where);
    else if (wait.cause->cycle >= stall.begin)
        explain_event(wait, timeline, stall, *producer);
    else if (is_throttle(stall.reason))
        explain_throttle(wait, timeline, warp, stall, *producer, where);
    else
        explain_value(wait, timeline, warp, stall, *producer, where);
    return wait;
}

namespace {

StallReason wait_for_writer(const ptx::DecodedInstruction& writer) {
    using ptx::Kind;
    const bool on_xu = writer.opcode != nullptr && writer.opcode->unit == ptx::Unit::xu;
    switch (writer.kind) {
        case Kind::load:
        case Kind::atomic:
            if (writer.space == ptx::Space::param || writer.space == ptx::Space::constant) return StallReason::wait;
            return writer.space == ptx::Space::shared ? StallReason::short_scoreboard : StallReason::long_scoreboard;
        case Kind::shuffle:
        case Kind::mbarrier:
            return StallReason::short_scoreboard;
        default:
            return on_xu ? StallReason::short_scoreboard : StallReason::wait;
    }
}

}  // namespace

StallReason wait_for_result(const Timeline& timeline, const WarpTrack& warp, uint32_t index) {
    const IssueRecord& issue = timeline.trace().issues[index];
    const ptx::DecodedInstruction* writer = instruction_at(timeline, issue.pc);
    if (issue.level >= MemoryLevel::l1) return StallReason::long_scoreboard;
    if (issue.level == MemoryLevel::shared) return StallReason::short_scoreboard;
    for (const StallRun& run : runs_in(warp, issue.sent(), issue.ready))  // the timeline says it, where the warp did wait
        if (run.cause == static_cast<int32_t>(index) && run.end >= issue.ready && waits_for_value(run.reason))
            return run.reason;
    return writer == nullptr ? StallReason::wait : wait_for_writer(*writer);
}

namespace {

// The registers that a warp works with around a step: what its next instruction reads, what was written last.
std::vector<int32_t> registers_around(const Timeline& timeline, const WarpTrack& warp, int64_t step, size_t most) {
    const auto& lists = timeline.run->program->lists;
    const auto count = static_cast<int64_t>(warp.issues.size());
    std::vector<int32_t> order;
    const auto want = [&](int32_t offset) {
        if (std::find(order.begin(), order.end(), offset) == order.end()) order.push_back(offset);
    };
    const auto instruction = [&](int64_t i) {
        return instruction_at(timeline, timeline.trace().issues[warp.issues[static_cast<size_t>(i)]].pc);
    };
    if (step >= 0 && step < count)
        if (const auto* next = instruction(step)) ptx::each_read(lists, *next, want);
    for (int64_t i = std::min(step, count) - 1; i >= 0 && i > step - 400 && order.size() < most; --i)
        if (const auto* done = instruction(i)) ptx::each_written(lists, *done, want);
    // Where the trace begins not long before, also what was written earlier and is read soon.
    if (warp.issued_before == 0) return order;
    for (int64_t i = std::max<int64_t>(0, step); i < std::min(count, step + 100) && order.size() < most; ++i)
        if (const auto* soon = instruction(i)) ptx::each_read(lists, *soon, want);
    return order;
}

// Who wrote the register last before `step`, and when its value is there.
void note_writer(RegisterRow& row, const Timeline& timeline, const WarpTrack& warp, int64_t step, int32_t offset) {
    const auto count = static_cast<int64_t>(warp.issues.size());
    for (int64_t i = std::min(step, count) - 1; i >= 0 && row.holds.empty(); --i) {
        const uint32_t index = warp.issues[static_cast<size_t>(i)];
        const IssueRecord& issue = timeline.trace().issues[index];
        const auto* writer = instruction_at(timeline, issue.pc);
        if (!writer) continue;
        ptx::each_written(timeline.run->program->lists, *writer, [&](int32_t written) {
            if (written != offset) return;
            row.holds = holds(timeline, issue.pc);
            row.ready = issue.ready;
            row.waits = wait_for_result(timeline, warp, index);
        });
    }
}

}  // namespace

std::vector<RegisterRow> registers_shown(const Timeline& timeline, const WarpTrack& warp, int64_t step,
                                         const std::vector<simt::LaneValues>& lanes, size_t most) {
    std::vector<RegisterRow> rows;
    step -= static_cast<int64_t>(warp.issued_before);  // from here on among those that the trace holds
    for (const int32_t offset : registers_around(timeline, warp, step, 4 * most)) {
        const auto value =
            std::find_if(lanes.begin(), lanes.end(), [&](const simt::LaneValues& v) { return v.reg.offset == offset; });
        if (value == lanes.end() || rows.size() >= most) continue;
        RegisterRow row{static_cast<size_t>(value - lanes.begin()), value->reg.name, {}, 0};
        note_writer(row, timeline, warp, step, offset);
        rows.push_back(std::move(row));
    }
    return rows;
}

namespace {

using ptx::Type;

bool is_float(Type t) {
    return t == Type::f32 || t == Type::f64 || t == Type::f16 || t == Type::bf16;
}
bool is_signed(Type t) {
    return t == Type::s16 || t == Type::s32 || t == Type::s64 || t == Type::s8;
}
Type pair_of(Type type) {  // the type of two halves in one register
    return type == Type::f16 || type == Type::f16x2     ? Type::f16x2
           : type == Type::bf16 || type == Type::bf16x2 ? Type::bf16x2
                                                        : Type::none;
}

bool has_source(const ptx::DecodedInstruction& instruction, int32_t offset) {
    return std::find(std::begin(instruction.source), std::end(instruction.source), offset) != std::end(instruction.source);
}

// What a register of 16 bits is used as, as a half of a pair.
Type pair_by_half(const ptx::Program& program, int32_t offset) {
    for (const auto& instruction : program.instructions) {
        if (instruction.destination[0] == offset && ptx::size_of(instruction.destination_type) == 2)
            if (const Type type = pair_of(instruction.destination_type); type != Type::none) return type;
        if (has_source(instruction, offset) && ptx::size_of(instruction.type) == 2)
            if (const Type type = pair_of(instruction.type); type != Type::none) return type;
    }
    return Type::none;
}

bool is_in_matrix(const ptx::Program& program, const ptx::DecodedInstruction& instruction, int32_t offset) {
    using ptx::Kind;
    if (instruction.kind != Kind::matrix && instruction.kind != Kind::matrix_load && instruction.kind != Kind::matrix_store)
        return false;
    const auto first = program.lists.begin() + instruction.list;
    const auto last = first + instruction.list_destinations + instruction.list_sources;
    return std::find(first, last, offset) != last;
}

// Two halves in a register of 32 bits: the elements of a matrix's tile, an operand of f16x2, or what is packed out of two.
Type pair_of_halves(const ptx::Program& program, const ptx::Register& reg) {
    for (const auto& instruction : program.instructions) {
        const Type pair = pair_of(instruction.type);
        if (pair != Type::none && is_in_matrix(program, instruction, reg.offset)) return pair;
        const bool writes = instruction.destination[0] == reg.offset;
        const bool pairs = instruction.kind == ptx::Kind::lane_wise && ptx::size_of(instruction.type) == 4;
        if (pairs && pair != Type::none && (writes || has_source(instruction, reg.offset))) return pair;
        const bool packs = writes && ptx::size_of(instruction.destination_type) == 4 && instruction.opcode != nullptr &&
                           instruction.opcode->operands == "pack";
        if (packs)
            if (const Type type = pair_by_half(program, instruction.source[0]); type != Type::none) return type;
    }
    return Type::none;
}

Type declared_type(const ptx::Program& program, int32_t offset) {
    for (const ptx::Register& reg : program.registers)
        if (reg.offset == offset) return reg.type;
    return Type::none;
}

// The float whose bits an instruction copies from or to the register, on their way to a shuffle or from it; none: another.
Type float_copied(const ptx::Program& program, const ptx::DecodedInstruction& instruction, const ptx::Register& reg) {
    const int32_t to = instruction.destination[0], from = instruction.source[0];
    if (ptx::facts_of(instruction).does != ptx::Does::copy || (to != reg.offset && from != reg.offset)) return Type::none;
    const Type other = declared_type(program, to == reg.offset ? from : to);
    return is_float(other) && ptx::size_of(other) == ptx::size_of(reg.type) ? other : Type::none;
}

// What an instruction takes or makes the register for; none: it does not touch it, or not as a whole.
Type type_written(const ptx::DecodedInstruction& instruction, const ptx::Register& reg) {
    const bool whole = ptx::size_of(instruction.destination_type) == ptx::size_of(reg.type);
    const auto& written = instruction.destination;
    return whole && std::find(std::begin(written), std::end(written), reg.offset) != std::end(written)
               ? instruction.destination_type
               : Type::none;
}
Type type_read(const ptx::DecodedInstruction& instruction, const ptx::Register& reg) {
    const bool whole = ptx::size_of(instruction.type) == ptx::size_of(reg.type);
    return whole && has_source(instruction, reg.offset) ? instruction.type : Type::none;
}

Type integer_of(const ptx::Register& reg, bool has_sign) {
    const size_t bytes = ptx::size_of(reg.type);
    if (bytes == 8) return Type::b64;  // almost always an address
    if (!has_sign && bytes >= 4) return Type::u32;
    if (reg.type == Type::b16 || reg.type == Type::s16) return Type::s16;
    return bytes == 4 ? Type::s32 : reg.type;
}

}  // namespace

ptx::Type type_of_use(const ptx::Program& program, const ptx::Register& reg) {
    if (reg.type == Type::pred || is_float(reg.type)) return reg.type;
    const size_t bytes = ptx::size_of(reg.type);
    if (bytes == 4)
        if (const Type pair = pair_of_halves(program, reg); pair != Type::none) return pair;
    bool number = false;  // it has a sign
    for (const auto& instruction : program.instructions) {
        if (const Type copied = float_copied(program, instruction, reg); copied != Type::none) return copied;
        const bool memory = instruction.kind == ptx::Kind::load || instruction.kind == ptx::Kind::store ||
                            instruction.kind == ptx::Kind::atomic;
        const Type written = type_written(instruction, reg), read = type_read(instruction, reg);
        if (is_float(written)) return written;
        if (is_float(read)) return read;
        number |= is_signed(written) || (is_signed(read) && !memory);
    }
    return integer_of(reg, number);
}

static double number_of_half(uint64_t bits) {  // of two the low one
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const double fraction = static_cast<double>(bits & 1023) / 1024, sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
    return sign * (exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15));
}

double number_of(uint64_t bits, ptx::Type type) {
    using ptx::Type;
    switch (type) {
        case Type::f32:
            return std::bit_cast<float>(static_cast<uint32_t>(bits));
        case Type::f64:
            return std::bit_cast<double>(bits);
        case Type::f16:
        case Type::f16x2:
            return number_of_half(bits);
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

static std::string float_text(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    const bool minus_zero = value == 0 && std::signbit(value);
    if (value == std::floor(value) && std::abs(value) < 1e7 && !minus_zero) return with_commas(std::llround(value));
    return fmt::format("{:.5g}", value);
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
    return is_float(type) ? float_text(value) : with_commas(static_cast<int64_t>(value));
}

}  // namespace lockstep::gui
