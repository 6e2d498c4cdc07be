#include "app/gui/window/gl.h"

#include <string>

#include "core/base/diagnostic.h"

namespace lockstep::gui {

GlFunctions load_gl(GlAddress (*address_of)(const char* name)) {
    const auto load = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(address_of(name));
        if (function == nullptr)
            throw Failure(
                "OpenGL 3.3 is needed to draw, and " + std::string(name) + " is not there (package libgl1-mesa-dri)",
                ExitStatus::missing);
    };
    GlFunctions gl;
    load(gl.gen_framebuffers, "glGenFramebuffers");
    load(gl.bind_framebuffer, "glBindFramebuffer");
    load(gl.delete_framebuffers, "glDeleteFramebuffers");
    load(gl.check_framebuffer_status, "glCheckFramebufferStatus");
    load(gl.gen_renderbuffers, "glGenRenderbuffers");
    load(gl.bind_renderbuffer, "glBindRenderbuffer");
    load(gl.delete_renderbuffers, "glDeleteRenderbuffers");
    load(gl.renderbuffer_storage, "glRenderbufferStorage");
    load(gl.framebuffer_renderbuffer, "glFramebufferRenderbuffer");
    load(gl.blit_framebuffer, "glBlitFramebuffer");
    return gl;
}

bool Framebuffer::fit(int width, int height) {
    if (width == width_ && height == height_) return false;
    release();
    width_ = width, height_ = height;
    gl_.gen_framebuffers(1, &buffer_);
    gl_.gen_renderbuffers(1, &colour_);
    gl_.bind_renderbuffer(GL_RENDERBUFFER, colour_);
    gl_.renderbuffer_storage(GL_RENDERBUFFER, GL_RGBA8, width, height);
    gl_.bind_framebuffer(GL_FRAMEBUFFER, buffer_);
    gl_.framebuffer_renderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colour_);
    if (gl_.check_framebuffer_status(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        throw Failure("no framebuffer of " + std::to_string(width) + "x" + std::to_string(height) +
                      " pixels can be made here");
    return true;
}

void Framebuffer::show() {
    gl_.bind_framebuffer(GL_READ_FRAMEBUFFER, buffer_);
    gl_.bind_framebuffer(GL_DRAW_FRAMEBUFFER, 0);
    gl_.blit_framebuffer(0, 0, width_, height_, 0, 0, width_, height_, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    gl_.bind_framebuffer(GL_FRAMEBUFFER, buffer_);
}

void Framebuffer::release() {
    if (buffer_ == 0) return;
    gl_.delete_renderbuffers(1, &colour_);
    gl_.delete_framebuffers(1, &buffer_);
    buffer_ = colour_ = 0;
}

}  // namespace lockstep::gui
