// Windows on a puzzle of the Build workspace, and its designs.
#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "app/gui/views/build/build_data.h"
#include "lessons/player/puzzles/design_file.h"
#include "tests/gui/desk.h"

namespace lockstep::gui::test {

inline std::vector<std::shared_ptr<const BuildTask>> all_tasks() {
    std::vector<std::shared_ptr<const BuildTask>> tasks;
    for (const std::filesystem::path& file : lessons::puzzle_files()) tasks.push_back(task_of_puzzle(file.string()));
    return tasks;
}

// The first design, the references, and one with every figure at its most.
inline std::vector<lessons::Figures> designs_of(const BuildTask& task) {
    std::vector<lessons::Figures> designs = {{}};
    for (const auto& [medal, figures] : task.puzzle->reference) designs.push_back(figures);
    lessons::Figures most;
    for (const auto& free : task.free) most.emplace_back(free.field, free.most);
    designs.push_back(most);
    return designs;
}

inline double area_of_box(const Rect& box) {
    return double(box.w) * double(box.h);
}

// A window on a puzzle, whose first design has run.
struct BuildWindow : Desk {
    explicit BuildWindow(const std::string& puzzle = "01", const char* theme = "dark") : Desk({.own_kernel = true}, theme) {
        session.build.open(session, lessons::puzzle_named(puzzle).value().file.string());
        settle();  // else the workspace opens the first puzzle itself
        session.workspace = Workspace::build;
        settle();
        REQUIRE(session.build.task() != nullptr);
    }
    const BuildState& state() const { return *session.snapshot()->build; }
    std::string words(const char* view) const { return view_named(view)->make()->describe(session, shell.focus); }
};

// A window on a large puzzle: what could be changed next in its first design is not waited for.
struct LargePuzzle : Desk {
    explicit LargePuzzle(const std::string& puzzle) : Desk({.own_kernel = true}) {
        const std::string file = lessons::puzzle_named(puzzle).value().file.string();
        session.build.open(session, file);
        // Before that the workspace would open the first puzzle itself.
        REQUIRE(until([&](const BuildState& state) { return state.task->puzzle->file == file; }));
        session.workspace = Workspace::build;
    }
    bool until(const std::function<bool(const BuildState&)>& reached) {
        for (int i = 0; i < 200'000; ++i) {
            frame();
            const auto snapshot = session.snapshot();
            if (snapshot->build && snapshot->build->newest() != nullptr && reached(*snapshot->build)) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return false;
    }
};

inline double value_in(const lessons::Figures& figures, const std::string& field) {
    for (const auto& [name, value] : figures)
        if (name == field) return value;
    return -1;
}

}  // namespace lockstep::gui::test
