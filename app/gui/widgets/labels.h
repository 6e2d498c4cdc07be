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
    void keep_free(const Rect& area) { taken_.push_back(area); }
    bool is_free(const Rect& area) const;
    // Writes on the panel's ground at the first spot that lies in the room and on nothing; false: there is none.
    bool write(Ui& ui, std::string_view text, const TextStyle& style, std::span<const Spot> spots);

  private:
    Rect room_;
    std::vector<Rect> taken_;
};

}  // namespace lockstep::gui
