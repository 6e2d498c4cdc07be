// OpenGL without a visible window: one framebuffer in a context of its own.
#include <algorithm>
#include <vector>

#include "app/gui/window/offscreen_context.h"
#include "app/gui/window/renderer.h"
#include "core/base/diagnostic.h"

namespace lockstep::gui {

struct Offscreen::State {
    OffscreenContext context;
    GlFunctions gl = load_gl(OffscreenContext::address_of);
    GLuint buffer = 0, colour = 0;
};

Offscreen::Offscreen(int width, int height) : width_(width), height_(height), state_(std::make_unique<State>()) {
    const GlFunctions& gl = state_->gl;
    gl.gen_framebuffers(1, &state_->buffer);
    gl.gen_renderbuffers(1, &state_->colour);
    gl.bind_renderbuffer(GL_RENDERBUFFER, state_->colour);
    gl.renderbuffer_storage(GL_RENDERBUFFER, GL_RGBA8, width, height);
    gl.bind_framebuffer(GL_FRAMEBUFFER, state_->buffer);
    gl.framebuffer_renderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, state_->colour);
    if (gl.check_framebuffer_status(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        throw Failure("no framebuffer of " + std::to_string(width) + "x" + std::to_string(height) +
                      " pixels can be made here");
}

Offscreen::~Offscreen() {
    state_->gl.delete_renderbuffers(1, &state_->colour);
    state_->gl.delete_framebuffers(1, &state_->buffer);
}

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
