// An exercise of a lesson on the desk: its targets, its check beside other work, and the way back.
#include "lessons/player/exercise.h"

#include <cstdlib>

#include "app/gui/desk/work_file.h"
#include "core/base/files.h"
#include "core/base/hash.h"
#include "tests/gui/own_desk.h"

namespace gui_exercise_test {

using namespace lockstep;
using namespace lockstep::gui;

namespace {

struct StateFolder {  // of this test's own, so that the learner's copies are none of a person's
    test::Scratch scratch;
    std::string before;
    StateFolder() {
        if (const char* was = std::getenv("XDG_STATE_HOME")) before = was;
        ::setenv("XDG_STATE_HOME", scratch.folder.string().c_str(), 1);
    }
    ~StateFolder() { before.empty() ? ::unsetenv("XDG_STATE_HOME") : ::setenv("XDG_STATE_HOME", before.c_str(), 1); }
};

struct Exercise {
    StateFolder folder;
    test::Desk desk;
    int step = -1;
    const lessons::Exercise* exercise = nullptr;

    explicit Exercise(const std::string& id = "by_warp", const std::string& lesson = "A06") : desk({.lesson = lesson}) {
        desk.settle();
        const auto& steps = desk.session.lesson.lesson->steps;
        for (size_t s = 0; s < steps.size(); ++s)
            for (const lessons::Exercise& one : steps[s].exercises)
                if (one.id == id) step = static_cast<int>(s), exercise = &one;
        REQUIRE(step >= 0);
        desk.session.lesson.step = step;
        desk.session.post(ask::ShowLessonStep{step});
        desk.settle();
        edit_exercise(desk.session, *exercise);
        REQUIRE(desk.session.workspace == Workspace::kernel);
        desk.settle();
    }
    std::string said() { return desk.shell.describe("task"); }
    void write(const std::string& text) {
        desk.session.desk.set_text(text);
        desk.settle();
    }
    std::string solution() const {
        return read_file(desk.session.lesson.lesson->folder / "solution" / exercise->file).value();
    }
};

}  // namespace

TEST_CASE("an exercise on the desk shows its task and targets, and before a check none of them is ticked") {
    if (!test::has_compiler()) return;
    Exercise on;
    CHECK(on.said().find(on.exercise->prompt) != std::string::npos);
    CHECK(on.said().find("outputs == reference (Check tells, required)") != std::string::npos);
    CHECK(on.said().find("lanes_per_issue >= 32 (now ") != std::string::npos);
    CHECK(on.desk.said().find("lanes per issue: at least 32") != std::string::npos);
    CHECK(on.said().find("holds:") == std::string::npos);
    on.desk.frames(2);
    CHECK(on.desk.shows("Check it"));
    CHECK(on.desk.shows("Back to the lesson"));
    CHECK(on.desk.shows("1 point"));
    CHECK(on.desk.clashes() == std::vector<std::string>());
}

TEST_CASE("the exercise of the lesson's challenge shows where medals begin, and which the text earned") {
    if (!test::has_compiler()) return;
    Exercise on("scale", "A01");  // whose references and story run in a moment
    for (int i = 0; i < 40 && on.said().find("Medals: ") == std::string::npos; ++i) on.desk.settle();
    CHECK(on.said().find("Medals: bronze to ") != std::string::npos);
    CHECK(on.said().find("Yours") == std::string::npos);
    CHECK(on.desk.clashes() == std::vector<std::string>());
    on.write(on.solution());
    on.desk.key(KeyCode::f7);
    on.desk.settle();
    CHECK(on.said().find("Yours, bronze: ") != std::string::npos);
    CHECK(on.desk.session.lesson.medal == lessons::Medal::bronze);
}

TEST_CASE("a check judges the text as grade does; a wrong one gets no tick, a right one its points, an edit takes it back") {
    if (!test::has_compiler()) return;
    Exercise on;
    on.desk.key(KeyCode::f7);
    on.desk.settle();
    const LessonState::Checked* checked = on.desk.session.lesson.last_check(on.step, 0);
    REQUIRE(checked);
    REQUIRE(checked->report);
    CHECK_FALSE(checked->report->passed);
    CHECK(on.said().find("not yet: lanes_per_issue >= 32") != std::string::npos);
    CHECK(on.said().find("0 of 1") != std::string::npos);
    CHECK_FALSE(on.desk.session.lesson.done[static_cast<size_t>(on.step)]);
    on.desk.frames(2);
    CHECK(on.desk.shows("Hint"));  // after the first try
    CHECK(on.desk.session.workspace == Workspace::kernel);
    CHECK(on.desk.session.snapshot()->source == Source::own);  // the pictures stay those of her own run

    on.write(on.solution());
    CHECK(on.said().find("The text has changed since it was checked.") != std::string::npos);
    CHECK(on.said().find("holds:") == std::string::npos);  // though it would
    on.desk.key(KeyCode::f7);
    on.desk.settle();
    CHECK(on.said().find("holds: lanes_per_issue >= 32") != std::string::npos);
    CHECK(on.said().find("passed, 1 of 1 point") != std::string::npos);
    on.desk.frames(2);
    CHECK_FALSE(on.desk.shows("Hint"));  // nothing is left to be helped with
    CHECK(on.desk.session.lesson.done[static_cast<size_t>(on.step)]);

    on.write(on.solution() + "\n");
    CHECK(on.said().find("holds:") == std::string::npos);
    CHECK(on.desk.click_on("Back to the lesson"));
    CHECK(on.desk.session.workspace == Workspace::learn);
    CHECK(on.desk.session.lesson.step == on.step);
}

TEST_CASE("a check that is cancelled tells nothing, and what is done meanwhile goes on") {
    if (!test::has_compiler()) return;
    Exercise on("scale", "A01");      // whose references and story run in a moment
    on.desk.session.lesson.step = 0;  // she may look at another step meanwhile
    check_exercise(on.desk.session, on.step, 0);
    on.desk.session.post(ask::CancelCheck{});
    on.desk.settle();
    const LessonState::Checked* checked = on.desk.session.lesson.last_check(on.step, 0);
    REQUIRE(checked);
    CHECK(checked->report == nullptr);
    CHECK(on.said().find("The check was cancelled.") != std::string::npos);
    // The newer of two counts.
    on.write("nonsense");
    check_exercise(on.desk.session, on.step, 0);
    on.write(on.solution());
    check_exercise(on.desk.session, on.step, 0);
    on.desk.settle();
    checked = on.desk.session.lesson.last_check(on.step, 0);
    REQUIRE(checked->report);
    CHECK(checked->text == fnv1a64(on.solution()));
    CHECK(checked->report->passed);
}

TEST_CASE("the task begins again with the lesson's text and launch, and undo brings back what was written") {
    if (!test::has_compiler()) return;
    Exercise on;
    const std::string starter = read_file(on.desk.session.lesson.lesson->folder / on.exercise->file).value();
    on.desk.session.desk.set_text_anew("// nothing is left of it\n");
    on.desk.settle();
    on.desk.session.desk.document().launch.grid = "77";
    on.desk.frames(2);
    REQUIRE(on.desk.click_on("Begin again"));
    on.desk.settle();
    CHECK(on.desk.session.desk.document().text == starter);
    CHECK(on.desk.session.desk.document().launch.grid != "77");
    CHECK(on.desk.said().find("// nothing is left of it") == std::string::npos);
    CHECK(on.desk.clashes() == std::vector<std::string>());
    REQUIRE(on.desk.click_on("__global__"));
    on.desk.frames(2);
    on.desk.key(static_cast<KeyCode>('Z'), false, true);
    on.desk.settle();
    CHECK(on.desk.session.desk.document().text == "// nothing is left of it\n");
}

TEST_CASE("the first error brings the reports and their number to the front, a check brings the task") {
    if (!test::has_compiler()) return;
    Exercise on;
    CHECK(on.desk.shows("Check it"));
    CHECK_FALSE(on.desk.shows("Reports ("));
    on.write("__global__ void by_warp(float *x) { x[threadIdx.x + 100000000] = 1; }\n");
    on.desk.frames(3);
    CHECK(on.desk.shows("Reports (1"));
    CHECK_FALSE(on.desk.shows("Check it"));
    CHECK(on.desk.said().find("memcheck") != std::string::npos);
    on.desk.key(KeyCode::f7);
    on.desk.settle();
    CHECK(on.desk.shows("Check it"));
    on.desk.key(KeyCode::f8);
    on.desk.frames(2);
    CHECK_FALSE(on.desk.shows("Check it"));
}

TEST_CASE("a document knows whose exercise it is, also when its lesson is not open") {
    Exercise on;
    CHECK(exercise_lesson("/tmp/exercises/A06/by_warp.cu").empty());  // not the learner's folder
    CHECK(exercise_lesson(on.desk.session.desk.document().path) == "A06");
    on.desk.session.post(ask::OpenLesson{"A02", 0});
    on.desk.settle();
    CHECK(on.said().find(on.exercise->id) != std::string::npos);
    on.desk.session.workspace = Workspace::kernel;
    on.desk.frames(3);
    CHECK(on.desk.shows("Open lesson A06"));
}

}  // namespace gui_exercise_test
