// The picture of D5 apart from its controls: where boxes, rows and links lie, and drawing them. The view in chart.cpp
// changes it; chart_links.cpp has what lies between the boxes, chart_l1.cpp the box with the carve-out.
#pragma once
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/session.h"
#include "app/gui/views/memory/chart_data.h"
#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

std::string peak_text(double percent);  // "0 %", "< 0.1 %", "2.6 %"

class ChartPicture {
  protected:
    static constexpr int columns = 5;  // kernel, spaces, L1 and shared memory, L2, DRAM
    bool flowing_ = false;
    mutable int wish_ = -1;  // index of the carve-out that is asked for; -1: none
    mutable std::shared_ptr<const model::KernelRun> run_;
    mutable int64_t begin_ = -1, end_ = -1;
    mutable Chart chart_;
    static constexpr float share_row = 46;  // a row of this height has room for both labels of any link
    static constexpr float close_row = 31;  // and of this one, closer to the link and to each other
    float above_ = 5, below_ = 14;          // a label's baseline, from the link's edge
    Rect all_;
    float x_[columns] = {}, w_[columns] = {}, row_h_ = 52;
    std::vector<Rect> space_;   // boxes of the spaces
    std::vector<float> row_y_;  // of all their rows, in order

    void place(const Rect& all);
    Rect column(int i) const { return {x_[i], all_.y, w_[i], all_.h}; }
    // The first of them that fits, else the last.
    static std::string_view fitting(const Ui& ui, std::initializer_list<std::string_view> words, const TextStyle& style,
                                    float width);
    static void box(Ui& ui, const Rect& rect, std::string_view title, bool dim, float radius, std::string_view right = {});
    // A two-part bar with the counts; returns its bottom.
    static float hit_bar(Ui& ui, float x, float y, float w, std::string_view what, uint64_t hits, uint64_t all);
    void draw_l1(Ui& ui, Session& session, const model::KernelRun& run, const Rect& area);
    // Below the row's name; in a low row beside it.
    void draw_requests(Ui& ui, const ChartRow& row, float y) const;
    // Down the edge of the column into shared memory: no register holds what cp.async moves.
    void draw_copy(Ui& ui, float y, const model::Link& copied) const;
    void draw_links(Ui& ui) const;

  private:
    // The handle follows the pointer; the kernel runs again where it is let go, or at every arrow.
    void carve_by_hand(Ui& ui, Session& session, const CarveOut& carve, const Rect& bar, double total, const Rect& area);
    // From the right edge of column `gap` to the left edge of the next.
    void link(Ui& ui, int gap, float y, const model::Link& one, bool to_left, bool labels) const;
};

}  // namespace lockstep::gui
