// Names in a plot, placed so that none lies on another, nor on what has to stay visible: first come, first served. Each
// comes with the spots where it may stand, best first; what finds no free spot is left out.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

struct Spot {
    float x = 0, baseline = 0;
    Align align = Align::left;
};

class Labels {
  public:
    explicit Labels(const Rect& room) : room_(room) {}
    // `group`: of things that a label may be written over when it is told to; 0: of none.
    void keep_free(const Rect& area, int group = 0) { taken_.push_back({area, group}); }
    bool is_free(const Rect& area, int over = 0) const;
    // Writes on the panel's ground at the first spot that lies in the room and on nothing, but for things of the group
    // `over`; false: there is none.
    bool write(Ui& ui, std::string_view text, const TextStyle& style, std::span<const Spot> spots, int over = 0);

  private:
    Rect room_;
    struct Taken {
        Rect area;
        int group = 0;
    };
    std::vector<Taken> taken_;
};

}  // namespace lockstep::gui
