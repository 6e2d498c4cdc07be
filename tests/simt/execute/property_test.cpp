// Random structured programs (ifs, else branches, loops with trip counts by lane, breaks, early returns, guarded
// instructions) run on the machine and, thread by thread, by a plain interpreter of the same tree. All results must agree,
// on every instruction set of this machine, and no picture's facts may break on the way.
#include <bitset>
#include <map>
#include <memory>

#include "core/base/rng.h"
#include "core/simt/driver.h"
#include "core/simt/execute/execute.h"
#include "core/simt/history/history.h"
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace simt_property_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

constexpr int variables = 5;  // v0 is the thread's number

struct Node {
    enum class Kind { assign, guarded, choice, loop, leave_loop, leave } kind = Kind::assign;
    int d = 1, a = 0, b = 0, operation = 0;  // assign, guarded: v[d] = v[a] op v[b]
    int test = 0;                            // condition: v[test] & mask < bound
    uint32_t mask = 7, bound = 3;
    std::vector<Node> body, otherwise;
};

// The tree's meaning for one thread.
enum class Flow { next, leave_loop, leave };
using State = std::array<uint32_t, variables>;

uint32_t apply(int operation, uint32_t x, uint32_t y) {
    return operation == 0 ? x + y : operation == 1 ? x * y : x ^ y;
}
bool holds(const Node& n, const State& v) {
    return (v[static_cast<size_t>(n.test)] & n.mask) < n.bound;
}

Flow interpret(const std::vector<Node>& nodes, State& v) {
    for (const Node& n : nodes) {
        const auto compute = [&] {
            v[static_cast<size_t>(n.d)] = apply(n.operation, v[static_cast<size_t>(n.a)], v[static_cast<size_t>(n.b)]);
        };
        Flow flow = Flow::next;
        switch (n.kind) {
            case Node::Kind::assign:
                compute();
                break;
            case Node::Kind::guarded:
                if (holds(n, v)) compute();
                break;
            case Node::Kind::choice:
                flow = interpret(holds(n, v) ? n.body : n.otherwise, v);
                break;
            case Node::Kind::loop: {
                const uint32_t trips = (v[static_cast<size_t>(n.test)] & n.mask) + 1;
                for (uint32_t i = 0; i < trips && flow == Flow::next; ++i) flow = interpret(n.body, v);
                if (flow == Flow::leave_loop) flow = Flow::next;
                break;
            }
            case Node::Kind::leave_loop:
                if (holds(n, v)) flow = Flow::leave_loop;
                break;
            case Node::Kind::leave:
                if (holds(n, v)) flow = Flow::leave;
                break;
        }
        if (flow != Flow::next) return flow;
    }
    return Flow::next;
}

struct Author {  // writes random trees
    Rng rng;
    int budget = 24;

    int pick(int n) { return static_cast<int>(rng.below(static_cast<uint64_t>(n))); }
    std::vector<Node> block(int depth, bool in_loop) {
        std::vector<Node> nodes;
        for (int i = 1 + pick(4); i > 0 && budget > 0; --i) {
            --budget;
            Node n;
            n.d = 1 + pick(variables - 1);
            n.a = pick(variables);
            n.b = pick(variables);
            n.operation = pick(3);
            n.test = pick(variables);
            n.mask = (1u << (1 + pick(4))) - 1;
            n.bound = static_cast<uint32_t>(pick(static_cast<int>(n.mask) + 2));
            const int roll = pick(12);
            if (roll < 4) {
                n.kind = Node::Kind::assign;
            } else if (roll < 5) {
                n.kind = Node::Kind::guarded;
            } else if (roll < 8 && depth < 4) {
                n.kind = Node::Kind::choice;
                n.body = block(depth + 1, in_loop);
                if (pick(2)) n.otherwise = block(depth + 1, in_loop);
            } else if (roll < 10 && depth < 3) {
                n.kind = Node::Kind::loop;
                n.mask = 3;
                n.body = block(depth + 1, true);
            } else if (roll == 10 && in_loop) {
                n.kind = Node::Kind::leave_loop;
            } else if (roll == 11 && pick(2)) {
                n.kind = Node::Kind::leave;
            }
            nodes.push_back(std::move(n));
        }
        return nodes;
    }
};

struct Compiler : Builder {  // tree -> instructions
    int32_t v[variables], address = 0, scratch = 0;
    Rng rng;

    explicit Compiler(const std::vector<Node>& tree, uint64_t seed) : rng(seed) {
        for (int i = 0; i < variables; ++i) v[i] = r32("%v" + std::to_string(i));
        scratch = r32("%t");
        special(ptx::SpecialRegister::tid_x, v[0]);
        address = element_address(v[0]);
        for (int i = 1; i < variables; ++i) lanes(mul32, Type::u32, v[i], v[0], word(static_cast<uint32_t>(i)));
        std::vector<uint32_t> leaving;
        emit(tree, nullptr);
        save();
        exit();
    }
    void save() {
        for (int i = 1; i < variables; ++i) store(Space::global, Type::u32, address, v[i], (i - 1) * 4096);
    }
    int32_t condition(const Node& n) {
        const int32_t p = predicate();
        lanes(and32, Type::b32, scratch, v[n.test], word(n.mask));
        lanes(less32, Type::pred, p, scratch, word(n.bound));
        return p;
    }
    void emit(const std::vector<Node>& nodes, std::vector<uint32_t>* breaks) {
        for (const Node& n : nodes) {
            const ptx::LaneFunction f = n.operation == 0 ? add32 : n.operation == 1 ? mul32 : xor32;
            switch (n.kind) {
                case Node::Kind::assign:
                    lanes(f, Type::u32, v[n.d], v[n.a], v[n.b]);
                    break;
                case Node::Kind::guarded: {
                    const int32_t p = condition(n);
                    lanes(f, Type::u32, v[n.d], v[n.a], v[n.b]).guard = p;
                    break;
                }
                case Node::Kind::choice: {
                    const uint32_t over_body = branch(0, 0, condition(n), true);
                    emit(n.body, breaks);
                    if (n.otherwise.empty()) {
                        program.instructions[over_body].target = at();
                        break;
                    }
                    const uint32_t over_else = branch(0, 0);
                    program.instructions[over_body].target = at();
                    emit(n.otherwise, breaks);
                    program.instructions[over_else].target = at();
                    break;
                }
                case Node::Kind::loop: {
                    const int32_t trips = r32(), i = r32(), p = predicate();
                    lanes(and32, Type::b32, trips, v[n.test], word(n.mask));
                    lanes(mul32, Type::u32, i, i, word(0));
                    const uint32_t top = at();
                    std::vector<uint32_t> mine;
                    emit(n.body, &mine);
                    lanes(less32, Type::pred, p, i, trips);
                    lanes(add32, Type::u32, i, i, word(1));
                    branch(top, 0, p);
                    for (const uint32_t b : mine) program.instructions[b].target = at();
                    break;
                }
                case Node::Kind::leave_loop:
                    breaks->push_back(branch(0, 0, condition(n)));
                    break;
                case Node::Kind::leave: {
                    const uint32_t over = branch(0, 0, condition(n), true);
                    save();
                    exit();
                    program.instructions[over].target = at();
                    break;
                }
            }
        }
    }
};

// Immediate post-dominators by the definition, on sets: slow and plain.
void set_reconvergence(ptx::Program& program) {
    using Set = std::bitset<1024>;
    const size_t n = program.instructions.size();
    REQUIRE(n < 1024);
    std::vector<Set> after(n);
    for (Set& s : after) s.set();
    const auto successors = [&](size_t pc) {
        std::vector<size_t> next;
        const auto& i = program.instructions[pc];
        if (i.kind == Kind::exit) return next;
        if (i.kind == Kind::branch) next.push_back(i.target);
        if (i.kind != Kind::branch || i.guard != ptx::no_operand) next.push_back(pc + 1);
        return next;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t pc = n; pc-- > 0;) {
            Set s;
            const auto next = successors(pc);
            if (!next.empty()) s.set();
            for (const size_t t : next) s &= after[t];
            s.set(pc);
            if (s != after[pc]) after[pc] = s, changed = true;
        }
    }
    for (size_t pc = 0; pc < n; ++pc) {
        auto& i = program.instructions[pc];
        if (i.kind != Kind::branch) continue;
        i.reconvergence = ptx::no_pc;
        // The nearest strict post-dominator is the one that has the most post-dominators of its own.
        size_t most = 0;
        for (size_t other = 0; other < n; ++other) {
            if (other != pc && after[pc][other] && after[other].count() > most) {
                most = after[other].count();
                i.reconvergence = static_cast<uint32_t>(other);
            }
        }
    }
}

std::vector<uint32_t> run_whole(const Executor& executor, const ptx::Program& program, uint32_t threads) {
    Memory memory;
    const uint64_t out = memory.allocate(4 * 4096, "out");
    const LaunchConfig config = config_of({1}, {threads}, {out});
    Grid grid = make_grid(program, config, memory);
    Block block = make_block(grid, 0);
    uint64_t lanes = 0;
    const auto fault = drive(block, [&](Warp& w) { return std::optional<WarpEvent>(executor.run(w, 1000, lanes)); });
    REQUIRE(!fault);
    return read_back<uint32_t>(memory, out, 4096);
}

}  // namespace

TEST_CASE("random structured programs give what each thread would have computed alone") {
    const uint32_t threads = 75;
    int diverged = 0, left_early = 0;
    for (uint64_t seed = 1; seed <= 300; ++seed) {
        Author author{Rng(seed)};
        std::vector<Node> tree;
        while (author.budget > 0) {
            for (Node& n : author.block(0, false)) tree.push_back(std::move(n));
        }
        Compiler compiled(tree, seed);
        set_reconvergence(compiled.program);
        std::vector<uint32_t> expected(4096);
        for (uint32_t t = 0; t < threads; ++t) {
            State v{};
            for (uint32_t i = 0; i < variables; ++i) v[i] = i ? t * i : t;
            left_early += interpret(tree, v) == Flow::leave;
            for (uint32_t i = 1; i < variables; ++i) expected[(i - 1) * 1024 + t] = v[i];
        }
        for (const ptx::Simd simd : {ptx::Simd::portable, ptx::Simd::avx2, ptx::Simd::avx512}) {
            const Executor e = executor(simd);
            if (!e.run) continue;
            INFO("seed " << seed << ", instruction set " << static_cast<int>(simd));
            REQUIRE(run_whole(e, compiled.program, threads) == expected);
        }

        // The same step by step: the facts that the divergence picture shows.
        Memory memory;
        const LaunchConfig config = config_of({1}, {threads}, {memory.allocate(4 * 4096, "out")});
        const WarpHistory history = record_warp(compiled.program, config, memory, 0, 2);
        INFO("seed " << seed);
        REQUIRE(!history.fault);
        const uint32_t born = (1u << (threads - 64)) - 1;
        for (size_t i = 0; i < history.steps.size(); ++i) {
            const WarpStep& s = history.steps[i];
            REQUIRE(s.active != 0);
            REQUIRE((s.executed & ~s.active) == 0);
            REQUIRE((s.active & s.exited) == 0);
            REQUIRE(s.stack.size() <= 64);
            uint32_t live = 0;
            for (const StackEntry& entry : s.stack) live |= entry.mask;
            REQUIRE(live == (born & ~s.exited));
            for (size_t k = 0; k < std::min<size_t>(s.stack.size(), 16); ++k)  // paths side by side are told apart
                for (size_t j = 0; j < k && s.stack.size() < 8; ++j) REQUIRE(s.number(j) != s.number(k));
            if (i + 1 == history.steps.size()) continue;
            // Lanes active on both sides of a divergent branch together cover the mask that met it.
            const auto& instruction = compiled.program.instructions[s.pc];
            const bool split =
                instruction.kind == Kind::branch && s.executed && s.executed != s.active && instruction.target != s.pc + 1;
            if (!split) continue;
            ++diverged;
            const WarpStep& next = history.steps[i + 1];
            const uint32_t other = s.active & ~next.active;
            REQUIRE((next.active == s.executed || next.active == (s.active & ~s.executed)));
            uint32_t waiting = 0;
            for (size_t k = 0; k + 1 < next.stack.size(); ++k) waiting |= next.stack[k].mask;
            REQUIRE((waiting & other) == other);
        }
    }
    CHECK(diverged > 1000);
    CHECK(left_early > 100);
}

TEST_CASE("independent threads run programs that do not wait for one another in the order of the stack") {
    struct Ran {
        uint32_t warp, pc, active, executed;
        bool operator==(const Ran&) const = default;
    };
    for (uint64_t seed = 1; seed <= 200; ++seed) {
        Author author{Rng(seed)};
        std::vector<Node> tree;
        while (author.budget > 0) {
            for (Node& n : author.block(0, false)) tree.push_back(std::move(n));
        }
        Compiler compiled(tree, seed);
        set_reconvergence(compiled.program);
        std::vector<Ran> sequences[2];
        for (const bool independent : {false, true}) {
            Memory memory;
            const LaunchConfig config = config_of({1}, {75}, {memory.allocate(4 * 4096, "out")});
            Grid grid = make_grid(compiled.program, config, memory);
            grid.independent = independent;
            Block block = make_block(grid, 0);
            for (Warp& warp : block.warps) {
                while (!warp.done) {
                    const WarpEvent event = step(warp);
                    REQUIRE(event.kind != WarpEvent::Kind::fault);
                    REQUIRE(warp.waits.empty());
                    sequences[independent].push_back({warp.index, event.pc, event.active, event.executed});
                }
            }
        }
        INFO("seed " << seed);
        REQUIRE(sequences[0] == sequences[1]);
    }
}

TEST_CASE("stepping and running end in the same state") {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        Author author{Rng(seed * 7919)};
        const std::vector<Node> tree = author.block(0, false);
        Compiler compiled(tree, seed);
        set_reconvergence(compiled.program);
        Memory memory;
        const LaunchConfig config = config_of({1}, {32}, {memory.allocate(4 * 4096, "out")});
        Memory other = memory;
        Grid by_step = make_grid(compiled.program, config, memory), by_run = make_grid(compiled.program, config, other);
        Block a = make_block(by_step, 0), b = make_block(by_run, 0);
        uint64_t lanes = 0;
        Rng rng(seed);
        while (!b.warps[0].done) {
            const uint64_t n = 1 + rng.below(6);
            run(b.warps[0], n, lanes);
            while (a.warps[0].instructions < b.warps[0].instructions) step(a.warps[0]);
            REQUIRE(a.warps[0].stack == b.warps[0].stack);
            REQUIRE(a.warps[0].exited == b.warps[0].exited);
            REQUIRE(std::memcmp(a.warps[0].registers, b.warps[0].registers, compiled.program.register_bytes) == 0);
        }
        CHECK(a.warps[0].done);
    }
}

TEST_CASE("registers_at gives the lanes' values before an instruction, forwards and backwards") {
    Builder k;
    const int32_t tid = k.r32("%tid"), sum = k.r32("%sum"), p = k.predicate("%p1");
    k.special(ptx::SpecialRegister::tid_x, tid);
    k.lanes(less32, Type::pred, p, tid, k.word(5));
    k.lanes(add32, Type::u32, sum, tid, k.word(100)).guard = p;
    k.exit();
    const Memory memory;
    const LaunchConfig config = config_of({2}, {32});
    for (const uint64_t step : {3u, 2u, 1u, 0u, 50u}) {
        const auto values = registers_at(k.program, config, memory, 1, 0, step);
        REQUIRE(values.size() == 3);
        for (uint32_t lane = 0; lane < 32; ++lane) {
            CHECK(values[0].bits[lane] == (step >= 1 ? lane : 0));
            CHECK(values[1].bits[lane] == (step >= 3 && lane < 5 ? lane + 100 : 0));
            CHECK(values[2].bits[lane] == (step >= 2 && lane < 5 ? 1u : 0u));
        }
    }
    CHECK(registers_at(k.program, config, memory, 2, 0, 0).empty());
}

TEST_CASE("a history keeps to its limit and leaves memory alone") {
    Builder k;
    const int32_t tid = k.r32();
    k.special(ptx::SpecialRegister::tid_x, tid);
    const int32_t address = k.element_address(tid);
    const uint32_t top = k.at();
    k.store(Space::global, Type::u32, address, tid);
    k.branch(top, ptx::no_pc);
    Memory memory;
    const uint64_t out = memory.allocate(128, "out");
    const WarpHistory history = record_warp(k.program, config_of({1}, {32}, {out}), memory, 0, 0, 1000);
    CHECK(history.truncated);
    CHECK(history.steps.size() == 1000);
    CHECK(read_back<uint32_t>(memory, out, 32) == std::vector<uint32_t>(32, 0));
}

TEST_CASE("a history follows another run of the warp through loops that wait, and stays as it is where the path differs") {
    const auto history_of = [](std::initializer_list<uint32_t> pcs) {
        WarpHistory history;
        for (const uint32_t pc : pcs) {
            if (pc == 3) {
                WarpAccess access;
                access.step = history.steps.size();
                history.accesses.push_back(access);
            }
            WarpStep step;
            step.pc = pc;
            history.steps.push_back(step);
        }
        return history;
    };
    const auto pcs_of = [](const WarpHistory& history) {
        std::vector<uint32_t> pcs;
        for (const WarpStep& step : history.steps) pcs.push_back(step.pc);
        return pcs;
    };
    using Pcs = std::vector<uint32_t>;
    for (const Pcs& there : {Pcs{1, 2, 3, 4, 2, 3, 4, 5, 6},                              // as often
                             Pcs{1, 2, 3, 4, 5, 6},                                       // once
                             Pcs{1, 2, 3, 4, 2, 3, 4, 2, 3, 4, 2, 3, 4, 2, 3, 4, 5, 6}})  // more often
    {
        WarpHistory history = history_of({1, 2, 3, 4, 2, 3, 4, 5, 6});
        follow(history, there);
        CHECK(pcs_of(history) == there);
        CHECK(history.accesses.size() == static_cast<size_t>(std::count(there.begin(), there.end(), 3u)));
        for (const WarpAccess& access : history.accesses) CHECK(there[access.step] == 3);
        CHECK(history.in_replay(there.size() - 1) == 8);  // the end is the end
        CHECK(history.in_replay(there.size()) == 9);
    }
    // A loop that waits inside of one that does not: 1 (2 3)* 4 5 1 (2 3)* 4 5
    WarpHistory nested = history_of({1, 2, 3, 2, 3, 4, 5, 1, 2, 3, 4, 5});
    const Pcs there = {1, 2, 3, 4, 5, 1, 2, 3, 2, 3, 2, 3, 4, 5};
    follow(nested, there);
    CHECK(pcs_of(nested) == there);
    CHECK(nested.replayed[5] == 7);
    WarpHistory other = history_of({1, 2, 3, 7, 8});
    follow(other, Pcs{1, 2, 3, 9, 8});
    CHECK(pcs_of(other) == Pcs{1, 2, 3, 7, 8});
    CHECK(other.replayed.empty());
}

}  // namespace simt_property_test
