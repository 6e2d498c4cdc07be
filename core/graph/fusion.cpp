// Which launches become one. Units stand in the order in which they will run; a launch joins a unit, and one of the two
// moves.
#include "core/graph/fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/device/kernel_library.h"
#include "core/graph/fusion_kernel.h"

namespace lockstep::graph {

namespace {
constexpr size_t most_ops = 16;
constexpr int64_t most_elements_a_thread = 64;  // of a sum that makes them
constexpr int64_t most_parameter_bytes = 4000;  // CUDA takes 4,096
// Launches that leave much of a large GPU idle: there it counts that several run at once, and that nothing waits.
constexpr int64_t few_blocks = 256, few_threads = int64_t{1} << 16;

struct Touch {  // of a launch to a part of a buffer
    int buffer = -1;
    int64_t begin = 0, end = 0;  // bytes
    bool reads = false, writes = false;
    bool element = false;  // thread i touches element i alone, of `bytes` bytes
    bool always = false;   // element, and every thread writes it
    int bytes = 0;
};

struct Unit {
    enum class Kind : uint8_t { single, chain, epilogue, prologue, together } kind = Kind::single;
    std::vector<int> launches;  // of the captured graph, in their order
    std::vector<Touch> touches;
    int64_t count = -1;  // elements that a chain goes over; of a single launch that others can go on from: of its result
};

bool overlap(const Touch& a, const Touch& b) {
    return a.buffer == b.buffer && a.begin < b.end && b.begin < a.end;
}
bool conflict(const Touch& a, const Touch& b) {
    return (a.writes || b.writes) && overlap(a, b);
}
bool same_elements(const Touch& a, const Touch& b) {
    return a.element && b.element && a.begin == b.begin && a.end == b.end && a.bytes == b.bytes;
}

bool multiplies(std::string_view base) {
    return base.starts_with("matmul") || base.starts_with("bmm") || base.starts_with("conv2d");
}

class Fuser {
  public:
    Fuser(const Graph& graph, const FusionOptions& options) : graph_(graph), options_(options) {
        for (const Launch& launch : graph.launches) look_at(launch);
        why_.resize(graph.launches.size());
        company_.resize(graph.launches.size());
        if (options.together && options.epilogues) find_company();
    }

    Fusion run() {
        for (int i = 0; i < static_cast<int>(graph_.launches.size()); ++i) place(i);
        if (options_.together) put_together();
        Fusion fusion;
        fusion.before = traffic_of(graph_);
        fusion.graph = graph_;
        fusion.graph.launches.clear();
        fusion.decisions.resize(graph_.launches.size());
        for (const Unit& unit : units_) emit(unit, fusion);
        follow_nodes(fusion);
        touch(fusion.graph);
        fusion.after = traffic_of(fusion.graph);
        for (size_t b = 0; b < graph_.buffers.size(); ++b) {
            if (graph_.buffers[b].first < 0 || fusion.graph.buffers[b].first >= 0) continue;
            fusion.unwritten.push_back(graph_.buffers[b].name);
            fusion.unwritten_bytes += static_cast<double>(graph_.buffers[b].bytes);
        }
        return fusion;
    }

  private:
    struct Looked {  // what is known of a launch
        const KernelText* text = nullptr;
        std::vector<device::Argument> numbers;  // scalars; pointers are null
        std::vector<Touch> touches;
        int64_t count = -1;    // elements, of a pointwise launch that the host can cut
        int64_t product = -1;  // elements of the result, of a kernel that others can go on from
        int result = -1;       // its parameter
        int loaded = -1;       // the parameter of which each element is read once
        int64_t loaded_count = 0;
        bool elementary = false;  // it computes an exponential, a logarithm, a root, a sine or a tangent
        simt::Dim3 grid, block;   // in a chain
        std::string why_not;
    };

    void look_at(const Launch& launch) {
        Looked looked;
        if (launch.generated) {
            looked.why_not = "it is generated already";
            for (const Operand& operand : launch.operands)
                if (operand.kind == Operand::Kind::buffer)
                    looked.touches.push_back({operand.buffer, operand.offset, buffer(operand).bytes, operand.access.reads,
                                              operand.access.writes});
            looked_.push_back(std::move(looked));
            return;
        }
        // Dropout's threads have four elements each; what joins a chain is its form with one.
        const bool drops = launch.base == "dropout";
        const KernelText& text = kernel_text(drops ? device::typed_kernel("dropout_element", launch.type) : launch.kernel);
        looked.text = &text;
        looked.elementary = std::any_of(text.lines.begin(), text.lines.end(), [](const PtxLine& line) {
            const std::string_view at = line.text;
            for (const std::string_view opcode : {"ex2.", "lg2.", "tanh.", "sin.", "cos.", "sqrt."})
                if (at.find(opcode) != std::string_view::npos) return true;
            return false;
        });
        looked.grid = launch.grid;
        looked.block = launch.block;
        for (const Operand& operand : launch.operands)
            looked.numbers.push_back(operand.kind == Operand::Kind::buffer ? device::Argument(device::Pointer{})
                                                                           : operand.value);
        const bool whole = text.uses.size() == launch.operands.size();
        if (whole && text.pointwise) {
            const int64_t count = elements_of(text, looked.numbers);
            const bool one_row = launch.grid.y == 1 && launch.grid.z == 1 && launch.block.y == 1 && launch.block.z == 1;
            if (!one_row || count < 1)
                looked.why_not = "its launch has another shape than one thread an element";
            else if (cut_of(text, launch.base, looked.numbers).kind == Cut::Kind::none)
                looked.why_not = "what an element needs depends on its place";
            else
                looked.count = count;
            if (drops && looked.count > 0)
                looked.grid = {static_cast<uint32_t>((count + 255) / 256), 1, 1}, looked.block = {256, 1, 1};
        } else {
            looked.why_not = text.why_not;
        }
        const StoredResult product = whole ? result_of(text, launch.base, looked.numbers) : StoredResult{};
        if (product.parameter >= 0) looked.product = product.count, looked.result = product.parameter;
        const StoredResult entry = whole ? loaded_once(text, launch.base, looked.numbers) : StoredResult{};
        if (entry.parameter >= 0) looked.loaded = entry.parameter, looked.loaded_count = entry.count;
        for (size_t p = 0; p < launch.operands.size(); ++p) {
            const Operand& operand = launch.operands[p];
            if (operand.kind != Operand::Kind::buffer) continue;
            Touch touch{operand.buffer, operand.offset, buffer(operand).bytes, operand.access.reads, operand.access.writes};
            if (whole) {
                const ParameterUse& use = text.uses[p];
                const auto joined = [&](Reach a, Reach b) {
                    return a == Reach::none ? b : b == Reach::none || a == b ? a : Reach::anywhere;
                };
                const Reach reach = joined(use.reads, use.writes);
                // What either of the two readings of the PTX sees counts.
                touch.reads = touch.reads || use.reads != Reach::none;
                touch.writes = touch.writes || use.writes != Reach::none;
                touch.bytes = use.bytes;
                const bool product_store = product.parameter == static_cast<int>(p);
                if (use.bytes > 0 && reach == Reach::block && !product_store) {
                    touch.end = std::min(touch.end, touch.begin + int64_t{launch.grid.x} * use.bytes);
                } else if (use.bytes > 0 && (product_store || (reach == Reach::element && looked.count >= 0))) {
                    touch.end =
                        std::min(touch.end, touch.begin + (product_store ? product.count : looked.count) * use.bytes);
                    touch.element = true;
                    touch.always = product_store || use.always_stored;
                }
            }
            looked.touches.push_back(touch);
        }
        looked_.push_back(std::move(looked));
    }

    const Buffer& buffer(const Operand& operand) const { return graph_.buffers[static_cast<size_t>(operand.buffer)]; }
    const Looked& looked(int launch) const { return looked_[static_cast<size_t>(launch)]; }
    const Launch& captured(int launch) const { return graph_.launches[static_cast<size_t>(launch)]; }
    const std::string& phase_of(const Unit& unit) const { return captured(unit.launches.front()).phase; }
    std::string buffer_name(int index) const { return graph_.buffers[static_cast<size_t>(index)].name; }

    // The unit `u` may stand at any place from its own to `to`: nothing in between minds.
    const Touch* in_the_way(const std::vector<Touch>& touches, size_t first, size_t last) const {  // units first .. last
        for (size_t i = first; i <= last && i < units_.size(); ++i)
            for (const Touch& theirs : units_[i].touches)
                for (const Touch& mine : touches)
                    if (conflict(theirs, mine)) return &theirs;
        return nullptr;
    }

    void place(int launch) {
        const Looked& it = looked(launch);
        if (it.count >= 0 && options_.chains) {
            std::string why = "no launch before it makes what it reads over the same elements";
            bool linked = false, alike = false;  // the nearest unit over as many elements says why; else the nearest
            for (size_t u = units_.size(); u-- > 0;) {
                if (linking_buffer(units_[u], it) < 0) continue;
                const std::string refused = join(u, launch);
                if (refused.empty()) return;
                const bool here = units_[u].count == it.count;
                if (alike || (linked && !here)) continue;
                why = fmt::format("not with {}: {}", captured(units_[u].launches.back()).label, refused);
                linked = true;
                alike = here;
            }
            why_[static_cast<size_t>(launch)] = "alone: " + why;
        } else if (options_.prologues && it.loaded >= 0 && join_before(launch)) {
            return;
        } else {
            why_[static_cast<size_t>(launch)] = "alone: " + (it.why_not.empty() ? "chains are not asked for" : it.why_not);
        }
        Unit unit;
        unit.launches = {launch};
        unit.touches = it.touches;
        unit.count = it.product >= 0 && options_.epilogues ? it.product : it.count;
        units_.push_back(std::move(unit));
    }

    // A sum goes behind the chain that makes what it adds up, where nobody else wants that.
    bool join_before(int launch) {
        const Looked& it = looked(launch);
        const Launch& mine = captured(launch);
        const Operand& entry = mine.operands[static_cast<size_t>(it.loaded)];
        // One thread makes an element where it adds it: too few threads would take longer than the elements' own launch.
        const int64_t threads = int64_t{mine.grid.x} * mine.grid.y * mine.grid.z * mine.block.x * mine.block.y;
        if (it.loaded_count > most_elements_a_thread * threads || entry.offset != 0) return false;
        for (size_t u = units_.size(); u-- > 0;) {
            Unit& unit = units_[u];
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
            if (parameter_bytes(both.launches) > most_parameter_bytes || in_the_way(unit.touches, u + 1, units_.size()))
                return false;
            both.kind = Unit::Kind::prologue;
            both.count = -1;
            both.touches.insert(both.touches.end(), it.touches.begin(), it.touches.end());
            units_.erase(units_.begin() + static_cast<int64_t>(u));
            units_.push_back(std::move(both));
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
        Unit& unit = units_[u];
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
            if (company_[static_cast<size_t>(unit.launches.front())])
                return fmt::format("{} shares a launch with others of {}", made_by.label, made_by.kernel);
            const auto threads = static_cast<int64_t>(made_by.grid.count() * made_by.block.count());
            const bool reads_more = std::any_of(it.touches.begin(), it.touches.end(), [&](const Touch& touch) {
                return touch.reads && touch.element && touch.buffer != linking_buffer(unit, it);
            });
            if (reads_more && !options_.on_host && threads < few_threads && unit.count > threads)
                return fmt::format("{} has few threads: each would wait for what this reads, element by element",
                                   made_by.label);
            if (options_.on_host && !multiplies(made_by.base))
                return fmt::format("the host makes {} whole: its memory would be read once more all the same",
                                   made_by.label);
            const bool changes = std::any_of(it.touches.begin(), it.touches.end(), [](const Touch& touch) {
                return touch.reads && touch.writes && touch.element;
            });
            if (options_.on_host && changes)
                return fmt::format("{} goes through what it changes faster in one go", captured(launch).label);
            if (reads_more && options_.on_host && it.elementary)
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
        size_t last = units_.size() - 1;
        const Touch* way = nullptr;
        while (last > u && (way = in_the_way(it.touches, last, last)) == nullptr) --last;
        if (way && in_the_way(unit.touches, u + 1, last))
            return fmt::format("{} is used in between", buffer_name(way->buffer));
        // Behind all gradients a product would keep its operands, the activations, alive to the step's end.
        if (phase_of(unit) != "update" && phase_of(units_[last]) == "update") return "it waits for all gradients";
        unit.kind = product ? Unit::Kind::epilogue : Unit::Kind::chain;
        unit.launches = std::move(together);
        unit.touches.insert(unit.touches.end(), it.touches.begin(), it.touches.end());
        std::rotate(units_.begin() + static_cast<int64_t>(u), units_.begin() + static_cast<int64_t>(u) + 1,
                    units_.begin() + static_cast<int64_t>(last) + 1);
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
        for (size_t u = 0; u < units_.size(); ++u) {
            if (!can_share(units_[u])) continue;
            for (size_t g = u; g-- > 0;) {
                Unit& group = units_[g];
                if (!(group.kind == Unit::Kind::together || can_share(group)) || !alike(group, units_[u])) continue;
                std::vector<int> launches = group.launches;
                launches.push_back(units_[u].launches.front());
                if (parameter_bytes(launches) > most_parameter_bytes) break;
                bool apart = true;
                for (const Touch& a : group.touches)
                    for (const Touch& b : units_[u].touches) apart = apart && !conflict(a, b);
                if (!apart) break;
                const bool hoist = !in_the_way(units_[u].touches, g + 1, u - 1);
                if (!hoist && in_the_way(group.touches, g + 1, u - 1)) break;
                group.kind = Unit::Kind::together;
                group.launches = std::move(launches);
                group.touches.insert(group.touches.end(), units_[u].touches.begin(), units_[u].touches.end());
                units_.erase(units_.begin() + static_cast<int64_t>(u));
                if (!hoist)
                    std::rotate(units_.begin() + static_cast<int64_t>(g), units_.begin() + static_cast<int64_t>(g) + 1,
                                units_.begin() + static_cast<int64_t>(u));
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
        return it.text && it.text->name == launch.kernel && it.text->self_contained && !it.text->reads_grid_size &&
               !it.text->lines.empty() && it.text->parameters.size() == launch.operands.size() && launch.dynamic_shared == 0;
    }

    // Products of few blocks that share an operand and need nothing of each other: put_together() will join them, unless
    // something else joins them first.
    void find_company() {
        for (size_t i = 0; i < looked_.size(); ++i) {
            if (!small_product(i)) continue;
            std::vector<const Touch*> between;
            for (size_t j = i + 1; j < looked_.size() && j < i + 16; ++j) {
                bool apart = small_product(j) && alike(single(i), single(j));
                for (const Touch& ours : looked_[j].touches) {
                    for (const Touch& theirs : looked_[i].touches) apart = apart && !conflict(ours, theirs);
                    for (const Touch* theirs : between) apart = apart && !conflict(ours, *theirs);
                }
                if (apart) company_[i] = company_[j] = true;
                for (const Touch& touch : looked_[j].touches) between.push_back(&touch);
            }
        }
    }
    static Unit single(size_t launch) {
        Unit unit;
        unit.launches = {static_cast<int>(launch)};
        return unit;
    }
    bool small_product(size_t launch) const {
        return looked_[launch].product >= 0 && can_share(single(launch)) &&
               static_cast<int64_t>(graph_.launches[launch].grid.count()) <= few_blocks;
    }

    struct Slots {  // operands of several launches, each once
        std::vector<FusedSlot> slots;
        std::vector<Operand> operands;
    };

    std::vector<int> slots_of(int launch, Slots& all) const {
        std::vector<int> mine;
        const Launch& it = captured(launch);
        const KernelText& text = *looked(launch).text;
        for (size_t p = 0; p < it.operands.size(); ++p) {
            const Operand& operand = it.operands[p];
            const bool buffer = operand.kind == Operand::Kind::buffer;
            const int next = static_cast<int>(all.slots.size());
            int slot = next;
            for (int known = 0; known < next && slot == next; ++known) {  // the same operand of the same type
                const Operand& other = all.operands[static_cast<size_t>(known)];
                const bool same = operand.kind == Operand::Kind::learning_rate
                                      ? other.kind == operand.kind && other.value.index() == operand.value.index()
                                      : other.kind == operand.kind && other.buffer == operand.buffer &&
                                            other.offset == operand.offset && other.value == operand.value;
                if (same && all.slots[static_cast<size_t>(known)].type == text.parameters[p]) slot = known;
            }
            mine.push_back(slot);
            if (slot < next) continue;
            all.slots.push_back({.type = text.parameters[p],
                                 .name = buffer ? buffer_name(operand.buffer) : "",
                                 .buffer = buffer,
                                 .bytes = text.uses[p].bytes});
            all.operands.push_back(operand);
            all.operands.back().access = {};
        }
        return mine;
    }

    void emit(const Unit& unit, Fusion& fusion) {
        const auto index = static_cast<int>(fusion.graph.launches.size());
        if (unit.kind == Unit::Kind::single) {
            Launch launch = captured(unit.launches[0]);
            launch.replaces = {unit.launches[0]};
            fusion.graph.launches.push_back(std::move(launch));
        } else {
            fusion.graph.launches.push_back(unit.kind == Unit::Kind::together ? emit_together(unit) : emit_chain(unit));
        }
        for (const int launch : unit.launches) {
            Decision& decision = fusion.decisions[static_cast<size_t>(launch)];
            decision.launch = launch;
            decision.into = index;
            decision.kernel = captured(launch).kernel;
            decision.label = captured(launch).label;
            decision.why = why_[static_cast<size_t>(launch)];
            if (unit.kind == Unit::Kind::together)
                decision.why = fmt::format("one of {} launches of {} together: none needs another's result",
                                           unit.launches.size(), captured(launch).kernel);
        }
    }

    // The launch that stands for several: everything but kernel and operands.
    Launch standing_for(const Unit& unit) const {
        const Launch &first = captured(unit.launches.front()), &last = captured(unit.launches.back());
        Launch launch = last;
        launch.operands.clear();
        launch.where = first.where;
        const Looked& shape = looked(unit.kind == Unit::Kind::epilogue ? unit.launches.front() : unit.launches.back());
        launch.grid = shape.grid;
        launch.block = shape.block;
        launch.replaces = unit.launches;
        launch.base = "fused";
        return launch;
    }

    Launch emit_chain(const Unit& unit) {
        Chain chain;
        chain.epilogue = unit.kind == Unit::Kind::epilogue;
        if (chain.epilogue) chain.result = looked(unit.launches.front()).result;
        if (unit.kind == Unit::Kind::prologue) chain.entry = looked(unit.launches.back()).loaded;
        Slots all;
        for (const int launch : unit.launches) {
            const Looked& it = looked(launch);
            chain.ops.push_back(
                {it.text, &device::kernel_named(captured(launch).kernel), slots_of(launch, all), captured(launch).label});
        }
        std::vector<bool> written(all.slots.size()), whole(all.slots.size(), true);
        std::vector<std::string> joins(unit.launches.size());
        for (size_t i = 0; i < chain.ops.size(); ++i) {
            const FusedOp& op = chain.ops[i];
            for (size_t p = 0; p < op.slots.size(); ++p) {
                const auto slot = static_cast<size_t>(op.slots[p]);
                if (!all.slots[slot].buffer) continue;
                const Access access = captured(unit.launches[i]).operands[p].access;
                const ParameterUse& use = op.text->uses[p];
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
                if (!all.slots[slot].buffer || !captured(unit.launches[i]).operands[p].access.writes) continue;
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
            const std::string reason = why_kept(all.operands[slot].buffer, unit);
            all.slots[slot].kept = !whole[slot] || slots_of_buffer[all.operands[slot].buffer] > 1 || !reason.empty();
            kept_for[slot] = reason;
        }
        chain.slots = all.slots;
        if (chain.epilogue) lend(chain, all, written);
        for (size_t i = 1; i < chain.ops.size(); ++i) {
            std::string& why = why_[static_cast<size_t>(unit.launches[i])];
            why = fmt::format("joins {}: {} stays in a register", chain.ops[i - 1].label, joins[i]);
            for (size_t p = 0; p < chain.ops[i].slots.size(); ++p) {
                const auto found = kept_for.find(static_cast<size_t>(chain.ops[i].slots[p]));
                if (found == kept_for.end() || found->second.empty() || chain.ops[i].text->uses[p].reads == Reach::none)
                    continue;
                why += fmt::format("; {} is written all the same: {}", chain.slots[found->first].name, found->second);
            }
        }
        if (why_[static_cast<size_t>(unit.launches[0])].substr(0, 6) == "alone:")
            why_[static_cast<size_t>(unit.launches[0])] = fmt::format("begins a chain of {}", chain.ops.size());
        Launch launch = standing_for(unit);
        for (size_t slot = 0; slot < all.slots.size(); ++slot)
            if (chain.slots[slot].kept) launch.operands.push_back(all.operands[slot]);
        launch.label = fmt::format("{} .. {}", chain.ops.front().label, chain.ops.back().label);
        launch.generated = generate_chain(chain);
        launch.kernel = launch.generated->name;
        return launch;
    }

    // Why a value must be in memory although a chain passes it on in a register; "": nobody else needs it.
    std::string why_kept(int index, const Unit& unit) const {
        const Buffer& it = graph_.buffers[static_cast<size_t>(index)];
        if (it.role == Role::persistent) return "it stays from step to step";
        if (it.role != Role::intermediate) return "it comes from the host";
        if (it.output) return "the host reads it";
        for (int i = std::max(0, it.first); i <= it.last; ++i) {
            if (std::find(unit.launches.begin(), unit.launches.end(), i) != unit.launches.end()) continue;
            const Launch& launch = captured(i);
            for (const Operand& operand : launch.operands)
                if (operand.kind == Operand::Kind::buffer && operand.buffer == index)
                    return launch.phase == "backward" && it.saved
                               ? fmt::format("kept for backward, {} reads it", launch.label)
                               : fmt::format("{} reads it", launch.label);
        }
        return {};
    }

    // On the host the first op runs whole before the chain goes on: in the memory of something that the chain only writes.
    static void lend(Chain& chain, const Slots& all, const std::vector<bool>& written) {
        const auto slot = static_cast<size_t>(chain.ops[0].slots[static_cast<size_t>(chain.result)]);
        if (chain.slots[slot].kept) return;
        for (size_t other = 0; other < chain.slots.size() && chain.stand_in < 0; ++other) {
            const Operand& operand = all.operands[other];
            if (!chain.slots[other].buffer || !chain.slots[other].kept || !written[other] || operand.access.reads ||
                chain.slots[other].bytes != chain.slots[slot].bytes)
                continue;
            bool alone = true;  // no other part of that buffer is in use, and the first op has nothing to do with it
            for (size_t third = 0; third < chain.slots.size(); ++third)
                alone =
                    alone && (third == other || !chain.slots[third].buffer || all.operands[third].buffer != operand.buffer);
            for (const int mine : chain.ops[0].slots) alone = alone && mine != static_cast<int>(other);
            if (alone) chain.stand_in = static_cast<int>(other);
        }
    }

    Launch emit_together(const Unit& unit) {
        Slots all;
        Together together;
        together.text = looked(unit.launches.front()).text;
        together.row = &device::kernel_named(captured(unit.launches.front()).kernel);
        uint32_t blocks = 0;
        for (const int launch : unit.launches) {
            const Launch& it = captured(launch);
            together.parts.push_back({slots_of(launch, all), it.grid.x, it.label});
            blocks += it.grid.x;
            for (size_t p = 0; p < it.operands.size(); ++p) {
                Access& access = all.operands[static_cast<size_t>(together.parts.back().slots[p])].access;
                access.reads |= it.operands[p].access.reads;
                access.writes |= it.operands[p].access.writes;
            }
        }
        together.slots = all.slots;
        Launch launch = standing_for(unit);
        launch.grid = {blocks, launch.grid.y, launch.grid.z};
        launch.operands = all.operands;
        launch.label = fmt::format("{} of {}", together.row->base, unit.launches.size());
        launch.generated = generate_together(together);
        launch.kernel = launch.generated->name;
        return launch;
    }

    // The nodes' lists of launches name those of the new graph.
    static void follow_nodes(Fusion& fusion) {
        for (Node& node : fusion.graph.nodes)
            for (auto* list : {&node.forward_launches, &node.backward_launches, &node.update_launches}) {
                for (int& launch : *list)
                    if (launch >= 0 && static_cast<size_t>(launch) < fusion.decisions.size())
                        launch = fusion.decisions[static_cast<size_t>(launch)].into;
                list->erase(std::unique(list->begin(), list->end()), list->end());
            }
    }

    const Graph& graph_;
    FusionOptions options_;
    std::vector<Looked> looked_;
    std::vector<std::string> why_;
    std::vector<bool> company_;  // by launch
    std::vector<Unit> units_;
};
}  // namespace

Fusion fuse(const Graph& graph, const FusionOptions& options) {
    return Fuser(graph, options).run();
}

std::string text_of(const Fusion& fusion) {
    std::string text;
    for (const Decision& it : fusion.decisions) text += fmt::format("{} ({}): {}\n", it.label, it.kernel, it.why);
    text += fmt::format("{} launches become {}; {:.0f} bytes become {:.0f}; {} values ({:.0f} bytes) are never written\n",
                        fusion.before.launches, fusion.after.launches, fusion.before.bytes, fusion.after.bytes,
                        fusion.unwritten.size(), fusion.unwritten_bytes);
    return text;
}

}  // namespace lockstep::graph
