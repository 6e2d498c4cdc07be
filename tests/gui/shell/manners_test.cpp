// Manners of the frame: splitters, one control for the speed, a cycle that is typed, captions that move nothing, tooltips
// that go, windows that fit the screen.
#include "app/gui/shell/layout.h"
#include "app/gui/shell/transport_steps.h"
#include "app/gui/views/machine/machine_view.h"
#include "app/gui/window/renderer.h"
#include "core/base/files.h"
#include "tests/gui/sm_desk.h"

namespace gui_manners_test {
using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

Arrangement plan_of(const SmDesk& desk) {
    return arrange(
        scene_on_show(desk.session).tree, {8, 52, 1584, 884}, [](const std::string&) { return 0; }, {},
        &desk.shell.panel_shares);
}

const Placed& placed(const Arrangement& plan, std::string_view view) {
    for (const Placed& one : plan.panels)
        if (one.view == view) return one;
    FAIL("no " << view);
    return plan.panels.front();
}

TEST_CASE("a splitter moves what lies on its two sides, and nothing gets shorter than it may") {
    const Splitter row{"row a+b+c", 0, true, {}, {300, 300, 400}, {250, 200, 300}};
    const auto close = [](const std::vector<double>& shares, const std::vector<double>& wanted) {
        REQUIRE(shares.size() == wanted.size());
        for (size_t i = 0; i < wanted.size(); ++i) CHECK(shares[i] == Approx(wanted[i]).margin(1e-4));
    };
    close(moved_shares(row, 40), {0.34, 0.26, 0.4});
    close(moved_shares(row, -40), {0.26, 0.34, 0.4});
    close(moved_shares(row, -500), {0.25, 0.35, 0.4});
    close(moved_shares(row, 500), {0.5, 0.2, 0.3});  // the second at its least, the third gives way too
    close(moved_shares(row, 0), {0.3, 0.3, 0.4});
}

TEST_CASE("the gap between two panels is dragged, and a double click puts it back") {
    SmDesk desk(Workspace::sm);
    const Arrangement before = plan_of(desk);
    REQUIRE(!before.splitters.empty());
    const auto across =
        std::find_if(before.splitters.begin(), before.splitters.end(), [](const Splitter& s) { return s.across; });
    REQUIRE(across != before.splitters.end());
    const float x = across->area.x + 4, y = across->area.y + 300, width = placed(before, "warps").area.w;
    desk.drag(x, y, x - 100, y);
    CHECK(placed(plan_of(desk), "warps").area.w == Approx(width - 100).margin(2));
    CHECK(desk.shell.remembered().panels.size() == 1);
    CHECK(desk.clashes().empty());
    // No further than the other side allows.
    desk.drag(x - 100, y, 20, y);
    CHECK(placed(plan_of(desk), "warps").area.w >= 560 - 0.5f);
    const Arrangement now = plan_of(desk);
    const float at = placed(now, "warps").area.right() + 4;
    desk.input.mouse_x = at;
    desk.input.mouse_y = y;
    desk.input.clicked = desk.input.double_clicked = desk.input.down = true;
    desk.frame();
    desk.input.down = false;
    desk.input.released = true;
    desk.frames(2);
    CHECK(desk.shell.panel_shares.empty());
    CHECK(placed(plan_of(desk), "warps").area.w == Approx(width));
}

TEST_CASE("a splitter is reached by Tab and moved by arrows, which then step nothing") {
    SmDesk desk(Workspace::sm);
    const float width = placed(plan_of(desk), "warps").area.w;
    const int64_t time = desk.shell.focus.time;
    for (int i = 0; i < 200 && !desk.shell.state.splitter_focused; ++i) desk.key(KeyCode::tab, true);
    REQUIRE(desk.shell.state.splitter_focused);
    for (int i = 0; i < 12 && desk.shell.panel_shares.empty(); ++i) {  // the first across
        desk.key(KeyCode::left);
        if (desk.shell.panel_shares.empty()) desk.key(KeyCode::tab, true);
    }
    REQUIRE(!desk.shell.panel_shares.empty());
    CHECK(placed(plan_of(desk), "warps").area.w == Approx(width - 16).margin(1));
    CHECK(desk.shell.focus.time == time);
    desk.key(KeyCode::enter);  // back to the layout's own place
    CHECK(desk.shell.panel_shares.empty());
}

TEST_CASE("one control for the speed: keys and chips, from 1 up by powers of ten") {
    SmDesk desk(Workspace::sm);
    CHECK(desk.shows("30 cycles a second"));
    desk.key(static_cast<KeyCode>('.'));
    CHECK(desk.session.machine.speed == 100);
    CHECK(desk.shows("100 cycles a second"));
    for (int i = 0; i < 5; ++i) desk.key(static_cast<KeyCode>(','));
    CHECK(desk.session.machine.speed == 1);
    CHECK(desk.shows("1 cycle a second"));
    for (int i = 0; i < 12; ++i) desk.key(static_cast<KeyCode>('.'));
    CHECK(desk.session.machine.speed == 1e9);
    REQUIRE(desk.click_on("−"));
    CHECK(desk.session.machine.speed == 1e8);
    REQUIRE(desk.click_on("10^8 cycles a second"));
    CHECK(desk.session.machine.speed == 0);
    // The same speed in the machine, where the zoom says how fast it is by itself.
    desk.session.machine.speed = 100;
    desk.session.workspace = Workspace::machine;
    desk.frames(3);
    CHECK(desk.shows("100 cycles a second"));
    desk.session.machine.speed = 0;
    desk.frames(2);
    CHECK(desk.shows("by zoom: 100 a second"));
}

TEST_CASE("playing moves the clock as fast as was chosen") {
    SmDesk desk(Workspace::sm);
    desk.pace = 0.02;
    const auto cycles_in = [&](double speed, double seconds) {
        desk.session.machine.speed = speed;
        desk.shell.focus.time = 0;
        desk.session.playing = false;
        desk.frames(2);
        desk.key(KeyCode::space);
        for (double t = 0; t < seconds; t += desk.pace) desk.frame();
        const int64_t passed = desk.shell.focus.time;
        desk.session.playing = false;
        return passed;
    };
    const int64_t all = desk.trace().cycles;
    REQUIRE(all > 100);
    CHECK(cycles_in(10, 2) == Approx(20).margin(2));
    CHECK(cycles_in(0, 1) == Approx(30).margin(3));
    CHECK(cycles_in(100, 0.5) == Approx(50).margin(5));
    CHECK(cycles_in(1e9, 1) >= all - 2);
}

TEST_CASE("a cycle is typed and gone to, and what is no cycle is said") {
    SmDesk desk(Workspace::sm);
    const int64_t last = desk.trace().cycles - 1;
    const auto type = [&](const std::string& text) {
        for (const char c : text) desk.input.keys.push_back({KeyCode::none, false, false, static_cast<char32_t>(c)});
        desk.frames(2);
    };
    desk.key(static_cast<KeyCode>('G'));
    desk.frame();
    CHECK(desk.shows("go to cycle"));
    type("1" + std::to_string(last));
    desk.key(KeyCode::enter);
    CHECK(desk.said().find("is behind the end: the last of this run is " + with_commas(last)) != std::string::npos);
    desk.key(KeyCode::escape);
    desk.frames(2);
    CHECK_FALSE(desk.shows("go to cycle"));
    desk.key(static_cast<KeyCode>('G'));
    desk.frame();
    type("57");
    desk.key(KeyCode::enter);
    desk.frames(2);
    CHECK(desk.shell.focus.time == 57);
    CHECK_FALSE(desk.shows("go to cycle"));

    std::string wrong;
    CHECK(cycle_typed("1,000", 2000, 2000, wrong) == 1000);
    CHECK(cycle_typed("50 %", 2001, 2001, wrong) == 1000);
    CHECK(cycle_typed("0", 1, 1, wrong) == 0);
    CHECK(wrong.empty());
    CHECK_FALSE(cycle_typed("soon", 2000, 2000, wrong));
    CHECK(wrong == "'soon' is no cycle: a number from 0 to 1,999, or a share such as 50 %");
    CHECK_FALSE(cycle_typed("-1", 2000, 2000, wrong));
    CHECK_FALSE(cycle_typed("", 2000, 2000, wrong));
    CHECK_FALSE(cycle_typed("101 %", 2000, 2000, wrong));
    CHECK_FALSE(cycle_typed("99999999999999999999999", 2000, 2000, wrong));
    CHECK_FALSE(cycle_typed("600", 2000, 500, wrong));
    CHECK(wrong == "cycles from 500 on stay hidden until you lock an answer");
}

TEST_CASE("whole shows all cycles, and in view those that were shown before") {
    SmDesk desk(Workspace::sm);
    const int64_t begin = desk.session.sm.cycles_begin, end = desk.session.sm.cycles_end, all = desk.trace().cycles;
    REQUIRE(end - begin < all);
    REQUIRE(desk.click_on("whole"));
    CHECK(desk.session.sm.cycles_begin == 0);
    CHECK(desk.session.sm.cycles_end == all);
    CHECK(desk.session.sm.whole);
    REQUIRE(desk.click_on("in view"));
    CHECK(desk.session.sm.cycles_begin == begin);
    CHECK(desk.session.sm.cycles_end == end);
    CHECK_FALSE(desk.session.sm.whole);
}

TEST_CASE("a caption that needs a second line for a while moves its panel once, not with every step") {
    SmDesk desk(Workspace::sm);
    desk.frames(3);
    std::vector<float> bottoms;
    for (int i = 0; i < 60; ++i) {
        desk.key(KeyCode::right);
        float lowest = 0;
        for (const UiState::Written& text : desk.written)
            if (text.text == "issued" || text.text.starts_with("issued ")) lowest = std::max(lowest, text.ink.y);
        bottoms.push_back(lowest);
    }
    REQUIRE(bottoms.front() > 0);
    int moves = 0;
    for (size_t i = 1; i < bottoms.size(); ++i) moves += bottoms[i] != bottoms[i - 1];
    CHECK(moves <= 1);
}

TEST_CASE("a tooltip goes with a key and comes back when the pointer moves") {
    SmDesk desk(Workspace::sm);
    const auto tab = std::find_if(desk.written.begin(), desk.written.end(),
                                  [](const UiState::Written& text) { return text.text == "Memory"; });
    REQUIRE(tab != desk.written.end());
    desk.input.mouse_x = tab->ink.x + 4;
    desk.input.mouse_y = tab->ink.y + 4;
    desk.frames(2);
    CHECK(desk.shows("(key"));
    desk.key(KeyCode::right);
    CHECK_FALSE(desk.shows("(key"));
    desk.frames(5);
    CHECK_FALSE(desk.shows("(key"));
    desk.input.mouse_x += 6;
    desk.frames(2);
    CHECK(desk.shows("(key"));
    // While what lies below plays it does not stay.
    desk.session.playing = true;
    desk.session.machine.speed = 1;
    desk.pace = 0.5;
    desk.frames(10);
    CHECK_FALSE(desk.shows("(key"));
}

TEST_CASE("a window is no larger than its screen, frame and bars included") {
    const int frame[4] = {4, 30, 4, 4};
    const WindowPlace screen{0, 40, 1366, 728};
    const WindowPlace place = fitted(1600, 1000, screen, frame);
    CHECK(place.width == 1358);
    CHECK(place.height == 694);
    CHECK(place.x == 4);
    CHECK(place.y == 70);
    const WindowPlace small = fitted(800, 600, screen, frame);
    CHECK(small.width == 800);
    CHECK(small.height == 600);
    CHECK(small.x + small.width <= 1366);
    CHECK(small.y >= 70);
    CHECK(fitted(1600, 1000, {}, frame).width == 1600);  // nothing is known of the screen
}

TEST_CASE("F6 goes from panel to panel, and back") {
    Desk desk;
    desk.session.workspace = Workspace::memory;
    desk.frames(3);
    std::vector<std::string> found;
    for (int i = 0; i < 3; ++i) {
        desk.key(KeyCode::f6);
        found.push_back(desk.shell.state.active_view);
        if (i == 0) CHECK(desk.shell.state.focused != 0);
    }
    CHECK(found[0] != found[1]);
    CHECK(found[1] != found[2]);
    desk.key(KeyCode::f6, true);
    CHECK(desk.shell.state.active_view == found[1]);
}

TEST_CASE("a kernel without a launch of its own takes the GPU that was chosen last") {
    const TemporaryFolder folder;
    write_file(folder.path() / "k.cu", "__global__ void k(int *x) { *x = 1; }\n");
    Remembered kept;
    kept.gpu = "h100";
    Desk desk;
    desk.shell.recall(kept, false);
    CHECK(desk.session.desk.document().launch.gpu == "h100");
    REQUIRE_FALSE(desk.session.desk.open(folder.path() / "k.cu"));
    CHECK(desk.session.desk.document().launch.gpu == "h100");
}

TEST_CASE("in the search Ctrl A marks the words, and what is typed replaces them") {
    Desk desk;
    desk.frames(2);
    desk.key(static_cast<KeyCode>('K'), false, true);
    const auto type = [&](char letter) {
        KeyPress typed;
        typed.character = static_cast<char32_t>(letter);
        desk.input.keys.push_back(typed);
        desk.frames(2);
    };
    for (const char letter : {'a', 'b', 'c'}) type(letter);
    CHECK(desk.shows("abc"));
    desk.key(KeyCode::a, false, true);
    type('w');
    CHECK_FALSE(desk.shows("abcw"));
    CHECK(desk.shows("w"));
}

}  // namespace gui_manners_test
