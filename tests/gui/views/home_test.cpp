// Home: its tiles show what has run, Continue goes to where one was, cards say how far one is, and all of it by keyboard.
#include "app/gui/views/home/home.h"

#include <filesystem>
#include <fstream>

#include "core/base/files.h"
#include "lessons/player/lesson.h"
#include "tests/gui/desk.h"

namespace gui_home_test {

using namespace lockstep;
using namespace lockstep::gui;

namespace {

struct Desk : test::Desk {
    explicit Desk(SessionOptions scene = {.start = false}, const char* theme = "dark", float text_scale = 1)
        : test::Desk(std::move(scene), theme, text_scale) {
        session.workspace = Workspace::home;
        frames(2);
    }
};

}  // namespace

TEST_CASE("Home shows every lesson with its question, and each question fits its card") {
    Desk desk;
    const std::string said = desk.shell.describe("home");
    const bool whole[] = {true, true, true};
    size_t cards = 0;
    for (const HomePlan::Part& part : plan_home(desk.session, {0, 0, 1600, 1000}, whole).parts) cards += part.cards.size();
    CHECK(cards == desk.session.home.course.size());
    CHECK(cards >= 40);
    for (const auto& lesson : desk.session.home.course) {
        INFO(lesson->id);
        CHECK_FALSE(lesson->question.empty());
        CHECK(lesson->question.ends_with('?'));
        CHECK(said.find(lesson->question) != std::string::npos);
    }
    for (size_t i = 0; i < cards_shown; ++i)  // in full
        CHECK(desk.shows(desk.session.home.course[i]->question));
}

TEST_CASE("who begins is led to the first lesson, and Enter opens it") {
    Desk desk;
    CHECK(desk.shows("Start: A01"));
    CHECK(go_on_of(desk.session).lesson == "A01");
    desk.key(KeyCode::enter);
    CHECK(desk.session.workspace == Workspace::learn);
}

TEST_CASE("Continue goes to where one was: a lesson's step, one's own kernel, a workspace") {
    Desk desk;
    Remembered kept;
    kept.workspace = "learn";
    kept.lesson = "A08";
    kept.lesson_step = 4;
    desk.shell.recall(kept, true);
    desk.frames(2);
    CHECK(go_on_of(desk.session).title == "Continue: A08 Coalescing, step 5 of 10");
    CHECK(go_on_of(desk.session).step == 4);
    CHECK(desk.shell.remembered().workspace == "learn");  // Home is no place to come back to
    CHECK(desk.shell.remembered().lesson_step == 4);
    kept.workspace = "sm";
    desk.shell.recall(kept, true);
    CHECK(go_on_of(desk.session).workspace == Workspace::sm);
    CHECK(go_on_of(desk.session).lesson == "A08");  // its run is what was looked at
    kept.workspace = "kernel";
    kept.lesson.clear();
    kept.kernel = "vector_add";
    kept.cycle = 12;
    kept.cycles = 1400;
    desk.shell.recall(kept, true);
    const GoOn own = go_on_of(desk.session);
    CHECK(own.workspace == Workspace::kernel);
    CHECK(own.title == "Continue: your kernel vector_add.cu");
    CHECK(own.detail == "vector_add, cycle 12 of 1,400.");
    desk.session.learn.last_lesson = "A08";
    kept.workspace = "cluster";
    desk.shell.recall(kept, true);
    CHECK(go_on_of(desk.session).lesson == "A08");  // under way, and the cluster was only looked at
    desk.session.learn.last_lesson.clear();
    CHECK(go_on_of(desk.session).label == "Start: A01");
    kept.workspace = "training";
    desk.shell.recall(kept, true);
    desk.session.learn.last_lesson.clear();
    desk.frames(2);
    desk.key(KeyCode::enter);
    CHECK(desk.session.workspace == Workspace::training);
    desk.key(KeyCode::one);  // and back: it is offered again
    CHECK(go_on_of(desk.session).workspace == Workspace::training);
}

TEST_CASE("a card says how far one is, and what is done is counted") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "progress.jsonl";
    Desk desk;
    const auto& first = *desk.session.home.course.front();
    {
        std::ofstream out(file);
        for (const lessons::Step& step : first.steps) {
            out << R"({"lesson":")" << first.id << R"(","event":"step","step":")" << step.title << "\"}\n";
            for (const lessons::Exercise& one : step.exercises)
                out << R"({"lesson":")" << first.id << R"(","event":"exercise","exercise":")" << one.id << "\"}\n";
        }
        out << R"({"lesson":"A08","event":"step","step":"32 addresses at once"})"
            << "\n{ torn\n";
        out << R"({"lesson":"A08","event":"step","step":"no such step"})"
            << "\n"
            << R"({"lesson":"Z99","event":"step"})"
            << "\n";
    }
    desk.session.home.progress = progress_of(file, desk.session.home.course);
    CHECK(desk.session.home.progress.size() == 2);
    CHECK(desk.session.home.progress["A01"].whole());
    CHECK(desk.session.home.progress["A08"].done == 1);
    CHECK(desk.session.home.progress["A08"].next == 1);
    desk.frames(2);
    CHECK(desk.said().find("16 lessons and an exam, 4 h, 1 done") != std::string::npos);
    desk.session.home.progress = progress_of(folder.path() / "nothing", desk.session.home.course);
    CHECK(desk.session.home.progress.empty());
}

TEST_CASE("more cards are shown when they are asked for, and the page scrolls") {
    Desk desk;
    const auto has_card = [&](const char* id) {
        return std::any_of(desk.written.begin(), desk.written.end(), [&](const auto& text) { return text.text == id; });
    };
    REQUIRE_FALSE(has_card("A16"));
    REQUIRE(desk.shows("9 more: A09"));
    const std::string more = [&] {
        for (const UiState::Written& text : desk.written)
            if (text.text.starts_with("9 more: A09")) return text.text;
        return std::string();
    }();
    REQUIRE(desk.click_on(more));
    CHECK(has_card("A09"));
    desk.input.mouse_x = 800;
    desk.input.mouse_y = 700;
    for (int i = 0; i < 12; ++i) {
        desk.input.wheel = -3;
        desk.frame();
    }
    CHECK(has_card("A16"));
}

TEST_CASE("arrows and Tab go from one thing on Home to the next, and Enter opens it") {
    Desk desk;
    for (int i = 0; i < 200 && !desk.shell.state.focused; ++i) desk.key(KeyCode::tab);
    const uint32_t first = desk.shell.state.focused;
    desk.key(KeyCode::down);
    CHECK(desk.shell.state.focused != first);
    desk.key(KeyCode::up);
    CHECK(desk.shell.state.focused == first);
    std::set<Workspace> opened;
    for (int i = 0; i < 60; ++i) {
        desk.key(KeyCode::escape);  // a menu that the last one opened
        desk.session.workspace = Workspace::home;
        desk.frames(2);
        desk.shell.state.focused = first;
        for (int k = 0; k < i; ++k) desk.key(KeyCode::right);
        desk.key(KeyCode::enter);
        opened.insert(desk.session.workspace);
    }
    CHECK(opened.contains(Workspace::machine));
    CHECK(opened.contains(Workspace::kernel));
    CHECK(opened.contains(Workspace::training));
    CHECK(opened.contains(Workspace::learn));
}

TEST_CASE("the tiles show the kernel, the own kernel and the training that really ran, and rest when nobody is there") {
    Desk desk({.training_steps = 1, .steps_later = 4});
    for (int i = 0; i < 30 && desk.session.home.own != HomeLook::Own::done; ++i) desk.settle();
    desk.settle();
    const auto snapshot = desk.session.snapshot();
    REQUIRE(desk.session.home.own == HomeLook::Own::done);
    CHECK(snapshot->source == Source::training);  // it is back
    CHECK(snapshot->training.step->step == 4);
    REQUIRE(snapshot->kernel.run);
    CHECK(desk.shows("cycle "));
    CHECK(desk.shows("step 4"));
    if (snapshot->own.run) CHECK(desk.shows(with_commas(snapshot->own.run->run->result.cycles) + " cycles"));
    CHECK(desk.clashes() == std::vector<std::string>{});
    CHECK(desk.quads <= 8000);

    const auto cycle = [&] {
        for (const UiState::Written& text : desk.written)
            if (text.text.starts_with("cycle ")) return text.text;
        return std::string();
    };
    desk.input.mouse_x += 5;
    desk.frames(2);
    const std::string before = cycle();
    desk.frames(10);
    CHECK(cycle() != before);
    CHECK(desk.session.playing);
    for (int i = 0; i < 600; ++i) desk.frame();
    CHECK_FALSE(desk.session.playing);  // it rests
    CHECK_FALSE(desk.shell.wants_frame());
    const std::string rested = cycle();
    desk.frames(5);
    CHECK(cycle() == rested);
    desk.input.mouse_x += 5;
    desk.frames(3);
    CHECK(desk.session.playing);  // and wakes
    desk.shell.motion = "reduced";
    desk.frames(2);
    const std::string calm = cycle();
    desk.frames(10);
    CHECK(cycle() == calm);
    desk.key(static_cast<KeyCode>('3'));
    CHECK(desk.session.workspace == Workspace::machine);
}

TEST_CASE("no text of Home clashes at any size or in any theme") {
    Desk desk({.training_steps = 3});
    desk.settle();
    for (const auto& [width, height, scale] : {std::tuple{1600.0f, 1000.0f, 1.0f},
                                               {1280.0f, 720.0f, 1.0f},
                                               {1280.0f, 720.0f, 2.0f},
                                               {1000.0f, 700.0f, 1.25f},
                                               {700.0f, 500.0f, 1.0f},
                                               {2560.0f, 1440.0f, 1.0f}})
        for (const char* theme : {"dark", "light", "high-contrast", "print"}) {
            INFO(width << " x " << height << " at " << scale << ", " << theme);
            desk.shell.theme = &theme_named(theme);
            desk.size(width, height, scale);
            desk.frames(3);
            CHECK(desk.clashes() == std::vector<std::string>{});
            CHECK(desk.quads <= 8000);
        }
}

}  // namespace gui_home_test
