// Time travel in the app: a run whose trace was cut is stepped and scrubbed over its whole length, at the grain of cycles
// and of instructions; values are those of the clock; another SM can be looked into. The whole interface in a bare ImGui
// context.
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "app/gui/views/timeline/timeline_data.h"
#include "tests/gui/desk.h"

namespace gui_travel_test {

using namespace lockstep;
using namespace lockstep::gui;
namespace fs = std::filesystem;

namespace {

// Every thread counts to 150 in %r6 and stores each number.
const char* const turns = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry turns(.param .u64 turns_param_0)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [turns_param_0];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd2, %rd3;
    mov.u32 %r6, 0;
again:
    add.s32 %r6, %r6, 1;
    st.global.u32 [%rd4], %r6;
    setp.lt.s32 %p1, %r6, 150;
    @%p1 bra again;
    ret;
}
)";

struct Scratch {  // made before the session, removed after it
    fs::path folder =
        fs::temp_directory_path() /
        ("lockstep-travel-test-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
    Scratch() { fs::create_directories(folder); }
    ~Scratch() { fs::remove_all(folder); }
};

struct Desk : Scratch, test::Desk {
    explicit Desk(uint64_t trace_limit) : test::Desk({.trace_limit = trace_limit, .own_kernel = true}) {
        session.workspace = Workspace::kernel;
        pace = 0.4;
        std::ofstream(folder / "turns.ptx", std::ios::binary) << turns;
        REQUIRE(!session.desk.open((folder / "turns.ptx").string()));
        settle();
        REQUIRE(snapshot()->kernel.run);
    }
    void key(KeyCode code) {
        test::Desk::key(code);
        settle();
    }
    std::shared_ptr<const Snapshot> snapshot() const { return session.snapshot(); }
    const KernelTrace& trace() const { return snapshot()->kernel.run->result.trace; }

    // The same launch with all of one SM in its trace: what every stretch is compared with.
    KernelTrace whole(uint32_t sm) const {
        const model::KernelRun& run = *snapshot()->kernel.run;
        simt::Memory memory = *run.before;
        model::TimedOptions options;
        options.traced_sm = sm;
        return model::launch(run.gpu, *run.program, run.config, memory, options).trace;
    }
    uint64_t lane0(const std::string& name) const {
        for (const simt::LaneValues& value : *snapshot()->kernel.lanes)
            if (value.reg.name == name) return value.bits[0];
        FAIL("no register " << name);
        return 0;
    }
};

// The focused warp in the whole trace, and how many issues of it lie before the cycle.
const WarpTrack& track_in(const KernelTrace& whole, const KernelTrace& shown, int32_t warp) {
    const WarpTrack& wanted = shown.warps.at(static_cast<size_t>(warp));
    for (const WarpTrack& track : whole.warps)
        if (track.block == wanted.block && track.warp_in_block == wanted.warp_in_block) return track;
    FAIL("the warp is not on this SM");
    return whole.warps[0];
}
size_t issues_in_whole(const KernelTrace& whole, const WarpTrack& track, int64_t cycle, int64_t pc = -1) {
    size_t count = 0;
    for (const uint32_t i : track.issues)
        count += whole.issues[i].cycle < cycle && (pc < 0 || whole.issues[i].pc == static_cast<uint32_t>(pc));
    return count;
}

}  // namespace

TEST_CASE("the clock goes anywhere in a run whose trace was cut, and registers and memory are those of its cycle") {
    Desk desk(1500);
    REQUIRE(desk.trace().truncated);
    const KernelTrace whole = desk.whole(desk.trace().sm);
    const int64_t cycles = whole.cycles;
    REQUIRE(desk.trace().kept_until < cycles / 2);
    const auto& program = desk.snapshot()->kernel.run->program->instructions;
    uint32_t store = 0;
    for (uint32_t pc = 0; pc < program.size(); ++pc)
        if (program[pc].kind == ptx::Kind::store) store = pc;
    desk.session.grain = Grain::cycle;
    desk.shell.focus.warp = 0;
    const auto check = [&](int64_t time) {
        INFO("cycle " << time << " of " << cycles);
        REQUIRE(desk.shell.focus.time == time);
        const auto snapshot = desk.snapshot();
        REQUIRE(snapshot->kernel.run == snapshot->own.run->run);
        CHECK(desk.trace().kept_from <= time);
        CHECK(time < desk.trace().kept_until);
        const WarpTrack& track = track_in(whole, desk.trace(), desk.shell.focus.warp);
        CHECK(desk.session.sm.history_step == static_cast<int64_t>(issues_in_whole(whole, track, time)));
        REQUIRE(snapshot->kernel.lanes);
        CHECK(snapshot->kernel.lanes_step == desk.session.sm.history_step);
        CHECK(desk.lane0("%r6") == issues_in_whole(whole, track, time, store - 1));
        const std::string shown = desk.shell.describe("warp");  // with its values, wherever the stretch begins
        INFO(shown);
        CHECK(shown.find("\n  %r6 (") != std::string::npos);
        CHECK(shown.find("\n  %rd4 (") != std::string::npos);
        const WarpTrack& held = desk.trace().warps.at(static_cast<size_t>(desk.shell.focus.warp));
        for (const int64_t step : {desk.session.sm.history_step, desk.session.sm.history_step - 1})
            if (const int64_t cycle = cycle_of_step(desk.trace(), held, step); cycle >= 0)
                CHECK(cycle == whole.issues[track.issues.at(static_cast<size_t>(step))].cycle);
        REQUIRE(snapshot->kernel.memory);
        CHECK(snapshot->kernel.lanes_timed);
        uint32_t stored = 0;
        uint64_t address = 0;
        std::memcpy(&address, snapshot->kernel.run->config.parameters.data(), 8);
        const uint64_t thread = track.block * snapshot->kernel.run->config.block.count() + track.warp_in_block * 32;
        std::memcpy(&stored, snapshot->kernel.memory->global.read(address + thread * 4, 4), 4);
        if (issues_in_whole(whole, track, time, store) > 0) CHECK(stored == issues_in_whole(whole, track, time, store));
    };
    for (const int64_t time : {cycles * 2 / 3, cycles / 3, cycles / 2}) {
        desk.shell.focus.time = time;
        desk.settle();
        check(time);
        for (int64_t back = 1; back <= 4; ++back) {
            desk.key(KeyCode::left);
            check(time - back);
        }
    }
    desk.key(KeyCode::home);
    CHECK(desk.shell.focus.time == 0);
    CHECK(desk.trace().kept_from == 0);
    desk.key(KeyCode::end);
    CHECK(desk.shell.focus.time == cycles - 1);
    CHECK(desk.trace().kept_until == cycles);
}

TEST_CASE("from afar the states of the warps are in the shares that they have in the whole run") {
    Desk desk(1500);
    REQUIRE(desk.trace().truncated);
    auto run = std::make_shared<model::KernelRun>(*desk.snapshot()->kernel.run);
    run->result.trace = desk.whole(desk.trace().sm);
    REQUIRE_FALSE(run->result.trace.truncated);
    const Timeline whole = make_timeline(run), cut = make_timeline(desk.snapshot()->kernel.run);
    REQUIRE(whole.cycles == cut.cycles);
    const int64_t width = run->result.trace.overview.levels.front().cycles_a_column;
    REQUIRE(width <= 64);
    const auto columns = static_cast<size_t>(whole.cycles / (8 * width));
    const auto a = mean_states(whole, 0, static_cast<int64_t>(columns) * 8 * width, columns);
    const auto b = mean_states(cut, 0, static_cast<int64_t>(columns) * 8 * width, columns);
    REQUIRE(columns > 20);
    for (size_t c = 0; c < columns; ++c)
        for (size_t s = 0; s < state_count; ++s) {
            INFO("column " << c << ", state " << s);
            CHECK(std::fabs(a[c][s] - b[c][s]) < 0.02f * static_cast<float>(whole.rows.size()));
        }
}

TEST_CASE("steps of an instruction go on where the trace was cut, backwards too") {
    Desk desk(1500);
    const KernelTrace whole = desk.whole(desk.trace().sm);
    desk.session.grain = Grain::instruction;
    desk.shell.focus.warp = 0;
    desk.settle();
    const WarpTrack track = track_in(whole, desk.trace(), 0);
    const auto cycle_of = [&](int64_t step) { return whole.issues[track.issues.at(static_cast<size_t>(step))].cycle; };
    const auto last = static_cast<int64_t>(track.issues.size()) - 1;
    for (const int64_t step : {last / 2, int64_t{3}, last - 2}) {
        desk.session.sm.history_step = step;
        move(desk.session, desk.shell.focus, *desk.snapshot(), Grain::instruction, 0);
        desk.settle();
        INFO("instruction " << step);
        CHECK(desk.session.sm.history_step == step);
        CHECK(desk.shell.focus.time == cycle_of(step));
        desk.key(KeyCode::left);
        CHECK(desk.session.sm.history_step == step - 1);
        CHECK(desk.shell.focus.time == cycle_of(step - 1));
        desk.key(KeyCode::right);
        CHECK(desk.shell.focus.time == cycle_of(step));
    }
    // Backwards over the border of the stretch that is kept.
    const auto shown = desk.snapshot();
    const int64_t border = static_cast<int64_t>(track_in(shown->kernel.run->result.trace, whole, 0).issued_before);
    if (border > 0) {
        desk.session.sm.history_step = border;
        move(desk.session, desk.shell.focus, *desk.snapshot(), Grain::instruction, 0);
        desk.settle();
        desk.key(KeyCode::left);
        CHECK(desk.session.sm.history_step == border - 1);
        CHECK(desk.shell.focus.time == cycle_of(border - 1));
    }
}

TEST_CASE("the keys [ and ] look into another SM, at the same cycle") {
    Desk desk(2'000'000);
    REQUIRE_FALSE(desk.trace().truncated);
    desk.session.grain = Grain::cycle;
    const int64_t time = desk.trace().cycles / 2;
    desk.shell.focus.time = time;
    desk.settle();
    desk.key(static_cast<KeyCode>(']'));
    CHECK(desk.trace().sm == 1);
    CHECK(desk.shell.focus.sm == 1);
    CHECK(desk.shell.focus.time == time);
    CHECK(desk.trace().issues.size() == desk.whole(1).issues.size());
    REQUIRE(desk.shell.focus.warp >= 0);
    CHECK(desk.trace().warps.at(static_cast<size_t>(desk.shell.focus.warp)).begin <= time);
    desk.key(static_cast<KeyCode>('['));
    CHECK(desk.trace().sm == 0);
    desk.key(static_cast<KeyCode>('['));
    CHECK(desk.trace().sm == 0);
}

TEST_CASE("the stack says which calls a warp is in, and comes from the replay where its history does not reach") {
    Desk desk(1u << 20);
    const char* const calls = R"(.version 7.0
.target sm_70
.address_size 64
.func (.param .b32 out) leaf(.param .b32 in)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [in];
    add.s32 %r2, %r1, 1;
    st.param.b32 [out], %r2;
    ret;
}
.visible .entry calls(.param .u64 calls_param_0)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [calls_param_0];
    mov.u32 %r3, %tid.x;
    mul.wide.s32 %rd3, %r3, 4;
    add.s64 %rd4, %rd1, %rd3;
    mov.u32 %r6, 0;
again:
    {
    .param .b32 a;
    .param .b32 b;
    st.param.b32 [a], %r6;
    call.uni (b), leaf, (a);
    ld.param.b32 %r6, [b];
    }
    st.global.u32 [%rd4], %r6;
    setp.lt.s32 %p1, %r6, 40;
    @%p1 bra again;
    ret;
}
)";
    std::ofstream(desk.folder / "calls.ptx", std::ios::binary) << calls;
    REQUIRE(!desk.session.desk.open((desk.folder / "calls.ptx").string()));
    desk.settle();
    desk.session.grain = Grain::instruction;
    int inside = 0, outside = 0;
    for (int i = 0; i < 30; ++i) {
        desk.key(KeyCode::right);
        const std::string text = desk.shell.describe("stack");
        (text.find("in leaf()") != std::string::npos ? inside : outside)++;
        if (text.find("in leaf()") != std::string::npos) CHECK(text.find("1 call deep") != std::string::npos);
    }
    CHECK(inside > 8);
    CHECK(outside > 8);

    // The same step without its history: the stack is the replay's, lane for lane.
    while (desk.shell.describe("stack").find("in leaf()") == std::string::npos) desk.key(KeyCode::right);
    const std::string known = desk.shell.describe("stack");
    auto cut = std::make_shared<Snapshot>(*desk.snapshot());
    REQUIRE(cut->kernel.stack);
    REQUIRE(cut->kernel.lanes_step == desk.session.sm.history_step);
    auto history = std::make_shared<simt::WarpHistory>(*cut->kernel.history);
    history->steps.resize(2);
    history->truncated = true;
    cut->kernel.history = history;
    desk.session.publish_for_test(cut);
    const std::string replayed = desk.shell.describe("stack");
    CHECK(replayed.find("in leaf()") != std::string::npos);
    CHECK(replayed.substr(0, replayed.find("top first")) == known.substr(0, known.find("top first")));
    auto unknown = std::make_shared<Snapshot>(*cut);
    unknown->kernel.stack.reset();
    desk.session.publish_for_test(unknown);
    CHECK(desk.shell.describe("stack").find("being replayed") != std::string::npos);
}

}  // namespace gui_travel_test
