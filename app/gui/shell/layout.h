// Where the panels of a scene stand (scenes.cpp): a tree of rows and columns with named slots (a slot's name is a view's
// name). A row or column whose children would fall below their least sizes becomes tabs, so that a small window or large
// text shows fewer panels, never squashed ones.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

struct LayoutNode {
    enum class Kind { slot, row, column, pages };  // pages: one child at a time, each under its title
    Kind kind = Kind::slot;
    std::string_view view;  // of a slot
    float share = 1;        // of its parent's length, in units of the layout at 1600 x 1000
    float least_w = 300, least_h = 180;
    std::vector<LayoutNode> children;
    std::string_view title = {};  // of a child of pages
    bool scrolls = false;         // of a column: where its children do not fit they keep their least heights and it scrolls
    bool stays = false;           // the last child of its parent: stays under every page where its neighbours become pages
};

struct Placed {  // what to draw where
    std::string_view view;
    Rect area;
    int page = -1;  // of Arrangement::scrolled, in which it stands
};
struct ScrolledPage {  // children under each other, of which a part is in sight
    std::string id;
    Rect area;         // that is in sight
    float height = 0;  // of all
};
struct TabStrip {  // children that did not fit side by side
    std::string id;
    Rect area;                        // 30 high
    std::vector<std::string> titles;  // the views' names under each tab, joined
    int selected = 0;
    bool plain = false;  // the titles are words, not names of views
    // Pages that stand in this strip instead of in one of their own below it: their own strip's id, and which they are.
    std::string inner = {};
    int inner_begin = 0, inner_count = 0;
};
struct Splitter {                // the gap between two neighbours, which can be dragged
    std::string id;              // of the row or column
    size_t index = 0;            // it lies behind that child
    bool across = false;         // the children stand side by side: it moves left and right
    Rect area;                   // of the gap
    std::vector<float> lengths;  // of all children
    std::vector<float> least;    // below which none of them goes
};
struct Arrangement {
    std::vector<Placed> panels;
    std::vector<TabStrip> tabs;
    std::vector<Splitter> splitters;
    std::vector<ScrolledPage> scrolled;  // their panels stand as if nothing were scrolled
};
// What the person has made of rows and columns: shares of their lengths, by the ids of splitters.
using PanelShares = std::map<std::string, std::vector<double>>;
// The shares once the splitter was moved by so much; no child gets shorter than it may be.
std::vector<double> moved_shares(const Splitter& splitter, float by);

// The id of the strip that leads through the pages within the tree; empty: it has none.
std::string pages_id(const LayoutNode& root);
std::string root_id(const LayoutNode& root);  // of the strip that the whole tree becomes in a small window
// `chosen(id)` says which tab of a strip is open; -1: none was chosen, and of rows that do not fit under each other the one
// with the `main` view is open. Rows and columns that `shares` does not name stand as the tree says.
Arrangement arrange(const LayoutNode& root, const Rect& area, const std::function<int(const std::string&)>& chosen,
                    std::string_view main = {}, const PanelShares* shares = nullptr);

}  // namespace lockstep::gui
