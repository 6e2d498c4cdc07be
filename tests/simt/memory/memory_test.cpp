// Device memory by itself: addresses, guard gaps, copies that share until written, use after release.
#include "core/simt/memory/memory.h"

#include "core/base/diagnostic.h"
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace simt_memory_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

TEST_CASE("allocations are aligned to 256 bytes, zeroed and apart from one another") {
    Memory memory;
    const uint64_t a = memory.allocate(1000, "a"), b = memory.allocate(8, "b");
    CHECK(a % 256 == 0);
    CHECK(b % 256 == 0);
    CHECK(b >= a + 1000 + 256);
    CHECK(memory.live_bytes() == 1008);
    for (const std::byte value : read_back<std::byte>(memory, a, 1000)) CHECK(value == std::byte{0});
}

TEST_CASE("a view must lie inside one live allocation") {
    Memory memory;
    const uint64_t a = memory.allocate(16, "a");
    CHECK(memory.read(a, 16));
    CHECK(memory.read(a + 12, 4));
    CHECK(!memory.read(a + 13, 4));
    CHECK(!memory.read(a, 17));
    CHECK(!memory.read(a - 1, 1));
    CHECK(!memory.read(a + 16, 1));
    CHECK(!memory.write(a + 1, UINT64_MAX));
    CHECK(!memory.read(0, 1));
}

TEST_CASE("a copy of memory is a snapshot: neither side sees what the other writes") {
    Memory memory;
    const uint64_t a = put<uint32_t>(memory, {1, 2, 3}, "a"), b = put<uint32_t>(memory, {7}, "b");
    const Memory before = memory;
    CHECK(before.read(a, 4) == memory.read(a, 4));  // shared until written
    *reinterpret_cast<uint32_t*>(memory.write(a, 4)) = 99;
    CHECK(read_back<uint32_t>(before, a, 3) == std::vector<uint32_t>{1, 2, 3});
    CHECK(read_back<uint32_t>(memory, a, 3) == std::vector<uint32_t>{99, 2, 3});
    CHECK(before.read(b, 4) == memory.read(b, 4));
    Memory again = before;
    *reinterpret_cast<uint32_t*>(again.write(a, 4)) = 5;
    CHECK(read_back<uint32_t>(before, a, 1) == std::vector<uint32_t>{1});
}

TEST_CASE("a launch after a snapshot leaves the snapshot as it was") {
    // out[tid] += 1, loading and storing through windows that the snapshot makes stale
    Builder k;
    const int32_t tid = k.r32(), value = k.r32();
    k.special(ptx::SpecialRegister::tid_x, tid);
    const int32_t address = k.element_address(tid);
    k.load(Space::global, Type::u32, value, address);
    k.lanes(add32, Type::u32, value, value, k.word(1));
    k.store(Space::global, Type::u32, address, value);
    k.exit();
    Memory memory;
    const uint64_t out = memory.allocate(128, "out");
    const LaunchConfig config = config_of({3}, {32}, {out});
    Grid grid = make_grid(k.program, config, memory);
    std::vector<Memory> snapshots;
    for (uint32_t b = 0; b < 3; ++b) {
        Block block = make_block(grid, b);
        while (!block.warps[0].done) {
            snapshots.push_back(memory);
            REQUIRE(step(block.warps[0]).kind != WarpEvent::Kind::fault);
        }
    }
    CHECK(read_back<uint32_t>(memory, out, 32) == std::vector<uint32_t>(32, 3));
    uint32_t last = 0;
    for (const Memory& m : snapshots) {
        const uint32_t now = read_back<uint32_t>(m, out, 32)[31];
        CHECK((now == last || now == last + 1));
        last = now;
    }
    CHECK(last == 3);
    CHECK(read_back<uint32_t>(snapshots.front(), out, 1)[0] == 0);
}

TEST_CASE("memory of the host is the same bytes on both sides, and a copy of the memory has its own") {
    Memory memory;
    alignas(256) static uint32_t host[4] = {1, 2, 3, 4};
    const auto address = reinterpret_cast<uint64_t>(host);
    memory.adopt(address, reinterpret_cast<std::byte*>(host), sizeof host, "host");
    const Memory before = memory;
    *reinterpret_cast<uint32_t*>(memory.write(address, 4)) = 9;
    CHECK(host[0] == 9);
    host[1] = 8;
    CHECK(read_back<uint32_t>(memory, address, 4) == std::vector<uint32_t>{9, 8, 3, 4});
    CHECK(read_back<uint32_t>(before, address, 4) == std::vector<uint32_t>{1, 2, 3, 4});
    CHECK_THROWS_AS(memory.adopt(address + 8, reinterpret_cast<std::byte*>(host + 2), 4, "inside"), Failure);
    memory.release(address);
    CHECK(!memory.read(address, 4));
    for (int k = 0; k < 2000; ++k) memory.release(memory.allocate(1, "one of many"));  // what was freed is forgotten
    memory.adopt(address, reinterpret_cast<std::byte*>(host), sizeof host, "again");
    for (int k = 0; k < 2000; ++k) memory.release(memory.allocate(1, "one of many"));
    CHECK(memory.read(address, 4));
}

TEST_CASE("a buffer of one number is read by all lanes at once, and one that is shorter is a fault") {
    for (const uint64_t bytes : {uint64_t{4}, uint64_t{2}}) {
        Builder k;
        const int32_t tid = k.r32(), zero = k.r32(), value = k.r32();
        k.special(ptx::SpecialRegister::tid_x, tid);
        k.lanes(add32, Type::u32, zero, k.word(0), k.word(0));
        const int32_t from = k.element_address(zero, 0), to = k.element_address(tid, 1);
        k.load(Space::global, Type::u32, value, from);
        k.store(Space::global, Type::u32, to, value);
        k.exit();
        Memory memory;
        const uint64_t number = memory.allocate(bytes, "number"), out = memory.allocate(128, "out");
        *reinterpret_cast<uint16_t*>(memory.write(number, 2)) = 7;
        const LaunchConfig config = config_of({1}, {32}, {number, out});
        const LaunchResult result = launch(k.program, config, memory);
        CHECK(result.fault.has_value() == (bytes < 4));
        CHECK(read_back<uint32_t>(memory, out, 32) == std::vector<uint32_t>(32, bytes < 4 ? 0 : 7));
    }
}

TEST_CASE("released memory can neither be read nor released again, and is remembered for reports") {
    Memory memory;
    const uint64_t a = memory.allocate(64, "a");
    memory.release(a);
    CHECK(!memory.read(a, 4));
    CHECK(memory.live_bytes() == 0);
    REQUIRE(memory.nearest(a + 8));
    CHECK(memory.nearest(a + 8)->freed);
    CHECK_THROWS_AS(memory.release(a), Failure);
    CHECK_THROWS_AS(memory.release(12345), Failure);
    CHECK(memory.allocate(64, "b") != a);
}

TEST_CASE("the limit of device memory is enforced before anything is allocated") {
    Memory memory(1000);
    memory.allocate(600, "a");
    CHECK_THROWS_WITH(memory.allocate(401, "b"), Catch::Contains("401 bytes asked for 'b'"));
    CHECK_THROWS_AS(memory.allocate(UINT64_MAX - 5, "c"), Failure);
    memory.allocate(400, "d");
    CHECK(memory.live_bytes() == 1000);
}

TEST_CASE("the nearest allocation is found from both sides") {
    Memory memory;
    const uint64_t a = memory.allocate(256, "a"), b = memory.allocate(256, "b");
    CHECK(memory.nearest(0)->name == "a");
    CHECK(memory.nearest(a + 300)->name == "a");
    CHECK(memory.nearest(b - 4)->name == "b");
    CHECK(memory.nearest(UINT64_MAX)->name == "b");
    CHECK(!Memory().nearest(1));
}

}  // namespace simt_memory_test
