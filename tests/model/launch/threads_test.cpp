// Launches on several threads of the host report what one thread reports: cycles, counters, windows of time, the trace,
// faults, warnings, what is left in memory, and what a replay of them shows.
#include <cstring>

#include "core/model/launch/replay.h"
#include "core/model/metrics/packed_counters.h"
#include "tests/catch.h"
#include "tests/model/cases.h"
#include "tests/model/side_by_side.h"
#include "tests/simt/text.h"

namespace model_threads_test {

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;
using simt::test::config_of;
using simt::test::text_kernel;
using simt::test::text_program;

namespace {

TimedOptions on(uint32_t threads, TimedOptions options = {}) {
    options.threads = threads;
    options.alone = 0;
    return options;
}

std::string difference_of_machines(const MachineTrace& one, const MachineTrace& other) {
    if (one.sampled != other.sampled || one.requests_until != other.requests_until) return "other requests are kept";
    if (one.requests.size() != other.requests.size()) return "another number of requests";
    const auto said = [](const RequestRecord& r) {
        return std::tuple(r.begin, r.line, r.issue, r.pc, r.block, r.warp, r.sm, r.slice, r.channel, r.left, r.taken, r.sent,
                          r.ready, r.wanted, r.hits, r.kind, r.level);
    };
    for (size_t k = 0; k < one.requests.size(); ++k)
        if (said(one.requests[k]) != said(other.requests[k])) return fmt::format("request {} has another way", k);
    if (one.issues_from != other.issues_from || one.issues_until != other.issues_until) return "another stretch of issues";
    const auto place = [](const TileIssue& i) { return std::tuple(i.after, uint32_t{i.pc}, uint32_t{i.scheduler}); };
    for (size_t sm = 0; sm < one.issues.size(); ++sm)
        if (!std::equal(one.issues[sm].begin(), one.issues[sm].end(), other.issues[sm].begin(), other.issues[sm].end(),
                        [&](const TileIssue& a, const TileIssue& b) { return place(a) == place(b); }))
            return fmt::format("other issues of SM {}", sm);
    if (one.queues.waiting != other.queues.waiting || one.queues.busy != other.queues.busy ||
        one.queues.reads != other.queues.reads)
        return "other queues";
    return "";
}

// "" where both launches report the same.
std::string difference_of(const TimedResult& one, const TimedResult& other) {
    if (one.cycles != other.cycles) return fmt::format("{} cycles, {}", one.cycles, other.cycles);
    if (one.warp_instructions != other.warp_instructions)
        return fmt::format("{} warp instructions, {}", one.warp_instructions, other.warp_instructions);
    if (one.thread_instructions != other.thread_instructions) return "other thread instructions";
    const auto in_words = [](const std::optional<simt::Fault>& fault) { return fault ? simt::render(*fault) : "no fault"; };
    if (in_words(one.fault) != in_words(other.fault)) return in_words(one.fault) + " and " + in_words(other.fault);
    if (one.warnings.size() != other.warnings.size()) return "other warnings";
    for (size_t k = 0; k < one.warnings.size(); ++k)
        if (simt::render(one.warnings[k]) != simt::render(other.warnings[k])) return simt::render(other.warnings[k]);
    for (size_t k = 0; k < one.metrics.size(); ++k)
        if (one.metrics[k].value != other.metrics[k].value &&
            !(std::isnan(one.metrics[k].value) && std::isnan(other.metrics[k].value)))
            return fmt::format("{}: {} and {}", one.metrics[k].name, one.metrics[k].value, other.metrics[k].value);
    for (size_t pc = 0; pc < one.instructions.size(); ++pc)
        if (std::memcmp(&one.instructions[pc], &other.instructions[pc], sizeof one.instructions[pc]) != 0)
            return fmt::format("other counters at pc {}", pc);
    if (one.windows.length != other.windows.length || one.windows.totals.size() != other.windows.totals.size())
        return "other windows";
    for (size_t w = 0; w < one.windows.totals.size(); ++w)
        if (std::memcmp(&one.windows.totals[w], &other.windows.totals[w], sizeof one.windows.totals[w]) != 0)
            return fmt::format("other totals in window {}", w);
    if (const auto found = difference_of_issues(one.trace.issues, other.trace.issues); !found.empty()) return found;
    if (one.trace.blocks.size() != other.trace.blocks.size()) return "other blocks";
    for (size_t k = 0; k < one.trace.blocks.size(); ++k)
        if (one.trace.blocks[k].begin != other.trace.blocks[k].begin || one.trace.blocks[k].end != other.trace.blocks[k].end)
            return fmt::format("block {} has another life", k);
    if ((one.trace.machine == nullptr) != (other.trace.machine == nullptr)) return "no machine";
    return one.trace.machine ? difference_of_machines(*one.trace.machine, *other.trace.machine) : "";
}

// Runs it on one, two and four threads; what one thread reports.
TimedResult check_alike(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
                        const simt::Memory& before, const std::vector<std::pair<uint64_t, uint64_t>>& buffers,
                        const TimedOptions& options = {}) {
    simt::Memory own = before;
    TimedResult alone = launch(gpu, program, config, own, on(1, options));
    for (const uint32_t threads : {2u, 4u}) {
        INFO(threads << " threads");
        simt::Memory memory = before;
        const TimedResult several = launch(gpu, program, config, memory, on(threads, options));
        CHECK(difference_of(alone, several) == "");
        for (const auto& [address, bytes] : buffers)
            CHECK(std::memcmp(own.read(address, bytes), memory.read(address, bytes), bytes) == 0);
    }
    return alone;
}

const std::string head = R"(
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
mad.lo.u32 %r4, %r2, %r3, %r1;
ld.param.u64 %rd1, [p0];
mul.wide.u32 %rd3, %r4, 4;
add.u64 %rd4, %rd1, %rd3;
)";

// Tickets in the order of cycles, shared memory behind a barrier, a loop whose trips depend on the block, a sum over all.
const std::string mixed = R"(
.shared .align 4 .b8 tile[1024];
)" + head + R"(
atom.global.add.u32 %r5, [%rd1], 1;
mov.u32 %r6, tile; mad.lo.u32 %r7, %r1, 4, %r6;
st.shared.u32 [%r7], %r5;
bar.sync 0;
xor.b32 %r8, %r1, 31; mad.lo.u32 %r9, %r8, 4, %r6;
and.b32 %r10, %r2, 63; mov.u32 %r11, 0;
again:
ld.shared.u32 %r12, [%r9];
mad.lo.u32 %r11, %r12, 3, %r11;
cvt.rn.f32.u32 %f1, %r11; rcp.approx.f32 %f2, %f1;
sub.u32 %r10, %r10, 1;
setp.ge.s32 %p1, %r10, 0;
@%p1 bra again;
atom.shared.add.u32 %r13, [%r6], %r11;
bar.sync 0;
ld.shared.u32 %r14, [%r6];
st.global.u32 [%rd4+4], %r14;
)";

}  // namespace

TEST_CASE("random launches report the same on one, two and four threads", "[model]") {
    for (uint64_t seed = 1; seed <= 60; ++seed)
        for (const char* kept : {"nothing", "trace", "machine"}) {
            const Case c = make_case(seed);
            INFO("seed " << seed << ", kept: " << kept);
            TimedOptions options;
            options.trace = kept != std::string_view("nothing");
            options.machine = kept == std::string_view("machine");
            check_alike(gpu("v100"), c.program, c.config, c.memory, {{c.address, c.words * 4}}, options);
        }
}

TEST_CASE("so do tickets, barriers and shared atomics on many SMs, with windows, traces and every scheduler", "[model]") {
    const auto program = text_program(text_kernel(mixed));
    simt::Memory memory;
    const uint64_t out = simt::test::put(memory, std::vector<uint32_t>(600 * 128 + 1), "out");
    for (const char* name : {"p100", "v100", "a100", "h100"})
        for (const SchedulerPolicy policy : {SchedulerPolicy::greedy_then_oldest, SchedulerPolicy::loose_round_robin}) {
            INFO(name);
            TimedOptions options;
            options.scheduler = policy;
            options.traced_sm = 3;
            options.machine = true;
            check_alike(gpu(name), *program, config_of({600}, {128}, {out}), memory, {{out, 600 * 512 + 4}}, options);
        }
}

TEST_CASE("of several SMs that fault the first one's fault is told, on any number of threads", "[model]") {
    // Block b leaves its shared memory after about 50 b trips: block 20 begins latest to count down and is never first.
    const auto program = text_program(text_kernel(R"(
.shared .align 4 .b8 tile[128];
)" + head + R"(
sub.u32 %r5, 97, %r2; mul.lo.u32 %r5, %r5, 5;
again:
sub.u32 %r5, %r5, 1;
setp.gt.s32 %p1, %r5, 0;
@%p1 bra again;
mov.u32 %r6, tile;
st.shared.u32 [%r6+4096], %r4;
)"));
    simt::Memory memory;
    const uint64_t out = simt::test::put(memory, std::vector<uint32_t>(64), "out");
    const TimedResult result = check_alike(gpu("v100"), *program, config_of({60}, {32}, {out}), memory, {});
    REQUIRE(result.fault);
    CHECK(result.fault->kind == "memcheck");
    CHECK(result.fault->block.x == 59);
}

TEST_CASE("run-aways, dead-locks and spins end alike", "[model]") {
    simt::Memory memory;
    const uint64_t out = simt::test::put(memory, std::vector<uint32_t>(64), "out");
    const auto spin = text_program(text_kernel(head + R"(
again:
add.u32 %r4, %r4, 1;
bra again;
)"));
    TimedOptions few;
    few.max_instructions = 50'000;
    const TimedResult ran_away = check_alike(gpu("v100"), *spin, config_of({40}, {64}, {out}), memory, {}, few);
    REQUIRE(ran_away.fault);
    CHECK(ran_away.fault->kind == "runaway");
    CHECK(ran_away.warp_instructions == 50'000);
    const auto waits = text_program(text_kernel(R"(
.shared .align 4 .b8 flag[4];
)" + head + R"(
mov.u32 %r6, flag;
again:
ld.volatile.shared.u32 %r5, [%r6];
setp.eq.u32 %p1, %r5, 77;
@!%p1 bra again;
)"));
    const TimedResult stuck = check_alike(gpu("v100"), *waits, config_of({40}, {64}, {out}), memory, {});
    REQUIRE(stuck.fault);
    CHECK(stuck.fault->kind == "deadlock");
}

TEST_CASE("a replay of a launch on several threads shows what one thread's shows", "[model]") {
    const auto program = text_program(text_kernel(mixed));
    auto run_on = [&](uint32_t threads) {
        auto run = std::make_shared<KernelRun>();
        run->gpu = gpu("v100");
        simt::Memory memory;
        const uint64_t out = simt::test::put(memory, std::vector<uint32_t>(600 * 128 + 1), "out");
        run->program = program;
        run->config = config_of({600}, {128}, {out});
        run->before = std::make_shared<const simt::Memory>(memory);
        TimedOptions options = on(threads);
        options.checkpoint_bytes = Replay::default_bytes;
        run->result = launch(run->gpu, *program, run->config, memory, options);
        return run;
    };
    const auto alone = run_on(1), several = run_on(3);
    CHECK(difference_of(alone->result, several->result) == "");
    for (const int64_t cycle : {alone->result.cycles / 3, alone->result.cycles - 5}) {
        Replay here(alone), there(several);
        REQUIRE(here.seek(cycle));
        REQUIRE(there.seek(cycle));
        for (const uint32_t block : {0u, 80u, 599u}) {
            const simt::Block *const a = here.block(block), *const b = there.block(block);
            REQUIRE((a == nullptr) == (b == nullptr));
            for (size_t k = 0; a != nullptr && k < a->warps.size(); ++k)
                CHECK(std::memcmp(a->warps[k].registers, b->warps[k].registers, program->register_bytes) == 0);
        }
    }
}

}  // namespace model_threads_test
