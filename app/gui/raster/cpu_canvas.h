// Frames of the app drawn by the processor alone: what stands in for OpenGL's renderer where there is none, as in a wheel,
// on a server or in a notebook. Needs an ImGui context.
#pragma once
#include <map>

#include "app/gui/raster/raster.h"
#include "app/gui/shell/shell.h"

namespace lockstep::gui {

class CpuCanvas {
  public:
    CpuCanvas(Shell& shell, int width, int height);  // gives the shell its texture functions
    ~CpuCanvas();
    CpuCanvas(const CpuCanvas&) = delete;
    CpuCanvas& operator=(const CpuCanvas&) = delete;
    void frame(const Input& input, float screen_scale, double now);
    const std::vector<Color>& pixels() const { return raster_.pixels(); }

  private:
    void take_atlas();
    void take_letters();
    Shell& shell_;
    Raster raster_;
    std::map<uint64_t, RasterTexture> textures_;
    RasterTexture atlas_;
    uint64_t next_ = 2;  // the atlas is 1
    double last_ = 0;
};

}  // namespace lockstep::gui
