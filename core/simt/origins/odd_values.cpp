#include "core/simt/origins/odd_values.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_map>

#include "core/ptx/analyse/dataflow.h"
#include "core/simt/check/faults.h"
#include "core/simt/memory/access.h"
#include "core/simt/origins/observe.h"
#include "core/simt/origins/provenance.h"

namespace lockstep::simt {

namespace {

constexpr uint64_t most_for_divisions = 2'000'000, most_for_names = 30'000'000;  // warp instructions
constexpr uint32_t blocks_for_names = 4;  // what goes wrong with names does so in every block

bool divides(const ptx::DecodedInstruction& i) {
    if (i.kind != ptx::Kind::lane_wise || i.opcode == nullptr || !ptx::is_register(i.source[1])) return false;
    if (i.opcode->name != "div" && i.opcode->name != "rem") return false;
    using enum ptx::Type;
    return i.type == u16 || i.type == s16 || i.type == u32 || i.type == s32 || i.type == u64 || i.type == s64;
}

bool is_extern(const ptx::SharedVariable& variable) {
    return variable.bytes == 0;
}

// The __shared__ array, or the extern one alone, that an instruction names, or whose address comes to it through registers:
// an index into Program::shared_variables, -1: none, or several.
class NamesOfShared {
  public:
    NamesOfShared(const ptx::Program& program, bool only_extern)
        : program_(program), flow_(program), only_extern_(only_extern) {
        of_.resize(program.instructions.size(), -1);
        for (uint32_t pc = 0; pc < of_.size(); ++pc) {
            const ptx::DecodedInstruction& i = program.instructions[pc];
            if ((i.kind != ptx::Kind::load && i.kind != ptx::Kind::store) || i.space != ptx::Space::shared) continue;
            std::set<int> found;
            std::set<std::pair<uint32_t, int32_t>> seen;
            add_named(pc, found);
            if (ptx::is_register(i.address)) add_behind(pc, i.address, found, seen);
            if (found.size() == 1) of_[pc] = *found.begin();
        }
    }
    int at(uint32_t pc) const { return pc < of_.size() ? of_[pc] : -1; }
    size_t used() const {
        std::set<int> names(of_.begin(), of_.end());
        names.erase(-1);
        return names.size();
    }

  private:
    void add_named(uint32_t pc, std::set<int>& found) const {
        const std::string text = ptx::text_of(program_, pc);
        const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; };
        for (size_t v = 0; v < program_.shared_variables.size(); ++v) {
            const ptx::SharedVariable& variable = program_.shared_variables[v];
            if (only_extern_ && !is_extern(variable)) continue;
            for (size_t at = text.find(variable.name); at != std::string::npos; at = text.find(variable.name, at + 1)) {
                const size_t end = at + variable.name.size();
                if (at > 0 && !is_name(text[at - 1]) && text[at - 1] != '%' && (end == text.size() || !is_name(text[end])))
                    found.insert(static_cast<int>(v));
            }
        }
    }
    void add_behind(uint32_t pc, int32_t reg, std::set<int>& found, std::set<std::pair<uint32_t, int32_t>>& seen) const {
        for (const uint32_t definition : ptx::definitions_of(flow_, pc, reg).pcs) {
            if (!seen.insert({definition, reg}).second || seen.size() > 200) continue;
            add_named(definition, found);
            const ptx::DecodedInstruction& i = program_.instructions[definition];
            if (i.kind == ptx::Kind::lane_wise)
                ptx::each_read(program_.lists, i, [&](int32_t source) { add_behind(definition, source, found, seen); });
        }
    }
    const ptx::Program& program_;
    ptx::Flow flow_;
    bool only_extern_;
    std::vector<int> of_;
};

class Oddities : public Observer {
  public:
    Oddities(const ptx::Program& program, const NamesOfShared* names, const NamesOfShared* arrays, bool divisions)
        : program_(program), names_(names), arrays_(arrays), divisions_(divisions) {}

    bool wants(const Block& block) const override { return divisions_ || block.linear < blocks_for_names; }
    bool done() const override { return !divisions_ && ended_ >= blocks_for_names; }
    void ended(const Block& block) override { ended_ += block.linear < blocks_for_names; }

    void before(const Warp& warp) override {
        if (warp.pc() >= program_.instructions.size()) return;
        const uint32_t pc = warp.pc();
        if (arrays_ && arrays_->at(pc) >= 0 && warp.block->linear < blocks_for_names) look_for_neighbour(warp, pc);
        if (!divisions_) return;
        const ptx::DecodedInstruction& i = program_.instructions[pc];
        if (!divides(i) || told_.contains(pc)) return;
        const size_t bytes = ptx::size_of(i.type);
        for (uint32_t rest = lanes_of(warp, i); rest; rest &= rest - 1) {
            const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
            uint64_t divisor = 0;
            std::memcpy(&divisor, operand(warp, i.source[1]) + lane * bytes, bytes);
            if (divisor == 0) return tell_division(warp, pc, lane);
        }
    }
    void after(const Warp& warp, const WarpEvent& event) override {
        if (!names_ || event.kind != WarpEvent::Kind::memory || event.space != ptx::Space::shared || !event.addresses)
            return;
        const int name = names_->at(event.pc);
        if (name < 0) return;
        for (uint32_t rest = event.executed; rest; rest &= rest - 1) {
            const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
            const uint64_t word = uint64_t{warp.block->linear} << 24 | (event.addresses[lane] & (ptx::window_bytes - 1)) / 4;
            Word& w = words_[word];
            const Access now{name, event.pc, warp.index * warp_size + lane};
            if (event.is_store) {
                if (w.last.name >= 0 && w.last.name != name) w.under = w.last;
                if (w.under.name == name) w.under = {};
                w.last = now;
            } else if (w.last.name >= 0 && w.last.name != name && w.under.name == name) {
                tell_names(warp, event, lane, w);
            }
        }
    }
    std::vector<Fault> found;

  private:
    struct Access {
        int name = -1;
        uint32_t pc = 0, thread = 0;
    };
    struct Word {
        Access last, under;  // the last write, and the one of another name that it wrote over
    };

    static uint32_t lanes_of(const Warp& warp, const ptx::DecodedInstruction& i) {
        const uint32_t mask = warp.active();
        if (!ptx::is_register(i.guard)) return mask;
        return mask & (i.guard_negated ? ~*words(warp, i.guard) : *words(warp, i.guard));
    }
    // An index that leads from the array that it counts in into another one: all of it is the block's memory, and no fault.
    void look_for_neighbour(const Warp& warp, uint32_t pc) {
        const ptx::DecodedInstruction& i = program_.instructions[pc];
        const ptx::SharedVariable& own = program_.shared_variables[static_cast<size_t>(arrays_->at(pc))];
        const uint64_t begin = own.offset, end = is_extern(own) ? warp.block->shared.size() : begin + own.bytes;
        const uint32_t mask = lanes_of(warp, i), bytes = static_cast<uint32_t>(ptx::size_of(i.type)) * i.vector;
        if (mask == 0 || cluster_size(*warp.block->grid) > 1 || strayed_.contains(pc)) return;
        thread_local simt::Access access;
        locate(warp, warp.block->grid->plan->steps[pc], mask, access);
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
            const uint64_t address = access.addresses[lane];
            const bool inside = address >= begin && address + bytes <= end, there = address < warp.block->shared.size();
            if (inside || !there) continue;  // what lies outside of the block's memory is a fault
            strayed_.insert(pc);
            const bool is_store = i.kind == ptx::Kind::store;
            Provenance from = provenance_of(warp, pc, lane, {ptx::Space::shared, address, bytes, is_store});
            if (from.reason.empty()) return;
            Fault fault = *make_fault(warp, pc, lane, "memcheck", {}, address);
            fault.warning = true;
            fault.message =
                std::string("shared ") + (is_store ? "write" : "read") + " of " + bytes_text(bytes) + from.reason;
            fault.advice = std::move(from.advice);
            fault.allocation = std::move(from.allocation);
            fault.offset = from.offset;
            found.push_back(std::move(fault));
            return;
        }
    }

    Dim3 index(uint32_t thread) const {
        const Dim3 extent = extent_;
        return {thread % extent.x, thread / extent.x % extent.y, thread / extent.x / extent.y};
    }
    void tell_division(const Warp& warp, uint32_t pc, uint32_t lane) {
        told_.insert(pc);
        const ptx::DecodedInstruction& i = program_.instructions[pc];
        Fault fault = *make_fault(warp, pc, lane, "outputs", {});
        fault.warning = true;
        fault.message = std::string(i.opcode->name == "rem" ? "a remainder of a division by zero" : "a division by zero") +
                        " of integers at " + place_of(program_, pc) +
                        ": a GPU goes on without a word, and the result has all bits set";
        fault.advice = "Test the divisor before the division.";
        found.push_back(std::move(fault));
    }
    void tell_names(const Warp& warp, const WarpEvent& event, uint32_t lane, const Word& w) {
        extent_ = warp.block->grid->config->block;
        if (!told_names_.insert({w.last.name, w.under.name}).second) return;
        const auto name = [&](int v) {
            return "'" + readable_variable(program_.shared_variables[static_cast<size_t>(v)].name) + "'";
        };
        Fault fault = *make_fault(warp, event.pc, lane, "outputs", {});
        fault.warning = true;
        fault.message = name(w.under.name) + " and " + name(w.last.name) +
                        " are both extern __shared__, so they are the same bytes: what thread " +
                        triple(index(w.under.thread)) + " wrote to " + name(w.under.name) + " at " +
                        place_of(program_, w.under.pc) + " was overwritten through " + name(w.last.name) + " by thread " +
                        triple(index(w.last.thread)) + " at " + place_of(program_, w.last.pc) + ", and is read as " +
                        name(w.under.name) + " at " + place_of(program_, event.pc);
        fault.advice =
            "Declare one extern __shared__ array, let the second one be a pointer behind the first one's elements, "
            "and ask for the bytes of both at the launch.";
        found.push_back(std::move(fault));
    }

    const ptx::Program& program_;
    const NamesOfShared* names_;   // extern ones; null: fewer than two are used
    const NamesOfShared* arrays_;  // all; null: there are fewer than two
    bool divisions_;
    uint32_t ended_ = 0;
    Dim3 extent_;
    std::set<uint32_t> told_, strayed_;
    std::set<std::pair<int, int>> told_names_;
    std::unordered_map<uint64_t, Word> words_;
};

}  // namespace

std::vector<Fault> odd_values(const ptx::Program& program, const LaunchConfig& config, const Memory& before,
                              const LaunchOptions& options, uint64_t warp_instructions) {
    const bool divisions = warp_instructions <= most_for_divisions &&
                           std::any_of(program.instructions.begin(), program.instructions.end(), divides);
    const auto& variables = program.shared_variables;
    const bool is_short = warp_instructions <= most_for_names;
    std::optional<NamesOfShared> names, arrays;
    if (is_short && std::count_if(variables.begin(), variables.end(), is_extern) > 1) names.emplace(program, true);
    if (is_short && variables.size() > 1) arrays.emplace(program, false);
    if (names && names->used() < 2) names.reset();
    if (arrays && arrays->used() < 1) arrays.reset();
    if (!divisions && !names && !arrays) return {};
    Oddities oddities(program, names ? &*names : nullptr, arrays ? &*arrays : nullptr, divisions);
    Memory memory(before);
    launch_observed(program, config, memory, options, oddities);
    return std::move(oddities.found);
}

}  // namespace lockstep::simt
