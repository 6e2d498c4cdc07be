#include "app/gui/views/memory/bank_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "app/gui/views/sm/lane_paths.h"
#include "core/base/units.h"

namespace lockstep::gui {

namespace {

constexpr size_t most_rows = 40;
constexpr float margin = 24;    // left of the grid: row numbers
constexpr float pass_gap = 20;  // between the grid and passes beside it

uint64_t padding_word(const BankText& text, uint64_t row) {
    return row * (text.padded_row + text.padding) + text.padded_row;
}

Color fill_of(const BankFacts& facts, uint64_t word) {
    return facts.distinct[word % 32] > 1 ? data::vermillion : data::green;
}

}  // namespace

std::string ways_text(const BankFacts& facts) {
    if (facts.ways == 0) return "no lane asks";
    return facts.ways == 1 ? "1-way, no conflict" : fmt::format("{}-way conflict", facts.ways);
}

std::string passes_text(const BankFacts& facts) {
    return counted(facts.passes.size(), "pass", "passes");
}

namespace {

// All rows from the first (or from 0) to the last, or, when these lie far apart, the touched ones.
std::vector<uint64_t> rows_drawn(const BankFacts& facts, bool& gaps) {
    std::vector<uint64_t> rows;
    for (const BankWord& word : facts.words)
        if (const uint64_t row = word.word / 32; rows.empty() || rows.back() != row) rows.push_back(row);
    const uint64_t first = rows.empty() ? 0 : rows.front(), last = rows.empty() ? 0 : rows.back();
    gaps = last >= most_rows && last - first >= most_rows;
    if (gaps) {
        if (rows.size() > most_rows) rows.resize(most_rows);
        return rows;
    }
    const uint64_t from = last < most_rows ? 0 : first;
    rows.clear();
    for (uint64_t row = from; row <= last; ++row) rows.push_back(row);
    return rows;
}

size_t rows_of(const BankFacts& facts) {
    bool gaps = false;
    return rows_drawn(facts, gaps).size();
}

}  // namespace

BankPicture::BankPicture(const Rect& area, const BankFacts& facts, const BankFacts& other) : area_(area) {
    const size_t passes = std::max(facts.passes.size(), other.passes.size());
    scale_ = std::max(8u, std::bit_ceil(std::max({1u, facts.ways, other.ways})));
    rows_ = rows_drawn(facts, gaps_);
    const size_t rows = std::max({rows_of(other), rows_.size(), size_t{8}});
    while (!gaps_ && rows_.size() < rows) rows_.push_back(rows_.empty() ? 0 : rows_.back() + 1);
    cell_w_ = std::clamp(std::floor((area.w - margin) / 32), 4.0f, 24.0f);
    x_ = area.x + margin;
    width_ = 32 * cell_w_;
    pass_x_ = x_;
    pass_w_ = cell_w_;
    const auto strips = static_cast<float>(std::max<size_t>(1, passes));
    const auto own_strips = static_cast<float>(std::max<size_t>(1, facts.passes.size()));
    const auto count = static_cast<float>(rows_.size());
    // A tall tile in a low panel: its passes stand beside it, so that both have the height.
    beside_ = area.h < 290 && rows >= 16 && area.w - margin >= 300;
    const bool low = area.h < 210 || beside_;
    bars_h_ = low ? 20.0f : 32.0f;
    const auto several = [](const BankFacts& f) {  // banks as crowded as the worst: said above the bars
        return f.ways > 1 && std::count(f.distinct.begin(), f.distinct.end(), f.ways) > 1;
    };
    const bool tight = beside_ && !several(facts) && !several(other);
    bars_y_ = area.y + (tight ? 44.0f : low ? 50.0f : 54.0f) + bars_h_;  // their foot
    grid_y_ = bars_y_ + (beside_ ? 5.0f : 8.0f);
    if (beside_) {
        const float room = area.w - margin - pass_gap;
        cell_w_ = std::floor(room * 0.58f / 32);
        pass_x_ = x_ + 32 * cell_w_ + pass_gap;
        pass_w_ = std::floor((room - 32 * cell_w_) / 16) / 2;
        width_ = pass_x_ + 32 * pass_w_ - x_;
        cell_h_ = std::clamp((area.bottom() - grid_y_ - 22) / static_cast<float>(rows), 1.25f, 16.0f);
        passes_y_ = grid_y_;
        pass_h_ = std::min(9.0f, cell_h_ * static_cast<float>(rows) / strips);
        passes_h_ = pass_h_ * own_strips;
        return;
    }
    const float room = area.bottom() - grid_y_ - 24;
    pass_h_ = std::clamp(std::floor(room * 0.36f / strips), 1.0f, 9.0f);
    const float most = std::min(pass_h_ * strips, room * 0.4f);
    passes_h_ = std::min(pass_h_ * own_strips, room * 0.4f);
    const float cell = (room - std::max(most, 30.0f) - 22) / static_cast<float>(rows);
    cell_h_ = low ? std::clamp(cell, 1.25f, 16.0f) : std::clamp(std::floor(cell), 2.0f, 16.0f);
    passes_y_ = grid_y_ + cell_h_ * count + 24;
    passes_h_ = std::clamp(area.bottom() - passes_y_, 2.0f, std::max(2.0f, passes_h_));
    pass_h_ = std::min(pass_h_, passes_h_ / own_strips);
}

Rect BankPicture::word_box(uint64_t word) const {
    const auto found = std::find(rows_.begin(), rows_.end(), word / 32);
    if (found == rows_.end()) return {};
    return {x_ + cell_w_ * static_cast<float>(word % 32) + 1,
            grid_y_ + cell_h_ * static_cast<float>(found - rows_.begin()) + (cell_h_ < 3 ? 0.0f : 0.5f), cell_w_ - 2,
            cell_h_ < 3 ? cell_h_ : cell_h_ - 1};  // low rows have no room for a gap
}

bool BankPicture::shows_padding(const BankText& text) const {
    for (uint64_t row = 0; row < 32 && text.padded_row > 0; ++row)
        if (word_box(padding_word(text, row)).w > 0) return true;
    return false;
}

int BankPicture::lane_at(Point point, const Pattern& pattern) const {
    for (int lane = 0; lane < 32; ++lane) {
        if (!(pattern.lanes >> lane & 1)) continue;
        Rect box = word_box(pattern.address[static_cast<size_t>(lane)] / 4);
        box.x -= 1, box.w += 2, box.y -= 0.5f, box.h += 1;
        if (box.w > 2 && box.contains(point)) return lane;
    }
    return -1;
}

void BankPicture::draw(Ui& ui, const Pattern& pattern, const BankFacts& facts, const BankText& text, size_t shown,
                       int lane) const {
    const Theme& theme = *ui.theme;
    const float right = x_ + width_;
    const bool conflict = facts.ways > 1;
    std::string ways = ways_text(facts);
    const TextStyle title{.size = 13, .weight = 700, .mono = true, .width = right - x_};
    const TextStyle verdict{.size = 14,
                            .color = conflict ? theme.wrong : theme.right,
                            .align = Align::right,
                            .weight = 600,
                            .width = right - x_};
    // What a narrow half gives up: words of its title, whose bank it is, then the name of the axis; never the result.
    const float all = right - x_;
    const auto beside = [&](const std::string& words) {
        return ui.text_width(words, title) + 8 + ui.text_width(ways, verdict) <= all;
    };
    std::string head = text.title;
    if (!beside(head)) {
        if (const size_t colon = head.find(": "); colon != std::string::npos)  // "what if: padded rows"
            head.erase(0, colon + 2);
        else if (const size_t name = head.find(' ', head.find(' ') + 1); name != std::string::npos)  // "line 8 ld.shared"
            head.resize(name);
    }
    if (!beside(head) && facts.ways == 1) ways = "no conflict";
    ui.text(x_, area_.y + 16, head, title);
    ui.text(right, area_.y + 16, ways, verdict);
    const TextStyle mono{.size = 12, .color = theme.ink2, .mono = true};
    const auto fits = [&](const std::string& words, float width) { return ui.text_width(words, mono) <= width; };
    const float axis = ui.text_width("bank 0..31", {.size = 12}) + 8;
    std::string formula = text.formula;
    if (!fits(formula, all - axis))
        if (const size_t lane_end = formula.find(": "); lane_end != std::string::npos) formula.erase(0, lane_end + 2);
    ui.text(x_, area_.y + 34, formula, {.size = 12, .color = theme.ink2, .mono = true, .width = all});
    if (fits(formula, all - axis))
        ui.text(right, area_.y + 34, "bank 0..31", {.size = 12, .color = theme.ink2, .align = Align::right});
    draw_bars(ui, facts, text);
    draw_words(ui, pattern, facts, text, lane);
    draw_passes(ui, facts, shown, lane);
}

void BankPicture::draw_bars(Ui& ui, const BankFacts& facts, const BankText& text) const {
    const Theme& theme = *ui.theme;
    const float right = x_ + 32 * cell_w_, top = bars_y_ - bars_h_;
    ui.line({x_, top}, {right, top}, theme.grid);
    ui.line({x_, bars_y_}, {right, bars_y_}, theme.line);
    ui.text(x_ - 6, top + 8, std::to_string(scale_), {.size = 12, .color = theme.ink2, .align = Align::right});
    for (uint32_t bank = 0; bank < 32; ++bank) {
        if (facts.distinct[bank] == 0) continue;
        const float h = std::max(2.0f, bars_h_ * static_cast<float>(facts.distinct[bank]) / static_cast<float>(scale_));
        const Rect bar{x_ + cell_w_ * static_cast<float>(bank) + 1, bars_y_ - h, cell_w_ - 2, h};
        ui.rect(bar, fill_of(facts, bank));
        if (facts.distinct[bank] == facts.ways && facts.ways > 1)
            ui.frame({bar.x - 1, bar.y - 1, bar.w + 2, bar.h + 1}, theme.ink);
    }
    const std::string_view act = text.store ? "take" : "deliver";
    std::string label = facts.ways == 1 ? fmt::format("no bank has a second word to {}", act) : "";
    if (ui.text_width(label, {.size = 12}) > right - x_ - 4) label = "no second word anywhere";
    float at = (x_ + right) / 2;
    Align align = Align::center;
    if (facts.ways > 1) {
        uint32_t worst = 0;
        for (const uint32_t words : facts.distinct) worst += words == facts.ways;
        label = worst == 1 ? fmt::format("bank {} has {} words to {}", facts.worst_bank, facts.ways, act)
                           : fmt::format("{} banks have {} words to {}", worst, facts.ways, act);
        const float room = static_cast<float>(std::max(facts.worst_bank, 31 - facts.worst_bank)) * cell_w_ - 6;
        if (worst == 1 && ui.text_width(label, {.size = 12}) > room)
            label = fmt::format("bank {}: {} words", facts.worst_bank, facts.ways);
        if (worst > 1)
            return ui.text(right, top - 4, label,
                           {.size = 12, .color = theme.ink2, .align = Align::right, .width = right - x_}),
                   void();
        const float bar = x_ + cell_w_ * static_cast<float>(facts.worst_bank);
        const bool left = facts.worst_bank > 16;
        at = left ? bar - 6 : bar + cell_w_ + 5;
        align = left ? Align::right : Align::left;
    }
    ui.text(at, top + 15, label, {.size = 12, .color = theme.ink2, .align = align});
}

void BankPicture::draw_words(Ui& ui, const Pattern& pattern, const BankFacts& facts, const BankText& text, int lane) const {
    const Theme& theme = *ui.theme;
    const Rect grid{x_, grid_y_, 32 * cell_w_, cell_h_ * static_cast<float>(rows_.size())};
    ui.rect(grid, theme.panel2);
    ui.frame(grid, theme.line);
    for (int bank = 8; bank < 32; bank += 8)
        ui.line({x_ + cell_w_ * static_cast<float>(bank), grid.y}, {x_ + cell_w_ * static_cast<float>(bank), grid.bottom()},
                theme.grid);
    const size_t step = rows_.size() < 16 && cell_h_ >= 13 ? 1 : cell_h_ >= 2 ? 8 : 16;
    for (size_t i = 0; i < rows_.size(); i += step)
        ui.text(x_ - 6, grid_y_ + cell_h_ * static_cast<float>(i) + std::min(11.0f, cell_h_ + 5), std::to_string(rows_[i]),
                {.size = 12, .color = theme.ink2, .align = Align::right});
    if (text.padded_row > 0)
        for (uint64_t row = 0; row < 32; ++row)
            for (uint64_t k = 0; k < text.padding; ++k)
                if (const Rect box = word_box(padding_word(text, row) + k); box.w > 0) ui.frame(box, theme.ink3);
    const bool numbers = numbered();
    float most_right = 0;
    for (const BankWord& word : facts.words) {
        const Rect box = word_box(word.word);
        if (box.w <= 0) continue;
        const int readers = std::popcount(word.lanes);
        const bool picked = lane >= 0 && (word.lanes >> lane & 1);
        const Color fill = picked ? theme.ink : fill_of(facts, word.word);
        ui.rect(box, fill);
        if (readers > 1) ui.frame({box.x - 1, box.y - 0.5f, box.w + 2, box.h + 1}, data::sky, 1.5f);
        const std::string label = readers > 1 ? fmt::format("x{}", readers) : std::to_string(std::countr_zero(word.lanes));
        if (numbers && ui.text_width(label, {.size = 12, .mono = true}) <= box.w)
            ui.text(box.x + box.w / 2, box.y + box.h / 2 + 4.5f, label,
                    {.size = 12, .color = text_on(fill), .align = Align::center, .mono = true});
        most_right = std::max(most_right, box.right());
    }
    if (facts.broadcasts > 0 && !numbers) {  // words that several lanes share, in words of our own
        int most = 0;
        for (const BankWord& word : facts.words) most = std::max(most, std::popcount(word.lanes));
        const std::string label = text.store ? fmt::format("up to {} lanes write the same word", most)
                                  : facts.words.size() == 1
                                      ? fmt::format("x {} broadcast: one word for all of them", most)
                                      : fmt::format("{} words broadcast, to up to {} lanes each", facts.broadcasts, most);
        ui.text(grid.right() - 6, grid.bottom() - 6, label, {.size = 12, .color = theme.ink2, .align = Align::right});
    } else if (gaps_) {
        write_beside(ui, facts, grid, "rows between are left out");
    }
    (void)pattern;
}

// At the grid's foot, at the end where no word stands; nowhere if there is one at both.
void BankPicture::write_beside(Ui& ui, const BankFacts& facts, const Rect& grid, const std::string& words) const {
    const TextStyle style{.size = 12, .color = ui.theme->ink2};
    const float width = ui.text_width(words, style), y = grid.bottom() - 6;
    for (const float x : {grid.right() - 6 - width, grid.x + 6, grid.x + (grid.w - width) / 2}) {
        const Rect area{x - 4, y - 12, width + 8, 16};
        const bool taken = std::any_of(facts.words.begin(), facts.words.end(), [&](const BankWord& word) {
            const Rect box = word_box(word.word);
            return box.w > 0 && box.x < area.right() && area.x < box.right() && box.y < area.bottom() &&
                   area.y < box.bottom();
        });
        if (!taken) return ui.text(x, y, words, style), void();
    }
}

void BankPicture::draw_passes(Ui& ui, const BankFacts& facts, size_t shown, int lane) const {
    const Theme& theme = *ui.theme;
    const float right = pass_x_ + 32 * pass_w_;
    const float words = ui.text(pass_x_, passes_y_ - 6, passes_text(facts), {.size = 13, .weight = 600});
    uint32_t served = 0;
    for (const auto& pass : facts.passes) served |= pass.lanes;
    const std::string note = facts.groups > 1
                                 ? fmt::format("{} groups of {} lanes, one after the other", facts.groups, 32 / facts.groups)
                             : served == 0xffffffffu ? "lanes 0 to 31 served"
                                                     : lanes_text(served) + " served";
    if (ui.text_width(note, {.size = 12}) + 12 < right - words)
        ui.text(right, passes_y_ - 6, note, {.size = 12, .color = theme.ink2, .align = Align::right});
    const Rect box{pass_x_, passes_y_, 32 * pass_w_, passes_h_};
    ui.rect(box, theme.panel2);
    ui.frame(box, theme.line);
    const size_t drawn = std::min(facts.passes.size(), static_cast<size_t>(passes_h_ / pass_h_ + 0.5f));
    int picked = -1;
    for (size_t p = 0; p < drawn; ++p) {
        const bool crowded = facts.ways > 1;
        for (int i = 0; i < 32; ++i) {
            if (!(facts.passes[p].lanes >> i & 1)) continue;
            if (i == lane && picked < 0) picked = static_cast<int>(p);
            const Color fill = i == lane ? theme.ink : crowded ? data::vermillion : data::green;
            ui.rect({pass_x_ + pass_w_ * static_cast<float>(i) + 0.5f, passes_y_ + pass_h_ * static_cast<float>(p),
                     pass_w_ - 1, std::max(1.0f, pass_h_ - (pass_h_ > 4 ? 1.0f : 0.0f))},
                    faded(fill, p < shown ? 1.0f : 0.35f));
        }
    }
    if (picked < 0 || facts.passes.size() < 2 || passes_h_ < 30) return;
    const float y = passes_y_ + pass_h_ * (static_cast<float>(picked) + 1);
    ui.polyline(std::array{Point{pass_x_, y}, Point{right, y}}, theme.ink, 1, 2, 3);
    // Off the diagonal of lanes that later passes serve: right of it above the line, left of it below.
    const bool above = lane < 16 ? y - 18 > box.y : y + 16 > box.bottom();
    ui.text(lane < 16 ? right - 6 : pass_x_ + 6, above ? y - 5 : y + 14,
            fmt::format("pass {} serves lane {}", picked + 1, lane),
            {.size = 12, .color = theme.ink2, .align = lane < 16 ? Align::right : Align::left});
}

}  // namespace lockstep::gui
