// What a whole program has in the GPU's memory: a row an allocation, over the calls that allocate and free, with the sum
// below. What was never freed is said, with the way to its line.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/program/program_data.h"
#include "core/base/sizes.h"

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
    return fmt::format("{} of {} allocation{} outlive{} main().", with_commas(leaked), with_commas(count),
                       count == 1 ? "" : "s", leaked == 1 ? "s" : "");
}

std::string words_of(const AllocationBar& bar) {
    return size_text(bar.bytes) + (bar.leaked           ? ", never freed"
                                   : bar.freed_line > 0 ? fmt::format(", freed in line {}", bar.freed_line)
                                                        : ", freed");
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
        if (board.allocations.empty())
            return ui.say_nothing_yet(
                body, board.run && !board.run->running ? "The program allocated nothing." : "The program has not run yet.");
        ui.push_scope("allocations");
        const AllocationBar* const leak = first_leak(board);
        const float card = leak && body.h > 150 ? 52.f : 0.f;
        const Rect r{body.x, body.y - 2, body.w, body.h - card + 2};
        paint(ui, session, board, r);
        if (card > 0) leak_card(ui, session, *leak, {body.x, body.bottom() - card + 8, body.w, card - 8});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const ProgramBoard board = make_board_of(session.snapshot()->program.run);
        std::string text = "Device memory" + (board.allocations.empty() ? "" : " (executed), " + heading(board)) + "\n";
        for (const AllocationBar& bar : board.allocations)
            text += fmt::format("  {}{}: {}{}\n", bar.name, bar.kind == "device" ? "" : " (" + bar.kind + ")", words_of(bar),
                                bar.line > 0 ? fmt::format(", allocated in line {}", bar.line) : "");
        return text + "  " + (board.allocations.empty() ? "The program allocated nothing." : caption(board)) + "\n";
    }

  private:
    ProgramBoards boards_;

    static const AllocationBar* first_leak(const ProgramBoard& board) {
        const auto found = std::find_if(board.allocations.begin(), board.allocations.end(),
                                        [](const AllocationBar& bar) { return bar.leaked; });
        return found == board.allocations.end() ? nullptr : &*found;
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
            } else if (k % every == 0 && board.columns[k].line > 0) {
                ui.text(x + step / 2, r.y + 12, std::to_string(board.columns[k].line),
                        {.size = 12, .color = theme.quiet, .align = Align::center, .mono = true});
            }
        }
        const auto count = static_cast<float>(board.allocations.size());
        const float allocation_pitch = std::clamp(std::floor(plot.h / count), 22.f, 36.f),
                    content = count * allocation_pitch;
        const float offset = ui.scroll("rows", {r.x, plot.y, r.w + 8, plot.h}, content);
        ui.clip({r.x - 2, plot.y - 1, r.w + 4, plot.h + 2});
        static constexpr Hatch hatches[] = {Hatch::horizontal, Hatch::vertical, Hatch::dots, Hatch::cross};
        for (size_t k = 0; k < board.allocations.size(); ++k) {
            const AllocationBar& bar = board.allocations[k];
            const float y = plot.y - offset + static_cast<float>(k) * allocation_pitch;
            if (y + allocation_pitch < plot.y || y > plot.bottom()) continue;
            const Rect box{x_of(bar.begin), y + 1, std::max(2.f, x_of(bar.end) - x_of(bar.begin)), allocation_pitch - 4};
            const Color fill = bar.leaked ? data::vermillion : k % 2 == 0 ? data::blue : data::sky;
            ui.text(r.x + allocation_names - 10, y + allocation_pitch / 2 + 4, bar.name,
                    {.size = 13,
                     .color = bar.leaked ? theme.wrong : theme.ink,
                     .align = Align::right,
                     .mono = true,
                     .width = allocation_names - 10});
            ui.rect(box, fill);
            if (box.w > 3) ui.hatch(box, faded(data::black, 0.45f), bar.leaked ? Hatch::diagonal : hatches[k % 4]);
            const std::string words = words_of(bar), little = size_text(bar.bytes);
            for (const std::string& text : {words, little}) {
                const float width = ui.text_width(text, {.size = 12, .weight = 600});
                if (width + 14 > box.w) continue;
                ui.rect({box.x + (box.w - width) / 2 - 6, box.y + 1, width + 12, box.h - 2},
                        theme.dark ? rgb(0x10161E) : rgb(0xFFFFFF), 3);
                ui.text(box.x + box.w / 2, box.y + box.h / 2 + 4.5f, text,
                        {.size = 12, .align = Align::center, .weight = 600});
                break;
            }
            const Rect row{r.x, y, r.w, allocation_pitch};
            if (ui.hovered(row))
                ui.tooltip(fmt::format("{}, {} memory\n{}{}", bar.name, bar.kind, words,
                                       bar.line > 0 ? fmt::format("\nallocated in line {}", bar.line) : ""));
            if (bar.line > 0 && ui.area(fmt::format("row {}", k), row))
                session.program.line = session.desk.go_to_line = bar.line;
        }
        ui.unclip();
        const bool small = board.run->report.peak_bytes < 1 << 20;
        ui.line({r.x, r.bottom() - 21}, {r.right(), r.bottom() - 21}, theme.grid);
        ui.text(r.x + allocation_names - 10, r.bottom() - 5, small ? "KiB" : "MiB",
                {.size = 12, .color = theme.quiet, .align = Align::right});
        for (size_t k = 0; k <= board.columns.size(); k += every) {
            const bool end = k == board.columns.size();
            const uint64_t bytes = end ? board.bytes_left : board.columns[k].bytes;
            const double units = static_cast<double>(bytes) / (small ? 1 << 10 : 1 << 20);
            ui.text(
                plot.x + step * (static_cast<float>(k) + 0.5f), r.bottom() - 5, fmt::format("{:.3g}", units),
                {.size = 12, .color = end && bytes > 0 ? theme.wrong : theme.ink, .align = Align::center, .weight = 600});
        }
    }

    static void leak_card(Ui& ui, Session& session, const AllocationBar& leak, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.frame(r, theme.wrong, 1.5f, 5);
        ui.icon(r.x + 20, r.y + 28, Icon::warning, {.size = 18, .color = theme.wrong, .align = Align::center});
        float right = r.right() - 10;
        if (leak.line > 0) {
            right -= ui.chip_width("show line");
            float x = right;
            if (ui.chip(x, r.y + (r.h - 26) / 2, "show line")) session.program.line = session.desk.go_to_line = leak.line;
        }
        ui.text(r.x + 40, r.y + 19, fmt::format("Leak: {}, {}", leak.name, size_text(leak.bytes)),
                {.size = 14, .weight = 600, .width = right - r.x - 48});
        ui.text(r.x + 40, r.y + 36, leak.line > 0 ? fmt::format("never freed, line {}", leak.line) : "never freed",
                {.size = 12, .color = theme.ink2, .width = right - r.x - 48});
    }
};

}  // namespace

std::unique_ptr<View> make_allocations_view() {
    return std::make_unique<AllocationsView>();
}

}  // namespace lockstep::gui
