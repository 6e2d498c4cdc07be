// One panel as a picture file, or a stretch of a run as a film, at a key, beside which the window goes on.
#pragma once
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "app/gui/window/renderer.h"

namespace lockstep::gui {

// Takes the picture that the shell wants (Shell::wants_picture) in the current OpenGL context, whose frame is `width` x
// `height` pixels, and writes it into the folder: "warps.png", then "warps-2.png". The shell tells where, or why not.
void take_panel_picture(Shell& shell, Renderer& renderer, int width, int height, float screen_scale, double now,
                        const std::filesystem::path& folder);

// What `lockstep` is to be called with to record the run on show, saved as the file `run`, as the film `film`: the cycles in
// view, in the window's size, theme and text size.
std::vector<std::string> film_command(const Shell& shell, const std::string& run, const std::string& film, int width,
                                      int height, float screen_scale);

// Films that the shell wants: the run is saved, and a process of its own runs it again and records it, one at a time.
class FilmMaker {
  public:
    explicit FilmMaker(Shell& shell) : shell_(shell) {}
    ~FilmMaker();  // ends what is under way
    FilmMaker(const FilmMaker&) = delete;
    FilmMaker& operator=(const FilmMaker&) = delete;
    // Begins where one is wanted; true: it was. Into the folder: "sum.gif", then "sum-2.gif".
    bool take(int width, int height, float screen_scale, const std::filesystem::path& folder);

  private:
    Shell& shell_;
    std::atomic<bool> busy_ = false;
    std::jthread thread_;
};

}  // namespace lockstep::gui
