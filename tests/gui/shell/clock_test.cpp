// The clock and the instruction that is stepped to are one moment, whatever was clicked; a step forward goes forward; keys
// belong to the panel that the pointer is in; what is typed into a launch runs when it is meant.
#include <chrono>
#include <filesystem>
#include <fstream>

#include "app/gui/views/timeline/state_code.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "tests/catch.h"
#include "tests/gui/sm_desk.h"

namespace gui_clock_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;
namespace fs = std::filesystem;

namespace {

// x[i] = i through shared memory; thread `bad` writes far outside.
std::string fill_ptx(int bad = -1) {
    return R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 fill_param_0)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<5>;
    .shared .align 4 .b8 part[4096];
    ld.param.u64 %rd1, [fill_param_0];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    shl.b32 %r5, %r3, 2;
    mov.u32 %r6, part;
    add.s32 %r6, %r6, %r5;
    st.shared.u32 [%r6], %r4;
    bar.sync 0;
    setp.eq.s32 %p1, %r4, )" +
           std::to_string(bad) + R"(;
    mul.wide.s32 %rd3, %r4, 4;
    @%p1 add.s64 %rd3, %rd3, 1000000;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4];
    add.f32 %f2, %f1, %f1;
    ld.shared.u32 %r7, [%r6];
    st.global.u32 [%rd4], %r7;
    ret;
}
)";
}

struct OwnDesk : Desk {
    fs::path folder = fs::temp_directory_path() /
                      ("lockstep-clock-test-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
    explicit OwnDesk(const std::string& text) : Desk({.gpu = "teaching:4", .own_kernel = true}) {
        fs::create_directories(folder);
        std::ofstream(folder / "fill.ptx") << text;
        session.workspace = Workspace::kernel;
        pace = 0.4;
        REQUIRE(!session.desk.open(folder / "fill.ptx"));
        settle();
        REQUIRE(session.snapshot()->own.run);
    }
    ~OwnDesk() { fs::remove_all(folder); }
    LaunchSettings& launch() { return session.desk.document().launch; }
    void type(const std::string& text) {
        for (const char c : text) input.keys.push_back({KeyCode::none, false, false, static_cast<char32_t>(c)});
        frame();
    }
};

// Whether the clock is where the focused warp issues the instruction that is stepped to, or waits for it.
void check_one_moment(const Desk& desk) {
    const auto snapshot = desk.session.snapshot();
    REQUIRE(snapshot->kernel.run);
    const KernelTrace& trace = snapshot->kernel.run->result.trace;
    const Focus& focus = desk.shell.focus;
    REQUIRE(focus.warp >= 0);
    REQUIRE(focus.warp < static_cast<int32_t>(trace.warps.size()));
    const WarpTrack& warp = trace.warps[static_cast<size_t>(focus.warp)];
    const int64_t step = desk.session.sm.history_step, issues = static_cast<int64_t>(warp.issues.size());
    INFO("cycle " << focus.time << ", step " << step << " of " << issues << ", which issues at "
                  << cycle_of_step(trace, warp, step));
    if (cycle_of_step(trace, warp, step) == focus.time) return;
    CHECK(step == std::min(issues_before(trace, warp, focus.time), issues - 1));
}

}  // namespace

TEST_CASE("a launch that is edited keeps the moment that was looked at, in the timeline too") {
    OwnDesk desk(fill_ptx());
    CHECK(desk.session.grain == Grain::instruction);
    desk.key(KeyCode::right);
    desk.key(KeyCode::right);
    desk.settle();
    const int64_t step = desk.session.sm.history_step;
    check_one_moment(desk);
    desk.launch().block = "16,8";
    desk.session.desk.touch();
    desk.settle();
    REQUIRE(desk.session.snapshot()->own.run->run->config.block.y == 8);
    desk.session.workspace = Workspace::sm;
    desk.settle();
    CHECK(desk.session.sm.history_step == step);
    check_one_moment(desk);
    const int64_t time = desk.shell.focus.time;
    desk.session.sm.page = SmPage::compare;  // and closed again
    desk.session.sm.pinned = desk.session.snapshot()->kernel.run;
    desk.frames(2);
    desk.session.sm.page = SmPage::one_run;
    desk.frames(2);
    CHECK(desk.shell.focus.time == time);
    check_one_moment(desk);
    desk.key(KeyCode::right);
    CHECK(desk.shell.focus.time >= time);
    check_one_moment(desk);
}

TEST_CASE("at the grain of instructions a click on any time sets the instruction with the clock") {
    SmDesk desk(Workspace::sm);
    desk.session.grain = Grain::instruction;
    desk.shell.focus.warp = 0;
    desk.frames(2);
    for (float y = 150; y < 900; y += 37) {  // cells, empty ones, and the areas below
        desk.key(KeyCode::right);            // the instruction leads again
        desk.click(420, y);
        check_one_moment(desk);
        desk.click(300, y);
        check_one_moment(desk);
    }
    SECTION("blocks over time") {
        desk.shell.show_alone("blocks");
        desk.frames(2);
        int moved = 0;
        for (const float x : {300.0f, 500.0f, 800.0f, 1200.0f}) {
            desk.key(KeyCode::right);
            const int64_t last = desk.shell.focus.time;
            desk.click(x, 560);
            moved += desk.shell.focus.time != last;
            check_one_moment(desk);
        }
        CHECK(moved > 2);
    }
    SECTION("two runs") {
        desk.session.sm.pinned = small_run({.seed = 8});
        desk.session.sm.page = SmPage::compare;
        desk.frames(2);
        int moved = 0;
        for (const float x : {200.0f, 300.0f, 400.0f}) {
            desk.key(KeyCode::right);
            const int64_t last = desk.shell.focus.time;
            desk.click(x, 250);
            moved += desk.shell.focus.time != last;
            check_one_moment(desk);
        }
        CHECK(moved > 1);
    }
}

TEST_CASE("a click on a line's number sets the clock with the instruction") {
    OwnDesk desk(fill_ptx());
    const int64_t step = desk.session.sm.history_step;
    const UiState::Written* number = nullptr;
    for (const UiState::Written& text : desk.written)
        if (text.text == "19" && (number == nullptr || text.ink.x < number->ink.x)) number = &text;
    REQUIRE(number != nullptr);
    const Rect ink = number->ink;
    desk.click(ink.x + ink.w / 2, ink.y + ink.h / 2);
    desk.settle();
    CHECK(desk.session.sm.history_step > step);
    check_one_moment(desk);
}

TEST_CASE("a step forward never goes back: where the warp has ended the one that follows in its slot is stepped on") {
    SmDesk desk(Workspace::sm);
    const KernelTrace& trace = desk.trace();
    int followed = 0;
    for (size_t w = 0; w < trace.warps.size(); w += 5) {
        const WarpTrack& warp = trace.warps[w];
        for (const int64_t behind : {-3, 0, 5, 30, 200}) {
            desk.session.grain = Grain::cycle;
            desk.shell.focus.warp = static_cast<int32_t>(w);
            desk.shell.focus.time = std::min(warp.end + behind, trace.cycles - 1);
            desk.frames(2);
            const int64_t before = desk.shell.focus.time;
            desk.key(KeyCode::right, true);
            CHECK(desk.shell.focus.time >= before);
            const WarpTrack& now = trace.warps[static_cast<size_t>(desk.shell.focus.warp)];
            CHECK(now.slot == warp.slot);
            followed += &now != &warp;
        }
    }
    CHECK(followed > 5);
}

TEST_CASE("what a step is stays with its workspace") {
    OwnDesk desk(fill_ptx());
    desk.key(static_cast<KeyCode>('3'));
    const Workspace first = desk.session.workspace;
    desk.session.grain = Grain::cycle;
    desk.frames(2);
    desk.session.workspace = Workspace::kernel;
    desk.frames(2);
    CHECK(desk.session.grain == Grain::instruction);
    desk.session.workspace = first;
    desk.frames(2);
    CHECK(desk.session.grain == Grain::cycle);
}

TEST_CASE("a fault ends the launch in its cycle, on every SM, and the pictures say what stopped it") {
    OwnDesk desk(fill_ptx(3));
    const model::KernelRun& run = *desk.session.snapshot()->kernel.run;
    REQUIRE(run.result.fault);
    const KernelTrace& trace = run.result.trace;
    CHECK(trace.cycles == run.result.cycles);
    for (const BlockRun& block : trace.blocks) CHECK((block.begin < trace.cycles && block.end <= trace.cycles));
    for (const WarpTrack& warp : trace.warps) {
        CHECK(warp.end <= trace.cycles);
        if (!warp.runs.empty()) CHECK(warp.runs.back().end <= trace.cycles);
        if (!warp.issues.empty()) CHECK(trace.issues[warp.issues.back()].cycle < trace.cycles);
    }
    desk.session.workspace = Workspace::sm;
    desk.settle();
    desk.key(KeyCode::end);
    desk.settle();
    CHECK(desk.shows("memcheck stopped here"));
    for (const char* view : {"warps", "warp", "blocks"}) {
        INFO(view);
        CHECK(desk.shell.describe(view).find("emcheck stopped ") != std::string::npos);
    }
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("a number that is being typed into a launch runs when its field is left, and a refused one is said everywhere") {
    OwnDesk desk(fill_ptx());
    desk.launch().block = "96";
    desk.session.desk.touch();
    desk.settle();
    desk.pace = 0.05;
    const auto before = desk.session.snapshot()->own.result;
    REQUIRE(before->settings.block == "96");
    Rect label;
    for (const UiState::Written& text : desk.written)
        if (text.text == "block, threads") label = text.ink;
    REQUIRE(label.w > 0);
    desk.click(label.x + 20, label.bottom() + 18);
    desk.type("6");
    desk.type("4");
    desk.frames(2);
    REQUIRE(desk.session.wait_until_idle(60));
    CHECK(desk.launch().block == "64");
    CHECK(desk.session.snapshot()->own.result == before);
    desk.key(KeyCode::enter);
    desk.settle();
    CHECK(desk.session.snapshot()->own.result->settings.block == "64");
    const size_t runs = desk.session.roof.runs().size();

    desk.key(KeyCode::end);  // the field still has the keyboard
    desk.type("0");
    desk.frames(20);  // a pause: it runs, but is no run of the roofline's yet
    REQUIRE(desk.session.wait_until_idle(60));
    desk.frames(2);
    CHECK(desk.session.snapshot()->own.result->settings.block == "640");
    CHECK(desk.session.roof.runs().size() == runs);
    desk.type("0");
    desk.key(KeyCode::escape);
    desk.settle();
    REQUIRE(desk.session.snapshot()->own.result->refused);
    desk.session.workspace = Workspace::sm;
    desk.frames(3);
    const std::string said = desk.session.desk.stale_run(*desk.session.snapshot());
    INFO(said);
    CHECK(said.find("This is the run before it, with block 640") != std::string::npos);
    CHECK(desk.shows("640."));  // the last word of the strip
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("a refused launch moves nothing in Kernel, and every picture of the first one says why it did not run") {
    {
        OwnDesk desk(fill_ptx());
        const auto label = [&] {
            for (const UiState::Written& text : desk.written)
                if (text.text == "block, threads") return text.ink.y;
            return -1.0f;
        };
        desk.frames(2);
        const float before = label();
        REQUIRE(before > 0);
        desk.launch().grid = "abc";
        desk.session.desk.touch();
        desk.settle();
        REQUIRE(desk.session.snapshot()->own.result->refused);
        CHECK(label() == before);
        CHECK(desk.said().find("the pictures are of the run before, with grid 4") != std::string::npos);
    }
    OwnDesk first(fill_ptx());
    auto snapshot = std::make_shared<Snapshot>(*first.session.snapshot());
    auto refused = std::make_shared<KernelResult>(*snapshot->own.result);
    refused->run.reset();
    refused->refused = Diagnostic{"the grid is one to three numbers"};
    snapshot->own.result = refused;
    snapshot->own.run.reset();
    snapshot->kernel.run.reset();
    ++snapshot->version;
    for (const Workspace workspace : {Workspace::sm, Workspace::memory, Workspace::machine}) {
        first.session.workspace = workspace;
        first.show(snapshot);
        INFO(first.said());
        CHECK(first.said().find("did not run: the grid is one to three numbers.") != std::string::npos);
    }
}

TEST_CASE("while a guess is open the results say neither times nor counts") {
    OwnDesk desk(fill_ptx());
    CHECK(desk.shell.describe("results").find(" cycles") != std::string::npos);
    desk.session.roof.guess_first = true;
    desk.launch().block = "128";
    desk.session.desk.touch();
    desk.settle();
    REQUIRE(desk.session.roof.guessing());
    const std::string hidden = desk.shell.describe("results");
    CHECK(hidden.find(" cycles") == std::string::npos);
    CHECK(hidden.find("warp instructions") == std::string::npos);
    CHECK_FALSE(desk.shows(with_commas(desk.session.snapshot()->kernel.run->result.cycles)));
    CHECK_FALSE(desk.shows("warp instructions"));
}

TEST_CASE("keys go to the panel that the pointer is in, also when another was used last") {
    SmDesk desk(Workspace::memory);
    const auto lane_moves = [&] {
        const int32_t before = desk.shell.focus.lane;
        desk.key(KeyCode::d);
        return desk.shell.focus.lane != before;
    };
    CHECK(lane_moves());  // the first picture has the keys
    bool over = false;
    for (const UiState::Written& text : std::vector(desk.written))
        if (text.text == "Roofline") desk.input.mouse_x = text.ink.x, desk.input.mouse_y = text.ink.y + 60, over = true;
    REQUIRE(over);
    desk.frame();
    CHECK_FALSE(lane_moves());
}

TEST_CASE("a slider that was clicked takes Home, End and pages, and the clock stays") {
    SmDesk desk(Workspace::sm);
    desk.session.sm.page = SmPage::occupancy;
    desk.frames(2);
    const int64_t time = desk.shell.focus.time, begin = desk.session.sm.cycles_begin, end = desk.session.sm.cycles_end;
    desk.click(1375, 137);  // the first slider, threads a block
    const std::string clicked = desk.shell.describe("occupancy");
    desk.key(KeyCode::home);
    const std::string least = desk.shell.describe("occupancy");
    desk.key(KeyCode::right);
    const std::string step = desk.shell.describe("occupancy");
    desk.key(KeyCode::home);
    CHECK(desk.shell.describe("occupancy") == least);
    desk.key(KeyCode::page_up);
    const std::string page = desk.shell.describe("occupancy");
    desk.key(KeyCode::end);
    const std::string most = desk.shell.describe("occupancy");
    CHECK(least != clicked);
    CHECK(step != least);
    CHECK(page != step);
    CHECK(most != page);
    CHECK(desk.shell.focus.time == time);
    CHECK(desk.session.sm.cycles_begin == begin);
    CHECK(desk.session.sm.cycles_end == end);
}

TEST_CASE("a state's short name is made of words of its full one") {
    for (const StallRow& row : stall_reasons()) {
        std::string rest(code_of(row.reason).brief);
        INFO(rest << " for " << row.label);
        CHECK(!rest.empty());
        while (!rest.empty()) {
            const size_t end = std::min(rest.find(' '), rest.size());
            std::string word = rest.substr(0, end);
            rest.erase(0, end + 1);
            if (word.ends_with('.')) word.pop_back();
            CHECK((" " + std::string(row.label)).find(" " + word) != std::string::npos);
        }
    }
}

TEST_CASE("a film says how fast it runs, whatever was chosen for playing") {
    SmDesk desk(Workspace::sm);
    CHECK(desk.shows("30 cycles a second"));
    for (const auto& [filmed, words] : {std::pair{107.7, "108 cycles a second"},
                                        {1.0, "1 cycle a second"},
                                        {1350.0, "1.35 k cycles a second"},
                                        {2e7, "20 M cycles a second"}}) {
        desk.session.machine.filmed = filmed;
        desk.frame();
        CHECK(desk.shows(words));
        CHECK_FALSE(desk.shows("30 cycles a second"));
    }
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("the timeline describes the window that it opens with") {
    SmDesk desk(Workspace::learn);
    desk.session.workspace = Workspace::sm;
    desk.session.sm.cycles_begin = desk.session.sm.cycles_end = 0;
    const std::string words = desk.shell.describe("warps");
    desk.frames(2);
    const std::string shown = desk.shell.describe("warps");
    CHECK(words.substr(0, words.find(" to ")) == shown.substr(0, shown.find(" to ")));  // where it ends depends on its width
}

}  // namespace gui_clock_test
