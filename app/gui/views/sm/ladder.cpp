// The latency ladder: a bar a source line that loads, from the issue of the load until its value may be read, on a
// logarithmic scale; the dot is the median, the thin line goes from the shortest to the longest. A click goes to the line.
#include "app/gui/views/sm/ladder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "app/gui/view.h"
#include "app/gui/views/sm/warp_facts.h"

namespace lockstep::gui {
namespace {

std::string where_of(ptx::Space space, MemoryLevel level, int64_t cycles, const model::GpuSpec& gpu) {
    if (level == MemoryLevel::none) return space == ptx::Space::param ? "parameter" : "constant cache";
    const bool cached = level == MemoryLevel::l1 || level == MemoryLevel::l2 || level == MemoryLevel::dram;
    if (!cached) return std::string(name_of(level));
    return fmt::format("{}{}", space == ptx::Space::local ? "local, " : "", served_by(level, cycles, gpu));
}

struct Samples {
    std::vector<int64_t> cycles;
    std::map<std::string, int64_t> where;  // how often each level served it
};

LadderRow row_of_samples(int32_t line, Samples& samples) {
    LadderRow row;
    row.line = line;
    std::sort(samples.cycles.begin(), samples.cycles.end());
    row.count = static_cast<int64_t>(samples.cycles.size());
    row.least = samples.cycles.front();
    row.longest = samples.cycles.back();
    row.median = samples.cycles[samples.cycles.size() / 2];
    int64_t most = 0;
    for (const auto& [where, count] : samples.where)
        if (count > most) most = count, row.where = where;
    return row;
}

// What all loads of the line read; empty: they are of several things, or it is not certain.
std::string read_on(const model::KernelRun& run, int32_t line) {
    std::string what;
    const auto& instructions = run.program->instructions;
    for (uint32_t pc = 0; pc < instructions.size(); ++pc) {
        const ptx::DecodedInstruction& one = instructions[pc];
        if (one.kind != ptx::Kind::load || one.line != line || one.space == ptx::Space::param) continue;
        const std::string read = loaded_by(*run.program, run.source, pc);
        if (read.empty() || (!what.empty() && what != read)) return {};
        what = read;
    }
    return what;
}

std::string caption_of(const std::vector<LadderRow>& rows) {
    if (rows.size() < 2) return "No load has run on the traced SM.";
    const LadderRow &first = rows.front(), &last = rows.back();
    return fmt::format("From {} to {}: {} cycles or {}, {:.0f} times as long.", first.where, last.where, first.median,
                       last.median,
                       static_cast<double>(last.median) / static_cast<double>(std::max<int64_t>(1, first.median)));
}

class LadderView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run || snapshot->kernel.run->result.trace.issues.empty()) {
            const Rect body = ui.panel(area, {.title = "Latency ladder"});
            return ui.say_nothing_yet(body, "No kernel has run yet.", "Each line that loads becomes a rung here.");
        }
        if (run_ != snapshot->kernel.run) {
            run_ = snapshot->kernel.run;
            ladder_ = ladder_of(*run_);
        }
        arrange(session);
        // Where rungs are asked about the others may be seen; where something else is, none.
        const bool hidden = session.learn.reveal_steps >= 0 && asked_.empty();
        const std::string sentence = hidden ? "The rungs stay hidden until you lock an answer."
                                     : asked_.empty()
                                         ? caption_of(rows_)
                                         : "Rungs that open questions ask about stay hidden until they are answered.";
        const std::string right = fmt::format("SM {} of {}", run_->result.trace.sm, run_->gpu.title);
        const Rect body =
            ui.panel(area, {.title = "Latency ladder", .right = right, .badge = Provenance::simulated, .caption = sentence});
        ui.push_scope("ladder");
        if (hidden) {
            ui.dashed(body, ui.theme->ink3);
            ui.text(body.x + body.w / 2, body.y + body.h / 2, "Hidden until you lock an answer.",
                    {.size = 13, .color = ui.theme->ink2, .align = Align::center});
        } else {
            draw_rows(ui, focus, body);
        }
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run) return "Latency ladder: no kernel has run yet.";
        const std::vector<LadderRow> rows = ladder_of(*snapshot->kernel.run);
        const bool asked =
            std::any_of(rows.begin(), rows.end(), [&](const LadderRow& row) { return tells_of_asked(session, rows, row); });
        if (session.learn.reveal_steps >= 0 && !asked)
            return "Latency ladder (simulated): hidden until you lock an answer.\n";
        std::string text = fmt::format("Latency ladder (simulated), SM {}\n", snapshot->kernel.run->result.trace.sm);
        bool open = false;
        for (const LadderRow& row : rows)
            if (tells_of_asked(session, rows, row)) {
                open = true;
                text += fmt::format("  {}{}: hidden until a question about it is answered\n",
                                    row.line > 0 ? fmt::format("line {}, ", row.line) : "", row.what);
            } else
                text += fmt::format("  {}{}: {}, median {} cycles ({} to {}), {} times\n",
                                    row.line > 0 ? fmt::format("line {}, ", row.line) : "", row.what, row.where, row.median,
                                    row.least, row.longest, row.count);
        return open ? text : text + "  " + caption_of(rows) + "\n";
    }

  private:
    std::shared_ptr<const model::KernelRun> run_;
    std::vector<LadderRow> ladder_, rows_;  // as the run has it; as it is drawn
    std::vector<int32_t> asked_;            // lines of rows_ that an open question asks about

    static bool is_asked(const Session& session, const LadderRow& row) {
        return row.line > 0 && row.where != "registers" ? asks_for(session, fmt::format("load_latency@line:{}", row.line))
                                                        : asks_for(session, "fp32_latency");
    }
    // Another line that the same memory serves would tell what is asked.
    static bool tells_of_asked(const Session& session, const std::vector<LadderRow>& rows, const LadderRow& row) {
        return std::any_of(rows.begin(), rows.end(),
                           [&](const LadderRow& other) { return other.where == row.where && is_asked(session, other); });
    }
    // Their order tells too: those asked about come last, as they stand in the source.
    void arrange(const Session& session) {
        rows_.clear();
        asked_.clear();
        std::vector<LadderRow> last;
        for (const LadderRow& row : ladder_) (tells_of_asked(session, ladder_, row) ? last : rows_).push_back(row);
        std::stable_sort(last.begin(), last.end(), [](const LadderRow& a, const LadderRow& b) { return a.line < b.line; });
        for (LadderRow& row : last) {
            asked_.push_back(row.line);
            rows_.push_back(std::move(row));
        }
    }

    void draw_rows(Ui& ui, Focus& focus, const Rect& r) {
        const Theme& theme = *ui.theme;
        // The names stand whole: beside the memory that serves them, else above it, where the rungs are far enough apart.
        float widest_what = 0, widest_where = 0;
        for (size_t i = 0; i < rows_.size(); ++i) {
            widest_what = std::max(widest_what, ui.text_width(rows_[i].what, {.size = 13, .mono = true}));
            if (i + asked_.size() < rows_.size())  // of the others the width would tell
                widest_where = std::max(widest_where, ui.text_width(rows_[i].where, {.size = 12}));
        }
        const float each = (r.h - 30) / static_cast<float>(std::max<size_t>(1, rows_.size()));
        const float beside = widest_what + widest_where + 24, most_label = r.w * 0.54f, number = 92;
        const bool stacked = beside > most_label && each >= 36;
        const float label = std::min(stacked ? std::max(widest_what, widest_where) + 12 : beside, most_label);
        const float where_at = std::max(label - widest_where - 12, label * 0.48f);
        const Rect plot{r.x + label, r.y + 24, r.w - label - number, r.h - 30};
        int64_t most = 100;
        if (asked_.empty())  // else the scale would tell how far the longest goes
            for (const LadderRow& row : rows_) most = std::max(most, row.longest);
        else
            most = 1000;
        const double decades = std::ceil(std::log10(static_cast<double>(most)) * 2) / 2;
        const auto x_of = [&](double cycles) {
            return plot.x + plot.w * static_cast<float>(std::log10(std::max(1.0, cycles)) / decades);
        };
        for (int64_t t = 1; static_cast<double>(t) <= std::pow(10, decades) * 1.001; t *= 10) {
            ui.rect({x_of(static_cast<double>(t)), plot.y, 1, plot.h}, theme.grid);
            ui.text(x_of(static_cast<double>(t)), r.y + 15, with_commas(t),
                    {.size = 12, .color = theme.quiet, .align = Align::center, .mono = true});
        }
        ui.text(r.right(), r.y + 15, "cycles", {.size = 12, .color = theme.quiet, .align = Align::right});
        const float pitch = std::max(26.0f, std::min(44.0f, plot.h / static_cast<float>(std::max<size_t>(1, rows_.size()))));
        const Rect view{r.x - 4, plot.y, r.w + 14, plot.h};
        const float content = pitch * static_cast<float>(rows_.size());
        const float up = content > view.h ? ui.scroll("rows", view, content) : 0;
        if (content + 14 <= view.h && asked_.size() < rows_.size())
            ui.text(r.x, view.bottom(), "dot: median; line: shortest to longest; powers of ten",
                    {.size = 12, .color = theme.quiet, .width = r.w});
        ui.clip(view);
        float y = plot.y - up;
        size_t place = 0;
        for (const LadderRow& row : rows_) {
            const bool asked = place++ >= rows_.size() - asked_.size();
            const Rect line{r.x - 4, y, r.w + 8, pitch - 2};
            if (row.line > 0 && row.line == focus.line) ui.rect(line, theme.selected);
            const float middle = y + pitch / 2 - 1;
            ui.text(r.x, stacked && !asked ? middle - 3 : middle + 5, row.what,
                    {.size = 13, .mono = true, .width = (stacked ? label : where_at) - 8});
            if (asked) {
                ui.text(r.right(), middle + 5, "?", {.size = 14, .color = theme.quiet, .align = Align::right});
                if (row.line > 0 && ui.clicked(line)) focus.line = row.line;
                y += pitch;
                continue;
            }
            ui.text(stacked ? r.x : r.x + where_at, stacked ? middle + 13 : middle + 5, row.where,
                    {.size = 12, .color = theme.ink2, .width = (stacked ? label : label - where_at) - 8});
            const float end = x_of(static_cast<double>(row.median));
            const float share =
                static_cast<float>(std::log10(static_cast<double>(std::max<int64_t>(1, row.median))) / decades);
            const Color tone = sequential(0.25f + 0.6f * share, theme);
            const Point stem[] = {{plot.x, middle}, {end, middle}};
            ui.polyline(stem, faded(tone, 0.7f), 2, 2, 4);
            const float low = x_of(static_cast<double>(row.least)), high = x_of(static_cast<double>(row.longest));
            ui.rect({low, middle - 1.5f, std::max(1.0f, high - low), 3}, theme.ink3);
            ui.circle({end, middle}, 6, tone);
            ui.ring({end, middle}, 6, theme.ink, 1.5f);
            ui.text(r.right(), middle + 5, with_commas(row.median), {.size = 14, .align = Align::right, .weight = 700});
            if (ui.hovered(line))
                ui.tooltip(fmt::format("{}{}: {}\n{} times, {} to {} cycles, median {}",
                                       row.line > 0 ? fmt::format("line {}, ", row.line) : "", row.what, row.where,
                                       row.count, row.least, row.longest, row.median));
            if (row.line > 0 && ui.clicked(line)) focus.line = row.line;
            y += pitch;
        }
        ui.unclip();
    }
};

}  // namespace

std::vector<LadderRow> ladder_of(const model::KernelRun& run) {
    std::vector<LadderRow> rows;
    if (!run.program) return rows;
    std::map<int32_t, Samples> by_line;
    Samples arithmetic;
    for (const IssueRecord& issue : run.result.trace.issues) {
        if (issue.pc >= run.program->instructions.size()) continue;
        const ptx::DecodedInstruction& instruction = run.program->instructions[issue.pc];
        if (instruction.kind == ptx::Kind::load && instruction.line > 0 && instruction.space != ptx::Space::param) {
            Samples& samples = by_line[instruction.line];
            const int64_t cycles = issue.ready - issue.sent();
            samples.cycles.push_back(cycles);
            ++samples.where[where_of(instruction.space, issue.level, cycles, run.gpu)];
        } else if (instruction.kind == ptx::Kind::lane_wise && !issue.folded && issue.ready > issue.cycle) {
            arithmetic.cycles.push_back(issue.ready - issue.cycle);
        }
    }
    for (auto& [line, samples] : by_line) {
        LadderRow row = row_of_samples(line, samples);
        row.what = read_on(run, line);
        if (row.what.empty()) row.what = fmt::format("line {}", line);
        rows.push_back(std::move(row));
    }
    if (!arithmetic.cycles.empty()) {
        LadderRow row = row_of_samples(0, arithmetic);
        row.what = "arithmetic";
        row.where = "registers";
        rows.push_back(std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const LadderRow& a, const LadderRow& b) { return a.median < b.median; });
    return rows;
}

std::unique_ptr<View> make_ladder_view() {
    return std::make_unique<LadderView>();
}

}  // namespace lockstep::gui
