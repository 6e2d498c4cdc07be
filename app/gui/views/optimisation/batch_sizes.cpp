// Runs that differ by their batch, as dots: the steps and the examples that each took to the target loss, both on log axes.
// A batch of one size lies on a dotted line. Through the smallest and the largest but one goes the curve that trades steps
// for examples, (steps/least - 1)(examples/least - 1) = 1, with its bend: the critical batch size. Beside it how often each
// run needed the least. The pointer on a dot tells its run; a click keeps it picked. Runs come as a lesson's steps tell
// them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/gui/view.h"
#include "app/gui/views/training/given_curves.h"
#include "app/gui/widgets/axis.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view batch_sizes_title = "Steps against examples";

struct BatchRun {
    int64_t batch = 0, steps = 0;
    bool kept_back = false;  // a question asks about it, of this step or of a later one
    double examples() const { return static_cast<double>(batch) * static_cast<double>(steps); }
};
struct TradeCurve {  // the least steps and the least examples
    double steps = 0, examples = 0;
    double bend() const { return examples / steps; }
};

std::vector<BatchRun> batch_runs(const Session& session) {
    std::vector<BatchRun> runs;
    for (const Curve& curve : session.snapshot()->training.curves)
        if (curve.batch > 0 && curve.to_target > 0)
            runs.push_back({curve.batch, curve.to_target, keeps_back(session, curve.name)});
    std::sort(runs.begin(), runs.end(), [](const BatchRun& a, const BatchRun& b) { return a.batch < b.batch; });
    return runs;
}

// Through two runs: (s1/S - 1)(e1/E - 1) = 1 is S/s1 + E/e1 = 1, and so is the other's: two equations, both linear.
std::optional<TradeCurve> curve_through(const BatchRun& a, const BatchRun& b) {
    const double a1 = 1 / static_cast<double>(a.steps), a2 = 1 / a.examples(), b1 = 1 / static_cast<double>(b.steps),
                 b2 = 1 / b.examples(), det = a1 * b2 - a2 * b1;
    if (std::abs(det) < 1e-15) return std::nullopt;
    const TradeCurve curve{(b2 - a2) / det, (a1 - b1) / det};
    return curve.steps > 0 && curve.examples > 0 ? std::optional(curve) : std::nullopt;
}

struct LogAxis {
    float from = 0, to = 0;
    double low = 1, high = 10;
    float at(double value) const {
        return from + (to - from) * static_cast<float>(std::log(value / low) / std::log(high / low));
    }
    std::vector<double> marks() const {
        std::vector<double> all;
        for (double power = std::pow(10.0, std::floor(std::log10(low))); power <= high; power *= 10)
            for (const double factor : {1.0, 2.0, 5.0})
                if (power * factor >= low * 0.999 && power * factor <= high * 1.001) all.push_back(power * factor);
        return all;
    }
};

class BatchSizesView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const std::vector<BatchRun> runs = batch_runs(session);
        if (runs.size() < 2) {
            const Rect body = ui.panel(area, {.title = batch_sizes_title});
            return ui.say_nothing_yet(body, "No two runs have reached their target.",
                                      "Dots appear where runs of several batch sizes go for one loss.");
        }
        const bool hidden = costs_wait(session, runs);
        const auto curve = hidden ? std::nullopt : told_curve(runs);
        const std::string caption = hidden ? waiting_caption(runs) : caption_of(runs, curve);
        const Rect body = ui.panel(area, {.title = batch_sizes_title,
                                          .right = fmt::format("{} runs to a loss of {:g}", runs.size(), target(*snapshot)),
                                          .badge = Provenance::executed,
                                          .caption = caption});
        ui.push_scope("batch sizes");
        float y = body.y;
        if (body.h > 260) {
            ui.text(body.x, y + 20, hidden ? told_headline(runs) : headline_of(runs),
                    {.size = 20, .weight = 700, .width = body.w});
            y += 34;
        }
        const Rect room{body.x, y, body.w, body.bottom() - 24 - y};
        const bool beside = room.w > 720 && !hidden;
        const float left = beside ? std::floor(room.w * 0.66f) : room.w;
        draw_chart(ui, runs, curve, {room.x, room.y, left, room.h});
        if (beside) draw_costs(ui, runs, {room.x + left + 36, room.y, room.w - left - 36, room.h});
        const float at = body.bottom() - 4;
        ui.circle({body.x + 7, at - 4}, 5, data::green);
        float x = ui.text(body.x + 20, at, "a run, with its batch", {.size = 13, .color = ui.theme->ink2}) + 20;
        if (curve) x = ui.legend_line(x, at, data::sky, false, curve_words(runs)) + 16;
        const Point dots[] = {{x, at - 4}, {x + 24, at - 4}};
        ui.polyline(dots, ui.theme->ink3, 1, 2, 4);
        ui.text(x + 30, at, "one batch size", {.size = 13, .color = ui.theme->ink2, .width = body.right() - x - 30});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const std::vector<BatchRun> runs = batch_runs(session);
        if (runs.size() < 2) return std::string(batch_sizes_title) + ": no two runs have reached their target.\n";
        const bool hidden = costs_wait(session, runs);
        std::string text = fmt::format("{} (executed), to a loss of {:g}\n  {}\n", batch_sizes_title, target(*snapshot),
                                       hidden ? told_headline(runs) : headline_of(runs));
        for (const BatchRun& run : runs)
            if (!run.kept_back)
                text += fmt::format("  batch {}: {} steps, {} examples\n", run.batch, run.steps,
                                    with_commas(static_cast<int64_t>(run.examples())));
        return text + "  " + (hidden ? waiting_caption(runs) : caption_of(runs, told_curve(runs))) + "\n";
    }

  private:
    int64_t picked_ = 0;  // a batch

    // What the runs cost against each other, and the curve through them, are told once no question asks for it.
    static bool costs_wait(const Session& session, const std::vector<BatchRun>& runs) {
        return session.learn.reveal_steps >= 0 || asks_for(session, "examples_to_target") ||
               std::any_of(runs.begin(), runs.end(), [](const BatchRun& run) { return run.kept_back; });
    }
    static std::string told_headline(const std::vector<BatchRun>& runs) {
        std::string text;
        for (const BatchRun& run : runs)
            if (!run.kept_back)
                text += text.empty() ? fmt::format("Batch {} takes {} steps", run.batch, run.steps)
                                     : fmt::format(", {} takes {}", run.batch, run.steps);
        return text.empty() ? std::string("How many steps does each batch take?") : text;
    }
    static std::string waiting_caption(const std::vector<BatchRun>& runs) {
        std::vector<int64_t> waiting;
        for (const BatchRun& run : runs)
            if (run.kept_back) waiting.push_back(run.batch);
        if (waiting.empty()) return "All runs have ended; what they cost is asked about.";
        if (waiting.size() == 1)
            return fmt::format("All runs have ended; batch {} waits for an answer, somewhere on its line.", waiting[0]);
        std::string names;
        for (size_t i = 0; i < waiting.size(); ++i)
            names += fmt::format("{}{}", i == 0 ? "" : i + 1 == waiting.size() ? " and " : ", ", waiting[i]);
        return fmt::format("All runs have ended; batches {} wait for an answer, each somewhere on its line.", names);
    }
    static double target(const Snapshot& snapshot) {
        for (const Curve& curve : snapshot.training.curves)
            if (curve.target > 0) return curve.target;
        return 0;
    }
    // Through the smallest batch and the largest but one; of two runs, both.
    static std::optional<TradeCurve> told_curve(const std::vector<BatchRun>& runs) {
        return curve_through(runs.front(), runs[runs.size() > 2 ? runs.size() - 2 : 1]);
    }
    static std::string headline_of(const std::vector<BatchRun>& runs) {
        const BatchRun &first = runs.front(), &last = runs.back();
        return fmt::format("{:.0f} times the batch, {:.2f} of the steps, {:.0f} times the examples",
                           static_cast<double>(last.batch) / static_cast<double>(first.batch),
                           static_cast<double>(last.steps) / static_cast<double>(first.steps),
                           last.examples() / first.examples());
    }
    static std::string caption_of(const std::vector<BatchRun>& runs, const std::optional<TradeCurve>& curve) {
        if (!curve) return "Through these runs goes no curve that trades steps for examples.";
        return fmt::format(
            "(steps/{:.0f} - 1)(examples/{} - 1) = 1 goes through the runs with {} and {}; it bends at batch {:.0f}.",
            curve->steps, with_commas(std::llround(curve->examples)), runs.front().batch,
            runs[runs.size() > 2 ? runs.size() - 2 : 1].batch, curve->bend());
    }

    static std::string curve_words(const std::vector<BatchRun>& runs) {
        return fmt::format("the curve through {} and {}", runs.front().batch,
                           runs[runs.size() > 2 ? runs.size() - 2 : 1].batch);
    }

    void draw_chart(Ui& ui, const std::vector<BatchRun>& runs, const std::optional<TradeCurve>& curve, const Rect& r) {
        const Theme& theme = *ui.theme;
        double few = 1e18, many = 0, least = 1e18, most = 0;
        for (const BatchRun& run : runs) {
            if (run.kept_back) continue;
            few = std::min(few, run.examples()), many = std::max(many, run.examples());
            least = std::min(least, static_cast<double>(run.steps)), most = std::max(most, static_cast<double>(run.steps));
        }
        if (most == 0) few = 1'000, many = 10'000, least = 20, most = 100;  // nothing is told yet
        const double longest = most;
        for (const BatchRun& run : runs) {  // room for what is kept back, without telling where it lies
            if (!run.kept_back) continue;
            many = std::max(many, 0.5 * static_cast<double>(run.batch) * longest);
            least = std::min(least, longest / 6);
        }
        const Rect plot{r.x + 52, r.y + 26, r.w - 52 - 16, r.h - 26 - 44};
        if (plot.w < 120 || plot.h < 80) return;
        const LogAxis across{plot.x, plot.right(), few / 2.2, many * 1.7},
            up{plot.bottom(), plot.y, least / 1.7, most * 1.5};
        ui.text(r.x, r.y + 14, "steps until the target, log", {.size = 13, .color = theme.ink2});
        for (const double mark : across.marks()) {
            ui.line({across.at(mark), plot.y}, {across.at(mark), plot.bottom()}, theme.grid);
            ui.text(across.at(mark), plot.bottom() + 17, with_commas(std::llround(mark)),
                    {.size = 12, .color = theme.quiet, .align = Align::center, .mono = true});
        }
        for (const double mark : up.marks()) {
            ui.line({plot.x, up.at(mark)}, {plot.right(), up.at(mark)}, theme.grid);
            ui.text(plot.x - 8, up.at(mark) + 4, with_commas(std::llround(mark)),
                    {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
        }
        ui.text(plot.x + plot.w / 2, plot.bottom() + 36, "examples until the target, log",
                {.size = 13, .color = theme.ink2, .align = Align::center});
        ui.clip({plot.x, plot.y - 2, plot.w, plot.h + 4});
        for (const BatchRun& run : runs) {  // examples = batch x steps
            const auto batch = static_cast<double>(run.batch);
            const Point ends[] = {{across.at(batch * up.low), up.at(up.low)}, {across.at(batch * up.high), up.at(up.high)}};
            ui.polyline(ends, theme.ink3, 1, 2, 5);
        }
        if (curve) draw_curve(ui, *curve, across, up, plot);
        ui.unclip();
        for (const BatchRun& run : runs) {
            const Point at{across.at(run.examples()), up.at(static_cast<double>(run.steps))};
            if (run.kept_back) {  // on the line of its batch it may lie anywhere
                const double batch = static_cast<double>(run.batch), height = up.low * 1.12;
                if (across.at(batch * height) < plot.right() - 10)
                    ui.text(across.at(batch * height) + 6, up.at(height), fmt::format("batch {}: ?", run.batch),
                            {.size = 12, .color = theme.ink2});
                continue;
            }
            const Rect near{at.x - 10, at.y - 10, 20, 20};
            ui.circle(at, 7, data::green);
            ui.ring(at, 7, picked_ == run.batch ? theme.ink : theme.panel, 2);
            ui.text(at.x, at.y - 13, fmt::format("{}", run.batch), {.size = 13, .align = Align::center, .weight = 700});
            if (ui.hovered(near))
                ui.tooltip(fmt::format("batch {}: {} steps, {} examples", run.batch, run.steps,
                                       with_commas(std::llround(run.examples()))));
            if (ui.clicked(near)) picked_ = picked_ == run.batch ? 0 : run.batch;
        }
    }

    static void draw_curve(Ui& ui, const TradeCurve& curve, const LogAxis& across, const LogAxis& up, const Rect& plot) {
        const Theme& theme = *ui.theme;
        const Color color = data::sky;
        std::vector<Point> line;
        for (double share = 0.002; share < 0.998; share += 0.004) {  // S/s = share, E/e = 1 - share
            const double steps = curve.steps / share, examples = curve.examples / (1 - share);
            if (steps > up.high * 1.2 || examples > across.high * 1.2) continue;
            line.push_back({across.at(examples), up.at(steps)});
        }
        if (line.size() > 1) ui.polyline(line, color, 2.5f);
        const float least_x = across.at(curve.examples), least_y = up.at(curve.steps);
        const Point down[] = {{least_x, plot.y}, {least_x, plot.bottom()}},
                    along[] = {{plot.x, least_y}, {plot.right(), least_y}};
        ui.polyline(down, color, 1.2f, 6, 5);
        ui.polyline(along, color, 1.2f, 6, 5);
        ui.text(least_x + 6, plot.bottom() - 8, fmt::format("least examples {}", with_commas(std::llround(curve.examples))),
                {.size = 12, .color = theme.ink2});
        ui.text(plot.x + plot.w * 0.45f, least_y + 16, fmt::format("least steps {:.0f}", curve.steps),  // no run lies there
                {.size = 12, .color = theme.ink2, .align = Align::center});
        const Point bend{across.at(2 * curve.examples), up.at(2 * curve.steps)};
        ui.rect({bend.x - 6, bend.y - 6, 12, 12}, theme.panel);
        ui.frame({bend.x - 6, bend.y - 6, 12, 12}, color, 2);
        const float text = bend.x + 60, text_y = std::max(plot.y + 20, bend.y - 46);
        ui.line({bend.x + 6, bend.y - 6}, {text - 4, text_y - 2}, color, 1.2f);
        ui.text(text, text_y, fmt::format("the bend: batch {:.0f}", curve.bend()), {.size = 15, .weight = 700});
        ui.text(text, text_y + 17, "twice the least of both", {.size = 12, .color = theme.ink2});
    }

    void draw_costs(Ui& ui, const std::vector<BatchRun>& runs, const Rect& r) const {
        const Theme& theme = *ui.theme;
        ui.text(r.x, r.y + 14, "Times the least of these runs", {.size = 14, .weight = 600, .width = r.w});
        double least_steps = 1e18, least_examples = 1e18, most = 1;
        for (const BatchRun& run : runs)
            least_steps = std::min(least_steps, static_cast<double>(run.steps)),
            least_examples = std::min(least_examples, run.examples());
        for (const BatchRun& run : runs)
            most = std::max({most, run.examples() / least_examples, static_cast<double>(run.steps) / least_steps});
        const float names = 44, scale = (r.w - names - 110) / static_cast<float>(most);
        const float pitch = std::clamp((r.h - 90) / static_cast<float>(runs.size()), 38.0f, 66.0f);
        float y = r.y + 32;
        for (const BatchRun& run : runs) {
            if (y + 36 > r.bottom()) return;
            const double steps = static_cast<double>(run.steps) / least_steps, examples = run.examples() / least_examples;
            if (run.batch == picked_) ui.rect({r.x - 4, y - 3, r.w + 4, 40}, theme.selected, 3);
            ui.text(r.x + names - 12, y + 21, fmt::format("{}", run.batch),
                    {.size = 14, .align = Align::right, .weight = 700});
            const Rect one{r.x + names, y, std::max(2.0f, scale * static_cast<float>(steps)), 15},
                two{r.x + names, y + 18, std::max(2.0f, scale * static_cast<float>(examples)), 15};
            ui.rect(one, data::sky);
            ui.rect(two, data::orange);
            ui.hatch(two, faded(data::black, 0.42f), Hatch::diagonal);
            ui.text(one.right() + 6, y + 12, fmt::format("steps × {:.1f}", steps), {.size = 12, .color = theme.ink2});
            ui.text(two.right() + 6, y + 30, fmt::format("examples × {:.1f}", examples), {.size = 12, .color = theme.ink2});
            y += pitch;
        }
        if (y + 40 > r.bottom()) return;
        ui.paragraph({r.x, y + 4, r.w, 60}, "Steps are time, if GPUs are many. Examples are energy and money.",
                     {.size = 13, .color = theme.ink2}, 19);
    }
};

}  // namespace

std::unique_ptr<View> make_batch_sizes_view() {
    return std::make_unique<BatchSizesView>();
}

}  // namespace lockstep::gui
