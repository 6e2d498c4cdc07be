// A lesson's step with a scene of rows of many ranks, as the app shows it.
#pragma once
#include "core/scene/cluster/parallel_picture.h"
#include "core/scene/figures/figure_table.h"
#include "tests/gui/desk.h"

namespace lockstep::gui::test {

struct RowsDesk : Desk {  // a lesson's step with a scene of rows, a question of its own, and nothing that moves
    scene::SceneResult result;
    RowsDesk(const char* kind, const char* rows, const char* view, bool asks) {
        const auto ran = scene::run_parallel_scene(kind, rows, {"lesson.md", 1, 1}, {});
        REQUIRE(ran.ok());
        result.of = ran.value();
        auto snapshot = std::make_shared<Snapshot>();
        snapshot->cluster = scene::cluster_picture(result, "C10, step 1");
        auto lesson = std::make_shared<lessons::Lesson>();
        lesson->id = "C10";
        lesson->title = "Rows";
        lesson->steps.resize(1);
        lesson->steps[0].scenes.resize(1);
        lesson->steps[0].scenes[0].view = view;
        lesson->steps[0].scenes[0].id = "one";
        if (asks) lesson->steps[0].predicts.resize(1);
        session.lesson.lesson = lesson;
        session.lesson.predictions = {std::vector<LessonState::Prediction>(asks ? 1 : 0)};
        session.lesson.done = {false};
        session.workspace = Workspace::learn;
        show(snapshot);
    }
    const scene::FigureTable& table() { return *session.snapshot()->cluster->table; }
};

}  // namespace lockstep::gui::test
