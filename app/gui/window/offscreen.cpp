// Pictures without a window system: an EGL display on the surfaceless platform (software GL will do), one framebuffer.
#define EGL_EGLEXT_PROTOTYPES
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <imgui.h>
#include <stb_image_write.h>

#include <vector>

#include "app/gui/window/renderer.h"
#include "core/base/diagnostic.h"

namespace lockstep::gui {

namespace {

struct Context {
    EGLDisplay display = EGL_NO_DISPLAY;
    EGLContext context = EGL_NO_CONTEXT;

    Context() {
        const auto platform =
            reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
        if (platform != nullptr) display = platform(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr);
        if (display == EGL_NO_DISPLAY) display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
        if (display == EGL_NO_DISPLAY || eglInitialize(display, nullptr, nullptr) == EGL_FALSE)
            throw Failure(
                "drawing without a display needs EGL, which is not there (packages libegl1, libegl-mesa0, libgl1-mesa-dri)",
                ExitStatus::missing);
        eglBindAPI(EGL_OPENGL_API);
        const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
        EGLConfig config = nullptr;
        EGLint count = 0;
        eglChooseConfig(display, wanted, &config, 1, &count);
        const EGLint version[] = {
            EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
            EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
        context = eglCreateContext(display, count > 0 ? config : nullptr, EGL_NO_CONTEXT, version);
        if (context == EGL_NO_CONTEXT || eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) == EGL_FALSE)
            throw Failure("EGL gives no OpenGL 3.3 context (package libgl1-mesa-dri)", ExitStatus::missing);
    }
    ~Context() {
        if (display == EGL_NO_DISPLAY) return;
        eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        if (context != EGL_NO_CONTEXT) eglDestroyContext(display, context);
        eglTerminate(display);
    }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
};

}  // namespace

struct Offscreen::State {
    Context context;
    GLuint buffer = 0, colour = 0;
};

Offscreen::Offscreen(int width, int height) : width_(width), height_(height), state_(std::make_unique<State>()) {
    glGenFramebuffers(1, &state_->buffer);
    glGenRenderbuffers(1, &state_->colour);
    glBindRenderbuffer(GL_RENDERBUFFER, state_->colour);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
    glBindFramebuffer(GL_FRAMEBUFFER, state_->buffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, state_->colour);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        throw Failure("no framebuffer of " + std::to_string(width) + "x" + std::to_string(height) +
                      " pixels can be made here");
}

Offscreen::~Offscreen() {
    glDeleteRenderbuffers(1, &state_->colour);
    glDeleteFramebuffers(1, &state_->buffer);
}

void Offscreen::finish() {
    glFinish();
}

void Offscreen::write_png(const std::string& file) {
    std::vector<unsigned char> pixels(static_cast<size_t>(width_) * static_cast<size_t>(height_) * 4);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
    for (size_t i = 3; i < pixels.size(); i += 4) pixels[i] = 255;
    const int stride = width_ * 4;  // GL's first row is the lowest
    const unsigned char* last = pixels.data() + static_cast<size_t>(height_ - 1) * static_cast<size_t>(stride);
    if (stbi_write_png(file.c_str(), width_, height_, 4, last, -stride) == 0)
        throw Failure("cannot write the picture to '" + file + "'");
}

void render_to_png(Shell& shell, int width, int height, const std::string& file) {
    Offscreen screen(width, height);
    Renderer renderer(shell);
    // Each frame may ask the worker for more (a warp's history, then its registers).
    for (int i = 0; i < 4; ++i) {
        renderer.frame({}, width, height, 1, 1 + i);
        shell.session.wait_until_idle(20);
    }
    renderer.frame({}, width, height, 1, 6);
    screen.write_png(file);
}

}  // namespace lockstep::gui
