// Which figures a scene can answer, known before it runs: what a lesson's of= and check= are held against when it is read.
#pragma once
#include "core/scene/figures/figures.h"
#include "core/scene/scene.h"

namespace lockstep::scene {

struct AskableFigures {
    std::string_view of;             // "a host program": for messages
    std::vector<std::string> kinds;  // of figure_kinds()
    bool metrics = false;            // those of core/model too: of the launch, or of one of a step's launches
    bool any_name = false;           // of a program that could not be read
    std::vector<std::string> names;  // of the program that was: "z", "y" of y[3]
};
// Reads the scene's program, where it has one: its own names are figures.
AskableFigures askable_figures(const SceneHome& home, const Scene& scene);

// Why the scene has no such figure, with the nearest name; nothing: it has, as far as can be told before it runs.
std::optional<Diagnostic> refusal_of(const AskableFigures& askable, const FigureName& name);

}  // namespace lockstep::scene
