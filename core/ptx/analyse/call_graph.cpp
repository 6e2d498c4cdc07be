// See call_graph.h. No recursion here: the text may come from anybody.
#include "core/ptx/analyse/call_graph.h"

#include <algorithm>

#include "core/ptx/parse/spelling.h"

namespace lockstep::ptx {

namespace {

void collect(const std::vector<Operand>& operands, std::unordered_set<std::string_view>& names) {
    for (const Operand& operand : operands) {  // operands nest at most three deep: the parser sees to it
        if (!operand.name.empty()) names.insert(operand.name);
        if (!operand.elements.empty()) collect(operand.elements, names);
    }
}

void collect(const Entry& entry, std::unordered_set<std::string_view>& names) {
    for (const Statement& statement : entry.statements) collect(statement.operands, names);
}

// Numbers of the functions whose address is taken somewhere in the module, in the order of the module.
std::vector<size_t> with_address_taken(const Module& module, const Common& common) {
    std::unordered_set<std::string_view> names;
    const auto look = [&](const Entry& entry) {
        for (const Statement& statement : entry.statements)
            if (stem_of(statement.opcode) != "call") collect(statement.operands, names);
        for (const TargetList& list : entry.lists) names.insert(list.targets.begin(), list.targets.end());
        for (const Variable& v : entry.variables)
            for (const Reference& r : v.references) names.insert(r.name);
    };
    for (const Entry& entry : module.entries) look(entry);
    for (const Entry& function : module.functions) look(function);
    for (const Variable& v : module.variables)
        for (const Reference& r : v.references) names.insert(r.name);
    std::vector<size_t> taken;
    for (std::string_view name : names)
        if (const auto found = common.functions.find(name); found != common.functions.end()) taken.push_back(found->second);
    std::sort(taken.begin(), taken.end());
    taken.erase(std::unique(taken.begin(), taken.end()), taken.end());
    return taken;
}

}  // namespace

std::string_view callee_of(const Statement& call) {
    for (const Operand& o : call.operands)
        if (o.kind == Operand::Kind::name) return o.name;
    return {};
}

Reached reached_from(const Module& module, const Entry& kernel, const Common& common) {
    Reached reached;
    std::vector<bool> seen(module.functions.size(), false);
    bool by_register = false;
    const auto add = [&](size_t number, bool by_address) {
        if (seen[number] || !module.functions[number].defined) return;
        seen[number] = true;
        reached.functions.push_back({number, by_address});
    };
    const auto look = [&](const Entry& entry, bool by_address) {
        collect(entry, reached.names);
        for (const Statement& statement : entry.statements) {
            if (stem_of(statement.opcode) != "call") continue;
            const auto found = common.functions.find(callee_of(statement));
            if (found != common.functions.end())
                add(found->second, by_address);
            else
                by_register = true;
        }
    };
    look(kernel, false);
    size_t next = 0;
    for (; next < reached.functions.size(); ++next) look(module.functions[reached.functions[next].number], false);
    if (by_register || !reached.functions.empty()) {
        for (bool added = false;; ++next) {
            if (by_register && !added) {
                for (const size_t number : with_address_taken(module, common)) add(number, true);
                added = true;
            }
            if (next >= reached.functions.size()) break;
            look(module.functions[reached.functions[next].number], true);
        }
    }
    return reached;
}

void add_up_calls(Program& program, const std::vector<LiveAtCall>& live, const Reached& reached) {
    struct Edge {
        size_t to = 0;
        uint32_t registers = 0;
    };
    const size_t count = program.functions.size(), any = count;  // `any`: whatever a call through a register calls
    std::vector<std::vector<Edge>> edges(count + 1);
    size_t function = 0;
    for (const LiveAtCall& at : live) {  // in the order of the instructions
        while (function + 1 < count && at.pc >= program.functions[function].end) ++function;
        const CallSite& site = program.calls[static_cast<size_t>(program.instructions[at.pc].offset)];
        edges[function].push_back({site.function < 0 ? any : static_cast<size_t>(site.function), at.registers});
    }
    for (size_t k = 0; k < reached.functions.size(); ++k)
        if (reached.functions[k].by_address) edges[any].push_back({k + 1, 0});

    enum class State : uint8_t { fresh, open, done };
    std::vector<State> state(count + 1, State::fresh);
    std::vector<uint64_t> registers(count + 1, 0), local(count + 1, 0);
    std::vector<size_t> next(count + 1, 0), path{0};
    for (size_t k = 0; k < count; ++k) {
        registers[k] = program.functions[k].registers;
        local[k] = program.functions[k].local_bytes;
    }
    const auto own_local = [&](size_t k) { return k < count ? uint64_t{program.functions[k].local_bytes} : 0; };
    state[0] = State::open;
    while (!path.empty()) {
        const size_t from = path.back();
        if (next[from] == edges[from].size()) {
            state[from] = State::done;
            path.pop_back();
            continue;
        }
        const Edge& edge = edges[from][next[from]];
        if (state[edge.to] == State::fresh) {
            state[edge.to] = State::open;
            path.push_back(edge.to);
            continue;
        }
        ++next[from];
        if (state[edge.to] == State::open) continue;  // recursion
        registers[from] = std::max(registers[from], edge.registers + registers[edge.to]);
        local[from] = std::max(local[from], own_local(from) + local[edge.to]);
    }
    program.registers_per_thread = static_cast<uint32_t>(std::min<uint64_t>(registers[0], 255));
    program.local_bytes = static_cast<uint32_t>(std::min<uint64_t>(local[0], UINT32_MAX / 2));
}

}  // namespace lockstep::ptx
