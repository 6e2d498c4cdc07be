// How many warps an SM holds of one launch, what keeps more out, and the slider that runs the launch again with fewer.
#pragma once
#include <string>

#include "app/gui/session.h"
#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

struct ResidentWarps {
    uint32_t blocks = 0, most = 0;  // an SM; most: without a limit chosen by hand
    uint32_t warps_per_block = 1, schedulers = 1, slots = 0;
    std::string why;                               // "(shared memory allows no more)"
    std::string number(uint32_t of_blocks) const;  // "8 of 16": warps and slots of one scheduler
    std::string text() const { return number(blocks) + " per scheduler " + why; }
};
ResidentWarps resident_of(const model::KernelRun& run);

// `wished`: blocks an SM that were asked for and have not run yet, 0 none; the view keeps it until a new run arrives.
void resident_slider(Ui& ui, Session& session, const model::KernelRun& run, uint32_t& wished, const Rect& box);

}  // namespace lockstep::gui
