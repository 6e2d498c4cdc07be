// Loads that ptxas moves up: under way together, with their turn at L2 and DRAM from where they are moved to, and never more
// of them than the memory can bring.
#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "core/model/issue/timing.h"
#include "core/model/lowering/lowering.h"
#include "core/model/memory/turn.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/model/support.h"

namespace model_early_test {

using namespace lockstep;
using namespace lockstep::model;

namespace {

std::shared_ptr<const ptx::Program> kernel(const std::string& body) {
    return ptx::decode(
               ptx::parse(".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                          ".reg .pred %p<9>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .f64 %fd<9>; .reg .b64 %rd<40>;\n" +
                              body + "ret;\n}\n",
                          "k.ptx")
                   .value(),
               "k")
        .value();
}

// The thread's own word, and `stride` behind it the next one.
const std::string own_word =
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
    "mad.lo.s32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\nmov.f32 %f1, 0f00000000;\n";

TimedResult run(const ptx::Program& program, uint32_t blocks, uint64_t bytes, const std::string& gpu = "v100",
                const TimedOptions& options = {}) {
    simt::Memory memory;
    const uint64_t data = memory.allocate(bytes, "data");
    simt::LaunchConfig config;
    config.grid = {blocks, 1, 1};
    config.block = {256, 1, 1};
    config.parameters.resize(program.parameter_bytes);
    std::memcpy(config.parameters.data(), &data, 8);
    TimedResult result = launch(gpu_named(gpu).value(), program, config, memory, options);
    REQUIRE(!result.fault);
    return result;
}

double share_of_dram(const ptx::Program& program, const TimedResult& result) {
    return metric_of(program, result, "dram_utilization").value();
}

constexpr uint32_t threads = 640 * 256;

}  // namespace

TEST_CASE("a request that counts as issued earlier is served in time that was idle, and behind others where none was") {
    Turn turn;
    CHECK(turn.take(1000, 10) == 1000);
    CHECK(turn.take(1100, 10, 100) == 1000);  // idle from 1010 to 1100
    for (int i = 0; i < 5; ++i) turn.take(1100, 10);
    CHECK(turn.take(1100, 10, 50) == 1050);  // of what was idle before
    Turn busy;
    for (int i = 0; i < 20; ++i) CHECK(busy.take(0, 10) == 10 * i);
    CHECK(busy.take(50, 10, 50) == 200);
}

TEST_CASE("however many loads ptxas moves together, DRAM brings no more than its peak") {
    std::string loads = own_word;
    for (int k = 0; k < 8; ++k)
        loads += "ld.global.f32 %f2, [%rd3+" + std::to_string(4 * k * int{threads}) + "];\nadd.f32 %f1, %f1, %f2;\n";
    const auto program = kernel(loads + "st.global.f32 [%rd3], %f1;\n");
    for (const char* name : {"v100", "h100"}) {
        const TimedResult result = run(*program, 640, uint64_t{4} * 8 * threads, name);
        const double share = share_of_dram(*program, result);
        INFO(name << ": " << share << " % in " << result.cycles << " cycles");
        CHECK(share <= 100);
        CHECK(share > 40);  // a short launch: a third of it is its first and its last reads
    }
}

TEST_CASE("the trace says since when a load is under way that ptxas moves up") {
    const auto program = kernel(own_word +
                                "ld.global.f32 %f2, [%rd3];\nadd.f32 %f1, %f1, %f2;\nld.global.f32 %f3, [%rd3+4096];\n"
                                "add.f32 %f1, %f1, %f3;\nst.global.f32 [%rd3], %f1;\n");
    const TimedResult result = run(*program, 1, 65536);
    const GpuSpec gpu = gpu_named("v100").value();
    size_t early = 0;
    for (const IssueRecord& issue : result.trace.issues) {
        if (program->instructions[issue.pc].kind != ptx::Kind::load || issue.level != MemoryLevel::dram) continue;
        CHECK(issue.ready - issue.sent() >= gpu.dram_latency);
        early += issue.early != 0 ? 1 : 0;
    }
    CHECK(early == 8);  // the second load of each warp
}

namespace {
// n rounds of one load each; `label` stands in front of the loop.
std::string loop(const std::string& label, const std::string& address) {
    return own_word + "mov.u32 %r5, 64;\n" + label + "ld.global.f32 %f2, [%rd3];\n" + address +
           "add.f32 %f1, %f1, %f2;\nadd.s32 %r5, %r5, -1;\nsetp.ne.s32 %p1, %r5, 0;\n@%p1 bra LOOP;\n"
           "st.global.f32 [%rd1], %f1;\n";
}
uint32_t rounds(const ptx::Program& program) {
    uint32_t most = 1;
    for (const Lowered& each : lower(program)) most = std::max<uint32_t>(most, each.rounds);
    return most;
}
}  // namespace

TEST_CASE("whether a loop is unrolled and how many words are under way, its own kernel says") {
    const std::string body = loop("LOOP:\n", "add.s64 %rd3, %rd3, 4096;\n");
    const auto one_line = [](std::string text) {
        std::replace(text.begin(), text.end(), '\n', ' ');
        return text;
    };
    CHECK(rounds(*kernel(loop("LOOP: // no \"nounroll\" here\n", "add.s64 %rd3, %rd3, 4096;\n"))) == 4);
    CHECK(rounds(*kernel(one_line(body))) == 4);
    CHECK(rounds(*kernel(one_line(loop("LOOP: .pragma \"nounroll\"; ", "add.s64 %rd3, %rd3, 4096;\n")))) == 1);
    CHECK(rounds(*kernel(".pragma \"nounroll\"; mov.u32 %r9, 0;\n" + body)) == 4);  // that of another instruction
    // In front of a kernel's body or anywhere in the module it is for all loops.
    const auto module = [&](const std::string& head, const std::string& attribute, const std::string& tail = "") {
        const std::string text = head + ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)" +
                                 attribute +
                                 "\n{\n.reg .pred %p<9>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %rd<40>;\n" + body +
                                 "ret;\n}\n.visible .entry other() { ret; }\n" + tail;
        return ptx::decode(ptx::parse(text, "k.ptx").value(), "k").value();
    };
    CHECK(rounds(*module("", "")) == 4);
    CHECK(rounds(*module("", " .pragma \"nounroll\";")) == 1);
    CHECK(rounds(*module("", " .pragma \"enable_smem_spilling\";")) == 4);
    CHECK(rounds(*module("", "", ".pragma \"nounroll\";\n")) == 1);
    // Few registers leave room for few words; those of another kernel do not count.
    CHECK(rounds(*module("// registers k 14\n", "")) == 2);
    CHECK(rounds(*module("// registers other 14\n", "")) == 4);
}

// Tried with ptxas of CUDA 13 for sm_75, sm_80 and sm_90: loads in a row in the machine code.
TEST_CASE("a loop is unrolled where its counter steps by a constant, and not where the launch says by how much") {
    const auto counting = [](const std::string& step, const std::string& compare) {
        return rounds(*kernel(own_word +
                              "mov.u32 %r5, %tid.x;\nmov.u32 %r6, %ntid.x;\nLOOP:\n"
                              "ld.global.f32 %f2, [%rd3];\nadd.s64 %rd3, %rd3, 4096;\nadd.f32 %f1, %f1, %f2;\n" +
                              step + compare + "@%p1 bra LOOP;\nst.global.f32 [%rd1], %f1;\n"));
    };
    CHECK(counting("add.s32 %r5, %r5, 256;\n", "setp.lt.s32 %p1, %r5, %r6;\n") == 4);
    CHECK(counting("add.s32 %r5, %r5, -4;\n", "setp.ne.s32 %p1, %r5, 0;\n") == 4);
    CHECK(counting("add.s32 %r5, %r5, 1;\n", "setp.gt.s32 %p1, %r6, %r5;\n") == 4);
    CHECK(counting("add.s32 %r7, %r5, 8;\nmov.u32 %r5, %r7;\n", "setp.lt.u32 %p1, %r7, %r6;\n") == 4);
    CHECK(counting("add.s32 %r5, %r5, %r6;\n", "setp.lt.s32 %p1, %r5, 4096;\n") == 1);
    CHECK(counting("shr.u32 %r5, %r5, 1;\n", "setp.ne.s32 %p1, %r5, 0;\n") == 1);
}

TEST_CASE("four rounds of a short loop have their loads under way together, as ptxas unrolls it") {
    const auto plain = kernel(loop("LOOP:\n", "add.s64 %rd3, %rd3, 4096;\n"));
    const auto rolled = kernel(loop("LOOP:\n.pragma \"nounroll\";\n", "add.s64 %rd3, %rd3, 4096;\n"));
    CHECK(rounds(*plain) == 4);
    CHECK(rounds(*rolled) == 1);
    // The next address comes out of memory, and whether there is a next round does.
    CHECK(rounds(*kernel(loop("LOOP:\n", "cvt.rzi.u64.f32 %rd4, %f2;\nadd.s64 %rd3, %rd3, %rd4;\n"))) == 1);
    CHECK(rounds(*kernel(own_word + "LOOP:\nld.global.f32 %f2, [%rd3];\nadd.s64 %rd3, %rd3, 4;\n"
                                    "setp.gt.f32 %p1, %f2, 0f00000000;\n@%p1 bra LOOP;\n")) == 1);
    // A store keeps the loads of the next round behind it.
    CHECK(rounds(*kernel(loop("LOOP:\n", "st.global.f32 [%rd3], %f2;\nadd.s64 %rd3, %rd3, 4096;\n"))) == 1);
    const TimedResult fast = run(*plain, 1, 1 << 20), slow = run(*rolled, 1, 1 << 20);
    CHECK(slow.warp_instructions == fast.warp_instructions);
    CHECK(slow.cycles > 64 * 425);
    CHECK(fast.cycles < slow.cycles / 3);
    CHECK(fast.cycles > 16 * 425);
    TimedOptions step_by_step;
    step_by_step.run_ahead = false;
    CHECK(run(*plain, 1, 1 << 20, "v100", step_by_step).cycles == fast.cycles);
}

TEST_CASE("scattered loads with a store behind them keep DRAM busy over many waves") {
    const auto scattered = [](bool store) {
        return kernel(own_word + "mul.wide.u32 %rd4, %r4, 128;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.f32 %f2, [%rd5];\n" +
                      (store ? "st.global.f32 [%rd3], %f2;\n"
                             : "setp.eq.f32 %p1, %f2, 0f7f800000;\n@%p1 st.global.f32 [%rd3], %f2;\n"));
    };
    constexpr uint32_t blocks = 2048;
    const TimedResult with = run(*scattered(true), blocks, uint64_t{128} * blocks * 256),
                      without = run(*scattered(false), blocks, uint64_t{128} * blocks * 256);
    INFO(with.cycles << " cycles with stores, " << without.cycles << " without");
    CHECK(static_cast<double>(with.cycles) < 1.25 * static_cast<double>(without.cycles));
}

TEST_CASE("a division of doubles takes as long as its multiply-adds on boards with few FP64 lanes") {
    const auto program =
        kernel(own_word +
               "mov.f64 %fd1, 0d3FF0000000000000;\nmov.f64 %fd2, 0d4000000000000000;\ndiv.rn.f64 %fd3, %fd1, %fd2;\n"
               "fma.rn.f64 %fd4, %fd3, %fd1, %fd2;\nsetp.gt.f64 %p1, %fd4, %fd2;\n@%p1 st.global.f64 [%rd1], %fd4;\n");
    for (const char* name : {"v100", "a100", "rtx4090", "jetson-nano"}) {
        const GpuSpec gpu = gpu_named(name).value();
        uint32_t division = 0, sum = 0, comparison = 0;
        const std::vector<Timing> table = make_timing(gpu, *program);
        for (size_t pc = 0; pc < table.size(); ++pc) {
            const std::string_view op = program->instructions[pc].opcode ? program->instructions[pc].opcode->name : "";
            if (op == "div") division = table[pc].interval;
            if (op == "fma") sum = table[pc].interval;
            if (op == "setp") comparison = table[pc].interval;
        }
        INFO(name);
        CHECK(division >= 8 * sum);
        CHECK(comparison == sum);
    }
}

TEST_CASE("who waits for a constant that no cache has yet says so, and who waits for one at hand does not") {
    const auto program =
        ptx::decode(ptx::parse(".version 7.0\n.target sm_75\n.address_size 64\n.const .f32 c[4096] = {1};\n.visible .entry "
                               "k(.param .u64 p)\n{\n"
                               ".reg .f32 %f<9>; .reg .b64 %rd<9>;\nld.param.u64 %rd1, [p];\nld.const.f32 %f1, [c];\n"
                               "add.f32 %f2, %f1, %f1;\nld.const.f32 %f3, [c+4];\nadd.f32 %f4, %f3, %f2;\nst.global.f32 "
                               "[%rd1], %f4;\nret;\n}\n",
                               "k.ptx")
                        .value(),
                    "k")
            .value();
    const TimedResult result = run(*program, 1, 4096);
    std::map<uint32_t, int64_t> waited;  // in front of each instruction, for constants
    for (const WarpTrack& warp : result.trace.warps)
        for (const StallRun& stall : warp.runs)
            if (stall.reason == StallReason::imc_miss) waited[stall.pc] += stall.end - stall.begin;
    REQUIRE(waited.size() == 1);
    CHECK(waited.begin()->second > 8 * 150);
    CHECK(program->instructions[waited.begin()->first].opcode->name == "add");
}

TEST_CASE("what becomes of tens of thousands of loops, or of values that hang on one another, is known at once") {
    std::string loops = own_word, chain = own_word + "mov.u32 %r9, 0;\n";
    for (int i = 0; i < 20000; ++i)
        loops += "L" + std::to_string(i) +
                 ":\nld.global.f32 %f2, [%rd3];\nadd.s64 %rd3, %rd3, 4;\nsetp.eq.s64 %p1, %rd3, 0;\n@%p1 bra L" +
                 std::to_string(i) + ";\n";
    const std::vector<Lowered> of_loops = lower(*kernel(loops));
    CHECK(std::count_if(of_loops.begin(), of_loops.end(), [](const Lowered& each) { return each.rounds == 4; }) == 20000);
    // Each value is made of the next one's, in a loop around them all; the last is a thread's own.
    chain += "LOOP:\n";
    for (int i = 10; i < 39; ++i) chain += "add.s32 %r" + std::to_string(i) + ", %r" + std::to_string(i + 1) + ", 1;\n";
    chain += "mov.u32 %r39, %tid.x;\nsetp.eq.s32 %p1, %r10, 7;\n@%p1 bra LOOP;\natom.global.add.u32 %r8, [%rd1], %r10;\n";
    for (const Lowered& each : lower(*kernel(chain))) CHECK(!each.one_operand);
}

}  // namespace model_early_test
