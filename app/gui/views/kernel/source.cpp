// The kernel's source with the issue slots that the focused warp used, line by line: one box an issue, filled by the
// share of lanes that were on. The stripe left of a line shows which path ran it last.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/kernel/source_text.h"
#include "app/gui/views/sm/lane_paths.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr float line_height = 24, wide_gutter = 112, low_gutter = 86;  // where long lines need the room

struct LineUse {
    std::vector<std::pair<size_t, int>> issues;  // path, lanes; the first few
    int64_t count = 0, lanes = 0;
    int path = -1;  // of the last issue, when not all lanes together
};

struct Use {
    std::vector<LineUse> lines;         // by line - 1
    size_t end = 0;                     // issues counted
    int64_t half = 0;                   // issues with lanes off
    int first_half = 0, last_half = 0;  // lines of those
    int line = 0;                       // the current one
    bool hidden = false;
};

// Instructions that have issued up to the clock, the one that issues just now included; SIZE_MAX: the clock does not say.
size_t issued_by(const Session& session, const Focus& focus, const model::KernelRun& run) {
    const KernelTrace& trace = run.result.trace;
    if ((session.grain != Grain::cycle && !session.sm.by_time) || focus.time < 0 || focus.warp < 0 ||
        focus.warp >= static_cast<int32_t>(trace.warps.size()))
        return SIZE_MAX;
    const WarpTrack& warp = trace.warps[static_cast<size_t>(focus.warp)];
    const int64_t next = session.sm.history_step - static_cast<int64_t>(warp.issued_before);
    if (next < 0 || next >= static_cast<int64_t>(warp.issues.size())) return SIZE_MAX;
    const bool waits = trace.issues[warp.issues[static_cast<size_t>(next)]].cycle > focus.time;
    return static_cast<size_t>(session.sm.history_step) + (waits ? 0 : 1);
}

Use use_of(const Session& session, const Focus& focus, const model::KernelRun& run, const simt::WarpHistory& history,
           size_t lines) {
    const ptx::Program& program = *run.program;
    const size_t issued = issued_by(session, focus, run);
    Use use;
    use.lines.resize(lines);
    size_t end = std::min(history.steps.size(), static_cast<size_t>(std::max<int64_t>(0, session.sm.history_step)) + 1);
    if (session.learn.reveal_steps >= 0) end = std::min(end, static_cast<size_t>(session.learn.reveal_steps));
    use.end = std::min(end, issued);
    use.hidden = session.learn.reveal_steps == 0;
    for (size_t i = 0; i < end; ++i) {
        const simt::WarpStep& step = history.steps[i];
        if (step.pc >= program.instructions.size()) continue;
        const int line = program.instructions[step.pc].line;
        const int lanes = lanes_in(step.active);
        if (line > 0) use.line = line;
        if (i >= issued) break;  // it is the next, and still waits
        if ((step.active | step.exited) != simt::full_mask) {
            ++use.half;
            if (line > 0) {
                use.first_half = use.first_half == 0 ? line : std::min(use.first_half, line);
                use.last_half = std::max(use.last_half, line);
            }
        }
        if (line < 1 || static_cast<size_t>(line) > lines) continue;
        LineUse& l = use.lines[static_cast<size_t>(line) - 1];
        ++l.count;
        l.lanes += lanes;
        l.path = running_path(step) > 0 ? static_cast<int>(running_path(step)) : -1;
        if (l.issues.size() < 4) l.issues.emplace_back(running_path(step), lanes);
    }
    return use;
}

std::string caption_of(const Use& use) {
    if (use.end == 0)
        return use.hidden ? "No issue may be seen until you lock an answer." : "No instruction of this warp has issued yet.";
    if (use.half == 0)
        return use.end == 1 ? std::string("The one issue so far ran with all lanes of the warp on.")
                            : fmt::format("All {} so far ran with all lanes of the warp on.", counted(use.end, "issue"));
    std::string where = use.first_half == 0               ? ""
                        : use.first_half == use.last_half ? fmt::format(" (line {})", use.first_half)
                                                          : fmt::format(" (lines {} to {})", use.first_half, use.last_half);
    return fmt::format("{} of {}{} ran with lanes off.", with_commas(use.half), counted(use.end, "issue"), where);
}

std::string base_name(const std::string& path) {
    return path.substr(path.find_last_of('/') + 1);
}

class SourceView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run || !snapshot->kernel.run->program || snapshot->kernel.run->source.empty()) {
            const Rect body = ui.panel(area, {.title = "Source"});
            return ui.say_nothing_yet(
                body, snapshot->kernel.run ? "The source of this kernel is not at hand." : "No kernel has run yet.",
                snapshot->busy.empty() ? "Its lines appear here with the issue slots that they use." : snapshot->busy);
        }
        const model::KernelRun& run = *snapshot->kernel.run;
        if (run_ != snapshot->kernel.run) {
            run_ = snapshot->kernel.run;
            lines_ = lines_of(run.source);
            seen_ = -1;
        }
        const auto history = snapshot->kernel.history;
        const Use use = history && !history->steps.empty() ? use_of(session, focus, run, *history, lines_.size())
                                                           : Use{.lines = std::vector<LineUse>(lines_.size())};
        follow(session, focus, history.get(), *run.program);
        const std::string title = "Source  " + base_name(run.program->source_file);
        const std::string right =
            history ? fmt::format("warp {} of block {}", history->warp_in_block, history->block) : std::string{};
        const std::string sentence = history ? caption_of(use) : "The warp's instructions are being recorded.";
        const Rect body =
            ui.panel(area, {.title = title, .right = right, .badge = Provenance::simulated, .caption = sentence});
        ui.push_scope("source");
        ui.text(body.x, body.y + 8, "issue slots used", {.size = 12, .color = ui.theme->quiet});
        paint(ui, focus, use, *run.program, {body.x, body.y + 16, body.w, body.h - 16});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run || !snapshot->kernel.run->program || snapshot->kernel.run->source.empty())
            return "Source: no kernel has run yet.";
        const auto lines = lines_of(snapshot->kernel.run->source);
        std::string text = fmt::format("Source (simulated), {}\n", base_name(snapshot->kernel.run->program->source_file));
        const Use use = snapshot->kernel.history
                            ? use_of(session, focus, *snapshot->kernel.run, *snapshot->kernel.history, lines.size())
                            : Use{.lines = std::vector<LineUse>(lines.size())};
        for (size_t i = 0; i < lines.size(); ++i) {
            text += fmt::format("  {}{:3}  {}", static_cast<int32_t>(i) + 1 == focus.line ? '>' : ' ', i + 1, lines[i]);
            if (use.lines[i].count > 0)
                text += fmt::format("   [{} issues, {:.1f} lanes]", use.lines[i].count,
                                    static_cast<double>(use.lines[i].lanes) / static_cast<double>(use.lines[i].count));
            text += '\n';
        }
        return text + "  " + caption_of(use) + "\n";
    }

  private:
    std::shared_ptr<const model::KernelRun> run_;
    std::vector<std::string> lines_;
    int64_t seen_ = -1;
    int32_t seen_line_ = -1;
    float seen_height_ = 0;

    // A new instruction moves the focused line; a click in another view may move it away again.
    void follow(const Session& session, Focus& focus, const simt::WarpHistory* history, const ptx::Program& program) {
        if (!history || session.sm.history_step == seen_ ||
            session.sm.history_step >= static_cast<int64_t>(history->steps.size()) || session.sm.history_step < 0)
            return;
        seen_ = session.sm.history_step;
        const uint32_t pc = history->steps[static_cast<size_t>(seen_)].pc;
        if (pc >= program.instructions.size()) return;
        focus.pc = static_cast<int32_t>(pc);
        if (program.instructions[pc].line > 0) focus.line = program.instructions[pc].line;
    }

    // Each line in the rows that it takes: a long one goes on below, further in, where there is room for all of them; else
    // at least those within the kernel, without its heading. Comments are cut instead.
    std::vector<std::vector<std::string>> pieces_for(const Rect& r, float code_x, float size) const {
        const auto fit = static_cast<size_t>(std::max(8.0f, (r.right() + 8 - code_x) / (0.6f * size)));
        std::vector<std::vector<std::string>> pieces;
        for (const bool headings : {true, false}) {
            pieces.clear();
            size_t rows = 0;
            for (const std::string& line : lines_) {
                const bool heading = line.find("__global__") != std::string::npos;
                pieces.push_back(heading && !headings ? std::vector{line} : parts_of(line, fit));
                rows += pieces.back().size();
            }
            if (static_cast<float>(rows) * line_height <= r.h) return pieces;
        }
        for (size_t i = 0; i < lines_.size(); ++i) pieces[i] = {lines_[i]};
        return pieces;
    }
    static std::vector<std::string> parts_of(const std::string& line, size_t fit) {
        std::vector<std::string> parts;
        const size_t begin = std::min(line.find_first_not_of(' '), line.size());
        std::string rest = line;
        while (rest.size() > fit && line.compare(begin, 2, "//") != 0) {
            const size_t first = rest.find_first_not_of(' '), cut = rest.rfind(' ', fit);
            if (cut == std::string::npos || cut <= first) break;
            parts.push_back(rest.substr(0, cut));
            rest = std::string(begin + 8, ' ') + rest.substr(cut + 1);
        }
        parts.push_back(rest);
        return parts;
    }

    void paint(Ui& ui, Focus& focus, const Use& use, const ptx::Program& program, const Rect& body) {
        const Theme& theme = *ui.theme;
        const Rect r{body.x, body.y, body.w, std::max(1.0f, std::floor(body.h / line_height)) * line_height};  // whole lines
        const bool resized = seen_height_ > 0 && seen_height_ != r.h;
        seen_height_ = r.h;
        if ((focus.line != seen_line_ || resized) && focus.line > 0) {
            seen_line_ = focus.line;
            const float at = static_cast<float>(focus.line - 1) * line_height;
            if (static_cast<float>(lines_.size()) * line_height > r.h)
                ui.scroll_to("lines", std::max(0.0f, std::floor((at - r.h / 2) / line_height) * line_height));
        }
        const float offset = ui.scroll_lines("lines", {r.x, r.y, r.w + 10, r.h}, lines_.size(), line_height);
        ui.clip({r.x - 11, r.y, r.w + 22, r.h});
        // A font step smaller when the longest line would not fit, and less room for the issue slots.
        size_t longest = 0;
        for (const std::string& line : lines_)
            if (const size_t text = line.find_first_not_of(' '); line.compare(std::min(text, line.size()), 2, "//") != 0)
                longest = std::max(longest, line.size());  // comments may be cut
        const bool narrow = static_cast<float>(longest) * 7.3f > r.w + 8 - wide_gutter;
        const float code_x = r.x + (narrow ? low_gutter : wide_gutter);
        const float size = static_cast<float>(longest) * 8.4f > r.right() - code_x
                               ? static_cast<float>(longest) * 7.8f > r.right() + 6 - code_x ? 12.0f : 13.0f
                               : 14.0f;
        const std::vector<std::vector<std::string>> pieces = pieces_for(r, code_x, size);
        float next = r.y - offset;
        for (size_t i = 0; i < lines_.size(); ++i) {
            const float y = next, high = line_height * static_cast<float>(pieces[i].size());
            next += high;
            if (y + high <= r.y || y >= r.bottom()) continue;
            const auto number = static_cast<int32_t>(i) + 1;
            const bool on = number == focus.line;
            const Rect row{r.x - 11, y, r.w + 22, high};
            if (on) {
                ui.rect(row, theme.selected);
                ui.rect({row.x, y, 3, high}, theme.accent);
            }
            draw_use(ui, use.lines[i], r.x, y, narrow);
            if (use.lines[i].path >= 0) {
                const PathCode code = path_code(static_cast<size_t>(use.lines[i].path));
                ui.hatch({code_x - 8, y, 3, high}, code.color, code.hatch);
            }
            ui.text(code_x - 16, y + 17, std::to_string(number),
                    {.size = 13, .color = on ? theme.ink : theme.quiet, .align = Align::right, .mono = true});
            for (size_t piece = 0; piece < pieces[i].size(); ++piece)
                draw_code(ui, code_x, y + 17 + line_height * static_cast<float>(piece), pieces[i][piece], size,
                          r.right() + 8 - code_x);
            if (!ui.clicked({row.x, row.y, row.w - 8, row.h})) continue;
            focus.line = seen_line_ = number;
            for (size_t pc = 0; pc < program.instructions.size(); ++pc)
                if (program.instructions[pc].line == number) {
                    focus.pc = static_cast<int32_t>(pc);
                    break;
                }
        }
        ui.unclip();
    }

    static void draw_use(Ui& ui, const LineUse& use, float x, float y, bool narrow) {
        if (use.count == 0) return;
        const bool listed = use.count <= (narrow ? 1 : 3);
        const float wide = narrow ? 14 : 24;
        const size_t boxes = listed ? use.issues.size() : 1;
        for (size_t i = 0; i < boxes; ++i) {
            const auto& [path, lanes] = use.issues[i];
            const float share =
                listed ? static_cast<float>(lanes) / 32 : static_cast<float>(use.lanes) / static_cast<float>(32 * use.count);
            const PathCode code = path_code(path);
            const Rect box{x + (wide + 2) * static_cast<float>(i), y + 6, wide, 12};
            ui.hatch({box.x, box.y, wide * share, 12}, code.color, code.hatch);
            ui.frame(box, code.color);
        }
        if (!listed)
            ui.text(x + wide + (narrow ? 2 : 6), y + 17,
                    use.count < 1000 ? fmt::format("x{}", use.count) : fmt::format("x{}k", use.count / 1000),
                    {.size = 12, .color = ui.theme->ink2, .mono = true, .width = narrow ? 30.0f : 40.0f});
    }
};

}  // namespace

std::unique_ptr<View> make_source_view() {
    return std::make_unique<SourceView>();
}

}  // namespace lockstep::gui
