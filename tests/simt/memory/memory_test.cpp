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
