// Pictures without a window: frames of the app drawn by OpenGL in a context of its own, or where there is none by the
// processor alone (raster/). Both give the same picture within the rounding of a rasteriser.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/shell/shell.h"

namespace lockstep::gui {

enum class Drawing { whichever, opengl, cpu };
Drawing drawing_named(std::string_view name);  // "", "gl", "cpu"; throws Failure

class Canvas {
  public:
    // Throws Failure(missing) where OpenGL is asked for and there is none.
    Canvas(Shell& shell, int width, int height, Drawing how = Drawing::whichever);
    ~Canvas();
    Canvas(const Canvas&) = delete;
    Canvas& operator=(const Canvas&) = delete;
    void frame(const Input& input, double now);  // one whole frame
    void draw_whole();                           // the last frame once more, without regard to what was there
    void finish();                               // waits until everything is drawn
    void read(std::vector<Color>& pixels);       // what was drawn, rows from the top, opaque
    void write_png(const std::string& file);
    std::string png(int top = 0, int rows = 0);  // of so many rows; 0: of all
    bool by_opengl() const;

  private:
    struct State;
    int width_, height_;
    std::unique_ptr<State> state_;
};

// Draws a few frames, so that what follows a first look (focus, registers) is there, and writes the PNG.
void render_to_png(Shell& shell, int width, int height, const std::string& file, Drawing how = Drawing::whichever);
void render_to_pixels(Shell& shell, int width, int height, std::vector<Color>& pixels, Drawing how = Drawing::whichever);
// The same as a vector picture.
void render_to_svg(Shell& shell, int width, int height, const std::string& file);

}  // namespace lockstep::gui
