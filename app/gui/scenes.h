// What stands on the screen at once: the workspaces, and the scenes, one row each. A step of a lesson names a scene
// (view="divergence"); every other workspace has one scene a page. A row says which views stand where, what a step of the
// transport is and what presenter mode shows, so that nothing else compares their names.
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "app/gui/session.h"
#include "app/gui/shell/layout.h"

namespace lockstep::gui {

struct WorkspaceRow {
    std::string_view name, title;
    Grain grain;                  // what a step is where the command line opens it
    bool shows_kernel;            // its pictures are of one kernel, on the GPU that this ran on
    std::string_view strip = {};  // the view that stands over its panels while no lesson is open
    bool page = false;            // it is one view as large as the window, without a transport
};
inline constexpr WorkspaceRow workspaces[] = {
    {"home", "Home", Grain::cycle, false, {}, true}, {"learn", "Learn", Grain::instruction, true},
    {"machine", "Machine", Grain::cycle, true},      {"sm", "SM", Grain::cycle, true},
    {"memory", "Memory", Grain::instruction, true},  {"training", "Training", Grain::kernel, false, "setup"},
    {"kernel", "Kernel", Grain::instruction, false}, {"cluster", "Cluster", Grain::action, false},
    {"build", "Build", Grain::cycle, false}};
constexpr const WorkspaceRow& row_of(Workspace workspace) {
    return workspaces[static_cast<size_t>(workspace)];
}
std::optional<Workspace> workspace_named(std::string_view name);

struct SceneRow {
    Workspace workspace;
    std::string_view name;  // in Learn what lessons call it; elsewhere the page, "" the first
    LayoutNode tree;
    Grain grain = Grain::cycle;       // what a step is when a lesson opens it; action: the clock is that of many ranks
    std::string_view presented = {};  // the view that presenter mode shows
    bool (*still)(const scene::ClusterScene&) = nullptr;  // nothing moves, its rows of figures are told; null: never
    std::string_view answered = {};  // the view in front once all questions are answered; empty: as before
};
std::span<const SceneRow> scenes();
const SceneRow& scene_named(Workspace workspace, std::string_view name);  // its first where there is none of that name

// Whether the step's sketch stands beside the lesson: while it is open, and after that until its run is asked for.
bool shows_sketch(const Session& session);
// The open prediction of the step that a picture of the case before stands above, or of one in words beside
// (lessons::picture_before), as if `locked` were answered; -1: there is none.
int asked_below_picture(const LessonState& state, int step, int locked = -1);
// The scene whose picture stands above the sketch on show: that of the case before, and once it is answered the step's own.
// Of an open question in words it stands in place of the step's own. Null: the sketch stands alone, or nothing is asked.
const scene::Scene* picture_above(const LessonState& state);
// The picture has its room to itself, without chips that set up another one: above a sketch in a small window, wherever it
// is the case before, with which nobody is to try out what is asked, and while an open question hides it.
bool has_room_to_itself(const Session& session, float height);
// The picture on show is of the case before the one that the step asks about: it gives nothing away.
bool shows_case_before(const LessonState& state);
// The scene of a lesson that the pictures on show are of: that of the case before, or the step's. Null outside of Learn.
const scene::Scene* drawn_scene(const Session& session);
// What the workspace shows now: in Learn the scene of the lesson's step, or of the nearest step before it that has one.
const SceneRow& scene_on_show(const Session& session, Workspace workspace);
inline const SceneRow& scene_on_show(const Session& session) {
    return scene_on_show(session, session.workspace);
}
// The view that the lesson step's pictures open on where not all fit: its scene's, but the source where the checker is to
// find a fault, for that is reported by its line.
std::string_view front_view_of(const Session& session);

}  // namespace lockstep::gui
