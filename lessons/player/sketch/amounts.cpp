// Kinds of which an amount is put: a bar, a number, points of a curve, a dot on the roofline, the parts of a whole.
#include <fmt/format.h>

#include <algorithm>

#include "lessons/player/sketch/parts.h"

namespace lockstep::lessons {

namespace {

constexpr std::string_view here = "here";

Result<SketchTruth> asked_values(SceneRuns& runs, size_t step, const Predict& predict, const SketchBoard& board) {
    SketchTruth truth;
    truth.sketch = blank(board, nothing_put);
    for (size_t i = 0; i < board.places.size(); ++i) {
        if (board.places[i].known) {
            truth.sketch.values[i] = *board.places[i].known;
            continue;
        }
        for (const NamedExpression& one : predict.sketch.asked)
            if (one.name == board.places[i].name) {
                const Result<double> value = value_of(runs, step, predict, one.value);
                if (!value) return value.error();
                truth.sketch.values[i] = value.value();
            }
    }
    return truth;
}

double last_put(const SketchBoard& board, const Sketch& sketch) {
    for (size_t i = board.places.size(); i-- > 0;)
        if (!board.places[i].known) return sketch.values[i];
    return nothing_put;
}

// A bar beside bars that are known.

Result<SketchBoard> bar_board(SceneRuns& runs, size_t step, const Predict& predict) {
    Result<SketchBoard> made = kernel_board(runs, step, predict);
    if (!made) return made;
    SketchBoard& board = made.value();
    if (const auto problem = add_known(runs, step, predict, true, board)) return *problem;
    board.places.push_back({predict.sketch.label.empty() ? std::string(here) : predict.sketch.label, ""});
    fit_axis(predict, board);
    return made;
}

Result<SketchTruth> figure_itself(SceneRuns& runs, size_t step, const Predict& predict, const SketchBoard& board) {
    const Result<double> value = truth_of(runs, step, predict);
    if (!value) return value.error();
    SketchTruth truth;
    truth.sketch = blank(board, nothing_put);
    for (size_t i = 0; i < board.places.size(); ++i)
        truth.sketch.values[i] = board.places[i].known ? *board.places[i].known : value.value();
    return truth;
}

SketchScore bar_score(const Predict& predict, const SketchBoard& board, const Sketch& sketch, const SketchTruth& truth) {
    return score_amounts(predict, board, sketch, truth, "drew");
}

Sketch as_last(const SketchBoard& board, double answer) {
    Sketch sketch = blank(board, nothing_put);
    for (size_t i = 0; i < board.places.size(); ++i)
        if (!board.places[i].known) sketch.values[i] = answer;
    return sketch;
}

// A number.

Result<SketchBoard> typed_board(SceneRuns& runs, size_t step, const Predict& predict) {
    Result<SketchBoard> made = kernel_board(runs, step, predict);
    if (!made) return made;
    SketchBoard& board = made.value();
    if (const auto problem = add_known(runs, step, predict, false, board)) return *problem;
    board.places.push_back({predict.sketch.label.empty() ? std::string(here) : predict.sketch.label, ""});
    board.axis.unit = predict.sketch.unit;
    return made;
}

SketchScore typed_score(const Predict& predict, const SketchBoard& board, const Sketch& sketch, const SketchTruth& truth) {
    return score_amounts(predict, board, sketch, truth, "wrote");
}

// A curve's points at given places, some of them known.

Result<SketchBoard> curve_board(SceneRuns& runs, size_t step, const Predict& predict) {
    Result<SketchBoard> made = kernel_board(runs, step, predict);
    if (!made) return made;
    SketchBoard& board = made.value();
    if (const auto problem = add_known(runs, step, predict, true, board)) return *problem;
    for (const NamedExpression& one : predict.sketch.asked)
        board.places.push_back({one.name, "", std::nullopt, std::atof(one.name.c_str())});
    std::stable_sort(board.places.begin(), board.places.end(),
                     [](const SketchPlace& a, const SketchPlace& b) { return a.at < b.at; });
    fit_axis(predict, board);
    board.axis.whole = false;
    board.across.low = board.places.front().at;
    board.across.high = board.places.back().at;
    board.across.unit = predict.sketch.label;
    board.across.log = board.across.low > 0 && board.across.high / board.across.low >= 8;
    return made;
}

// A dot below the roofs.

Result<SketchBoard> dot_board(SceneRuns& runs, size_t step, const Predict& predict) {
    const auto kernel = kernel_asked(runs, step);
    if (!kernel) return kernel.error();
    Result<SketchBoard> made = kernel_board(runs, step, predict);
    if (!made) return made;
    SketchBoard& board = made.value();
    const model::GpuSpec& gpu = kernel.value()->run->gpu;
    const Result<double> bandwidth = scene::gpu_figure(gpu, "dram_gb_per_second"),
                         tera = scene::gpu_figure(gpu, "fp32_tflops");
    if (!bandwidth) return bandwidth.error();
    if (!tera) return tera.error();
    const double peak = 1000 * tera.value();
    board.limits = {{"HBM", bandwidth.value()}, {"FP32", peak}};
    if (const auto problem = add_known(runs, step, predict, false, board)) return *problem;
    for (const NamedExpression& one : predict.sketch.asked) board.places.push_back({one.name, "", std::nullopt, 0});
    board.across = {0.01, 1000, true, false, "FLOP a byte"};
    board.axis = {std::pow(10, std::floor(std::log10(bandwidth.value() * 0.01))),
                  std::pow(10, std::ceil(std::log10(peak * 1.2))), true, false, "GFLOP/s"};
    return made;
}

double height(const SketchBoard&, const Sketch& sketch) {
    return sketch.values.size() == 2 ? sketch.values[1] : nothing_put;
}

SketchScore dot_score(const Predict& predict, const SketchBoard& board, const Sketch& sketch, const SketchTruth& truth) {
    SketchScore score;
    score.verdicts.assign(board.places.size(), Verdict::missed);
    if (sketch.values.size() != 2 || !(sketch.values[0] > 0) || !(sketch.values[1] > 0) || !(truth.sketch.values[0] > 0) ||
        !(truth.sketch.values[1] > 0)) {
        score.sentence = "Nothing was put into the picture.";
        return score;
    }
    const double x = std::log10(sketch.values[0] / truth.sketch.values[0]),
                 y = std::log10(sketch.values[1] / truth.sketch.values[1]), most = std::log10(1 + predict.tolerance);
    score.verdicts = {std::fabs(x) <= most ? Verdict::agrees
                      : x < 0              ? Verdict::low
                                           : Verdict::high,
                      std::fabs(y) <= most ? Verdict::agrees
                      : y < 0              ? Verdict::low
                                           : Verdict::high};
    score.near = std::max(0.0, 1 - std::hypot(x, y) / 2);
    score.right = std::fabs(x) <= most && std::fabs(y) <= most;
    const auto factor = [](double log) { return fmt::format("{:.2g} times", std::pow(10, std::fabs(log))); };
    std::vector<std::string> off;
    if (std::fabs(x) > most) off.push_back(fmt::format("{} too far {}", factor(x), x < 0 ? "left" : "right"));
    if (std::fabs(y) > most) off.push_back(fmt::format("{} too {}", factor(y), y < 0 ? "low" : "high"));
    score.sentence = score.right ? "Your dot stands where the run's does." : fmt::format("Your dot stands {}.", listed(off));
    return score;
}

// The parts of a whole, which make a hundred together.

Result<SketchBoard> shares_board(SceneRuns& runs, size_t step, const Predict& predict) {
    Result<SketchBoard> made = kernel_board(runs, step, predict);
    if (!made) return made;
    SketchBoard& board = made.value();
    if (const auto problem = add_known(runs, step, predict, false, board)) return *problem;
    for (const NamedExpression& one : predict.sketch.asked) board.places.push_back({one.name, ""});
    board.axis = {0, 100, false, true, "%"};
    return made;
}

Result<SketchTruth> shares_truth(SceneRuns& runs, size_t step, const Predict& predict, const SketchBoard& board) {
    Result<SketchTruth> made = asked_values(runs, step, predict, board);
    if (!made) return made;
    double sum = 0;
    for (const double v : made.value().sketch.values) sum += std::max(0.0, v);
    if (!(sum > 0)) return Diagnostic{"the parts of this whole come to nothing"};
    for (double& v : made.value().sketch.values) v = 100 * std::max(0.0, v) / sum;
    return made;
}

double first_share(const SketchBoard&, const Sketch& sketch) {
    return sketch.values.empty() ? nothing_put : sketch.values.front();
}

SketchScore shares_score(const Predict& predict, const SketchBoard& board, const Sketch& sketch, const SketchTruth& truth) {
    SketchScore score;
    double off = 0, widest = 0;
    size_t worst = 0;
    bool right = sketch.values.size() == truth.sketch.values.size() && !sketch.values.empty();
    for (size_t i = 0; i < board.places.size(); ++i) {
        const double put = i < sketch.values.size() ? sketch.values[i] : nothing_put, is = truth.sketch.values[i];
        const double d = std::isfinite(put) ? put - is : -is;
        const bool agrees = std::isfinite(put) && std::fabs(d) <= 100 * predict.tolerance;
        right = right && agrees;
        score.verdicts.push_back(agrees ? Verdict::agrees : d < 0 ? Verdict::low : Verdict::high);
        off += std::fabs(d);
        if (std::fabs(d) > widest) widest = std::fabs(d), worst = i;
    }
    score.near = std::max(0.0, 1 - off / 200);
    score.right = right;
    const double d = worst < sketch.values.size() ? sketch.values[worst] - truth.sketch.values[worst] : 0;
    score.sentence = right ? fmt::format("Every part is within {:.0f} points.", 100 * predict.tolerance)
                           : fmt::format("Farthest off is \"{}\": {:.0f} points too {}.", board.places[worst].name, widest,
                                         d < 0 ? "little" : "much");
    return score;
}

}  // namespace

SketchKind bar_kind() {
    return {.name = "bar",
            .words = "Drag the bar in the picture",
            .help = "Click or drag where the bar ends. Arrows move it too, Backspace clears.",
            .counted = "your bar",
            .needs = {},
            .may = {"base", "known", "label", "unit", "axis", "log", "finding"},
            .tolerance = 0.1,
            .board = bar_board,
            .truth = figure_itself,
            .score = bar_score,
            .measure = last_put,
            .pencilled = as_last};
}

SketchKind typed_kind() {
    return {.name = "typed",
            .words = "Write it into the picture",
            .help = "Type the number. Backspace takes the last digit back.",
            .counted = "your number",
            .needs = {},
            .may = {"base", "known", "label", "unit", "finding"},
            .tolerance = 0.02,
            .board = typed_board,
            .truth = figure_itself,
            .score = typed_score,
            .measure = last_put,
            .pencilled = as_last};
}

SketchKind curve_kind() {
    return {.name = "curve",
            .words = "Draw the curve on",
            .help = "Click or drag at each open place. Arrows move the point that you touched last, Backspace clears.",
            .counted = "where your curve ends",
            .needs = {"points"},
            .may = {"base", "known", "label", "unit", "axis", "log", "finding"},
            .tolerance = 0.15,
            .board = curve_board,
            .truth = asked_values,
            .score = bar_score,
            .measure = last_put,
            .pencilled = nullptr};
}

SketchKind dot_kind() {
    return {.name = "dot",
            .words = "Place the dot below the roof",
            .help = "Click or drag where the kernel stands. Arrows move the dot too, Backspace clears.",
            .counted = "GFLOP/s at your dot",
            .needs = {"x", "y"},
            .may = {"known", "label", "finding"},
            .tolerance = 0.4,
            .board = dot_board,
            .truth = asked_values,
            .score = dot_score,
            .measure = height,
            .pencilled = nullptr};
}

SketchKind shares_kind() {
    return {.name = "shares",
            .words = "Drag the parts of the bar",
            .help = "Drag the borders between the parts. Backspace clears.",
            .counted = "the first part",
            .needs = {"parts"},
            .may = {"base", "known", "label", "finding"},
            .tolerance = 0.1,
            .board = shares_board,
            .truth = shares_truth,
            .score = shares_score,
            .measure = first_share,
            .pencilled = nullptr};
}

}  // namespace lockstep::lessons
