// What judging takes from a submission besides its outputs: findings of the checkers, what of the task it changed, and what
// part of the points its clauses earn. PTX texts, so that no compiler is needed.
#include <algorithm>

#include "core/base/files.h"
#include "lessons/player/authors/authors.h"
#include "lessons/player/check.h"
#include "lessons/player/pinned.h"
#include "tests/catch.h"

namespace lessons_judging_test {

using namespace lockstep;
using namespace lockstep::lessons;

namespace {

namespace fs = std::filesystem;

const Exercise& exercise_named(const Lesson& lesson, const std::string& id) {
    for (const Step& step : lesson.steps)
        for (const Exercise& exercise : step.exercises)
            if (exercise.id == id) return exercise;
    throw Failure("no exercise " + id);
}

ExerciseReport judge_proof(const Lesson& lesson, const Exercise& exercise, const std::string& name) {
    const bool kernel = name.ends_with(".ptx");
    const fs::path file = lesson.folder / "proof" / (kernel ? "ptx/" + name : name);
    return check_submission(lesson, exercise, read_file(file).value(), kernel ? name : exercise.file).value();
}

struct OwnLesson {  // one in a folder of its own, with this in place of a part of the skeleton
    TemporaryFolder folder;
    fs::path place;
    OwnLesson(const std::string& from, const std::string& to) : place(folder.path() / "X01_own") {
        REQUIRE(new_lesson(place).ok());
        std::string text = read_file(place / "lesson.md").value();
        const size_t at = text.find(from);
        REQUIRE(at != std::string::npos);
        write_file(place / "lesson.md", text.replace(at, from.size(), to));
    }
};

}  // namespace

TEST_CASE("a kernel that is right by luck earns nothing, and the checker's sentence is the reason") {
    const Lesson lesson = lesson_named("A06").value();
    const ExerciseReport report = judge_proof(lesson, exercise_named(lesson, "sort_work"), "sort_work_wrong_no_barrier.ptx");
    CHECK_FALSE(report.passed);
    CHECK(report.points == 0);
    REQUIRE(!report.clauses.empty());
    CHECK_FALSE(report.clauses[0].holds);
    INFO(report.clauses[0].detail);
    CHECK((report.clauses[0].detail.find("check: ") != std::string::npos));
}

TEST_CASE("shared memory that nobody cleared holds what an earlier kernel left there") {
    const Lesson lesson = lesson_named("A16").value();
    const ExerciseReport report = judge_proof(lesson, exercise_named(lesson, "kmeans"), "kmeans_wrong_no_zero.ptx");
    REQUIRE(!report.clauses.empty());
    INFO(report.clauses[0].detail);
    CHECK(report.clauses[0].detail.find("where the reference has") != std::string::npos);
    CHECK(report.clauses[0].detail.find("initcheck") != std::string::npos);
}

TEST_CASE("an exercise may allow what a checker finds") {
    const Lesson lesson = lesson_named("A16").value();
    Exercise exercise = exercise_named(lesson, "kmeans");
    const ExerciseReport strict = judge_proof(lesson, exercise, "kmeans_wrong_no_barrier.ptx");
    INFO(strict.clauses[0].detail);
    CHECK(strict.clauses[0].detail.find("racecheck") != std::string::npos);
    exercise.allow = {"racecheck", "initcheck"};
    const ExerciseReport lenient = judge_proof(lesson, exercise, "kmeans_wrong_no_barrier.ptx");
    INFO(lenient.clauses[0].detail);
    CHECK(lenient.clauses[0].detail.find("racecheck") == std::string::npos);
}

TEST_CASE("clauses that the starter does not hold share the points, and what it holds is required") {
    const Lesson lesson = lesson_named("A05").value();
    const Exercise& exercise = exercise_named(lesson, "hoard");  // 3 points; the starter's outputs are right
    const ExerciseReport half = judge_proof(lesson, exercise, "hoard_wrong_one_warp_a_block.ptx");
    REQUIRE(half.clauses.size() == 3);
    CHECK(half.clauses[0].required);
    CHECK(half.clauses[1].of_points == 1.5);
    CHECK(half.clauses[1].points == 1.5);
    CHECK(half.clauses[2].points == 0);
    CHECK(half.points == 1.5);
    CHECK_FALSE(half.passed);
    CHECK(half.lines.back() == "1.5 of 3 points");
    CHECK(half.lines.at(0).ends_with("(required)"));
    CHECK(half.lines.at(1).ends_with("(1.5 of 1.5 points)"));
    const ExerciseReport wrong = judge_proof(lesson, exercise, "hoard_wrong_half_of_them.ptx");
    CHECK(wrong.points == 0);
}

TEST_CASE("points= may say what each clause is worth") {
    const Lesson lesson = lesson_named("A06").value();
    const Exercise& exercise = exercise_named(lesson, "sort_work");
    CHECK(exercise.points == 3);
    CHECK(exercise.clause_points == std::vector<double>{0, 0, 3});
    const ExerciseReport select = judge_proof(lesson, exercise, "sort_work_wrong_select.ptx");
    CHECK(select.clauses[1].holds);  // all lanes work, and twice as long
    CHECK(select.points == 0);
}

TEST_CASE("what changes= does not name is the task's") {
    const std::string task = "mlp widths=4,4 name=one batch=8\nname=mine dp=2\n";
    const auto changed = [&](const std::string& text) { return changed_rows(text, task, {"batch@row:mine", "zero"}); };
    CHECK(changed(task) == "");
    CHECK(changed("mlp widths=4,4 name=one batch=8\nname=mine dp=2 batch=4 zero=1\n") == "");
    CHECK(changed("mlp widths=4,4 name=one batch=4\nname=mine dp=2\n") ==
          "in row 'one' batch=4 is batch=8 in the task: what may be changed are batch@row:mine and zero");
    CHECK(changed("mlp widths=4,4 name=one batch=8\nname=mine dp=4\n").starts_with("in row 'mine' dp=4 is dp=2"));
    CHECK(changed("mlp widths=4,4 name=one batch=8\nname=mine\n").starts_with("in row 'mine' dp=2 of the task is missing"));
    CHECK(changed("mlp widths=4,4 name=one batch=8 lr=0\nname=mine dp=2\n").find("lr=0 is no setting of the task") !=
          std::string::npos);
    CHECK(changed("vgg widths=4,4 name=one batch=8\nname=mine dp=2\n").find("begins with 'vgg'") != std::string::npos);
    CHECK(changed("mlp widths=4,4 name=one batch=8\n") == "the task has 2 rows, and here is one");
    CHECK(changed_rows("own ranks=2\nrank 0: F1\n", "own ranks=2\nrank 0: F1 B1\n", {"lists"}) == "");
    CHECK(changed_rows("own ranks=2\nrank 0: F1\n", "own ranks=2\nrank 0: F1 B1\n", {"zero"}).find("lists") !=
          std::string::npos);
}

TEST_CASE("allow=, changes=, without=, points= and view= are refused at their place") {
    const auto refusal = [](const std::string& from, const std::string& to) {
        const OwnLesson own(from, to);
        const auto lesson = load_lesson(own.place);
        REQUIRE_FALSE(lesson.ok());
        return lesson.error();
    };
    CHECK(refusal("inputs=\"random:2, edges\"", "inputs=\"random:2, edges\" allow=\"racechek\"").message ==
          "allow= names checkers, racecheck, initcheck or synccheck, not 'racechek', did you mean 'racecheck'?");
    CHECK(refusal("inputs=\"random:2, edges\"", "changes=\"h2d\"").message.find("changes= is of rows") == 0);
    CHECK(refusal("inputs=\"random:2, edges\"", "without=\"cat\"").message.find("of a tensor program") != std::string::npos);
    CHECK(refusal("inputs=\"random:2, edges\"", "points=\"1,2,3\"").message ==
          "check= has 2 clauses, and here are points for 3");
    const Diagnostic view = refusal("view=\"threads\"", "view=\"thread\"");
    CHECK(view.message == "unknown view 'thread', did you mean 'threads'?");
    CHECK(view.where.line == 12);
    CHECK(view.where.column > 100);
    const Diagnostic figure = refusal("of=\"warps\"", "of=\"wraps\"");
    CHECK(figure.message.find("did you mean 'warps'?") != std::string::npos);
    CHECK(figure.where.line == 17);
}

TEST_CASE("a new lesson holds as it is, without a compiler, and is not written over another") {
    const TemporaryFolder folder;
    const fs::path place = folder.path() / "X07_of_my_own";
    REQUIRE(new_lesson(place).ok());
    const LessonCheck check = check_lesson(place);
    for (const CheckItem& item : check.items) {
        INFO(item.what << ": " << item.detail);
        CHECK(item.passed);
    }
    CHECK(check.id == "X07");
    CHECK(check.title == "of my own");
    CHECK(check.passed());
    CHECK_FALSE(new_lesson(place).ok());
    CHECK(write_missing_ptx(place, "").value().empty());
    CHECK(lesson_named(place.string()).value().id == "X07");
    CHECK(run(place.string()).value().steps.size() == 3);
}

TEST_CASE("a proof that does not do what its name says fails the lesson") {
    const OwnLesson own("part = \"A\"", "part = \"A\"");
    const auto failed = [&] {
        std::vector<std::string> names;
        for (const CheckItem& item : check_lesson(own.place).items)
            if (!item.passed) names.push_back(item.what + ": " + item.detail);
        return names;
    };
    fs::create_directories(own.place / "proof/ptx");
    const auto copy = [&](const fs::path& from, const std::string& to, const std::string& head) {
        write_file(own.place / "proof" / (to + ".cu"), head + read_file(own.place / (from.string() + ".cu")).value());
    };
    copy("twice", "twice_wrong_as_it_was", "// fails: outputs\n");
    fs::copy_file(own.place / "ptx/twice.ptx", own.place / "proof/ptx/twice_wrong_as_it_was.ptx");
    CHECK(failed().size() == 1);  // its PTX is older
    fs::remove_all(own.place / "proof");
    fs::create_directories(own.place / "proof/ptx");
    copy("twice", "twice_right_starter", "");
    fs::copy_file(own.place / "ptx/twice.ptx", own.place / "proof/ptx/twice_right_starter.ptx");
    const std::vector<std::string> right = failed();
    REQUIRE(right.size() == 1);
    INFO(right[0]);
    CHECK(right[0].find("proof/twice_right_starter.cu: fails, but a solution must pass") != std::string::npos);
    fs::remove_all(own.place / "proof");
    fs::create_directories(own.place / "proof/ptx");
    copy("solution/twice", "twice_wrong_solution", "");
    fs::copy_file(own.place / "solution/ptx/twice.ptx", own.place / "proof/ptx/twice_wrong_solution.ptx");
    const std::vector<std::string> wrong = failed();
    REQUIRE(wrong.size() == 1);
    CHECK(wrong[0].find("passes, but it is there to fail") != std::string::npos);
}

TEST_CASE("the page of figures is what the engine's tables say") {
    const std::string page = read_file(resource_root() / "lessons/player/FIGURES.md").value();
    CHECK(page == figures_page() + "\n");  // lockstep lesson figures > lessons/player/FIGURES.md
}

}  // namespace lessons_judging_test
