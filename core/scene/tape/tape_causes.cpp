// Why a tensor program learns nothing (core/nn/train/diagnose.h), with the lines of its file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/nn/train/diagnose.h"
#include "core/scene/tape/tape_program.h"

namespace lockstep::scene {

namespace {

constexpr double grown = 3;        // times the first loss, as nn::causes() has it
constexpr int halvings_tried = 8;  // of the updates
constexpr int tens_tried = 9;      // that they are made larger by
constexpr size_t least_losses = 10;

// An overflow of its own, after losses that did not grow, is told as what it is (TapeRun::anomaly).
bool grew(const std::vector<double>& losses) {
    if (losses.size() < 3) return false;
    const double limit = grown * std::abs(losses.front());
    return !(std::abs(losses.back()) <= limit) && std::any_of(losses.begin(), losses.end(), [&](double loss) {
        return std::isfinite(loss) && std::abs(loss) > limit;
    });
}

// The losses with updates that are `by` times as large; empty: it does not run.
std::vector<double> losses_with(const TapeRun& run, const TapeRunOptions& options, double by) {
    TapeText other = run.text;
    for (TapeStatement& statement : other.statements) statement.rate *= by;
    TapeRunOptions quick = options;
    quick.device = "host";
    quick.keep_runs = quick.watch = false;
    quick.progress = {};
    quick.partial = false;
    const auto again = run_tape(other, quick);
    return again ? again.value()->loss : std::vector<double>();
}

// A loss that has not moved, and that much larger updates bring down: the smallest of them that do are told.
std::optional<TapeCause> crawling_tape(const TapeRun& run, const TapeRunOptions& options) {
    const auto update = std::find_if(
        run.text.statements.begin(), run.text.statements.end(),
        [](const TapeStatement& statement) { return statement.kind == TapeStatement::Kind::update && statement.rate > 0; });
    if (update == run.text.statements.end() || run.loss.size() < least_losses) return std::nullopt;
    const double first = run.loss.front(), last = run.loss.back();
    if (!std::isfinite(first) || !std::isfinite(last) || std::abs(first - last) > 0.001 * std::abs(first))
        return std::nullopt;
    for (int tens = 2; tens <= tens_tried; ++tens) {
        const double by = std::pow(10.0, tens);
        const std::vector<double> losses = losses_with(run, options, by);
        if (losses.empty() || !std::isfinite(losses.back())) return std::nullopt;
        if (!(losses.back() < first - 0.1 * std::abs(first))) continue;
        TapeCause found{{.name = "rate_too_small", .step = static_cast<int64_t>(run.loss.size()) - 1}, update->line};
        found.cause.text = fmt::format("the updates of {:g} are too small: in {} steps the loss went from {:.6g} to {:.6g}",
                                       update->rate, run.loss.size(), first, last);
        found.cause.advice = fmt::format("update {:g}: with it the loss goes to {:.4g} in as many steps (tried)",
                                         update->rate * by, losses.back());
        return found;
    }
    return std::nullopt;
}

std::optional<TapeCause> diverged_tape(const TapeRun& run, const TapeRunOptions& options) {
    const auto update =
        std::find_if(run.text.statements.begin(), run.text.statements.end(),
                     [](const TapeStatement& statement) { return statement.kind == TapeStatement::Kind::update; });
    if (update == run.text.statements.end() || !grew(run.loss) || !std::isfinite(run.loss.front())) return std::nullopt;
    size_t since = run.loss.size() - 1;
    while (since > 1 && !(run.loss[since - 1] <= run.loss.front())) --since;
    TapeCause found{{.name = "diverged", .step = static_cast<int64_t>(since)}, update->line};
    double most = 0;
    for (const double loss : run.loss) most = std::isfinite(loss) ? std::max(most, std::abs(loss)) : most;
    found.cause.text = fmt::format(
        "the training diverged: from step {} on the loss grew from {:.4g} to {:.4g}{}: the updates of {:g} are too "
        "large",
        since, run.loss.front(), most, std::isfinite(run.loss.back()) ? "" : " and beyond all numbers", update->rate);
    for (int halving = 1; halving <= halvings_tried; ++halving) {
        const double by = std::ldexp(1.0, -halving);
        const std::vector<double> losses = losses_with(run, options, by);
        if (losses.empty()) return found;
        if (!(losses.back() <= losses.front())) continue;
        found.cause.advice = fmt::format("update {:g}: with it the loss goes from {:.4g} to {:.4g} in {} steps (tried)",
                                         update->rate * by, losses.front(), losses.back(), losses.size());
        break;
    }
    return found;
}

}  // namespace

std::vector<TapeCause> causes_of(const TapeRun& run, const TapeRunOptions& options) {
    std::vector<TapeCause> found;
    const auto line_of = [&](int node) {
        return node >= 0 && size_t(node) < run.line_of_node.size() ? run.line_of_node[size_t(node)] : 0;
    };
    if (auto cause = diverged_tape(run, options)) return {*std::move(cause)};
    // A gradient of zero is a learner's aim too, at the minimum: only a loss that never fell is a failure.
    if (run.step->replayed || run.anomaly || run.parameters == 0) return found;
    if (auto cause = crawling_tape(run, options)) return {*std::move(cause)};
    if (run.loss.size() > 1 && run.loss.back() < run.loss.front()) return found;
    for (const TapeStatement& statement : run.text.statements)
        if (statement.kind == TapeStatement::Kind::update) {
            if (auto cause = nn::dead_gradients(run.step->nodes, run.step->step))
                found.push_back({*cause, line_of(cause->node)});
            break;
        }
    return found;
}

}  // namespace lockstep::scene
