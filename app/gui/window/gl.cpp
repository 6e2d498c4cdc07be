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
    return gl;
}

}  // namespace lockstep::gui
