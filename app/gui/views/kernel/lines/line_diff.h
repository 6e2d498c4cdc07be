// Which lines of a text are those of an older one.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::gui {

// By line of `now` (from 0): the line of `before` (from 1) that it is, 0 where it is new or another one. Blanks at a line's
// end do not count.
std::vector<int32_t> kept_lines(std::string_view before, std::string_view now);

struct LineChanges {
    std::vector<int32_t> changed;  // lines of the newer text, from 1, that the older one has not
    int removed = 0;               // lines of the older text that are gone without another one in their place
};
LineChanges changes_between(std::string_view before, std::string_view now);
// "lines 4 to 6 and 9", "one line removed", "nothing".
std::string text_of(const LineChanges& changes);

}  // namespace lockstep::gui
