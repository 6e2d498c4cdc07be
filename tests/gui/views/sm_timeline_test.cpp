// The numbers behind the warp timeline, held against plain counting over every cycle.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/gui/view.h"
#include "app/gui/views/sm/ladder.h"
#include "app/gui/views/sm/warp_facts.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "app/gui/views/timeline/timeline_view.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/gui/sm_desk.h"

namespace gui_sm_timeline_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {
// What a warp does at a cycle, by looking at everything.
StallReason plain_state(const KernelTrace& trace, const WarpTrack& warp, int64_t cycle, bool& resident) {
    resident = cycle >= warp.begin && cycle < warp.end;
    for (uint32_t i : warp.issues)
        if (trace.issues[i].cycle == cycle) return StallReason::selected;
    for (const StallRun& run : warp.runs)
        if (cycle >= run.begin && cycle < run.end) return run.reason;
    resident = false;
    return StallReason::selected;
}
}  // namespace

TEST_CASE("every state has a colour and hatch that no other state has") {
    for (size_t a = 0; a < state_count; ++a) {
        const StateCode& one = code_of(static_cast<StallReason>(a));
        CHECK(static_cast<size_t>(one.reason) == a);
        CHECK_FALSE(one.brief.empty());
        CHECK_FALSE(one.doing.empty());
        for (size_t b = 0; b < a; ++b) {
            const StateCode& other = code_of(static_cast<StallReason>(b));
            INFO(one.brief << " and " << other.brief);
            CHECK((one.color != other.color || one.hatch != other.hatch || one.hollow != other.hollow));
        }
    }
}

TEST_CASE("the state of a warp at any cycle is what its runs and issues say") {
    const Timeline timeline = make_timeline(small_run({.cycles = 700}));
    const KernelTrace& trace = timeline.trace();
    REQUIRE(trace.warps.size() >= 32);
    for (size_t w = 0; w < trace.warps.size(); w += 5)
        for (int64_t t = -1; t < 702; ++t) {
            bool resident = false;
            const StallReason expected = plain_state(trace, trace.warps[w], t, resident);
            const WarpState state = state_at(trace, trace.warps[w], t);
            REQUIRE(state.resident == resident);
            if (resident) REQUIRE(state.reason() == expected);
        }
}

TEST_CASE("a window's sums are those of its cycles one by one") {
    const Timeline timeline = make_timeline(small_run({.cycles = 900}));
    const KernelTrace& trace = timeline.trace();
    for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 900}, {103, 211}, {899, 900}}) {
        const WindowSums sums = sum_window(timeline, begin, end);
        std::array<int64_t, state_count> states{};
        std::vector<int64_t> issued(4, 0), waits(timeline.run->program->instructions.size(), 0);
        for (const WarpTrack& warp : trace.warps)
            for (int64_t t = begin; t < end; ++t) {
                bool resident = false;
                const StallReason reason = plain_state(trace, warp, t, resident);
                if (!resident) continue;
                ++states[static_cast<size_t>(reason)];
                const WarpState state = state_at(trace, warp, t);
                if (state.issue)
                    ++issued[warp.scheduler];
                else
                    ++waits[state.pc()];
            }
        CHECK(sums.states == states);
        CHECK(sums.issued == issued);
        CHECK(sums.busy == issued);
        CHECK(sums.waits == waits);
        CHECK(sums.issue_slots == 4 * (end - begin));
        int64_t all = sums.empty();
        for (int64_t s : states) all += s;
        CHECK(all == sums.slot_cycles);
    }
}

TEST_CASE("what is folded into another instruction takes no issue slot, in one window as in the sums of many") {
    auto run = std::make_shared<model::KernelRun>(*small_run({.cycles = 900}));
    for (size_t i = 0; i < run->result.trace.issues.size(); i += 3) run->result.trace.issues[i].folded = true;
    const Timeline timeline = make_timeline(run);
    const WindowSums plain = sum_window(timeline, 0, 900), quick = quick_sums(timeline, 0, 900);
    CHECK(quick.issued == plain.issued);
    CHECK(plain.all_issued() ==
          static_cast<int64_t>(run->result.trace.issues.size() - (run->result.trace.issues.size() + 2) / 3));
}

TEST_CASE("at one cycle a column, dominant and mean states are the states themselves") {
    const Timeline timeline = make_timeline(small_run({.cycles = 400}));
    const KernelTrace& trace = timeline.trace();
    std::vector<uint8_t> columns(100);
    for (size_t row = 0; row < timeline.rows.size(); row += 3) {
        dominant_states(timeline, row, 200, 300, columns);
        for (int64_t t = 200; t < 300; ++t) {
            const int warp = warp_at(trace, timeline.rows[row], t);
            const uint8_t expected =
                warp < 0 ? empty_state
                         : static_cast<uint8_t>(state_at(trace, trace.warps[static_cast<size_t>(warp)], t).reason());
            REQUIRE(columns[static_cast<size_t>(t - 200)] == expected);
        }
    }
    const auto means = mean_states(timeline, 200, 300, 100);
    for (int64_t t = 200; t < 300; ++t) {
        float sum = 0;
        for (float m : means[static_cast<size_t>(t - 200)]) sum += m;
        CHECK(sum == Approx(32).margin(8.01));
    }
}

TEST_CASE("the pyramid of a long kernel keeps every warp-cycle at every level") {
    const Timeline timeline = make_timeline(small_run({.cycles = 40000}));
    REQUIRE(timeline.levels.size() > 3);
    CHECK(timeline.levels.front().totals.size() <= most_buckets);
    CHECK(timeline.levels.front().bucket > 1);
    const WindowSums sums = sum_window(timeline, 0, timeline.cycles);
    for (const Level& level : timeline.levels) {
        std::array<int64_t, state_count> total{};
        for (const StateCounts& cell : level.totals)
            for (size_t s = 0; s < state_count; ++s) total[s] += static_cast<int64_t>(cell[s]);
        CHECK(total == sums.states);
    }
    // A window of few columns: each column's means are the sums of its cycles.
    const auto means = mean_states(timeline, 0, 32768, 64);
    for (size_t c = 0; c < means.size(); c += 9) {
        const WindowSums column = sum_window(timeline, static_cast<int64_t>(c) * 512, static_cast<int64_t>(c + 1) * 512);
        for (size_t s = 0; s < state_count; ++s)
            CHECK(means[c][s] == Approx(static_cast<double>(column.states[s]) / 512).margin(1e-3));
    }
}

TEST_CASE("a slot that holds a warp for a small part of a run that was cut has a row all the same") {
    auto run = std::make_shared<model::KernelRun>(*small_run({.cycles = 400}));
    KernelTrace& trace = run->result.trace;
    trace.warps.clear();
    trace.issues.clear();
    OverviewBuilder overview(3, 1);
    overview.state(0, 0, 4000, StallReason::barrier);
    overview.state(1, 3000, 3600, StallReason::wait);  // slot 2 is never used
    trace.cycles = run->result.cycles = 4000;
    trace.overview = overview.finish(4000);
    trace.truncated = true;
    trace.kept_from = 0;
    trace.kept_until = 100;
    CHECK(make_timeline(run).rows.size() == 2);
}

TEST_CASE("a row's dominant state in a bucket is the one that most of its cycles have") {
    const Timeline timeline = make_timeline(small_run({.cycles = 6000}));
    const KernelTrace& trace = timeline.trace();
    std::vector<uint8_t> columns(60);
    dominant_states(timeline, 4, 0, 60 * 64, columns);
    for (size_t c = 0; c < columns.size(); ++c) {
        std::array<int, state_count + 1> counts{};
        for (int64_t t = static_cast<int64_t>(c) * 64; t < static_cast<int64_t>(c + 1) * 64; ++t) {
            const int warp = warp_at(trace, timeline.rows[4], t);
            ++counts[warp < 0 ? state_count
                              : static_cast<size_t>(state_at(trace, trace.warps[static_cast<size_t>(warp)], t).reason())];
        }
        const int shown = counts[columns[c] == empty_state ? state_count : columns[c]];
        CHECK(shown == *std::max_element(counts.begin(), counts.end()));
    }
}

TEST_CASE("a step of the warp's history is the number of instructions it issued before") {
    const Timeline timeline = make_timeline(small_run({.cycles = 500}));
    const WarpTrack& warp = timeline.trace().warps[9];
    for (size_t i = 0; i < warp.issues.size(); ++i) {
        const int64_t cycle = timeline.trace().issues[warp.issues[i]].cycle;
        CHECK(issues_before(timeline.trace(), warp, cycle) == static_cast<int64_t>(i));
        CHECK(issues_before(timeline.trace(), warp, cycle + 1) == static_cast<int64_t>(i) + 1);
    }
}

TEST_CASE("a click on a cell moves warp, block, instruction and line together") {
    Session session({.start = false});
    const Timeline timeline = make_timeline(small_run({.cycles = 900}));
    const KernelTrace& trace = timeline.trace();
    Focus focus;
    for (uint32_t w = 0; w < trace.warps.size(); w += 7) {
        const WarpTrack& warp = trace.warps[w];
        const int64_t cycle = (warp.begin + warp.end) / 2;
        focus_on(session, focus, timeline, w, cycle);
        const WarpState state = state_at(trace, warp, cycle);
        CHECK(focus.warp == static_cast<int32_t>(w));
        CHECK(focus.block == static_cast<int32_t>(warp.block));
        CHECK(focus.time == cycle);
        CHECK(focus.pc == static_cast<int32_t>(state.pc()));
        CHECK(focus.line == timeline.run->program->instructions[state.pc()].line);
        CHECK(session.sm.history_step == issues_before(trace, warp, cycle));
    }
}

TEST_CASE("a wait names what it waits for, where from and how long") {
    const Timeline timeline = make_timeline(small_run());
    const KernelTrace& trace = timeline.trace();
    bool found = false;
    for (uint32_t w = 0; w < trace.warps.size() && !found; ++w)
        for (const StallRun& run : trace.warps[w].runs) {
            if (run.reason != StallReason::long_scoreboard ||
                trace.issues[static_cast<size_t>(run.cause)].level != MemoryLevel::dram || run.pc != 5)
                continue;
            const Wait wait = wait_of(timeline, w, run);
            CHECK(wait.sentence == "Waits at line 7 for %f1, the load of A[i]");
            CHECK(wait.chip == "ld.global.f32 A[i], L2 miss, 425 cycles");
            CHECK(wait.end - wait.begin == 425);
            found = true;
            break;
        }
    CHECK(found);
    for (uint32_t w = 0; w < trace.warps.size(); ++w)  // of one warp, not of several
        for (const StallRun& run : trace.warps[w].runs)
            CHECK(
                wait_of(timeline, w, {run.begin, run.end, StallReason::no_instruction, run.pc, -1}).sentence.find("their") ==
                std::string::npos);
}

TEST_CASE("a source line gives its one subscript, or none when there are more") {
    const std::string source =
        "a = A[i];\n  tile[ty][tx] = B[row * n + k[j]];\nsum += x[i] * y[i];\nif (a[i] == 0) return;\nv = 1;\n";
    CHECK(subscript_of(source, 1, false) == "A[i]");
    CHECK(subscript_of(source, 2, false).empty());  // B[...] and k[j]
    CHECK(subscript_of(source, 2, true) == "tile[ty][tx]");
    CHECK(subscript_of(source, 3, false).empty());
    CHECK(subscript_of(source, 4, false) == "a[i]");
    CHECK(subscript_of(source, 5, false).empty());
    CHECK(subscript_of(source, 99, false).empty());
}

namespace {

// Loads of one line, one a space, in this order.
ptx::Program loads_of(int line, std::initializer_list<ptx::Space> spaces) {
    ptx::Program program;
    for (const ptx::Space space : spaces) {
        ptx::DecodedInstruction load;
        load.kind = ptx::Kind::load;
        load.space = space;
        load.line = line;
        program.instructions.push_back(load);
    }
    return program;
}

}  // namespace

TEST_CASE("a load has the name of what it reads where that is certain, and else none") {
    using ptx::Space;
    const std::string source =
        "out[i] = a[idx[i] & 1023];\n"
        "atomicAdd(&local[(x[i] & 0x7fffffff) % BINS], 1);\n"
        "part[t] += part[t + half];\n"
        "__shared__ float tile[32];\n"
        "sum += tile[k] * A[i];\n"
        "v += x[i] * x[i];\n"
        "float4 q = *(float4 *)&A[4 * i];\n"
        "t[i] = *p + a[i];\n"
        "a[i] = b && c[i] ? d & 3 : e;\n"
        "s[k].x = u[k];  // w[k]\n"
        "__global__ void kernel(const float *A, float *__restrict__ x) {\n";
    const auto name = [&](int line, std::initializer_list<Space> spaces, uint32_t pc) {
        return loaded_by(loads_of(line, spaces), source, pc);
    };
    CHECK(name(1, {Space::global, Space::global}, 0) == "idx[i]");
    CHECK(name(1, {Space::global, Space::global}, 1) == "a[idx[i] & 1023]");
    CHECK(name(1, {Space::global, Space::global, Space::global, Space::global}, 0).empty());  // unrolled: which is which?
    CHECK(name(2, {Space::global}, 0) == "x[i]");
    CHECK(name(3, {Space::shared, Space::shared}, 0).empty());
    CHECK(name(5, {Space::shared, Space::global}, 0) == "tile[k]");
    CHECK(name(5, {Space::shared, Space::global}, 1) == "A[i]");
    CHECK(name(6, {Space::global}, 0) == "x[i]");
    CHECK(name(7, {Space::global}, 0) == "A[4 * i]");
    CHECK(name(8, {Space::global, Space::global}, 0).empty());
    CHECK(name(9, {Space::global}, 0) == "c[i]");
    CHECK(name(10, {Space::global}, 0) == "u[k]");
    CHECK(name(1, {Space::param}, 0).empty());
    CHECK(subscript_of(source, 3, true) == "part[t]");
    CHECK(subscript_of(source, 10, true) == "s[k]");
}

TEST_CASE("a register on its way is hatched as the timeline calls the wait for it") {
    const Timeline timeline = make_timeline(small_run());
    const KernelTrace& trace = timeline.trace();
    size_t fixed = 0, far = 0;
    for (const WarpTrack& warp : trace.warps)
        for (const uint32_t index : warp.issues) {
            const ptx::Kind kind = timeline.run->program->instructions[trace.issues[index].pc].kind;
            const StallReason reason = wait_for_result(timeline, warp, index);
            if (kind == ptx::Kind::lane_wise && trace.issues[index].pc != 6) {
                REQUIRE(reason == StallReason::wait);
                ++fixed;
            } else if (kind == ptx::Kind::load) {
                REQUIRE(reason == StallReason::long_scoreboard);
                ++far;
            }
            for (const StallRun& run : warp.runs)
                if (run.cause == static_cast<int32_t>(index) && run.reason == StallReason::short_scoreboard)
                    REQUIRE(reason == StallReason::short_scoreboard);
        }
    CHECK(fixed > 100);
    CHECK(far > 100);
}

TEST_CASE("register bits read as the type that the program uses them with") {
    CHECK(text_of(0x3fc00000u, ptx::Type::f32) == "1.5");
    CHECK(text_of(0xffffffffu, ptx::Type::s32) == "-1");
    CHECK(text_of(20736, ptx::Type::u32) == "20,736");
    CHECK(text_of(0xffffffffu, ptx::Type::u32) == "0xffffffff");
    CHECK(text_of(0x7fc00000u, ptx::Type::f32) == "nan");
    CHECK(text_of(0x3c00, ptx::Type::f16) == "1");
    CHECK(text_of(0x7f0000000400ull, ptx::Type::b64) == "0x7f0000000400");
    CHECK(text_of(1, ptx::Type::pred) == "1");
    CHECK(text_of(0xb4003e00u, ptx::Type::f16x2) == "1.5 | -0.25");
    CHECK(text_of(0xbe803fc0u, ptx::Type::bf16x2) == "1.5 | -0.25");
    const std::string halves = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry halves(.param .u64 p) {
  .reg .b16 %h<3>; .reg .f32 %f<2>; .reg .b32 %r<9>;
  mov.f32 %f1, 0f3FC00000;
  cvt.rn.f16.f32 %h1, %f1;
  mov.b32 %r1, {%h1, %h1};
  add.f16x2 %r2, %r1, %r1;
  mov.u32 %r3, 7;
  mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r4, %r5}, {%r6, %r6}, {%r7}, {%r8, %r8};
  ret;
})";
    const auto packed = ptx::decode(ptx::parse(halves, "halves.ptx").value()).value();
    std::map<std::string, ptx::Type> uses;
    for (const ptx::Register& reg : packed->registers) uses[reg.name] = type_of_use(*packed, reg);
    for (const char* name : {"%r1", "%r2", "%r4", "%r6", "%r7", "%r8"}) {
        INFO(name);
        CHECK(uses[name] == ptx::Type::f16x2);
    }
    CHECK(uses["%r3"] == ptx::Type::u32);
    const auto program = small_program();
    CHECK(type_of_use(*program, program->registers[0]) == ptx::Type::s32);
    const std::string bits = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry bits(.param .u64 p) {
  .reg .f32 %f<3>; .reg .b32 %r<6>; .reg .pred %p<2>;
  mov.f32 %f1, 0f3FC00000;
  mov.b32 %r1, %f1;
  mov.u32 %r2, 16;
  mov.u32 %r3, -1;
  shfl.sync.down.b32 %r4|%p1, %r1, %r2, %r2, %r3;
  mov.b32 %f2, %r4;
  ret;
})";
    const auto moved = ptx::decode(ptx::parse(bits, "bits.ptx").value()).value();
    for (const ptx::Register& reg : moved->registers) {
        INFO(reg.name);
        if (reg.name == "%r1" || reg.name == "%r4") CHECK(type_of_use(*moved, reg) == ptx::Type::f32);
        if (reg.name == "%r2" || reg.name == "%r3") CHECK(type_of_use(*moved, reg) == ptx::Type::u32);
    }
    CHECK(type_of_use(*program, {"%r9", ptx::Type::b32, 192}) == ptx::Type::f32);  // new compilers keep floats in %r
}

TEST_CASE("the legend has the letters of what issues in view, and no other") {
    const Timeline timeline = make_timeline(small_run({.cycles = 2000}));
    for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 2000}, {400, 420}, {700, 701}}) {
        std::set<char> plain;
        for (const IssueRecord& issue : timeline.trace().issues)
            if (issue.cycle >= begin && issue.cycle < end && !issue.folded) plain.insert(letter_of(timeline, issue.pc));
        const std::string letters = letters_in(timeline, begin, end);
        CHECK(std::set<char>(letters.begin(), letters.end()) == plain);
        CHECK(letters.size() == plain.size());
    }
    CHECK(letters_in(timeline, 0, 2000).size() > letters_in(timeline, 400, 403).size());
}

TEST_CASE("ruler labels stand on round cycles") {
    CHECK(ruler_step(9.5) == 10);
    CHECK(ruler_step(10.5) == 20);
    CHECK(ruler_step(0.1) == 1);
    CHECK(ruler_step(2100) == 5000);
}

TEST_CASE("views of the SM say that nothing has run yet, and then what did") {
    Session session({.start = false});
    Focus focus;
    for (const char* name : {"warps", "code", "warp", "blocks", "divergence", "stack", "source", "lesson"}) {
        const auto view = view_named(name)->make();
        const std::string text = view->describe(session, focus);
        INFO(text);
        CHECK((text.find("yet") != std::string::npos || text.find("none is open") != std::string::npos));
    }
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->kernel.run = small_run({.cycles = 900});
    snapshot->kernel.history = even_odd_history();
    session.publish_for_test(snapshot);
    focus_first(make_timeline(snapshot->kernel.run), focus, 100);
    const std::string warps = view_named("warps")->make()->describe(session, focus);
    INFO(warps);
    CHECK(warps.find("long scoreboard") != std::string::npos);
    CHECK(warps.find("issue slots used") != std::string::npos);
    CHECK(warps.find("  empty slot: ") != std::string::npos);
    // An open prediction takes the totals away.
    session.learn.reveal_steps = 3;
    for (const char* name : {"warps", "code", "blocks", "divergence"}) {
        const std::string hidden = view_named(name)->make()->describe(session, focus);
        INFO(hidden);
        CHECK(hidden.find("hidden until you lock an answer") != std::string::npos);
        CHECK(hidden.find("efficiency") == std::string::npos);
        CHECK(hidden.find("issue slots used") == std::string::npos);
    }
    // With everything hidden not even the shape of the launch is told.
    session.learn.reveal_steps = 0;
    CHECK(view_named("blocks")->make()->describe(session, focus).find("room for") == std::string::npos);
    CHECK(view_named("warps")->make()->describe(session, focus).find("cycles 0 to") == std::string::npos);
    CHECK(view_named("stack")->make()->describe(session, focus).find("mask") == std::string::npos);
    session.learn.reveal_steps = 3;
    session.sm.history_step = 9;
    CHECK(view_named("divergence")->make()->describe(session, focus).find("issue 4 ") == std::string::npos);
}

TEST_CASE(
    "the ladder's arithmetic leaves out what ptxas folds into another instruction: that waits for the other's values") {
    auto run = std::make_shared<model::KernelRun>(*small_run());
    const auto arithmetic = [&] {
        for (const LadderRow& row : ladder_of(*run))
            if (row.what == "arithmetic") return row;
        return LadderRow{};
    };
    const LadderRow before = arithmetic();
    REQUIRE(before.count > 1);
    for (IssueRecord& issue : run->result.trace.issues)
        if (run->program->instructions[issue.pc].kind == ptx::Kind::lane_wise) {
            issue.folded = true;
            issue.ready = issue.cycle + 437;
            break;
        }
    const LadderRow after = arithmetic();
    CHECK(after.count == before.count - 1);
    CHECK(after.longest == before.longest);
}

TEST_CASE("an SM that had no block is said to have had none, as a kernel that has not run is") {
    Desk desk;
    desk.session.workspace = Workspace::sm;
    CHECK(desk.shell.describe("warps").find("No kernel has run yet.") != std::string::npos);
    auto run = std::make_shared<model::KernelRun>(*small_run());
    KernelTrace& trace = run->result.trace;
    trace.sm = 79;
    trace.warps.clear();
    trace.issues.clear();
    std::erase_if(trace.blocks, [](const BlockRun& block) { return block.sm == 79; });
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->kernel.run = run;
    REQUIRE(desk.shell.show_alone("warps"));
    desk.show(snapshot);
    CHECK(desk.shell.describe("warps").find("No block of this kernel ran on SM 79.") != std::string::npos);
    std::string words;
    for (const UiState::Written& text : desk.written) words += text.text + " ";
    CHECK(words.find("No block of this kernel ran on SM 79.") != std::string::npos);
    trace.blocks.clear();
    CHECK(desk.shell.describe("warps").find("without a trace of its warps") != std::string::npos);
}

TEST_CASE("cycles in which the SM has no block any more are all empty, and it is said since when and who still runs") {
    Desk desk;
    desk.session.workspace = Workspace::sm;
    REQUIRE(desk.shell.show_alone("warps"));
    auto run = std::make_shared<model::KernelRun>(*small_run({.blocks_at_once = 1, .blocks = 1, .cycles = 3000}));
    KernelTrace& trace = run->result.trace;
    std::erase_if(trace.warps, [](const WarpTrack& warp) { return warp.begin > 0; });
    std::erase_if(trace.issues, [&](const IssueRecord& issue) { return issue.warp >= trace.warps.size(); });
    for (WarpTrack& warp : trace.warps) {
        warp.end = 200;
        std::erase_if(warp.runs, [](const StallRun& stall) { return stall.end > 200; });
        std::erase_if(warp.issues, [&](uint32_t i) { return i >= trace.issues.size() || trace.issues[i].cycle >= 200; });
    }
    trace.blocks = {{0, 0, 0, 0, 200}, {1, 3, 0, 0, 2900}};
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->kernel.run = run;
    desk.show(snapshot);
    desk.session.sm.cycles_begin = 1000;
    desk.session.sm.cycles_end = 1100;
    desk.shell.focus.time = 1050;
    desk.frames(2);
    CHECK(desk.shows("SM 0 had its last block until 200; SM 3 still runs."));
    CHECK(desk.shows("100.0 %"));
    CHECK(desk.shell.describe("warps").find("empty slot: 100.0 %") != std::string::npos);
}

TEST_CASE("each limit of the blocks that an SM holds has a line of its own") {
    SmDesk desk(Workspace::sm);
    CHECK(desk.shell.describe("blocks").find("  shared memory: 4 blocks (") != std::string::npos);
    CHECK(desk.shell.describe("occupancy").find("  shared memory: 4 blocks; ") != std::string::npos);
}

TEST_CASE("a load that waits for a line on its way is no hit in L2: a hit takes the time of one") {
    auto run = std::make_shared<model::KernelRun>(*small_run());
    const int64_t hit = run->gpu.l2_latency, miss = run->gpu.dram_latency;
    for (const auto& [cycles, words] : {std::pair<int64_t, std::string>{hit, "L2 hit"},
                                        {hit + 40, "L2 hit"},
                                        {miss - 4, "through L2"},
                                        {2 * miss, "through L2"}}) {
        INFO(cycles);
        CHECK(served_by(MemoryLevel::l2, cycles, run->gpu) == words);
        for (IssueRecord& issue : run->result.trace.issues)
            if (run->program->instructions[issue.pc].kind == ptx::Kind::load)
                issue.level = MemoryLevel::l2, issue.ready = issue.cycle + cycles;
        bool found = false;
        for (const LadderRow& row : ladder_of(*run)) found = found || (row.where == words && row.median == cycles);
        CHECK(found);
    }
    CHECK(served_by(MemoryLevel::dram, miss, run->gpu) == "L2 miss");
    CHECK(served_by(MemoryLevel::l1, 300, run->gpu) == "L1 hit");
}

}  // namespace gui_sm_timeline_test
