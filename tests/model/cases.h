// Random programs and launches for the tests that hold over all of them: loops of different lengths, divergence, shared
// memory, barriers.
#pragma once
#include "core/base/rng.h"
#include "tests/model/support.h"

namespace lockstep::model::test {

struct Case {
    Program program;
    simt::LaunchConfig config;
    simt::Memory memory;
    uint64_t address = 0;
    uint32_t words = 0;
};

// Each thread: mixes its index, loops that many times over loads of its neighbourhood, takes one of two paths, exchanges
// through shared memory across a barrier, and stores. No two threads touch the same word, so there is one right answer.
inline Case make_case(uint64_t seed) {
    Rng rng(seed);
    const uint32_t threads = 1 + static_cast<uint32_t>(rng.below(200)), blocks = 1 + static_cast<uint32_t>(rng.below(40));
    const uint32_t stride = 1u << rng.below(6);
    Case c;
    c.words = threads * blocks * stride + 64;
    Builder b;
    b.program.static_shared = 1024;
    b.program.registers_per_thread = 16 + static_cast<uint32_t>(rng.below(64));
    const int32_t tid = b.r32(), block = b.r32(), index = b.r32(), count = b.r32(), value = b.r32(), sum = b.r32();
    const int32_t shared = b.r64(), less = b.predicate(), odd = b.predicate();
    b.special(SpecialRegister::tid_x, tid);
    b.special(SpecialRegister::ctaid_x, block);
    b.lanes(simt::test::mul32, Type::u32, index, block, b.word(threads));
    b.lanes(simt::test::add32, Type::u32, index, index, tid);
    b.lanes(simt::test::mul32, Type::u32, value, index, b.word(stride));
    const int32_t address = b.element_address(value);
    b.lanes(simt::test::and32, Type::u32, count, tid, b.word(static_cast<uint32_t>(rng.below(16))));
    b.lanes(simt::test::xor32, Type::u32, sum, sum, sum);
    const uint32_t loop = b.at();
    b.load(Space::global, Type::u32, value, address);
    b.lanes(simt::test::add32, Type::f32, sum, sum, value);
    b.lanes(simt::test::less32, Type::u32, less, b.word(0), count).destination_type = Type::pred;
    b.lanes(simt::test::add32, Type::u32, count, count, b.word(0xffffffffu));
    b.branch(loop, b.at() + 1, less);
    b.lanes(simt::test::and32, Type::u32, value, tid, b.word(1));
    b.lanes(simt::test::equal32, Type::u32, odd, value, b.word(1)).destination_type = Type::pred;
    const uint32_t split = b.branch(0, 0, odd);
    b.lanes(simt::test::add32, Type::f32, sum, sum, b.word(5));
    const uint32_t join = b.branch(0, no_pc);
    b[split].target = b.at();
    b.lanes(simt::test::mul32, Type::f32, sum, sum, b.word(3)).opcode = &opcode(Unit::xu);
    b[split].reconvergence = b[join].target = b.at();
    b.lanes(simt::test::scale4, Type::u64, shared, tid);
    b.store(Space::shared, Type::u32, shared, sum);
    b.barrier();
    b.load(Space::shared, Type::u32, value, shared);
    b.lanes(simt::test::add32, Type::u32, value, value, index);
    b.store(Space::global, Type::u32, address, value);
    b.exit();
    c.program = finished(b.program);
    std::vector<uint32_t> words(c.words);
    for (auto& word : words) word = static_cast<uint32_t>(rng.next());
    c.address = simt::test::put(c.memory, words, "data");
    c.config = simt::test::config_of({blocks}, {threads}, {c.address});
    return c;
}

inline GpuSpec some_gpu(uint64_t seed) {
    static const char* const names[] = {"teaching:1", "v100", "p100", "teaching:3", "a100"};
    GpuSpec on = gpu(names[seed % 5]);
    on.scheduler.value = seed % 2 ? SchedulerPolicy::loose_round_robin : SchedulerPolicy::greedy_then_oldest;
    return on;
}

}  // namespace lockstep::model::test
