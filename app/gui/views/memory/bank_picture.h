// One half of D4: the words of a request in their 32 banks, a bar over each bank that is as high as its queue of distinct
// words, and below (in a low panel, beside) the passes, one strip of 32 lanes each.
#pragma once
#include <algorithm>
#include <string>

#include "app/gui/views/memory/bank_data.h"
#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

struct BankText {
    std::string title;        // "float tile[32][33]"
    std::string formula;      // "bank = (12*33 + 5) mod 32 = 17"
    uint32_t padded_row = 0;  // words of a row with padding behind it, 0: there is none
    uint32_t padding = 1;     // words of it
    bool store = false;       // words go to the banks
};

class BankPicture {
  public:
    // Both halves get the measures of whichever needs more.
    BankPicture(const Rect& area, const BankFacts& facts, const BankFacts& other);

    // `shown`: passes served so far, those behind are fainter. `lane`: drawn in ink everywhere, -1 none.
    void draw(Ui& ui, const Pattern& pattern, const BankFacts& facts, const BankText& text, size_t shown, int lane) const;
    Rect word_box(uint64_t word) const;  // empty: its row is not drawn
    bool shows_padding(const BankText& text) const;
    float bottom() const { return std::max(passes_y_ + passes_h_, grid_y_ + cell_h_ * static_cast<float>(rows_.size())); }
    bool numbered() const { return cell_w_ >= 18 && cell_h_ >= 12; }  // words say their lane
    int lane_at(Point point, const Pattern& pattern) const;           // whose word the point lies in; -1: none

  private:
    Rect area_;
    float cell_w_ = 9, cell_h_ = 5, x_ = 0, bars_h_ = 32, bars_y_ = 0, grid_y_ = 0, passes_y_ = 0, passes_h_ = 0,
          pass_h_ = 3, pass_x_ = 0, pass_w_ = 9, width_ = 288;  // all of it: grid and passes
    bool beside_ = false;                                       // the passes stand beside the grid, not below it
    uint32_t scale_ = 8;                                        // words, of the bars
    std::vector<uint64_t> rows_;                                // of 128 bytes, those drawn
    bool gaps_ = false;                                         // rows between them are left out

    void draw_bars(Ui& ui, const BankFacts& facts, const BankText& text) const;
    void write_beside(Ui& ui, const BankFacts& facts, const Rect& grid, const std::string& words) const;
    void draw_words(Ui& ui, const Pattern& pattern, const BankFacts& facts, const BankText& text, int lane) const;
    void draw_passes(Ui& ui, const BankFacts& facts, size_t shown, int lane) const;
};

// "32-way conflict", "1-way, no conflict".
std::string ways_text(const BankFacts& facts);
std::string passes_text(const BankFacts& facts);  // "32 passes"

}  // namespace lockstep::gui
