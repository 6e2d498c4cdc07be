// The learner's progress: written once, read back, and robust against a spoilt file.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/gui/session.h"
#include "tests/catch.h"

namespace gui_progress_test {

using namespace lockstep;
using namespace lockstep::gui;

namespace {

struct Folder {
    std::filesystem::path path = std::filesystem::temp_directory_path() / "lockstep_progress_test";
    Folder() { std::filesystem::remove_all(path); }
    ~Folder() { std::filesystem::remove_all(path); }
};

std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

LessonState fresh() {
    LessonState state;
    auto lesson = std::make_shared<lessons::Lesson>();
    lesson->id = "A02";
    lesson->steps.resize(3);
    lesson->steps[0].title = "Read";
    lesson->steps[1].title = "Predict";
    lesson->steps[1].predicts.resize(1);
    lesson->steps[1].predicts[0].id = "q1";
    lesson->steps[1].predicts[0].answers = {{"4"}, {"8 \"sectors\""}};
    lesson->steps[2].title = "Make";
    lesson->steps[2].exercises.resize(1);
    lesson->steps[2].exercises[0].id = "e1";
    state.lesson = lesson;
    state.predictions = {{}, {{}}, {}};
    state.done.assign(3, false);
    return state;
}

}  // namespace

TEST_CASE("what a learner did comes back, each thing written once") {
    const Folder folder;
    const auto file = folder.path / "deep" / "progress.jsonl";
    LessonState state = fresh();
    ProgressLog log(file);
    log.follow(state);
    CHECK(log.note(state).empty());
    CHECK_FALSE(std::filesystem::exists(file));  // nothing was done yet
    state.done[0] = true;
    state.predictions[1][0] = {.chosen = 1, .confidence = 70, .locked = true};
    CHECK(log.note(state).empty());
    CHECK(text_of(file).find("prediction") == std::string::npos);  // not yet answered by the run
    state.predictions[1][0].truth = 8;
    state.predictions[1][0].right = true;
    state.done[1] = state.done[2] = true;
    for (int frame = 0; frame < 3; ++frame) CHECK(log.note(state).empty());
    const std::string text = text_of(file);
    CHECK(std::count(text.begin(), text.end(), '\n') == 4);

    LessonState again = fresh();
    restore_progress(file, again);
    CHECK(again.done == std::vector<bool>{true, true, true});
    CHECK(again.predictions[1][0].chosen == 1);
    CHECK(again.predictions[1][0].confidence == 70);
    CHECK(again.predictions[1][0].locked);
    REQUIRE(again.predictions[1][0].truth);
    CHECK(*again.predictions[1][0].truth == Approx(8));
    CHECK(again.predictions[1][0].right);
    ProgressLog next(file);
    next.follow(again);
    CHECK(next.note(again).empty());
    CHECK(text_of(file) == text);
}

TEST_CASE("a medal is written once, when it is better than the one before, with its day") {
    const Folder folder;
    const auto file = folder.path / "progress.jsonl";
    LessonState state = fresh();
    ProgressLog log(file);
    log.follow(state);
    state.medal = lessons::Medal::silver;
    for (int frame = 0; frame < 3; ++frame) CHECK(log.note(state).empty());
    state.medal = lessons::Medal::gold;
    CHECK(log.note(state).empty());
    const std::string text = text_of(file);
    CHECK(std::count(text.begin(), text.end(), '\n') == 2);
    CHECK(text.find("\"medal\":\"silver\",\"on\":\"20") != std::string::npos);
    LessonState again = fresh();
    restore_progress(file, again);
    CHECK(again.medal == lessons::Medal::gold);
}

TEST_CASE("an exam is written when it has been handed in and every answer told, and not before") {
    const Folder folder;
    const auto file = folder.path / "progress.jsonl";
    LessonState state = fresh();
    auto lesson = std::make_shared<lessons::Lesson>(*state.lesson);
    lesson->exam = true;
    lesson->pass_mark = 50;
    state.lesson = lesson;
    ProgressLog log(file);
    log.follow(state);
    state.predictions[1][0].chosen = 1;
    state.done[0] = state.done[2] = true;
    CHECK(state.holds_back());
    CHECK(exam_result(state).answered == 2);
    CHECK(log.note(state).empty());
    CHECK_FALSE(std::filesystem::exists(file));
    state.handed_in = state.predictions[1][0].locked = true;
    CHECK(log.note(state).empty());
    CHECK(text_of(file).find("\"exam\"") == std::string::npos);  // the engine has not answered yet
    state.predictions[1][0].truth = 8;
    state.predictions[1][0].right = false;
    CHECK(log.note(state).empty());
    CHECK(log.note(state).empty());
    const std::string text = text_of(file);
    CHECK(text.find("\"event\":\"exam\",\"points\":1.0,\"of\":2.0,\"passed\":true") != std::string::npos);
    CHECK(text.find("\"exam\"") == text.rfind("\"exam\""));
    LessonState again = fresh();
    again.lesson = lesson;
    restore_progress(file, again);
    CHECK(again.handed_in);
    CHECK(exam_result(again).points == 1);
    CHECK(exam_result(again).passed);
}

TEST_CASE("spoilt lines are skipped, the rest is kept") {
    const Folder folder;
    std::filesystem::create_directories(folder.path);
    const auto file = folder.path / "progress.jsonl";
    std::ofstream(file) << "\n{\"lesson\":\"A02\",\"event\":\"st\xff\xfe\n"
                        << "[1, 2]\n7\nnull\n{\"lesson\":7,\"event\":[]}\n"
                        << std::string(20000, '[') << "\n"
                        << R"({"lesson":"A02","event":"prediction","predict":"q1","answer":"gone","truth":8})"
                        << "\n"
                        << R"({"lesson":"A02","event":"prediction","predict":"q1","answer":"4","truth":null})"
                        << "\n"
                        << R"({"lesson":"B04","event":"step","step":"Predict"})"
                        << "\n"
                        << R"({"lesson":"A02","event":"step","step":"Read"})"
                        << "\n"
                        << R"({"lesson":"A02","event":"st)";  // cut off
    LessonState state = fresh();
    restore_progress(file, state);
    CHECK(state.done == std::vector<bool>{true, false, false});
    CHECK_FALSE(state.predictions[1][0].locked);

    ProgressLog log(file);
    log.follow(state);
    state.done[2] = true;
    CHECK(log.note(state).empty());
    LessonState again = fresh();
    restore_progress(file, again);
    CHECK(again.done == std::vector<bool>{true, false, true});
}

TEST_CASE("a folder that cannot be written is told once") {
    const Folder folder;
    std::filesystem::create_directories(folder.path);
    std::ofstream(folder.path / "file") << "x";
    LessonState state = fresh();
    ProgressLog log(folder.path / "file" / "progress.jsonl");
    log.follow(state);
    state.done[0] = true;
    CHECK(log.note(state).find("progress.jsonl") != std::string::npos);
    state.done[1] = true;
    CHECK(log.note(state).empty());
}

TEST_CASE("a lesson opens where it was left") {
    const Folder folder;
    std::filesystem::create_directories(folder.path);
    const auto file = folder.path / "progress.jsonl";
    std::ofstream(file) << R"({"lesson":"A02","event":"step","step":"One thread, one addition"})"
                        << "\n"
                        << R"({"lesson":"A02","event":"prediction","predict":"whose","sketch":[1.0],"confidence":90,)"
                        << R"("truth":1.0,"right":true})"
                        << "\n"
                        << R"({"lesson":"A02","event":"step","step":"Which thread is mine?"})"
                        << "\n";
    Session session({.lesson = "A02", .lesson_step = -1, .progress_file = file});
    REQUIRE(session.wait_until_idle(60));
    Focus focus;
    session.adopt_results(focus);
    REQUIRE(session.lesson.lesson);
    CHECK(session.lesson.step == 2);
    CHECK(session.lesson.predictions[1][0].locked);
    CHECK(session.lesson.predictions[1][0].right);
    CHECK(session.learn.last_lesson == "A02");
    std::ofstream(file, std::ios::app) << R"({"lesson":"A08","event":"step","step":"Far apart"})"
                                       << "\n{spoilt\n";
    CHECK(last_lesson_in(file) == "A08");
    CHECK(last_lesson_in(folder.path / "none").empty());
}

}  // namespace gui_progress_test
