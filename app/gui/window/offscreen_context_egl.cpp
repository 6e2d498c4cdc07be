// An EGL display on the surfaceless platform: software GL will do.
#include <EGL/egl.h>
#include <EGL/eglext.h>

#include "app/gui/window/offscreen_context.h"
#include "core/base/diagnostic.h"

namespace lockstep::gui {

struct OffscreenContext::State {
    EGLDisplay display = EGL_NO_DISPLAY;
    EGLContext context = EGL_NO_CONTEXT;
    ~State() {
        if (display == EGL_NO_DISPLAY) return;
        eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        if (context != EGL_NO_CONTEXT) eglDestroyContext(display, context);
        eglTerminate(display);
    }
};

OffscreenContext::OffscreenContext() : state_(std::make_unique<State>()) {
    EGLDisplay& display = state_->display;
    const auto platform = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
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
    state_->context = eglCreateContext(display, count > 0 ? config : nullptr, EGL_NO_CONTEXT, version);
    if (state_->context == EGL_NO_CONTEXT ||
        eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, state_->context) == EGL_FALSE)
        throw Failure("EGL gives no OpenGL 3.3 context (package libgl1-mesa-dri)", ExitStatus::missing);
}

OffscreenContext::~OffscreenContext() = default;

GlAddress OffscreenContext::address_of(const char* name) {
    return eglGetProcAddress(name);
}

}  // namespace lockstep::gui
