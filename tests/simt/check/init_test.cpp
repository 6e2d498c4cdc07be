// initcheck: which bytes nobody has written, of global, shared and local memory.
#include <fmt/format.h>

#include "core/ptx/ptx.h"
#include "core/simt/check/byte_set.h"
#include "core/simt/launch.h"
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace simt_init_test {

using namespace lockstep;
using namespace lockstep::simt;

namespace {

std::shared_ptr<const ptx::Program> program_of(const std::string& body) {
    const std::string text =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .pred %p<5>; .reg .b16 %h<5>;\n"
        ".shared .align 16 .b8 tile[4096]; .local .align 16 .b8 mine[64];\n"
        "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\n"
        "mov.u32 %r4, tile;\nadd.u32 %r4, %r4, %r2;\ncvt.u64.u32 %rd3, %r2;\nadd.u64 %rd2, %rd1, %rd3;\n" +
        body + "\nret;\n}\n";
    return ptx::decode(ptx::parse(text, "k.ptx").value()).value();
}

LaunchOptions initcheck(bool race = false) {
    LaunchOptions options;
    options.initcheck = true;
    options.racecheck = race;
    return options;
}

std::vector<Fault> reports_of(const std::string& body, Memory& memory, uint64_t p, uint32_t blocks = 1,
                              const LaunchOptions& options = initcheck()) {
    const LaunchResult result = launch(*program_of(body), test::config_of({blocks}, {64}, {p}), memory, options);
    INFO((result.fault ? render(*result.fault) : ""));
    REQUIRE(!result.fault);
    return result.reports;
}

std::vector<Fault> fresh(const std::string& body, const LaunchOptions& options = initcheck()) {
    Memory memory;
    const uint64_t p = memory.allocate(1024, "p");
    memory.mark_unwritten(p);
    return reports_of(body, memory, p, 2, options);
}

}  // namespace

TEST_CASE("a set of bytes adds, removes and finds ranges across words") {
    ByteSet set(300, true);
    CHECK(set.first(0, 300) == 0);
    CHECK(set.first(0, 300, false) == 300);
    set.set(10, 200, false);
    CHECK(set.first(10, 200) == 210);
    CHECK(set.first(5, 100, false) == 10);
    CHECK(set.first(12, 250) == 210);
    set.set(64, 1, true);
    CHECK(set.first(10, 200) == 64);
    CHECK(set.first(65, 145) == 210);
}

TEST_CASE("a read of device memory that nobody has written is named") {
    for (const bool race : {false, true}) {
        const auto reports = fresh("ld.global.u32 %r5, [%rd2+128];", initcheck(race));
        REQUIRE(reports.size() == 1);
        CHECK(reports[0].kind == "initcheck");
        CHECK(reports[0].message == "uninitialised read of 4 bytes of global memory 'p' +128, which nobody has written");
        CHECK(reports[0].thread == Dim3{0, 0, 0});
        CHECK(reports[0].offset == 128);
        CHECK(reports[0].allocation == "p");
    }
}

TEST_CASE("what was written may be read, byte by byte") {
    CHECK(fresh("st.global.u32 [%rd2], %r1;\n ld.global.u32 %r5, [%rd2];").empty());
    CHECK(fresh("cvt.u16.u32 %h1, %r1;\n st.global.u16 [%rd2+2], %h1;\n ld.global.u8 %h2, [%rd2+3];").empty());
    CHECK(fresh("cvt.u16.u32 %h1, %r1;\n st.global.u16 [%rd2+2], %h1;\n ld.global.u32 %r5, [%rd2];").size() == 1);
    CHECK(fresh("red.global.add.u32 [%rd1], 1;").size() == 1);
}

TEST_CASE("the account goes on from launch to launch, and ends with a launch that keeps none") {
    Memory memory;
    const uint64_t p = memory.allocate(1024, "p");
    memory.mark_unwritten(p);
    CHECK(reports_of("st.global.u32 [%rd2], %r1;", memory, p).empty());
    CHECK(reports_of("ld.global.u32 %r5, [%rd2];", memory, p).empty());
    CHECK(reports_of("ld.global.u32 %r5, [%rd2+256];", memory, p).size() == 1);
    Memory copy = memory;
    CHECK(reports_of("st.global.u32 [%rd2+256], %r1;", copy, p).empty());
    CHECK(reports_of("ld.global.u32 %r5, [%rd2+256];", memory, p).size() == 1);
    CHECK(reports_of("st.global.u32 [%rd2+256], %r1;", memory, p, 1, LaunchOptions{}).empty());
    CHECK(reports_of("ld.global.u32 %r5, [%rd2+512];", memory, p).empty());
    CHECK(reports_of("ld.global.u32 %r5, [%rd2+256];", copy, p).empty());
}

TEST_CASE("shared memory begins unwritten in every block") {
    const auto reports = fresh("ld.shared.u32 %r5, [%r4+8];");
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].message ==
          "uninitialised read of 4 bytes of shared memory 'tile' +8, which no thread of the block has written");
    CHECK(fresh("st.shared.u32 [%r4], %r1;\n bar.sync 0;\n ld.shared.u32 %r5, [%r4];").empty());
    // Only block 0 writes.
    const auto second = fresh(
        "mov.u32 %r5, %ctaid.x;\n setp.ne.u32 %p1, %r5, 0;\n @!%p1 st.shared.u32 [%r4], %r1;\n bar.sync 0;\n"
        "ld.shared.u32 %r5, [%r4];");
    REQUIRE(second.size() == 1);
    CHECK(second[0].block == Dim3{1, 0, 0});
    CHECK(fresh("atom.shared.add.u32 %r5, [tile], 1;").size() == 1);
    CHECK(fresh("atom.shared.exch.b32 %r5, [tile], 1;\n bar.sync 0;\n ld.shared.u32 %r6, [tile];").size() == 1);
    CHECK(
        fresh(
            "mov.u32 %r5, tile;\n add.u32 %r5, %r5, %r1;\n cvt.u16.u32 %h1, %r1;\n st.shared.u8 [%r5], %h1;\n bar.sync 0;\n"
            "ld.shared.u8 %h2, [%r5];")
            .empty());
}

TEST_CASE("copying an object of which some member was never set is no use of it") {
    CHECK(fresh("ld.local.u32 %r5, [mine+12];\n st.local.u32 [mine+16], %r5;").empty());
    CHECK(
        fresh("ld.local.v2.u32 {%r5, %r6}, [mine+8];\n mov.u32 %r7, %r6;\n st.local.v2.u32 [mine+16], {%r5, %r7};").empty());
    const std::string used = "ld.local.u32 %r5, [mine+12];\n st.local.u32 [mine+16], %r5;\n";
    CHECK(fresh(used + "add.u32 %r6, %r5, 1;").size() == 1);
    CHECK(fresh(used + "mov.u32 %r6, %r5;\n st.shared.u32 [%r4], %r6;").size() == 1);
    // A bit field is set: the other bits stay what they are.
    CHECK(
        fresh("ld.local.u32 %r5, [mine+12];\n and.b32 %r6, %r5, -255;\n or.b32 %r7, %r6, 6;\n st.local.u32 [mine+12], %r7;")
            .empty());
    CHECK(fresh("ld.local.u32 %r5, [mine+12];\n bfi.b32 %r7, %r1, %r5, 0, 8;\n st.local.u32 [mine+12], %r7;").empty());
    CHECK(fresh("ld.local.u32 %r5, [mine+12];\n or.b32 %r7, %r5, 6;\n st.local.u32 [mine+12], %r7;").size() == 1);
    CHECK(fresh("ld.local.u32 %r5, [mine+12];\n and.b32 %r6, %r5, 6;\n setp.eq.u32 %p1, %r6, 2;").size() == 1);
    CHECK(fresh(used + "setp.eq.u32 %p1, %r5, 0;").size() == 1);
    CHECK(fresh("ld.local.u64 %rd5, [mine+8];\n add.u64 %rd5, %rd5, 0;\n ld.local.u32 %r5, [mine+12];\n"
                "st.local.u32 [mine+16], %r5;")
              .size() == 1);
}

TEST_CASE("local memory is each thread's own") {
    const auto reports = fresh("ld.local.u32 %r5, [mine+12];");
    REQUIRE(reports.size() == 1);
    CHECK_THAT(reports[0].message, Catch::StartsWith("uninitialised read of 4 bytes of local memory"));
    CHECK_THAT(reports[0].message, Catch::EndsWith("which the thread has not written"));
    CHECK(fresh("st.local.u32 [mine+12], %r1;\n ld.local.u32 %r5, [mine+12];").empty());
    const auto odd = fresh(
        "and.b32 %r6, %r1, 1;\n setp.eq.u32 %p1, %r6, 1;\n @%p1 st.local.u32 [mine+12], %r1;\n"
        "ld.local.u32 %r5, [mine+12];");
    REQUIRE(odd.size() == 1);
    CHECK(odd[0].thread == Dim3{0, 0, 0});
}

}  // namespace simt_init_test
