// How ranks are told apart in pictures of a few of them: a fill and its twin. Digits on a hatch stand on the plain fill.
#pragma once
#include <iterator>
#include <string_view>

#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

struct RankLook {
    Color fill;
    Hatch twin;
};
inline RankLook rank_look(int rank) {
    constexpr RankLook looks[] = {{data::sky, Hatch::solid},         {data::green, Hatch::diagonal},
                                  {data::orange, Hatch::dots},       {data::purple, Hatch::horizontal},
                                  {data::yellow, Hatch::vertical},   {data::blue, Hatch::cross},
                                  {data::vermillion, Hatch::solid},  {data::grey, Hatch::diagonal},
                                  {data::dark_orange, Hatch::cross}, {data::lanes, Hatch::dots}};
    return looks[static_cast<size_t>(rank < 0 ? 0 : rank) % std::size(looks)];
}

inline void fill_of_rank(Ui& ui, const Rect& box, int rank) {
    const RankLook look = rank_look(rank);
    ui.rect(box, look.fill);
    if (look.twin == Hatch::solid || box.w < 4 || box.h < 4) return;
    for (float x = box.x; x < box.right(); x += 440)  // a hatch is that wide at most
        ui.hatch({x, box.y, box.right() - x < 440 ? box.right() - x : 440, box.h}, faded(data::black, 0.42f), look.twin);
}

// A word in a cell that has a rank's fill.
inline void write_on_rank(Ui& ui, float middle, float baseline, std::string_view words, int rank) {
    const RankLook look = rank_look(rank);
    const TextStyle style{.size = 12, .color = text_on(look.fill), .align = Align::center, .weight = 700, .mono = true};
    const float width = ui.text_width(words, style) + 4;
    if (look.twin != Hatch::solid) ui.rect({middle - width / 2, baseline - 11, width, 14}, look.fill);
    ui.text(middle, baseline, words, style);
}

}  // namespace lockstep::gui
