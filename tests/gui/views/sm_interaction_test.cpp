// Clicks, wheel and keys on the SM and Learn pictures, in the whole interface without a window.
#include "app/gui/views/timeline/timeline_data.h"
#include "app/gui/views/timeline/timeline_view.h"
#include "lessons/player/predict.h"
#include "tests/catch.h"
#include "tests/gui/sm_desk.h"

namespace gui_sm_interaction_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

TEST_CASE("a click in the timeline picks the warp and cycle under the pointer") {
    SmDesk desk(Workspace::sm);
    int moved = 0;
    for (float y = 150; y < 700; y += 47) {
        const int64_t begin = desk.session.sm.cycles_begin, end = desk.session.sm.cycles_end;
        desk.click(500, y);
        CHECK(desk.session.sm.cycles_begin == begin);
        CHECK(desk.shell.focus.time >= begin);
        CHECK(desk.shell.focus.time < end);
        REQUIRE(desk.shell.focus.warp >= 0);
        const WarpTrack& warp = desk.trace().warps[static_cast<size_t>(desk.shell.focus.warp)];
        const WarpState state = state_at(desk.trace(), warp, desk.shell.focus.time);
        if (!state.resident) continue;
        CHECK(desk.shell.focus.pc == static_cast<int32_t>(state.pc()));
        CHECK(desk.shell.focus.line == desk.session.snapshot()->kernel.run->program->instructions[state.pc()].line);
        CHECK(desk.shell.focus.block == static_cast<int32_t>(warp.block));
        ++moved;
    }
    CHECK(moved > 6);
}

TEST_CASE("the wheel zooms around the pointer, dragging pans, Home shows the whole kernel") {
    SmDesk desk(Workspace::sm);
    const int64_t length = desk.session.sm.cycles_end - desk.session.sm.cycles_begin;
    desk.input.mouse_x = 500;
    desk.input.mouse_y = 300;
    desk.input.wheel = 3;
    desk.frame();
    CHECK(desk.session.sm.cycles_end - desk.session.sm.cycles_begin < length);
    desk.input.wheel = -12;
    desk.frame();
    CHECK(desk.session.sm.cycles_end - desk.session.sm.cycles_begin > length);
    const int64_t begin = desk.session.sm.cycles_begin;
    const int64_t time = desk.shell.focus.time;
    desk.input.clicked = desk.input.down = true;
    desk.frame();
    desk.input.mouse_x = 400;
    desk.frame();
    CHECK(desk.session.sm.cycles_begin != begin);
    desk.input.down = false;
    desk.input.released = true;
    desk.frame();
    CHECK(desk.shell.focus.time == time);  // a drag is not a click
    desk.input.keys.push_back({KeyCode::home, false, false});
    desk.frame();
    desk.frame();
    CHECK(desk.session.sm.cycles_begin == 0);
    CHECK(desk.session.sm.cycles_end == desk.trace().cycles);
}

TEST_CASE("larger text and a narrower window show fewer cycles, each as wide as before; a window set by hand stays") {
    SmDesk desk(Workspace::sm);
    const auto length = [&] { return desk.session.sm.cycles_end - desk.session.sm.cycles_begin; };
    const int64_t plain = length(), time = desk.shell.focus.time;
    const auto inside = [&] { return desk.session.sm.cycles_begin <= time && time < desk.session.sm.cycles_end; };
    desk.size(1600, 1000, 1.4f);
    desk.frames(2);
    CHECK(length() < plain);
    CHECK(inside());
    CHECK(desk.shows("issued"));
    CHECK_FALSE(desk.shows("closer up (W, or the wheel) every instruction has its letter"));
    desk.size(1600, 1000, 1);
    desk.frames(2);
    CHECK(length() == plain);
    CHECK(inside());
    desk.session.sm.cycles_end = desk.session.sm.cycles_begin + 3 * plain;
    desk.frames(2);
    CHECK(desk.shows("closer up (W, or the wheel) every instruction has its letter"));
    desk.size(1600, 1000, 1.4f);
    desk.frames(2);
    CHECK(length() == 3 * plain);
}

TEST_CASE("where few warps leave room, the one in focus says what it issues, when, and what it waited for before") {
    SmDesk desk(Workspace::sm, {.schedulers = 1, .blocks_at_once = 1, .warps_per_block = 1, .blocks = 1});
    const KernelTrace& trace = desk.trace();
    REQUIRE(trace.warps.front().issues.size() > 30);
    desk.shell.focus.warp = 0;
    desk.shell.focus.time = trace.warps.front().begin;
    const WarpTrack& warp = trace.warps.front();
    const auto issue = [&](size_t i) -> const IssueRecord& { return trace.issues[warp.issues[i]]; };
    for (const auto& [width, height, scale] :
         {std::tuple{1600.0f, 1000.0f, 1.0f}, {1280.0f, 720.0f, 1.0f}, {1600.0f, 1000.0f, 1.5f}}) {
        desk.size(width, height, scale);
        desk.frames(3);
        INFO(width << " x " << height << " at " << scale);
        if (scale == 1) CHECK(desk.shows(fmt::format("what warp 0 of block {} issues", warp.block)));
        if (scale == 1) CHECK(desk.shows("cycles waited"));
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
    desk.size(1600, 1000, 1);
    for (size_t i = 3; i < 30; i += 4) {  // the row follows the clock, and says the cycles between two issues
        desk.shell.focus.time = issue(i).cycle;
        desk.frames(3);
        INFO("issue " << i);
        CHECK(desk.shows(with_commas(issue(i).cycle)));
        if (const int64_t waited = issue(i).cycle - issue(i - 1).cycle - 1; waited > 0)
            CHECK(desk.shows(with_commas(waited)));
    }
    const int64_t before = issue(25).cycle;
    desk.shell.focus.time = issue(27).cycle;
    desk.frames(3);
    for (const UiState::Written& text : std::vector(desk.written))
        if (text.text == with_commas(before) && text.ink.y > 400) desk.click(text.ink.x + 2, text.ink.y + 4);
    CHECK(desk.shell.focus.time == before);

    const std::shared_ptr<const Timeline> timeline = desk.session.timeline(desk.session.snapshot()->kernel.run);
    const std::string hidden = IssueList().describe(*timeline, 0, issue(5).cycle, issue(6).cycle);
    CHECK(hidden.find(fmt::format("cycle {}:", issue(5).cycle)) != std::string::npos);
    CHECK(hidden.find(fmt::format("cycle {}:", issue(6).cycle)) == std::string::npos);
}

TEST_CASE("the SM workspace stays within eight thousand quads at every zoom") {
    SmDesk desk(Workspace::sm, {.warps_per_block = 16, .cycles = 20000});
    CHECK(desk.quads > 500);
    for (const int64_t length : {60, 107, 140, 300, 900, 3000, 20000}) {
        desk.session.sm.cycles_begin = 4000 * (length < 16000);
        desk.session.sm.cycles_end = desk.session.sm.cycles_begin + length;
        desk.shell.focus.time = desk.session.sm.cycles_begin + length / 2;
        desk.frame();
        desk.frame();
        INFO(length << " cycles in view");
        CHECK(desk.quads < 8000);
    }
}

TEST_CASE("a click on a PTX row moves the focus to it and its source line") {
    SmDesk desk(Workspace::sm);
    const auto& program = *desk.session.snapshot()->kernel.run->program;
    int changed = 0;
    for (float y = 120; y < 250; y += 18) {
        const int32_t before = desk.shell.focus.pc;
        desk.click(1420, y);
        REQUIRE(desk.shell.focus.pc >= 0);
        CHECK(desk.shell.focus.line == program.instructions[static_cast<size_t>(desk.shell.focus.pc)].line);
        changed += desk.shell.focus.pc != before;
    }
    CHECK(changed > 3);
}

TEST_CASE("an answer is chosen with a click, and locked with the button") {
    SmDesk desk(Workspace::learn);
    auto lesson = std::make_shared<lessons::Lesson>();
    lesson->id = "T01";
    lesson->title = "A test";
    lessons::Step step;
    step.title = "Only step";
    step.verb = "predict";
    lessons::Predict predict;
    predict.question = "How many?";
    for (const char* text : {"one", "two", "three"})
        predict.answers.push_back({.text = text, .detail = {}, .value = 0, .has_value = false, .reply = {}});
    step.predicts = {predict};
    lesson->steps = {step};
    desk.session.lesson.lesson = lesson;
    desk.session.lesson.predictions = {{LessonState::Prediction{}}};
    desk.session.lesson.done = {false};
    for (int i = 0; i < 4; ++i) desk.frame();
    const auto& given = desk.session.lesson.predictions[0][0];
    CHECK(given.chosen == -1);
    int seen = 0;
    for (float y = 180; y < 520 && !given.locked; y += 12) {
        const int before = given.chosen;
        desk.click(120, y);
        seen += given.chosen != before;
    }
    CHECK(seen == 3);
    CHECK(given.chosen == static_cast<int>(lessons::shown_order(*lesson, predict, 0).back()));  // the lowest on show
    CHECK(given.locked);
}

TEST_CASE("Tab scrolls to the control that it comes to") {
    SmDesk desk(Workspace::learn);
    auto lesson = std::make_shared<lessons::Lesson>();
    lesson->id = "T01";
    lesson->title = "A test";
    for (int i = 1; i <= 30; ++i) {
        lessons::Step step;
        step.title = fmt::format("Step called {}", i);
        step.verb = "read";
        lesson->steps.push_back(step);
    }
    desk.session.lesson.lesson = lesson;
    desk.session.lesson.predictions.resize(30);
    desk.session.lesson.done.assign(30, false);
    desk.size(800, 600, 1);
    desk.frames(4);
    CHECK_FALSE(desk.shows("Step called 30"));
    int tabs = 0;
    while (!desk.shows("Step called 30") && tabs++ < 80) desk.key(KeyCode::tab);
    CHECK(desk.shows("Step called 30"));
    while (desk.session.lesson.step != 29 && tabs++ < 120) {
        desk.key(KeyCode::enter);
        if (desk.session.lesson.step != 29) desk.key(KeyCode::tab);
    }
    CHECK(desk.session.lesson.step == 29);
}

TEST_CASE("a view's own keys follow Tab into its panel") {
    SmDesk memory(Workspace::memory);
    const auto lane_moved = [&] {
        const int32_t before = memory.shell.focus.lane;
        memory.key(KeyCode::d);
        const bool moved = memory.shell.focus.lane != before;
        memory.key(KeyCode::a);
        return moved;
    };
    CHECK(lane_moved());  // nothing is chosen: the first picture has the keys
    bool other = false, back = false;
    for (int i = 0; i < 120 && !(other && back); ++i) {
        memory.key(KeyCode::tab);
        const bool moved = lane_moved();
        other = other || !moved;  // among the roofline's controls D belongs to the roofline
        back = back || (other && moved);
    }
    CHECK(other);
    CHECK(back);
}

TEST_CASE("what the pointer is told stays inside the window, however large the text") {
    SmDesk desk(Workspace::sm);
    desk.shell.show_alone("warps");
    int told = 0;
    for (const float scale : {1.0f, 2.0f}) {
        desk.size(1280, 720, scale);
        desk.frames(3);
        for (float x = 220; x < 1270; x += 150)
            for (float y = 150; y < 700; y += 60) {
                desk.input.mouse_x = x;
                desk.input.mouse_y = y;
                desk.frame();
                told += !desk.shell.state.tooltip.empty();
                for (const UiState::Written& text : desk.written) {
                    INFO(text.text << " at scale " << scale);
                    CHECK(text.ink.right() <= 1280.5f);
                    CHECK(text.ink.x >= -0.5f);
                }
            }
    }
    CHECK(told > 10);
}

TEST_CASE("Shift and Right in a wait go to the instruction that waits, and on from there to the next cycle that issues") {
    SmDesk desk(Workspace::sm);
    const KernelTrace& trace = desk.trace();
    const auto& warp = trace.warps.front();
    desk.shell.focus.warp = 0;
    size_t waited = 0;
    for (size_t i = 1; i + 1 < 10; ++i) {  // the history has ten
        const int64_t here = trace.issues[warp.issues[i]].cycle, next = trace.issues[warp.issues[i + 1]].cycle;
        if (next - here < 4) continue;
        desk.shell.focus.time = here + 2;
        desk.frames(2);
        desk.key(KeyCode::right, true);
        CHECK(desk.shell.focus.time == next);
        desk.key(KeyCode::left, true);
        CHECK(desk.shell.focus.time == here);
        ++waited;
    }
    CHECK(waited > 2);
}

TEST_CASE("Shift and Right pass over what is folded into the instruction before it") {
    SmDesk desk(Workspace::sm);
    auto snapshot = std::make_shared<Snapshot>(*desk.session.snapshot());
    auto run = std::make_shared<model::KernelRun>(*snapshot->kernel.run);
    KernelTrace& trace = run->result.trace;
    const auto& issues = trace.warps.front().issues;
    trace.issues[issues[7]].cycle = trace.issues[issues[8]].cycle = trace.issues[issues[6]].cycle;
    trace.issues[issues[7]].folded = trace.issues[issues[8]].folded = true;
    snapshot->kernel.run = run;
    desk.show(snapshot);
    desk.shell.focus.warp = 0;
    desk.shell.focus.time = trace.issues[issues[6]].cycle;
    desk.frames(2);
    desk.key(KeyCode::right, true);
    CHECK(desk.shell.focus.time == trace.issues[issues[9]].cycle);
    desk.key(KeyCode::left, true);
    CHECK(desk.shell.focus.time == trace.issues[issues[6]].cycle);
}

TEST_CASE("a warp that has ended has no lanes on and no instruction that is marked") {
    SmDesk desk(Workspace::sm);
    const KernelTrace& trace = desk.trace();
    const auto ended = std::find_if(trace.warps.begin(), trace.warps.end(),
                                    [&](const WarpTrack& warp) { return warp.end + 40 < trace.cycles; });
    REQUIRE(ended != trace.warps.end());
    desk.shell.focus.warp = static_cast<int32_t>(ended - trace.warps.begin());
    desk.shell.focus.time = ended->end - 2;
    desk.frames(2);
    CHECK(desk.shell.focus.pc >= 0);
    CHECK(desk.shows(" of 32 lanes on"));
    desk.shell.focus.time = ended->end + 20;
    desk.frames(2);
    CHECK(desk.shell.focus.pc == -1);
    CHECK(desk.shell.focus.line == -1);
    CHECK(desk.shows("Ended at cycle"));
    CHECK_FALSE(desk.shows(" of 32 lanes on"));
}

TEST_CASE("no tooltip covers what a click brought until the pointer moves on") {
    SmDesk desk(Workspace::sm);
    desk.shell.show_alone("warps");
    desk.frames(2);
    desk.input.mouse_x = 500;
    desk.input.mouse_y = 300;
    desk.frame();
    REQUIRE_FALSE(desk.shell.state.tooltip.empty());
    desk.click(500, 300);
    CHECK(desk.shell.state.tooltip.empty());
    desk.input.mouse_x = 520;
    desk.frame();
    CHECK_FALSE(desk.shell.state.tooltip.empty());
}

TEST_CASE("the instruction that is marked stays in sight when its panel becomes lower") {
    SmDesk desk(Workspace::sm);
    auto snapshot = std::make_shared<Snapshot>(*desk.session.snapshot());
    auto run = std::make_shared<model::KernelRun>(*snapshot->kernel.run);
    auto program = std::make_shared<ptx::Program>(*run->program);
    const size_t before = program->instructions.size();
    for (int copies = 0; copies < 6; ++copies)
        for (size_t pc = 0; pc < before; ++pc) {
            program->instructions.push_back(program->instructions[pc]);
            program->texts.push_back(program->texts[pc]);
        }
    const std::string text = "\tex2.approx.ftz.f32 %f9, %f9;\n";
    program->texts[40] = {static_cast<uint32_t>(program->ptx.size()) + 1, static_cast<uint32_t>(text.size()) - 2};
    program->ptx += text;
    run->program = program;
    snapshot->kernel.run = run;
    desk.show(snapshot);
    desk.shell.show_alone("code");
    desk.size(1600, 1000, 1);
    desk.frames(2);
    desk.shell.focus.pc = 40;
    desk.frames(2);
    REQUIRE(desk.shows("ex2.approx"));
    for (const float height : {360.0f, 300.0f, 420.0f}) {
        desk.size(1600, height, 1);
        desk.frames(3);
        INFO(height);
        CHECK(desk.shows("ex2.approx"));
    }
}

TEST_CASE("two runs say whose warps are drawn, and zoom by their keys wherever the pointer is in the panel") {
    SmDesk desk(Workspace::sm);
    desk.session.sm.pinned = desk.session.snapshot()->kernel.run;
    desk.session.sm.page = SmPage::compare;
    desk.frames(3);
    const std::string words = desk.shell.describe("compare");
    INFO(words);
    CHECK(words.find("SM 0 of 80") != std::string::npos);
    CHECK(desk.shows("SM 0 of 80"));
    desk.shell.show_alone("compare");
    desk.frames(3);
    const auto labels = [&] {
        std::string all;
        for (const UiState::Written& text : desk.written) all += text.text + "|";
        return all;
    };
    const std::string whole = labels();
    desk.input.mouse_x = 1400;  // over the table
    desk.input.mouse_y = 300;
    desk.key(KeyCode::w);
    CHECK(labels() != whole);
}

TEST_CASE("in a narrow window the timeline still says whose cycles it shows, and the letters have their key") {
    SmDesk desk(Workspace::sm);
    for (const auto& [width, height, scale] : {std::tuple{1280.0f, 720.0f, 1.0f}, {1600.0f, 1000.0f, 2.0f}}) {
        desk.size(width, height, scale);
        desk.frames(3);
        INFO(width << " x " << height << " at " << scale);
        CHECK(desk.shows("SM 0"));
        CHECK(desk.shows("setp"));
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("a row is named after its warp and block, also where the slot is empty at the clock") {
    SmDesk desk(Workspace::sm, {.schedulers = 1, .blocks_at_once = 1, .warps_per_block = 1, .blocks = 900, .cycles = 3000});
    const KernelTrace& trace = desk.trace();
    REQUIRE(trace.warps.size() > 2);
    const int64_t gap = trace.warps[0].end + 3;
    REQUIRE(gap < trace.warps[1].begin);
    desk.session.sm.cycles_begin = gap - 40;
    desk.session.sm.cycles_end = gap + 40;
    desk.shell.focus.warp = 1;
    desk.shell.focus.time = gap;
    desk.frames(3);
    const auto written = [&](const std::string& words) {
        return std::any_of(desk.written.begin(), desk.written.end(),
                           [&](const UiState::Written& text) { return text.text == words; });
    };
    CHECK(written(fmt::format("b{}", trace.warps[1].block)));
    CHECK(written("w0"));
}

TEST_CASE("set to another GPU the calculator says on which one the runs were") {
    SmDesk desk(Workspace::sm);
    auto snapshot = std::make_shared<Snapshot>(*desk.session.snapshot());
    auto run = std::make_shared<model::KernelRun>(*snapshot->kernel.run);
    for (const model::MetricRow& row : model::metric_rows())
        if (row.name == "issue_slot_utilization") run->result.metrics = {{row.name, row.nsight, row.unit, 42.0}};
    snapshot->kernel.run = run;
    desk.show(snapshot);
    desk.shell.show_alone("occupancy");
    desk.frames(2);
    REQUIRE(desk.shows("issue slots used, %"));
    CHECK_FALSE(desk.shows("runs on "));
    REQUIRE(desk.click_on(">"));
    CHECK(desk.shows("runs on " + std::string(run->gpu.title)));
}

}  // namespace gui_sm_interaction_test
