// CUDA C++ kernels (tests/golden/machine.cu), from nvcc's PTX through the decoder to the machine, against plain loops.
#include "core/ptx/ptx.h"

#include <map>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/simt/history/history.h"
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace simt_ptx_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

std::shared_ptr<const ptx::Program> kernel(const std::string& name) {
    static const ptx::Module module =
        ptx::parse(read_file(LOCKSTEP_SOURCE_DIR "/tests/golden/machine.ptx").value(), "machine.ptx").value();
    return ptx::decode(module, name).value();
}

struct Arguments {  // a parameter block, each value at its natural alignment
    std::vector<std::byte> bytes;
    template <class T>
    Arguments& operator<<(T value) {
        bytes.resize((bytes.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
        const auto* raw = reinterpret_cast<const std::byte*>(&value);
        bytes.insert(bytes.end(), raw, raw + sizeof(T));
        return *this;
    }
};

LaunchResult run_kernel(const std::string& name, Dim3 grid, Dim3 block, const Arguments& a, Memory& memory,
                        const LaunchOptions& options = {}) {
    const auto program = kernel(name);
    const LaunchConfig config{grid, block, 0, a.bytes};
    REQUIRE(!check_launch(*program, config, {}));
    return launch(*program, config, memory, options);
}

int32_t chosen(int32_t x) {
    int32_t v = x, steps = 0;
    while (v != 1) {
        v = v % 2 ? 3 * v + 1 : v / 2;
        ++steps;
    }
    switch (x % 5) {
        case 0:
            return steps;
        case 1:
            return -steps;
        case 2:
            return steps * steps;
        case 3:
            return steps > 10 ? 1000 : 3;
        default:
            return 7;
    }
}

}  // namespace

TEST_CASE("blocks reverse their part of an array, the last one with idle threads") {
    const int n = 1000;
    std::vector<int32_t> in(n);
    for (int i = 0; i < n; ++i) in[static_cast<size_t>(i)] = i * 3;
    Memory memory;
    const uint64_t a = put(memory, in, "in"), b = memory.allocate(n * 4, "out");
    REQUIRE(!run_kernel("reverse_block", {4}, {256}, Arguments() << a << b << n, memory).fault);
    const auto out = read_back<int32_t>(memory, b, n);
    for (int i = 0; i < n; ++i) {
        const int from = i / 256 * 256 + 255 - i % 256;
        CHECK(out[static_cast<size_t>(i)] == (from < n ? from * 3 : -1));
    }
}

TEST_CASE("a histogram by shared and global atomics counts every byte once") {
    Rng rng(3);
    std::vector<uint8_t> text(10'007);
    std::vector<uint32_t> expected(64);
    for (uint8_t& c : text) {
        c = static_cast<uint8_t>(rng.below(rng.below(2) ? 256 : 4));
        ++expected[c & 63];
    }
    Memory memory;
    const uint64_t a = put(memory, text, "text"), bins = memory.allocate(256, "bins");
    const auto n = static_cast<int32_t>(text.size());
    REQUIRE(!run_kernel("histogram", {3}, {96}, Arguments() << a << bins << n, memory).fault);
    CHECK(read_back<uint32_t>(memory, bins, 64) == expected);
}

TEST_CASE("a shuffle tree adds up a warp in its own order") {
    std::vector<float> x(100);
    for (size_t i = 0; i < x.size(); ++i) x[i] = 0.1f * static_cast<float>(i);
    Memory memory;
    const uint64_t a = put(memory, x, "x"), sums = memory.allocate(16, "sums");
    REQUIRE(!run_kernel("sum_warps", {1}, {128}, Arguments() << a << sums << 100, memory).fault);
    const auto got = read_back<float>(memory, sums, 4);
    for (size_t w = 0; w < 4; ++w) {
        float lanes[32];
        for (size_t i = 0; i < 32; ++i) lanes[i] = w * 32 + i < x.size() ? x[w * 32 + i] : 0.0f;
        for (size_t d = 16; d > 0; d /= 2) {
            for (size_t i = 0; i < d; ++i) lanes[i] += lanes[i + d];
        }
        CHECK(got[w] == lanes[0]);
    }
}

TEST_CASE("a data-dependent loop, a switch and an early return reconverge and give each thread its own result") {
    const int n = 500;
    std::vector<int32_t> x(n);
    Rng rng(8);
    for (int32_t& v : x) v = 1 + static_cast<int32_t>(rng.below(5000));
    Memory memory;
    const uint64_t a = put(memory, x, "x"), b = memory.allocate(n * 4, "y");
    const Memory before = memory;
    const Arguments arguments = Arguments() << a << b << n;
    REQUIRE(!run_kernel("choose", {4}, {128}, arguments, memory).fault);
    const auto y = read_back<int32_t>(memory, b, n);
    for (size_t i = 0; i < x.size(); ++i) CHECK(y[i] == chosen(x[i]));

    const WarpHistory history = record_warp(*kernel("choose"), {{4}, {128}, 0, arguments.bytes}, before, 1, 2);
    REQUIRE(!history.fault);
    REQUIRE(!history.truncated);
    size_t deepest = 0;
    for (const WarpStep& s : history.steps) deepest = std::max(deepest, s.stack.size());
    CHECK(deepest >= 2);
    CHECK(deepest <= 12);
    CHECK(read_back<int32_t>(before, b, 1)[0] == 0);
}

TEST_CASE("an off-by-one store is reported on its line of the CUDA source") {
    Memory memory;
    const uint64_t c = memory.allocate(1024 * 4, "c");
    const LaunchResult result = run_kernel("off_by_one", {5}, {256}, Arguments() << c << 1024, memory);
    REQUIRE(result.fault);
    CHECK(result.fault->kind == "memcheck");
    CHECK(result.fault->message ==
          "invalid global write of 4 bytes that reaches 4 bytes past the end of 'c' (4096 bytes): c[1024] of "
          "1,024 elements, whose index is blockIdx.x * blockDim.x + threadIdx.x");
    CHECK(result.fault->file == "machine.cu");
    CHECK(result.fault->line == 43);
    CHECK(result.fault->block == Dim3{4, 0, 0});
    CHECK(result.fault->thread == Dim3{0, 0, 0});
}

TEST_CASE("a barrier under an if names the line and how many threads are missing") {
    Memory memory;
    const uint64_t x = memory.allocate(128, "x");
    const LaunchResult result = run_kernel("half_barrier", {1}, {32}, Arguments() << x, memory);
    REQUIRE(result.fault);
    CHECK(result.fault->kind == "synccheck");
    CHECK(result.fault->line == 48);
    CHECK_THAT(result.fault->message, Catch::Contains("only 16 of the warp's 32 threads are here"));
}

TEST_CASE("waiting for a flag that nobody sets is a run-away on the waiting line") {
    Memory memory;
    const uint64_t flag = memory.allocate(8, "flag");
    LaunchOptions options;
    options.max_instructions = 50'000;
    const LaunchResult result = run_kernel("spin", {1}, {32}, Arguments() << flag, memory, options);
    REQUIRE(result.fault);
    CHECK(result.fault->kind == "runaway");
    CHECK(result.fault->line == 53);
    CHECK_THAT(result.fault->message, Catch::EndsWith("it spun on line 53"));
}

}  // namespace simt_ptx_test
