// The last page of a lesson, and the same in today's tools beside its steps.
#include "lessons/player/companion/companion.h"

#include "app/gui/views/lesson/companion_parts.h"
#include "lessons/player/exercise.h"
#include "lessons/player/story/story.h"
#include "tests/gui/desk.h"

namespace gui_companion_test {

using namespace lockstep;
using namespace lockstep::gui;

namespace {

std::shared_ptr<const lessons::Companion> companion() {
    lessons::Companion one;
    one.recap = "Both paths take turns.";
    one.back = "A01: a machine for many";
    one.forward = "A03: two memories";
    one.questions = {{"Why so?", "One counter a warp."}};
    one.same = {
        {1, "CUDA C++", "a launch", "kernel<<<1, 32>>>(x);  // a line that is far too long to stand in a narrow panel"}};
    return std::make_shared<const lessons::Companion>(one);
}

// Opens A02, which lasts a moment, with this companion.
struct Opened : test::Desk {
    Opened() : test::Desk({.lesson = "A02"}) {
        session.workspace = Workspace::learn;
        settle();
        session.lesson.companion = companion();
        frames(3);
    }
    void last_step() {
        LessonState& state = session.lesson;
        state.step = static_cast<int>(state.lesson->steps.size()) - 1;
        session.post(ask::ShowLessonStep{state.step});
        settle();
        for (auto& given : state.predictions[static_cast<size_t>(state.step)]) given.locked = true;
        frames(3);
    }
};

}  // namespace

TEST_CASE("the same in today's tools is closed until it is asked for, and is copied whole") {
    Opened desk;
    std::string copied;
    desk.shell.state.set_clipboard = [&](const std::string& text) { copied = text; };
    CHECK_FALSE(desk.shows("kernel<<<1, 32>>>"));
    REQUIRE(desk.click_on("Show: The same in CUDA C++"));
    CHECK(desk.shows("kernel<<<1, 32>>>"));
    CHECK(desk.clashes() == std::vector<std::string>{});  // long lines go on below
    REQUIRE(desk.click_on("Copy"));
    CHECK(copied == desk.session.lesson.companion->same[0].code);
    CHECK(desk.shows("Copied"));
    REQUIRE(desk.click_on("Hide: The same in CUDA C++"));
    CHECK_FALSE(desk.shows("kernel<<<1, 32>>>"));
}

TEST_CASE("a lesson that is done ends in what it found, questions, and the way back and on") {
    Opened desk;
    desk.last_step();
    CHECK_FALSE(desk.shows("What this lesson found"));
    REQUIRE(desk.click_on("To the last page"));  // its exercise is not solved
    CHECK(desk.shows("What this lesson found"));
    desk.session.lesson.done.assign(desk.session.lesson.lesson->steps.size(), true);
    desk.frames(4);
    CHECK(desk.shows("What this lesson found"));
    CHECK(desk.said().find("Both paths take turns.") != std::string::npos);
    CHECK(desk.said().find("One counter a warp.") == std::string::npos);
    REQUIRE(desk.click_on("Show the answer"));
    CHECK(desk.said().find("One counter a warp.") != std::string::npos);
    CHECK(desk.clashes() == std::vector<std::string>{});
    CHECK(desk.shell.describe("learn").find("Found: Both paths take turns.") != std::string::npos);
    REQUIRE(desk.click_on("On to A03"));
    desk.settle();
    CHECK(desk.session.lesson.lesson->id == "A03");
}

TEST_CASE("the last page has the challenge with its medals, and the same job since A01") {
    Opened desk;
    desk.last_step();
    REQUIRE(desk.click_on("To the last page"));
    desk.settle();
    REQUIRE(desk.session.lesson.ending);
    CHECK(desk.session.lesson.ending->problem.empty());
    for (const char* words : {"Challenge", "bronze", "silver", "gold", "The same job since A01"}) CHECK(desk.shows(words));
    CHECK(desk.said().find("a thread for every pixel") != std::string::npos);
    CHECK(desk.clashes() == std::vector<std::string>{});
    desk.session.lesson.done.assign(desk.session.lesson.lesson->steps.size(), true);
    const std::string facts = desk.shell.describe("learn");
    CHECK(facts.find("Medals: bronze to ") != std::string::npos);
    CHECK(facts.find("times as fast (simulated on ") != std::string::npos);
    CHECK(facts.find("Yours") == std::string::npos);
    desk.session.lesson.medal = lessons::Medal::silver;
    CHECK(desk.shell.describe("learn").find("Yours, from before: silver.") != std::string::npos);
    CHECK(desk.shows("Write my certificate"));
    CHECK(desk.session.write_certificate().find("nothing to certify") != std::string::npos);  // it keeps no record here
}

TEST_CASE("an exam tells nothing before it is handed in, and everything after") {
    test::Desk desk({.lesson = "BX"});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    LessonState& state = desk.session.lesson;
    REQUIRE(state.lesson);
    const auto go_to = [&](int step) {
        state.step = step;
        desk.session.post(ask::ShowLessonStep{step});
        desk.settle();
    };
    go_to(5);
    CHECK_FALSE(desk.shows("Lock answer"));
    CHECK(desk.shows("told when you hand in"));
    REQUIRE(desk.click_on("910"));
    desk.frames(2);
    CHECK(exam_result(state).answered == 1);
    CHECK(exam_result(state).points == 0);
    CHECK(desk.shell.describe("lesson").find("the run says") == std::string::npos);
    go_to(static_cast<int>(state.lesson->steps.size()) - 1);
    CHECK(desk.said().find("Nothing is told before you hand it in") != std::string::npos);
    CHECK_FALSE(desk.shows("Check it"));
    REQUIRE(desk.click_on("Keep it"));
    desk.settle();
    CHECK(desk.said().find("Kept.") != std::string::npos);
    CHECK(exam_result(state).answered == 2);
    CHECK(state.last_check(state.step, 0)->report == nullptr);
    REQUIRE(desk.click_on("Hand in"));
    desk.settle();
    CHECK_FALSE(state.handed_in);  // with tasks that are open it is asked for twice
    CHECK(desk.said().find("have no answer") != std::string::npos);
    CHECK(desk.clashes() == std::vector<std::string>{});
    go_to(1);
    go_to(static_cast<int>(state.lesson->steps.size()) - 1);
    CHECK_FALSE(desk.shows("Hand in all the same"));  // who went back is asked again
    REQUIRE(desk.click_on("Hand in"));
    REQUIRE(desk.click_on("Hand in all the same"));
    desk.settle();
    CHECK(state.handed_in);
    for (int i = 0; i < 2000 && state.last_check(state.step, 0)->report == nullptr; ++i) desk.settle();
    REQUIRE(state.last_check(state.step, 0)->report);
    CHECK_FALSE(state.last_check(state.step, 0)->report->passed);  // it is the starter
    const ExamResult result = exam_result(state);
    CHECK(result.points == 1);
    CHECK(result.of_points == 20);
    CHECK_FALSE(result.passed);
    CHECK(desk.said().find("1 of 20 points: not passed") != std::string::npos);
    CHECK(desk.clashes() == std::vector<std::string>{});
    go_to(5);
    CHECK(desk.shell.describe("lesson").find("right: the run says 910") != std::string::npos);
    go_to(8);
    CHECK(desk.shell.describe("lesson").find("not so: the run says 4") != std::string::npos);
    go_to(static_cast<int>(state.lesson->steps.size()) - 1);
    REQUIRE(desk.click_on("Take it again"));
    desk.settle();
    CHECK_FALSE(state.handed_in);
    CHECK(exam_result(state).answered == 0);
}

TEST_CASE("in an exam no register tells which lanes are on") {
    test::Desk desk({.lesson = "AX", .lesson_step = 1});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    REQUIRE(desk.session.snapshot()->kernel.lanes);
    const std::string said = desk.shell.describe("warp");
    INFO(said);
    CHECK(said.find("Warp 0 of block 0") != std::string::npos);
    CHECK(said.find("lane 31") == std::string::npos);
    desk.session.workspace = Workspace::sm;
    desk.settle();
    CHECK(desk.shows("Hidden until you lock an answer."));
}

TEST_CASE("how sure somebody was is held against how often they were right") {
    lessons::Lesson lesson;
    lesson.steps.resize(1);
    lesson.steps[0].predicts.resize(3);
    lesson.steps[0].predicts[2].sure = false;
    LessonState state;
    state.lesson = std::make_shared<const lessons::Lesson>(lesson);
    state.predictions.resize(1);
    state.predictions[0].resize(3);
    CHECK(calibration_of(state).words().empty());
    for (size_t i = 0; i < 3; ++i) {
        state.predictions[0][i].locked = true;
        state.predictions[0][i].truth = 1;
        state.predictions[0][i].confidence = i == 0 ? 90 : 80;
        state.predictions[0][i].right = i == 0;
    }
    CHECK(calibration_of(state).words() ==
          "You were 85 % sure on average, and right in 1 of 2 (50 %): less sure would have been nearer.");
    state.predictions[0][1].right = true;
    CHECK(calibration_of(state).words().find("2 of 2 (100 %): that is well judged") != std::string::npos);
}

}  // namespace gui_companion_test
