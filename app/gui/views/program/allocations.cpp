// What a whole program has in the GPU's memory: a row an allocation, over the calls that allocate and free, with the sum
// below. What was never freed is said, with the way to its line.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/program/program_data.h"
#include "core/base/sizes.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr float allocation_names = 74;

std::string heading(const ProgramBoard& board) {
    if (board.allocations.empty()) return "";
    return fmt::format("{} at most, {} left", size_text(board.run->report.peak_bytes), size_text(board.bytes_left));
}

int64_t leaks_in(const ProgramBoard& board) {
    return std::count_if(board.allocations.begin(), board.allocations.end(),
                         [](const AllocationBar& bar) { return bar.leaked; });
}

std::string caption(const ProgramBoard& board) {
    if (board.allocations.empty()) return "";
    const auto count = static_cast<int64_t>(board.allocations.size()), leaked = leaks_in(board);
    if (leaked == 0)
        return count == 1 ? "The allocation is freed before the end." : "Every allocation is freed before the end.";
    return fmt::format("{} of {} outlive{} main().", with_commas(leaked), counted(count, "allocation"),
                       leaked == 1 ? "s" : "");
}

std::string words_of(const AllocationRow& row) {
    if (row.count == 1)
        return size_text(row.bytes) + (row.leaked > 0       ? ", never freed"
                                       : row.freed_line > 0 ? fmt::format(", freed in line {}", row.freed_line)
                                                            : ", freed");
    return fmt::format("{} allocations, {} at most", with_commas(static_cast<int64_t>(row.count)), size_text(row.bytes)) +
           (row.leaked == 0           ? ", all freed"
            : row.leaked == row.count ? ", never freed"
                                      : fmt::format(", {} never freed", with_commas(static_cast<int64_t>(row.leaked))));
}

std::string why_no_memory(const ProgramBoard& board) {
    if (!board.run || board.run->running) return "The program has not run yet.";
    const std::string why = board.run->unreported();
    return why.empty() ? "The program allocated nothing." : why;
}

class AllocationsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const ProgramBoard& board = boards_.of(*snapshot);
        const std::string right = heading(board), sentence = caption(board);
        const Rect body = ui.panel(area, {.title = "Device memory",
                                          .right = right,
                                          .badge = board.allocations.empty() ? Provenance::none : Provenance::executed,
                                          .caption = sentence});
        if (board.allocations.empty()) return ui.say_nothing_yet(body, why_no_memory(board));
        ui.push_scope("allocations");
        const AllocationRow* const leak = largest_leak(board);
        const float card = leak && body.h > 150 ? 52.f : 0.f;
        const Rect r{body.x, body.y - 2, body.w, body.h - card + 2};
        paint(ui, session, board, r);
        if (card > 0) leak_card(ui, session, *leak, {body.x, body.bottom() - card + 8, body.w, card - 8});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const ProgramBoard board = make_board_of(session.snapshot()->program.run);
        std::string text = "Device memory" + (board.allocations.empty() ? "" : " (executed), " + heading(board)) + "\n";
        for (const AllocationRow& row : board.rows)
            text += fmt::format("  {}{}: {}{}\n", row.name, row.kind == "device" ? "" : " (" + row.kind + ")", words_of(row),
                                row.line > 0 ? fmt::format(", allocated in line {}", row.line) : "");
        return text + "  " + (board.allocations.empty() ? why_no_memory(board) : caption(board)) + "\n";
    }

  private:
    ProgramBoards boards_;

    static const AllocationRow* largest_leak(const ProgramBoard& board) {
        const AllocationRow* largest = nullptr;
        for (const AllocationRow& row : board.rows)
            if (row.leaked > 0 && (!largest || row.leaked_bytes > largest->leaked_bytes)) largest = &row;
        return largest;
    }

    static void paint(Ui& ui, Session& session, const ProgramBoard& board, const Rect& r) {
        const Theme& theme = *ui.theme;
        const Rect plot{r.x + allocation_names, r.y + 20, r.w - allocation_names - 10, r.h - 20 - 24};
        const auto columns = static_cast<float>(board.columns.size() + 1);  // the last one: the end
        const float step = plot.w / columns;
        const auto x_of = [&](int64_t column) {
            return plot.x + step * static_cast<float>(column < 0 ? columns : static_cast<float>(column));
        };
        ui.text(r.x + allocation_names - 10, r.y + 12, "line", {.size = 12, .color = theme.quiet, .align = Align::right});
        const size_t every = std::max<size_t>(1, static_cast<size_t>(std::ceil(34 / step)));
        for (size_t k = 0; k <= board.columns.size(); ++k) {
            const float x = plot.x + step * static_cast<float>(k);
            if (board.columns.size() <= 64) ui.line({x, plot.y - 4}, {x, r.bottom() - 22}, theme.grid);
            if (k == board.columns.size()) {
                ui.text(x + step / 2, r.y + 12, "end", {.size = 12, .align = Align::center});
            } else if (k % every == 0 && board.columns[k].line > 0 && x < plot.right() - 40) {
                ui.text(x + step / 2, r.y + 12, std::to_string(board.columns[k].line),
                        {.size = 12, .color = theme.quiet, .align = Align::center, .mono = true});
            }
        }
        const auto count = static_cast<float>(board.rows.size());
        const float pitch = std::clamp(std::floor(plot.h / count), 22.f, 36.f);
        const float offset = ui.scroll("rows", {r.x, plot.y, r.w + 8, plot.h}, count * pitch);
        ui.clip({r.x - 2, plot.y - 1, r.w + 4, plot.h + 2});
        for (size_t k = 0; k < board.rows.size(); ++k) {
            const AllocationRow& row = board.rows[k];
            const float y = plot.y - offset + static_cast<float>(k) * pitch;
            if (y + pitch < plot.y || y > plot.bottom()) continue;
            ui.text(r.x + allocation_names - 10, y + pitch / 2 + 4, row.name,
                    {.size = 13,
                     .color = row.leaked > 0 ? theme.wrong : theme.ink,
                     .align = Align::right,
                     .mono = true,
                     .width = allocation_names - 10});
            const Rect box{x_of(row.begin), y + 1, std::max(2.f, x_of(row.end) - x_of(row.begin)), pitch - 4};
            row.count == 1 ? paint_one(ui, row, k, box) : paint_levels(ui, row, box, x_of);
            const std::string words = words_of(row);
            for (const std::string& text : {words, size_text(row.bytes)}) {
                const float width = ui.text_width(text, {.size = 12, .weight = 600});
                if (width + 14 > box.w) continue;
                ui.rect({box.x + (box.w - width) / 2 - 6, box.y + 1, width + 12, box.h - 2},
                        theme.dark ? rgb(0x10161E) : rgb(0xFFFFFF), 3);
                ui.text(box.x + box.w / 2, box.y + box.h / 2 + 4.5f, text,
                        {.size = 12, .align = Align::center, .weight = 600});
                break;
            }
            const Rect whole{r.x, y, r.w, pitch};
            if (ui.hovered(whole))
                ui.tooltip(fmt::format("{}, {} memory\n{}{}", row.name, row.kind, words,
                                       row.line > 0 ? fmt::format("\nallocated in line {}", row.line) : ""));
            if (row.line > 0 && ui.area(fmt::format("row {}", k), whole))
                session.program.line = session.desk.go_to_line = row.line;
        }
        ui.unclip();
        const bool small = board.run->report.peak_bytes < 1 << 20;
        ui.line({r.x, r.bottom() - 21}, {r.right(), r.bottom() - 21}, theme.grid);
        ui.text(r.x + allocation_names - 10, r.bottom() - 5, small ? "KiB" : "MiB",
                {.size = 12, .color = theme.quiet, .align = Align::right});
        for (size_t k = 0; k <= board.columns.size(); ++k) {
            const bool end = k == board.columns.size();
            const float x = plot.x + step * (static_cast<float>(k) + 0.5f);
            if (!end && (k % every != 0 || x < plot.x + 10 || x > plot.right() - 40)) continue;
            const uint64_t bytes = end ? board.bytes_left : board.columns[k].bytes;
            const double units = static_cast<double>(bytes) / (small ? 1 << 10 : 1 << 20);
            ui.text(
                x, r.bottom() - 5, fmt::format("{:.3g}", units),
                {.size = 12, .color = end && bytes > 0 ? theme.wrong : theme.ink, .align = Align::center, .weight = 600});
        }
    }

    static void paint_one(Ui& ui, const AllocationRow& row, size_t number, const Rect& box) {
        static constexpr Hatch hatches[] = {Hatch::horizontal, Hatch::vertical, Hatch::dots, Hatch::cross};
        ui.rect(box, row.leaked > 0 ? data::vermillion : number % 2 == 0 ? data::blue : data::sky);
        if (box.w > 3) ui.hatch(box, faded(data::black, 0.45f), row.leaked > 0 ? Hatch::diagonal : hatches[number % 4]);
    }

    // As high as what they hold, of what they hold at most.
    template <class XOf>
    static void paint_levels(Ui& ui, const AllocationRow& row, const Rect& box, const XOf& x_of) {
        ui.rect(box, ui.theme->grid);
        for (size_t k = 0; k < row.levels.size(); ++k) {
            const float x = x_of(row.levels[k].column),
                        end = k + 1 < row.levels.size() ? x_of(row.levels[k + 1].column) : box.right();
            const float h =
                box.h * static_cast<float>(row.levels[k].bytes) / static_cast<float>(std::max<uint64_t>(1, row.bytes));
            ui.rect({x, box.bottom() - h, end - x, h}, row.leaked > 0 ? data::vermillion : data::blue);
        }
        ui.hatch(box, faded(data::black, 0.45f), row.leaked > 0 ? Hatch::diagonal : Hatch::horizontal);
    }

    static void leak_card(Ui& ui, Session& session, const AllocationRow& leak, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.frame(r, theme.wrong, 1.5f, 5);
        ui.icon(r.x + 20, r.y + 28, Icon::warning, {.size = 18, .color = theme.wrong, .align = Align::center});
        float right = r.right() - 10;
        if (leak.line > 0) {
            right -= ui.chip_width("show line");
            float x = right;
            if (ui.chip(x, r.y + (r.h - 26) / 2, "show line")) session.program.line = session.desk.go_to_line = leak.line;
        }
        ui.text(r.x + 40, r.y + 19, fmt::format("Leak: {}, {}", leak.name, size_text(leak.leaked_bytes)),
                {.size = 14, .weight = 600, .width = right - r.x - 48});
        const std::string times =
            leak.leaked > 1 ? fmt::format(" by {} calls", with_commas(static_cast<int64_t>(leak.leaked))) : "";
        ui.text(r.x + 40, r.y + 36, leak.line > 0 ? fmt::format("never freed, line {}{}", leak.line, times) : "never freed",
                {.size = 12, .color = theme.ink2, .width = right - r.x - 48});
    }
};

}  // namespace

std::unique_ptr<View> make_allocations_view() {
    return std::make_unique<AllocationsView>();
}

}  // namespace lockstep::gui
