#include "core/simt/origins/unset_registers.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <regex>
#include <unordered_map>

#include "core/base/diagnostic.h"
#include "core/ptx/analyse/dataflow.h"
#include "core/simt/check/faults.h"
#include "core/simt/check/source_text.h"
#include "core/simt/memory/access.h"
#include "core/simt/origins/observe.h"

namespace lockstep::simt {

namespace {

constexpr uint64_t most_for_registers = 20'000'000;  // warp instructions
constexpr uint32_t blocks_for_registers = 4;         // a variable without a value lacks it in every block
constexpr size_t most_told = 3;

// What an undefined source does to a result.
enum class Passes : uint8_t { nothing, as_copy, as_arithmetic, as_bits };
Passes passes(const ptx::DecodedInstruction& i) {
    using enum ptx::Type;
    if (i.kind == ptx::Kind::matrix) return Passes::as_arithmetic;
    if (i.kind != ptx::Kind::lane_wise || !i.opcode || i.list_sources > 0 || i.list_destinations > 0) return Passes::nothing;
    if (i.type == f16x2 || i.type == bf16x2) return Passes::nothing;  // half of it may be nobody's business
    const std::string_view name = i.opcode->name;
    for (const std::string_view copy : {"mov", "cvt", "selp", "cvta"})
        if (name == copy) return Passes::as_copy;
    for (const std::string_view bits : {"and", "or"})
        if (name == bits) return Passes::as_bits;
    for (const std::string_view op : {"add", "sub",   "mul", "mad", "fma", "min", "max",  "abs", "neg", "div",   "sqrt",
                                      "rcp", "rsqrt", "ex2", "lg2", "sin", "cos", "setp", "xor", "not", "mul24", "mad24"})
        if (name == op) return Passes::as_arithmetic;
    return Passes::nothing;
}

struct Undefined {  // what lanes of a warp hold of it
    uint32_t lanes = 0;
    uint32_t made = ptx::no_pc;  // the first arithmetic that took it in
    int32_t from = 0;            // the register that was never set
};

class UnsetWatch : public Observer {
  public:
    UnsetWatch(const ptx::Program& program, std::vector<int32_t> registers)
        : program_(program), registers_(std::move(registers)) {}

    bool wants(const Block& block) const override { return block.linear < blocks_for_registers; }
    bool done() const override { return ended_ >= blocks_for_registers || found.size() >= most_told; }
    void ended(const Block& block) override { ended_ += block.linear < blocks_for_registers; }

    void before(const Warp& warp) override {
        if (warp.pc() >= program_.instructions.size()) return;
        const ptx::DecodedInstruction& i = program_.instructions[warp.pc()];
        before_ = 0;
        if (i.opcode && i.opcode->name == "selp" && ptx::is_register(i.source[2]))
            before_ = *words(warp, i.source[2]) ^ (i.negated_source ? full_mask : 0);
        // Lanes whose other operand alone says what an `and` or an `or` gives.
        if (passes(i) == Passes::as_bits)
            for (size_t s = 0; s < 2; ++s) decided_[s] = lanes_that_decide(warp, i, s);
    }
    void after(const Warp& warp, const WarpEvent& event) override {
        if (!warp.frames.empty() || event.pc >= program_.instructions.size()) return;
        auto& held = held_of(warp);
        if (held.empty()) return;
        const ptx::DecodedInstruction& i = program_.instructions[event.pc];
        if (i.kind == ptx::Kind::call) {  // what a function does with it is not followed
            held.clear();
            return;
        }
        Undefined source;
        const auto add = [&](int32_t reg, uint32_t lanes) {
            const auto found_at = held.find(reg);
            if (found_at == held.end()) return;
            lanes &= found_at->second.lanes;
            if (lanes == 0) return;
            if (source.lanes == 0 || source.made == ptx::no_pc)
                source.made = found_at->second.made, source.from = found_at->second.from;
            source.lanes |= lanes;
        };
        uint32_t addressed = 0;
        ptx::each_use(program_.lists, i, [&](const ptx::RegisterUse& use) {
            if (use.role == ptx::Role::address) {
                const auto at = held.find(use.reg);
                if (at != held.end() && at->second.made != ptx::no_pc) addressed |= at->second.lanes, source = at->second;
            }
        });
        const uint32_t ran = event.executed;
        if (addressed & ran) return tell(warp, event.pc, addressed & ran, source, "is taken for an address");
        const bool selects = i.opcode && i.opcode->name == "selp" && ptx::is_register(i.source[2]);
        if (selects) {
            add(i.source[0], before_);
            add(i.source[1], ~before_);
            add(i.source[2], full_mask);
        } else {
            ptx::each_use(program_.lists, i, [&](const ptx::RegisterUse& use) {
                if (use.role != ptx::Role::source) return;
                uint32_t lanes = full_mask;
                if (passes(i) == Passes::as_bits && use.index < 2) lanes = ~decided_[1 - use.index];
                add(use.reg, lanes);
            });
        }
        const bool turns = i.kind == ptx::Kind::branch || i.kind == ptx::Kind::exit || i.kind == ptx::Kind::branch_table;
        if (turns && ptx::is_register(i.guard)) add(i.guard, full_mask);
        source.lanes &= turns ? event.active : ran;
        if (source.lanes && source.made != ptx::no_pc) {
            if (turns) return tell(warp, event.pc, source.lanes, source, "decides which way a thread goes");
            if (i.kind == ptx::Kind::store) return tell(warp, event.pc, source.lanes, source, "is stored");
            if (i.kind == ptx::Kind::matrix_store) return tell(warp, event.pc, source.lanes, source, "is stored");
            if (i.kind == ptx::Kind::atomic) return tell(warp, event.pc, source.lanes, source, "goes into an atomic");
        }
        const Passes how = passes(i);
        Undefined result = source;
        if (how == Passes::nothing) result.lanes = 0;
        if (how == Passes::as_arithmetic && result.lanes && result.made == ptx::no_pc) result.made = event.pc;
        ptx::each_written(program_.lists, i, [&](int32_t reg) {
            Undefined& now = held[reg];
            now.lanes = (now.lanes & ~ran) | result.lanes;
            if (result.lanes) now.made = result.made, now.from = result.from;
            if (now.lanes == 0) held.erase(reg);
        });
    }
    std::vector<Fault> found;

  private:
    uint32_t lanes_that_decide(const Warp& warp, const ptx::DecodedInstruction& i, size_t s) const {
        const int32_t reg = i.source[s];
        if (reg == ptx::no_operand) return 0;
        const bool one_decides = i.opcode->name == "or";
        if (i.type == ptx::Type::pred) return one_decides ? *words(warp, reg) : ~*words(warp, reg);
        if (ptx::size_of(i.type) != 4) return 0;
        uint32_t lanes = 0;
        for (uint32_t lane = 0; lane < warp_size; ++lane)
            lanes |= uint32_t{words(warp, reg)[lane] == (one_decides ? ~0u : 0u)} << lane;
        return lanes;
    }
    std::map<int32_t, Undefined>& held_of(const Warp& warp) {
        const uint64_t key = uint64_t{warp.block->linear} << 6 | warp.index;
        const auto [at, fresh] = held_.try_emplace(key);
        if (fresh)
            for (const int32_t reg : registers_) at->second[reg] = {full_mask, ptx::no_pc, reg};
        return at->second;
    }
    std::string line_text(uint32_t pc) {
        const ptx::DecodedInstruction& i = program_.instructions[pc];
        return i.line > 0 ? line_of(source_.text_of(program_, i.file), i.line) : "";
    }
    void tell(const Warp& warp, uint32_t pc, uint32_t lanes, const Undefined& value, const char* use) {
        held_of(warp).erase(value.from);
        if (std::find(told_.begin(), told_.end(), value.from) != told_.end()) return;
        told_.push_back(value.from);
        const std::string variable = accumulator_in(line_text(value.made));
        const auto reg = std::find_if(program_.registers.begin(), program_.registers.end(),
                                      [&](const ptx::Register& r) { return r.function == 0 && r.offset == value.from; });
        const std::string name = reg == program_.registers.end() ? "a register" : "register " + reg->name;
        Fault fault = *make_fault(warp, value.made, static_cast<uint32_t>(__builtin_ctz(lanes)), "initcheck", {});
        fault.warning = true;
        fault.message = "a local variable is used before it has a value: " +
                        (variable.empty() ? name + " is read at " : "'" + variable + "' is read at ") +
                        place_of(program_, value.made) + " and nothing has set it before" +
                        (variable.empty() || reg == program_.registers.end() ? "" : " (" + name + ")") +
                        "; what is made of it " + use + " at " + place_of(program_, pc) +
                        ". Here a register begins at 0; on a GPU it holds what was there before";
        fault.advice = variable.empty() ? "Give the variable a value where it is declared."
                                        : "Give '" + variable + "' a value where it is declared, 0 for a sum.";
        found.push_back(std::move(fault));
    }

    const ptx::Program& program_;
    std::vector<int32_t> registers_, told_;
    SourceText source_;
    std::unordered_map<uint64_t, std::map<int32_t, Undefined>> held_;  // by block and warp
    uint32_t ended_ = 0, before_ = 0;
    uint32_t decided_[2] = {0, 0};
};

}  // namespace

std::vector<int32_t> registers_never_set(const ptx::Program& program) {
    const uint32_t end =
        program.functions.empty() ? static_cast<uint32_t>(program.instructions.size()) : program.functions[0].end;
    if (end == 0) return {};
    const ptx::Liveness live(program.instructions, program.lists, 0, end);
    if (!live.known()) return {};
    std::vector<int32_t> registers = live.before(0);
    if (!program.functions.empty())  // these begin with where local memory does
        std::erase_if(registers,
                      [&](int32_t reg) { return reg == program.functions[0].base32 || reg == program.functions[0].base64; });
    return registers;
}

std::string accumulator_in(const std::string& line) {
    static const std::regex compound(R"(([A-Za-z_]\w*)(\s*\[[^\]]*\])*(\.\w+)?\s*(?:[-+*/%&|^]|<<|>>)=)");
    static const std::regex counted(R"(([A-Za-z_]\w*)\s*(?:\+\+|--)|(?:\+\+|--)\s*([A-Za-z_]\w*))");
    static const std::regex again(R"(([A-Za-z_]\w*)\s*=[^=].*\b\1\b)");
    const auto is_set_here = [&](const std::string& name) {
        return std::regex_search(
            line, std::regex(R"(\b(int|unsigned|float|double|auto|size_t|long|short|char)\s+)" + name + R"(\s*=)"));
    };
    for (const std::regex* const form : {&compound, &counted, &again})
        for (std::sregex_iterator at(line.begin(), line.end(), *form), none; at != none; ++at) {
            const std::string name = (*at)[1].matched ? (*at)[1].str() : (*at)[2].str();
            if (!is_set_here(name)) return name;
        }
    return {};
}

std::vector<Fault> unset_registers(const ptx::Program& program, const LaunchConfig& config, const Memory& before,
                                   const LaunchOptions& options, uint64_t warp_instructions) {
    if (warp_instructions > most_for_registers) return {};
    std::vector<int32_t> registers = registers_never_set(program);
    if (registers.empty()) return {};
    UnsetWatch watch(program, std::move(registers));
    Memory memory(before);
    launch_observed(program, config, memory, options, watch);
    return std::move(watch.found);
}

}  // namespace lockstep::simt
