// Presenter mode: large enough for the last row, keys of its own, hands that are counted and not kept.
#include <algorithm>

#include "lessons/player/predict.h"
#include "tests/gui/desk.h"

namespace gui_presenter_test {

using namespace lockstep;
using namespace lockstep::gui;

namespace {

struct Desk : test::Desk {
    explicit Desk(const std::string& lesson, int step, const char* theme = "light")
        : test::Desk({.lesson = lesson, .lesson_step = step}, theme) {
        session.workspace = Workspace::learn;
        pace = 0.2;
        settle();
        key(KeyCode::f11);
        REQUIRE(shell.presenter.on);
        settle();
    }
    const LessonState::Prediction& given() {
        return session.lesson.predictions[static_cast<size_t>(session.lesson.step)][0];
    }
};

}  // namespace

TEST_CASE("in presenter mode no text is smaller than 20 pixels, and none clashes") {
    for (const char* lesson : {"A02", "A06", "A08", "A10"}) {
        Desk desk(lesson, 2, "high-contrast");
        for (const auto& [w, h] : {std::pair{1600.0f, 1000.0f}, {1920.0f, 1080.0f}, {1280.0f, 720.0f}})
            for (int step = 0; step < 5; ++step) {
                desk.width = w, desk.height = h;
                desk.session.lesson.step = step;
                desk.session.post(ask::ShowLessonStep{step});
                desk.settle();
                INFO(lesson << " step " << step + 1 << ", " << w << "x" << h);
                REQUIRE(desk.written.size() > 12);
                for (const auto& text : desk.written) {
                    INFO(text.text);
                    CHECK(text.size >= 20);
                }
                CHECK(desk.clashes() == std::vector<std::string>{});
                CHECK(desk.quads < 8000);
                CHECK(desk.shows(std::to_string(step + 1) + " of "));
                const auto& predicts = desk.session.lesson.lesson->steps[static_cast<size_t>(step)].predicts;
                if (predicts.empty()) continue;
                for (size_t a = 0; a < predicts.front().answers.size(); ++a) {  // each with its key
                    INFO(predicts.front().answers[a].text);
                    CHECK(desk.shows(readable_number(predicts.front().answers[a].text).substr(0, 6)));
                    CHECK(std::any_of(desk.written.begin(), desk.written.end(), [&](const auto& text) {
                        return text.text == std::string(1, static_cast<char>('A' + a));
                    }));
                }
            }
    }
}

TEST_CASE("in a window of 640 x 400 presenter mode shows the picture or, by P, the words, and nothing clashes") {
    for (const char* lesson : {"A02", "A05", "A06", "A10"}) {
        Desk desk(lesson, 0);
        desk.width = 640, desk.height = 400;
        for (int step = 0; step < 4; ++step) {
            desk.session.lesson.step = step;
            desk.session.post(ask::ShowLessonStep{step});
            desk.settle();
            INFO(lesson << " step " << step + 1);
            CHECK(desk.clashes() == std::vector<std::string>{});
            const bool one = desk.shell.presenter.one_of_both;
            CHECK(one == desk.session.lesson.lesson->steps[static_cast<size_t>(step)].predicts.empty());
            if (!one) continue;
            CHECK(desk.shows("text"));
            const std::string picture = desk.said();
            desk.key(static_cast<KeyCode>('P'));
            CHECK(desk.shows("picture"));
            CHECK(desk.said() != picture);
            CHECK(desk.clashes() == std::vector<std::string>{});
            desk.key(static_cast<KeyCode>('P'));
            CHECK(desk.said() == picture);
        }
        desk.width = 1280, desk.height = 720;
        desk.settle();
        CHECK_FALSE(desk.shell.presenter.one_of_both);
        CHECK(desk.shell.fonts.scale == Approx(Shell::presenter_scale).margin(0.01));
    }
}

TEST_CASE("a class votes by hands, Space lets the run answer, and the next Space turns the page") {
    Desk desk("A06", 2);
    REQUIRE(desk.session.lesson.step == 2);
    CHECK(desk.shows("0 hands"));
    // Answers are shuffled: the keys are those of the rows.
    const auto& shown = desk.session.lesson.lesson;
    const auto order = lessons::shown_order(*shown, shown->steps[2].predicts[0], 0);
    const auto row = [&](size_t answer) {
        return static_cast<KeyCode>('1' + (std::find(order.begin(), order.end(), answer) - order.begin()));
    };
    for (int i = 0; i < 3; ++i) desk.key(row(0));
    for (int i = 0; i < 5; ++i) desk.key(row(1));
    desk.key(row(1), true);               // one too many
    desk.key(static_cast<KeyCode>('9'));  // no such answer
    CHECK(desk.shows("7 hands"));
    CHECK(desk.session.workspace == Workspace::learn);  // digits are hands here
    CHECK_FALSE(desk.given().locked);
    desk.key(KeyCode::space);
    desk.settle();
    REQUIRE(desk.given().locked);
    CHECK(desk.given().by_class);
    REQUIRE(desk.given().truth);
    CHECK(*desk.given().truth == Approx(32));  // all lanes store together: the first answer
    CHECK(desk.given().chosen == 1);           // what most hands said
    CHECK_FALSE(desk.given().right);
    CHECK(desk.shows("7 hands, 3 right"));
    CHECK_FALSE(desk.session.lesson.done[2]);  // by the learner: she has not answered
    desk.key(static_cast<KeyCode>('1'));       // it is answered
    CHECK(desk.shows("7 hands, 3 right"));
    desk.key(KeyCode::space);
    desk.settle();
    CHECK(desk.session.lesson.step == 3);
    desk.key(KeyCode::backspace);
    desk.settle();
    CHECK(desk.session.lesson.step == 2);
    CHECK(desk.shows("7 hands, 3 right"));
    desk.key(KeyCode::page_down);  // what a presenter's remote sends
    desk.settle();
    CHECK(desk.session.lesson.step == 3);
    desk.key(KeyCode::page_up);
    desk.settle();
    CHECK(desk.session.lesson.step == 2);
}

TEST_CASE("Space turns the pages of an exam, and answers none of its tasks") {
    Desk desk("BX", 1);
    desk.key(KeyCode::space);
    desk.settle();
    CHECK(desk.session.lesson.step == 2);
    desk.key(KeyCode::page_down);
    desk.settle();
    CHECK(desk.session.lesson.step == 3);
    for (const auto& step : desk.session.lesson.predictions)
        for (const LessonState::Prediction& given : step) CHECK_FALSE(given.locked);
}

TEST_CASE("B blanks the screen, N shows the speaker's notes, arrows step the run, and F11 leaves") {
    Desk desk("A06", 0);
    CHECK(desk.shows("leave"));
    desk.key(static_cast<KeyCode>('B'));
    CHECK(desk.written.empty());
    desk.key(static_cast<KeyCode>('X'));  // any key
    CHECK(desk.shows("leave"));
    CHECK_FALSE(desk.shows("For the speaker"));
    desk.key(static_cast<KeyCode>('N'));
    CHECK(desk.shows("For the speaker"));
    desk.key(KeyCode::escape);
    CHECK_FALSE(desk.shows("For the speaker"));
    desk.session.grain = Grain::instruction;
    const int64_t before = desk.session.sm.history_step;
    desk.key(KeyCode::right);
    CHECK(desk.session.sm.history_step == before + 1);
    CHECK(desk.shell.fullscreen);
    desk.key(KeyCode::f11);
    CHECK_FALSE(desk.shell.presenter.on);
    CHECK_FALSE(desk.shell.fullscreen);
    CHECK(desk.shell.fonts.scale == Approx(1));
}

TEST_CASE("letters are hands while a question is open, B among them, and the full stop blanks") {
    Desk desk("A06", 2);
    desk.key(static_cast<KeyCode>('A'));
    desk.key(static_cast<KeyCode>('B'));
    desk.key(static_cast<KeyCode>('B'));
    CHECK(desk.shows("3 hands"));
    desk.key(static_cast<KeyCode>('B'), true);
    CHECK(desk.shows("2 hands"));
    CHECK_FALSE(desk.shell.presenter.blank);
    desk.key(static_cast<KeyCode>('.'));
    CHECK(desk.written.empty());
    desk.key(static_cast<KeyCode>('.'));
    CHECK(desk.shows("2 hands"));
}

TEST_CASE("the class sees the question as the statement and the line that it is about, without what hides the answer") {
    Desk desk("A06", 2);
    const auto& predict = desk.session.lesson.lesson->steps[2].predicts[0];
    CHECK(desk.said().find(predict.question.substr(0, 12)) != std::string::npos);
    CHECK(desk.shows("13"));  // the asked line's number, of the source that stands in the picture's place
    CHECK_FALSE(desk.shows("Hidden"));
    desk.key(KeyCode::space);
    desk.settle();
    CHECK(desk.shows("Divergence"));  // the picture
}

TEST_CASE("of a sketch the tally says how many hands were right, near and wrong") {
    Desk desk("A08", 1);
    const auto& lesson = desk.session.lesson.lesson;
    const auto& predict = lesson->steps[1].predicts[0];
    REQUIRE(predict.is_sketch());
    const auto order = lessons::shown_order(*lesson, predict, 0);
    const auto hand = [&](double value) {
        for (size_t row = 0; row < order.size(); ++row)
            if (predict.answers[order[row]].value == value) desk.key(static_cast<KeyCode>('A' + row));
    };
    for (int i = 0; i < 4; ++i) hand(4);
    for (int i = 0; i < 3; ++i) hand(8);
    hand(16);
    hand(32);
    CHECK(desk.shows("9 hands"));
    CHECK_FALSE(desk.given().sketch.empty());  // the leading answer is pencilled
    desk.key(KeyCode::space);
    desk.settle();
    REQUIRE(desk.given().truth);
    CHECK(*desk.given().truth == Approx(8));
    CHECK(desk.shows("9 hands, 3 right, 5 near (within a factor of 2), 1 wrong"));
}

TEST_CASE("with a terminal the notes go there, of each page, and none stand on the projected picture") {
    Desk desk("A06", 0);
    std::string heard;
    desk.shell.say_to_speaker = [&](const std::string& text) { heard += text; };
    desk.frames(2);
    CHECK(heard.empty());
    desk.key(static_cast<KeyCode>('N'));
    CHECK(heard.find("A06 step 1 of ") != std::string::npos);
    CHECK_FALSE(desk.shows("For the speaker"));
    desk.session.lesson.step = 1;
    desk.frames(2);
    CHECK(heard.find("A06 step 2 of ") != std::string::npos);
    const size_t told = heard.size();
    desk.frames(3);
    CHECK(heard.size() == told);  // once a page
}

TEST_CASE("a question about the share of all cycles is answered by the whole of them, and by the reason in words") {
    Desk desk("A05", 0);
    desk.width = 1280, desk.height = 720;
    desk.settle();
    CHECK_FALSE(desk.session.sm.whole);
    desk.key(KeyCode::space);
    desk.settle();
    REQUIRE(desk.given().truth);
    CHECK(desk.session.sm.whole);
    CHECK(desk.session.sm.cycles_begin == 0);
    CHECK(desk.session.sm.cycles_end == desk.session.snapshot()->kernel.run->result.trace.cycles);
    CHECK(desk.said().find("Each load keeps its warp waiting") != std::string::npos);
    CHECK(desk.clashes() == std::vector<std::string>{});
    // Who zooms in again is left alone.
    desk.session.sm.cycles_begin = 400, desk.session.sm.cycles_end = 500;
    desk.frames(3);
    CHECK_FALSE(desk.session.sm.whole);
}

TEST_CASE("a curve in front of a class has room, its scale apart, and says what the hands are for") {
    Desk desk("A05", 5);
    desk.width = 1280, desk.height = 720;
    desk.settle();
    CHECK(desk.said().find("0 hands for 32 resident warps") != std::string::npos);
    CHECK(desk.said().find("at = v + stride") == std::string::npos);  // nothing is asked about a line
    for (const bool answered : {false, true}) {
        if (answered) desk.key(KeyCode::space), desk.settle();
        INFO(answered);
        CHECK(desk.clashes() == std::vector<std::string>{});
        std::vector<float> ticks;  // of the scale, from the top down
        for (const auto& text : desk.written)
            if (text.ink.x < 130 && text.text.size() <= 3 && text.text.find_first_not_of("0.12468") == std::string::npos)
                ticks.push_back(text.ink.y);
        std::sort(ticks.begin(), ticks.end());
        REQUIRE(ticks.size() >= 3);
        CHECK(ticks.back() - ticks.front() > 100);
    }
    REQUIRE(desk.given().told);
    CHECK(desk.said().find("The run: 0.4") != std::string::npos);  // the caption is there
}

TEST_CASE("the five numbers that a step is about stand first in front of a class") {
    Desk desk("A05", 4);
    desk.settle();
    float last = 0, right = 0;
    for (const char* row : {"can hold", "fit at once", "active", "eligible", "selected"}) {
        INFO(row);
        const auto found =
            std::find_if(desk.written.begin(), desk.written.end(),
                         [&](const UiState::Written& text) {  // not the word in the statement
                             return text.text == row && (right == 0 || std::abs(text.ink.right() - right) < 3);
                         });
        REQUIRE(found != desk.written.end());
        CHECK(found->ink.y > last);
        CHECK(found->ink.bottom() <= found->clip.bottom());
        last = found->ink.y;
        right = found->ink.right();
    }
}

TEST_CASE("the curves of the calculator are whole in front of a class") {
    Desk desk("A05", 3);
    desk.settle();
    int ends = 0;  // of their axes, below the plots
    for (const UiState::Written& text : desk.written) {
        if (text.text != "64 warps" && text.text != "1,024" && text.text != "255" && text.text != "96 KiB") continue;
        INFO(text.text << " at " << text.ink.y);
        ++ends;
        CHECK(text.ink.bottom() <= text.clip.bottom());
    }
    CHECK(ends >= 4);
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("nobody types a number in front of a class: its digits have no keys there, and have them at the desk") {
    Desk desk("A05", 2);
    desk.settle();
    CHECK(desk.shows("What you write"));
    CHECK_FALSE(desk.shows("take back"));
    desk.key(KeyCode::f11);
    desk.settle();
    CHECK(desk.shows("take back"));
}

TEST_CASE("without a terminal the strip says that all see the notes") {
    Desk desk("A06", 2);
    CHECK(desk.shows("notes for all"));
}

TEST_CASE("the laser's dot fades once the pointer rests, and is not there before it moves") {
    Desk desk("A06", 0);
    desk.pace = 0.05;
    desk.input.mouse_x = 500, desk.input.mouse_y = 400;
    desk.frame();
    CHECK(desk.shell.presenter.trail.size() == 1);
    CHECK(desk.shell.wants_frame());
    const int with = desk.quads;
    desk.frames(30);
    CHECK(desk.shell.presenter.trail.empty());
    CHECK(desk.quads < with);
    desk.input.mouse_x = 510;
    desk.frame();
    CHECK(desk.shell.presenter.trail.size() == 1);
}

TEST_CASE("without a lesson the workspace's picture is presented alone") {
    test::Desk desk({.training_steps = 1});
    REQUIRE(desk.session.wait_until_idle(60));
    desk.session.workspace = Workspace::sm;
    desk.frames(3);
    desk.key(KeyCode::f11);
    desk.settle();
    CHECK(desk.shows("Warps by cycle"));
    CHECK(desk.shows("play"));
    for (const auto& text : desk.written) CHECK(text.size >= 20);
    desk.key(KeyCode::space);
    CHECK(desk.session.playing);
    desk.key(KeyCode::escape);
    CHECK_FALSE(desk.shell.presenter.on);
}

TEST_CASE("a step that is read has the lines of its kernel below its words") {
    Desk desk("A06", 0);
    const auto run = desk.session.snapshot()->kernel.run;
    REQUIRE(run);
    for (const auto& [w, h] : {std::pair{1600.0f, 1000.0f}, {1280.0f, 720.0f}}) {
        desk.width = w, desk.height = h;
        desk.frames(3);
        INFO(w << " x " << h);
        CHECK(desk.said().find("int odd = threadIdx.x & 1;") != std::string::npos);
        CHECK(desk.said().find("float v = x[i];") != std::string::npos);  // the line that runs
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("what was told to a class is no answer of the learner's, who may give her own") {
    Desk desk("A06", 2);
    desk.key(KeyCode::space);  // nobody raised a hand
    desk.settle();
    REQUIRE(desk.given().locked);
    desk.key(KeyCode::f11);
    REQUIRE_FALSE(desk.shell.presenter.on);
    desk.frames(3);
    const std::string said = desk.said();
    CHECK(said.find("told to a class") != std::string::npos);
    CHECK(said.find("not so") == std::string::npos);
    CHECK(said.find("% sure") == std::string::npos);
    const std::string lesson = desk.shell.describe("lesson");
    CHECK(lesson.find("told to a class: the run says") != std::string::npos);
    CHECK(lesson.find("Step 3 is done") == std::string::npos);
    REQUIRE(desk.click_on("Answer it yourself"));
    desk.settle();
    CHECK_FALSE(desk.given().locked);
    CHECK_FALSE(desk.given().by_class);
    CHECK(desk.shows("Lock answer"));
    CHECK(desk.clashes() == std::vector<std::string>{});
}

}  // namespace gui_presenter_test
