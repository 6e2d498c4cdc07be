// What warps share: shared memory and barriers, atomics, shuffles, votes; and the widths and patterns of memory accesses.
#include "core/base/rng.h"
#include "core/simt/driver.h"
#include "core/simt/execute/execute.h"
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace simt_warp_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {
std::vector<Executor> executors() {
    std::vector<Executor> all;
    for (const ptx::Simd simd : {ptx::Simd::portable, ptx::Simd::avx2, ptx::Simd::avx512}) {
        if (const Executor e = executor(simd); e.run) all.push_back(e);
    }
    return all;
}
}  // namespace

TEST_CASE("a block reverses an array through shared memory across a barrier") {
    Builder k;
    const int32_t tid = k.r32(), back = k.r32(), value = k.r32(), mine = k.r64(), theirs = k.r64();
    k.special(ptx::SpecialRegister::tid_x, tid);
    const int32_t address = k.element_address(tid);
    k.lanes(scale4, Type::u64, mine, tid);
    k.load(Space::global, Type::u32, value, address);
    k.store(Space::shared, Type::u32, mine, value);
    k.barrier(k.word(0));
    k.lanes(xor32, Type::b32, back, tid, k.word(0xffffffffu));
    k.lanes(add32, Type::u32, back, back, k.word(200));  // 199 - tid
    k.lanes(scale4, Type::u64, theirs, back);
    k.load(Space::shared, Type::u32, value, theirs);
    k.store(Space::global, Type::u32, address, value);
    k.exit();
    k.program.static_shared = 800;
    std::vector<uint32_t> values(200);
    for (uint32_t i = 0; i < 200; ++i) values[i] = i * i;
    Memory memory;
    const uint64_t data = put(memory, values, "data");
    REQUIRE(!launch(k.program, config_of({1}, {200}, {data}), memory).fault);
    std::reverse(values.begin(), values.end());
    CHECK(read_back<uint32_t>(memory, data, 200) == values);
}

TEST_CASE("an arrival that fills the barrier releases everybody, and exited warps count as arrived") {
    Builder k;
    const int32_t tid = k.r32(), p = k.predicate();
    k.special(ptx::SpecialRegister::tid_x, tid);
    k.lanes(less32, Type::pred, p, tid, k.word(32));
    k.exit().guard = p;
    k.barrier();
    k.exit();
    Memory memory;
    const LaunchConfig config = config_of({1}, {96});
    Grid grid = make_grid(k.program, config, memory);
    Block block = make_block(grid, 0);
    const auto to_barrier = [&](uint32_t w) {
        WarpEvent e;
        do e = step(block.warps[w]);
        while (e.kind != WarpEvent::Kind::barrier && !block.warps[w].done);
        return e;
    };
    CHECK(!to_barrier(1).barrier_released);
    CHECK(block.warps[1].at_barrier);
    CHECK(!to_barrier(2).barrier_released);
    CHECK(block.warps_at_barrier == 2);
    const Block copy = block;
    const WarpEvent last = to_barrier(0);
    CHECK(last.kind == WarpEvent::Kind::exit);
    CHECK(last.barrier_released);
    CHECK(!block.warps[1].at_barrier);
    CHECK(block.warps_at_barrier == 0);
    CHECK(copy.warps[1].at_barrier);
    CHECK(copy.warps[1].block == &copy);
    CHECK(copy.warps[1].registers != block.warps[1].registers);
    CHECK(reinterpret_cast<uintptr_t>(copy.warps[1].registers) % 64 == 0);
    CHECK(std::memcmp(copy.warps[1].registers, block.warps[1].registers, k.program.register_bytes) == 0);
}

TEST_CASE("a named barrier with a thread count waits for that many threads only") {
    // Warps 0 and 1 meet at barrier 3 of 64 threads; warp 2 never does.
    Builder k;
    const int32_t tid = k.r32(), p = k.predicate();
    k.special(ptx::SpecialRegister::tid_x, tid);
    k.lanes(less32, Type::pred, p, tid, k.word(64));
    k.barrier(k.word(3), k.word(64)).guard = p;
    k.barrier(k.word(0));
    k.exit();
    Memory memory;
    CHECK(!launch(k.program, config_of({1}, {96}), memory).fault);
}

TEST_CASE("atomics count every thread once, whatever bin it hits") {
    Builder k;
    const int32_t tid = k.r32(), bin = k.r32(), old = k.r32();
    k.special(ptx::SpecialRegister::tid_x, tid);
    k.lanes(and32, Type::b32, bin, tid, k.word(7));
    const int32_t address = k.element_address(bin);
    auto& a = k.add(Kind::atomic, Type::u32);
    a.space = Space::global;
    a.address = address;
    a.destination[0] = old;
    a.source[0] = k.word(1);
    a.mode = static_cast<uint8_t>(ptx::AtomicOperation::add);
    k.exit();
    Memory memory;
    const uint64_t bins = memory.allocate(32, "bins");
    REQUIRE(!launch(k.program, config_of({5}, {100}, {bins}), memory).fault);
    const auto counts = read_back<uint32_t>(memory, bins, 8);
    for (uint32_t i = 0; i < 8; ++i) CHECK(counts[i] == 5 * (i < 4 ? 13u : 12u));
}

TEST_CASE("every atomic operation does what the ISA says, lane after lane") {
    using Op = ptx::AtomicOperation;
    struct Row {
        Op operation;
        Type type;
        uint32_t start, operand, extra, result;
    };
    const auto bits = [](float f) { return __builtin_bit_cast(uint32_t, f); };
    const std::vector<Row> rows = {
        {Op::add, Type::u32, 5, 0xffffffff, 0, 5u - 32u},
        {Op::min, Type::s32, 3, 0xfffffffe, 0, 0xfffffffe},
        {Op::min, Type::u32, 3, 0xfffffffe, 0, 3},
        {Op::max, Type::s32, 3, 0xfffffffe, 0, 3},
        {Op::max, Type::u32, 3, 0xfffffffe, 0, 0xfffffffe},
        {Op::inc, Type::u32, 0, 9, 0, 2},  // 0..9 three times, then two more
        {Op::dec, Type::u32, 0, 9, 0, 8},  // 9 first, then down: 32 steps of 10
        {Op::and_, Type::b32, 0xff, 0x0f, 0, 0x0f},
        {Op::or_, Type::b32, 0xf0, 0x0f, 0, 0xff},
        {Op::xor_, Type::b32, 0xf0, 0x0f, 0, 0xf0},
        {Op::exch, Type::b32, 1, 2, 0, 2},
        {Op::cas, Type::b32, 7, 7, 8, 8},
        {Op::cas, Type::b32, 6, 7, 8, 6},
        {Op::add, Type::f32, bits(1.0f), bits(0.5f), 0, bits(17.0f)},
    };
    for (const Row& row : rows) {
        Builder k;
        auto& a = k.add(Kind::atomic, row.type);
        a.space = Space::shared;
        a.source[0] = k.word(row.operand);
        a.source[1] = k.word(row.extra);
        a.mode = static_cast<uint8_t>(row.operation);
        k.exit();
        k.program.static_shared = 4;
        Memory memory;
        const LaunchConfig config = config_of({1}, {32});
        Grid grid = make_grid(k.program, config, memory);
        Block block = make_block(grid, 0);
        std::memcpy(block.shared.data(), &row.start, 4);
        const WarpEvent e = step(block.warps[0]);
        REQUIRE(e.kind == WarpEvent::Kind::memory);
        CHECK(e.is_atomic);
        CHECK(e.space == Space::shared);
        uint32_t result;
        std::memcpy(&result, block.shared.data(), 4);
        INFO("operation " << static_cast<int>(row.operation));
        CHECK(result == row.result);
    }
}

TEST_CASE("shuffles move values as the ISA's pseudo-code does, within segments") {
    // For a segment width w the clamp operand is (32 - w) << 8 | 31 (0 for up), as __shfl_*_sync makes it.
    for (const uint32_t width : {32u, 16u, 8u, 4u, 2u, 1u}) {
        for (uint8_t mode = 0; mode < 4; ++mode) {
            for (const uint32_t by : {0u, 1u, 3u, 5u, 16u, 31u}) {
                Builder k;
                const int32_t lane = k.r32(), d = k.r32(), p = k.predicate();
                k.special(ptx::SpecialRegister::laneid, lane);
                auto& s = k.add(Kind::shuffle, Type::b32);
                s.mode = mode;
                s.destination[0] = d;
                s.destination[1] = p;
                s.source[0] = lane;
                s.source[1] = k.word(by);
                s.source[2] = k.word((32 - width) << 8 | (mode == 0 ? 0u : 31u));
                s.source[3] = k.word(full_mask);
                k.exit();
                Memory memory;
                const LaunchConfig config = config_of({1}, {32});
                Grid grid = make_grid(k.program, config, memory);
                Block block = make_block(grid, 0);
                step(block.warps[0]);
                REQUIRE(step(block.warps[0]).kind == WarpEvent::Kind::executed);
                uint32_t got[32], valid;
                std::memcpy(got, block.warps[0].registers + d, sizeof got);
                std::memcpy(&valid, block.warps[0].registers + p, 4);
                for (int i = 0; i < 32; ++i) {
                    const int w = static_cast<int>(width), b = static_cast<int>(by), start = i / w * w;
                    int from = mode == 0 ? i - b : mode == 1 ? i + b : mode == 2 ? i ^ b : start + b % w;
                    const bool inside = from >= start && from < start + w;
                    // A butterfly may reach back into an earlier segment: only the upper end clamps it.
                    const bool ok = mode == 2 ? from < start + w : inside;
                    if (!ok) from = i;
                    INFO("width " << width << " mode " << int(mode) << " by " << by << " lane " << i);
                    REQUIRE(got[i] == static_cast<uint32_t>(from));
                    REQUIRE((valid >> i & 1) == static_cast<uint32_t>(ok));
                }
            }
        }
    }
}

TEST_CASE("votes look at the lanes that run them") {
    const auto vote_of = [](uint8_t mode, uint32_t below, uint32_t running, bool negated = false) {
        Builder k;
        const int32_t lane = k.r32(), p = k.predicate(), live = k.predicate(), q = k.predicate(), d = k.r32();
        k.special(ptx::SpecialRegister::laneid, lane);
        k.lanes(less32, Type::pred, p, lane, k.word(below));
        k.lanes(less32, Type::pred, live, lane, k.word(running));
        k.exit().guard = live;
        k.program.instructions.back().guard_negated = true;
        const bool wide = mode >= 3;
        auto& v = k.add(Kind::vote, wide ? Type::b32 : Type::pred);
        v.mode = mode;
        v.destination[0] = wide ? d : q;
        v.negated_source = negated;
        if (mode != 4) v.source[0] = p;
        if (mode != 4) v.source[1] = k.word(full_mask);
        k.exit();
        Memory memory;
        const LaunchConfig config = config_of({1}, {32});
        Grid grid = make_grid(k.program, config, memory);
        Block block = make_block(grid, 0);
        for (int i = 0; i < 5; ++i) REQUIRE(step(block.warps[0]).kind != WarpEvent::Kind::fault);
        uint32_t result;
        std::memcpy(&result, block.warps[0].registers + (wide ? d : q), 4);
        return result;
    };
    CHECK(vote_of(0, 8, 8) == 0xff);
    CHECK(vote_of(0, 8, 9) == 0);
    CHECK(vote_of(1, 1, 32) == full_mask);
    CHECK(vote_of(1, 0, 32) == 0);
    CHECK(vote_of(2, 8, 8) == 0xff);
    CHECK(vote_of(2, 0, 4) == 0xf);
    CHECK(vote_of(2, 3, 4) == 0);
    CHECK(vote_of(3, 5, 32) == 0x1f);
    CHECK(vote_of(3, 5, 8, true) == 0xe0);
    CHECK(vote_of(4, 0, 12) == 0xfff);
}

TEST_CASE("a shuffle that names lanes of another path is a synccheck fault") {
    Builder k;
    const int32_t lane = k.r32(), p = k.predicate();
    k.special(ptx::SpecialRegister::laneid, lane);
    k.lanes(less32, Type::pred, p, lane, k.word(16));
    const uint32_t b = k.branch(0, 0, p, true);
    auto& s = k.add(Kind::shuffle, Type::b32);
    s.mode = 2;
    s.destination[0] = s.source[0] = lane;
    s.source[1] = k.word(1);
    s.source[2] = k.word(31);
    s.source[3] = k.word(full_mask);
    k[b].target = k[b].reconvergence = k.at();
    const uint32_t more = k.branch(0, 0, p, true);  // behind it there is more to do than a last store
    k.lanes(add32, Type::u32, lane, lane, lane);
    k[more].target = k[more].reconvergence = k.at();
    k.exit();
    Memory memory;
    const LaunchResult result = launch(k.program, config_of({1}, {32}), memory);
    REQUIRE(result.fault);
    CHECK(result.fault->kind == "synccheck");
    CHECK(result.fault->message ==
          "the shuffle's member mask 0xffffffff names lane 16, which is not here: it is on another path");
}

TEST_CASE("loads and stores of any pattern, mask and width move the right bytes on every instruction set") {
    Rng rng(5);
    for (const Executor& e : executors()) {
        for (int round = 0; round < 400; ++round) {
            const bool wide_word = rng.below(2), narrow_address = rng.below(3) == 0, shared = narrow_address || rng.below(2);
            const uint64_t bytes = wide_word ? 8 : 4;
            const uint32_t mask = rng.below(2) ? full_mask : static_cast<uint32_t>(rng.next() | 1u << rng.below(32));
            uint64_t index[32];
            const uint64_t pattern = rng.below(5), start = rng.below(64);
            for (uint64_t i = 0; i < 32; ++i) {
                const uint64_t choices[] = {start + i, start, start + (i & 15) + (i >> 4) * 40, rng.below(128),
                                            start + 2 * i};
                index[i] = choices[pattern];
            }
            Builder k;
            const Type type = wide_word ? Type::u64 : Type::u32;
            const int32_t address = narrow_address ? k.r32() : k.r64();
            const int32_t d = wide_word ? k.r64() : k.r32(), d2 = wide_word ? k.r64() : k.r32();
            const int32_t p = k.predicate();
            const bool by_path = rng.below(2);  // the other lanes are on no path; or a guard keeps them out
            const Space space = shared ? Space::shared : rng.below(2) ? Space::generic : Space::global;
            // Two through one base: the second may know how its lanes lie.
            k.load(space, type, d, address, 16);
            k.load(space, type, d2, address, 16 + 512);
            k.store(space, type, address, d, 2048 + 16);
            k.store(space, type, address, d2, 2048 + 16 + 512);
            for (DecodedInstruction& i : k.program.instructions) {
                if (!by_path) i.guard = p;
                if (narrow_address) i.address_bytes = 4;
            }
            k.exit();
            k.program.static_shared = 4096;
            Memory memory;
            const uint64_t buffer = memory.allocate(4096, "buffer");
            const LaunchConfig config = config_of({1}, {32});
            Grid grid = make_grid(k.program, config, memory);
            Block block = make_block(grid, 0);
            std::byte* const base = shared ? block.shared.data() : memory.write(buffer, 4096);
            for (int i = 0; i < 2048; ++i) base[i] = static_cast<std::byte>(rng.next());
            std::vector<std::byte> expected(base, base + 4096);
            Warp& w = block.warps[0];
            std::memcpy(w.registers + p, &mask, 4);
            if (by_path) {
                w.stack.back().mask = mask;
                w.exited = ~mask;
            }
            const std::vector<std::byte> before = expected;
            for (const uint64_t offset : {16, 16 + 512})
                for (uint64_t i = 0; i < 32; ++i)
                    if (mask >> i & 1)
                        std::memcpy(expected.data() + 2048 + offset + index[i] * bytes,
                                    before.data() + offset + index[i] * bytes, bytes);
            for (uint64_t i = 0; i < 32; ++i) {
                // Idle lanes hold addresses that would fault.
                const uint64_t at = mask >> i & 1 ? (shared ? 0 : buffer) + index[i] * bytes : 0x1234567;
                std::memcpy(w.registers + address + i * (narrow_address ? 4 : 8), &at, narrow_address ? 4 : 8);
            }
            uint64_t lanes = 0;
            const WarpEvent event = e.run(w, 10, lanes);
            INFO((event.fault ? event.fault->message : std::string()));
            REQUIRE(event.kind == WarpEvent::Kind::exit);
            REQUIRE(std::equal(expected.begin(), expected.end(), shared ? block.shared.data() : memory.write(buffer, 4096)));
        }
    }
}

TEST_CASE("narrow loads widen by their sign and vector loads fill their registers in order") {
    Builder k;
    const int32_t a = k.r32(), b = k.r32(), v0 = k.r32(), v1 = k.r32();
    auto& s = k.load(Space::shared, Type::s8, a, ptx::no_operand, 3);
    s.destination_type = Type::b32;
    auto& u = k.load(Space::shared, Type::u16, b, ptx::no_operand, 2);
    u.destination_type = Type::b32;
    auto& v = k.load(Space::shared, Type::b32, v0, ptx::no_operand, 8);
    v.vector = 2;
    v.destination[1] = v1;
    auto& t = k.store(Space::shared, Type::u8, ptx::no_operand, v1, 1);
    t.destination_type = Type::b32;
    k.exit();
    k.program.static_shared = 16;
    Memory memory;
    const LaunchConfig config = config_of({1}, {32});
    Grid grid = make_grid(k.program, config, memory);
    Block block = make_block(grid, 0);
    const uint32_t data[4] = {0x80ff0000u, 0, 11, 0x12345678u};
    std::memcpy(block.shared.data(), data, 16);
    Warp& w = block.warps[0];
    const auto lane5 = [&](int32_t r) {
        uint32_t value;
        std::memcpy(&value, w.registers + r + 20, 4);
        return value;
    };
    step(w), step(w);
    CHECK(lane5(a) == 0xffffff80u);
    CHECK(lane5(b) == 0x80ffu);
    const WarpEvent e = step(w);
    CHECK(e.bytes == 8);
    CHECK(lane5(v0) == 11);
    CHECK(lane5(v1) == 0x12345678u);
    const WarpEvent st = step(w);
    CHECK(st.is_store);
    CHECK(block.shared[1] == std::byte{0x78});
    CHECK(block.shared[0] == std::byte{0});
    CHECK(block.shared[2] == std::byte{0xff});
}

TEST_CASE("thread indices count x first, then y, then z, across warps") {
    Builder k;
    const int32_t x = k.r32(), y = k.r32(), z = k.r32();
    k.special(ptx::SpecialRegister::tid_x, x);
    k.special(ptx::SpecialRegister::tid_y, y);
    k.special(ptx::SpecialRegister::tid_z, z);
    k.exit();
    Memory memory;
    const LaunchConfig config = config_of({1}, {5, 3, 4});
    Grid grid = make_grid(k.program, config, memory);
    Block block = make_block(grid, 0);
    REQUIRE(block.warps.size() == 2);
    for (Warp& w : block.warps) {
        for (int i = 0; i < 3; ++i) step(w);
        for (uint32_t lane = 0; lane < 32; ++lane) {
            const uint32_t t = w.index * 32 + lane;
            if (t >= 60) continue;
            uint32_t at[3];
            std::memcpy(&at[0], w.registers + x + lane * 4, 4);
            std::memcpy(&at[1], w.registers + y + lane * 4, 4);
            std::memcpy(&at[2], w.registers + z + lane * 4, 4);
            CHECK(at[0] == t % 5);
            CHECK(at[1] == t / 5 % 3);
            CHECK(at[2] == t / 15);
        }
    }
}

TEST_CASE("module variables are placed once and keep their values from launch to launch") {
    Builder k;
    const int32_t value = k.r32();
    k.program.ptx_file = "counter.ptx";
    ptx::GlobalVariable v;
    v.name = "counter";
    v.bytes = 4;
    v.initial = {std::byte{40}, std::byte{0}, std::byte{0}, std::byte{0}};
    k.program.variables.push_back(v);
    k.load(Space::global, Type::u32, value, ptx::no_operand).variable = 0;
    k.lanes(add32, Type::u32, value, value, k.word(1));
    k.store(Space::global, Type::u32, ptx::no_operand, value).variable = 0;
    k.exit();
    Memory memory;
    for (int i = 0; i < 2; ++i) REQUIRE(!launch(k.program, config_of({1}, {32}), memory).fault);
    CHECK(read_back<uint32_t>(memory, place_variables(k.program, memory)[0], 1)[0] == 42);
}

}  // namespace simt_warp_test
