// An OpenGL 3.3 context that no window shows. It is made current and stays so until it is destroyed. Its twins are
// offscreen_context_egl.cpp, which needs no window system, and offscreen_context_window.cpp for systems without EGL.
#pragma once
#include <memory>

#include "app/gui/window/gl.h"

namespace lockstep::gui {

class OffscreenContext {
  public:
    OffscreenContext();  // throws Failure(missing), which says what is not there
    ~OffscreenContext();
    OffscreenContext(const OffscreenContext&) = delete;
    OffscreenContext& operator=(const OffscreenContext&) = delete;
    static GlAddress address_of(const char* name);  // of the current context, for load_gl

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace lockstep::gui
