// OpenGL without a visible window: one framebuffer in a context of its own.
#include <algorithm>
#include <vector>

#include "app/gui/window/offscreen_context.h"
#include "app/gui/window/renderer.h"

namespace lockstep::gui {

struct Offscreen::State {
    OffscreenContext context;
    Framebuffer pixels{OffscreenContext::address_of};
};

Offscreen::Offscreen(int width, int height) : width_(width), height_(height), state_(std::make_unique<State>()) {
    state_->pixels.fit(width, height);
}

Offscreen::~Offscreen() = default;

void Offscreen::finish() {
    glFinish();
}

void Offscreen::read(std::vector<Color>& pixels) {
    const auto width = static_cast<size_t>(width_), height = static_cast<size_t>(height_);
    pixels.resize(width * height);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
    for (size_t low = 0, high = height - 1; low < high; ++low, --high)
        std::swap_ranges(pixels.data() + low * width, pixels.data() + (low + 1) * width, pixels.data() + high * width);
    for (Color& pixel : pixels) pixel |= 0xFF000000;
}

}  // namespace lockstep::gui
