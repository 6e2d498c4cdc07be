// By the keyboard alone: from panel to panel, into menus, and what a note of the frame offers.
#include <set>

#include "app/gui/scenes.h"
#include "app/gui/shell/layout.h"
#include "app/gui/shell/shell.h"
#include "tests/gui/desk.h"

namespace gui_keyboard_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {

// The panels that F6 comes to, as often as it is pressed; the last one first again.
std::vector<std::string> walked(Desk& desk, int times, bool back = false) {
    std::vector<std::string> panels;
    for (int i = 0; i < times; ++i) {
        desk.key(KeyCode::f6, back);
        panels.emplace_back(desk.shell.state.active_view);
    }
    return panels;
}

}  // namespace

TEST_CASE("F6 walks all panels of a step, the one that takes the prediction too, and begins again") {
    Desk desk({.lesson = "C03", .lesson_step = 4});  // counted from 0: a bar that is dragged
    desk.session.workspace = Workspace::learn;
    desk.settle();
    REQUIRE(desk.shows("Your prediction, on the picture"));
    const std::vector<std::string> once = walked(desk, 6);
    const std::set<std::string> panels(once.begin(), once.end());
    INFO(fmt::format("{}", fmt::join(once, " ")));
    CHECK(panels.contains("lesson"));
    CHECK(panels.contains("sketch"));
    const auto again = std::find(once.begin() + 1, once.end(), once.front());
    REQUIRE(again != once.end());
    CHECK(static_cast<size_t>(again - once.begin()) == panels.size());  // each once, then the first
    std::vector<std::string> back = walked(desk, static_cast<int>(panels.size()), true);
    CHECK(std::set<std::string>(back.begin(), back.end()) == panels);
}

TEST_CASE("F6 comes to every panel that has a control, in each workspace") {
    for (const Workspace workspace : {Workspace::memory, Workspace::sm, Workspace::kernel, Workspace::training}) {
        Desk desk({.lesson = "A08"});
        desk.session.workspace = workspace;
        desk.settle();
        const std::vector<std::string> panels = walked(desk, 12);
        INFO(row_of(workspace).title << ": " << fmt::format("{}", fmt::join(panels, " ")));
        CHECK(std::find(panels.begin() + 1, panels.end(), panels.front()) != panels.end());
        CHECK(std::set<std::string>(panels.begin(), panels.end()).size() > 1);
    }
}

TEST_CASE("Down on what has a menu opens it at the row that is in use") {
    Desk desk;
    desk.session.workspace = Workspace::memory;
    desk.frames(3);
    const auto to_gpu = [&] {
        for (int i = 0; i < 40; ++i) {
            desk.key(KeyCode::tab);
            if (desk.shell.state.opener_focused && desk.shows("GPU  V100")) {
                desk.key(KeyCode::down);
                desk.frames(3);
                if (desk.shows("H100 SXM5")) return true;
                desk.key(KeyCode::escape);
            }
        }
        return false;
    };
    REQUIRE(to_gpu());
    desk.key(KeyCode::enter);
    desk.frames(3);
    CHECK(desk.shows("GPU  V100"));
    desk.key(KeyCode::down);  // the keyboard is where it was
    desk.frames(3);
    REQUIRE(desk.shows("H100 SXM5"));
    desk.key(KeyCode::down);  // the row after it
    desk.key(KeyCode::enter);
    CHECK_FALSE(desk.shows("GPU  V100"));  // another one is chosen
}

TEST_CASE("nothing of Home runs on the chosen GPU, so that it offers none") {
    Desk desk;
    desk.session.workspace = Workspace::home;
    desk.frames(3);
    CHECK_FALSE(desk.shows("GPU  "));
    desk.session.workspace = Workspace::memory;
    desk.frames(3);
    CHECK(desk.shows("GPU  V100"));
}

TEST_CASE("what was written is told by its whole path, which can be copied") {
    Desk desk({.lesson = "A08"});  // with a worker, which tells
    std::string copied;
    desk.shell.state.set_clipboard = [&](const std::string& text) { copied = text; };
    desk.session.workspace = Workspace::memory;
    desk.session.post(ask::Tell{"this run is saved as /home/ada/runs/sum.lockstep", true, "/home/ada/runs/sum.lockstep"});
    desk.settle();
    INFO(desk.said());
    REQUIRE(desk.click_on("copy the path"));
    CHECK(copied == "/home/ada/runs/sum.lockstep");
    desk.session.post(ask::Tell{"this run cannot be saved"});
    desk.settle();
    CHECK_FALSE(desk.shows("copy the path"));
}

TEST_CASE("settings that a narrow training strip has no room for stand in the menu of its last chip") {
    Desk desk;
    desk.size(560, 720, 1);
    desk.session.workspace = Workspace::training;
    desk.settle();
    INFO(desk.said());
    REQUIRE(desk.click_on("more"));
    desk.frames(3);
    CHECK(desk.shows("batch"));
    REQUIRE(desk.click_on("batch"));
    desk.frames(3);
    CHECK(desk.shows("256"));  // that setting's own menu
}

}  // namespace gui_keyboard_test
