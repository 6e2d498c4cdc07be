// A desk on which a lesson's steps are gone to, answered and looked at, and a tensor program's step without one.
#pragma once
#include <string>
#include <tuple>

#include "app/gui/view.h"
#include "core/scene/tape/tape_program.h"
#include "lessons/player/lesson.h"
#include "tests/gui/desk.h"

namespace lockstep::gui::test {

inline std::shared_ptr<const nn::StepRecord> step_of(const std::string& text) {
    const auto tape = scene::parse_tape(text, "test.tape");
    REQUIRE(tape.ok());
    const auto run = scene::run_tape(tape.value(), {});
    REQUIRE(run.ok());
    return run.value()->step;
}

inline void go_to(Desk& desk, int step) {
    desk.session.lesson.step = step;
    desk.session.post(ask::ShowLessonStep{step});
    desk.settle();
}
inline void answer(Desk& desk, int step) {
    for (size_t p = 0; p < desk.session.lesson.predictions[static_cast<size_t>(step)].size(); ++p) {
        auto& given = desk.session.lesson.predictions[static_cast<size_t>(step)][p];
        given.chosen = 0;
        given.locked = true;
        desk.session.post(ask::LockPrediction{p});
    }
    desk.settle();
    desk.session.learn.run_shown = step;  // the run stands where an answered sketch was
    desk.settle();
}

inline void reads_at_any_size(Desk& desk) {
    for (const auto& [w, h, scale] :
         {std::tuple{1600.0f, 1000.0f, 1.0f}, {1280.0f, 720.0f, 1.0f}, {1600.0f, 1000.0f, 2.0f}}) {
        desk.size(w, h, scale);
        desk.frames(3);
        INFO(w << " x " << h << " at " << scale);
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
    desk.size(1600, 1000, 1);
    desk.frames(3);
}

inline std::string said_by(const Desk& desk, const char* view) {
    return view_named(view)->make()->describe(desk.session, desk.shell.focus);
}

}  // namespace lockstep::gui::test
