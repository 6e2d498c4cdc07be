// A lesson's companion is read whole or refused in one sentence, fits its lesson, and becomes plans and pages.
#include "lessons/player/companion/companion.h"

#include "core/base/diagnostic.h"
#include "lessons/player/companion/handout.h"
#include "tests/catch.h"

namespace companion_test {

using namespace lockstep;
using namespace lockstep::lessons;

namespace {

const std::string small = R"(
recap = "Two paths take turns: 16 < 32 lanes & no more."
back = ""
forward = "A02: grids"
[[question]]
ask = "Why?"
answer = "Because."
[[plan]]
minutes = 25
parts = [[1, 10, "look"], [2, 12, "predict"]]
[[plan]]
minutes = 50
parts = [[1, 20, "look"]]
[[misconception]]
believed = "Both sides run at once."
instead = "They take turns."
step = 2
[[split]]
predict = "guess"
most = "Most say 4."
say = "Count again."
[[same]]
step = 1
language = "CUDA C++"
title = "A launch"
code = '''
kernel<<<1, 32>>>(x);
'''
)";

Lesson lesson() {
    Lesson lesson;
    lesson.id = "A01";
    lesson.title = "Two < paths";
    lesson.gpu = "v100";
    lesson.minutes = 10;
    lesson.steps.resize(2);
    lesson.steps[0].title = "First";
    lesson.steps[1].title = "Second";
    Predict predict;
    predict.id = "guess";
    predict.type = "number";
    predict.question = "How many <lanes>?";
    predict.answers = {{.text = "4"}, {.text = "8"}};
    lesson.steps[1].predicts.push_back(predict);
    return lesson;
}

std::string refused(const std::string& text) {
    const auto read = parse_companion(text, "companion.toml");
    return read.ok() ? std::string() : render(read.error()).substr(0, render(read.error()).find('\n'));
}

std::string with(const std::string& old, const std::string& changed) {
    std::string text = small;
    const size_t at = text.find(old);
    REQUIRE(at != std::string::npos);
    return text.replace(at, old.size(), changed);
}

}  // namespace

TEST_CASE("a companion is read whole") {
    const Companion read = parse_companion(small, "companion.toml").value();
    CHECK(read.questions.size() == 1);
    CHECK(read.plan(40)->minutes == 25);
    CHECK(read.plan(90)->minutes == 50);
    CHECK(read.plan(10) == nullptr);
    CHECK(read.plans[0].taken() == 22);
    CHECK(read.same[0].code == "kernel<<<1, 32>>>(x);");
    CHECK(Companion::link(read.forward) == std::pair<std::string, std::string>("A02", "grids"));
    CHECK(companion_problems(lesson(), read).empty());
}

TEST_CASE("what is wrong in a companion is told in one sentence with its line") {
    CHECK(refused("recap = 3").find("'recap' is a text in quotes") != std::string::npos);
    CHECK(refused(with("forward = \"A02: grids\"", "forward = \"grids\"")).find("begins with a lesson") !=
          std::string::npos);
    CHECK(refused(with("believed", "beleived")).find("did you mean") != std::string::npos);
    CHECK(refused(with("[1, 10, \"look\"]", "[1, 10]")).find("a part is a step, its minutes") != std::string::npos);
    CHECK(refused(with("[1, 10, \"look\"]", "[0, 10, \"look\"]")).find("'step' is a whole number from 1") !=
          std::string::npos);
    CHECK(refused(with("recap =", "recap ==")).find("companion.toml:2") != std::string::npos);
    CHECK_FALSE(refused("\x01\x02").empty());
    CHECK_FALSE(refused("").empty());
}

TEST_CASE("a companion that does not fit its lesson is told") {
    const auto problems = [](const std::string& text) {
        std::string all;
        for (const std::string& one : companion_problems(lesson(), parse_companion(text, "c").value())) all += one + "; ";
        return all;
    };
    CHECK(problems(with("step = 2", "step = 3")).find("a misconception is of step 3, but there are 2") != std::string::npos);
    CHECK(problems(with("predict = \"guess\"", "predict = \"gess\"")).find("which the lesson does not have") !=
          std::string::npos);
    CHECK(problems(with("predict = \"guess\"", "predict = \"gess\"")).find("'guess' has no split") != std::string::npos);
    CHECK(problems(with("[2, 12,", "[2, 22,")).find("the plan of 25 minutes takes 32") != std::string::npos);
    CHECK(problems(with("[1, 10, \"look\"], [2, 12,", "[2, 10, \"look\"], [1, 12,")).find("goes back to step 1") !=
          std::string::npos);
}

TEST_CASE("a student's page asks and gives nothing away, a lecturer's has the answers") {
    const Companion read = parse_companion(small, "companion.toml").value();
    const std::string student = handout_page(lesson(), {.companion = &read});
    CHECK(student.find("Two &lt; paths") != std::string::npos);
    CHECK(student.find("How many &lt;lanes&gt;?") != std::string::npos);
    CHECK(student.find("kernel&lt;&lt;&lt;1, 32&gt;&gt;&gt;(x);") != std::string::npos);
    CHECK(student.find("Because.") == std::string::npos);
    CHECK(student.find("Two paths take turns") == std::string::npos);
    CHECK(student.find("Most say 4.") == std::string::npos);
    LessonRun run;
    run.steps.resize(2);
    run.steps[1].predicts.push_back({.id = "guess", .question = "", .of = "lanes@line:3", .truth = 8, .answer = "8"});
    const std::string lecturer = handout_page(lesson(), {.companion = &read, .answers = &run});
    for (const char* words : {"The run says 8. <code>lanes@line:3", "Because.", "16 &lt; 32 lanes &amp; no more",
                              "Most say 4.", "Both sides run at once.", "25 minutes"})
        CHECK(lecturer.find(words) != std::string::npos);
    const auto foo = [](size_t step, bool) { return step == 0 ? std::string("foo") : std::string(); };
    const std::string drawn = handout_page(lesson(), {.answers = &run, .picture = foo});
    CHECK(drawn.find("data:image/png;base64,Zm9v") != std::string::npos);
    CHECK(drawn.find("<img", drawn.find("<img") + 1) == std::string::npos);
    CHECK(handout_page(lesson(), {.picture = foo}).find("<img") == std::string::npos);  // a run's picture answers
}

TEST_CASE("a plan for the minutes that there are is text for a terminal") {
    const Companion read = parse_companion(small, "companion.toml").value();
    const std::string text = plan_text(lesson(), read, 30);
    CHECK(text.find("  10 min  step  2  Second: predict") != std::string::npos);
    CHECK(text.find("3 minutes are left for questions") != std::string::npos);
    CHECK_THROWS_AS(plan_text(lesson(), read, 10), Failure);
}

TEST_CASE("every lesson that has a companion fits it, and links to lessons that exist") {
    size_t with_one = 0;
    for (const auto& folder : lesson_folders()) {
        const Lesson one = load_lesson(folder).value();
        const auto read = companion_of(one);
        INFO(one.id << (read ? "" : ": " + render(read.error())));
        REQUIRE(read.ok());
        if (!read.value()) continue;
        ++with_one;
        for (const std::string& problem : companion_problems(one, *read.value())) FAIL_CHECK(problem);
        CHECK(read.value()->questions.size() == 3);
        CHECK(read.value()->plans.size() == 3);
        for (const std::string& link : {read.value()->back, read.value()->forward})
            if (!link.empty()) CHECK(lesson_named(Companion::link(link).first).ok());
    }
    CHECK(with_one == 40);
}

}  // namespace companion_test
