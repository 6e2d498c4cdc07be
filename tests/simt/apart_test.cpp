// Blocks on several threads give what blocks one after the other give, bit for bit, for any number of threads: where they
// touch nothing together, where they add up whole numbers, and where they collide and the launch is run again. And what the
// text of a kernel says against it.
#include "core/simt/apart/apart.h"

#include <cstring>

#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace simt_apart_test {

using namespace lockstep;
using namespace lockstep::simt;

namespace {

constexpr uint32_t blocks = 1500, threads = 128, words = blocks * threads;

std::shared_ptr<const ptx::Program> program_of(const std::string& body, const char* target = "sm_70") {
    const std::string text = std::string(".version 7.0\n.target ") + target +
                             "\n.address_size 64\n"
                             ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n"
                             ".reg .b16 %h<4>; .reg .b32 %r<20>; .reg .f32 %f<5>; .reg .b64 %rd<10>; .reg .pred %p<5>;\n"
                             "ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\n"
                             "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
                             "mad.lo.u32 %r4, %r1, %r2, %r3;\n"  // the thread's number in the grid
                             "mul.wide.u32 %rd3, %r4, 4;\nadd.u64 %rd4, %rd1, %rd3;\nadd.u64 %rd5, %rd2, %rd3;\n" +
                             body + "\nret;\n}\n";
    return ptx::decode(ptx::parse(text, "apart.ptx").value()).value();
}

struct Ran {
    std::vector<uint32_t> p, q;
    ApartResult result;
};

Ran run(const std::string& body, uint32_t on, bool of_host = false) {
    const auto program = program_of(body);
    const auto facts = apart_facts(*program);
    Memory memory;
    std::vector<uint32_t> host(words + 64);
    const uint64_t p = of_host ? uint64_t{0x10000} : memory.allocate(host.size() * 4, "p");
    if (of_host) memory.adopt(p, reinterpret_cast<std::byte*>(host.data()), host.size() * 4, "p");
    const uint64_t q = memory.allocate(host.size() * 4, "q");
    for (const uint64_t each : {p, q}) {
        auto* const values = reinterpret_cast<uint32_t*>(memory.write(each, host.size() * 4));
        for (uint32_t k = 0; k < host.size(); ++k) values[k] = k * 2654435761u + (each == q);
    }
    const Memory shared = memory;  // a checkpoint keeps what it saw
    const auto config = test::config_of({blocks}, {threads}, {p, q});
    Ran ran;
    ran.result = launch_apart(*program, *facts, config, memory, {}, on);
    REQUIRE(!ran.result.launch.fault);
    for (auto* to : {&ran.p, &ran.q}) {
        to->resize(host.size());
        std::memcpy(to->data(), memory.read(to == &ran.p ? p : q, host.size() * 4), host.size() * 4);
    }
    CHECK(std::memcmp(shared.read(q, 4), "\1\0\0\0", 4) == 0);
    return ran;
}

// The same on 2 and 4 threads as on one; how many of them the last took, and why not.
ApartResult same_everywhere(const std::string& body, bool of_host = false) {
    const Ran alone = run(body, 1, of_host);
    CHECK(alone.result.threads == 1);
    ApartResult last;
    for (const uint32_t on : {2u, 4u}) {
        const Ran ran = run(body, on, of_host);
        CHECK(ran.p == alone.p);
        CHECK(ran.q == alone.q);
        CHECK(ran.result.launch.warp_instructions == alone.result.launch.warp_instructions);
        CHECK(ran.result.launch.thread_instructions == alone.result.launch.thread_instructions);
        last = ran.result;
    }
    return last;
}

std::string refusal_of(const std::string& body) {
    return apart_facts(*program_of(body))->refusal;
}

TEST_CASE("blocks that touch bytes of their own run apart") {
    for (const bool of_host : {false, true}) {
        // p[i] = p[i] * 3 + q[i]
        const ApartResult ran = same_everywhere(R"(ld.global.u32 %r5, [%rd4];
            ld.global.u32 %r6, [%rd5];
            mad.lo.u32 %r7, %r5, 3, %r6;
            st.global.u32 [%rd4], %r7;)",
                                                of_host);
        CHECK(ran.threads == 4);
        CHECK(ran.why.empty());
    }
}

TEST_CASE("blocks that write neighbouring bytes run apart") {
    const ApartResult ran = same_everywhere(R"(cvt.u64.u32 %rd6, %r4;
        add.u64 %rd6, %rd1, %rd6;
        cvt.u16.u32 %h1, %r3;
        st.global.u8 [%rd6+3], %h1;)");
    CHECK(ran.threads == 4);
}

TEST_CASE("whole numbers are added up, and the least and the greatest found, in any order") {
    const ApartResult ran = same_everywhere(R"(ld.global.u32 %r5, [%rd5];
        and.b32 %r6, %r5, 15;
        mul.wide.u32 %rd6, %r6, 4;
        add.u64 %rd6, %rd1, %rd6;
        red.global.add.u32 [%rd6], %r5;
        red.global.min.s32 [%rd1+128], %r5;
        atom.global.max.u32 %r7, [%rd1+132], %r5;)");
    CHECK(ran.threads == 4);
}

TEST_CASE("blocks that collide run again one after the other") {
    // p[i] = p[i + 1] + 1: the next block's first word
    const ApartResult ran = same_everywhere(R"(ld.global.u32 %r5, [%rd4+4];
        bar.sync 0;
        add.u32 %r5, %r5, 1;
        st.global.u32 [%rd4], %r5;)");
    CHECK(ran.threads == 1);
    CHECK(ran.touched);
    CHECK(ran.why == "its blocks touched the same bytes");
    // all write one word, the last one stays
    CHECK(same_everywhere("st.global.u32 [%rd1], %r4;").touched);
    // one adds where others read
    CHECK(same_everywhere(R"(red.global.add.u32 [%rd1], %r4;
        ld.global.u32 %r5, [%rd1];
        st.global.u32 [%rd5], %r5;)")
              .touched);
    // two kinds of sum on one word
    CHECK(same_everywhere("red.global.add.u32 [%rd1], %r4; red.global.xor.b32 [%rd1], %r4;").touched);
}

TEST_CASE("a block that waits for a later one, and one that faults, end as they do in order") {
    const auto program = program_of(R"(mul.wide.u32 %rd6, %r4, 4096;
        add.u64 %rd6, %rd1, %rd6;
        st.global.u32 [%rd6], %r4;)");
    for (const uint32_t on : {1u, 4u}) {
        Memory memory;
        const uint64_t p = memory.allocate(uint64_t{4096} * words / 2, "p"), q = memory.allocate(64, "q");
        const auto ran =
            launch_apart(*program, *apart_facts(*program), test::config_of({blocks}, {threads}, {p, q}), memory, {}, on);
        REQUIRE(ran.launch.fault);
        CHECK(ran.launch.fault->block.x == blocks / 2);
        CHECK(ran.launch.fault->thread.x == 0);
        const uint64_t behind = uint64_t{4096} * (words / 2 - 1);
        CHECK(*reinterpret_cast<const uint32_t*>(memory.read(p + behind, 4)) == words / 2 - 1);
    }
}

TEST_CASE("the text of a kernel says what the order of blocks may show in") {
    CHECK(refusal_of("st.global.u32 [%rd4], %r4;").empty());
    CHECK(refusal_of("atom.global.add.u32 %r5, [%rd1], 1; st.global.u32 [%rd4], %r5;") == "it uses what an atomic returned");
    CHECK(refusal_of("atom.global.add.u32 %r5, [%rd1], 1; mov.u32 %r5, 0; st.global.u32 [%rd4], %r5;").empty());
    CHECK(refusal_of("red.global.add.f32 [%rd1], 0f3f800000;").find("adds floating-point numbers") != std::string::npos);
    CHECK(refusal_of("atom.global.exch.b32 %r5, [%rd1], %r4;").find("depends on the order") != std::string::npos);
    CHECK(refusal_of("mov.u32 %r5, %clock; st.global.u32 [%rd4], %r5;").find("asks for the time") != std::string::npos);
    CHECK(refusal_of(".loc 1 12 0\nmov.u32 %r5, %clock;") == "line 12 asks for the time or for the whole grid");
}

}  // namespace
}  // namespace simt_apart_test
