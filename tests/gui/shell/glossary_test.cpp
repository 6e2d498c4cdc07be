// Words of the glossary in lessons and captions: underlined, told, and a click leads to where they are seen.
#include "lessons/player/glossary/glossary.h"

#include "app/gui/view.h"
#include "tests/gui/desk.h"

namespace gui_glossary_test {

using namespace lockstep;
using namespace lockstep::gui;

namespace {

struct Desk : test::Desk {
    Desk() : test::Desk({.lesson = "A06", .lesson_step = 0}) {
        session.workspace = Workspace::learn;
        settle();
    }
    // Walks Tab until a term has the keyboard.
    bool tab_to_term() {
        for (int i = 0; i < 120; ++i) {
            key(KeyCode::tab);
            if (shell.state.term.term >= 0) return true;
        }
        return false;
    }
    const lessons::Term& term() const { return lessons::glossary().terms()[static_cast<size_t>(shell.state.term.term)]; }
};

}  // namespace

TEST_CASE("every term is seen in a lesson's step or in a view that is there") {
    for (const lessons::Term& term : lessons::glossary().terms()) {
        INFO(term.name << " in " << term.see());
        CHECK(term.view.empty() != term.lesson.empty());
        if (!term.view.empty()) CHECK(view_named(term.view) != nullptr);
    }
}

TEST_CASE("a term in a lesson's text is told where the pointer is on it, and a click leads to where it is seen") {
    Desk desk;
    REQUIRE(desk.shell.state.term.term < 0);
    bool found = false;
    for (const UiState::Written& text : std::vector<UiState::Written>(desk.written)) {
        if (text.ink.x > 440 || text.text.find("warp") == std::string::npos || text.size < 14) continue;
        desk.input.mouse_x = text.ink.x + text.ink.w / 2;
        desk.input.mouse_y = text.ink.y + text.ink.h / 2;
        desk.frames(2);
        if (desk.shell.state.term.term < 0) continue;
        found = true;
        break;
    }
    REQUIRE(found);
    const lessons::Term term = desk.term();
    CHECK(term.name == "warp");
    CHECK(desk.shows("Click:"));
    desk.input.clicked = desk.input.down = true;
    desk.frame();
    desk.input.down = false;
    desk.settle();
    REQUIRE(desk.session.lesson.lesson);
    CHECK(desk.session.lesson.lesson->id == term.lesson);
    CHECK(desk.session.lesson.step == std::max(0, term.step - 1));
    REQUIRE(desk.click_on("Back to A06, step 1"));
    desk.settle();
    CHECK(desk.session.lesson.lesson->id == "A06");
    CHECK(desk.session.lesson.step == 0);
    CHECK_FALSE(desk.shows("Back to A06, step 1"));
}

TEST_CASE("the keyboard comes to terms too, and nothing is underlined in presenter mode") {
    Desk desk;
    REQUIRE(desk.tab_to_term());
    CHECK(desk.shows("Enter:"));
    const lessons::Term term = desk.term();
    desk.key(KeyCode::enter);
    desk.settle();
    if (!term.lesson.empty()) CHECK(desk.session.lesson.lesson->id == term.lesson);
    desk.shell.presenter.on = true;
    desk.frames(3);
    CHECK_FALSE(desk.shell.state.find_terms);
}

TEST_CASE("F6 goes to a control of the next panel, not to a word that is explained there") {
    Desk desk;
    desk.session.lesson.step = 2;  // a question, below prose with words of the glossary
    desk.session.post(ask::ShowLessonStep{2});
    desk.settle();
    for (int panel = 0; panel < 2; ++panel) {
        desk.key(KeyCode::f6);
        INFO("panel " << panel);
        CHECK((desk.shell.state.active_view == "lesson") == (panel == 0));  // the second may have its keys alone
        CHECK_FALSE(desk.shell.state.term.by_key);
    }
    desk.session.workspace = Workspace::kernel;  // where the editor's footer names the compiler
    desk.settle();
    desk.key(KeyCode::f6);
    CHECK(desk.shell.state.focused != 0);
    CHECK_FALSE(desk.shell.state.term.by_key);
}

}  // namespace gui_glossary_test
