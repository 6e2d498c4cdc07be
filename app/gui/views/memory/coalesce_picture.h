// The figure of D3: 32 lane squares above the 128-byte lines that they touch, a straight line from each lane to its word,
// waste marked with a diagonal. Words below 4 units become sectors with counts, those below 12 sectors without.
#pragma once
#include "app/gui/views/memory/request_data.h"
#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

// Two colours that tell neighbouring sectors apart; `index` counts sectors from the start of memory.
Color sector_color(uint64_t index, const Theme& theme);

class CoalescePicture {
  public:
    static constexpr float least_with_ghost = 126;  // height

    // Where everything stands: `area` from the lanes' top to the ghost's bottom, `lines` to be shown side by side.
    CoalescePicture(const Rect& area, size_t lines, bool ghost);

    float lane_x(int lane) const { return area_.x + lane_pitch_ * static_cast<float>(lane); }
    Rect lane_box(int lane) const { return {lane_x(lane), area_.y, lane_pitch_ - 2, lane_pitch_ - 2}; }
    Rect line_box(size_t line) const;
    Rect sector_box(size_t line, uint32_t sector) const;
    Rect word_box(size_t line, uint32_t word) const;  // only where words are drawn
    bool words() const { return word_pitch_ >= 4; }
    float bottom() const { return ghost_y_ + (ghost_ ? 16.0f : 0.0f); }

    // `picked`: a lane, -1 none. `hidden`: lanes only.
    void draw(Ui& ui, const Pattern& pattern, const RequestFacts& facts, int picked, bool hidden) const;
    void draw_ghost(Ui& ui, const RequestFacts& ghost, std::string_view name) const;
    // The lane whose square holds the point, -1: none.
    int lane_at(Point point) const;

  private:
    Rect area_;
    bool ghost_;
    size_t lines_;
    float lane_pitch_ = 24, line_pitch_ = 384, line_w_ = 380, sector_pitch_ = 94, word_pitch_ = 11, words_y_ = 0,
          word_h_ = 28, ghost_y_ = 0;
    float counts_down_ = 22, lines_down_ = 38;  // baselines of both rows of labels, below the words

    void draw_lanes(Ui& ui, const Pattern& pattern, int picked, bool hidden) const;
    void draw_lines(Ui& ui, const RequestFacts& facts) const;
    void draw_labels(Ui& ui, const RequestFacts& facts) const;
};

}  // namespace lockstep::gui
