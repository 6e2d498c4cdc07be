// Every kind of fault, with the sentence that it says.
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace simt_fault_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

// out[tid + shift] = tid, 32-bit words
struct Write : Builder {
    uint32_t store_pc = 0;
    explicit Write(int64_t offset = 0) {
        const int32_t tid = r32("%tid");
        special(ptx::SpecialRegister::tid_x, tid);
        const int32_t address = element_address(tid);
        store_pc = at();
        store(Space::global, Type::u32, address, tid, offset);
        exit();
    }
};

Fault fault_of(const ptx::Program& program, const LaunchConfig& config, Memory& memory, LaunchOptions options = {}) {
    const LaunchResult result = launch(program, config, memory, options);
    REQUIRE(result.fault);
    return *result.fault;
}

}  // namespace

TEST_CASE("a write past the end names the array, its size, the line and the first thread") {
    Write k;
    Memory memory;
    const uint64_t c = memory.allocate(160, "c");
    const Fault f = fault_of(k.program, config_of({2}, {64}, {c}), memory);
    CHECK(f.kind == "memcheck");
    CHECK(f.message == "invalid global write of 4 bytes that reaches 4 bytes past the end of 'c' (160 bytes)");
    CHECK(f.block == Dim3{0, 0, 0});
    CHECK(f.thread == Dim3{40, 0, 0});
    CHECK(f.address == c + 160);
    CHECK(f.file == "hand.cu");
    CHECK(f.pc == k.store_pc);
    CHECK(f.line == static_cast<int32_t>(k.store_pc) + 1);
    CHECK(f.ptx_line == static_cast<int32_t>(k.store_pc) + 100);
    CHECK_THAT(render(f), Catch::StartsWith("hand.cu:5: memcheck: invalid global write") &&
                              Catch::Contains("(kernel made_by_hand, block (0,0,0), thread (40,0,0), address 0x7f"));
}

TEST_CASE("a write before the start says how far before") {
    Write k(-8);
    Memory memory;
    const uint64_t c = memory.allocate(4096, "c");
    const Fault f = fault_of(k.program, config_of({1}, {32}, {c}), memory);
    CHECK(f.message == "invalid global write of 4 bytes, 8 bytes before the start of 'c' (4096 bytes)");
    CHECK(f.thread == Dim3{0, 0, 0});
}

TEST_CASE("a null pointer is called one") {
    Write k;
    Memory memory;
    CHECK(fault_of(k.program, config_of({1}, {32}, {0}), memory).message ==
          "invalid global write of 4 bytes through a null pointer");
    Write shifted(16);
    CHECK(fault_of(shifted.program, config_of({1}, {32}, {0}), memory).message ==
          "invalid global write of 4 bytes, 16 bytes from a null pointer");
    CHECK_THAT(fault_of(k.program, config_of({1}, {32}, {0x12345678}), memory).message,
               Catch::EndsWith("where nothing is allocated"));
}

TEST_CASE("a misaligned write is a fault") {
    Write k(2);
    Memory memory;
    const uint64_t c = memory.allocate(4096, "c");
    const Fault f = fault_of(k.program, config_of({1}, {32}, {c}), memory);
    CHECK(f.message == "misaligned global write of 4 bytes, the address is not a multiple of 4");
    CHECK(f.address == c + 2);
    CHECK(f.allocation == "c");
    CHECK(f.offset == 2);
    CHECK_THAT(render(f), Catch::Contains(", 'c' +2)\n  A type of 4 bytes has to lie at a multiple of its size"));
}

TEST_CASE("memory that was released cannot be used, and the report says so") {
    Write k;
    Memory memory;
    const uint64_t c = memory.allocate(4096, "c");
    memory.release(c);
    CHECK(fault_of(k.program, config_of({1}, {32}, {c}), memory).message ==
          "invalid global write of 4 bytes in 'c' (4096 bytes), which was freed");
}

TEST_CASE("shared memory has bounds too") {
    for (const bool generic : {false, true}) {
        Builder k;
        const int32_t tid = k.r32(), address = k.r64(), value = k.r32();
        k.special(ptx::SpecialRegister::tid_x, tid);
        k.lanes(scale4, Type::u64, address, tid);
        const auto window = generic ? static_cast<int64_t>(ptx::shared_window) : 0;
        k.load(generic ? Space::generic : Space::shared, Type::u32, value, address, window);
        k.exit();
        k.program.static_shared = 80;
        Memory memory;
        const Fault f = fault_of(k.program, config_of({1}, {32}), memory);
        CHECK(f.message ==
              "invalid shared read of 4 bytes that reaches 4 bytes past the end of the block's shared memory (80 bytes)");
        CHECK(f.thread == Dim3{20, 0, 0});
        CHECK(f.address == 80);
    }
}

TEST_CASE("local memory belongs to one thread") {
    Builder k;
    const int32_t value = k.r32();
    k.store(Space::local, Type::u32, ptx::no_operand, k.word(7), 4);
    k.load(Space::local, Type::u32, value, ptx::no_operand, 4);
    k.load(Space::local, Type::u32, value, ptx::no_operand, 8);
    k.exit();
    k.program.local_bytes = 8;
    Memory memory;
    const Fault f = fault_of(k.program, config_of({1}, {32}), memory);
    CHECK(f.message ==
          "invalid local read of 4 bytes that reaches 4 bytes past the end of the thread's local memory (8 bytes)");
    CHECK(f.pc == 2);
}

TEST_CASE("a barrier that only part of a warp reaches is a synccheck fault, unless the check is off") {
    Builder k;
    const int32_t tid = k.r32(), p = k.predicate();
    k.special(ptx::SpecialRegister::tid_x, tid);
    k.lanes(less32, Type::pred, p, tid, k.word(12));
    const uint32_t b = k.branch(0, 0, p, true);
    k.barrier();
    const uint32_t join = k.at();
    k.lanes(add32, Type::u32, tid, tid, tid);
    k.exit();
    k[b].target = k[b].reconvergence = join;
    Memory memory;
    const Fault f = fault_of(k.program, config_of({1}, {32}), memory);
    CHECK(f.kind == "synccheck");
    CHECK(f.message ==
          "a barrier in divergent code: only 12 of the warp's 32 threads are here, thread 12 is on another path");
    LaunchOptions off;
    off.synccheck = false;
    CHECK(!launch(k.program, config_of({1}, {32}), memory, off).fault);
}

TEST_CASE("threads that return before a barrier are not missed") {
    Builder k;
    const int32_t tid = k.r32(), p = k.predicate();
    k.special(ptx::SpecialRegister::tid_x, tid);
    k.lanes(less32, Type::pred, p, tid, k.word(44));
    const uint32_t b = k.branch(0, 0, p, true);
    k.barrier();
    k[b].target = k[b].reconvergence = k.at();
    k.exit();
    Memory memory;
    CHECK(!launch(k.program, config_of({1}, {128}), memory).fault);
}

TEST_CASE("warps that wait at barriers nobody else reaches are a deadlock that says who waits where") {
    Builder k;
    const int32_t tid = k.r32(), p = k.predicate();
    k.special(ptx::SpecialRegister::tid_x, tid);
    k.lanes(less32, Type::pred, p, tid, k.word(64));
    const uint32_t b = k.branch(0, 0, p);
    const uint32_t second = k.at();
    k.barrier(k.word(2));
    const uint32_t over = k.branch(0, 0);
    const uint32_t first = k.at();
    k.barrier(k.word(1));
    k[b].target = first;
    k[over].target = k[over].reconvergence = k[b].reconvergence = k.at();
    k.exit();
    Memory memory;
    const Fault f = fault_of(k.program, config_of({1}, {128}), memory);
    CHECK(f.kind == "deadlock");
    CHECK(f.message == "no warp of the block can go on: warps 2-3 wait at barrier 2 on line " + std::to_string(second + 1) +
                           "; warps 0-1 wait at barrier 1 on line " + std::to_string(first + 1));
}

TEST_CASE("a kernel that never ends is stopped at its budget with the line it spins on") {
    Builder k;
    const int32_t r = k.r32();
    k.lanes(add32, Type::u32, r, r, k.word(1));
    const uint32_t top = k.at();
    k.lanes(add32, Type::u32, r, r, k.word(1));
    k.lanes(add32, Type::u32, r, r, k.word(1));
    k.branch(top, ptx::no_pc);
    k.exit();
    Memory memory;
    LaunchOptions options;
    options.max_instructions = 100'000;
    const Fault f = fault_of(k.program, config_of({1}, {64}), memory, options);
    CHECK(f.kind == "runaway");
    CHECK(f.message == "the kernel still ran after 100000 warp instructions; it spun on line 4");
    CHECK(f.line == 4);
}

TEST_CASE("a run-away names a thread of the block, though its warp ends while it is watched") {
    Builder k;
    const int32_t r = k.r32();
    for (int i = 0; i < 9; ++i) k.lanes(add32, Type::u32, r, r, k.word(1));
    k.exit();
    Memory memory;
    LaunchOptions options;
    options.max_instructions = 95;
    for (const uint32_t threads : {1u, 5u}) {
        const Fault f = fault_of(k.program, config_of({1000}, {threads}), memory, options);
        CHECK(f.kind == "runaway");
        CHECK(f.thread == Dim3{0, 0, 0});
    }
    const Fault wide = fault_of(k.program, config_of({1000}, {5, 7}), memory, options);
    CHECK(wide.thread.x < 5);
    CHECK(wide.thread.y < 7);
    CHECK(wide.thread.z == 0);
}

TEST_CASE("a kernel that uses its whole budget and ends is no run-away") {
    Builder k;
    const int32_t r = k.r32();
    for (int i = 0; i < 9; ++i) k.lanes(add32, Type::u32, r, r, k.word(1));
    k.exit();
    Memory memory;
    LaunchOptions options;
    options.max_instructions = 10;
    CHECK(!launch(k.program, config_of({1}, {32}), memory, options).fault);
    options.max_instructions = 9;
    CHECK(fault_of(k.program, config_of({1}, {32}), memory, options).kind == "runaway");
}

TEST_CASE("a loop in which nothing changes and nothing is read is told at once, on one path or on all") {
    Memory memory;
    for (const int32_t leaves : {0, 3}) {  // lanes below it do not go into the loop
        Builder k;
        const int32_t tid = k.r32(), p = k.predicate();
        k.special(ptx::SpecialRegister::tid_x, tid);
        k.lanes(less32, Type::pred, p, tid, k.word(static_cast<uint32_t>(leaves)));
        k.add(Kind::exit).guard = p;
        const uint32_t top = k.at();
        k.lanes(add32, Type::u32, tid, tid, k.word(1));
        k.lanes(add32, Type::u32, tid, tid, k.word(0xffffffff));
        k.branch(top, ptx::no_pc);
        k.exit();
        const LaunchResult result = launch(k.program, config_of({1}, {64}), memory, {});
        REQUIRE(result.fault);
        CHECK(result.fault->kind == "runaway");
        CHECK(result.fault->message.starts_with("the kernel never ends: the loop at line "));
        CHECK(result.warp_instructions < 200'000);
    }
}

TEST_CASE("a stop request ends an endless launch") {
    Builder k;
    const int32_t r = k.r32();
    k.lanes(add32, Type::u32, r, r, k.word(1));
    k.branch(0, ptx::no_pc);
    k.exit();
    Memory memory;
    std::stop_source source;
    LaunchOptions options;
    options.stop = source.get_token();
    int reports = 0;
    options.progress = [&](double done) {
        CHECK((done >= 0 && done <= 1));
        if (++reports == 3) source.request_stop();
    };
    const LaunchResult result = launch(k.program, config_of({1}, {32}), memory, options);
    CHECK(result.stopped);
    CHECK(!result.fault);
    CHECK(result.warp_instructions < 1'000'000);
}

TEST_CASE("trap stops the kernel with the thread that met it") {
    Builder k;
    const int32_t tid = k.r32(), p = k.predicate();
    k.special(ptx::SpecialRegister::tid_x, tid);
    k.lanes(equal32, Type::pred, p, tid, k.word(37));
    k.add(Kind::trap).guard = p;
    k.exit();
    Memory memory;
    const Fault f = fault_of(k.program, config_of({1}, {64}), memory);
    CHECK(f.kind == "trap");
    CHECK(f.thread == Dim3{37, 0, 0});
}

TEST_CASE("a warp may spin on what another warp of its block writes later") {
    // warp 0: while (shared[0] == 0); warp 1: shared[0] = 1
    Builder k;
    const int32_t tid = k.r32(), value = k.r32(), p = k.predicate(), zero = k.predicate();
    k.special(ptx::SpecialRegister::tid_x, tid);
    k.lanes(less32, Type::pred, p, tid, k.word(32));
    const uint32_t b = k.branch(0, 0, p, true);
    const uint32_t top = k.at();
    k.load(Space::shared, Type::u32, value, ptx::no_operand);
    k.lanes(equal32, Type::pred, zero, value, k.word(0));
    k.branch(top, top + 3, zero);
    k.exit();
    k[b].target = k.at();
    k.store(Space::shared, Type::u32, ptx::no_operand, k.word(1));
    k.exit();
    k.program.static_shared = 4;
    Memory memory;
    LaunchOptions options;
    options.max_instructions = 1'000'000;
    CHECK(!launch(k.program, config_of({1}, {64}), memory, options).fault);
}

TEST_CASE("every impossible launch is refused with the numbers that clash") {
    Builder k;
    k.exit();
    ptx::Program p = k.program;
    const LaunchLimits limits;
    const auto said = [&](Dim3 grid, Dim3 block, uint32_t dynamic = 0, size_t parameters = 0) {
        LaunchConfig config{grid, block, dynamic, std::vector<std::byte>(parameters)};
        const auto refusal = check_launch(p, config, limits);
        return refusal ? refusal->message : std::string();
    };
    CHECK(said({1}, {1024}).empty());
    CHECK(said({0x7fffffff}, {1}).empty());
    CHECK(said({1}, {0}) == "a block of 0 x 1 x 1 has no threads: each of its sizes must be at least 1");
    CHECK(said({1, 0}, {1}) == "a grid of 1 x 0 x 1 has no blocks: each of its sizes must be at least 1");
    CHECK(said({1}, {2000}) == "a block of 2000 threads is too large: at most 1024 threads a block");
    CHECK(said({1}, {64, 32}) == "a block of 2048 threads is too large: at most 1024 threads a block");
    CHECK(said({1}, {1, 1, 65}) == "a block of 1 x 1 x 65 threads is too large: at most 64 in z");
    CHECK(said({1}, {1u << 31, 1u << 31, 1u << 31}) ==
          "a block of 4611686018427387904 threads is too large: at most 1024 threads a block");
    CHECK(said({1, 65536}, {1}) == "a grid of 1 x 65536 x 1 blocks is too large: at most 65535 in y");
    CHECK(said({1, 1, 70000}, {1}) == "a grid of 1 x 1 x 70000 blocks is too large: at most 65535 in z");
    CHECK(said({0x80000000u}, {1}) == "a grid of 2147483648 x 1 x 1 blocks is too large: at most 2147483647 in x");
    CHECK_THAT(said({0x7fffffff, 65535, 65535}, {1}), Catch::EndsWith("at most 4294967295 in all"));
    CHECK(said({1}, {1}, 0, 8) == "the parameters have 8 bytes, but made_by_hand takes 0 parameters of 0 bytes");
    p.static_shared = p.dynamic_shared_offset = 40'000;
    CHECK(said({1}, {1}, 9152).empty());
    CHECK(said({1}, {1}, 10'000) ==
          "50000 bytes of shared memory a block (40000 static, 10000 dynamic) are too many: at most 49152 (48 KiB)");
    p.registers_per_thread = 128;
    CHECK(said({1}, {512}).empty());
    CHECK(said({1}, {513}) == "513 threads with 128 registers each need 69632 registers a block: at most 65536");
    p.registers_per_thread = 16;
    p.max_threads = 128;
    CHECK(said({1}, {129}) == "a block of 129 threads is too large for made_by_hand: its .maxntid allows 128");
    p.max_threads = 0;
    p.required_threads[0] = 16;
    p.required_threads[1] = 8;
    CHECK(said({1}, {16, 8}).empty());
    CHECK(said({1}, {8, 16}) == "a block of 8 x 16 x 1 threads does not fit made_by_hand: its .reqntid asks for 16 x 8 x 1");
    p.required_threads[0] = p.required_threads[1] = 0;
    p.local_bytes = 600'000;
    CHECK(said({1}, {1}) == "585.9 KiB of local memory a thread are too many: at most 512 KiB");
}

TEST_CASE("a grid of two billion blocks starts at once and stops at its budget") {
    Builder k;
    k.exit();
    Memory memory;
    LaunchOptions options;
    options.max_instructions = 5000;
    const Fault f = fault_of(k.program, config_of({0x7fffffff}, {32}), memory, options);
    CHECK(f.kind == "runaway");
    CHECK(f.block == Dim3{5000, 0, 0});
}

TEST_CASE("of a Python kernel barriers and atomics are named as Python has them") {
    Fault fault;
    fault.kind = "racecheck", fault.kernel = "k", fault.file = "k.py", fault.line = 5;
    fault.message = "between the __syncthreads() of line 3";
    fault.advice = "Put a __syncthreads() there, or use atomicAdd.";
    CHECK_THAT(render(fault), Catch::StartsWith("k.py:5: racecheck: between the cuda.syncthreads() of line 3"));
    CHECK_THAT(render(fault), Catch::EndsWith("Put a cuda.syncthreads() there, or use cuda.atomic.add."));
    fault.file = "k.cu";
    CHECK_THAT(render(fault), Catch::EndsWith("Put a __syncthreads() there, or use atomicAdd."));
}

}  // namespace simt_fault_test
