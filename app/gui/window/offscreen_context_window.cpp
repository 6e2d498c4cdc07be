// The context of a window that is never shown: what Windows and macOS have in place of EGL. It needs somebody's desktop
// session, so a service or a remote shell gets no picture. Nothing else may hold GLFW's windows meanwhile, which is so: a
// picture is drawn before the app's window or instead of it.
#include "app/gui/window/offscreen_context.h"
#include "core/base/diagnostic.h"

namespace lockstep::gui {

struct OffscreenContext::State {
    bool ready = false;
    GLFWwindow* window = nullptr;
    ~State() {
        if (window != nullptr) glfwDestroyWindow(window);
        if (ready) glfwTerminate();
    }
};

OffscreenContext::OffscreenContext() : state_(std::make_unique<State>()) {
    glfwSetErrorCallback([](int, const char*) {});
    state_->ready = glfwInit() == GLFW_TRUE;
    if (!state_->ready) throw Failure("drawing a picture needs a desktop session, which is not there", ExitStatus::missing);
    glfwDefaultWindowHints();
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    state_->window = glfwCreateWindow(64, 64, "Lockstep", nullptr, nullptr);
    if (state_->window == nullptr)
        throw Failure("OpenGL 3.3 is needed to draw and is not there: the display's driver has none", ExitStatus::missing);
    glfwMakeContextCurrent(state_->window);
}

OffscreenContext::~OffscreenContext() = default;

GlAddress OffscreenContext::address_of(const char* name) {
    return glfwGetProcAddress(name);
}

}  // namespace lockstep::gui
