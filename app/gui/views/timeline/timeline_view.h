// The parts of the warp timeline (D1) on the screen: where things stand (timeline_places.cpp), and the painters of rows,
// issue strips, areas and the selected wait (timeline_view.cpp), and the list of what one warp issues (timeline_list.cpp).
// warps.cpp puts them together and reacts.
#pragma once
#include "app/gui/views/sm/warp_facts.h"
#include "app/gui/views/timeline/timeline_data.h"

namespace lockstep::gui {

struct RowPlace {  // one warp slot on the screen
    size_t row = 0;
    float y = 0;  // top, scrolled
};
struct GroupPlace {  // one scheduler
    uint16_t scheduler = 0;
    float y = 0;
    std::vector<RowPlace> rows;
};

struct TimelinePlaces {
    TimeAxis axis;
    Rect ruler, rows, area, legend, list;  // area, legend, list: height 0 when there is no room
    float gutter = 0;                      // x of the labels
    float margin = 0, margin_width = 0;    // right of the axis; 0 wide: none
    float pitch = 16;
    float content = 0;  // height of all groups
    std::vector<GroupPlace> groups;
    bool letters = true;              // in cells
    bool low = false;                 // little height: a legend that scrolls
    bool brief = false;               // with short names
    bool texture = false;             // too many cells: draw pictures
    int64_t hidden_from = INT64_MAX;  // cycles that an open prediction hides
    const RowPlace* place_of(uint16_t slot, const Timeline& timeline) const;
};

constexpr float group_head = 18, group_gap = 4;

float axis_width(float body_width);
// What fits: the area and the legend give way to the rows. The rows' y come when their scroll is known.
TimelinePlaces place_timeline(const Ui& ui, const Timeline& timeline, const WindowSums& sums, const Session& session,
                              const Rect& body, int64_t hidden_from);
std::string percent(int64_t part, int64_t whole);  // "27.7 %"
char letter_of(const Timeline& timeline, uint32_t pc);
std::string letters_in(const Timeline& timeline, int64_t begin, int64_t end);  // of what issues in these cycles

void draw_ruler(Ui& ui, const TimelinePlaces& places, int64_t cursor);
void draw_group(Ui& ui, const Timeline& timeline, const WindowSums& sums, const TimelinePlaces& places,
                const GroupPlace& group, const Focus& focus, uint64_t version);
void draw_area(Ui& ui, const Timeline& timeline, const TimelinePlaces& places, uint64_t version);
void draw_wait(Ui& ui, const Timeline& timeline, const TimelinePlaces& places, const Focus& focus);
void draw_legend(Ui& ui, const Timeline& timeline, const WindowSums& sums, const TimelinePlaces& places);
// Counts of the warps' states at the cursor, right of the area.
void draw_counts(Ui& ui, const Timeline& timeline, const TimelinePlaces& places, int64_t cycle);

// What the focused warp issues (timeline_list.cpp).
struct IssueFacts {
    int64_t cycle = 0, waited = 0;  // in front of it
    uint32_t pc = 0;
    std::span<const StallRun> runs;     // what it waited for, one after the other
    const StallRun* longest = nullptr;  // of them; null: it did not wait
};
class IssueList {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Timeline& timeline, const TimelinePlaces& places);
    std::string describe(const Timeline& timeline, uint32_t warp, int64_t time, int64_t hidden_from);

  private:
    const model::KernelRun* run_ = nullptr;
    uint32_t warp_ = 0;
    std::vector<uint32_t> issues_;  // of the warp, that took an issue slot; indices into KernelTrace::issues
    size_t seen_ = SIZE_MAX;        // the row last scrolled to
    void follow(const Timeline& timeline, uint32_t warp);
    size_t at(const Timeline& timeline, int64_t cycle) const;  // the first row that issues at the cycle or later
    IssueFacts facts(const Timeline& timeline, size_t row) const;
    std::string why(const Timeline& timeline, const IssueFacts& facts) const;
};
bool list_fits(float height);

std::array<int, state_count> states_at(const Timeline& timeline, int64_t cycle);

}  // namespace lockstep::gui
