// OpenGL's header, and those functions beyond OpenGL 1.1 that are called here. A system's own library exports OpenGL 1.1 at
// least (Windows no more than that): what came later is asked from the context, on every system alike. ImGui's renderer
// loads its own.
#pragma once
#define GLFW_INCLUDE_GLEXT
#include <GLFW/glfw3.h>  // includes the system's OpenGL header with what that one needs

namespace lockstep::gui {

struct GlFunctions {
    void(GLAPIENTRY* gen_framebuffers)(GLsizei count, GLuint* names) = nullptr;
    void(GLAPIENTRY* bind_framebuffer)(GLenum target, GLuint name) = nullptr;
    void(GLAPIENTRY* delete_framebuffers)(GLsizei count, const GLuint* names) = nullptr;
    GLenum(GLAPIENTRY* check_framebuffer_status)(GLenum target) = nullptr;
    void(GLAPIENTRY* gen_renderbuffers)(GLsizei count, GLuint* names) = nullptr;
    void(GLAPIENTRY* bind_renderbuffer)(GLenum target, GLuint name) = nullptr;
    void(GLAPIENTRY* delete_renderbuffers)(GLsizei count, const GLuint* names) = nullptr;
    void(GLAPIENTRY* renderbuffer_storage)(GLenum target, GLenum format, GLsizei width, GLsizei height) = nullptr;
    void(GLAPIENTRY* framebuffer_renderbuffer)(GLenum target, GLenum attachment, GLenum of, GLuint name) = nullptr;
    void(GLAPIENTRY* blit_framebuffer)(GLint x0, GLint y0, GLint x1, GLint y1, GLint to_x0, GLint to_y0, GLint to_x1,
                                       GLint to_y1, GLbitfield mask, GLenum filter) = nullptr;
};

using GlAddress = void (*)();
// All of them from the current context, which `address_of` asks. Throws Failure(missing) where one is not there.
GlFunctions load_gl(GlAddress (*address_of)(const char* name));

// Pixels of our own to draw into. They stay as they are from frame to frame, which a window's are not.
class Framebuffer {
  public:
    explicit Framebuffer(GlAddress (*address_of)(const char* name)) : gl_(load_gl(address_of)) {}
    ~Framebuffer() { release(); }
    Framebuffer(const Framebuffer&) = delete;
    Framebuffer& operator=(const Framebuffer&) = delete;
    bool fit(int width, int height);  // true: it has been made anew, and is bound. Throws Failure
    void show();                      // copied into the window's own buffer

  private:
    void release();
    GlFunctions gl_;
    GLuint buffer_ = 0, colour_ = 0;
    int width_ = 0, height_ = 0;
};

}  // namespace lockstep::gui
