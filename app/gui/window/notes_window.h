// The speaker's notes in a window of their own, on another screen where there is one. It shows what presenter mode says to
// its speaker, is there while notes are wanted (key N) and takes the presenter's keys too. Used where no terminal takes the
// notes.
#pragma once
#include <memory>
#include <string>

#include "app/gui/window/gl.h"
#include "app/gui/window/renderer.h"

namespace lockstep::gui {

class NotesWindow {
  public:
    // Beside `projected`, whose events and textures it shares.
    NotesWindow(Shell& shell, GLFWwindow* projected);
    ~NotesWindow();
    NotesWindow(const NotesWindow&) = delete;
    NotesWindow& operator=(const NotesWindow&) = delete;
    void frame(
        Renderer& renderer);  // opens, draws and closes it as is wanted; the projected window's context is current again

  private:
    void open();
    void close();
    Shell& shell_;
    GLFWwindow *const projected_, *window_ = nullptr;
    std::string notes_, shown_;
    int width_ = 0, height_ = 0;  // that was drawn last
    const Theme* theme_ = nullptr;
};

}  // namespace lockstep::gui
