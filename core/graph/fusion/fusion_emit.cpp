// The graph of what was decided: each unit becomes one launch, with a generated kernel where it stands for several.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/graph/fusion/fusion_kernel.h"
#include "core/graph/fusion/fusion_units.h"

namespace lockstep::graph {

namespace {
struct Slots {  // operands of several launches, each once
    std::vector<FusedSlot> slots;
    std::vector<Operand> operands;
};

std::vector<int> slots_of(const Placement& at, int launch, Slots& all) {
    std::vector<int> mine;
    const Launch& it = at.captured(launch);
    const KernelReading& reading = *at.looked(launch).reading;
    for (size_t p = 0; p < it.operands.size(); ++p) {
        const Operand& operand = it.operands[p];
        const bool buffer = operand.kind == Operand::Kind::buffer;
        const ptx::Variable& parameter = reading.entry->parameters[p];
        const int next = static_cast<int>(all.slots.size());
        int slot = next;
        for (int known = 0; known < next && slot == next; ++known) {  // the same operand of the same type
            const Operand& other = all.operands[static_cast<size_t>(known)];
            const bool same = operand.kind == Operand::Kind::learning_rate
                                  ? other.kind == operand.kind && other.value.index() == operand.value.index()
                                  : other.kind == operand.kind && other.buffer == operand.buffer &&
                                        other.offset == operand.offset && other.value == operand.value;
            const ptx::Variable& declared = all.slots[static_cast<size_t>(known)].parameter;
            if (same && declared.type == parameter.type && declared.bytes == parameter.bytes) slot = known;
        }
        mine.push_back(slot);
        if (slot < next) continue;
        all.slots.push_back({.parameter = parameter,
                             .name = buffer ? at.buffer_name(operand.buffer) : "",
                             .buffer = buffer,
                             .bytes = reading.uses[p].bytes});
        all.operands.push_back(operand);
        all.operands.back().access = {};
    }
    return mine;
}

// The launch that stands for several: everything but kernel and operands.
Launch standing_for(const Placement& at, const Unit& unit) {
    const Launch &first = at.captured(unit.launches.front()), &last = at.captured(unit.launches.back());
    Launch launch = last;
    launch.operands.clear();
    launch.where = first.where;
    const Looked& shape = at.looked(unit.kind == Unit::Kind::epilogue ? unit.launches.front() : unit.launches.back());
    launch.grid = shape.grid;
    launch.block = shape.block;
    launch.replaces = unit.launches;
    launch.base = "fused";
    return launch;
}

// On the host the first op runs whole before the chain goes on: in the memory of something that the chain only writes.
void lend(Chain& chain, const Slots& all, const std::vector<bool>& written) {
    const auto slot = static_cast<size_t>(chain.ops[0].slots[static_cast<size_t>(chain.result)]);
    if (chain.slots[slot].kept) return;
    for (size_t other = 0; other < chain.slots.size() && chain.stand_in < 0; ++other) {
        const Operand& operand = all.operands[other];
        if (!chain.slots[other].buffer || !chain.slots[other].kept || !written[other] || operand.access.reads ||
            chain.slots[other].bytes != chain.slots[slot].bytes)
            continue;
        bool alone = true;  // no other part of that buffer is in use, and the first op has nothing to do with it
        for (size_t third = 0; third < chain.slots.size(); ++third)
            alone = alone && (third == other || !chain.slots[third].buffer || all.operands[third].buffer != operand.buffer);
        for (const int mine : chain.ops[0].slots) alone = alone && mine != static_cast<int>(other);
        if (alone) chain.stand_in = static_cast<int>(other);
    }
}

Launch emit_chain(Placement& at, const Unit& unit) {
    Chain chain;
    chain.epilogue = unit.kind == Unit::Kind::epilogue;
    if (chain.epilogue) chain.result = at.looked(unit.launches.front()).result;
    if (unit.kind == Unit::Kind::prologue) chain.entry = at.looked(unit.launches.back()).loaded;
    Slots all;
    for (const int launch : unit.launches) {
        const Looked& it = at.looked(launch);
        chain.ops.push_back({it.reading, it.row, slots_of(at, launch, all), at.captured(launch).label});
    }
    std::vector<bool> written(all.slots.size()), whole(all.slots.size(), true);
    std::vector<std::string> joins(unit.launches.size());
    for (size_t i = 0; i < chain.ops.size(); ++i) {
        const FusedOp& op = chain.ops[i];
        for (size_t p = 0; p < op.slots.size(); ++p) {
            const auto slot = static_cast<size_t>(op.slots[p]);
            if (!all.slots[slot].buffer) continue;
            const Access access = at.captured(unit.launches[i]).operands[p].access;
            const ParameterUse& use = op.reading->uses[p];
            const bool enters = chain.entry >= 0 && i + 1 == chain.ops.size() && static_cast<int>(p) == chain.entry;
            const bool passes = (use.reads == Reach::element || enters) && written[slot];
            if (passes) joins[i] += fmt::format("{}{}", joins[i].empty() ? "" : ", ", all.slots[slot].name);
            all.operands[slot].access.reads |= access.reads && !written[slot];
            if (access.reads && !written[slot]) whole[slot] = false;
            const bool product_store = chain.epilogue && i == 0 && static_cast<int>(p) == chain.result;
            if (access.writes && !(use.always_stored || product_store)) whole[slot] = false;
        }
        for (size_t p = 0; p < op.slots.size(); ++p) {
            const auto slot = static_cast<size_t>(op.slots[p]);
            if (!all.slots[slot].buffer || !at.captured(unit.launches[i]).operands[p].access.writes) continue;
            written[slot] = true;
            all.operands[slot].access.writes = true;
        }
    }
    // What nobody else reads stays unwritten.
    std::map<int, int> slots_of_buffer;
    for (const Operand& operand : all.operands)
        if (operand.kind == Operand::Kind::buffer) ++slots_of_buffer[operand.buffer];
    std::map<size_t, std::string> kept_for;
    for (size_t slot = 0; slot < all.slots.size(); ++slot) {
        if (!all.slots[slot].buffer || !written[slot]) continue;
        const std::string reason = at.why_kept(all.operands[slot].buffer, unit);
        all.slots[slot].kept = !whole[slot] || slots_of_buffer[all.operands[slot].buffer] > 1 || !reason.empty();
        kept_for[slot] = reason;
    }
    chain.slots = all.slots;
    if (chain.epilogue) lend(chain, all, written);
    for (size_t i = 1; i < chain.ops.size(); ++i) {
        std::string& why = at.reasons[static_cast<size_t>(unit.launches[i])];
        why = fmt::format("joins {}: {} stays in a register", chain.ops[i - 1].label, joins[i]);
        for (size_t p = 0; p < chain.ops[i].slots.size(); ++p) {
            const auto found = kept_for.find(static_cast<size_t>(chain.ops[i].slots[p]));
            if (found == kept_for.end() || found->second.empty() || chain.ops[i].reading->uses[p].reads == Reach::none)
                continue;
            why += fmt::format("; {} is written all the same: {}", chain.slots[found->first].name, found->second);
        }
    }
    if (at.reasons[static_cast<size_t>(unit.launches[0])].substr(0, 6) == "alone:")
        at.reasons[static_cast<size_t>(unit.launches[0])] = fmt::format("begins a chain of {}", chain.ops.size());
    Launch launch = standing_for(at, unit);
    for (size_t slot = 0; slot < all.slots.size(); ++slot)
        if (chain.slots[slot].kept) launch.operands.push_back(all.operands[slot]);
    launch.label = fmt::format("{} .. {}", chain.ops.front().label, chain.ops.back().label);
    launch.generated = generate_chain(chain);
    launch.kernel = launch.generated->name;
    return launch;
}

Launch emit_together(const Placement& at, const Unit& unit) {
    Slots all;
    Together together;
    together.reading = at.looked(unit.launches.front()).reading;
    together.row = at.looked(unit.launches.front()).row;
    uint32_t blocks = 0;
    for (const int launch : unit.launches) {
        const Launch& it = at.captured(launch);
        together.parts.push_back({slots_of(at, launch, all), it.grid.x, it.label});
        blocks += it.grid.x;
        for (size_t p = 0; p < it.operands.size(); ++p) {
            Access& access = all.operands[static_cast<size_t>(together.parts.back().slots[p])].access;
            access.reads |= it.operands[p].access.reads;
            access.writes |= it.operands[p].access.writes;
        }
    }
    together.slots = all.slots;
    Launch launch = standing_for(at, unit);
    launch.grid = {blocks, launch.grid.y, launch.grid.z};
    launch.operands = all.operands;
    launch.label = fmt::format("{} of {}", together.row->base, unit.launches.size());
    launch.generated = generate_together(together);
    launch.kernel = launch.generated->name;
    return launch;
}

// The unit as one launch of the fused graph, and what became of each of its own.
void emit_unit(Placement& at, const Unit& unit, Fusion& fusion) {
    const auto index = static_cast<int>(fusion.graph.launches.size());
    if (unit.kind == Unit::Kind::single) {
        Launch launch = at.captured(unit.launches[0]);
        launch.replaces = {unit.launches[0]};
        fusion.graph.launches.push_back(std::move(launch));
    } else {
        fusion.graph.launches.push_back(unit.kind == Unit::Kind::together ? emit_together(at, unit) : emit_chain(at, unit));
    }
    for (const int launch : unit.launches) {
        Decision& decision = fusion.decisions[static_cast<size_t>(launch)];
        decision.launch = launch;
        decision.into = index;
        decision.kernel = at.captured(launch).kernel;
        decision.label = at.captured(launch).label;
        decision.why = at.reasons[static_cast<size_t>(launch)];
        if (unit.kind == Unit::Kind::together)
            decision.why = fmt::format("one of {} launches of {} together: none needs another's result",
                                       unit.launches.size(), at.captured(launch).kernel);
    }
}

// The nodes' lists of launches name those of the new graph.
void follow_nodes(Fusion& fusion) {
    for (Node& node : fusion.graph.nodes)
        for (auto* list : {&node.forward_launches, &node.backward_launches, &node.update_launches}) {
            for (int& launch : *list)
                if (launch >= 0 && static_cast<size_t>(launch) < fusion.decisions.size())
                    launch = fusion.decisions[static_cast<size_t>(launch)].into;
            list->erase(std::unique(list->begin(), list->end()), list->end());
        }
}
}  // namespace

Fusion emit(Placement& placement) {
    Fusion fusion;
    fusion.before = traffic_of(placement.graph);
    fusion.graph = placement.graph;
    fusion.graph.launches.clear();
    fusion.decisions.resize(placement.graph.launches.size());
    for (const Unit& unit : placement.units) emit_unit(placement, unit, fusion);
    follow_nodes(fusion);
    touch(fusion.graph);
    fusion.after = traffic_of(fusion.graph);
    for (size_t b = 0; b < placement.graph.buffers.size(); ++b) {
        if (placement.graph.buffers[b].first < 0 || fusion.graph.buffers[b].first >= 0) continue;
        fusion.unwritten.push_back(placement.graph.buffers[b].name);
        fusion.unwritten_bytes += static_cast<double>(placement.graph.buffers[b].bytes);
    }
    return fusion;
}

}  // namespace lockstep::graph
