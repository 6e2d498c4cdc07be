// What PTX becomes on silicon: which instructions are folded, merged or several, and what that does to a launch.
#include "core/model/lowering/lowering.h"

#include <algorithm>
#include <string>

#include "core/model/issue/timing.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/model/support.h"

namespace model_lowering_test {

using namespace lockstep;
using namespace lockstep::model;

namespace {

std::shared_ptr<const ptx::Program> program_of(const std::string& body, const std::string& shared = "") {
    const std::string text =
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
        ".reg .pred %p<9>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %rd<40>;\n" +
        shared + body + "ret;\n}\n";
    return ptx::decode(ptx::parse(text, "k.ptx").value(), "k").value();
}

// "1 0 2 ...": machine instructions of each PTX instruction.
std::string lowered(const std::string& body, const std::string& shared = "") {
    const auto program = program_of(body, shared);
    std::string text;
    for (const Lowered& l : lower(*program)) text += std::to_string(l.instructions) + " ";
    return text;
}

struct Both {
    TimedResult folded, plain;
};
Both run_both(const ptx::Program& program, bool run_ahead = true) {
    Both both;
    for (const bool lowering : {true, false}) {
        simt::Memory memory;
        const uint64_t data = memory.allocate(4096, "data");
        simt::LaunchConfig config;
        config.block = {64, 1, 1};
        config.grid = {3, 1, 1};
        config.parameters.resize(program.parameter_bytes);
        std::memcpy(config.parameters.data(), &data, 8);
        TimedOptions options;
        options.lowering = lowering;
        options.run_ahead = run_ahead;
        (lowering ? both.folded : both.plain) = launch(gpu_named("v100").value(), program, config, memory, options);
        REQUIRE(!both.folded.fault);
    }
    return both;
}

const std::string addresses =
    "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\n"
    "add.s64 %rd4, %rd2, %rd3;\nld.global.u32 %r2, [%rd4];\nshl.b32 %r3, %r1, 2;\nadd.s32 %r4, %r3, %r2;\n"
    "st.global.u32 [%rd4], %r4;\n";

}  // namespace

TEST_CASE("parameters, copies and address arithmetic are folded into what uses them") {
    CHECK(lowered(addresses) == "0 0 1 0 1 1 0 1 1 1 ");
    // IMAD.WIDE, LEA; two users of the product keep it
    CHECK(lowered("mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\n"
                  "st.global.u64 [%rd4], %rd5;\n") == "1 1 2 2 1 1 ");
    // IADD3 takes one more, LOP3 as well
    CHECK(lowered("add.s32 %r2, %r1, %r3;\nadd.s32 %r4, %r2, %r5;\nadd.s32 %r6, %r4, %r7;\n") == "0 1 1 1 ");
    CHECK(lowered("and.b32 %r2, %r1, %r3;\nor.b32 %r4, %r2, %r5;\n") == "0 1 1 ");
    // [register + constant]
    CHECK(lowered("add.s32 %r2, %r1, 64;\nld.shared.u32 %r3, [%r2];\nst.shared.u32 [%r2+4], %r3;\n") == "0 1 1 1 ");
    CHECK(lowered("add.s32 %r2, %r1, 64;\nst.shared.u32 [%r2], %r2;\n") == "1 1 1 ");
}

TEST_CASE("a product and a sum of floats are one multiply-add where PTX leaves their rounding to ptxas") {
    CHECK(lowered("mul.f32 %f1, %f2, %f3;\nadd.f32 %f4, %f1, %f5;\n") == "0 1 1 ");
    CHECK(lowered("mul.ftz.f32 %f1, %f2, %f3;\nsub.ftz.f32 %f4, %f5, %f1;\n") == "0 1 1 ");
    CHECK(lowered("mul.rn.f32 %f1, %f2, %f3;\nadd.f32 %f4, %f1, %f5;\n") == "1 1 1 ");
    CHECK(lowered("mul.f32 %f1, %f2, %f3;\nadd.rn.f32 %f4, %f1, %f5;\n") == "1 1 1 ");
    CHECK(lowered("mul.f32 %f1, %f2, %f3;\nadd.f32 %f4, %f1, %f5;\nadd.f32 %f6, %f1, %f5;\n") == "1 1 1 1 ");  // used twice
    CHECK(lowered("mul.f32 %f1, %f2, %f3;\nmul.f32 %f4, %f1, %f5;\n") == "1 1 1 ");
}

TEST_CASE("64-bit integers are several instructions") {
    CHECK(lowered("add.s64 %rd1, %rd2, %rd3;\nmul.lo.s64 %rd4, %rd1, %rd1;\nst.global.u64 [%rd4], %rd1;\n") == "2 4 1 1 ");
}

TEST_CASE("neighbouring words of shared memory are one load where the address is known to be aligned") {
    const std::string tile = ".shared .align 4 .b8 tile[4096];\n";
    const std::string loads =
        "ld.shared.u32 %r10, [%r3];\nld.shared.u32 %r11, [%r3+4];\nld.shared.u32 %r12, [%r3+8];\nld.shared.u32 %r13, "
        "[%r3+12];\n";
    const std::string row = "mov.u32 %r1, %tid.y;\nmov.u32 %r2, tile;\nshl.b32 %r4, %r1, 7;\nadd.s32 %r3, %r2, %r4;\n";
    CHECK(lowered(row + loads, tile) == "1 0 0 1 1 0 0 0 1 ");
    const std::string word = "mov.u32 %r1, %tid.y;\nmov.u32 %r2, tile;\nshl.b32 %r4, %r1, 2;\nadd.s32 %r3, %r2, %r4;\n";
    CHECK(lowered(word + loads, tile) == "1 0 0 1 1 1 1 1 1 ");
    const std::string apart = "ld.shared.u32 %r10, [%r3];\nst.shared.u32 [%r3], %r1;\nld.shared.u32 %r11, [%r3+4];\n";
    CHECK(lowered(row + apart, tile) == "1 0 0 1 1 1 1 1 ");
}

TEST_CASE("loads from global memory are moved up past stores to shared memory, to the first of them") {
    const auto marks = [](const std::string& body) {
        const auto program = program_of(body, ".shared .align 16 .b8 tile[4096];\n");
        std::string text;
        for (const Lowered& l : lower(*program)) text += (l.sets_mark == 2 ? "m" : l.from_mark == 2 ? "u" : "-");
        return text;
    };
    const std::string load = "ld.global.f32 %f1, [%rd1];\n", other = "ld.global.f32 %f2, [%rd2];\n";
    const std::string keep = "st.shared.f32 [%r1], %f1;\n";
    CHECK(marks(load + keep + other + keep) == "m-u--");
    CHECK(marks(load + "st.global.f32 [%rd3], %f1;\n" + other) == "m-m-");
    CHECK(marks(load + "bar.sync 0;\n" + other) == "m-m-");
    // Not past what its address is made of
    CHECK(marks("ld.global.u64 %rd2, [%rd1];\n" + other) == "mm-");
    CHECK(marks("ld.global.u64 %rd4, [%rd1];\nadd.s64 %rd2, %rd4, %rd3;\n" + other) == "m-m-");
    CHECK(marks(load + "add.s64 %rd2, %rd4, %rd3;\n" + other) == "m-u-");
    // As far as registers go: eight times 16 bytes
    std::string many;
    for (int i = 0; i < 9; ++i)
        many += "ld.global.v4.f32 {%f" + std::to_string(4 * i + 1) + ", %f" + std::to_string(4 * i + 2) + ", %f" +
                std::to_string(4 * i + 3) + ", %f" + std::to_string(4 * i + 4) + "}, [%rd1+" + std::to_string(16 * i) +
                "];\n";
    CHECK(marks(many) == "muuuuuuum-");
}

TEST_CASE("three operands of the register file's two banks take two cycles, and so do two of one bank") {
    const auto intervals = [](const std::string& body, const std::string& gpu = "a6000") {
        const auto program = program_of(body, ".shared .align 16 .b8 tile[4096];\n");
        std::string text;
        for (const Timing& t : make_timing(gpu_named(gpu).value(), *program))
            if (t.route == Route::math && !t.folded) text += std::to_string(t.interval);
        return text;
    };
    const std::string three = "fma.rn.f32 %f4, %f1, %f2, %f3;\n";
    CHECK(intervals(three) == "2");
    CHECK(intervals(three, "v100") == "2");  // which takes two cycles for the multiply-add itself
    CHECK(intervals(three, "p100") == "1");  // has four banks
    CHECK(intervals(three + "fma.rn.f32 %f6, %f1, %f2, %f5;\n") == "21");  // two of them are kept
    CHECK(intervals(three + "fma.rn.f32 %f6, %f2, %f1, %f5;\n") == "21");  // factors change places
    CHECK(intervals("fma.rn.f32 %f4, %f1, %f1, %f3;\n") == "1");
    CHECK(intervals("fma.rn.f32 %f4, %f1, 0f3F800000, %f3;\n") == "1");
    // The words of a wide load lie in turn in the two banks: with those of one bank an accumulator meets both, in turn
    const std::string words = "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r1];\n";
    CHECK(intervals(words + "add.f32 %f10, %f1, %f2;\n") == "1");
    CHECK(intervals(words + "add.f32 %f10, %f1, %f3;\n") == "2");
    CHECK(intervals(words + "fma.rn.f32 %f11, %f9, %f1, %f10;\nfma.rn.f32 %f12, %f9, %f2, %f11;\nfma.rn.f32 %f13, %f9, %f3, "
                            "%f12;\n") == "212");
}

TEST_CASE("a wait for the pipe is the dispatcher's where the register file is read for longer than the lanes take") {
    const auto throttles = [](const std::string& body, const std::string& gpu) {
        std::string text;
        for (const Timing& t : make_timing(gpu_named(gpu).value(), *program_of(body)))
            if (t.route == Route::math && !t.folded)
                text += t.throttle == StallReason::dispatch_stall       ? "d"
                        : t.throttle == StallReason::math_pipe_throttle ? "m"
                                                                        : "?";
        return text;
    };
    const std::string three = "fma.rn.f32 %f4, %f1, %f2, %f3;\n", two = "fma.rn.f32 %f4, %f1, %f1, %f3;\n";
    CHECK(throttles(three, "a6000") == "d");  // one cycle of the lanes, two of the banks
    CHECK(throttles(two, "a6000") == "m");
    CHECK(throttles(three, "v100") == "m");  // two and two
    CHECK(throttles(three, "p100") == "m");
}

TEST_CASE("what is folded runs, counts as PTX, and takes no issue slot") {
    const auto program = program_of(addresses);
    for (const bool run_ahead : {true, false}) {
        const Both both = run_both(*program, run_ahead);
        CHECK(both.folded.cycles < both.plain.cycles);
        CHECK(both.folded.warp_instructions == both.plain.warp_instructions);
        for (size_t pc = 0; pc < both.folded.instructions.size(); ++pc)
            CHECK(both.folded.instructions[pc].issues == both.plain.instructions[pc].issues);
        const KernelTrace& trace = both.folded.trace;
        const auto lower_each = lower(*program);
        size_t folded = 0;
        for (const WarpTrack& warp : trace.warps) {
            int64_t states = 0, issued = 0, last = -1;
            uint32_t next = 0;
            for (const StallRun& run : warp.runs) states += run.end - run.begin;
            for (const uint32_t index : warp.issues) {
                const IssueRecord& issue = trace.issues[index];
                CHECK(issue.pc == next++);  // every PTX instruction is there, in order
                if (issue.folded) {
                    CHECK(lower_each[issue.pc].instructions == 0);
                    CHECK(issue.cycle == last);
                    ++folded;
                } else {
                    CHECK(issue.cycle > last);
                    ++issued;
                }
                last = issue.cycle;
            }
            CHECK(next == program->instructions.size());
            CHECK(states + issued == warp.end - warp.begin);
        }
        CHECK(folded > 0);
        for (const IssueRecord& issue : both.plain.trace.issues) CHECK(!issue.folded);
    }
}

TEST_CASE("running ahead and step by step fold alike") {
    const auto program = program_of(addresses);
    const Both ahead = run_both(*program, true), behind = run_both(*program, false);
    CHECK(ahead.folded.cycles == behind.folded.cycles);
    REQUIRE(ahead.folded.trace.issues.size() == behind.folded.trace.issues.size());
    for (size_t i = 0; i < ahead.folded.trace.issues.size(); ++i) {
        const IssueRecord &a = ahead.folded.trace.issues[i], &b = behind.folded.trace.issues[i];
        CHECK(a.cycle == b.cycle);
        CHECK(a.ready == b.ready);
        CHECK(a.pc == b.pc);
        CHECK(a.folded == b.folded);
    }
}

TEST_CASE("an instruction's modifiers are its own, whatever else stands in its line") {
    const auto program = program_of(
        "div.approx.f32 %f1, %f2, %f3; div.rn.f32 %f4, %f2, %f3; // not .approx\n"
        "ld.global.f32 %f1, [%rd1]; ld.global.cg.f32 %f2, [%rd1];\n");
    const std::vector<Timing> table = make_timing(gpu_named("v100").value(), *program);
    CHECK(table[0].latency == 22);
    CHECK(table[1].latency == 39);
    CHECK(table[2].cache == CacheUse::normal);
    CHECK(table[3].cache == CacheUse::l2_only);
}

}  // namespace model_lowering_test
