// D13, learning curves: training loss by step (log or linear) over test accuracy, several runs overlaid. The picture is
// two plots of the same width; a click or drag in either moves the focus to that step.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>

#include "app/gui/view.h"
#include "app/gui/views/training/given_curves.h"
#include "app/gui/views/training/training_data.h"
#include "app/gui/widgets/axis.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

// The next of 20, 50, 100, 200, 500, ... so that the axis stands still while a run grows.
int64_t axis_end(int64_t steps) {
    return std::max<int64_t>(20, std::llround(rounded(static_cast<double>(steps))));
}

struct CurveAxis {
    float from = 0, length = 1;  // layout units; `from` is the low end
    double low = 0, high = 1;
    bool log = false;
    float at(double value) const {
        const double t = log ? (std::log10(std::max(value, low)) - std::log10(low)) / (std::log10(high) - std::log10(low))
                             : (value - low) / (high - low);
        return from + length * static_cast<float>(std::clamp(t, 0.0, 1.0));
    }
};

class CurvesView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        // A lesson that asks how runs end does not show it first; one step's loss gives nothing away.
        const auto snapshot = without_kept_back(session, session.snapshot());
        const auto& curves = snapshot->training.curves;
        const std::string waiting = kept_back(curves), sentence = (waiting.empty() ? caption(*snapshot, focus) : waiting) +
                                                                  left_out(session, *session.snapshot());
        Rect body = ui.panel(area, {.title = "Learning curves",
                                    .right = counted(curves.size(), "run"),
                                    .badge = Provenance::executed,
                                    .caption = sentence});
        if (curves.empty() || curves.front().loss.empty())
            return ui.say_nothing_yet(body, "No training step has finished yet.",
                                      "The first point appears when the first step has run.");
        if (waiting.empty() && !curves.front().causes.empty() &&
            ui.hovered({area.x, body.bottom(), area.w, area.bottom() - body.bottom()}))
            ui.tooltip(caption(*snapshot, focus, true));
        if (const auto one = single_step(*snapshot)) return draw_single(ui, *one, body);
        ui.push_scope("curves");
        bool told_low = false;
        if (const std::string head = headline(session, *snapshot); !head.empty() && body.h > headline_from) {
            const bool large = body.h > roomy_from && ui.text_width(head, {.size = 20, .weight = 700}) <= body.w;
            ui.text(body.x, body.y + (large ? 22 : 16), head,
                    {.size = large ? 20.0f : 16.0f, .weight = 700, .width = body.w});
            const float taken = large ? 36 : 26;
            body = {body.x, body.y + taken, body.w, body.h - taken};
        } else if (!head.empty() && body.h > 100) {  // above a sketch it stands in place of the scale's chips
            ui.text(body.x, body.y + 14, head, {.size = 16, .weight = 700, .width = body.w});
            body = {body.x, body.y + 24, body.w, body.h - 24};
            told_low = true;
        }
        float x = body.x;
        const bool room = body.h > 170;
        if (room && told_low) {
            legend(ui, curves, x, body.right(), body.y + 18);
        } else if (room) {
            const bool positive = range_of(curves).low > 0;
            const bool log = ui.segmented(x, body.y, {"log", "linear"}, log_ && positive ? 0 : 1) == 0;
            if (positive) log_ = log;
            if (!positive) x = ui.text(x + 4, body.y + 18, no_log, {.size = 12, .color = ui.theme->quiet});
            legend(ui, curves, x + 8, body.right(), body.y + 18);
        }
        const float top = body.y + (room ? 36 : 0), bottom = body.bottom() - 20;
        const bool low = body.h < 230;  // the plots need the room more than their titles
        title_ = low ? 9.f : 14.f;
        const float head = low ? 19.f : 24.f, between = low ? 32.f : 38.f;
        // Tensor programs and many of a lesson's runs measure nothing but their losses.
        alone_ = (!snapshot->training.step || snapshot->tape || session.lesson.lesson) &&
                 std::all_of(curves.begin(), curves.end(),
                             [](const Curve& curve) { return curve.accuracy.empty() && !curve.running; });
        if (measured_once(curves)) {  // bars below the losses, in a low panel beside them
            const float ends = 26 + ends_pitch * static_cast<float>(curves.size()), high = bottom - top - head;
            const bool fits = body.w > 560 && high > ends, beside = fits && high - between - ends < 110,
                       below = !beside && high - between - ends > 60;
            if (below || beside) {
                alone_ = true;
                const float w = beside ? std::floor(body.w * 0.6f) : body.w, h = below ? high - between - ends : high;
                plot(ui, session, focus, *snapshot, {body.x, top + head, w, h}, true);
                const Rect under{body.x, top + head + h + between, body.w, ends},
                    right{body.x + w + 32, top + head - title_ - 10, body.w - w - 32, high};
                draw_ends(ui, curves, below ? under : right);
                ui.pop_scope();
                return;
            }
        }
        if (alone_) {
            Rect losses{body.x, top + head, body.w, bottom - top - head};
            constexpr float apart = 72;  // how far they are from each other, where they draw one line
            if (const Apart same = apart_of(curves); same.alike && losses.h > 2 * apart) {
                losses.h -= apart + 22;
                draw_apart(ui, curves, scaled(*snapshot, focus, losses, true).x.high,
                           {losses.x, losses.bottom() + 40, losses.w, apart - 18});
            }
            plot(ui, session, focus, *snapshot, losses, true);
            ui.pop_scope();
            return;
        }
        const float heights = bottom - top - between - head;
        const float loss_height = heights * 0.56f;
        plot(ui, session, focus, *snapshot, {body.x, top + head, body.w, loss_height}, true);
        plot(ui, session, focus, *snapshot, {body.x, top + head + loss_height + between, body.w, heights - loss_height},
             false);
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = without_kept_back(session, session.snapshot());
        std::string text = "Learning curves (executed)\n";
        for (const Curve& curve : snapshot->training.curves) {
            if (curve.loss.empty()) continue;
            if (curve.kept_back) {
                text += fmt::format("  {}: training loss {:.4f} at step 0; the rest waits for an answer\n", curve.name,
                                    curve.loss.front());
                continue;
            }
            text += fmt::format("  {}: {}, training loss {:.4f} at step 0, {:.4f} at step {}", curve.name,
                                counted(curve.loss.size(), "step"), curve.loss.front(), curve.loss.back(),
                                curve.loss.size() - 1);
            if (!curve.accuracy.empty() && !curve.measure.empty())
                text += fmt::format(", {} {:.4g} at step {}", curve.measure, shown_value(curve, curve.accuracy.back()),
                                    curve.accuracy.back().step);
            else if (!curve.accuracy.empty())
                text += fmt::format(", test accuracy {:.1f} % at step {}", 100 * curve.accuracy.back().accuracy,
                                    curve.accuracy.back().step);
            if (curve.resumed > 0) text += fmt::format(", from step {} on from its checkpoint", curve.resumed);
            text += "\n";
        }
        if (snapshot->training.curves.size() > 1 && !snapshot->training.curves.front().loss.empty()) {
            const int64_t step = step_shown(snapshot->training.curves.front(), focus);
            text += fmt::format("  at step {}:", step);
            for (const Curve& curve : snapshot->training.curves)
                if (const double loss = value_at(curve, step, true); std::isfinite(loss))
                    text += fmt::format(" {} {}", curve.name, loss_text(loss));
            text += "\n";
        }
        if (const double target = target_of(snapshot->training.curves); target > 0) {
            text += "  " + target_words(target);
            for (const Curve& curve : snapshot->training.curves)
                if (curve.to_target > 0) text += fmt::format("; {} after {} steps", curve.name, curve.to_target);
            text += "\n";
        }
        const std::string waiting = kept_back(snapshot->training.curves), head = headline(session, *snapshot);
        if (!head.empty()) text += "  " + head + ".\n";
        return text + "  " + (waiting.empty() ? caption(*snapshot, focus, true) : waiting) +
               left_out(session, *session.snapshot()) + "\n";
    }

  private:
    struct Plot;

    // Which runs stand on no axis with the others; empty: none.
    static std::string left_out(const Session& session, const Snapshot& whole) {
        for (const Curve& curve : whole.training.curves)
            if (has_other_loss(session, curve.name))
                return fmt::format(" {} learns by another loss, which this axis can't show.", curve.name);
        return {};
    }

    // What is said of runs that a question asks about; empty: of none is asked.
    static std::string kept_back(const std::vector<Curve>& curves) {
        std::vector<std::string> names;
        for (const Curve& curve : curves)
            if (curve.kept_back) names.push_back(curve.name);
        if (names.empty()) return {};
        if (names.size() == curves.size())
            return "All runs have ended; how they go on from where they begin waits for your answer.";
        std::string all = names.front();
        for (size_t i = 1; i < names.size(); ++i) all += (i + 1 == names.size() ? " and " : ", ") + names[i];
        return fmt::format("All runs have ended; how {} {} on waits for your answer.", all,
                           names.size() == 1 ? "goes" : "go");
    }
    static constexpr float headline_from = 230, roomy_from = 330;  // heights of a lesson's picture with room for one

    static double digit_above(double most) {  // to one digit: a bound is never rounded down
        const double unit = std::pow(10, std::floor(std::log10(most)));
        return unit * std::ceil(most / unit - 1e-9);
    }

    // What the runs of a lesson's picture come to, once nothing is asked about them any more; empty: nothing is said.
    static std::string headline(const Session& session, const Snapshot& snapshot) {
        const std::vector<Curve>& curves = snapshot.training.curves;
        if (session.workspace != Workspace::learn || !session.lesson.lesson || curves.empty()) return {};
        if (std::any_of(curves.begin(), curves.end(), [](const Curve& curve) {
                return curve.kept_back || curve.running || curve.loss.size() < 2 || !std::isfinite(curve.loss.back());
            }))
            return {};
        const bool read = std::all_of(curves.begin(), curves.end(),
                                      [](const Curve& curve) { return curve.measure.empty() && !curve.accuracy.empty(); });
        return curves.size() > 1 ? headline_of_runs(curves, read) : headline_of_run(snapshot, read);
    }
    // `read`: of all it is known how many unseen examples they read.
    static std::string headline_of_runs(const std::vector<Curve>& curves, bool read) {
        const auto share = [](const Curve& curve) { return 100 * curve.accuracy.back().accuracy; };
        if (const Apart same = apart_of(curves); same.alike)
            return fmt::format("{} runs, one curve: {}", curves.size(),
                               same.most > 0
                                   ? fmt::format("no loss is off by more than {:.0e} of itself", digit_above(same.most))
                                   : "every loss is equal to the last bit");
        if (read) {
            const auto by_end = [&](const Curve& a, const Curve& b) { return share(a) < share(b); };
            const auto [worst, best] = std::minmax_element(curves.begin(), curves.end(), by_end);
            if (share(*best) - share(*worst) < alike)
                return fmt::format("{} read {:.1f} to {:.1f} % of unseen examples",
                                   curves.size() == 2   ? std::string("Both")
                                   : curves.size() == 3 ? std::string("All three")
                                                        : fmt::format("All {}", curves.size()),
                                   share(*worst), share(*best));
        }
        if (curves.size() > 3) return {};
        std::string text;
        for (const Curve& curve : curves)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", curve.name,
                                read ? fmt::format("{:.1f} %", share(curve)) : loss_text(curve.loss.back()));
        return (read ? "Of unseen examples they read: " : "Their losses end at: ") + text;
    }
    static std::string headline_of_run(const Snapshot& snapshot, bool read) {
        const Curve& curve = snapshot.training.curves.front();
        const double first = curve.loss.front(), last = curve.loss.back();
        if (const double guess = guess_of(snapshot); guess > 0)
            return fmt::format(
                "Loss {} at first, {} at last, near ln 2 = {:.3f}{}", loss_text(first), loss_text(last), guess,
                curve.accuracy.empty() || curve.accuracy.back().measures.empty()
                    ? std::string()
                    : fmt::format(": yet {:.0f} of 8 clumps are covered", curve.accuracy.back().measures.front().value));
        if (curve.target > 0 && curve.to_target > 0)
            return fmt::format("The target of {:g} is reached after {}", curve.target, counted(curve.to_target, "step"));
        const std::string steps = counted(curve.loss.size(), "step");
        const std::string way =
            std::abs(last - first) < 0.01 * std::abs(first)
                ? fmt::format("After {} the loss is still {}", steps, loss_text(last))
                : fmt::format("The loss goes from {} to {} in {}", loss_text(first), loss_text(last), steps);
        const bool graph = snapshot.training.step && snapshot.training.step->model == "gcn";
        return read ? fmt::format("{}; {:.1f} % of {} are right", way, 100 * curve.accuracy.back().accuracy,
                                  graph ? "the unlabelled nodes" : "unseen examples")
                    : way;
    }
    static constexpr double alike = 5;  // points of accuracy that such runs lie apart by chance

    // The loss of a generator whose opponent can only guess; 0: the run has no such players, or ended far from it.
    static double guess_of(const Snapshot& snapshot) {
        const auto& training = snapshot.training;
        if (!training.step || training.step->model != "gan" || training.curves.size() != 1) return 0;
        const double guess = std::log(2.0), last = training.curves.front().loss.back();
        return std::abs(last - guess) < 0.15 ? guess : 0;
    }
    static void draw_guess(Ui& ui, const Plot& plot) {
        const double guess = guess_of(plot.snapshot);
        if (guess <= plot.y.low || guess >= plot.y.high) return;
        const float at = plot.y.at(guess);
        const Point line[] = {{plot.x.from, at}, {plot.x.from + plot.x.length, at}};
        ui.polyline(line, data::orange, 2, 7, 4);
        if (plot.r.h > 90)
            ui.text(plot.x.from + 4, at + 17, fmt::format("ln 2 = {:.3f}: the opponent only guesses", guess),
                    {.size = 13, .weight = 600});
    }
    static constexpr std::string_view no_log = "no log of a loss of 0 or less";
    float title_ = 14;                 // of a plot: its baseline above it
    bool log_ = true, alone_ = false;  // alone_: losses, without a second plot

    static constexpr float ends_pitch = 22;  // of a run's bar

    // All runs have ended, and what they read was measured behind their last step alone: no second curve.
    static bool measured_once(const std::vector<Curve>& curves) {
        return std::all_of(curves.begin(), curves.end(),
                           [](const Curve& curve) {
                               return !curve.running && curve.accuracy.size() <= 1 &&
                                      (curve.accuracy.empty() || shown_value(curve, curve.accuracy.back()) >= 0);
                           }) &&
               std::any_of(curves.begin(), curves.end(), [](const Curve& curve) { return !curve.accuracy.empty(); });
    }
    // A bar a run; a dashed one of those that a question asks about.
    static void draw_ends(Ui& ui, const std::vector<Curve>& curves, const Rect& r) {
        const Theme& theme = *ui.theme;
        const auto known =
            std::find_if(curves.begin(), curves.end(), [](const Curve& one) { return !one.accuracy.empty(); });
        ui.text(r.x, r.y + 12, (known->measure.empty() ? "test accuracy" : known->measure) + ", behind the last step",
                {.size = 12, .color = theme.ink2, .width = r.w});
        double most = known->measure.empty() ? 1 : 1e-12;
        float names = 40;
        for (const Curve& curve : curves) {
            names = std::max(names, std::min(r.w * 0.3f, ui.text_width(curve.name, {.size = 13}) + 14));
            if (!curve.accuracy.empty() && !known->measure.empty())
                most = std::max(most, shown_value(curve, curve.accuracy.back()));
        }
        const Rect track{r.x + names, r.y + 22, r.w - names - 100, 14};
        for (size_t i = 0; i < curves.size(); ++i) {
            const Curve& curve = curves[i];
            const float y = track.y + ends_pitch * static_cast<float>(i);
            ui.text(r.x, y + 12, curve.name, {.size = 13, .width = names - 8});
            if (curve.accuracy.empty()) {
                if (curve.kept_back) ui.dashed({track.x, y, track.w, track.h}, theme.ink3, 3, 3);
                ui.text(track.right() + 10, y + 12, curve.kept_back ? "?" : "not measured",
                        {.size = 13, .color = theme.ink2, .width = 90});
                continue;
            }
            const double value = shown_value(curve, curve.accuracy.back());
            ui.rect({track.x, y, track.w, track.h}, theme.grid);
            if (std::isfinite(value))
                ui.rect({track.x, y, track.w * static_cast<float>(std::clamp(value / most, 0.0, 1.0)), track.h},
                        color(curves, i, theme));
            ui.text(r.right(), y + 12, number_text(*known, value, false),
                    {.size = 13, .align = Align::right, .weight = 600});
        }
    }

    // A run of one step is no curve: its loss beside that of guessing evenly among the classes.
    struct Single {
        double loss = 0, guess = 0;  // guess 0: the number of classes is not known
        int64_t classes = 0, right = -1, images = 0;
        bool program = false;  // a tensor program's: it has no batch
    };
    static std::optional<Single> single_step(const Snapshot& snapshot) {
        if (snapshot.training.curves.size() != 1 || snapshot.training.curves[0].loss.size() != 1 ||
            snapshot.training.curves[0].total_steps > 1)
            return std::nullopt;
        Single one{snapshot.training.curves[0].loss[0]};
        one.program = snapshot.tape != nullptr;
        if (!snapshot.training.step) return one;
        const nn::StepRecord& step = *snapshot.training.step;
        for (const nn::GraphNode& node : step.nodes)
            for (const int input : node.inputs)
                if (node.op == "softmax_cross_entropy" && step.nodes[static_cast<size_t>(input)].shape.size() == 2)
                    one.classes = step.nodes[static_cast<size_t>(input)].shape[1];
        if (one.classes > 1) one.guess = std::log(static_cast<double>(one.classes));
        if (!step.labels.empty() && step.labels.size() == step.predictions.size()) {
            one.images = static_cast<int64_t>(step.labels.size());
            one.right = 0;
            for (size_t i = 0; i < step.labels.size(); ++i) one.right += step.labels[i] == step.predictions[i];
        }
        return one;
    }
    static std::string single_sentence(const Single& one) {
        std::string text =
            fmt::format("The {} loss in this one step is {:.3f}", one.program ? "program's" : "batch's", one.loss);
        if (one.guess > 0)
            text += fmt::format("; guessing evenly among {} classes would cost ln {} = {:.3f}", one.classes, one.classes,
                                one.guess);
        return text + ".";
    }
    static void draw_single(Ui& ui, const Single& one, const Rect& r) {
        const Theme& theme = *ui.theme;
        const double most = std::max({one.loss, one.guess, 1e-9}) * 1.08;
        const float name = std::min(150.f, r.w * 0.36f), bar = r.w - name - 70;
        float y = r.y + 14;
        ui.text(r.x, y, "training loss", {.size = 12, .color = theme.ink2});
        const auto row = [&](const std::string& label, double value, Color color, Hatch hatch) {
            const float length = bar * static_cast<float>(value / most);
            ui.text(r.x, y + 27, label, {.size = 13, .width = name - 8});
            ui.rect({r.x + name, y + 12, bar, 22}, theme.grid);
            ui.hatch({r.x + name, y + 12, length, 22}, color, hatch);
            ui.text(r.right(), y + 28, fmt::format("{:.3f}", value),
                    {.size = 15, .align = Align::right, .weight = 700, .mono = true});
            y += 36;
        };
        if (std::isfinite(one.loss)) row(one.program ? "this program" : "this batch", one.loss, theme.ink2, Hatch::solid);
        if (one.guess > 0) row("an even guess", one.guess, theme.ink3, Hatch::diagonal);
        if (one.right < 0 || r.bottom() - y < 60) return;
        y += 24;
        ui.text(r.x, y, "images read right", {.size = 12, .color = theme.ink2});
        const auto share = static_cast<double>(one.right) / static_cast<double>(std::max<int64_t>(1, one.images));
        ui.text(r.x, y + 27, fmt::format("{} of {}", one.right, one.images), {.size = 13, .width = name - 8});
        ui.rect({r.x + name, y + 12, bar, 22}, theme.grid);
        ui.rect({r.x + name, y + 12, bar * static_cast<float>(share), 22}, data::green);
        ui.text(r.right(), y + 28, fmt::format("{:.0f} %", 100 * share),
                {.size = 15, .align = Align::right, .weight = 700, .mono = true});
    }

    static std::string tick_text(double value) {  // fits beside the axis
        const double size = std::abs(value);
        if (size >= 1e6) return fmt::format("{:.0e}", value);
        if (size >= 1000) return fmt::format("{:.3g} k", value / 1000);
        return fmt::format("{:.3g}", value);
    }
    static bool measured(const Snapshot& snapshot) { return !snapshot.training.curves.front().measure.empty(); }
    static double shown_value(const Curve& curve, const nn::Evaluation& e) {
        return curve.measure.empty() ? e.accuracy : e.measures.empty() ? NAN : e.measures.front().value;
    }
    // 1, 2 or 5 times a power of ten, not below.
    static double rounded_top(double value) { return value > 0 ? rounded(value) : 1; }
    // The nearest number of the kind 3 x 10^k, with one of the factors, that is not above `value`; with `up`: not below.
    static double log_end(double value, std::initializer_list<double> factors, bool up) {
        const double decade = std::pow(10.0, std::floor(std::log10(value)));
        double best = up ? 10 * decade : decade;
        for (const double factor : factors) {
            if (up && factor * decade >= value * 0.999) return factor * decade;
            if (!up && factor * decade <= value * 1.001) best = factor * decade;
        }
        return best;
    }
    static Color color(const std::vector<Curve>& curves, size_t run, const Theme& theme) {
        constexpr Color others[] = {data::orange, data::purple, data::green};
        const int own = curves[run].colour;
        return run == 0 ? theme.ink : others[(own >= 0 ? static_cast<size_t>(own) : run - 1) % 3];
    }
    // The current run first, the others as far as there is room; of those without, how many they are.
    static void legend(Ui& ui, const std::vector<Curve>& curves, float left, float right, float baseline) {
        const auto name = [](const Curve& curve) { return curve.name + (curve.kept_back ? ": ?" : ""); };
        const auto width = [&](const Curve& curve) { return ui.text_width(name(curve), {.size = 13}) + 48; };
        constexpr float more = 64;  // "3 more"
        float all = 0;
        size_t shown = 0;
        for (; shown < curves.size(); ++shown) {
            const float rest = shown + 1 < curves.size() ? more : 0;
            if (shown > 0 && left + all + width(curves[shown]) + rest > right) break;
            all += width(curves[shown]);
        }
        float x = std::max(left, right - all - (shown < curves.size() ? more : 0));
        for (size_t i = 0; i < shown; ++i)
            x = ui.legend_line(x, baseline, color(curves, i, *ui.theme), i > 0, name(curves[i]));
        if (shown < curves.size())
            ui.text(right, baseline, fmt::format("{} more", curves.size() - shown),
                    {.size = 12, .color = ui.theme->quiet, .align = Align::right});
    }
    static int64_t step_shown(const Curve& curve, const Focus& focus) {
        const auto last = static_cast<int64_t>(curve.loss.size()) - 1;
        return focus.step >= 0 ? std::min<int64_t>(focus.step, last) : last;
    }
    static const nn::Evaluation* accuracy_at(const Curve& curve, int64_t step) {
        const nn::Evaluation* found = nullptr;
        for (const nn::Evaluation& e : curve.accuracy)
            if (e.step <= step) found = &e;
        return found;
    }

    // Of any run at a step that it has got to; NaN elsewhere.
    static double value_at(const Curve& curve, int64_t step, bool loss) {
        if (step < 0 || step >= static_cast<int64_t>(curve.loss.size())) return NAN;
        if (loss) return curve.loss[static_cast<size_t>(step)];
        const nn::Evaluation* e = accuracy_at(curve, step);
        return e ? shown_value(curve, *e) : NAN;
    }
    static std::string loss_text(double v) {
        if (!std::isfinite(v)) return std::isnan(v) ? "NaN" : "infinite";
        return v != 0 && std::abs(v) < 0.01 ? fmt::format("{:.2g}", v) : fmt::format("{:.3f}", v);
    }
    static std::string number_text(const Curve& first, double value, bool loss) {
        return loss                    ? loss_text(value)
               : first.measure.empty() ? fmt::format("{:.1f} %", 100 * value)
                                       : fmt::format("{:.4g}", value);
    }

    // Whether all runs have ended and lie on each other, and by which part of itself a loss is off the first run's at most.
    struct Apart {
        bool alike = false;
        double most = 0;
    };
    static double apart_at(const std::vector<Curve>& curves, size_t run, size_t step) {
        const double first = curves.front().loss[step];
        return first == 0 ? std::abs(curves[run].loss[step]) : std::abs(curves[run].loss[step] / first - 1);
    }
    static Apart apart_of(const std::vector<Curve>& curves) {
        Apart apart;
        if (curves.size() < 2) return apart;
        for (size_t run = 0; run < curves.size(); ++run) {
            const Curve& one = curves[run];
            if (one.running || one.kept_back || one.loss.empty() || one.loss.size() != curves.front().loss.size()) return {};
            for (size_t i = 0; i < one.loss.size(); ++i) {
                const double off = apart_at(curves, run, i);
                if (!(off <= 2.5e-7)) return {};  // two of the last bits of 32
                apart.most = std::max(apart.most, off);
            }
        }
        apart.alike = true;
        return apart;
    }
    static std::string same_losses(const std::vector<Curve>& curves) {  // empty: some are apart
        const Apart same = apart_of(curves);
        if (!same.alike) return {};
        return fmt::format("All {} runs draw one line: at every step their losses are {}", curves.size(),
                           same.most > 0 ? fmt::format("the same to within {:.0e} of themselves", same.most) : "equal");
    }

    // A dot a step and run: by which part of itself its loss is off the first run's, on powers of ten; equal ones at the
    // foot. `end_step`: the step at which the axis above ends.
    static void draw_apart(Ui& ui, const std::vector<Curve>& curves, double end_step, const Rect& r) {
        const Theme& theme = *ui.theme;
        const bool single = apart_of(curves).most > 1e-12;  // they ran in 32 bits
        const double high = single ? 1e-6 : 1e-13, low = 1e-4 * high;
        const Rect plot{r.x + 44, r.y, r.w - 44 - 8, r.h};
        const auto y_of = [&](double off) {
            const double share = std::log10(std::clamp(off, low, high) / low) / 4;
            return plot.bottom() - plot.h * static_cast<float>(share);
        };
        const TextStyle small{.size = 12, .color = theme.ink2};
        const float end =
            ui.text(r.x, r.y - 8,
                    fmt::format("how far off the losses of {} are, as a part of the loss", curves.front().name), small);
        if (const std::string_view dashed = single ? "dashed: the last bit of 32" : "dashed: the last bit of 64";
            end + 20 + ui.text_width(dashed, small) < r.right())
            ui.text(r.right() - 8 - ui.text_width(dashed, small), r.y - 8, dashed, small);
        for (const double off : {high, 0.01 * high, low}) {
            ui.rect({plot.x, y_of(off), plot.w, 1}, theme.grid);
            ui.text(plot.x - 8, y_of(off) + 4, off == low ? std::string("0") : fmt::format("{:.0e}", off),
                    {.size = 12, .color = theme.quiet, .align = Align::right});
        }
        const float half_bit =
            y_of(single ? double{std::numeric_limits<float>::epsilon()} : std::numeric_limits<double>::epsilon());
        const Point line[] = {{plot.x, half_bit}, {plot.right(), half_bit}};
        ui.polyline(line, theme.ink3, 1, 4, 4);
        const size_t steps = curves.front().loss.size();
        for (size_t run = 1; run < curves.size(); ++run)
            for (size_t step = 0; step < steps; ++step) {
                const float x = plot.x + plot.w * static_cast<float>(static_cast<double>(step) / std::max(1.0, end_step));
                const float y = y_of(apart_at(curves, run, step)),
                            half = 3.5f - 0.5f * static_cast<float>(std::min<size_t>(run, 4));
                ui.rect({x - half, y - half, 2 * half, 2 * half}, color(curves, run, theme));
            }
    }

    // `whole`: of a training that fails, all that is known of the cause; else what has room beside the picture.
    static std::string caption(const Snapshot& snapshot, const Focus& focus, bool whole = false) {
        if (snapshot.training.curves.empty() || snapshot.training.curves.front().loss.empty())
            return "Loss and accuracy appear as the steps run.";
        if (const auto one = single_step(snapshot)) return single_sentence(*one);
        const Curve& curve = snapshot.training.curves.front();
        const int64_t step = step_shown(curve, focus);
        std::string text =
            fmt::format("At step {} the {} loss is {}, it began at {}", step, snapshot.tape ? "program's" : "batch's",
                        loss_text(curve.loss[static_cast<size_t>(step)]), loss_text(curve.loss.front()));
        const size_t runs = snapshot.training.curves.size();
        if (runs > 1 && runs < 5 && curve.total_steps == static_cast<int64_t>(curve.loss.size()) && !curve.running) {
            text = fmt::format("At step {} the loss", step);
            for (size_t i = 0; i < runs; ++i) {
                const Curve& one = snapshot.training.curves[i];
                const int64_t last = std::min<int64_t>(step, static_cast<int64_t>(one.loss.size()) - 1);
                text += fmt::format("{} {} is {}{}", i == 0 ? " of" : ", of", one.name,
                                    last < 0 ? "not known" : loss_text(one.loss[static_cast<size_t>(last)]),
                                    last < step ? fmt::format(" (step {}, its last)", last) : "");
            }
        }
        if (const std::string same = same_losses(snapshot.training.curves); !same.empty()) text = same;
        if (const nn::Evaluation* e = accuracy_at(curve, step))
            text += curve.measure.empty() ? fmt::format("; {:.1f} % of the test set is read right", 100 * e->accuracy)
                                          : fmt::format("; {} {:.4g}", curve.measure, shown_value(curve, *e));
        // Why it fails is more than how far it is.
        if (!curve.causes.empty() && curve.causes.front().step <= step) {
            const nn::Cause& cause = curve.causes.front();
            text = whole ? cause.text : cause.text.substr(0, cause.text.find(';'));
            if (!whole && text.size() > 150) text = text.substr(0, text.find(": "));
            if (!cause.advice.empty())
                text +=
                    ". What to change: " + (whole ? cause.advice : cause.advice.substr(0, cause.advice.find_first_of(",;")));
            text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
        }
        return text + ".";
    }

    // One plot: its axes, the marks of the upright one, and the step that is looked at.
    struct Plot {
        const Snapshot& snapshot;
        Rect r;
        bool loss;
        bool few = false;  // steps: each has its number
        CurveAxis x = {}, y = {};
        std::vector<std::pair<double, std::string>> marks = {};
        int64_t shown = 0;

        const Curve& first() const { return snapshot.training.curves.front(); }
        float cursor() const { return x.at(static_cast<double>(shown)); }
    };
    struct Range {
        double low = INFINITY, high = -INFINITY;
        void hold(double value) {
            if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
        }
    };

    static Range range_of(const std::vector<Curve>& curves) {  // of their losses
        Range range;
        for (const Curve& curve : curves)
            for (const double value : curve.loss) range.hold(value);
        return range;
    }

    // Of a measure of its own: from 0, or from near the least where all lie close together.
    static void scale_measure(Plot& plot) {
        Range range;
        for (const Curve& curve : plot.snapshot.training.curves)
            for (const nn::Evaluation& e : curve.accuracy) range.hold(shown_value(curve, e));
        const double most = std::max(0.0, range.high), least = range.low, top = rounded_top(most);
        plot.y.high = top;
        if (least < 0) plot.y.low = -rounded_top(-least);
        if (least > 0.5 * most && least < most) plot.y.low = std::floor(least / top * 5) / 5 * top;
        for (int i = 0; i <= 2; ++i) {
            const double at = plot.y.low + (plot.y.high - plot.y.low) * i / 2;
            plot.marks.emplace_back(at, tick_text(at));
        }
    }

    static void scale_by_decades(Plot& plot, const Range& range) {
        CurveAxis& y = plot.y;
        auto& marks = plot.marks;
        y.log = true;
        if (range.high < 2.5 * range.low) return scale_closely(plot, range);
        y.low = log_end(range.low, {1, 2, 3, 5}, false);
        y.high = std::max(log_end(range.high, {1, 2, 3, 5}, true), y.low * 2);
        for (double decade = 1e-8; decade < 1e6; decade *= 10)
            for (double f : {1.0, 3.0})
                if (f * decade >= y.low * 0.999 && f * decade <= y.high)
                    marks.emplace_back(f * decade, tick_text(f * decade));
        for (const double end : {y.low, y.high})
            if (marks.size() < 2 && (marks.empty() || std::abs(y.at(end) - y.at(marks[0].first)) > 14) &&
                (marks.empty() || tick_text(end) != marks[0].second))
                marks.emplace_back(end, tick_text(end));
        if (marks.size() > 5) std::erase_if(marks, [](const auto& t) { return t.second.find('3') != std::string::npos; });
    }

    // Losses that hardly differ have the whole height, with marks at even numbers of a tenth of a decade or so.
    static void scale_closely(Plot& plot, const Range& range) {
        CurveAxis& y = plot.y;
        y.log = true;
        y.low = log_end(range.low, {1, 1.2, 1.5, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}, false);
        y.high = std::max(log_end(range.high, {1, 1.2, 1.5, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}, true), y.low * 1.3);
        const double decade = std::pow(10.0, std::floor(std::log10(y.low)));
        for (const double unit : {0.1 * decade, 0.2 * decade, 0.5 * decade, decade, 2 * decade}) {
            plot.marks.clear();
            for (double i = std::ceil(y.low / unit - 1e-6); i * unit <= y.high * (1 + 1e-6); ++i)
                plot.marks.emplace_back(i * unit, tick_text(i * unit));
            if (plot.marks.size() <= 6) return;
        }
    }

    static void scale_evenly(Plot& plot, const Range& range) {
        const double most = std::max({range.high, -range.low, 1e-9}),
                     unit = rounded(most, {{below_two, 0.5}, {any_other, 1}});
        const double from = range.low < 0 ? std::floor(range.low / unit) : 0;  // a loss may lie below zero
        plot.y.low = from * unit;
        plot.y.high = std::max(std::ceil(range.high / unit), from + 1) * unit;
        const int every = (plot.y.high - plot.y.low) / unit > 6 ? 2 : 1;
        for (double i = from; i * unit <= plot.y.high + 1e-3 * unit; i += every)
            plot.marks.emplace_back(i * unit, tick_text(i * unit));
    }

    Plot scaled(const Snapshot& snapshot, const Focus& focus, const Rect& r, bool loss) const {
        Plot plot{snapshot, r, loss};
        int64_t steps = 1;
        const Range range = range_of(snapshot.training.curves);
        for (const Curve& curve : snapshot.training.curves)
            steps = std::max<int64_t>(steps, curve.kept_back ? curve.total_steps : static_cast<int64_t>(curve.loss.size()));
        plot.few = steps <= 10;
        const bool grows = std::any_of(snapshot.training.curves.begin(), snapshot.training.curves.end(),
                                       [](const Curve& curve) { return curve.running; });
        // Where all runs have ended nothing has to be kept free; the five marks are whole numbers.
        const int64_t end = plot.few ? std::max<int64_t>(1, steps - 1) : grows ? axis_end(steps) : (steps + 4) / 5 * 5;
        plot.x = {r.x + 44, r.w - 52, 0, static_cast<double>(end), false};
        plot.y = {r.bottom(), -r.h, 0, 1, false};
        plot.shown = step_shown(plot.first(), focus);
        if (!loss && measured(snapshot))
            scale_measure(plot);
        else if (!loss)
            plot.marks = {{0, "0 %"}, {0.5, "50 %"}, {1, "100 %"}};
        else if (log_ && range.low > 0)
            scale_by_decades(plot, range);
        else
            scale_evenly(plot, range);
        return plot;
    }

    void plot(Ui& ui, Session& session, Focus& focus, const Snapshot& snapshot, const Rect& r, bool loss) {
        const Plot plot = scaled(snapshot, focus, r, loss);
        draw_axes(ui, plot);
        draw_restarts(ui, plot);
        draw_runs(ui, plot);
        if (!loss || alone_)
            ui.text(std::min(plot.cursor(), r.right() - 24), r.bottom() + 17, "step " + with_commas(plot.shown),
                    {.size = 12, .align = Align::center, .weight = 600});
        ui.cursor_line(plot.cursor(), r.y - 4, r.bottom());
        draw_values(ui, plot);
        const auto& curves = snapshot.training.curves;
        if (std::all_of(curves.begin(), curves.end(), [](const Curve& curve) { return curve.kept_back; }))
            ui.text(r.x + r.w / 2, r.y + r.h / 2, "Hidden until you lock an answer.",
                    {.size = 13, .color = ui.theme->ink2, .align = Align::center, .width = r.w - 60});
        const Rect hit{plot.x.from, r.y, plot.x.length, r.h};
        const Drag drag = ui.drag(loss ? "loss" : "accuracy", hit);
        if (!drag.active && !drag.started) return;
        const auto step = static_cast<int32_t>(std::lround((drag.at.x - plot.x.from) / plot.x.length * plot.x.high));
        const int32_t target = std::clamp<int32_t>(step, 0, static_cast<int32_t>(plot.first().loss.size()) - 1);
        if (target == focus.step) return;
        focus.step = target;
        session.post(ask::ShowStep{target});
    }

    void draw_axes(Ui& ui, const Plot& plot) const {
        const Theme& theme = *ui.theme;
        const Rect& r = plot.r;
        const CurveAxis& x = plot.x;
        const std::string measure = plot.loss ? "" : plot.first().measure;
        ui.text(r.x, r.y - title_,
                plot.loss         ? "training loss"
                : measure.empty() ? "test accuracy"
                                  : measure,
                {.size = 12, .color = theme.ink2, .width = r.w * 0.55f});
        float before = INFINITY;
        for (const auto& [value, label] : plot.marks) {
            const float at = plot.y.at(value);
            if (std::abs(at - before) < 13) continue;  // its number would lie on the last one
            before = at;
            ui.line({x.from, at}, {x.from + x.length, at}, theme.grid);
            ui.text(x.from - 8, at + 4, label, {.size = 12, .color = theme.ink2, .align = Align::right});
        }
        if (plot.loss) draw_target(ui, plot);
        if (plot.loss && plot.first().kept_back == false) draw_guess(ui, plot);
        if (plot.loss && !alone_) return;
        for (int i = 0, marks = plot.few ? static_cast<int>(x.high) : 5; i <= marks; ++i) {
            const double step = x.high * i / marks;
            if (std::abs(x.at(step) - plot.cursor()) > 46)
                ui.text(x.at(step), r.bottom() + 17, with_commas(static_cast<int64_t>(step)),
                        {.size = 12, .color = theme.ink2, .align = Align::center});
        }
    }

    // The loss that the runs are to reach, and where the mean of five losses first did.
    static void draw_target(Ui& ui, const Plot& plot) {
        const auto& curves = plot.snapshot.training.curves;
        const double target = target_of(curves);
        if (target < plot.y.low || target > plot.y.high || target <= 0) return;
        const float at = plot.y.at(target);
        const Point line[] = {{plot.x.from, at}, {plot.x.from + plot.x.length, at}};
        ui.polyline(line, ui.theme->ink2, 1.5f, 7, 4);
        ui.text(plot.x.from + 4, at + 15, target_words(target), {.size = 12, .color = ui.theme->ink2});
        for (size_t run = 0; run < curves.size(); ++run) {
            if (curves[run].to_target <= 0) continue;
            const float x = plot.x.at(static_cast<double>(curves[run].to_target - 1));
            ui.rect({x - 4, at - 4, 8, 8}, ui.theme->panel);
            ui.rect({x - 3, at - 3, 6, 6}, color(curves, run, *ui.theme));
        }
    }
    static double target_of(const std::vector<Curve>& curves) {  // 0: none has one
        for (const Curve& curve : curves)
            if (curve.target > 0) return curve.target;
        return 0;
    }
    static std::string target_words(double target) { return fmt::format("target {:g}, as a mean of five", target); }

    static std::vector<Point> points_of(const Plot& plot, const Curve& curve) {
        std::vector<Point> points;
        if (plot.loss) {
            const size_t stride = std::max<size_t>(1, curve.loss.size() / 300);  // a point a pixel at most
            for (size_t s = 0; s < curve.loss.size(); s += stride)
                if (std::isfinite(curve.loss[s]))
                    points.push_back({plot.x.at(static_cast<double>(s)), plot.y.at(curve.loss[s])});
        } else {
            for (const nn::Evaluation& e : curve.accuracy)
                points.push_back({plot.x.at(static_cast<double>(e.step)), plot.y.at(shown_value(curve, e))});
        }
        return points;
    }

    static void draw_curve(Ui& ui, const Plot& plot, size_t run) {
        const Color ink = color(plot.snapshot.training.curves, run, *ui.theme);
        const std::vector<Point> points = points_of(plot, plot.snapshot.training.curves[run]);
        const bool own = run == 0;
        if (points.size() > 1) ui.polyline(points, ink, own ? 2.5f : 1.6f, own ? 0.f : 6.f, own ? 0.f : 3.f);
        if (points.size() == 1) ui.circle(points[0], 4, ink);
    }

    // The runs that go where the first one goes, itself among them.
    static std::vector<size_t> on_each_other(const Plot& plot) {
        const auto& curves = plot.snapshot.training.curves;
        const std::vector<Point> first = points_of(plot, curves[0]);
        std::vector<size_t> found = {0};
        for (size_t run = 1; run < curves.size(); ++run) {
            const std::vector<Point> other = points_of(plot, curves[run]);
            const bool same = other.size() == first.size() && other.size() > 1 &&
                              std::equal(other.begin(), other.end(), first.begin(), [](const Point& a, const Point& b) {
                                  return std::abs(a.x - b.x) < 1 && std::abs(a.y - b.y) < 2;
                              });
            if (same) found.push_back(run);
        }
        return found;
    }

    // Runs that lie on each other are strands within one another, the first outermost: none hides another.
    static void draw_runs(Ui& ui, const Plot& plot) {
        const auto& curves = plot.snapshot.training.curves;
        constexpr size_t most = 4;
        constexpr float strand = 4, inmost = 3;
        std::vector<size_t> same = on_each_other(plot);
        if (same.size() > most) same.resize(most);
        for (size_t i = curves.size(); i-- > 0;)
            if (same.size() < 2 || std::ranges::find(same, i) == same.end()) draw_curve(ui, plot, i);
        if (same.size() < 2) return;
        const std::vector<Point> points = points_of(plot, curves[0]);
        for (size_t i = 0; i < same.size(); ++i)
            ui.polyline(points, color(curves, same[i], *ui.theme),
                        inmost + strand * static_cast<float>(same.size() - 1 - i));
    }

    // Where a run stopped and went on from what it had saved.
    static void draw_restarts(Ui& ui, const Plot& plot) {
        const Rect& r = plot.r;
        for (const Curve& curve : plot.snapshot.training.curves) {
            if (curve.resumed <= 0 || curve.kept_back || !plot.loss) continue;
            const float x = plot.x.at(static_cast<double>(curve.resumed));
            for (float y = r.y; y < r.bottom(); y += 8)
                ui.line({x, y}, {x, std::min(y + 4, r.bottom())}, ui.theme->ink2, 1.5f);
            const std::string words = fmt::format("step {}: {} goes on from its checkpoint", curve.resumed, curve.name);
            const float width = ui.text_width(words, {.size = 12});
            if (x + 8 + width < r.right()) ui.text(x + 8, r.y + 12, words, {.size = 12, .color = ui.theme->ink2});
        }
    }

    // The run's value at the step that is looked at, and the others' in their colours, as far as there is room.
    void draw_values(Ui& ui, const Plot& plot) const {
        const Theme& theme = *ui.theme;
        const Rect& r = plot.r;
        const float cursor = plot.cursor();
        const double value = value_at(plot.first(), plot.shown, plot.loss);
        if (!std::isfinite(value)) return;
        ui.circle({cursor, plot.y.at(value)}, 6, theme.panel);
        ui.circle({cursor, plot.y.at(value)}, 4.5f, theme.ink);
        float left = ui.text(r.right(), r.y - title_, number_text(plot.first(), value, plot.loss),
                             {.size = 12, .align = Align::right, .weight = 600});
        for (size_t i = 1; i < plot.snapshot.training.curves.size(); ++i) {
            const double other = value_at(plot.snapshot.training.curves[i], plot.shown, plot.loss);
            if (!std::isfinite(other)) continue;
            const Color ink = color(plot.snapshot.training.curves, i, theme);
            ui.circle({cursor, plot.y.at(other)}, 3.5f, ink);
            const std::string text = number_text(plot.first(), other, plot.loss);
            if (left - 10 - ui.text_width(text, {.size = 12}) - 90 < r.x + r.w * 0.4f) continue;
            left = ui.text(left - 10, r.y - title_, text, {.size = 12, .color = ink, .align = Align::right});
        }
        const int64_t step = plot.loss ? plot.shown : accuracy_at(plot.first(), plot.shown)->step;
        ui.text(left - 10, r.y - title_, fmt::format("at step {}", step),
                {.size = 12, .color = theme.ink2, .align = Align::right});
    }
};

}  // namespace

std::unique_ptr<View> make_curves_view() {
    return std::make_unique<CurvesView>();
}

}  // namespace lockstep::gui
