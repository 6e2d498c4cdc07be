// A view draws one picture from the session's snapshot, and says the same facts as text. One of the three virtual
// interfaces. A view never runs the engine: it reads the snapshot, writes the focus, and posts requests to the session.
// A view object lives as long as the window, so what its own controls choose (a chip, a scroll offset) is its member.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "app/gui/session.h"
#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

class View {
  public:
    virtual ~View() = default;
    // Draws into `area` (layout units): ui.panel() first, then the picture, legend and caption. The shell draws the
    // maximise mark over the header's last 30 units.
    virtual void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) = 0;
    // The same facts as text, for tests, for --describe, and for people who cannot see the picture.
    virtual std::string describe(const Session& session, const Focus& focus) const = 0;
    // The height that its picture needs in this room, where that changes with what is on show: below it, and below its
    // row's, it scrolls.
    virtual float needs(Ui&, Session&, Focus&, const Rect& /*room*/) { return 0; }
};

// One line a view in views.cpp.
struct ViewRow {
    std::unique_ptr<View> (*make)();
    std::string_view name;    // "warps": --view
    std::string_view title;   // "Warps by cycle"
    Workspace workspace;      // that it belongs to
    float least = 0;          // height below which it scrolls instead of getting lower
    int keyboard = 0;         // until a panel is pointed at, keys go to the one with the least number; 0: not to this one
    bool collective = false;  // alone on show, the transport's clock is that of the collective
};
std::span<const ViewRow> views();
const ViewRow* view_named(std::string_view name);  // null: there is none

}  // namespace lockstep::gui
