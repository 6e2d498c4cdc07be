// What both backends share: ImGui's OpenGL3 renderer, picture textures, the atlas upload. Needs a current GL context.
#pragma once
#include "app/gui/shell.h"

namespace lockstep::gui {

class Renderer {
  public:
    explicit Renderer(Shell& shell);  // creates the ImGui context's renderer and gives the shell its texture functions
    ~Renderer();
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;
    // One whole frame into the bound framebuffer of `width` x `height` pixels.
    void frame(const Input& input, int width, int height, float screen_scale, double now);

  private:
    Shell& shell_;
    double last_ = 0;
};

// Renders without a window: EGL surfaceless, a framebuffer object, glReadPixels. Throws Failure(missing) without EGL.
// Draws a few frames, so that what follows a first look (fonts, focus, registers) is there.
void render_to_png(Shell& shell, int width, int height, const std::string& file);
bool has_display();
// Opens the window and runs until it is closed. False: there is no display.
bool run_window(Shell& shell, int width, int height);

}  // namespace lockstep::gui
