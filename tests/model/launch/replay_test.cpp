// Time travel: a launch that was put by and restored goes on as if nothing had been; a replay shows any cycle and any SM as
// they were; checkpoints keep within their budget. Kernels with divergence, barriers, atomics whose results depend on the
// order, shared memory, asynchronous copies, mbarriers, calls and clusters.
#include "core/model/launch/replay.h"

#include <algorithm>
#include <set>

#include "core/base/rng.h"
#include "core/model/launch/machine.h"
#include "core/model/memory/memory_system.h"
#include "core/trace/text.h"
#include "tests/catch.h"
#include "tests/model/support.h"
#include "tests/simt/text.h"

namespace model_replay_test {

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;
using simt::test::config_of;
using simt::test::text_kernel;
using simt::test::text_program;

namespace {

const std::string index_of_thread = R"(
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
mad.lo.u32 %r4, %r2, %r3, %r1;
ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];
mul.wide.u32 %rd3, %r4, 4;
add.u64 %rd4, %rd1, %rd3;
add.u64 %rd5, %rd2, %rd3;
)";

// Loops of different lengths, two ways through an if, a barrier, tickets in the order of arrival.
const std::string mixed = R"(
.shared .align 4 .b8 tile[1024];
)" + index_of_thread + R"(
and.b32 %r5, %r4, 7; mov.u32 %r6, 0;
again:
ld.global.u32 %r7, [%rd4];
add.u32 %r6, %r6, %r7;
add.u64 %rd4, %rd4, 128;
sub.u32 %r5, %r5, 1;
setp.ge.s32 %p1, %r5, 0;
@%p1 bra again;
and.b32 %r8, %r1, 1;
setp.eq.u32 %p2, %r8, 0;
@%p2 bra even;
mul.lo.u32 %r6, %r6, 3;
bra joined;
even:
cvt.rn.f32.u32 %f1, %r6; rcp.approx.f32 %f2, %f1; cvt.rzi.u32.f32 %r9, %f2;
add.u32 %r6, %r6, %r9;
joined:
mov.u32 %r10, tile; mad.lo.u32 %r11, %r1, 4, %r10;
st.shared.u32 [%r11], %r6;
bar.sync 0;
xor.b32 %r12, %r1, 31; mad.lo.u32 %r13, %r12, 4, %r10;
ld.shared.u32 %r14, [%r13];
atom.global.add.u32 %r15, [%rd2], 1;
atom.shared.add.u32 %r16, [tile], 1;
mad.lo.u32 %r14, %r15, 1000, %r14;
add.u32 %r14, %r14, %r16;
st.global.u32 [%rd5+128], %r14;
)";

// Tiles that arrive while others are read, then an mbarrier that all threads meet at.
const std::string asynchronous = R"(
.shared .align 16 .b8 tile[1024];
.shared .align 8 .b64 meet;
)" + index_of_thread + R"(
mov.u32 %r20, meet;
setp.eq.u32 %p3, %r1, 0;
@%p3 mbarrier.init.shared.b64 [%r20], 64;
bar.sync 0;
mov.u32 %r10, tile; mad.lo.u32 %r11, %r1, 4, %r10; mov.u32 %r5, 0; mov.u32 %r6, 0;
again:
and.b32 %r7, %r5, 1; mad.lo.u32 %r8, %r7, 256, %r11;
cp.async.ca.shared.global [%r8], [%rd4], 4;
cp.async.commit_group;
cp.async.wait_group 1;
bar.sync 0;
ld.shared.u32 %r9, [%r11];
mad.lo.u32 %r6, %r6, 5, %r9;
add.u64 %rd4, %rd4, 256;
add.u32 %r5, %r5, 1;
setp.lt.u32 %p1, %r5, 6;
@%p1 bra again;
cp.async.wait_all;
mbarrier.arrive.shared.b64 %rd10, [%r20];
wait:
mbarrier.try_wait.shared.b64 %p2, [%r20], %rd10;
@!%p2 bra wait;
xor.b32 %r12, %r1, 63; mad.lo.u32 %r13, %r12, 4, %r10;
ld.shared.u32 %r14, [%r13];
add.u32 %r14, %r14, %r6;
st.global.u32 [%rd5+128], %r14;
)";

// Blocks of a cluster add to a counter of the first of them; who came when decides what they store.
const std::string clusters = R"(
.shared .align 4 .b32 counter;
)" + index_of_thread + R"(
mov.u32 %r10, counter; mov.u32 %r11, 0;
mapa.shared::cluster.u32 %r12, %r10, %r11;
mov.u32 %r5, 0;
again:
atom.shared::cluster.add.u32 %r13, [%r12], %r1;
ld.global.u32 %r14, [%rd4];
add.u32 %r15, %r13, %r14;
st.global.u32 [%rd5+128], %r15;
add.u32 %r5, %r5, 1;
setp.lt.u32 %p1, %r5, 4;
@%p1 bra again;
barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
ld.shared::cluster.u32 %r16, [%r12];
add.u32 %r15, %r15, %r16;
st.global.u32 [%rd5+128], %r15;
barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
)";

// A function that calls itself, with arrays of its own.
const std::string function = R"(
.func (.param .b32 out) down(.param .b32 in)
{
.reg .b32 %a<8>; .reg .pred %q<2>;
.local .align 4 .b8 depot[16];
ld.param.u32 %a1, [in];
st.local.u32 [depot+4], %a1;
mov.u32 %a2, 1;
setp.eq.u32 %q1, %a1, 0;
@%q1 bra done;
sub.u32 %a3, %a1, 1;
{ .param .b32 x; .param .b32 y; st.param.b32 [x], %a3; call.uni (y), down, (x); ld.param.b32 %a2, [y]; }
ld.local.u32 %a4, [depot+4];
mad.lo.u32 %a2, %a2, 3, %a4;
done:
st.param.b32 [out], %a2;
ret;
}
)";
const std::string calls = index_of_thread + R"(
and.b32 %r5, %r1, 3;
{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r5; call.uni (y), down, (x); ld.param.b32 %r6, [y]; }
ld.global.u32 %r7, [%rd4];
add.u32 %r6, %r6, %r7;
st.global.u32 [%rd5+128], %r6;
)";

// Two barriers of the grid, as cooperative groups make them; between them blocks read what others wrote.
const std::string grids = index_of_thread + R"(
mov.u32 %r20, %envreg1; mov.u32 %r21, %envreg2; mov.b64 %rd20, {%r21, %r20};
setp.eq.u64 %p4, %rd20, 0;
@%p4 trap;
mov.u32 %r22, %nctaid.x; sub.u32 %r22, 0x80000001, %r22;
setp.ne.u32 %p3, %r2, 0;
selp.b32 %r22, 1, %r22, %p3;
mov.u32 %r5, 0;
again:
ld.volatile.global.u32 %r6, [%rd4];
ld.volatile.global.u32 %r7, [%rd5+256];
mad.lo.u32 %r6, %r6, 3, %r7;
st.volatile.global.u32 [%rd5], %r6;
bar.sync 0;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra meet;
membar.gl;
atom.global.add.u32 %r8, [%rd20+4], %r22;
wait: ld.acquire.gpu.u32 %r9, [%rd20+4];
xor.b32 %r9, %r9, %r8;
setp.ge.s32 %p2, %r9, 0;
@%p2 bra wait;
meet: bar.sync 0;
add.u32 %r5, %r5, 1;
setp.lt.u32 %p1, %r5, 3;
@%p1 bra again;
)";

constexpr size_t words = 4096;

struct Case {
    std::string name, gpu;
    std::shared_ptr<const ptx::Program> program;
    simt::LaunchConfig config;
    simt::Memory memory;
    uint64_t in = 0, out = 0;

    Case(std::string name_of_case, std::string gpu_name, const std::string& body, simt::Dim3 grid, simt::Dim3 block,
         simt::Dim3 cluster = {}, const std::string& module = "")
        : name(std::move(name_of_case)), gpu(std::move(gpu_name)), program(text_program(text_kernel(body, 2, "", module))) {
        std::vector<uint32_t> numbers(words);
        Rng rng(7);
        for (uint32_t& number : numbers) number = static_cast<uint32_t>(rng.below(1000));
        in = simt::test::put(memory, numbers, "in");
        out = memory.allocate(words * 4, "out");
        config = config_of(grid, block, {in, out});
        config.cluster = cluster;
    }
    std::vector<uint32_t> output(const simt::Memory& of) const { return simt::test::read_back<uint32_t>(of, out, words); }
};

std::vector<Case> cases() {
    std::vector<Case> all;
    all.emplace_back("mixed", "teaching:2", mixed, simt::Dim3{9}, simt::Dim3{96});
    all.emplace_back("mixed", "p100", mixed, simt::Dim3{12}, simt::Dim3{64});
    all.emplace_back("asynchronous", "a100", asynchronous, simt::Dim3{6}, simt::Dim3{64});
    all.emplace_back("clusters", "h100", clusters, simt::Dim3{8}, simt::Dim3{64}, simt::Dim3{4});
    all.emplace_back("clusters", "teaching:2", clusters, simt::Dim3{24}, simt::Dim3{64}, simt::Dim3{2});
    all.emplace_back("grids", "teaching:2", grids, simt::Dim3{8}, simt::Dim3{64});
    all.emplace_back("grids", "v100", grids, simt::Dim3{40}, simt::Dim3{64});
    all.emplace_back("calls", "teaching:2", calls, simt::Dim3{9}, simt::Dim3{96}, simt::Dim3{}, function);
    return all;
}

void same(const TimedResult& a, const TimedResult& b) {
    CHECK(a.cycles == b.cycles);
    CHECK(a.warp_instructions == b.warp_instructions);
    CHECK(a.thread_instructions == b.thread_instructions);
    CHECK_FALSE(a.fault);
    CHECK_FALSE(b.fault);
    REQUIRE(a.metrics.size() == b.metrics.size());
    for (size_t i = 0; i < a.metrics.size(); ++i) {
        INFO(a.metrics[i].name);
        CHECK(a.metrics[i].value == b.metrics[i].value);
    }
    REQUIRE(a.instructions.size() == b.instructions.size());
    for (size_t i = 0; i < a.instructions.size(); ++i) {
        CHECK(a.instructions[i].issues == b.instructions[i].issues);
        CHECK(a.instructions[i].l2_hits == b.instructions[i].l2_hits);
        CHECK(std::equal(std::begin(a.instructions[i].stalls), std::end(a.instructions[i].stalls),
                         std::begin(b.instructions[i].stalls)));
    }
}

std::shared_ptr<const KernelRun> run_of(const Case& c, const TimedOptions& options) {
    auto run = std::make_shared<KernelRun>();
    run->gpu = gpu(c.gpu);
    run->program = c.program;
    run->config = c.config;
    auto before = std::make_shared<simt::Memory>(c.memory);
    run->before = before;
    simt::Memory memory = c.memory;
    run->result = launch(run->gpu, *run->program, run->config, memory, options);
    return run;
}

std::string text_of(const KernelTrace& trace) {
    std::string text = format_text(trace, SIZE_MAX);
    for (const WarpTrack& warp : trace.warps) text += std::to_string(warp.issued_before) + " ";
    return text;
}

}  // namespace

TEST_CASE("a launch that is put by at any cycle and restored goes on as if nothing had been") {
    Rng rng(11);
    TimedOptions options;
    options.trace = false;
    for (const Case& c : cases()) {
        INFO(c.name << " on " << c.gpu);
        const GpuSpec on = gpu(c.gpu);
        simt::Memory straight = c.memory;
        const TimedResult whole = launch(on, *c.program, c.config, straight, options);
        REQUIRE_FALSE(whole.fault);
        REQUIRE(c.output(straight) != c.output(c.memory));
        for (int round = 0; round < 6; ++round) {
            const auto cycle = static_cast<int64_t>(rng.below(static_cast<uint64_t>(whole.cycles)));
            const auto count = std::make_shared<std::atomic<uint64_t>>(0);
            simt::Memory first = c.memory, second = c.memory;
            Machine machine(on, *c.program, c.config, first, options);
            machine.run_until(cycle / 2);
            const auto half = machine.save(nullptr, count);
            machine.run_until(cycle);
            const auto checkpoint = machine.save(half.get(), count);
            CHECK(checkpoint->latest <= cycle);
            CHECK(checkpoint->begin >= cycle);
            machine.run_until(cycle + 200);
            machine.restore(*checkpoint);  // the same machine goes back
            machine.run_until(never);
            same(machine.finish(), whole);
            CHECK(c.output(first) == c.output(straight));
            Machine other(on, *c.program, c.config, second, options);  // another takes over
            other.restore(*checkpoint);
            other.run_until(never);
            same(other.finish(), whole);
            CHECK(c.output(second) == c.output(straight));
        }
    }
}

TEST_CASE("a replay traces any stretch of any SM as a launch that traced that SM") {
    Rng rng(5);
    for (const Case& c : cases()) {
        const auto run = run_of(c, tracing(0));
        Replay replay(run);
        for (const uint32_t sm : {0u, 1u}) {
            INFO(c.name << " on " << c.gpu << ", SM " << sm);
            const auto other = run_of(c, tracing(sm));
            REQUIRE(other->result.trace.issues.size() > 50);
            const int64_t cycles = run->result.cycles;
            CHECK(text_of(replay.trace(sm, 0, cycles).value()) == text_of(stretch_of(other->result.trace, 0, cycles)));
            for (int round = 0; round < 8; ++round) {
                const auto begin = static_cast<int64_t>(rng.below(static_cast<uint64_t>(cycles)));
                const int64_t end = begin + 1 + static_cast<int64_t>(rng.below(400));
                const std::optional<KernelTrace> found = replay.trace(sm, begin, end);
                REQUIRE(found);
                CHECK(text_of(*found) == text_of(stretch_of(other->result.trace, begin, std::min(end, cycles))));
            }
        }
    }
}

TEST_CASE("a launch that found something in L2 is replayed from the same") {
    for (const Case& c : cases()) {
        INFO(c.name << " on " << c.gpu);
        const GpuSpec on = gpu(c.gpu);
        L2State l2;
        TimedOptions options = tracing(0);
        options.l2 = &l2;
        simt::Memory memory = c.memory;
        const int64_t cold = launch(on, *c.program, c.config, memory, options).cycles;
        auto run = std::make_shared<KernelRun>();
        run->gpu = on;
        run->program = c.program;
        run->config = c.config;
        run->before = std::make_shared<simt::Memory>(memory);
        run->l2 = std::make_shared<const L2State>(l2);
        run->result = launch(on, *c.program, c.config, memory, options);
        const int64_t cycles = run->result.cycles;
        CHECK(cycles < cold);
        CHECK(metric_of(*c.program, run->result, "dram_read_bytes").value() == 0);
        Replay replay(run);
        CHECK(text_of(replay.trace(0, 0, cycles).value()) == text_of(stretch_of(run->result.trace, 0, cycles)));
        CHECK(text_of(replay.trace(0, cycles / 2, cycles).value()) ==
              text_of(stretch_of(run->result.trace, cycles / 2, cycles)));
        simt::Memory same_memory = *run->before;
        TimedOptions again = options_of(run->result);
        const std::shared_ptr<L2State> found = l2_of(*run);
        again.l2 = found.get();
        CHECK(launch(on, *c.program, c.config, same_memory, again).cycles == cycles);
    }
}

TEST_CASE("a trace that begins in the middle of a launch without one has the runs that are open then, and counts the same") {
    Rng rng(17);
    TimedOptions options;
    options.trace = false;
    options.run_ahead = false;
    for (const Case& c : cases()) {
        const GpuSpec on = gpu(c.gpu);
        simt::Memory straight = c.memory;
        const TimedResult whole = launch(on, *c.program, c.config, straight, options);
        const auto other = run_of(c, tracing(0));
        for (int round = 0; round < 6; ++round) {
            const auto begin = static_cast<int64_t>(rng.below(static_cast<uint64_t>(whole.cycles - 1))) + 1;
            INFO(c.name << " on " << c.gpu << ", from " << begin);
            simt::Memory memory = c.memory;
            Machine machine(on, *c.program, c.config, memory, options);
            machine.run_until(begin);
            machine.trace(0, 1'000'000);
            machine.run_until(never);
            // Without the issues before, which the waits' causes are numbered by.
            const auto runs_of = [&](KernelTrace trace) {
                std::set<std::vector<int64_t>> all;
                for (const WarpTrack& warp : stretch_of(trace, begin, whole.cycles).warps)
                    for (const StallRun& run : warp.runs)
                        all.insert({warp.slot, warp.block, run.begin, run.end, static_cast<int64_t>(run.reason), run.pc});
                return all;
            };
            CHECK(runs_of(machine.trace_so_far(whole.cycles)) == runs_of(other->result.trace));
            const TimedResult result = machine.finish();
            REQUIRE(result.instructions.size() == whole.instructions.size());
            for (size_t pc = 0; pc < whole.instructions.size(); ++pc)
                CHECK(std::ranges::equal(result.instructions[pc].stalls, whole.instructions[pc].stalls));
        }
    }
}

TEST_CASE("a stretch of a trace is gap-free, and its waits keep their causes") {
    const auto run = run_of(cases()[0], tracing(0));
    const KernelTrace& whole = run->result.trace;
    const KernelTrace cut = stretch_of(whole, whole.cycles / 3, whole.cycles / 2);
    CHECK(cut.truncated);
    size_t causes = 0, issues = 0;
    for (const WarpTrack& warp : cut.warps) {
        int64_t states = 0;
        for (const StallRun& stall : warp.runs) {
            CHECK(stall.begin >= cut.kept_from);
            CHECK(stall.end <= cut.kept_until);
            states += stall.end - stall.begin;
            causes += stall.cause >= 0;
        }
        for (const uint32_t index : warp.issues) states += cut.issues[index].folded ? 0 : 1;
        CHECK(states == warp.end - warp.begin);
        issues += warp.issues.size();
    }
    CHECK(causes > 0);
    size_t expected_causes = 0, expected_issues = 0;
    for (const WarpTrack& warp : whole.warps)
        for (const StallRun& stall : warp.runs)
            expected_causes += stall.cause >= 0 && stall.begin < cut.kept_until && stall.end > cut.kept_from;
    for (const IssueRecord& issue : whole.issues)
        expected_issues += issue.cycle >= cut.kept_from && issue.cycle < cut.kept_until;
    CHECK(causes == expected_causes);
    CHECK(issues == expected_issues);
    CHECK(text_of(stretch_of(whole, 0, whole.cycles)) == text_of(whole));
}

TEST_CASE("a wait names its cause behind two thousand million instructions too, and none that is not kept") {
    Recorder recorder(true, 0, 100);
    const int64_t first = (int64_t{1} << 31) + 5;
    const int32_t track = recorder.add_track(0, 0, 0, 0, 0);
    recorder.add_run(track, {0, 1, StallReason::wait, 0}, first - 1);  // issued before the trace begins
    recorder.add_issue(track, first, {.cycle = 1, .ready = 5});
    recorder.add_run(track, {2, 5, StallReason::long_scoreboard, 1}, first);
    recorder.add_issue(track, first + 1, {.cycle = 5, .ready = 9, .pc = 1});
    recorder.add_run(track, {6, 9, StallReason::wait, 2}, first + 1);
    recorder.add_run(track, {9, 12, StallReason::not_selected, 2}, -1);
    recorder.end_track(track, 12);
    KernelTrace trace = recorder.finish(12);
    const auto causes = [](const KernelTrace& of) {
        std::vector<int32_t> list;
        for (const StallRun& run : of.warps[0].runs) list.push_back(run.cause);
        return list;
    };
    CHECK(causes(trace) == std::vector<int32_t>{-1, 0, 1, -1});
    CHECK(causes(stretch_of(trace, 0, 12)) == std::vector<int32_t>{-1, 0, 1, -1});
    trace.warps[0].runs[2].cause = 2;  // an issue that the trace does not have
    CHECK(causes(stretch_of(trace, 0, 12)) == std::vector<int32_t>{-1, 0, -1, -1});
}

TEST_CASE("at every issue the replay finds the warp before that instruction, with the values of that moment") {
    // %r6 counts the turns; after n turns it is n, whatever the model says about time.
    const std::string body = index_of_thread + R"(
mov.u32 %r6, 0;
again:
add.u32 %r6, %r6, 1;
st.global.u32 [%rd5+128], %r6;
setp.lt.u32 %p1, %r6, 40;
@%p1 bra again;
)";
    Case c("turns", "teaching:2", body, {6}, {64});
    const auto run = run_of(c, tracing(0));
    Replay replay(run);
    uint32_t add = 0, store = 0;
    for (uint32_t pc = 0; pc < c.program->instructions.size(); ++pc)
        if (c.program->instructions[pc].kind == ptx::Kind::store) store = pc;
    add = store - 1;
    const KernelTrace& trace = run->result.trace;
    Rng rng(3);
    for (int round = 0; round < 60; ++round) {
        const auto& issue = trace.issues[rng.below(trace.issues.size())];
        if (issue.folded) continue;  // it runs with the one before it
        const WarpTrack& track = trace.warps[issue.warp];
        REQUIRE(replay.seek(issue.cycle));
        const auto state = replay.warp(track.block, track.warp_in_block);
        REQUIRE(state);
        CHECK(state->pc == issue.pc);
        CHECK(state->sm == trace.sm);
        uint64_t turns = 0, stores = 0, issued = 0;
        for (const uint32_t i : track.issues) {
            const IssueRecord& earlier = trace.issues[i];
            if (earlier.cycle >= issue.cycle) continue;
            ++issued;
            turns += earlier.pc == add;
            stores += earlier.pc == store;
        }
        CHECK(state->instructions == issued);
        bool found = false;
        for (const simt::LaneValues& value : state->values)
            if (value.reg.name == "%r6") {
                found = true;
                for (const uint64_t lane : value.bits) CHECK(lane == turns);
            }
        CHECK(found);
        const uint32_t thread = track.block * 64 + track.warp_in_block * 32;
        CHECK(simt::test::read_back<uint32_t>(replay.device_memory(), c.out + 128 + thread * 4, 1)[0] == stores);
    }
    CHECK(replay.seek(run->result.cycles));
    CHECK_FALSE(replay.warp(0, 0));  // it has ended
    CHECK(replay.seek(-5));
    CHECK(replay.cycle() == 0);
}

TEST_CASE("checkpoints change no cycle, keep within their budget, and a stopped seek can go on") {
    std::string body = index_of_thread + R"(
mov.u32 %r6, 0;
again:
ld.global.u32 %r7, [%rd4];
add.u32 %r6, %r6, %r7;
st.global.u32 [%rd5], %r6;
add.u32 %r8, %r8, 1;
setp.lt.u32 %p1, %r8, 3000;
@%p1 bra again;
)";
    Case c("long", "teaching:2", body, {16}, {64});
    const auto plain = run_of(c, {});
    REQUIRE(plain->result.warp_instructions > 500'000);
    for (const uint64_t budget : {uint64_t{16} << 20, uint64_t{1} << 20, uint64_t{300'000}, uint64_t{1}}) {
        TimedOptions options;
        options.checkpoint_bytes = budget;
        options.trace_limit = 1000;
        const auto run = run_of(c, options);
        REQUIRE(run->result.checkpoints);
        CHECK(run->result.checkpoints->bytes() <= budget);
        if (budget >= 1 << 20) CHECK(run->result.checkpoints->size() >= 3);
        same(run->result, plain->result);
        Replay replay(run, budget);
        std::stop_source stop;
        stop.request_stop();
        CHECK_FALSE(replay.seek(run->result.cycles - 1, {stop.get_token(), {}}));
        double progress = 0;
        CHECK(replay.seek(run->result.cycles * 3 / 4, {{}, [&](double share) {
                                                           CHECK(share >= progress);
                                                           progress = share;
                                                       }}));
        CHECK(replay.checkpoint_bytes() <= budget);
        const auto late = c.output(replay.device_memory());
        CHECK(replay.seek(run->result.cycles / 4));
        CHECK(replay.checkpoint_bytes() <= budget);
        CHECK(c.output(replay.device_memory()) != late);
        CHECK(replay.seek(run->result.cycles * 3 / 4));
        CHECK(c.output(replay.device_memory()) == late);
    }
}

TEST_CASE("a trace that meets its bound has the overview of the whole run all the same") {
    for (const Case& c : cases()) {
        INFO(c.name << " on " << c.gpu);
        const auto whole = run_of(c, {});
        TimedOptions options;
        options.trace_limit = 40;
        const auto cut = run_of(c, options);
        REQUIRE(cut->result.trace.truncated);
        const Overview &a = whole->result.trace.overview, &b = cut->result.trace.overview;
        REQUIRE_FALSE(a.levels.empty());
        REQUIRE(a.levels.size() == b.levels.size());
        for (size_t i = 0; i < a.levels.size(); ++i) {
            CHECK(a.levels[i].states == b.levels[i].states);
            CHECK(a.levels[i].issued == b.levels[i].issued);
        }
        // By definition, from the full trace: the cycles in which each scheduler issued.
        std::vector<std::set<int64_t>> issued(a.schedulers);
        for (const IssueRecord& issue : whole->result.trace.issues)
            issued[whole->result.trace.warps[issue.warp].scheduler].insert(issue.cycle);
        const Overview::Level& last = a.levels.back();
        REQUIRE(last.columns == 1);
        for (uint32_t s = 0; s < a.schedulers; ++s)
            CHECK(last.issued[s] == static_cast<float>(issued[s].size()) /
                                        static_cast<float>(std::min(whole->result.cycles, last.cycles_a_column)));
    }
}

}  // namespace model_replay_test
