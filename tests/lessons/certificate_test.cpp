// A certificate says what the progress file says, and no more.
#include "lessons/player/certificate/certificate.h"

#include "core/base/files.h"
#include "lessons/player/authors/authors.h"
#include "lessons/player/exam/exam.h"
#include "tests/catch.h"

namespace lessons_certificate_test {

using namespace lockstep;
using namespace lockstep::lessons;

namespace {

std::vector<Lesson> course() {
    Lesson lesson;
    lesson.id = "A02", lesson.title = "Grid <1>", lesson.part = "A";
    lesson.steps.resize(3);
    lesson.steps[0].title = "Read", lesson.steps[1].title = "Guess", lesson.steps[2].title = "Make";
    lesson.steps[2].exercises.resize(1);
    lesson.steps[2].exercises[0].id = "guard";
    Lesson exam;
    exam.id = "AX", exam.title = "Examined", exam.part = "A", exam.exam = true;
    exam.steps.resize(1);
    return {lesson, exam};
}

const std::string progress =
    "{\"lesson\":\"A02\",\"event\":\"step\",\"step\":\"Read\"}\n"
    "no JSON\n{\"lesson\":\"A02\",\"event\":\"step\",\"step\":\"gone\"}\n"
    "{\"lesson\":\"A02\",\"event\":\"exercise\",\"exercise\":\"guard\",\"points\":2.0,\"on\":\"2026-11-20\"}\n"
    "{\"lesson\":\"A02\",\"event\":\"exercise\",\"exercise\":\"guard\",\"points\":2.0,\"on\":\"2026-11-25\"}\n"
    "{\"lesson\":\"A02\",\"event\":\"medal\",\"exercise\":\"guard\",\"medal\":\"silver\",\"on\":\"2026-11-25\"}\n"
    "{\"lesson\":\"A02\",\"event\":\"medal\",\"exercise\":\"guard\",\"medal\":\"bronze\"}\n"
    "{\"lesson\":\"AX\",\"event\":\"exam\",\"points\":9.0,\"of\":14.0,\"passed\":true,\"on\":\"2026-11-26\"}\n"
    "{\"lesson\":\"AX\",\"event\":\"exam\",\"points\":5.0,\"of\":14.0,\"passed\":false}\n"
    "{\"lesson\":\"Z99\",\"event\":\"step\",\"step\":\"Read\"}\n";

}  // namespace

TEST_CASE("a certificate counts steps, first days of exercises, the best medal and the best exam") {
    const Certificate made = certificate_of(progress, course());
    CHECK(made.lessons == 1);
    REQUIRE(made.rows.size() == 2);
    CHECK(made.rows[0].done == 2);
    CHECK(made.rows[0].steps == 3);
    REQUIRE(made.rows[0].exercises.size() == 1);
    CHECK(made.rows[0].exercises[0].on == "2026-11-20");
    CHECK(made.rows[0].medal == Medal::silver);
    CHECK(made.whole() == 0);
    CHECK(made.medals(Medal::silver) == 1);
    CHECK(made.rows[1].points == 9);
    CHECK(made.rows[1].passed);
    CHECK(made.rows[1].on == "2026-11-26");
    CHECK(certificate_of("", course()).rows.empty());
}

TEST_CASE("its page has the name as it was given, and says what it is no proof of") {
    const std::string page = certificate_page(certificate_of(progress, course()), "Ada <b>", "2026-11-27");
    CHECK(page.find("Ada &lt;b&gt;") != std::string::npos);
    CHECK(page.find("Grid &lt;1&gt;") != std::string::npos);
    CHECK(page.find("2 of 3") != std::string::npos);
    CHECK(page.find("9 of 14 points, passed") != std::string::npos);
    CHECK(page.find("no proof of who that was") != std::string::npos);
    CHECK(page.find("http") == std::string::npos);  // it needs nothing else
    CHECK_FALSE(certificate_from("/no/such/file", "").ok());
}

TEST_CASE("answers on paper are judged by the figure or the words, a line a task") {
    const Lesson exam = lesson_named("AX").value();
    REQUIRE(exam.answers);
    CHECK(exam.answers->points == 12);
    const ExamKey key = exam_key(exam).value();
    CHECK(key.size() == 11);
    const ExerciseReport all = judge_exam_answers(
        exam, key,
        "lanes = 8\nblocks=3\nthree = 12\ndoubles = 9 # and no more\nbanks = 4\noccupancy = 50\nrounds = 20\nroof = 6000\n"
        "warps = 1\npieces = 0.6\ntensor = 24,576\n");
    for (const std::string& line : all.lines) UNSCOPED_INFO(line);
    CHECK(all.points == 12);
    CHECK(all.passed);
    const ExerciseReport some = judge_exam_answers(exam, key, "lanes = 16\nblocks = 3\nbank = 4\n");
    CHECK(some.points == 1);
    CHECK_FALSE(some.passed);
    CHECK(some.lines[some.lines.size() - 2] == "there is no task 'bank', did you mean 'banks'?");
    CHECK(judge_exam_answers(exam, key, "").points == 0);
}

TEST_CASE("the table of lessons is the page that is kept") {
    CHECK(read_file(resource_root() / "lessons/README.md").value() == lessons_page().value() + "\n");
}

}  // namespace lessons_certificate_test
