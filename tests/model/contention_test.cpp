// What the memory system can bring and how it spreads: no kind of access gets more of DRAM than there is, more to fetch is
// never faster, and no row length of a matrix meets itself in a few slices.
#include <cstring>
#include <memory>
#include <set>
#include <string>

#include "core/model/memory/cache.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/model/support.h"

namespace model_contention_test {

using namespace lockstep;
using namespace lockstep::model;

namespace {

std::shared_ptr<const ptx::Program> kernel(const std::string& body, const std::string& globals = "") {
    return ptx::decode(
               ptx::parse(
                   ".version 7.0\n.target sm_70\n.address_size 64\n" + globals +
                       ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
                       ".reg .pred %p<9>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %rd<40>;\n"
                       "ld.param.u64 %rd1, [p];\nld.param.u32 %r9, [n];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
                       "mov.u32 %r3, %ntid.x;\nmad.lo.s32 %r4, %r2, %r3, %r1;\n" +
                       body + "ret;\n}\n",
                   "k.ptx")
                   .value(),
               "k")
        .value();
}

TimedResult run(const ptx::Program& program, uint32_t blocks, uint64_t bytes, uint32_t n, const std::string& gpu = "v100") {
    simt::Memory memory;
    const uint64_t data = memory.allocate(bytes, "data");
    simt::LaunchConfig config;
    config.grid = {blocks, 1, 1};
    config.block = {256, 1, 1};
    config.parameters.resize(program.parameter_bytes);
    std::memcpy(config.parameters.data(), &data, 8);
    std::memcpy(config.parameters.data() + 8, &n, 4);
    TimedResult result = launch(gpu_named(gpu).value(), program, config, memory, {});
    REQUIRE(!result.fault);
    return result;
}

}  // namespace

TEST_CASE("atomics that nobody waits for, loads and stores take no more of DRAM than its peak") {
    const std::string address =  // of four words a thread, each a warp's width apart
        "mul.lo.u32 %r5, %r2, 1024;\nadd.u32 %r5, %r5, %r1;\nmul.wide.u32 %rd2, %r5, 4;\nadd.s64 %rd3, %rd1, %rd2;\n";
    const auto four = [](const std::string& before, const std::string& behind) {
        std::string text;
        for (const char* at : {"[%rd3]", "[%rd3+1024]", "[%rd3+2048]", "[%rd3+3072]"}) text += before + at + behind + ";\n";
        return text;
    };
    for (const std::string& body : {four("red.global.add.u32 ", ", 1"), four("st.global.u32 ", ", %r1"),
                                    "mov.u32 %r7, 0;\n" + four("ld.global.u32 %r6, ", "; add.u32 %r7, %r7, %r6")}) {
        const auto program = kernel(address + body);
        for (const std::string gpu : {"v100", "a100"}) {
            const TimedResult result = run(*program, 2048, uint64_t{2048} * 4096, 0, gpu);
            INFO(gpu << ": " << body);
            CHECK(metric_of(*program, result, "dram_utilization").value() <= 101);
        }
    }
}

TEST_CASE("gathers with a store behind them take longer from a larger array, never less") {
    const auto program = kernel(
        "mul.lo.u32 %r5, %r4, 0x9E3779B1;\nshr.u32 %r6, %r5, 15;\nxor.b32 %r5, %r5, %r6;\nmul.lo.u32 %r5, %r5, 0x85EBCA77;\n"
        "shr.u32 %r6, %r5, 13;\nxor.b32 %r5, %r5, %r6;\nand.b32 %r5, %r5, %r9;\nmul.wide.u32 %rd2, %r5, 4;\n"
        "add.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3];\nmul.wide.u32 %rd4, %r4, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"
        "st.global.f32 [%rd5], %f1;\n");
    const auto cycles = [&](uint64_t words) {
        return run(*program, 1024, words * 4, static_cast<uint32_t>(words - 1)).cycles;
    };
    const int64_t small = cycles(1 << 20), middle = cycles(1 << 22), large = cycles(1 << 24);
    CHECK(small < middle);
    CHECK(100 * middle < 105 * large);
}

TEST_CASE("rows of a matrix, padded or not, fall into most of the slices") {
    for (const uint32_t places : {32u, 40u, 48u, 64u, 80u, 96u}) {
        const Spread spread(places);
        for (const uint32_t pitch : {places - 2, places - 1, places, places + 1, places + 2, 2 * places + 1}) {
            double seen = 0;
            constexpr uint32_t bases = 64;
            for (uint32_t base = 0; base < bases; ++base) {
                std::set<uint32_t> met;
                for (uint64_t row = 0; row < places; ++row) met.insert(spread(uint64_t{base} * 4096 + row * pitch));
                seen += static_cast<double>(met.size()) / bases;
            }
            INFO(places << " places, rows of " << pitch << " lines");
            CHECK(seen > places / 3.0);  // at random 0.63 of them
        }
    }
}

TEST_CASE("a warp's different constants are served one after the other, those of all warps of an SM") {
    const auto program = kernel(
        "mul.lo.u32 %r5, %r1, %r9;\nand.b32 %r5, %r5, 1020;\ncvt.u64.u32 %rd2, %r5;\nmov.u64 %rd3, table;\n"
        "add.s64 %rd4, %rd3, %rd2;\nmov.f32 %f1, 0f00000000;\nmov.u32 %r6, 0;\nL:\n"
        "ld.const.f32 %f2, [%rd4];\nadd.f32 %f1, %f1, %f2;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 64;\n@%p1 bra L;\n"
        "mul.wide.u32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd1, %rd5;\nst.global.f32 [%rd6], %f1;\n",
        ".const .align 4 .f32 table[256];\n");
    const auto cycles = [&](uint32_t apart) { return run(*program, 160, 160 * 1024, apart).cycles; };
    const int64_t one = cycles(0), all = cycles(4);
    CHECK(all > 64 * 16 * 32);  // two blocks an SM: 16 warps of 64 loads of 32 words
    CHECK(10 * all < 13 * 64 * 16 * 32);
    CHECK(one < all / 4);
}

}  // namespace model_contention_test
