// The reconvergence stack on small hand-made programs, entry by entry.
#include "core/simt/history/history.h"
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace simt_reconvergence_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

constexpr uint32_t even = 0x55555555u, odd = 0xaaaaaaaau;

// if (tid % 2 == 0) out[tid] = 10; else out[tid] = 20; out[tid] += 1
struct EvenOdd : Builder {
    uint32_t branch_pc, else_pc, join_pc;
    EvenOdd() {
        const int32_t tid = r32("%tid"), bit = r32(), p = predicate("%p1"), value = r32("%value");
        special(ptx::SpecialRegister::tid_x, tid);
        const int32_t address = element_address(tid);
        lanes(and32, Type::b32, bit, tid, word(1));
        lanes(equal32, Type::pred, p, bit, word(1));
        branch_pc = branch(0, 0, p);
        lanes(add32, Type::u32, value, word(10), word(0));
        const uint32_t over = branch(0, 0);
        else_pc = at();
        lanes(add32, Type::u32, value, word(20), word(0));
        join_pc = at();
        lanes(add32, Type::u32, value, value, word(1));
        store(Space::global, Type::u32, address, value);
        exit();
        program.instructions[branch_pc].target = else_pc;
        program.instructions[branch_pc].reconvergence = join_pc;
        program.instructions[over].target = join_pc;
        program.instructions[over].reconvergence = join_pc;
    }
};

}  // namespace

TEST_CASE("an even/odd if gives the classic stack: both sides, odd side, even side") {
    EvenOdd k;
    Memory memory;
    const uint64_t out = memory.allocate(128, "out");
    const LaunchConfig config = config_of({1}, {32}, {out});
    const WarpHistory history = record_warp(k.program, config, memory, 0, 0);
    REQUIRE(!history.fault);
    const WarpStep* after = nullptr;
    for (size_t i = 0; i + 1 < history.steps.size(); ++i) {
        if (history.steps[i].pc == k.branch_pc) after = &history.steps[i + 1];
    }
    REQUIRE(after);
    REQUIRE(after->stack == std::vector<StackEntry>{{k.join_pc, ptx::no_pc, full_mask},
                                                    {k.else_pc, k.join_pc, odd},
                                                    {k.branch_pc + 1, k.join_pc, even}});
    CHECK(after->active == even);
    CHECK(after->number(2) == 2);  // the even lanes', with the lowest of those that parted
    CHECK(after->number(1) == 1);
    CHECK(history.steps.back().active == full_mask);
    CHECK(history.steps.back().stack.size() == 1);
}

TEST_CASE("both sides of an if write their own lanes and the join runs once for all") {
    EvenOdd k;
    Memory memory;
    const uint64_t out = memory.allocate(40 * 4, "out");
    const LaunchResult result = launch(k.program, config_of({1}, {40}, {out}), memory);
    REQUIRE(!result.fault);
    const auto values = read_back<uint32_t>(memory, out, 40);
    for (uint32_t i = 0; i < 40; ++i) CHECK(values[i] == (i % 2 ? 21u : 11u));
    // Two warps: up to the branch, 2 on the even side, 1 on the odd side, 3 from the join on. The branch itself counts
    // the lanes that take it.
    CHECK(result.warp_instructions == 2 * (k.branch_pc + 1 + 3 + 3));
    CHECK(result.thread_instructions == 40 * (k.branch_pc + 3) + 20 + 20 * 2 + 20 * 1);
}

TEST_CASE("a loop whose trip count differs by lane meets again behind it without growing the stack") {
    Builder k;
    const int32_t tid = k.r32(), count = k.r32(), sum = k.r32(), p = k.predicate();
    k.special(ptx::SpecialRegister::tid_x, tid);
    const int32_t address = k.element_address(tid);
    const uint32_t top = k.at();
    k.lanes(add32, Type::u32, sum, sum, tid);
    k.lanes(add32, Type::u32, count, count, k.word(1));
    k.lanes(less32, Type::pred, p, count, tid);
    const uint32_t back = k.branch(top, top + 4, p);
    REQUIRE(back == top + 3);
    const uint32_t behind = k.at();
    k.store(Space::global, Type::u32, address, sum);
    k.exit();
    Memory memory;
    const uint64_t out = memory.allocate(128, "out");
    const WarpHistory history = record_warp(k.program, config_of({1}, {32}, {out}), memory, 0, 0);
    REQUIRE(!history.fault);
    size_t deepest = 0, stores = 0;
    for (const WarpStep& s : history.steps) {
        deepest = std::max(deepest, s.stack.size());
        if (s.stack.size() == 2) CHECK(s.number(1) == 1);  // lanes leave it, but it is the same path
        if (s.pc == behind) {
            ++stores;
            CHECK(s.active == full_mask);
        }
    }
    CHECK(deepest == 2);
    CHECK(stores == 1);
    REQUIRE(!launch(k.program, config_of({1}, {32}, {out}), memory).fault);
    const auto values = read_back<uint32_t>(memory, out, 32);
    for (uint32_t i = 0; i < 32; ++i) CHECK(values[i] == i * std::max(i, 1u));
}

TEST_CASE("of two paths that part, the one with the lowest lane has an even number, whichever runs first, and keeps it") {
    constexpr uint32_t low = 0x0000ffffu, high = 0xffff0000u;
    const StackEntry meet{9, ptx::no_pc, full_mask};
    const auto path = [](uint32_t pc, uint32_t mask) { return StackEntry{pc, 9, mask}; };
    WarpHistory history;
    const auto add = [&](std::vector<StackEntry> stack) {
        history.steps.push_back({stack.back().pc, stack.back().mask, stack.back().mask, 0, std::move(stack)});
    };
    add({{0, ptx::no_pc, full_mask}});
    add({meet, path(5, low), path(1, high)});
    add({meet, path(2, high), path(5, low)});  // independent threads: they change places
    // The low lanes part again, up to a place of their own.
    add({meet, path(2, high), path(8, low), {7, 8, 0x0000ff00u}, {6, 8, 0x000000ffu}});
    add({meet, path(8, low), {7, 8, 0x0000ff00u}});  // the high ones have ended meanwhile
    add({meet, path(8, low)});
    number_paths(history);
    const auto numbers = [&](size_t step) {
        std::vector<size_t> all;
        for (size_t place = 0; place < history.steps[step].stack.size(); ++place)
            all.push_back(history.steps[step].number(place));
        return all;
    };
    CHECK(numbers(0) == std::vector<size_t>{0});
    CHECK(numbers(1) == std::vector<size_t>{0, 2, 1});
    CHECK(numbers(2) == std::vector<size_t>{0, 1, 2});
    CHECK(numbers(3) == std::vector<size_t>{0, 1, 2, 3, 4});
    CHECK(numbers(4) == std::vector<size_t>{0, 2, 3});
    CHECK(numbers(5) == std::vector<size_t>{0, 2});
}

}  // namespace simt_reconvergence_test
