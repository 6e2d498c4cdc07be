// One panel as a picture file, at a key, beside which the window goes on.
#pragma once
#include <filesystem>

#include "app/gui/window/renderer.h"

namespace lockstep::gui {

// Takes the picture that the shell wants (Shell::wants_picture) in the current OpenGL context, whose frame is `width` x
// `height` pixels, and writes it into the folder: "warps.png", then "warps-2.png". The shell tells where, or why not.
void take_panel_picture(Shell& shell, Renderer& renderer, int width, int height, float screen_scale, double now,
                        const std::filesystem::path& folder);

}  // namespace lockstep::gui
