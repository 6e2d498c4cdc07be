// Threads of a warp that make progress on their own: lanes that wait for one another, by spinning or at a meeting, come
// through; on a stack the same programs dead-lock, and the fault says who waits for whom.
#include "core/base/rng.h"
#include "core/simt/history.h"
#include "tests/catch.h"
#include "tests/simt_support.h"

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
    void meet_here(uint32_t branch_pc) { program.instructions[branch_pc].target = program.instructions[branch_pc].reconvergence = at(); }
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
        CHECK(result.warp_instructions < 4'000'000);
    }
}
