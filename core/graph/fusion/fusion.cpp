// Which launches become one. Units stand in the order in which they will run; a launch joins a unit, and one of the two
// moves.
#include "core/graph/fusion/fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/graph/fusion/fusion_units.h"

namespace lockstep::graph {

namespace {
constexpr size_t most_ops = 16;
constexpr int64_t most_elements_a_thread = 64;  // of a sum that makes them
constexpr int64_t most_parameter_bytes = 4000;  // CUDA takes 4,096
// Launches that leave much of a large GPU idle: there it counts that several run at once, and that nothing waits.
constexpr int64_t few_blocks = 256, few_threads = int64_t{1} << 16;

struct Placer : Placement {
    const FusionOptions& options;
    std::vector<bool> company = {};  // by launch: see find_company()

    void run() {
        if (options.together && options.epilogues) find_company();
        for (int i = 0; i < static_cast<int>(graph.launches.size()); ++i) place(i);
        if (options.together) put_together();
    }

    const std::string& phase_of(const Unit& unit) const { return captured(unit.launches.front()).phase; }

    // The unit `u` may stand at any place from its own to `to`: nothing in between minds.
    const Touch* in_the_way(const std::vector<Touch>& touches, size_t first, size_t last) const {  // units first .. last
        for (size_t i = first; i <= last && i < units.size(); ++i)
            for (const Touch& theirs : units[i].touches)
                for (const Touch& mine : touches)
                    if (conflict(theirs, mine)) return &theirs;
        return nullptr;
    }

    void place(int launch) {
        const Looked& it = looked(launch);
        if (it.count >= 0 && options.chains) {
            std::string why = "no launch before it makes what it reads over the same elements";
            bool linked = false, alike = false;  // the nearest unit over as many elements says why; else the nearest
            for (size_t u = units.size(); u-- > 0;) {
                if (linking_buffer(units[u], it) < 0) continue;
                const std::string refused = join(u, launch);
                if (refused.empty()) return;
                const bool here = units[u].count == it.count;
                if (alike || (linked && !here)) continue;
                why = fmt::format("not with {}: {}", captured(units[u].launches.back()).label, refused);
                linked = true;
                alike = here;
            }
            reasons[static_cast<size_t>(launch)] = "alone: " + why;
        } else if (options.prologues && it.loaded >= 0 && join_before(launch)) {
            return;
        } else {
            reasons[static_cast<size_t>(launch)] =
                "alone: " + (it.why_not.empty() ? "chains are not asked for" : it.why_not);
        }
        Unit unit;
        unit.launches = {launch};
        unit.touches = it.touches;
        unit.count = it.product >= 0 && options.epilogues ? it.product : it.count;
        units.push_back(std::move(unit));
    }

    // A sum goes behind the chain that makes what it adds up, where nobody else wants that.
    bool join_before(int launch) {
        const Looked& it = looked(launch);
        const Launch& mine = captured(launch);
        const Operand& entry = mine.operands[static_cast<size_t>(it.loaded)];
        // One thread makes an element where it adds it: too few threads would take longer than the elements' own launch.
        const int64_t threads = int64_t{mine.grid.x} * mine.grid.y * mine.grid.z * mine.block.x * mine.block.y;
        if (it.loaded_count > most_elements_a_thread * threads || entry.offset != 0) return false;
        for (size_t u = units.size(); u-- > 0;) {
            Unit& unit = units[u];
            const bool makes = std::any_of(unit.touches.begin(), unit.touches.end(),
                                           [&](const Touch& touch) { return touch.writes && touch.buffer == entry.buffer; });
            if (!makes) continue;
            const bool chain = unit.kind == Unit::Kind::chain || unit.kind == Unit::Kind::single;
            if (!chain || looked(unit.launches.front()).count < 0 || unit.count != it.loaded_count ||
                unit.launches.size() >= most_ops || captured(unit.launches.front()).phase != mine.phase)
                return false;
            Unit both = unit;
            both.launches.push_back(launch);
            for (const Touch& touch : unit.touches) {
                if (touch.writes && !(touch.element && touch.always && why_kept(touch.buffer, both).empty())) return false;
                if (touch.buffer == entry.buffer) continue;
                for (const Touch& other : it.touches)
                    if (conflict(touch, other)) return false;
            }
            if (parameter_bytes(both.launches) > most_parameter_bytes || in_the_way(unit.touches, u + 1, units.size()))
                return false;
            both.kind = Unit::Kind::prologue;
            both.count = -1;
            both.touches.insert(both.touches.end(), it.touches.begin(), it.touches.end());
            units.erase(units.begin() + static_cast<int64_t>(u));
            units.push_back(std::move(both));
            return true;
        }
        return false;
    }

    // A buffer that the unit writes and the launch reads; -1: none.
    static int linking_buffer(const Unit& unit, const Looked& it) {
        for (const Touch& written : unit.touches)
            for (const Touch& read : it.touches)
                if (written.writes && read.reads && overlap(written, read)) return read.buffer;
        return -1;
    }

    std::string join(size_t u, int launch) {
        Unit& unit = units[u];
        const Looked& it = looked(launch);
        const Looked& first = looked(unit.launches.front());
        const bool product = looked(unit.launches.front()).product >= 0 && unit.kind != Unit::Kind::chain;
        if (unit.count < 0) {
            const std::string& why = looked(unit.launches.front()).why_not;
            return why.empty() ? "nothing goes on from it" : why;
        }
        if (unit.count != it.count) return fmt::format("{} elements there, {} here", unit.count, it.count);
        if (!product && (first.grid != it.grid || first.block != it.block)) return "another launch shape";
        if (unit.launches.size() >= most_ops) return "the chain is long enough";
        if (product) {
            const Launch& made_by = captured(unit.launches.front());
            if (company[static_cast<size_t>(unit.launches.front())])
                return fmt::format("{} shares a launch with others of {}", made_by.label, made_by.kernel);
            const auto threads = static_cast<int64_t>(made_by.grid.count() * made_by.block.count());
            const bool reads_more = std::any_of(it.touches.begin(), it.touches.end(), [&](const Touch& touch) {
                return touch.reads && touch.element && touch.buffer != linking_buffer(unit, it);
            });
            if (reads_more && !options.on_host && threads < few_threads && unit.count > threads)
                return fmt::format("{} has few threads: each would wait for what this reads, element by element",
                                   made_by.label);
            if (options.on_host && !first.row->kernel->fusing.tells_of_parts)
                return fmt::format("the host makes {} whole: its memory would be read once more all the same",
                                   made_by.label);
            const bool changes = std::any_of(it.touches.begin(), it.touches.end(), [](const Touch& touch) {
                return touch.reads && touch.writes && touch.element;
            });
            if (options.on_host && changes)
                return fmt::format("{} goes through what it changes faster in one go", captured(launch).label);
            if (reads_more && options.on_host && it.reading->special_functions)
                return fmt::format("{} takes longer than the memory that it would save", captured(launch).label);
        }
        for (const Touch& theirs : unit.touches)
            for (const Touch& ours : it.touches) {
                if (!conflict(theirs, ours)) continue;
                if (!same_elements(theirs, ours))
                    return fmt::format("elements of {} are needed that other threads make", buffer_name(ours.buffer));
                if (theirs.writes && ours.reads && !theirs.always)
                    return fmt::format("not every thread writes {}", buffer_name(ours.buffer));
            }
        std::vector<int> together = unit.launches;
        together.push_back(launch);
        if (parameter_bytes(together) > most_parameter_bytes) return "too many arguments";
        // Together they stand behind the last unit that the launch cannot pass.
        size_t last = units.size() - 1;
        const Touch* way = nullptr;
        while (last > u && (way = in_the_way(it.touches, last, last)) == nullptr) --last;
        if (way && in_the_way(unit.touches, u + 1, last))
            return fmt::format("{} is used in between", buffer_name(way->buffer));
        // Behind all gradients a product would keep its operands, the activations, alive to the step's end.
        if (phase_of(unit) != "update" && phase_of(units[last]) == "update") return "it waits for all gradients";
        unit.kind = product ? Unit::Kind::epilogue : Unit::Kind::chain;
        unit.launches = std::move(together);
        unit.touches.insert(unit.touches.end(), it.touches.begin(), it.touches.end());
        std::rotate(units.begin() + static_cast<int64_t>(u), units.begin() + static_cast<int64_t>(u) + 1,
                    units.begin() + static_cast<int64_t>(last) + 1);
        return {};
    }

    int64_t parameter_bytes(const std::vector<int>& launches) const {
        std::set<std::pair<int, int64_t>> buffers;
        std::set<int32_t> numbers;
        int64_t bytes = 0;
        for (const int launch : launches)
            for (const Operand& operand : captured(launch).operands) {
                const auto* number = std::get_if<int32_t>(&operand.value);
                const bool fresh = operand.kind == Operand::Kind::buffer
                                       ? buffers.emplace(operand.buffer, operand.offset).second
                                   : number ? numbers.insert(*number).second
                                            : true;
                if (fresh) bytes += 8;
            }
        return bytes;
    }

    // Launches of one kernel that need nothing of each other: all of the update; before it, those that read one operand more
    // than once, which they then read once (a token's queries, keys and values).
    void put_together() {
        for (size_t u = 0; u < units.size(); ++u) {
            if (!can_share(units[u])) continue;
            for (size_t g = u; g-- > 0;) {
                Unit& group = units[g];
                if (!(group.kind == Unit::Kind::together || can_share(group)) || !alike(group, units[u])) continue;
                std::vector<int> launches = group.launches;
                launches.push_back(units[u].launches.front());
                if (parameter_bytes(launches) > most_parameter_bytes) break;
                bool apart = true;
                for (const Touch& a : group.touches)
                    for (const Touch& b : units[u].touches) apart = apart && !conflict(a, b);
                if (!apart) break;
                const bool hoist = !in_the_way(units[u].touches, g + 1, u - 1);
                if (!hoist && in_the_way(group.touches, g + 1, u - 1)) break;
                group.kind = Unit::Kind::together;
                group.launches = std::move(launches);
                group.touches.insert(group.touches.end(), units[u].touches.begin(), units[u].touches.end());
                units.erase(units.begin() + static_cast<int64_t>(u));
                if (!hoist)
                    std::rotate(units.begin() + static_cast<int64_t>(g), units.begin() + static_cast<int64_t>(g) + 1,
                                units.begin() + static_cast<int64_t>(u));
                --u;
                break;
            }
        }
    }

    bool alike(const Unit& group, const Unit& unit) const {
        const Launch &first = captured(group.launches.front()), &launch = captured(unit.launches.front());
        if (first.kernel != launch.kernel || first.phase != launch.phase || first.block != launch.block ||
            first.grid.y != launch.grid.y || first.grid.z != launch.grid.z)
            return false;
        if (launch.phase == "update") return true;
        for (const Operand& ours : launch.operands)
            for (const Operand& theirs : first.operands)
                if (ours.kind == Operand::Kind::buffer && theirs.kind == ours.kind && ours.buffer == theirs.buffer &&
                    ours.access.reads && !ours.access.writes)
                    return true;
        return false;
    }

    bool can_share(const Unit& unit) const {
        if (unit.kind != Unit::Kind::single) return false;
        const Launch& launch = captured(unit.launches.front());
        const Looked& it = looked(unit.launches.front());
        return it.reading && it.reading->entry && it.reading->entry->name == launch.kernel && it.reading->self_contained &&
               !it.reading->reads_grid_size && it.reading->uses.size() == launch.operands.size() &&
               launch.dynamic_shared == 0;
    }

    // Products of few blocks that share an operand and need nothing of each other: put_together() will join them, unless
    // something else joins them first.
    void find_company() {
        for (size_t i = 0; i < known.size(); ++i) {
            if (!small_product(i)) continue;
            std::vector<const Touch*> between;
            for (size_t j = i + 1; j < known.size() && j < i + 16; ++j) {
                bool apart = small_product(j) && alike(single(i), single(j));
                for (const Touch& ours : known[j].touches) {
                    for (const Touch& theirs : known[i].touches) apart = apart && !conflict(ours, theirs);
                    for (const Touch* theirs : between) apart = apart && !conflict(ours, *theirs);
                }
                if (apart) company[i] = company[j] = true;
                for (const Touch& touch : known[j].touches) between.push_back(&touch);
            }
        }
    }
    static Unit single(size_t launch) {
        Unit unit;
        unit.launches = {static_cast<int>(launch)};
        return unit;
    }
    bool small_product(size_t launch) const {
        return known[launch].product >= 0 && can_share(single(launch)) &&
               static_cast<int64_t>(graph.launches[launch].grid.count()) <= few_blocks;
    }
};
}  // namespace

std::string Placement::why_kept(int index, const Unit& unit) const {
    const Buffer& it = graph.buffers[static_cast<size_t>(index)];
    if (it.role == Role::persistent) return "it stays from step to step";
    if (it.role != Role::intermediate) return "it comes from the host";
    if (it.output) return "the host reads it";
    for (int i = std::max(0, it.first); i <= it.last; ++i) {
        if (std::find(unit.launches.begin(), unit.launches.end(), i) != unit.launches.end()) continue;
        const Launch& launch = captured(i);
        for (const Operand& operand : launch.operands)
            if (operand.kind == Operand::Kind::buffer && operand.buffer == index)
                return launch.phase == "backward" && it.saved ? fmt::format("kept for backward, {} reads it", launch.label)
                                                              : fmt::format("{} reads it", launch.label);
    }
    return {};
}

Fusion fuse(const Graph& graph, const FusionOptions& options) {
    Placer placer{{.graph = graph}, options};
    for (const Launch& launch : graph.launches) placer.known.push_back(look_at(graph, launch));
    placer.reasons.resize(graph.launches.size());
    placer.company.resize(graph.launches.size());
    placer.run();
    return emit(placer);
}

std::string text_of(const Fusion& fusion) {
    std::string text;
    for (const Decision& decision : fusion.decisions)
        text += fmt::format("{} ({}): {}\n", decision.label, decision.kernel, decision.why);
    text += fmt::format("{} launches become {}; {:.0f} bytes become {:.0f}; {} values ({:.0f} bytes) are never written\n",
                        fusion.before.launches, fusion.after.launches, fusion.before.bytes, fusion.after.bytes,
                        fusion.unwritten.size(), fusion.unwritten_bytes);
    return text;
}

}  // namespace lockstep::graph
