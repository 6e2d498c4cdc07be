// Who comes first: what the warps of a block write into shared memory and read from it, which of it a barrier puts in order,
// and when it happened in this run. Where racecheck found a pair that nothing orders, that pair is shown; else the first and
// the last warp. Beside a second run (compare=) both are drawn. While a prediction is open, the source alone is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "app/gui/view.h"
#include "app/gui/views/kernel/source_text.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr uint32_t most_warps = 8;

struct Step {  // of one warp, the first time
    int32_t line = 0;
    int64_t cycle = -1;
};
struct WarpPart {
    uint32_t warp = 0;
    std::optional<Step> write, read;          // of shared memory
    int64_t wait_from = -1, wait_until = -1;  // at the barrier
};
struct Exchange {
    std::vector<WarpPart> warps;            // of the first block of the traced SM
    int32_t write_line = 0, read_line = 0;  // the pair that is looked at; the read's line may be the earlier one
    std::vector<int32_t> barriers;          // lines
    uint32_t writer = 0, reader = 0;        // warps
    const simt::Fault* race = nullptr;
    bool reads_first() const { return read_line > 0 && read_line < write_line; }
    int32_t first_line() const { return reads_first() ? read_line : write_line; }
    int32_t second_line() const { return reads_first() ? write_line : read_line; }
    bool ordered() const {
        return race == nullptr && std::any_of(barriers.begin(), barriers.end(),
                                              [&](int32_t b) { return b > first_line() && b < second_line(); });
    }
    const WarpPart* part(uint32_t warp) const {
        for (const WarpPart& one : warps)
            if (one.warp == warp) return &one;
        return nullptr;
    }
};

bool of_shared(const ptx::DecodedInstruction& in) {
    return in.space == ptx::Space::shared &&
           (in.kind == ptx::Kind::load || in.kind == ptx::Kind::store || in.kind == ptx::Kind::atomic);
}

Exchange exchange_of(const model::KernelRun& run) {
    Exchange found;
    const auto& instructions = run.program->instructions;
    const KernelTrace& trace = run.result.trace;
    for (const ptx::DecodedInstruction& in : instructions)
        if (in.kind == ptx::Kind::barrier && std::count(found.barriers.begin(), found.barriers.end(), in.line) == 0)
            found.barriers.push_back(in.line);
    for (const simt::Fault& report : run.result.reports)
        if (report.kind == "racecheck" && !report.other_file.empty() && found.race == nullptr) found.race = &report;
    if (found.race != nullptr) {  // which of the two writes; of two writes the earlier line
        const auto reads = [&](uint32_t pc) { return pc < instructions.size() && instructions[pc].kind == ptx::Kind::load; };
        const bool earlier = found.race->line <= found.race->other_line;
        const bool own = reads(found.race->pc) == reads(found.race->other_pc) ? earlier : !reads(found.race->pc);
        found.write_line = own ? found.race->line : found.race->other_line;
        found.read_line = own ? found.race->other_line : found.race->line;
    }
    const uint32_t block = trace.warps.empty() ? 0 : trace.warps.front().block;
    for (const WarpTrack& track : trace.warps) {
        if (track.block != block || found.warps.size() == most_warps) continue;
        WarpPart part;
        part.warp = track.warp_in_block;
        for (const uint32_t at : track.issues) {
            const IssueRecord& issue = trace.issues[at];
            if (issue.pc >= instructions.size()) continue;
            const ptx::DecodedInstruction& in = instructions[issue.pc];
            if (!of_shared(in)) continue;
            std::optional<Step>& step = in.kind == ptx::Kind::load ? part.read : part.write;
            const int32_t wanted = in.kind == ptx::Kind::load ? found.read_line : found.write_line;
            if (found.race != nullptr && in.line != wanted) continue;
            if (!step && issue.active != 0) step = Step{in.line, issue.cycle};
        }
        for (const StallRun& wait : track.runs)
            if (wait.reason == StallReason::barrier && part.wait_from < 0)
                part.wait_from = wait.begin, part.wait_until = wait.end;
        found.warps.push_back(part);
    }
    std::sort(found.warps.begin(), found.warps.end(), [](const auto& a, const auto& b) { return a.warp < b.warp; });
    if (found.warps.empty()) return found;
    found.writer = found.warps.back().warp, found.reader = found.warps.front().warp;
    if (found.race == nullptr)
        for (const WarpPart& part : found.warps) {
            if (part.write) found.write_line = part.write->line;
            if (part.read) found.read_line = part.read->line;
        }
    if (found.race != nullptr) {
        const auto warp = [&](const simt::Dim3& t) {
            return (t.x + run.config.block.x * (t.y + run.config.block.y * t.z)) / simt::warp_size;
        };
        const bool own = found.write_line == found.race->line;
        found.writer = warp(own ? found.race->thread : found.race->other_thread);
        found.reader = warp(own ? found.race->other_thread : found.race->thread);
    }
    return found;
}

// When the last warp has come to the barrier; -1: none waited there.
int64_t opens_at(const Exchange& it) {
    int64_t at = -1;
    for (const WarpPart& part : it.warps) at = std::max(at, part.wait_until);
    return at;
}

std::string headline(const Exchange& it) {
    if (it.race != nullptr) return fmt::format("Nothing orders lines {} and {}: a race", it.first_line(), it.second_line());
    if (it.write_line == 0 || it.read_line == 0) return "No number is handed over in shared memory";
    return it.ordered() ? "Every write comes before every read" : "No pair of warps meets in one place";
}

std::string sentence(const Exchange& it) {
    const WarpPart *writer = it.part(it.writer), *reader = it.part(it.reader);
    if (it.race != nullptr && writer && reader && writer->write && reader->read)
        return fmt::format(
            "Warp {} wrote in cycle {}, warp {} read in cycle {}: in this run. Another day may turn it round.", it.writer,
            writer->write->cycle, it.reader, reader->read->cycle);
    if (it.race != nullptr) return "Racecheck names the pair in either order: it asks what is ordered, not what came out.";
    if (it.ordered() && opens_at(it) >= 0)
        return fmt::format("The barrier on line {} opens in cycle {}, when the last warp has come; only then does one read.",
                           it.barriers.front(), opens_at(it));
    return "The lines that write into shared memory and read from it stand in the source.";
}

Color colour_of(uint32_t warp) {
    static constexpr std::array colours = {data::sky, data::yellow, data::lanes, data::orange};
    return colours[warp % colours.size()];
}

void warp_sign(Ui& ui, const Rect& box, uint32_t warp) {
    ui.rect(box, colour_of(warp), 3);
    ui.text(box.x + box.w / 2, box.y + box.h / 2 + 5, fmt::format("w{}", warp),
            {.size = 12, .color = text_on(colour_of(warp)), .align = Align::center, .weight = 700});
}

class ExchangeView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const std::shared_ptr<const model::KernelRun>& run = snapshot->kernel.run;
        if (!run || !run->program || run->result.trace.issues.empty()) {
            const Rect body = ui.panel(area, {.title = "Who comes first"});
            return ui.say_nothing_yet(body, "No kernel has run yet.", "What warps hand each other is drawn here.");
        }
        if (run_ != run) run_ = run, own_ = exchange_of(*run);
        if (beside_ != snapshot->kernel.other) {
            beside_ = snapshot->kernel.other;
            other_ = beside_ && beside_->program ? exchange_of(*beside_) : Exchange();
        }
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string says =
            hidden ? "What is ordered, and when it ran, stays hidden until you lock an answer."
                   : fmt::format("{}. Cycles are those of SM {}, as simulated.", headline(own_), run->result.trace.sm);
        const Rect body = ui.panel(area, {.title = "Who comes first",
                                          .right = counted(own_.warps.size(), "warp") + " of block 0",
                                          .badge = Provenance::simulated,
                                          .caption = says});
        ui.push_scope("exchange");
        float y = body.y + 2;
        if (!hidden) {
            ui.text(body.x, y + 22, headline(own_),
                    {.size = 20,
                     .color = own_.race != nullptr ? ui.theme->wrong : ui.theme->ink,
                     .weight = 700,
                     .width = body.w});
            ui.text(body.x, y + 44, sentence(own_), {.size = 14, .color = ui.theme->ink2, .width = body.w});
            y += 58;
        }
        const float below = hidden ? 0.0f : when_height();
        const float cards = std::max(hidden ? 120.0f : least_cards, body.bottom() - y - below - (hidden ? 8.0f : 40.0f));
        const float code = body.w < 700 && hidden ? body.w : std::min(hidden ? 520.0f : 400.0f, body.w * 0.42f);
        draw_code_box(ui, {body.x, y, code, std::min(cards, 330.0f)}, hidden);
        if (hidden) {
            const Rect rest{body.x + code + 12, y, body.w - code - 12, std::min(cards, 330.0f)};
            if (rest.w > 280) draw_card(ui, rest, own_, "Which comes first?", true);
            return ui.pop_scope();
        }
        const bool both = beside_ != nullptr && body.w > 900;
        const float w = (body.w - code - 12 - (both ? 12 : 0)) / (both ? 2 : 1), x = body.x + code + 12;
        draw_card(ui, {x, y, w, std::min(cards, 330.0f)}, own_, both ? "This kernel" : "Which comes first?");
        if (both) draw_card(ui, {x + w + 12, y, w, std::min(cards, 330.0f)}, other_, "Beside it: " + beside_->program->name);
        y += std::min(cards, 330.0f) + 8;
        draw_when(ui, {body.x, y, body.w, body.bottom() - y - 28});
        draw_legend(ui, body);
        ui.pop_scope();
    }

    float needs(Ui&, Session& session, Focus&, const Rect&) override {
        return session.learn.reveal_steps >= 0 ? 300.0f : least_cards + 210.0f + when_height();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run || !snapshot->kernel.run->program) return "Who comes first: no kernel has run yet.";
        if (session.learn.reveal_steps >= 0) return "Who comes first (simulated): hidden until you lock an answer.\n";
        const Exchange it = exchange_of(*snapshot->kernel.run);
        std::string text = fmt::format("Who comes first (simulated)\n  {}\n  {}\n", headline(it), sentence(it));
        for (const WarpPart& part : it.warps) {
            text += fmt::format("  warp {}:", part.warp);
            if (part.write) text += fmt::format(" line {} writes in cycle {}", part.write->line, part.write->cycle);
            if (part.wait_from >= 0) text += fmt::format(", waits from {} to {}", part.wait_from, part.wait_until);
            if (part.read) text += fmt::format(", line {} reads in cycle {}", part.read->line, part.read->cycle);
            text += "\n";
        }
        return text;
    }

  private:
    std::shared_ptr<const model::KernelRun> run_, beside_;
    Exchange own_, other_;

    static constexpr float least_cards = 190;  // both warps, and what stands between them

    float when_height() const { return 58 + static_cast<float>(own_.warps.size()) * (beside_ ? 44.0f : 30.0f) + 26; }

    void draw_code_box(Ui& ui, const Rect& box, bool hidden) const {
        const Theme& theme = *ui.theme;
        ui.rect(box, theme.code, 5);
        ui.frame(box, theme.line, 1, 5);
        std::vector<std::string> lines = lines_of(run_->source);
        while (!lines.empty() && lines.back().empty()) lines.pop_back();
        const bool gap = !hidden && own_.race != nullptr && own_.write_line > 0;
        const float pitch = 24;
        const auto most = static_cast<size_t>(std::max(1.0f, (box.h - 12) / pitch)) - (gap ? 1 : 0);
        const auto first = static_cast<size_t>(std::max(0, own_.first_line() - 4));
        const size_t begin = lines.size() <= most ? 0 : std::min(first, lines.size() - most);
        float y = box.y + 6;
        for (size_t i = begin; i < std::min(lines.size(), begin + most); ++i, y += pitch) {
            const auto line = static_cast<int32_t>(i) + 1;
            const bool barrier = std::count(own_.barriers.begin(), own_.barriers.end(), line) > 0;
            const std::string_view tag = barrier                                             ? "barrier"
                                         : line == own_.write_line && line == own_.read_line ? "reads, writes"
                                         : line == own_.write_line                           ? "writes"
                                         : line == own_.read_line                            ? "reads"
                                                                                             : "";
            if (barrier) ui.hatch({box.x + 36, y, box.w - 42, pitch - 2}, data::purple, Hatch::cross);
            ui.text(box.x + 28, y + 17, std::to_string(line),
                    {.size = 12, .color = theme.ink2, .align = Align::right, .mono = true});
            float right = box.right() - 8;
            if (!tag.empty()) {
                const float w = ui.text_width(tag, {.size = 12}) + 12;
                ui.rect({right - w, y + 2, w, 19}, theme.selected, 3);
                ui.text(right - w + 6, y + 16, tag, {.size = 12});
                right -= w + 6;
            }
            if (barrier) ui.rect({box.x + 40, y + 1, std::min(176.0f, right - box.x - 42), pitch - 4}, theme.code, 3);
            draw_code(ui, box.x + 44, y + 17, lines[i], 13, right - box.x - 48);
            if (gap && line == own_.first_line()) {
                y += pitch;
                ui.dashed({box.x + 40, y + 1, box.w - 50, pitch - 4}, theme.wrong);
                ui.text(box.x + box.w / 2, y + 16, "no barrier stands here",
                        {.size = 12, .color = theme.wrong, .align = Align::center, .weight = 600});
            }
        }
    }

    static void draw_node(Ui& ui, const Rect& box, int32_t line, std::string_view what, Color edge, float width) {
        ui.rect(box, ui.theme->panel, 4);
        ui.frame(box, edge, width, 4);
        ui.text(box.x + box.w / 2, box.y + box.h / 2 + 5, fmt::format("line {} {}", line, what),
                {.size = 12, .align = Align::center, .weight = 600, .width = box.w - 8});
    }

    // Both warps with what they do one after the other, and the barrier across them.
    static void draw_card(Ui& ui, const Rect& card, const Exchange& it, std::string_view title, bool hidden = false) {
        const Theme& theme = *ui.theme;
        ui.rect(card, theme.panel2, 5);
        ui.frame(card, theme.line, 1, 5);
        const bool race = it.race != nullptr && !hidden, ordered = it.ordered() && !hidden;
        const std::string_view verdict = race && it.reads_first() ? "the write may come first"
                                         : race                   ? "the read may come first"
                                         : ordered                ? "the write is first, always"
                                                                  : "";
        const float room = card.w - 24, words = ui.text_width(verdict, {.size = 12, .weight = 600});
        ui.text(card.x + 12, card.y + 20, title, {.size = 13, .weight = 600, .width = room - words - 12});
        ui.text(card.right() - 12, card.y + 20, verdict,
                {.size = 12, .color = race ? theme.wrong : theme.right, .align = Align::right, .weight = 600});
        if (it.write_line == 0 || it.read_line == 0) return;
        const float gap = ordered ? 60.0f : 30.0f, node = std::min(130.0f, (card.w - 58 - gap) / 2), h = 40;
        const float x1 = card.x + 48, x2 = x1 + node + gap, top = card.y + 40, low = card.bottom() - 34 - h;
        const bool turned = it.reads_first();
        const std::array rows = {std::pair{turned ? it.reader : it.writer, top},
                                 std::pair{turned ? it.writer : it.reader, low}};
        const std::string_view does[] = {turned ? "reads" : "writes", turned ? "writes" : "reads"};
        if (ordered) {
            const Rect bar{x1 + node + 20, top - 6, 20, low + h - top + 12};
            ui.rect(bar, theme.panel);
            ui.hatch(bar, data::purple, Hatch::cross);
            ui.frame(bar, data::purple, 1);
        }
        const Color edge = hidden ? theme.ink2 : race ? theme.wrong : theme.right;
        for (size_t i = 0; i < rows.size(); ++i) {
            const auto [warp, y] = rows[i];
            warp_sign(ui, {card.x + 10, y + 9, 30, 22}, warp);
            draw_node(ui, {x1, y, node, h}, it.first_line(), does[0], i == 0 ? edge : theme.line, i == 0 ? 3.0f : 1.0f);
            draw_node(ui, {x2, y, node, h}, it.second_line(), does[1], i == 1 ? edge : theme.line, i == 1 ? 3.0f : 1.0f);
            const Point own[] = {{x1 + node + 1, y + h / 2}, {x2 - 2, y + h / 2}};
            ui.polyline(own, theme.ink2, 1.3f);
            ui.arrow_head({x2 - 1, y + h / 2}, Way::right, theme.ink2, 5);
        }
        const float middle = x1 + node + gap / 2;
        if (ordered) {
            const Point path[] = {
                {x1 + node + 2, top + h / 2}, {middle, top + h / 2}, {middle, low + h / 2}, {x2 - 3, low + h / 2}};
            ui.polyline(path, theme.right, 3);
            ui.arrow_head({x2 - 1, low + h / 2}, Way::right, theme.right, 7);
        } else {
            const Point path[] = {{x1 + node * 0.7f, top + h + 2}, {x2 + node * 0.3f, low - 2}};
            ui.polyline(path, race ? theme.wrong : theme.ink2, 2.5f, 6, 5);
        }
        const std::string_view path = hidden ? "?" : ordered ? "write, barrier, read" : race ? "no path: a race" : "no path";
        const float w = ui.text_width(path, {.size = 13, .weight = 700}) + 14, y = (top + low + h) / 2;
        ui.rect({middle - w / 2, y - 12, w, 24}, theme.panel2, 3);
        ui.text(middle, y + 5, path,
                {.size = 13,
                 .color = ordered ? theme.right
                          : race  ? theme.wrong
                                  : theme.ink2,
                 .align = Align::center,
                 .weight = 700});
        ui.text(card.x + 12, card.bottom() - 10, "An arrow: always before, whatever the run.",
                {.size = 12, .color = theme.ink2, .width = room});
    }

    void draw_track(Ui& ui, const WarpPart& part, float y, const auto& x_of) const {
        const Theme& theme = *ui.theme;
        const Color ink = text_on(colour_of(part.warp));
        if (part.write && part.read) ui.line({x_of(part.write->cycle), y}, {x_of(part.read->cycle), y}, theme.ink3, 1.5f);
        const int64_t begins =
            std::min(part.write ? part.write->cycle : INT64_MAX, part.read ? part.read->cycle : INT64_MAX);
        if (part.wait_from >= 0 && part.wait_until > begins) {  // before both it is another pair's
            const float from = x_of(part.wait_from), to = x_of(part.wait_until);
            ui.rect({from, y - 8, std::max(2.0f, to - from), 16}, theme.panel);
            ui.hatch({from, y - 8, std::max(2.0f, to - from), 16}, data::purple, Hatch::cross);
        }
        if (part.write) {
            const float x = x_of(part.write->cycle);
            ui.rect({x - 9, y - 9, 18, 18}, colour_of(part.warp), 2);
            ui.text(x, y + 5, "W", {.size = 12, .color = ink, .align = Align::center, .weight = 700});
        }
        if (part.read) {
            const float x = x_of(part.read->cycle);
            ui.circle({x, y}, 9.5f, colour_of(part.warp));
            ui.text(x, y + 5, "R", {.size = 12, .color = ink, .align = Align::center, .weight = 700});
        }
    }

    void draw_when(Ui& ui, const Rect& area) const {
        const Theme& theme = *ui.theme;
        int64_t from = INT64_MAX, to = 0;
        const auto take = [&](const Exchange& it) {
            for (const WarpPart& part : it.warps)
                for (const auto& step : {part.write, part.read})
                    if (step) from = std::min(from, step->cycle), to = std::max(to, step->cycle);
        };
        take(own_);
        if (beside_) take(other_);
        if (from > to) return;
        const int64_t pad = std::max<int64_t>(2, (to - from) / 24);
        from -= pad, to += pad;
        const float names = beside_ ? 190.0f : 70.0f;
        const Rect plot{area.x + names, area.y + 48, area.w - names - 20, area.h - 54};
        const auto x_of = [&](int64_t cycle) {
            return plot.x + plot.w * static_cast<float>(cycle - from) / static_cast<float>(to - from);
        };
        ui.text(area.x, area.y + 16, "When, in this run", {.size = 14, .weight = 600});
        ui.text(area.right(), area.y + 16, "cycle", {.size = 12, .color = theme.ink2, .align = Align::right});
        int64_t step = 1;
        while ((to - from) / step > 8) step *= step % 3 == 2 ? 5 : 2;
        for (int64_t tick = (from / step + 1) * step; tick < to; tick += step) {
            ui.line({x_of(tick), plot.y - 6}, {x_of(tick), plot.bottom()}, theme.grid);
            ui.text(x_of(tick), plot.y - 10, std::to_string(tick),
                    {.size = 12, .color = theme.ink2, .align = Align::center, .mono = true});
        }
        if (own_.warps.empty()) return;
        const float pitch = plot.h / static_cast<float>(own_.warps.size());
        for (size_t i = 0; i < own_.warps.size(); ++i) {
            const float y = plot.y + pitch * (static_cast<float>(i) + 0.5f),
                        half = beside_ ? std::min(11.0f, pitch / 4) : 0.0f;
            warp_sign(ui, {area.x, y - 11, 30, 22}, own_.warps[i].warp);
            draw_track(ui, own_.warps[i], y - half, x_of);
            if (!beside_ || i >= other_.warps.size()) continue;
            ui.text(area.x + 40, y - half + 4, run_->program->name, {.size = 12, .color = theme.ink2, .width = names - 60});
            ui.text(area.x + 40, y + half + 5, beside_->program->name,
                    {.size = 12, .color = theme.ink2, .width = names - 60});
            draw_track(ui, other_.warps[i], y + half, x_of);
        }
        for (const Exchange* it : {&own_, beside_ ? &other_ : nullptr})
            if (it != nullptr && opens_at(*it) >= from) {
                const float x = x_of(opens_at(*it));
                ui.line({x, plot.y - 4}, {x, plot.bottom()}, data::purple, 2);
                const std::string says = fmt::format("{}: the barrier opens", opens_at(*it));
                const float half = ui.text_width(says, {.size = 12}) / 2;
                ui.text(std::clamp(x, area.x + 150 + half, area.right() - 50 - half), area.y + 16, says,
                        {.size = 12, .color = theme.ink2, .align = Align::center});
            }
    }

    static void draw_legend(Ui& ui, const Rect& body) {
        const float y = body.bottom() - 6;
        float x = ui.legend(body.x, y, data::sky, Hatch::solid, "W writes, R reads, in the warp's colour");
        x = ui.legend(x, y, data::purple, Hatch::cross, "waits at the barrier");
        if (x + 160 < body.right()) ui.legend_line(x, y, ui.theme->wrong, true, "nothing orders them");
    }
};

}  // namespace

std::unique_ptr<View> make_exchange_view() {
    return std::make_unique<ExchangeView>();
}

}  // namespace lockstep::gui
