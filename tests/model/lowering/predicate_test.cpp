// Short branches that ptxas turns into predicates, sequences that take more than one issue slot, integer multiply-adds
// beside FP32, and blocks that leave when their stores are there.
#include <algorithm>
#include <cstring>
#include <string>

#include "core/model/issue/timing.h"
#include "core/model/lowering/lowering.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/model/support.h"

namespace model_predicate_test {

using namespace lockstep;
using namespace lockstep::model;

namespace {

std::shared_ptr<const ptx::Program> kernel(const std::string& body) {
    return ptx::decode(
               ptx::parse(
                   ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
                   ".reg .pred %p<9>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .f64 %d<9>; .reg .b64 %rd<40>;\n"
                   ".shared .align 16 .b8 tile[4096];\n" +
                       body + "ret;\n}\n",
                   "k.ptx")
                   .value(),
               "k")
        .value();
}

TimedResult run(const ptx::Program& program, uint32_t n, uint32_t blocks = 1, uint32_t threads = 64,
                const std::string& gpu = "v100") {
    simt::Memory memory;
    const uint64_t data = memory.allocate(1 << 20, "data");
    simt::LaunchConfig config;
    config.grid = {blocks, 1, 1};
    config.block = {threads, 1, 1};
    config.parameters.resize(program.parameter_bytes);
    std::memcpy(config.parameters.data(), &data, 8);
    std::memcpy(config.parameters.data() + 8, &n, 4);
    TimedResult result = launch(gpu_named(gpu).value(), program, config, memory, {});
    REQUIRE(!result.fault);
    return result;
}

const std::string begin =
    "ld.param.u64 %rd1, [p];\nld.param.u32 %r9, [n];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
    "add.s64 %rd3, %rd1, %rd2;\nmov.f32 %f1, 0f00000000;\nmov.f32 %f9, 0f3F800000;\n";
const std::string end = "st.global.f32 [%rd3], %f1;\n";

// if (tid + k < n) x = data[tid + k * 1024]; sum += x
std::string guarded_load(int k, bool guarded) {
    const std::string at = std::to_string(k), word = std::to_string(4096 * k);
    if (!guarded) return "ld.global.f32 %f2, [%rd3+" + word + "];\nadd.f32 %f1, %f1, %f2;\n";
    return "add.s32 %r2, %r1, " + at + ";\nsetp.lt.s32 %p1, %r2, %r9;\n@%p1 bra TAKE" + at + ";\nbra.uni ZERO" + at +
           ";\nTAKE" + at + ":\nld.global.f32 %f2, [%rd3+" + word + "];\nbra.uni JOIN" + at + ";\nZERO" + at +
           ":\nmov.f32 %f2, 0f00000000;\nJOIN" + at + ":\nadd.f32 %f1, %f1, %f2;\n";
}
std::string loads(bool guarded) {
    std::string text = begin;
    for (int k = 0; k < 8; ++k) text += guarded_load(k, guarded);
    return text + end;
}

// `count` dependent multiply-adds behind a guard.
std::string region(int count, const std::string& more = "") {
    std::string text = begin + "setp.ge.s32 %p1, %r1, %r9;\n@%p1 bra JOIN;\n" + more;
    for (int k = 0; k < count; ++k) text += "fma.rn.f32 %f1, %f1, %f9, %f9;\n";
    return text + "JOIN:\nadd.f32 %f1, %f1, %f9;\n" + end;
}
uint32_t decisions(const std::string& body) {
    uint32_t count = 0;
    for (const Lowered& each : lower(*kernel(body))) count += each.predicated == Predicated::decides ? 1 : 0;
    return count;
}
bool converted(const std::string& body) {
    return decisions(body) != 0;
}

}  // namespace

TEST_CASE("a short side of a branch becomes predicated instructions, as long as ptxas does it") {
    CHECK(converted(region(1)));
    CHECK(converted(region(18)));
    CHECK_FALSE(converted(region(19)));
    CHECK(converted(region(6, "st.global.f32 [%rd3+4096], %f9;\n")));
    CHECK_FALSE(converted(region(8, "st.global.f32 [%rd3+4096], %f9;\n")));
    CHECK_FALSE(converted(region(1, "atom.global.add.u32 %r3, [%rd3], 1;\n")));
    CHECK_FALSE(converted(region(1, "bar.sync 0;\n")));
    CHECK_FALSE(converted(region(1, "div.rn.f32 %f1, %f9, %f9;\n")));
    // Of one within another the inner one.
    CHECK(decisions(region(1, "setp.gt.s32 %p2, %r1, 7;\n@%p2 bra JOIN;\nadd.s32 %r3, %r1, 1;\n")) == 1);
    // Both sides
    const auto both = [](int one, int other) {
        std::string text = begin + "setp.ge.s32 %p1, %r1, %r9;\n@%p1 bra OTHER;\n";
        for (int k = 0; k < one; ++k) text += "fma.rn.f32 %f1, %f1, %f9, %f9;\n";
        text += "bra.uni JOIN;\nOTHER:\n";
        for (int k = 0; k < other; ++k) text += "fma.rn.f32 %f1, %f9, %f1, %f9;\n";
        return text + "JOIN:\nadd.f32 %f1, %f1, %f9;\n" + end;
    };
    CHECK(converted(both(6, 6)));
    CHECK_FALSE(converted(both(7, 6)));
    // The end of the kernel is an exit, not a predicate; a loop stays one.
    CHECK_FALSE(converted(begin + "setp.ge.s32 %p1, %r1, %r9;\n@%p1 bra DONE;\nst.global.f32 [%rd3], %f9;\nDONE:\n"));
    CHECK_FALSE(converted(begin + "LOOP:\nadd.s32 %r9, %r9, -1;\nsetp.gt.s32 %p1, %r9, 0;\n@%p1 bra LOOP;\n" + end));
}

TEST_CASE("guarded loads are under way together, as plain ones are") {
    const auto plain = kernel(loads(false)), guarded = kernel(loads(true));
    for (const char* gpu : {"v100", "a100", "rtx3090", "h100"}) {
        const int64_t with = run(*guarded, 1 << 20, 1, 64, gpu).cycles, without = run(*plain, 0, 1, 64, gpu).cycles;
        INFO(gpu << ": " << with << " cycles with guards, " << without << " without");
        CHECK(with < without * 5 / 4);
    }
}

TEST_CASE("a warp that skips a predicated side gives it a slot an instruction") {
    const auto program = kernel(region(16));
    const TimedResult skips = run(*program, 0, 1, 32), takes = run(*program, 32, 1, 32), split = run(*program, 16, 1, 32);
    const auto longest = [](const TimedResult& result) {
        int64_t cycles = 0;
        for (const WarpTrack& warp : result.trace.warps)
            for (const StallRun& run : warp.runs)
                if (run.reason == StallReason::branch_resolving) cycles = std::max(cycles, run.end - run.begin);
        return cycles;
    };
    CHECK(longest(skips) == 16);
    CHECK(longest(takes) == 0);
    CHECK(longest(split) == 0);
    // Other warps have to wait for those slots: eight warps a scheduler, sixteen slots each.
    const TimedResult many = run(*program, 0, 1, 1024);
    const auto few = kernel(region(2));
    CHECK(many.cycles >= run(*few, 0, 1, 1024).cycles + 14 * 4);
    // What does nothing is counted nowhere else.
    CHECK(skips.warp_instructions + 16 == takes.warp_instructions);
}

TEST_CASE("a division takes the slots of its machine instructions where there is other work") {
    const auto work = [](int divisions) {
        std::string text = begin + "cvt.rn.f64.u32 %d1, %r1;\nadd.f64 %d1, %d1, 0d3FF0000000000000;\n";
        for (int k = 0; k < divisions; ++k) text += "div.rn.f64 %d2, %d1, %d1;\n";
        for (int k = 0; k < 64; ++k) text += "add.s32 %r3, %r1, " + std::to_string(k) + ";\n";
        return kernel(text + "cvt.rn.f32.f64 %f1, %d2;\n" + end);
    };
    uint32_t slots = 0;
    const auto program = work(1);
    for (uint32_t pc = 0; pc < program->instructions.size(); ++pc)
        if (program->instructions[pc].opcode->name == "div")
            slots = make_timing(gpu_named("v100").value(), *program)[pc].more_slots;
    CHECK(slots == 15);
    // Where nobody else wants them, they cost nothing.
    CHECK(run(*work(1), 0, 1, 32).cycles < run(*work(0), 0, 1, 32).cycles + 200);
}

TEST_CASE("integer multiply-adds have the half of the FP32 lanes to themselves where there are twice as many") {
    const auto program = kernel(begin + "mad.lo.s32 %r2, %r1, %r1, %r9;\nfma.rn.f32 %f1, %f1, %f9, %f9;\n" + end);
    const auto pipe_of = [&](const std::string& gpu, std::string_view name) {
        for (uint32_t pc = 0; pc < program->instructions.size(); ++pc)
            if (program->instructions[pc].opcode->name == name) return make_timing(gpu_named(gpu).value(), *program)[pc];
        return Timing{};
    };
    for (const char* gpu : {"rtx3090", "a6000", "rtx4090", "h100", "h200"}) {
        CHECK(pipe_of(gpu, "mad").pipe == heavy_pipe);
        CHECK(pipe_of(gpu, "mad").interval == 2);  // 64 results a cycle and SM
        CHECK(pipe_of(gpu, "fma").pipe != heavy_pipe);
        CHECK(unit_of(heavy_pipe) == unit_of(pipe_of(gpu, "fma").pipe));
    }
    for (const char* gpu : {"v100", "a100"}) CHECK(pipe_of(gpu, "mad").pipe == pipe_of(gpu, "fma").pipe);
}

TEST_CASE("a block leaves when its last store is at L2, and a fence takes its time") {
    const auto program = kernel(begin + end);
    const GpuSpec gpu = gpu_named("v100").value();
    const TimedResult result = run(*program, 0, 1, 32);
    for (const WarpTrack& warp : result.trace.warps)
        for (const uint32_t i : warp.issues) {
            const IssueRecord& issue = result.trace.issues[i];
            if (program->instructions[issue.pc].kind != ptx::Kind::store) continue;
            CHECK(warp.end >= issue.cycle + store_way(gpu));
            CHECK(warp.end <= issue.cycle + gpu.l2_latency);
        }
    CHECK(store_way(gpu_named("teaching").value()) == 0);
    const auto fences = [](const std::string& scope, int count) {
        std::string text = begin;
        for (int k = 0; k < count; ++k) text += "membar." + scope + ";\n";
        return kernel(text + end);
    };
    const int64_t cta = run(*fences("cta", 5), 0, 1, 32).cycles, one = run(*fences("gl", 1), 0, 1, 32).cycles,
                  five = run(*fences("gl", 5), 0, 1, 32).cycles;
    CHECK(five - one == 4 * gpu.fence_latency);
    CHECK(cta < one);
}

}  // namespace model_predicate_test
