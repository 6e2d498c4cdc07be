// Threads of a warp that make progress on their own: lanes that wait for one another, by spinning or at a meeting, come
// through; on a stack the same programs dead-lock, and the fault says who waits for whom.
#include "core/base/rng.h"
#include "core/simt/history/history.h"
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace simt_independent_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

constexpr int64_t lock_at = 0, count_at = 4;  // in shared memory

struct Kernel : Builder {
    int32_t tid = r32("%tid");
    Kernel() {
        program.static_shared = 4096;
        special(ptx::SpecialRegister::tid_x, tid);
    }
    void compare_and_swap(int32_t old, int64_t at_offset, uint32_t expected, uint32_t desired) {
        DecodedInstruction& i = add(Kind::atomic, Type::b32);
        i.space = Space::shared;
        i.offset = at_offset;
        i.destination[0] = old;
        i.source[0] = word(expected);
        i.source[1] = word(desired);
        i.mode = static_cast<uint8_t>(ptx::AtomicOperation::cas);
    }
    int32_t is(int32_t value, uint32_t number) {
        const int32_t p = predicate();
        lanes(equal32, Type::pred, p, value, word(number));
        return p;
    }
    int32_t below(int32_t value, uint32_t bound) {
        const int32_t p = predicate();
        lanes(less32, Type::pred, p, value, word(bound));
        return p;
    }
    void count_up() {
        const int32_t v = r32();
        load(Space::shared, Type::u32, v, ptx::no_operand, count_at);
        lanes(add32, Type::u32, v, v, word(1));
        store(Space::shared, Type::u32, ptx::no_operand, v, count_at);
    }
    DecodedInstruction& warp_barrier(uint32_t members) {
        DecodedInstruction& i = add(Kind::warp_barrier);
        i.source[0] = word(members);
        return i;
    }
    DecodedInstruction& ballot(int32_t d, int32_t p, uint32_t members) {
        DecodedInstruction& i = add(Kind::vote, Type::b32);
        i.mode = static_cast<uint8_t>(ptx::VoteOperation::ballot);
        i.destination[0] = d;
        i.source[0] = p;
        i.source[1] = word(members);
        return i;
    }
    DecodedInstruction& shuffle_from(int32_t d, int32_t value, int32_t lane, uint32_t members) {
        DecodedInstruction& i = add(Kind::shuffle, Type::b32);
        i.mode = 3;
        i.destination[0] = d;
        i.source[0] = value;
        i.source[1] = lane;
        i.source[2] = word(31);
        i.source[3] = word(members);
        return i;
    }
    void result(int32_t value) {  // out[tid] = value
        store(Space::global, Type::u32, element_address(tid), value);
    }
    // A branch that is patched: if (p) goes past what follows, until `here` is called.
    void meet_here(uint32_t branch_pc) {
        program.instructions[branch_pc].target = program.instructions[branch_pc].reconvergence = at();
    }
};

// while (atomicCAS(&lock, 0, 1) != 0); count += 1; lock = 0
struct SpinLock : Kernel {
    uint32_t top, behind;
    SpinLock() {
        const int32_t old = r32("%old");
        top = at();
        compare_and_swap(old, lock_at, 0, 1);
        branch(top, top + 3, is(old, 0), true);
        behind = at();
        count_up();
        store(Space::shared, Type::u32, ptx::no_operand, word(0), lock_at);
        const int32_t seen = r32();
        barrier();
        load(Space::shared, Type::u32, seen, ptx::no_operand, count_at);
        result(seen);
        exit();
    }
};

LaunchResult run(const ptx::Program& program, uint32_t threads, Memory& memory, uint64_t out, bool independent,
                 bool synccheck = true) {
    LaunchOptions options;
    options.independent = independent;
    options.synccheck = synccheck;
    options.max_instructions = 20'000'000;
    return launch(program, config_of({1}, {threads}, {out}), memory, options);
}

}  // namespace

TEST_CASE("a spin lock that the lanes of a warp contend for lets each of them in once") {
    for (const uint32_t threads : {32u, 7u, 96u, 256u}) {
        SpinLock k;
        Memory memory;
        const uint64_t out = memory.allocate(threads * 4, "out");
        const LaunchResult result = run(k.program, threads, memory, out, true);
        INFO(threads << " threads" << (result.fault ? ": " + render(*result.fault) : ""));
        REQUIRE(!result.fault);
        CHECK(read_back<uint32_t>(memory, out, threads) == std::vector<uint32_t>(threads, threads));
        CHECK(result.warp_instructions < 600'000);
    }
}

TEST_CASE("on a stack the same lock dead-locks at once, and the fault says who waits for whom") {
    SpinLock k;
    Memory memory;
    const uint64_t out = memory.allocate(128, "out");
    const LaunchResult result = run(k.program, 32, memory, out, false);
    REQUIRE(result.fault);
    CHECK(result.fault->kind == "deadlock");
    CHECK(result.fault->message ==
          "dead-locks before Volta: lanes 1-31 of warp 0 spin on line " + std::to_string(k.top + 1) +
              " for lane 0, which waits for them on line " + std::to_string(k.behind + 1) +
              ", where their paths meet again; threads that make progress on their own (compute capability 7.0 and later) "
              "come through; thread (1,0,0) of block (0,0,0) wants the lock at offset 0 of shared memory on line " +
              std::to_string(k.top + 1) + ", which thread (0,0,0) of block (0,0,0) took last, on line " +
              std::to_string(k.top + 1) + ", and has not given back; that thread is of the same warp and stands on line " +
              std::to_string(k.behind + 1) + " until these lanes come there, as a warp with a stack runs one path");
    CHECK(result.fault->advice.find("inside the loop") != std::string::npos);
    CHECK(result.fault->line == static_cast<int32_t>(k.top) + 1);
    CHECK(result.fault->thread == Dim3{1, 0, 0});
    CHECK(result.warp_instructions < 100'000);
}

TEST_CASE("a lock that is released inside the loop works on a stack too") {
    // for (done = 0; !done;) if (atomicCAS(&lock, 0, 1) == 0) { count += 1; lock = 0; done = 1; }
    Kernel k;
    const int32_t old = k.r32(), done = k.r32(), seen = k.r32();
    const uint32_t top = k.at();
    k.compare_and_swap(old, lock_at, 0, 1);
    const uint32_t over = k.branch(0, 0, k.is(old, 0), true);
    k.count_up();
    k.store(Space::shared, Type::u32, ptx::no_operand, k.word(0), lock_at);
    k.lanes(add32, Type::u32, done, k.word(1), k.word(0));
    k.meet_here(over);
    const uint32_t back = k.branch(top, 0, k.is(done, 0));
    k[back].reconvergence = k.at();
    k.barrier();
    k.load(Space::shared, Type::u32, seen, ptx::no_operand, count_at);
    k.result(seen);
    k.exit();
    for (const bool independent : {false, true}) {
        Memory memory;
        const uint64_t out = memory.allocate(400, "out");
        const LaunchResult result = run(k.program, 100, memory, out, independent);
        INFO((result.fault ? render(*result.fault) : std::string()));
        REQUIRE(!result.fault);
        CHECK(read_back<uint32_t>(memory, out, 100) == std::vector<uint32_t>(100, 100));
    }
}

TEST_CASE("a lane that counts while it spins gives way too") {
    // if (tid == 0) while (flag == 0) ++turns; else if (tid == 31) flag = 1: the lane that is waited for comes second
    Kernel k;
    const int32_t flag = k.r32(), turns = k.r32();
    const uint32_t other = k.branch(0, 0, k.is(k.tid, 0), true);
    const uint32_t top = k.at();
    k.load(Space::shared, Type::u32, flag, ptx::no_operand);
    k.lanes(add32, Type::u32, turns, turns, k.word(1));
    const uint32_t back = k.branch(top, 0, k.is(flag, 0));
    const uint32_t over = k.branch(0, 0);
    k[back].reconvergence = over;
    k[other].target = k.at();
    k.store(Space::shared, Type::u32, ptx::no_operand, k.word(1)).guard = k.is(k.tid, 31);
    k[over].target = k[over].reconvergence = k[other].reconvergence = k.at();
    k.result(turns);
    k.exit();
    Memory memory;
    const uint64_t out = memory.allocate(128, "out");
    REQUIRE(!run(k.program, 32, memory, out, true).fault);
    const auto turned = read_back<uint32_t>(memory, out, 32);
    CHECK(turned[0] > 1);
    CHECK(turned[31] == 0);
}

TEST_CASE("lanes on both sides of a branch meet at their own warp barriers") {
    // if (tid < 16) { box[tid] = tid; syncwarp; } else { syncwarp; value = box[tid - 16]; }
    Kernel k;
    const int32_t value = k.r32(), address = k.r64();
    k.lanes(scale4, Type::u64, address, k.tid);
    const uint32_t other = k.branch(0, 0, k.below(k.tid, 16));
    k.warp_barrier(full_mask);  // runs first, and waits
    k.load(Space::shared, Type::u32, value, address, -64);
    const uint32_t over = k.branch(0, 0);
    k[other].target = k.at();
    k.lanes(add32, Type::u32, value, k.tid, k.word(500));
    k.store(Space::shared, Type::u32, address, value);
    k.warp_barrier(full_mask);
    k[over].target = k[over].reconvergence = k[other].reconvergence = k.at();
    k.result(value);
    k.exit();
    Memory memory;
    const uint64_t out = memory.allocate(128, "out");
    const LaunchResult result = run(k.program, 32, memory, out, true);
    REQUIRE(!result.fault);
    const auto values = read_back<uint32_t>(memory, out, 32);
    for (uint32_t i = 0; i < 32; ++i) CHECK(values[i] == 500 + i % 16);
    const LaunchResult on_stack = run(k.program, 32, memory, out, false);
    REQUIRE(on_stack.fault);
    CHECK(on_stack.fault->message ==
          "the warp barrier's member mask 0xffffffff names lane 0, which is not here: it is on another path");
}

TEST_CASE("a shuffle waits for members that come to it by another path") {
    // Both sides of a branch go to one shuffle, which is before the point where the machine would join them.
    Kernel k;
    const int32_t mine = k.r32(), got = k.r32();
    const uint32_t other = k.branch(0, 0, k.below(k.tid, 20));
    k.lanes(add32, Type::u32, mine, k.tid, k.word(100));
    const uint32_t over = k.branch(0, 0);
    k[other].target = k.at();
    k.lanes(add32, Type::u32, mine, k.tid, k.word(200));
    k[over].target = k.at();
    const int32_t from = k.r32();
    k.lanes(xor32, Type::u32, from, k.tid, k.word(31));
    k.shuffle_from(got, mine, from, full_mask);
    k[over].reconvergence = k[other].reconvergence = k.at();
    k.result(got);
    k.exit();
    Memory memory;
    const uint64_t out = memory.allocate(128, "out");
    const LaunchResult result = run(k.program, 32, memory, out, true);
    INFO((result.fault ? render(*result.fault) : std::string()));
    REQUIRE(!result.fault);
    const auto values = read_back<uint32_t>(memory, out, 32);
    for (uint32_t i = 0; i < 32; ++i) CHECK(values[i] == (31 - i) + (31 - i < 20 ? 200u : 100u));
}

TEST_CASE("shuffles and ballots under partial masks see their members alone") {
    // Each side of a branch shuffles and votes among its own lanes.
    Kernel k;
    const int32_t got = k.r32(), votes = k.r32(), p = k.is(k.tid, 21);
    const uint32_t other = k.branch(0, 0, k.below(k.tid, 20));
    k.shuffle_from(got, k.tid, k.word(25), 0xfff00000u);
    k.ballot(votes, p, 0xfff00000u);
    const uint32_t over = k.branch(0, 0);
    k[other].target = k.at();
    k.shuffle_from(got, k.tid, k.word(7), 0x000fffffu);
    k.ballot(votes, p, 0x000fffffu).negated_source = true;
    k[over].target = k[over].reconvergence = k[other].reconvergence = k.at();
    k.lanes(mul32, Type::u32, got, got, k.word(1u << 24));
    k.lanes(xor32, Type::u32, got, got, votes);
    k.result(got);
    k.exit();
    for (const bool independent : {false, true}) {
        Memory memory;
        const uint64_t out = memory.allocate(128, "out");
        REQUIRE(!run(k.program, 32, memory, out, independent).fault);
        const auto values = read_back<uint32_t>(memory, out, 32);
        for (uint32_t i = 0; i < 32; ++i) CHECK(values[i] == (i < 20 ? (7u << 24 ^ 0xfffffu) : (25u << 24 ^ 1u << 21)));
    }
}

TEST_CASE("one ballot of several groups answers each group") {
    // Lanes of one path name four groups of eight.
    Kernel k;
    const int32_t votes = k.r32(), members = k.r32(), group = k.r32(), odd = k.r32();
    k.lanes(and32, Type::b32, group, k.tid, k.word(24));
    const auto shifted = [](std::byte* d, const std::byte* a, const std::byte* b, const std::byte*) {
        lane_by_lane<uint32_t>(d, a, b, [](uint32_t x, uint32_t y) { return x << y; });
    };
    k.lanes(shifted, Type::b32, members, k.word(0xff), group);
    k.lanes(and32, Type::b32, odd, k.tid, k.word(1));
    DecodedInstruction& i = k.ballot(votes, k.is(odd, 1), 0);
    i.source[1] = members;
    k.result(votes);
    k.exit();
    Memory memory;
    const uint64_t out = memory.allocate(128, "out");
    REQUIRE(!run(k.program, 32, memory, out, true).fault);
    const auto values = read_back<uint32_t>(memory, out, 32);
    for (uint32_t lane = 0; lane < 32; ++lane) CHECK(values[lane] == 0xaau << (lane / 8 * 8));
}

TEST_CASE("lanes that have returned are not waited for, whatever they did before") {
    // if (tid < 12) { store; return; } value = ballot(tid == 20) or a barrier of the block.
    for (const bool block : {false, true}) {
        Kernel k;
        const int32_t votes = k.r32(), early = k.r32();
        const uint32_t leave = k.branch(0, ptx::no_pc, k.below(k.tid, 12));
        if (block)
            k.barrier();  // runs first, and waits
        else
            k.ballot(votes, k.is(k.tid, 20), full_mask);
        if (block) k.lanes(add32, Type::u32, votes, k.tid, k.word(500));
        k.result(votes);
        k.exit();
        k[leave].target = k.at();
        k.lanes(add32, Type::u32, early, k.tid, k.word(100));
        k.result(early);
        k.exit();
        Memory memory;
        const uint64_t out = memory.allocate(256, "out");
        const LaunchResult result = run(k.program, block ? 64 : 32, memory, out, true);
        INFO((result.fault ? result.fault->message : ""));
        REQUIRE(!result.fault);
        const auto values = read_back<uint32_t>(memory, out, 32);
        for (uint32_t i = 0; i < 32; ++i) CHECK(values[i] == (i < 12 ? 100 + i : block ? 500 + i : 1u << 20));
    }
}

TEST_CASE("a member that has only its last store to do and then ends is not waited for") {
    Kernel k;
    const int32_t votes = k.r32();
    const uint32_t other = k.branch(0, 0, k.below(k.tid, 12), true);
    k.ballot(votes, k.is(k.tid, 3), full_mask);
    k.meet_here(other);
    k.result(votes);
    k.exit();
    for (const bool independent : {true, false}) {
        INFO((independent ? "independent" : "stack"));
        Memory memory;
        const uint64_t out = memory.allocate(128, "out");
        REQUIRE(!run(k.program, 32, memory, out, independent).fault);
        CHECK(read_back<uint32_t>(memory, out, 32)[5] == 1u << 3);
        CHECK(read_back<uint32_t>(memory, out, 32)[20] == 0);
        REQUIRE(!run(k.program, 32, memory, out, independent, false).fault);
    }
}

TEST_CASE("a member that goes past a vote to more work is a synccheck fault, and is not waited for without the check") {
    Kernel k;
    const int32_t votes = k.r32();
    const uint32_t other = k.branch(0, 0, k.below(k.tid, 12), true);
    k.ballot(votes, k.is(k.tid, 3), full_mask);
    const uint32_t shuffle = k.at() - 1;
    k.meet_here(other);
    const uint32_t last = k.branch(0, 0, k.below(k.tid, 30), true);
    k.result(votes);
    k.meet_here(last);
    k.exit();
    Memory memory;
    const uint64_t out = memory.allocate(128, "out");
    const LaunchResult result = run(k.program, 32, memory, out, true);
    REQUIRE(result.fault);
    CHECK(result.fault->kind == "synccheck");
    CHECK(result.fault->message ==
          "the vote's member mask 0xffffffff names lane 12, which is not here: it is on another path");
    CHECK(result.fault->pc == shuffle);
    REQUIRE(!run(k.program, 32, memory, out, true, false).fault);
    CHECK(read_back<uint32_t>(memory, out, 32)[5] == 1u << 3);
}

TEST_CASE("paths that wait for one another at different meetings are a dead-lock with a wait-for list") {
    Kernel k;
    const int32_t votes = k.r32();
    const uint32_t other = k.branch(0, 0, k.below(k.tid, 16));
    k.warp_barrier(full_mask);
    const uint32_t over = k.branch(0, 0);
    k[other].target = k.at();
    k.ballot(votes, k.is(k.tid, 3), full_mask);
    k[over].target = k[over].reconvergence = k[other].reconvergence = k.at();
    k.exit();
    const auto line = [&](uint32_t pc) { return "line " + std::to_string(pc + 1); };
    Memory memory;
    const LaunchResult checked = run(k.program, 32, memory, 0, true);
    REQUIRE(checked.fault);
    CHECK(checked.fault->kind == "synccheck");
    const LaunchResult result = run(k.program, 32, memory, 0, true, false);
    REQUIRE(result.fault);
    CHECK(result.fault->kind == "deadlock");
    CHECK(result.fault->message == "no thread of the warp can go on: lanes 16-31 of warp 0 wait at a warp barrier on " +
                                       line(over - 1) + " for lanes 0-15, which are on " + line(over + 2) +
                                       "; lanes 0-15 of warp 0 wait in a vote on " + line(over + 2) +
                                       " for lanes 16-31, which are on " + line(over - 1));
}

TEST_CASE("barrier.sync may be reached by the paths of a warp one after the other") {
    // box[tid] = tid, each side of the branch before a barrier of its own; then every thread reads another one's word.
    Kernel k;
    const int32_t address = k.r64(), value = k.r32();
    k.lanes(scale4, Type::u64, address, k.tid);
    const uint32_t other = k.branch(0, 0, k.below(k.tid, 50));
    k.store(Space::shared, Type::u32, address, k.tid);
    k.barrier().each_thread = true;
    const uint32_t over = k.branch(0, 0);
    k[other].target = k.at();
    k.lanes(add32, Type::u32, value, k.tid, k.word(1000));
    k.store(Space::shared, Type::u32, address, value);
    k.barrier().each_thread = true;
    k[over].target = k[over].reconvergence = k[other].reconvergence = k.at();
    const int32_t from = k.r32(), from_address = k.r64();
    k.lanes(xor32, Type::u32, from, k.tid, k.word(63));
    k.lanes(scale4, Type::u64, from_address, from);
    k.load(Space::shared, Type::u32, value, from_address);
    k.result(value);
    k.exit();
    Memory memory;
    const uint64_t out = memory.allocate(64 * 4, "out");
    const LaunchResult result = run(k.program, 64, memory, out, true);
    INFO((result.fault ? render(*result.fault) : std::string()));
    REQUIRE(!result.fault);
    const auto values = read_back<uint32_t>(memory, out, 64);
    for (uint32_t i = 0; i < 64; ++i) CHECK(values[i] == (63 - i) + (63 - i < 50 ? 1000u : 0u));
    CHECK(run(k.program, 64, memory, out, false).fault->kind == "synccheck");
    // The same with .aligned is wrong on every GPU.
    for (auto& i : k.program.instructions) i.each_thread = false;
    CHECK(run(k.program, 64, memory, out, true).fault->kind == "synccheck");
    CHECK(!run(k.program, 64, memory, out, true, false).fault);
}

TEST_CASE("half warps that meet at a barrier of their own are counted by thread") {
    // The upper halves of two warps meet at barrier 1 of 32 threads; the lower halves do not come.
    Kernel k;
    const int32_t lane = k.r32(), address = k.r64(), value = k.r32();
    k.lanes(scale4, Type::u64, address, k.tid);
    k.lanes(and32, Type::b32, lane, k.tid, k.word(31));
    const uint32_t over = k.branch(0, 0, k.below(lane, 16));
    k.store(Space::shared, Type::u32, address, k.tid);
    k.barrier(k.word(1), k.word(32)).each_thread = true;
    const int32_t from = k.r32(), from_address = k.r64();
    k.lanes(xor32, Type::u32, from, k.tid, k.word(32));
    k.lanes(scale4, Type::u64, from_address, from);
    k.load(Space::shared, Type::u32, value, from_address);
    k.meet_here(over);
    k.result(value);
    k.exit();
    Memory memory;
    const uint64_t out = memory.allocate(64 * 4, "out");
    const LaunchResult result = run(k.program, 64, memory, out, true);
    INFO((result.fault ? render(*result.fault) : std::string()));
    REQUIRE(!result.fault);
    const auto values = read_back<uint32_t>(memory, out, 64);
    for (uint32_t i = 0; i < 64; ++i) CHECK(values[i] == (i % 32 < 16 ? 0 : i ^ 32));
}

TEST_CASE("bar.arrive does not wait, bar.sync waits for those that arrived") {
    // Warp 1 fills a box and arrives; warp 0 waits for 64 threads and reads it; three rounds over two barriers.
    Kernel k;
    const int32_t sum = k.r32(), value = k.r32(), round = k.r32();
    const uint32_t consumer = k.branch(0, 0, k.below(k.tid, 32));
    std::vector<uint32_t> ends;
    for (uint32_t i = 1; i <= 3; ++i) {
        if (i > 1) k.barrier(k.word(2), k.word(64));
        k.lanes(add32, Type::u32, round, k.word(i * 10), k.word(0));
        k.store(Space::shared, Type::u32, ptx::no_operand, round);
        k.barrier(k.word(1), k.word(64)).mode = 4;
    }
    ends.push_back(k.branch(0, ptx::no_pc));
    k[consumer].target = k.at();
    for (uint32_t i = 1; i <= 3; ++i) {
        k.barrier(k.word(1), k.word(64));
        k.load(Space::shared, Type::u32, value, ptx::no_operand);
        k.lanes(add32, Type::u32, sum, sum, value);
        if (i < 3) k.barrier(k.word(2), k.word(64)).mode = 4;
    }
    k[ends[0]].target = k[consumer].reconvergence = k.at();
    k.result(sum);
    k.exit();
    for (const bool independent : {false, true}) {
        Memory memory;
        const uint64_t out = memory.allocate(64 * 4, "out");
        const LaunchResult result = run(k.program, 64, memory, out, independent);
        INFO((result.fault ? render(*result.fault) : std::string()));
        REQUIRE(!result.fault);
        const auto sums = read_back<uint32_t>(memory, out, 64);
        for (uint32_t i = 0; i < 64; ++i) CHECK(sums[i] == (i < 32 ? 60u : 0u));
    }
}

TEST_CASE("threads that spin for a word that nobody writes are found out at once") {
    Kernel k;
    const int32_t flag = k.r32();
    const uint32_t top = k.at();
    k.load(Space::shared, Type::u32, flag, ptx::no_operand);
    k.branch(top, top + 3, k.is(flag, 0));
    k.exit();
    for (const bool independent : {false, true}) {
        Memory memory;
        const LaunchResult result = run(k.program, 96, memory, 0, independent);
        REQUIRE(result.fault);
        CHECK(result.fault->kind == "deadlock");
        CHECK(result.fault->message == "no warp of the block can go on: warps 0-2 spin on line " + std::to_string(top + 1));
        CHECK(result.warp_instructions < 300'000);
    }
}

TEST_CASE("stepping and running a contended lock end in the same state") {
    SpinLock k;
    Memory memory;
    const LaunchConfig config = config_of({1}, {32}, {memory.allocate(128, "out")});
    Memory other = memory;
    Grid by_step = make_grid(k.program, config, memory), by_run = make_grid(k.program, config, other);
    by_step.independent = by_run.independent = true;
    Block a = make_block(by_step, 0), b = make_block(by_run, 0);
    uint64_t lanes = 0;
    Rng rng(7);
    while (!b.warps[0].done) {
        run(b.warps[0], 1 + rng.below(300), lanes);
        while (a.warps[0].instructions < b.warps[0].instructions) {
            REQUIRE((a.warps[0].active() & a.warps[0].exited) == 0);
            uint32_t live = 0;
            for (const StackEntry& entry : a.warps[0].stack) live |= entry.mask;
            REQUIRE(live == ~a.warps[0].exited);
            step(a.warps[0]);
        }
        REQUIRE(a.warps[0].stack == b.warps[0].stack);
        REQUIRE(a.warps[0].waits == b.warps[0].waits);
        REQUIRE(std::memcmp(a.warps[0].registers, b.warps[0].registers, k.program.register_bytes) == 0);
    }
    CHECK(a.warps[0].done);
}

TEST_CASE("the history of a contended lock shows where every lane is, the running path last") {
    SpinLock k;
    Memory memory;
    LaunchConfig config = config_of({1}, {32}, {memory.allocate(128, "out")});
    config.independent = true;
    const WarpHistory history = record_warp(k.program, config, memory, 0, 0);
    REQUIRE(!history.fault);
    REQUIRE(!history.truncated);
    size_t most = 0, entered = 0;
    for (const WarpStep& s : history.steps) {
        REQUIRE(!s.stack.empty());
        CHECK(s.stack.back().mask == s.active);
        CHECK(s.stack.back().pc == s.pc);
        uint32_t live = 0;
        for (const StackEntry& entry : s.stack) live |= entry.mask;
        CHECK(live == ~s.exited);
        most = std::max(most, s.stack.size());
        entered += s.pc == k.behind;
    }
    CHECK(most > 2);
    CHECK(entered == 32);  // the lanes go in one by one
    CHECK(history.steps.back().active == full_mask);
    config.independent = false;
    CHECK(record_warp(k.program, config, memory, 0, 0).fault->kind == "deadlock");
}

}  // namespace simt_independent_test
