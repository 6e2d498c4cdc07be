// Frames by OpenGL, for the window and for canvas.h: ImGui's OpenGL3 renderer, picture textures, the atlas upload. Needs a
// current GL context. Its twin in a build without OpenGL is no_opengl.cpp.
#pragma once
#include "app/gui/raster/damage.h"
#include "app/gui/shell/shell.h"

namespace lockstep::gui {

class Renderer {
  public:
    explicit Renderer(Shell& shell);  // creates the ImGui context's renderer and gives the shell its texture functions
    ~Renderer();
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;
    // One whole frame into the bound framebuffer of `width` x `height` pixels, which shows the one before: what is as it was
    // is not drawn again. False: all of it is as it was.
    bool frame(const Input& input, int width, int height, float screen_scale, double now);
    void forget() { damage_.forget(); }  // the bound framebuffer does not show the frame before
    // A page of its own into the bound framebuffer of a context that shares this one's textures.
    void draw_page(ImDrawList& list, int width, int height);
    void draw_whole(int width, int height);  // the last frame once more, all of it

  private:
    void upload_letters();
    void draw_part(const std::vector<PixelArea>& boxes, int width, int height);
    Shell& shell_;
    void clear(int x, int y, int width, int height);  // from the bottom left
    Damage damage_;
    const Theme* theme_ = nullptr;  // of the frame before
    bool begun_ = false;
    bool anew_ = true;  // the texture does not have the letters that were drawn before
    double last_ = 0;
};

// What is drawn without a window: a context of its own and a framebuffer (canvas.h takes it where it can be had). Throws
// Failure(missing) where there is no context.
class Offscreen {
  public:
    Offscreen(int width, int height);
    ~Offscreen();
    Offscreen(const Offscreen&) = delete;
    Offscreen& operator=(const Offscreen&) = delete;
    void finish();                          // waits until everything is drawn
    void read(std::vector<Color>& pixels);  // what was drawn, rows from the top, opaque

  private:
    struct State;
    int width_, height_;
    std::unique_ptr<State> state_;
};

bool has_display();
// Opens the window and runs until it is closed; `exact`: the size is one that a window of the app had, in the screen's
// coordinates, else it is one at 100 % that the screen's scale multiplies. False: there is no display. Throws
// Failure(missing) where the display's OpenGL is too old.
bool run_window(Shell& shell, int width, int height, bool exact = false);

struct WindowPlace {
    int x = 0, y = 0, width = 0, height = 0;
};
// The window's content so that its frame (left, top, right, bottom) lies within the screen: no larger, and in its middle.
WindowPlace fitted(int width, int height, const WindowPlace& screen, const int frame[4]);

}  // namespace lockstep::gui
