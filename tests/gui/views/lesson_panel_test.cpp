// The lesson's panel with large text: a step's whole text stands above the fold, and nothing lies on anything else.
#include <algorithm>
#include <set>
#include <tuple>

#include "tests/gui/lesson_desk.h"

namespace gui_lesson_panel_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {

// The words of the step's text, as they are written one by one.
std::set<std::string> words_of(const lessons::Step& step) {
    std::set<std::string> words;
    for (const lessons::TextBlock& block : step.prose)
        for (const auto& run : block.runs) {
            std::string word;
            for (const char c : run.text + " ") {
                if (c != ' ' && c != '\n') {
                    word += c;
                } else if (!word.empty()) {
                    words.insert(word);
                    word.clear();
                }
            }
        }
    return words;
}

}  // namespace

TEST_CASE("at twice the text size all of a step's text is in sight, in small and in large windows") {
    Desk desk({.lesson = "C03", .lesson_step = 2});
    desk.session.workspace = Workspace::learn;
    for (const auto& [w, h] : {std::pair{1280.0f, 720.0f}, {1600.0f, 1000.0f}}) {
        desk.size(w, h, 2);
        for (const int step : {2, 3, 4, 5}) {
            go_to(desk, step);
            INFO(w << " x " << h << ", step " << step + 1);
            for (const std::string& word : words_of(desk.session.lesson.lesson->steps[size_t(step)])) {
                const bool whole = std::any_of(desk.written.begin(), desk.written.end(), [&](const UiState::Written& text) {
                    return text.text.find(word) != std::string::npos && text.ink.y >= text.clip.y &&
                           text.ink.bottom() <= text.clip.bottom();
                });
                INFO(word);
                CHECK(whole);
            }
            CHECK(desk.clashes() == std::vector<std::string>{});
        }
        CHECK(desk.shows("Lesson C03: Launching it"));
        CHECK(desk.shows("step 6 of 10"));
    }
    desk.size(1280, 720, 1);
    desk.frames(3);
    CHECK(desk.shows("Step 6 of 10"));
    CHECK(desk.shows("12 minutes"));
}

TEST_CASE("in a low window the transport is lower too, and its buttons stay whole") {
    CHECK(transport_height_in(1000) == transport_height);
    CHECK(transport_height_in(360) < transport_height);
    Desk desk({.lesson = "C03", .lesson_step = 3});
    desk.session.workspace = Workspace::learn;
    desk.size(1280, 720, 2);
    desk.settle();
    const double before = desk.session.cluster.collective_time;
    desk.click(330, 680);  // a step on
    CHECK(desk.session.cluster.collective_time != before);
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("a prediction that fills the page leaves nothing to play") {
    Desk desk({.lesson = "C12", .lesson_step = 5});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(desk.shows("a prediction to draw"));
    CHECK(!desk.shows("no kernel yet"));
    CHECK(!desk.shows("instruction"));
}

}  // namespace gui_lesson_panel_test
