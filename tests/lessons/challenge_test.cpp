// The challenge at a lesson's end: its directive, its medals, and who earns them. Every lesson's own challenge is held by
// `lesson check` (tests/every).
#include "lessons/player/challenge/challenge.h"

#include <algorithm>

#include "core/base/files.h"
#include "core/system/system.h"
#include "lessons/player/check.h"
#include "tests/catch.h"

namespace lessons_challenge_test {

using namespace lockstep;
using namespace lockstep::lessons;

namespace {

const Exercise& exercise_of(const Lesson& lesson) {
    REQUIRE(challenged(lesson) != nullptr);
    return *challenged(lesson);
}

std::string refused(const std::string& from, const std::string& to) {
    const std::filesystem::path folder = resource_root() / "lessons" / "A08_coalescing";
    std::string text = read_file(folder / "lesson.md").value();
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
    const auto lesson = parse_lesson(text, folder / "lesson.md");
    return lesson.ok() ? std::string() : lesson.error().message;
}

// C10: which of the plan's clauses hold, and what a step takes.
ExerciseReport plan_report(const std::string& rows) {
    const Lesson lesson = lesson_named("C10").value();
    return check_submission(lesson, exercise_of(lesson), rows, "seventy.plan").value();
}

}  // namespace

TEST_CASE("every lesson but the exams ends with a challenge") {
    size_t challenges = 0;
    for (const std::filesystem::path& folder : lesson_folders()) {
        const Lesson lesson = load_lesson(folder).value();
        if (lesson.exam) continue;
        INFO(lesson.id);
        REQUIRE(lesson.challenge);
        REQUIRE(challenged(lesson) != nullptr);
        CHECK(!lesson.challenge->prompt.empty());
        CHECK(std::filesystem::exists(folder / lesson.challenge->gold));
        ++challenges;
    }
    CHECK(challenges == 40);
}

TEST_CASE("the solution earns bronze, the better file gold, and a starter nothing") {
    const Lesson lesson = lesson_named("A08").value();
    const Exercise& exercise = exercise_of(lesson);
    Yardstick known;
    const auto report_of = [&](const std::string& file) {
        const auto program = scene::load_kernel(lesson.folder, file, exercise.kernel);
        return check_exercise(lesson, exercise, program.value(), {}, "", false, &known).value();
    };
    const ExerciseReport starter = report_of(exercise.file), solution = report_of("solution/" + exercise.file),
                         gold = report_of(lesson.challenge->gold);
    CHECK_FALSE(starter.medal);
    REQUIRE(solution.medal);
    CHECK(solution.medal->medal == Medal::bronze);
    REQUIRE(gold.medal);
    CHECK(gold.medal->medal == Medal::gold);
    CHECK(gold.lines.back().starts_with("gold: "));
    CHECK(gold.lines.back().find("cycles") != std::string::npos);
    const MedalLimits& limits = gold.medal->limits;
    CHECK(limits.gold < limits.silver);
    CHECK(limits.silver < limits.bronze);
    CHECK(limits.of(limits.silver) == Medal::silver);
    CHECK(limits.of(limits.bronze + 1) == Medal::none);
    CHECK(limits.of(0.0 / 0.0) == Medal::none);
}

TEST_CASE("what every submission is held against is worked out once, in a time of its own that none of them has to pay") {
    const Lesson lesson = lesson_named("A08").value();
    const Exercise& exercise = exercise_of(lesson);
    Yardstick known;
    const auto program = scene::load_kernel(lesson.folder, "solution/" + exercise.file, exercise.kernel);
    const auto judge = [&] {
        CHECK(check_exercise(lesson, exercise, program.value(), {}, "", false, &known).value().passed);
    };
    const double before = system::process_seconds();
    CHECK(known.time.seconds() == 0);
    judge();
    const double once = known.time.seconds();
    CHECK(once > 0);
    CHECK(once < system::process_seconds() - before);
    judge();
    CHECK(known.time.seconds() == once);
    {
        const TimeForAll::Piece outer(known.time);
        const TimeForAll::Piece inner(known.time);  // counts once, and while it lasts
        judge();
        CHECK(known.time.seconds() > once);
    }
    CHECK(known.time.seconds() - once < system::process_seconds() - before);
}

TEST_CASE("a plan's challenge keeps every clause: one that is faster but does not fit has no medal") {
    const Lesson lesson = lesson_named("C10").value();
    const auto text_of = [&](const std::string& file) { return read_file(lesson.folder / file).value(); };
    const MedalLimits limits = medal_limits(lesson).value();
    const ExerciseReport solution = plan_report(text_of("solution/seventy.plan")),
                         gold = plan_report(text_of("solution/gold_seventy.plan"));
    REQUIRE(solution.medal);
    CHECK(solution.medal->medal == Medal::bronze);
    REQUIRE(gold.medal);
    CHECK(gold.medal->medal == Medal::gold);
    CHECK(gold.medal->figure * 1.02 == Approx(limits.gold));
    CHECK(limits.unit == "us");
    CHECK(limits.words().starts_with("bronze to 46.78 s, silver to "));
    const Result<AtSize> starter = at_challenge_size(lesson, "seventy.plan", {}, false);
    REQUIRE(starter.ok());
    CHECK_FALSE(starter.value().wrong.empty());
    CHECK_FALSE(plan_report(text_of("seventy.plan")).medal);
    // A wrong try is told what does not fit, and a slow one what it waits for.
    const ExerciseReport large = plan_report(text_of("seventy.plan"));
    const auto detail = [&](const ExerciseReport& report, std::string_view clause) {
        for (const Clause& one : report.clauses)
            if (one.text.starts_with(clause)) return one.detail;
        return std::string();
    };
    CHECK(detail(large, "fits").find("the fullest GPU needs 611 GB of 85.9 GB; the largest part is gradients, 282 GB") !=
          std::string::npos);
    CHECK(detail(large, "mfu").find("the longest wait") == std::string::npos);  // it holds
    CHECK(provenance_of_challenge(lesson) == "derived");
    CHECK(provenance_of_challenge(lesson_named("B09").value()) == "executed");
    CHECK(provenance_of_challenge(lesson_named("A08").value()) == "simulated");
}

TEST_CASE("a figure of one row has its unit, and arithmetic none") {
    CHECK(medal_limits(lesson_named("C01").value()).value().unit == "us");  // step_us@row:mine
    CHECK(medal_limits(lesson_named("B01").value()).value().unit.empty());  // of two parameters
    CHECK(medal_limits(lesson_named("C02").value()).value().unit == "us");
}

TEST_CASE("a text that passes small and is wrong at the challenge's size has no medal, and keeps its points") {
    const Lesson lesson = lesson_named("A08").value();
    const Exercise& exercise = exercise_of(lesson);
    std::string text = read_file(lesson.folder / "solution" / "pieces.cu").value();
    const std::string body = "    for (int k = 0;";
    REQUIRE(text.find(body) != std::string::npos);
    text.insert(text.find(body), "    if (gridDim.x > 600) return;\n");
    const auto report = check_submission(lesson, exercise, text, exercise.file);
    if (!report.ok() || report.value().clauses.front().text == "it compiles") return;  // no compiler is here
    CHECK(report.value().passed);
    CHECK(report.value().points == exercise.points);
    REQUIRE(report.value().medal);
    CHECK(report.value().medal->medal == Medal::none);
    CHECK(report.value().medal->words().starts_with("no medal: "));
}

TEST_CASE("a challenge that is none is refused in one sentence") {
    const std::string head = "::: challenge of=\"cycles\" exercise=\"pieces\"";
    CHECK(refused(head, "::: challenge of=\"cycles\" exercise=\"piece\"") == "the lesson has no exercise 'piece'");
    CHECK(refused(head, "::: challenge exercise=\"pieces\"") == "this challenge needs the attribute 'of'");
    CHECK(refused(head, "::: challenge of=\"cycle\" exercise=\"pieces\"").starts_with("unknown figure 'cycle'"));
    CHECK(refused("::: exercise id=\"row_sums\"", head + "\nOnce more.\n::: exercise id=\"row_sums\"") ==
          "a lesson has one challenge, and this one has one already");
}

TEST_CASE("a plan has one size") {
    const std::filesystem::path folder = resource_root() / "lessons" / "C10_four_dimensions";
    std::string text = read_file(folder / "lesson.md").value();
    const std::string head = "::: challenge of=\"step_us\"";
    REQUIRE(text.find(head) != std::string::npos);
    text.insert(text.find(head) + head.size(), " shape=\"n=2\"");
    const auto lesson = parse_lesson(text, folder / "lesson.md");
    REQUIRE_FALSE(lesson.ok());
    CHECK(lesson.error().message == "'seventy' has one size: it has no shapes=");
}

TEST_CASE("a lesson whose gold is not better than its solution fails its check") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "lockstep_challenge" / "A08_coalescing";
    std::filesystem::remove_all(folder.parent_path());
    std::filesystem::create_directories(folder.parent_path());
    std::filesystem::copy(resource_root() / "lessons" / "A08_coalescing", folder, std::filesystem::copy_options::recursive);
    for (const char* file : {"pieces.cu", "ptx/pieces.ptx"}) {
        const std::filesystem::path from = folder / "solution" / file;
        std::filesystem::copy_file(from, from.parent_path() / ("gold_" + from.filename().string()),
                                   std::filesystem::copy_options::overwrite_existing);
    }
    const LessonCheck check = check_lesson(folder);
    CHECK(std::ranges::any_of(check.items, [](const CheckItem& item) { return item.what == "challenge" && !item.passed; }));
    std::filesystem::remove_all(folder.parent_path());
}

}  // namespace lessons_challenge_test
