// Attention whose keys lie on several GPUs: a band a GPU with what it makes of its own keys, below them their sums, and the
// quotient. A click picks a query, whose row is framed in every matrix and added up in words.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/tensor/attention/joined_parts.h"
#include "app/gui/views/tensor/tensor_text.h"
#include "app/gui/views/training/tape_data.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view joined_title = "Attention over keys on several GPUs";

class JoinedView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        refresh(*session.snapshot());
        if (joined_.empty()) {
            const Rect body = ui.panel(area, {.title = joined_title});
            return ui.say_nothing_yet(body, "No attention in parts is on show.",
                                      "It appears where a tensor program adds up exponentials of several products.");
        }
        moment_ = tape_position(session, focus, plan_);
        const std::string caption = caption_of();
        const Rect body = ui.panel(area, {.title = joined_title,
                                          .right = fmt::format("{} GPUs, {} queries, {} keys each", joined_.parts.size(),
                                                               joined_.output.rows, joined_.parts[0].powers.columns),
                                          .badge = Provenance::executed,
                                          .caption = caption});
        ui.push_scope("joined");
        if (ui.pressed(Key::down, area)) row_ = std::min(row_ + 1, joined_.output.rows - 1);
        if (ui.pressed(Key::up, area)) row_ = std::max<int64_t>(row_ - 1, 0);
        ui.text(body.x, body.y + 20, headline_of(), {.size = 20, .weight = 700, .width = body.w});
        draw_bands(ui, {body.x, body.y + 34, body.w, body.h - 34 - 24});
        draw_legend(ui, body);
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        JoinedView fresh;
        fresh.refresh(*session.snapshot());
        if (fresh.joined_.empty()) return std::string(joined_title) + ": no attention in parts is on show.\n";
        if (fresh.seen_ == seen_) fresh.row_ = row_;
        fresh.moment_ = tape_position(session, focus, fresh.plan_);
        std::string text = fmt::format("{} (executed)\n  {}\n", joined_title, fresh.headline_of());
        const auto add = [&](const PartMatrix& matrix, const std::string& whose) {
            if (!fresh.known(matrix)) return;
            text += fmt::format("  {}, {}:", whose, matrix.name);
            for (int64_t row = 0; row < matrix.rows; ++row) {
                for (int64_t column = 0; column < matrix.columns; ++column)
                    text += " " + element_number(matrix.at(row, column));
                if (row + 1 < matrix.rows) text += " /";
            }
            text += "\n";
        };
        for (size_t i = 0; i < fresh.joined_.parts.size(); ++i)
            for (const PartMatrix* matrix : matrices_of(fresh.joined_.parts[i])) add(*matrix, fmt::format("GPU {}", i + 1));
        for (const PartMatrix* matrix : {&fresh.joined_.numerator, &fresh.joined_.denominator, &fresh.joined_.output})
            if (matrix->there()) add(*matrix, "all");
        return text + "  " + fresh.caption_of() + "\n";
    }

  private:
    std::shared_ptr<const nn::StepRecord> seen_;
    JoinedParts joined_;
    TapePlan plan_;
    int moment_ = 0;
    int64_t row_ = 0;

    static std::array<const PartMatrix*, 3> matrices_of(const KeysPart& part) {
        return {&part.powers, &part.numerator, &part.denominator};
    }

    void refresh(const Snapshot& snapshot) {
        if (snapshot.training.step == seen_) return;
        seen_ = snapshot.training.step;
        joined_ = seen_ ? joined_parts(*seen_) : JoinedParts();
        if (seen_) plan_ = plan_tape(*seen_);
        row_ = 0;
    }
    bool known(const PartMatrix& matrix) const {
        if (&matrix == &joined_.whole) return known(joined_.output);
        return plan_.value_known(matrix.node, moment_);
    }

    std::string headline_of() const {
        if (joined_.divided()) {
            if (!known(joined_.output)) return "Each GPU sends its own attention and what it divided by";
            const double off = joined_.most_off();
            return off < 1e-4 ? std::string("Joined: o is the attention over all keys")
                              : fmt::format("o is off the attention over all keys by up to {:.2g}", off);
        }
        if (!known(joined_.denominator)) return "Each GPU adds up what its own keys give";
        return "Sums over parts of the keys just add up; " + joined_sum_words(joined_, row_);
    }
    std::string caption_of() const {
        const int64_t width = joined_.output.columns;
        if (joined_.divided())
            return fmt::format("For a query each GPU sends {} numbers: its attention, and d, the sum that it divided by.",
                               width + 1);
        return fmt::format("For a query each GPU hands over {} sums, n and d, however many keys it has: no scores travel.",
                           width + 1);
    }

    // One matrix: its name above, a value a cell; `signs`: by sign, else by size.
    void draw_matrix(Ui& ui, const PartMatrix& matrix, std::string_view note, const Rect& r, float w, float h, bool signs) {
        const Theme& theme = *ui.theme;
        float x = ui.text(r.x, r.y + 13, matrix.name, {.size = 14, .weight = 700, .mono = true});
        if (x + 8 + ui.text_width(note, {.size = 12}) <= r.right())
            ui.text(x + 8, r.y + 13, note, {.size = 12, .color = theme.quiet});
        double most = 1e-9;
        for (const float value : matrix.values) most = std::max(most, std::abs(static_cast<double>(value)));
        const bool there = known(matrix);
        for (int64_t row = 0; row < matrix.rows; ++row)
            for (int64_t column = 0; column < matrix.columns; ++column) {
                const Rect cell{r.x + w * static_cast<float>(column), r.y + 19 + h * static_cast<float>(row), w - 1, h - 1};
                if (!there) {
                    ui.rect(cell, theme.panel2);
                    continue;
                }
                const double value = matrix.at(row, column);
                const Color fill = signs ? diverging(0.5f + 0.42f * static_cast<float>(value / most), theme)
                                         : sequential(0.15f + 0.7f * static_cast<float>(value / most), theme);
                ui.rect(cell, fill);
                std::string words = element_number(value);
                if (ui.text_width(words, {.size = 12, .mono = true}) >= w - 3) words = element_number(value, 2);
                if (ui.text_width(words, {.size = 12, .mono = true}) < w - 1 && h >= 14)
                    ui.text(cell.x + cell.w / 2, cell.y + cell.h / 2 + 4.5f, words,
                            {.size = 12, .color = text_on(fill), .align = Align::center, .mono = true});
                if (ui.clicked(cell)) row_ = row;
                if (ui.hovered(cell)) ui.tooltip(fmt::format("{}, query {}: {:.5g}", matrix.name, row + 1, value));
            }
        const float y = r.y + 19 + h * static_cast<float>(row_);
        if (there) ui.outline({r.x - 1, y - 1, w * static_cast<float>(matrix.columns) + 1, h + 1});
    }

    void draw_bands(Ui& ui, const Rect& r) {
        const Theme& theme = *ui.theme;
        const KeysPart& first = joined_.parts.front();
        const float bands = static_cast<float>(joined_.parts.size() + 1), pitch = r.h / bands, gap = 30;
        const float names = r.w > 700 ? 74.0f : 0.0f;
        const auto columns = static_cast<float>(first.powers.columns + first.numerator.columns + 1 + joined_.output.columns);
        const float w = std::floor(std::min(64.0f, (r.w - names - 3 * gap) / columns));
        const float h = std::floor(std::min(34.0f, (pitch - 19 - 12) / static_cast<float>(joined_.output.rows)));
        if (w < 10 || h < 6) return;
        const auto wide = [&](const PartMatrix& matrix) { return w * static_cast<float>(matrix.columns); };
        const float at_e = r.x + names, at_n = at_e + wide(first.powers) + gap, at_d = at_n + wide(first.numerator) + gap,
                    at_o = at_d + w + gap;
        for (size_t i = 0; i <= joined_.parts.size(); ++i) {
            const float y = r.y + pitch * static_cast<float>(i);
            const bool sums = i == joined_.parts.size();
            if (i > 0) ui.line({r.x, y - 7}, {r.right(), y - 7}, sums ? theme.ink3 : theme.line);
            if (names > 0)
                ui.text(r.x, y + 19 + h, sums ? joined_.divided() ? "joined" : "added up" : fmt::format("GPU {}", i + 1),
                        {.size = 14, .weight = 600});
            if (!sums) {
                const KeysPart& part = joined_.parts[i];
                draw_matrix(ui, part.powers, "e to each score", {at_e, y, wide(part.powers) + gap - 6, 0}, w, h, false);
                draw_matrix(ui, part.numerator, part.divided ? "its attention" : "e times values",
                            {at_n, y, wide(part.numerator) + gap - 6, 0}, w, h, true);
                draw_matrix(ui, part.denominator, "sum", {at_d, y, w + gap - 4, 0}, w, h, false);
                continue;
            }
            if (joined_.divided()) {
                ui.text(at_e, y + 19 + h, "left what the program makes of",
                        {.size = 13, .color = theme.ink2, .width = at_n - at_e - 8});
                ui.text(at_e, y + 37 + h, "them, right what it should be",
                        {.size = 13, .color = theme.ink2, .width = at_n - at_e - 8});
                draw_matrix(ui, joined_.output, "", {at_n, y, wide(joined_.output) + gap - 6, 0}, w, h, true);
                draw_matrix(ui, joined_.whole, "", {at_o, y, wide(joined_.whole) + gap, 0}, w, h, true);
                continue;
            }
            ui.text(at_e, y + 19 + h, "over all GPUs, no matter",
                    {.size = 13, .color = theme.ink2, .width = at_n - at_e - 8});
            ui.text(at_e, y + 37 + h, "in which order", {.size = 13, .color = theme.ink2, .width = at_n - at_e - 8});
            draw_matrix(ui, joined_.numerator, "", {at_n, y, wide(joined_.numerator), 0}, w, h, true);
            draw_matrix(ui, joined_.denominator, "", {at_d, y, w, 0}, w, h, false);
            draw_matrix(ui, joined_.output, "= n / d: the attention", {at_o, y, wide(joined_.output) + gap, 0}, w, h, true);
        }
        // To the right of the GPUs: the picked query, as each of them sees it.
        const float right = r.right() - at_o;
        if (right < 120 || !known(joined_.divided() ? joined_.output : joined_.denominator)) return;
        double all = 0;
        for (const KeysPart& part : joined_.parts) all += part.denominator.at(row_, 0);
        for (size_t i = 0; i < joined_.parts.size(); ++i) {
            const float y = r.y + pitch * static_cast<float>(i) + 19;
            const double share = joined_.parts[i].denominator.at(row_, 0) / all;
            ui.text(at_o, y + 13, fmt::format("query {}: {:.0f} % of all d", row_ + 1, 100 * share),
                    {.size = 13, .weight = 600, .width = right});
            ui.rect({at_o, y + 22, std::min(right - 8, 4 * w), 10}, theme.grid);
            ui.rect({at_o, y + 22, std::min(right - 8, 4 * w) * static_cast<float>(share), 10}, data::sky);
        }
    }

    static void draw_legend(Ui& ui, const Rect& body) {
        float x = body.x;
        const float at = body.bottom() - 6;
        x = ui.legend(x, at, sequential(0.7f, *ui.theme), Hatch::solid, "more, always above zero");
        x = ui.legend(x, at, diverging(0.9f, *ui.theme), Hatch::solid, "above zero");
        x = ui.legend(x, at, diverging(0.1f, *ui.theme), Hatch::solid, "below zero");
        const std::string_view words = "framed: the picked query";
        if (x + ui.text_width(words, {.size = 13}) < body.right())
            ui.text(x, at, words, {.size = 13, .color = ui.theme->ink2});
    }
};

}  // namespace

std::unique_ptr<View> make_joined_view() {
    return std::make_unique<JoinedView>();
}

}  // namespace lockstep::gui
