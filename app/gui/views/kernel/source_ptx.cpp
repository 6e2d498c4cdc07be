// Source and PTX beside each other: every instruction is joined to its line, the focused pair stands out, and a column
// says how many warp-cycles the warps spent waiting in front of each instruction: in view, or in the whole kernel. A click
// sets the focus.
#include <fmt/format.h>

#include <algorithm>

#include "app/gui/view.h"
#include "app/gui/views/kernel/source_text.h"
#include "app/gui/views/sm/warp_facts.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr float ptx_line_height = 18;

// The cycles that the numbers are of, as the warp timeline's switch says.
std::pair<int64_t, int64_t> cycles_of_waits(const Session& session, const Timeline& timeline) {
    if (session.sm.whole || session.sm.cycles_end <= session.sm.cycles_begin)
        return {0, std::max<int64_t>(1, timeline.cycles)};
    return {session.sm.cycles_begin, session.sm.cycles_end};
}

std::string caption_of(const Timeline& timeline, const WindowSums& sums, const Focus& focus, bool hidden, bool whole) {
    if (hidden) return "The waits stay hidden until you lock an answer.";
    const auto most = std::max_element(sums.waits.begin(), sums.waits.end());
    if (most == sums.waits.end() || *most == 0) return "No warp in view waited in front of an instruction.";
    const bool chosen =
        focus.pc >= 0 && static_cast<size_t>(focus.pc) < sums.waits.size() && sums.waits[static_cast<size_t>(focus.pc)] > 0;
    const auto pc = static_cast<uint32_t>(chosen ? focus.pc : most - sums.waits.begin());
    return fmt::format("{} {} in front of {}.", whole ? "In the whole kernel this SM's warps spent" : "Warps in view spent",
                       counted(sums.waits[pc], "warp-cycle"), operation_of(*timeline.run->program, pc));
}

class CodeView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run || !snapshot->kernel.run->program) {
            const Rect body = ui.panel(area, {.title = "Source and PTX"});
            return ui.say_nothing_yet(body, "No kernel has run yet.",
                                      "Its CUDA lines and their PTX instructions stand side by side here.");
        }
        adopt(session, snapshot->kernel.run);
        follower_.follow(*timeline_, focus);
        const auto [begin, end] = cycles_of_waits(session, *timeline_);
        if (sums_.begin != begin || sums_.end != end || sums_.issued.empty()) sums_ = sum_window(*timeline_, begin, end);
        const bool hidden = session.learn.reveal_steps >= 0;
        const bool secret = hidden && tells(session, *timeline_->run);
        const std::string sentence =
            secret ? std::string(secret_kernel) : caption_of(*timeline_, sums_, focus, hidden, session.sm.whole);
        const Rect body = ui.panel(area, {.title = "Source and PTX",
                                          .right = secret ? std::string() : file_,
                                          .badge = Provenance::simulated,
                                          .caption = sentence});
        if (secret) {
            ui.dashed({body.x, body.y + 4, body.w, 42}, ui.theme->ink3, 3, 3);
            ui.text(body.x + body.w / 2, body.y + 30, "Hidden until you lock an answer.",
                    {.size = 13, .color = ui.theme->ink2, .align = Align::center});
            return;
        }
        ui.push_scope("code");
        paint(ui, focus, body, hidden);
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run || !snapshot->kernel.run->program) return "Source and PTX: no kernel has run yet.";
        const std::shared_ptr<const Timeline> shared = session.timeline(snapshot->kernel.run);
        const Timeline& timeline = *shared;
        const auto [begin, end] = cycles_of_waits(session, timeline);
        const WindowSums sums = sum_window(timeline, begin, end);
        const bool hidden = session.learn.reveal_steps >= 0;
        if (hidden && tells(session, *timeline.run)) return fmt::format("Source and PTX\n  {}\n", secret_kernel);
        const ptx::Program& program = *timeline.run->program;
        std::string text =
            fmt::format("Source and PTX (simulated), {}\n", std::filesystem::path(program.source_file).filename().string());
        for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
            text += fmt::format("  {} line {:3}  {}", static_cast<int32_t>(pc) == focus.pc ? '>' : ' ',
                                program.instructions[pc].line, ptx::text_of(program, pc));
            if (!hidden && sums.waits[pc] > 0) text += fmt::format("  ({} warp-cycles waited)", sums.waits[pc]);
            text += '\n';
        }
        return text + "  " + caption_of(timeline, sums, focus, hidden, session.sm.whole) + "\n";
    }

  private:
    // A kernel that fusion made says what was fused, which may be what is asked.
    static constexpr std::string_view secret_kernel = "The generated kernel waits for your answer.";
    static bool tells(const Session& session, const model::KernelRun& run) {
        const LessonState& state = session.lesson;
        if (!state.lesson || state.step < 0 || static_cast<size_t>(state.step) >= state.lesson->steps.size()) return false;
        const auto& asked = state.lesson->steps[static_cast<size_t>(state.step)].predicts;
        return std::filesystem::path(run.program->source_file).filename().string().starts_with("fused_") &&
               std::any_of(asked.begin(), asked.end(),
                           [](const auto& one) { return one.of.text().starts_with("launches"); });
    }
    std::shared_ptr<const Timeline> timeline_ = std::make_shared<const Timeline>();
    WindowSums sums_;
    FocusFollower follower_;
    std::string file_;
    std::vector<std::string> source_, ptx_;
    int32_t seen_pc_ = -2;
    float seen_height_ = 0;

    void adopt(const Session& session, const std::shared_ptr<const model::KernelRun>& run) {
        if (timeline_->run == run) return;
        timeline_ = session.timeline(run);
        sums_ = {};
        file_ = std::filesystem::path(run->program->source_file).filename().string();
        source_ = lines_of(run->source);
        for (std::string& line : source_) narrow(line);
        ptx_.clear();
        for (uint32_t pc = 0; pc < run->program->instructions.size(); ++pc)
            ptx_.push_back(tight(short_text(*run->program, pc)));
        seen_pc_ = -2;
    }

    static void narrow(std::string& line) {  // half of the indentation: the column is narrow
        const size_t text = std::min(line.find_first_not_of(' '), line.size());
        line.erase(0, text / 2);
    }

    static std::string tight(const std::string& text) {  // no space behind a comma, nor two in a row
        std::string out;
        for (const char c : text) {
            const bool space = c == ' ' || c == '\t';
            if (space && !out.empty() && (out.back() == ' ' || out.back() == ',')) continue;
            out += space ? ' ' : c;
        }
        return out;
    }

    // The two columns, and how far each is scrolled.
    struct Columns {
        Rect body, lines, rows;
        bool with_source = false;
        float source_at = 0, ptx_at = 0;

        bool stacked = false;  // the source above the PTX, where the two are too narrow beside each other

        float line_y(int32_t line) const { return lines.y + static_cast<float>(line - 1) * ptx_line_height - source_at; }
        float row_y(size_t pc) const { return rows.y + static_cast<float>(pc) * ptx_line_height - ptx_at; }
        static bool seen(const Rect& in, float y) { return y > in.y - 1 && y + ptx_line_height <= in.bottom() + 1; }
        bool sees_line(int32_t line) const { return seen(lines, line_y(line)); }
        bool sees_row(size_t pc) const { return seen(rows, row_y(pc)); }
    };

    // Brings the focused pair to the middle; before anything is focused, the marked line, else where the kernel begins.
    void follow(Ui& ui, const Focus& focus, const Columns& at) {
        const bool resized = seen_height_ > 0 && seen_height_ != at.body.h;
        seen_height_ = at.body.h;
        const float marked = static_cast<float>(focus.line - 1) * ptx_line_height - at.lines.h * 0.4f;
        if ((focus.pc != seen_pc_ || resized) && focus.pc >= 0) {
            seen_pc_ = focus.pc;
            if (focus.line > 0) ui.scroll_to("source", std::max(0.0f, marked));
            ui.scroll_to("ptx", std::max(0.0f, static_cast<float>(focus.pc) * ptx_line_height - at.rows.h * 0.55f));
        } else if (focus.pc < 0 && seen_pc_ == -2) {
            seen_pc_ = -1;
            const auto& instructions = timeline_->run->program->instructions;
            const auto first =
                std::find_if(instructions.begin(), instructions.end(), [](const auto& d) { return d.line > 0; });
            const float begin = static_cast<float>((first == instructions.end() ? 1 : first->line) - 2) * ptx_line_height;
            ui.scroll_to("source", std::max(0.0f, focus.line > 0 ? marked : begin));
            ui.scroll_to("ptx", 0);
        }
    }

    void place(Columns& at, const Rect& body) const {
        constexpr float least_beside = 480, least_stacked = 460;  // width, height
        at.stacked = at.with_source && body.w < least_beside && body.h >= least_stacked;
        if (at.stacked) {
            const float all = static_cast<float>(source_.size()) * ptx_line_height,
                        most = std::floor((body.h - 50) * 0.5f / ptx_line_height) * ptx_line_height;
            at.lines = {body.x, body.y + 14, body.w, std::min(all, most)};
            const float below = at.lines.bottom() + 32;
            at.rows = {body.x + 8, below, body.w - 8, body.bottom() - below};
            return;
        }
        const float left = at.with_source ? body.w * 0.5f : 0, bridge = at.with_source ? 20.0f : 0.0f;
        at.lines = {body.x, body.y + 14, left, body.h - 14};
        at.rows = {body.x + left + bridge, body.y + 14, body.w - left - bridge, body.h - 14};
    }

    void paint(Ui& ui, Focus& focus, const Rect& body, bool hidden) {
        const Theme& theme = *ui.theme;
        Columns at{.body = body, .lines = {}, .rows = {}, .with_source = !source_.empty()};
        place(at, body);
        ui.text(body.x + 26, body.y + 6, at.with_source ? "source" : "", {.size = 12, .color = theme.quiet});
        ui.text(at.rows.x, at.rows.y - 8, "PTX", {.size = 12, .color = theme.quiet});
        ui.text(at.rows.right() - 8, at.rows.y - 8, "warp-cycles waited",
                {.size = 12, .color = theme.quiet, .align = Align::right});
        follow(ui, focus, at);
        at.source_at = ui.scroll_lines("source", at.lines, source_.size(), ptx_line_height);
        at.ptx_at = ui.scroll_lines("ptx", {at.rows.x, at.rows.y, at.rows.w + 9, at.rows.h}, ptx_.size(), ptx_line_height);
        if (at.with_source && focus.line > 0 && at.sees_line(focus.line))
            ui.rect({at.lines.x - 4, at.line_y(focus.line), at.lines.w, ptx_line_height}, theme.selected, 2);
        int64_t most = 1;
        for (int64_t w : sums_.waits) most = std::max(most, w);
        // The column is as wide as its widest number, once numbers may be seen.
        const TextStyle digits{.size = 12, .align = Align::right, .mono = true};
        const float column = hidden ? 44.0f : std::max(44.0f, ui.text_width(with_commas(most), digits) + 4);
        for (size_t pc = 0; pc < ptx_.size(); ++pc) {
            if (!at.sees_row(pc)) continue;
            draw_instruction(ui, focus, at, pc, hidden ? 0 : column);
            if (!hidden) draw_waits(ui, focus, at, pc, column, most);
            point_at_instruction(ui, focus, at, pc);
        }
        for (size_t i = 0; i < source_.size(); ++i)
            if (at.sees_line(static_cast<int32_t>(i) + 1)) draw_line(ui, focus, at, i);
    }

    void draw_instruction(Ui& ui, const Focus& focus, const Columns& at, size_t pc, float column) const {
        const Theme& theme = *ui.theme;
        const Rect& rows = at.rows;
        const float y = at.row_y(pc);
        const int32_t line = timeline_->run->program->instructions[pc].line;
        const bool on = static_cast<int32_t>(pc) == focus.pc, sibling = !on && line == focus.line && focus.line > 0;
        if (on) ui.rect({rows.x - 6, y, rows.w + 2, ptx_line_height}, theme.selected, 2);
        if (at.with_source && !at.stacked && line > 0 && at.sees_line(line))
            ui.line({at.lines.right() - (on ? 4.0f : 2.0f), at.line_y(line) + 9}, {rows.x - (on ? 6.0f : 8.0f), y + 9},
                    on || sibling ? theme.accent : theme.line, on ? 2.0f : 1.0f);
        ui.text(rows.x, y + 13, ptx_[pc],
                {.size = 12,
                 .color = on || sibling ? theme.ink : theme.ink2,
                 .weight = on ? 700 : 400,
                 .mono = true,
                 .width = rows.w - 12 - column});
    }

    void draw_waits(Ui& ui, const Focus& focus, const Columns& at, size_t pc, float column, int64_t most) const {
        if (pc >= sums_.waits.size() || sums_.waits[pc] <= 0) return;
        const Theme& theme = *ui.theme;
        const float y = at.row_y(pc), right = at.rows.right() - 8;
        const float share = static_cast<float>(sums_.waits[pc]) / static_cast<float>(most);
        if (column * share >= 4)  // a shorter one reads as a comma
            ui.rect({right - column * share, y + 16, column * share, 1}, faded(data::orange, 0.9f));
        ui.text(right, y + 13, with_commas(sums_.waits[pc]),
                {.size = 12,
                 .color = static_cast<int32_t>(pc) == focus.pc ? theme.ink : theme.quiet,
                 .align = Align::right,
                 .mono = true});
    }

    void point_at_instruction(Ui& ui, Focus& focus, const Columns& at, size_t pc) {
        const ptx::DecodedInstruction& instruction = timeline_->run->program->instructions[pc];
        const Rect row{at.rows.x - 6, at.row_y(pc), at.rows.w - 8, ptx_line_height};
        if (ui.hovered(row)) {
            ui.frame(row, ui.theme->ink3);
            if (instruction.opcode) ui.tooltip(fmt::format("{}\n{}", ptx_[pc], instruction.opcode->summary));
        }
        if (ui.clicked(row)) choose(focus, static_cast<int32_t>(pc), instruction.line);
    }

    void draw_line(Ui& ui, Focus& focus, const Columns& at, size_t i) {
        const auto line = static_cast<int32_t>(i) + 1;
        const float y = at.line_y(line);
        ui.text(at.lines.x + 16, y + 13, std::to_string(line),
                {.size = 12,
                 .color = line == focus.line ? ui.theme->ink : ui.theme->quiet,
                 .align = Align::right,
                 .mono = true});
        draw_code(ui, at.lines.x + 26, y + 13, source_[i], 12, at.lines.w - 34);
        if (!ui.clicked({at.lines.x - 4, y, at.lines.w - 8, ptx_line_height})) return;
        const auto& instructions = timeline_->run->program->instructions;
        const auto first =
            std::find_if(instructions.begin(), instructions.end(), [&](const auto& d) { return d.line == line; });
        if (first != instructions.end()) choose(focus, static_cast<int32_t>(first - instructions.begin()), line);
    }

    // What was clicked is in sight already: no scrolling.
    void choose(Focus& focus, int32_t pc, int32_t line) {
        focus.pc = seen_pc_ = pc;
        focus.line = line;
    }
};

}  // namespace

std::unique_ptr<View> make_code_view() {
    return std::make_unique<CodeView>();
}

}  // namespace lockstep::gui
