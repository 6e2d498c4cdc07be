#include "app/gui/window/notes_window.h"

#include <imgui.h>

#include <algorithm>
#include <utility>

#include "app/gui/shell/notes.h"

namespace lockstep::gui {

namespace {

// The screen that the projected window is not on, else its own.
GLFWmonitor* screen_for_notes(GLFWwindow* projected) {
    int count = 0, x = 0, y = 0;
    GLFWmonitor** const screens = glfwGetMonitors(&count);
    glfwGetWindowPos(projected, &x, &y);
    for (int i = 0; i < count; ++i) {
        int left = 0, top = 0;
        glfwGetMonitorPos(screens[i], &left, &top);
        const GLFWvidmode* const mode = glfwGetVideoMode(screens[i]);
        const bool holds = mode != nullptr && x >= left && x < left + mode->width && y >= top && y < top + mode->height;
        if (!holds && screens[i] != glfwGetWindowMonitor(projected)) return screens[i];
    }
    return count > 0 ? screens[0] : nullptr;
}

}  // namespace

NotesWindow::NotesWindow(Shell& shell, GLFWwindow* projected) : shell_(shell), projected_(projected) {
    shell.say_to_speaker = [this](const std::string& text) { notes_ = text; };
}

NotesWindow::~NotesWindow() {
    close();
    shell_.say_to_speaker = {};
}

// A third of the screen, in its upper right corner.
void NotesWindow::open() {
    WindowPlace screen{0, 0, 1600, 1000};
    if (GLFWmonitor* const monitor = screen_for_notes(projected_))
        glfwGetMonitorWorkarea(monitor, &screen.x, &screen.y, &screen.width, &screen.height);
    const int width = std::max(480, screen.width * 2 / 5), height = std::max(320, screen.height * 2 / 5);
    glfwWindowHint(GLFW_FOCUS_ON_SHOW, GLFW_FALSE);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    window_ = glfwCreateWindow(width, height, "Lockstep: speaker's notes", nullptr, projected_);
    glfwWindowHint(GLFW_FOCUS_ON_SHOW, GLFW_TRUE);
    if (window_ == nullptr) return;
    // Its keys are the presenter's; its pointer is nothing to the projected picture.
    glfwSetWindowUserPointer(window_, glfwGetWindowUserPointer(projected_));
    const GLFWkeyfun on_key = glfwSetKeyCallback(projected_, nullptr);
    glfwSetKeyCallback(projected_, on_key);
    glfwSetKeyCallback(window_, on_key);
    const GLFWwindowrefreshfun on_refresh = glfwSetWindowRefreshCallback(projected_, nullptr);
    glfwSetWindowRefreshCallback(projected_, on_refresh);
    glfwSetWindowRefreshCallback(window_, on_refresh);
    glfwSetWindowPos(window_, screen.x + screen.width - width, screen.y + 40);
    glfwShowWindow(window_);
    shown_.clear();
    width_ = 0;
    glfwMakeContextCurrent(window_);
    glfwSwapInterval(0);  // the projected window waits for its screen, this one for nothing
    glfwMakeContextCurrent(projected_);
}

void NotesWindow::close() {
    if (window_ == nullptr) return;
    glfwDestroyWindow(std::exchange(window_, nullptr));
    glfwMakeContextCurrent(projected_);
}

void NotesWindow::frame(Renderer& renderer) {
    if (window_ != nullptr && glfwWindowShouldClose(window_) == GLFW_TRUE) shell_.presenter.notes = false;
    const bool wanted = shell_.presenter.on && shell_.presenter.notes && shell_.session.workspace == Workspace::learn;
    if (!wanted) return close();
    if (window_ == nullptr) open();
    if (window_ == nullptr || notes_.empty()) return;
    int width = 0, height = 0;
    glfwGetFramebufferSize(window_, &width, &height);
    if (width <= 0 || height <= 0) return;
    ImDrawList list(ImGui::GetDrawListSharedData());
    list._ResetForNewFrame();
    list.PushClipRect({0, 0}, {static_cast<float>(width), static_cast<float>(height)});
#if IMGUI_VERSION_NUM >= 19200
    list.PushTexture(ImGui::GetIO().Fonts->TexRef);
#else
    list.PushTextureID(ImGui::GetIO().Fonts->TexID);
#endif
    Ui ui;
    ui.list = &list;
    ui.theme = shell_.theme;
    ui.fonts = &shell_.fonts;
    ui.state = &shell_.state;
    ui.scale = shell_.fonts.scale;
    const Rect page{0, 0, static_cast<float>(width) / ui.scale, static_cast<float>(height) / ui.scale};
    ui.rect(page, ui.theme->background);
    draw_notes(ui, notes_, page, shell_.presenter.notes_page);
    glfwMakeContextCurrent(window_);
    renderer.draw_page(list, width, height);
    glfwSwapBuffers(window_);
    glfwMakeContextCurrent(projected_);
}

}  // namespace lockstep::gui
