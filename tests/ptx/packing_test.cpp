// Registers that share places: who may, and that no two values that are live at once do. tests/model/packed_test.cpp runs
// packed programs against others.
#include "core/ptx/analyse/packing.h"

#include <set>

#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace ptx_packing_test {

using namespace lockstep;
using namespace lockstep::ptx;

namespace {

std::shared_ptr<const Program> program_of(const std::string& body) {
    const std::string text =
        ".version 8.6\n.target sm_90a\n.address_size 64\n"
        ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
        ".reg .pred %p<9>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n.reg .f32 %f<20>;\n" +
        body + "\nret;\n}\n";
    const auto parsed = parse(text, "test.ptx");
    if (!parsed.ok()) FAIL(parsed.error().message);
    const auto decoded = decode(parsed.value(), "k");
    if (!decoded.ok()) FAIL(decoded.error().message << ": " << decoded.error().source_line);
    return decoded.value();
}

// The place of the register that instruction `pc` writes.
int32_t place(const Packing& packing, uint32_t pc) {
    return packing.program.instructions[pc].destination[0];
}

}  // namespace

TEST_CASE("a chain of values takes two places, where each is read once") {
    const auto program = program_of(R"(
    ld.param.u32 %r1, [n];
    add.u32 %r2, %r1, 1;
    add.u32 %r3, %r2, %r1;
    add.u32 %r4, %r3, 3;
    add.u32 %r5, %r4, 4;
    ld.param.u64 %rd1, [p];
    st.global.u32 [%rd1], %r5;)");
    const auto packing = pack_registers(*program);
    REQUIRE(packing);
    CHECK(place(*packing, 1) != place(*packing, 0));
    CHECK(place(*packing, 2) == place(*packing, 0));  // %r1 and %r2 are read there for the last time
    CHECK(place(*packing, 4) == place(*packing, 0));
    CHECK(packing->program.register_bytes == 3 * 128 + 128);
    CHECK(program->register_bytes == 5 * 128 + 256);
}

TEST_CASE("registers of different widths have places of their own, as lanes cut them up in different ways") {
    const auto program = program_of(R"(
    ld.param.u32 %r1, [n];
    cvt.u64.u32 %rd1, %r1;
    cvt.u32.u64 %r2, %rd1;
    setp.eq.u32 %p1, %r2, 3;
    selp.b32 %r3, 1, 2, %p1;
    ld.param.u64 %rd2, [p];
    st.global.u32 [%rd2], %r3;)");
    const auto packing = pack_registers(*program);
    REQUIRE(packing);
    CHECK(packing->places.size() == 3);
    CHECK(place(*packing, 2) == place(*packing, 0));
    CHECK(place(*packing, 5) == place(*packing, 1));
    std::set<int32_t> places{place(*packing, 0), place(*packing, 1), place(*packing, 3)};
    CHECK(places.size() == 3);
}

TEST_CASE("what is written under a guard keeps its place, as other lanes keep their values") {
    const auto program = program_of(R"(
    ld.param.u32 %r1, [n];
    setp.eq.u32 %p1, %r1, 3;
    mov.u32 %r2, 7;
    add.u32 %r3, %r1, 1;
    @%p1 add.u32 %r2, %r3, 1;
    add.u32 %r4, %r3, %r2;
    ld.param.u64 %rd2, [p];
    st.global.u32 [%rd2], %r4;)");
    const auto packing = pack_registers(*program);
    REQUIRE(packing);
    CHECK(place(*packing, 2) == place(*packing, 4));
    CHECK(place(*packing, 2) != place(*packing, 3));
}

TEST_CASE("what a loop reads in its next round stays, and what is live is known in front of each instruction") {
    const auto program = program_of(R"(
    ld.param.u32 %r1, [n];
    mov.u32 %r2, 0;
again:
    add.u32 %r3, %r1, 5;
    add.u32 %r2, %r2, %r3;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra again;
    ld.param.u64 %rd2, [p];
    st.global.u32 [%rd2], %r2;)");
    const auto packing = pack_registers(*program);
    REQUIRE(packing);
    const std::set<int32_t> apart{place(*packing, 0), place(*packing, 1), place(*packing, 2)};
    CHECK(apart.size() == 3);
    const auto is_live = [&](uint32_t pc, int32_t offset) {
        for (size_t k = 0; k < packing->places.size(); ++k)
            if (packing->places[k].offset == offset) return packing->is_live(pc, k);
        return false;
    };
    CHECK(is_live(2, place(*packing, 0)));
    CHECK_FALSE(is_live(2, place(*packing, 2)));
    CHECK(is_live(3, place(*packing, 2)));
    CHECK_FALSE(is_live(7, place(*packing, 0)));
}

TEST_CASE("vectors are not written over the address that they are loaded from") {
    const auto program = program_of(R"(
    ld.param.u64 %rd1, [p];
    ld.global.v2.u64 {%rd2, %rd3}, [%rd1];
    ld.param.u64 %rd4, [p];
    st.global.v2.u64 [%rd4], {%rd3, %rd2};)");
    const auto packing = pack_registers(*program);
    REQUIRE(packing);
    const DecodedInstruction& load = packing->program.instructions[1];
    const std::set<int32_t> apart{load.address, load.destination[0], load.destination[1]};
    CHECK(apart.size() == 3);
}

TEST_CASE("programs in which old values count are left alone") {
    const std::string end = "\nld.param.u64 %rd2, [p];\nst.global.u32 [%rd2], %r2;";
    CHECK_FALSE(pack_registers(*program_of("ld.param.u64 %rd1, [p]; ld.volatile.global.u32 %r2, [%rd1];" + end)));
    CHECK_FALSE(pack_registers(*program_of("ld.param.u64 %rd1, [p]; atom.global.exch.b32 %r2, [%rd1], 1;" + end)));
    CHECK_FALSE(pack_registers(*program_of("mov.u32 %r1, 1; shfl.sync.down.b32 %r2, %r1, 1, 31, -1;" + end)));
    CHECK(pack_registers(*program_of("ld.param.u64 %rd1, [p]; atom.global.add.u32 %r2, [%rd1], 1;" + end)));
}

}  // namespace ptx_packing_test
