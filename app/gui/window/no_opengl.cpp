// The twin of renderer.cpp, offscreen.cpp and window.cpp (and of what belongs to it) in a build without OpenGL and windows
// (LOCKSTEP_OPENGL=OFF), as wheels are: pictures are drawn by the processor (raster/).
#include "app/gui/window/renderer.h"
#include "core/base/diagnostic.h"

namespace lockstep::gui {

struct Offscreen::State {};

Offscreen::Offscreen(int width, int height) : width_(width), height_(height) {
    throw Failure("this build draws without OpenGL: --renderer cpu, or leave it out", ExitStatus::missing);
}
Offscreen::~Offscreen() = default;
void Offscreen::finish() {}
void Offscreen::read(std::vector<Color>&) {}

Renderer::Renderer(Shell& shell) : shell_(shell) {}
Renderer::~Renderer() = default;
bool Renderer::frame(const Input&, int, int, float, double now) {
    last_ = now;
    anew_ = false;
    theme_ = shell_.theme;
    return true;
}
void Renderer::draw_whole(int, int) {}
void Renderer::draw_page(ImDrawList&, int, int) {}

bool has_display() {
    return false;
}
bool run_window(Shell&, int, int, bool) {
    return false;
}

}  // namespace lockstep::gui
