// Where the parts of a die lie: every part as large as its share of the area, so that sums of boxes are sums of mm2.
#pragma once
#include <string_view>
#include <vector>

#include "app/gui/view.h"

namespace lockstep::gui {

struct DieBox {
    model::PartGroup group = model::PartGroup::sms;
    int index = 0;  // of the SM, the channel or the half of L2
    Rect box;
};
struct TilePart {  // of an SM, from its top: shares of its height
    std::string_view word;
    std::vector<std::string_view> fields;  // of the kit, that it hangs on
    double mm2 = 0;                        // of one SM
};
struct DiePlaces {
    Rect outline;         // of the budget; of the die where there is none, or it is larger
    Rect die;             // with all its parts
    double px_of_mm = 1;  // along one side
    std::vector<DieBox> sms, channels, l2;
    Rect rest;
    std::vector<TilePart> tile;  // without what is not there
    int columns = 1;             // of sub-cores in a tile
};
DiePlaces places_of_die(const model::GpuSpec& gpu, const model::AreaEstimate& area, double budget, const Rect& room);
// The part of a tile, in the tile.
Rect part_of_tile(const DiePlaces& places, const Rect& tile, size_t part);

}  // namespace lockstep::gui
