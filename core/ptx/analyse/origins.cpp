// Origins of values: each instruction gives its results the origins of its sources, again whenever those of a source grow.
// An origin of a register can change three times (found, then of an unknown offset, then direct too), so that this ends.
#include <cstring>
#include <deque>

#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"

namespace lockstep::ptx {

namespace {

constexpr size_t most_origins = 64;  // of a register; beyond them its value may come from anywhere

Effect effect_of(const DecodedInstruction& i, size_t source) {
    if (i.opcode == nullptr) return Effect::moved;  // a program made by hand
    const OfAddress& left = i.opcode->facts.of_address;
    return (left.sources >> source & 1) != 0 ? left.effect : Effect::made_of;
}

std::optional<int64_t> number_in(const Program& program, int32_t operand, Type type) {
    if (operand >= 0 || size_of(type) != 8) return {};
    const auto at = static_cast<size_t>(~operand);
    if (at + 8 > program.constants.size()) return {};
    int64_t number = 0;
    std::memcpy(&number, program.constants.data() + at, 8);
    return number;
}

// Adds an origin to others; true where that tells more than before.
bool join(std::vector<Origin>& known, const Origin& more) {
    if (known.size() == 1 && known[0].from == Origin::From::unknown) return false;
    for (Origin& same : known) {
        if (same.from != more.from || same.index != more.index || same.at != more.at) continue;
        const Origin before = same;
        same.offset = same.direct && more.direct && same.offset == more.offset ? same.offset : std::nullopt;
        same.direct |= more.direct;
        same.pc = std::min(same.pc, more.pc);
        return same != before;
    }
    if (more.from == Origin::From::unknown || known.size() == most_origins)
        known = {Origin{.from = Origin::From::unknown, .direct = true, .pc = more.pc}};
    else
        known.push_back(more);
    return true;
}

}  // namespace

struct OriginsSolver {
    Origins& origins;
    const Program& program;
    std::vector<std::vector<uint32_t>> users{};  // by place: instructions to look at again when it grows
    std::deque<uint32_t> work{};
    std::vector<bool> waiting{};

    void push(uint32_t pc) {
        if (waiting[pc]) return;
        waiting[pc] = true;
        work.push_back(pc);
    }
    void add(size_t place, const Origin& origin) {
        if (place >= origins.of_.size() || !join(origins.of_[place], origin)) return;
        for (const uint32_t pc : users[place]) push(pc);
    }
    void add_result(uint32_t pc, int32_t reg, const Origin& origin) { add(origins.place_of(pc, reg), origin); }

    void give_to_results(uint32_t pc, const Origin& origin) {
        each_written(program.lists, program.instructions[pc], [&](int32_t reg) { add_result(pc, reg, origin); });
    }

    Origin parameter_at(uint64_t byte, uint32_t pc) const {
        for (size_t k = 0; k < program.parameters.size(); ++k)
            if (const Parameter& p = program.parameters[k]; byte - p.offset < p.bytes)
                return {.from = Origin::From::parameter,
                        .direct = true,
                        .index = static_cast<int32_t>(k),
                        .at = static_cast<uint32_t>(byte - p.offset),
                        .offset = 0,
                        .pc = pc};
        return {.from = Origin::From::memory, .direct = true, .pc = pc};
    }

    void load(uint32_t pc) {
        const DecodedInstruction& i = program.instructions[pc];
        const bool parameter = i.space == Space::param && i.address == no_operand;
        const Origin memory{.from = Origin::From::memory, .direct = true, .pc = pc};
        each_use(program.lists, i, [&](const RegisterUse& use) {
            if (use.role != Role::destination) return;
            if (parameter)
                add_result(pc, use.reg, parameter_at(static_cast<uint64_t>(i.offset) + use.index * size_of(i.type), pc));
            else if (i.space == Space::param || size_of(i.destination_type) >= 8)
                add_result(pc, use.reg, memory);
        });
    }

    void special(uint32_t pc) {
        const DecodedInstruction& i = program.instructions[pc];
        const SpecialView view = as_special(i);
        if (view.variable >= 0)
            give_to_results(pc, {Origin::From::variable, true, view.variable, 0, view.offset, pc});
        else if (view.which != SpecialRegister::variable_address)
            give_to_results(pc, {Origin::From::special, true, static_cast<int32_t>(view.which), 0, 0, pc});
    }

    // Registers among the sources, each time that they stand there; with it goes the source that an addition would add.
    template <class Take>
    void each_source(const DecodedInstruction& i, Take&& take) const {
        for (size_t k = 0; k < std::size(i.source); ++k)
            if (is_register(i.source[k])) take(i.source[k], effect_of(i, k), i.source[k == 0 ? 1 : 0]);
        for (size_t k = 0; k < i.list_sources; ++k)
            if (const int32_t reg = program.lists[i.list + i.list_destinations + k]; is_register(reg))
                take(reg, Effect::made_of, no_operand);
    }

    // What sources give the results: `direct` ones as the operation's row says.
    void compute(uint32_t pc) {
        const DecodedInstruction& i = program.instructions[pc];
        std::vector<Origin> made;
        each_source(i, [&](int32_t reg, Effect effect, int32_t other) {
            const std::optional<int64_t> by = number_in(program, other, i.type);
            for (Origin origin : of(pc, reg)) {
                origin.direct = origin.direct && effect != Effect::made_of;
                const bool sums = by && origin.offset;
                const uint64_t before = sums ? static_cast<uint64_t>(*origin.offset) : 0;
                if (effect == Effect::added && sums)
                    origin.offset = static_cast<int64_t>(before + static_cast<uint64_t>(*by));
                else if (effect == Effect::subtracted && sums)
                    origin.offset = static_cast<int64_t>(before - static_cast<uint64_t>(*by));
                else if (effect != Effect::copied)
                    origin.offset.reset();
                join(made, origin);
            }
        });
        for (const Origin& origin : made) give_to_results(pc, origin);
    }
    std::span<const Origin> of(uint32_t pc, int32_t reg) const { return origins.of(pc, reg); }

    // Registers that a call passes and takes back; a function that only its address names may be given anything.
    void call(uint32_t pc) {
        const CallSite& site = call_site(program, program.instructions[pc]);
        if (site.function < 0) return give_to_results(pc, {.from = Origin::From::unknown, .direct = true, .pc = pc});
        const Function& callee = program.functions[static_cast<size_t>(site.function)];
        const auto pass = [&](uint32_t from_pc, const Passed& from, uint32_t to_pc, const Passed& to) {
            if (!is_register(from.operand) || !is_register(to.operand)) return;
            const std::span<const Origin> known = of(from_pc, from.operand);
            for (const Origin& origin : std::vector<Origin>(known.begin(), known.end()))  // a call may pass to itself
                add_result(to_pc, to.operand, origin);
        };
        for (size_t k = 0; k < std::min(site.arguments.size(), callee.parameters.size()); ++k)
            pass(pc, site.arguments[k], callee.begin, callee.parameters[k]);
        for (size_t k = 0; k < std::min(site.results.size(), callee.results.size()); ++k)
            pass(callee.begin, callee.results[k], pc, site.results[k]);
    }

    void look_at(uint32_t pc) {
        switch (const DecodedInstruction& i = program.instructions[pc]; i.kind) {
            case Kind::load:
                return load(pc);
            case Kind::atomic:
                if (size_of(i.destination_type) >= 8)
                    give_to_results(pc, {.from = Origin::From::memory, .direct = true, .pc = pc});
                return;
            case Kind::special_register:
                return special(pc);
            case Kind::call:
                return call(pc);
            default:
                return compute(pc);
        }
    }

    // Registers get places, function by function, and each place its users.
    void prepare() {
        std::vector<size_t> sizes;
        for (const CodeRange function : functions_of(program)) {
            int32_t last = -1;
            for (uint32_t pc = function.begin; pc < function.end; ++pc)
                each_use(program.lists, program.instructions[pc],
                         [&](const RegisterUse& use) { last = std::max(last, use.reg); });
            if (function.begin == function.end && function.begin != 0) continue;
            const size_t of_others = sizes.empty() ? 0 : origins.first_place_.back() + sizes.back();
            origins.begins_.push_back(function.begin);
            origins.first_place_.push_back(of_others);
            sizes.push_back(static_cast<size_t>(last + 64) / 64);
        }
        origins.of_.resize(sizes.empty() ? 0 : origins.first_place_.back() + sizes.back());
        users.resize(origins.of_.size());
        waiting.resize(program.instructions.size(), false);
        for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
            const DecodedInstruction& i = program.instructions[pc];
            each_source(i, [&](int32_t reg, Effect, int32_t) { users[origins.place_of(pc, reg)].push_back(pc); });
            push(pc);
            if (i.kind != Kind::call) continue;
            const CallSite& site = call_site(program, i);
            if (site.function < 0) continue;
            const Function& callee = program.functions[static_cast<size_t>(site.function)];
            for (const Passed& result : callee.results)
                if (const size_t place = place_of(callee, result); place < users.size()) users[place].push_back(pc);
        }
    }
    size_t place_of(const Function& function, const Passed& passed) const {
        return is_register(passed.operand) && function.begin < function.end
                   ? origins.place_of(function.begin, passed.operand)
                   : SIZE_MAX;
    }

    void run() {
        prepare();
        const bool by_address =
            std::any_of(program.calls.begin(), program.calls.end(), [](const CallSite& site) { return site.function < 0; });
        for (size_t k = 1; by_address && k < program.functions.size(); ++k)
            for (const Passed& passed : program.functions[k].parameters)
                add(place_of(program.functions[k], passed), {.from = Origin::From::unknown, .direct = true});
        while (!work.empty()) {
            const uint32_t pc = work.front();
            work.pop_front();
            waiting[pc] = false;
            look_at(pc);
        }
    }
};

Origins::Origins(const Program& program) : program_(program) {
    OriginsSolver{*this, program}.run();
}

size_t Origins::place_of(uint32_t pc, int32_t reg) const {
    const auto behind = std::upper_bound(begins_.begin(), begins_.end(), pc);
    if (behind == begins_.begin()) return SIZE_MAX;
    const auto function = static_cast<size_t>(behind - begins_.begin()) - 1;
    const size_t place = first_place_[function] + static_cast<size_t>(reg) / 64;
    const size_t end = function + 1 < first_place_.size() ? first_place_[function + 1] : of_.size();
    return place < end ? place : SIZE_MAX;
}

std::span<const Origin> Origins::of(uint32_t pc, int32_t reg) const {
    const size_t place = is_register(reg) ? place_of(pc, reg) : SIZE_MAX;
    return place < of_.size() ? std::span<const Origin>(of_[place]) : std::span<const Origin>();
}

std::vector<Origin> Origins::of_access(uint32_t pc, const MemoryOperand& access) const {
    std::vector<Origin> found;
    for (Origin origin : of(pc, access.base)) {
        if (origin.offset) *origin.offset += access.offset;
        found.push_back(origin);
    }
    if (access.variable >= 0)
        join(found, {Origin::From::variable, true, access.variable, 0,
                     is_register(access.base) ? std::nullopt : std::optional<int64_t>(access.offset), pc});
    return found;
}

std::optional<Origin> Origins::pointer_of(uint32_t pc, const MemoryOperand& access) const {
    const std::vector<Origin> all = of_access(pc, access);
    std::optional<Origin> found;
    bool marked = false;  // Parameter::pointer says of the one that was found that it is one
    for (const Origin& origin : all) {
        if (origin.from == Origin::From::memory || origin.from == Origin::From::unknown) return {};
        if (!origin.direct || origin.from == Origin::From::special) continue;
        const bool is_variable = origin.from == Origin::From::variable;
        const Parameter* const parameter = is_variable ? nullptr : &program_.parameters[static_cast<size_t>(origin.index)];
        if (parameter != nullptr && parameter->bytes < 8) continue;
        const bool pointer = is_variable || parameter->pointer;
        if (found && marked == pointer) return {};
        if (!found || pointer) found = origin;
        marked |= pointer;
    }
    return found;
}

}  // namespace lockstep::ptx
