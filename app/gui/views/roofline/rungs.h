// The published ladder of matrix products (core/validate/cases.cpp) as bars, with the lines of each kernel's file.
#pragma once
#include <string>
#include <vector>

#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

struct Rung {
    std::string name;    // "column tile"
    double gflops = 0;   // published, of an RTX A6000
    double share = 0;    // of cuBLAS there, 0 .. 1
    double against = 0;  // the rung below it: 6.4 times; 0: it is the first
    int lines = 0;       // of kernels/sgemm/N_NAME.cu and its headers, without comments; 0: the file is not there
};
std::vector<Rung> published_rungs();
void draw_rungs(Ui& ui, const std::vector<Rung>& rungs, const Rect& area);

}  // namespace lockstep::gui
