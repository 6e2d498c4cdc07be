// Two runs of the learner's kernel beside each other: the last one before an edit and the one after it, or the run on show
// and the same launch with one cause of waiting taken away. A is hatched and grey, B is full; what got better or worse says
// so in words and by an arrow.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/kernel/lines/line_diff.h"
#include "app/gui/views/timeline/compare_facts.h"
#include "core/model/advice/verdict.h"

namespace lockstep::gui {
namespace {

enum class Wanted : uint8_t { less, more, neither };  // of a counter: what is better

struct CounterRow {
    std::string_view metric, label, unit;
    Wanted wanted;
    std::string_view grown, shrunk;  // "slower", "faster"
};
constexpr CounterRow counter_rows[] = {
    {"time_us", "time", "µs", Wanted::less, "slower", "faster"},
    {"warp_instructions", "warp instructions", "", Wanted::less, "more", "fewer"},
    {"sectors_per_request", "sectors a load", "", Wanted::less, "more", "fewer"},
    {"sectors_per_store_request", "sectors a store", "", Wanted::less, "more", "fewer"},
    {"shared_passes_per_request", "passes a shared access", "", Wanted::less, "more", "fewer"},
    {"lanes_per_issue", "lanes on, of 32", "", Wanted::more, "more", "fewer"},
    {"active_warps", "warps at hand, a scheduler", "", Wanted::more, "more", "fewer"},
    {"issue_slot_utilization", "issue slots used", "%", Wanted::more, "more", "fewer"},
    {"l1_hit_rate", "found in L1", "%", Wanted::more, "more", "less"},
    {"dram_bytes", "DRAM traffic", "B", Wanted::less, "more", "less"},
    {"dram_utilization", "DRAM busy", "%", Wanted::neither, "more", "less"},
};

struct ComparedRow {
    const CounterRow* row = nullptr;
    double a = 0, b = 0;
    int better = 0;      // 1: B is better, -1: worse, 0: the same, or neither
    std::string change;  // "5.5× faster", "+1.2 %", "the same"
};

double metric_value(const model::KernelRun& run, std::string_view name) {
    for (const model::Metric& metric : run.result.metrics)
        if (metric.name == name) return metric.value;
    return std::nan("");
}

ComparedRow compared(const CounterRow& row, double a, double b) {
    ComparedRow made{&row, a, b, 0, "the same"};
    if (std::abs(b - a) <= 0.005 * std::max(std::abs(a), std::abs(b))) return made;
    const bool grew = b > a;
    const std::string_view word = grew ? row.grown : row.shrunk;
    const double factor = grew ? (a > 0 ? b / a : INFINITY) : (b > 0 ? a / b : INFINITY);
    made.change = !std::isfinite(factor) ? fmt::format("{}", word)
                  : factor >= 1.1        ? fmt::format("{:.{}f}× {}", factor, factor < 10 ? 1 : 0, word)
                                         : fmt::format("{:.1f} % {}", 100 * (factor - 1), word);
    if (row.wanted != Wanted::neither) made.better = grew == (row.wanted == Wanted::more) ? 1 : -1;
    return made;
}

std::vector<ComparedRow> rows_of_pair(const model::KernelRun& a, const model::KernelRun& b) {
    std::vector<ComparedRow> rows;
    for (const CounterRow& row : counter_rows) {
        const double x = metric_value(a, row.metric), y = metric_value(b, row.metric);
        if (std::isfinite(x) && std::isfinite(y) && (x != 0 || y != 0)) rows.push_back(compared(row, x, y));
    }
    // Time first, then what changed: where few fit, these are seen.
    if (rows.size() > 1)
        std::stable_partition(rows.begin() + 1, rows.end(), [](const ComparedRow& row) { return row.change != "the same"; });
    return rows;
}

std::string number_of_row(const CounterRow& row, double value) {
    if (row.unit == "B") return bytes_text(value);
    const std::string text = value >= 1000 ? with_commas(std::llround(value)) : fmt::format("{:.4g}", value);
    return row.unit == "%" ? text + " %" : text;
}

struct RunPair {
    std::shared_ptr<const model::KernelRun> a, b;
    std::string a_name, b_name;
    std::string changed;              // what tells them apart, one sentence
    std::vector<int32_t> lines = {};  // of the text on the desk
    std::string caption;
};

std::string time_sentence(const RunPair& pair) {
    const ComparedRow time = compared(counter_rows[0], pair.a->result.time_us, pair.b->result.time_us);
    return fmt::format("A takes {:.2f} µs, B {:.2f} µs: {}.", pair.a->result.time_us, pair.b->result.time_us, time.change);
}

constexpr std::string_view bound_words = " is a bound, not a run of an edited text.";

RunPair pair_of_edit(const Snapshot& snapshot) {
    RunPair pair;
    const OwnState& own = snapshot.own;
    if (!own.before || !own.run || !own.run->run || own.run->run->result.fault) return pair;
    pair.a = own.before->run;
    pair.b = own.run->run;
    pair.a_name = "the run before";
    pair.b_name = "this run";
    const LineChanges changes =
        changes_between(own.before->text, own.run->compiled ? own.run->compiled->source : own.run->run->source);
    pair.lines = changes.changed;
    pair.changed = "Changed in the text: " + text_of(changes) + ".";
    const RunNames names = names_of(*pair.a, *pair.b);
    if (names.a != "A" && !names.a.empty()) pair.changed += fmt::format(" A: {}; B: {}.", names.a, names.b);
    pair.caption = time_sentence(pair);
    if (snapshot.kernel.run == pair.b && snapshot.kernel.verdict) pair.caption += " Now: " + snapshot.kernel.verdict->limit;
    return pair;
}

RunPair pair_of_what_if(const KernelState& kernel) {
    RunPair pair;
    if (!kernel.tried || !kernel.run) return pair;
    pair.a = kernel.run;
    pair.b = kernel.tried->run;
    pair.a_name = "as it is";
    pair.b_name = "what if";
    pair.changed = "What if " + kernel.tried->words + ": the same launch simulated so.";
    pair.caption = time_sentence(pair) + fmt::format(" B{}", bound_words);
    return pair;
}

void swap_pair(RunPair& pair) {
    std::swap(pair.a, pair.b);
    std::swap(pair.a_name, pair.b_name);
    const bool bound = pair.caption.ends_with(bound_words);
    pair.caption = time_sentence(pair) + (bound ? fmt::format(" A{}", bound_words) : "");
}

class BeforeAfterView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        if (tried_ != snapshot->kernel.tried) tried_ = snapshot->kernel.tried, what_if_ = tried_ != nullptr;
        const RunPair edit = pair_of_edit(*snapshot), what_if = pair_of_what_if(snapshot->kernel);
        if (!what_if.a || !edit.a) what_if_ = what_if.a != nullptr;
        RunPair pair = what_if_ ? what_if : edit;
        const bool hidden = session.learn.reveal_steps >= 0;
        const bool told = pair.a != nullptr && !hidden;
        if (told && session.desk.swaps_runs) swap_pair(pair);
        const std::string right = told ? fmt::format("A {} · B {}", pair.a_name, pair.b_name) : std::string();
        const Rect body = ui.panel(area, {.title = "Before and after",
                                          .right = right,
                                          .badge = told ? Provenance::simulated : Provenance::none,
                                          .caption = told ? std::string_view(pair.caption) : std::string_view()});
        if (!told)
            return ui.say_nothing_yet(body, "There is nothing to compare yet.",
                                      "Change the text or the launch and run it, or press Try it at a finding: both runs "
                                      "then stand side by side.");
        ui.push_scope("before after");
        float x = body.x, y = body.y - 4;
        if (what_if.a && edit.a) {
            const int chosen = ui.segmented(x, y, {"last edit", "what if"}, what_if_ ? 1 : 0);
            what_if_ = chosen == 1;
            x += 10;
        }
        if (ui.chip(x, y, "Swap A and B", session.desk.swaps_runs)) session.desk.swaps_runs = !session.desk.swaps_runs;
        y += 34;
        y = changes(ui, session, pair, {body.x, y, body.w, 0});
        rows(ui, pair, {body.x, y, body.w, body.bottom() - y});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        std::string text = "Before and after (simulated)\n";
        if (session.learn.reveal_steps >= 0) return text + "  It is told when you lock an answer.\n";
        bool any = false;
        for (RunPair pair : {pair_of_edit(*snapshot), pair_of_what_if(snapshot->kernel)}) {
            if (!pair.a) continue;
            any = true;
            if (session.desk.swaps_runs) swap_pair(pair);
            text += fmt::format("  A {}, B {}. {}\n", pair.a_name, pair.b_name, pair.changed);
            for (const ComparedRow& row : rows_of_pair(*pair.a, *pair.b))
                text += fmt::format("  {}: {} and {}{}: {}{}\n", row.row->label, number_of_row(*row.row, row.a),
                                    number_of_row(*row.row, row.b), row.row->unit == "µs" ? " µs" : "", row.change,
                                    row.better > 0   ? ", better"
                                    : row.better < 0 ? ", worse"
                                                     : "");
            text += "  " + pair.caption + "\n";
        }
        return any ? text : text + "  There is nothing to compare yet.\n";
    }

  private:
    bool what_if_ = false;
    std::shared_ptr<const TriedWhatIf> tried_;

    // What tells the two apart; a changed line leads to its place.
    static float changes(Ui& ui, Session& session, const RunPair& pair, const Rect& at) {
        const float height =
            ui.paragraph({at.x, at.y, at.w, 200}, pair.changed, {.size = 13, .color = ui.theme->ink2}, 19) + 4;
        float x = at.x;
        size_t shown = 0;
        for (size_t i = 0; i < pair.lines.size() && shown < 6; ++i) {
            if (i > 0 && pair.lines[i] == pair.lines[i - 1] + 1) continue;  // one of a stretch is enough
            const std::string label = fmt::format("line {}", pair.lines[i]);
            if (x + ui.chip_width(label) > at.x + at.w) break;
            if (ui.chip(x, at.y + height, label)) session.desk.go_to_line = pair.lines[i];
            ++shown;
        }
        return at.y + height + (shown > 0 ? 34.0f : 2.0f);
    }

    static void rows(Ui& ui, const RunPair& pair, const Rect& r) {
        const Theme& theme = *ui.theme;
        const std::vector<ComparedRow> all = rows_of_pair(*pair.a, *pair.b);
        const float pitch = 38;
        const auto fit = static_cast<size_t>(std::max(0.0f, std::floor((r.h - 30) / pitch) + 1));  // whole ones
        const float label_w = std::min(190.0f, r.w * 0.28f), change_w = std::min(150.0f, r.w * 0.22f), value_w = 104;
        const Rect bars{r.x + label_w, r.y, std::max(20.0f, r.w - label_w - change_w - value_w - 24), 0};
        float y = r.y;
        for (size_t i = 0; i < std::min(fit, all.size()); ++i, y += pitch) {
            const ComparedRow& row = all[i];
            const std::string unit = row.row->unit == "µs" ? ", µs" : "";
            ui.text(bars.x - 10, y + 19, std::string(row.row->label) + unit,
                    {.size = 13, .color = theme.ink2, .align = Align::right, .width = label_w - 10});
            const double most = std::max({row.a, row.b, 1e-12});
            const auto bar = [&](double value, float top, bool after) {
                const Rect full{bars.x, top, bars.w, 12};
                ui.rect(full, theme.code);
                const Rect part{full.x, full.y, std::max(1.0f, full.w * static_cast<float>(value / most)), full.h};
                if (after)
                    ui.rect(part, data::sky);
                else
                    ui.hatch(part, data::grey, Hatch::diagonal);
                ui.text(full.right() + 10, top + 11, after ? "B" : "A",
                        {.size = 12, .color = after ? theme.accent : theme.ink2, .weight = 700});
                ui.text(full.right() + 10 + value_w, top + 11, number_of_row(*row.row, value),
                        {.size = 12, .align = Align::right, .mono = true, .width = value_w - 14});
            };
            bar(row.a, y + 2, false);
            bar(row.b, y + 16, true);
            const Color color = row.better > 0 ? theme.right : row.better < 0 ? theme.wrong : theme.ink2;
            const float end =
                ui.text(r.right(), y + 19, row.change,
                        {.size = 13, .color = color, .align = Align::right, .weight = 600, .width = change_w - 22});
            if (row.better != 0)
                ui.arrow_head({end - 12, y + (row.better > 0 ? 10.0f : 19.0f)}, row.better > 0 ? Way::up : Way::down, color,
                              5);
            if (row.better != 0 && ui.hovered({end - 20, y, r.right() - end + 20, 28}))
                ui.tooltip(row.better > 0 ? "B is better than A here" : "B is worse than A here");
        }
        if (all.size() > fit && r.h > 20)
            ui.text(r.right(), r.bottom(), fmt::format("{} more in a higher panel", all.size() - fit),
                    {.size = 12, .color = theme.quiet, .align = Align::right});
    }
};

}  // namespace

std::unique_ptr<View> make_before_after_view() {
    return std::make_unique<BeforeAfterView>();
}

}  // namespace lockstep::gui
