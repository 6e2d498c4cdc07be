// What can be asked of a tensor program's run, by name, and what it found in words.
#include <algorithm>

#include "core/scene/figures/figures.h"
#include "core/scene/tape/tape_program.h"

namespace lockstep::scene {
namespace {

double cycles_of(const TapeRun& run, std::string_view phase) {
    double sum = 0;
    for (const device::LaunchEvent& launch : run.step->launches)
        if (phase.empty() || launch.phase == phase) sum += static_cast<double>(launch.cycles);
    return sum;
}

Result<const tensor::GradcheckResult*> first_check(const TapeRun& run) {
    if (run.checks.empty()) return Diagnostic{"the program has no gradcheck line"};
    return &run.checks.front();
}
template <double tensor::GradcheckMismatch::*part>
Result<double> first_mismatch(const TapeRun& run) {
    const auto check = first_check(run);
    if (!check) return check.error();
    if (check.value()->mismatches.empty()) return Diagnostic{"gradcheck finds no difference"};
    return check.value()->mismatches.front().*part;
}

template <class Value>
Result<double> of_anomaly(const TapeRun& run, const Value& value) {
    if (!run.anomaly) return Diagnostic{"every value and gradient is finite: there is no anomaly"};
    return static_cast<double>(value);
}

Result<size_t> step_of(const TapeRun& run, const FigureName& name) {  // the last one where it names none
    if (name.place("step").empty()) return static_cast<size_t>(run.text.steps - 1);
    return name.number_at("step");
}

Result<double> loss(const TapeRun& run, const FigureName& name) {
    const Result<size_t> step = step_of(run, name);
    if (!step) return step.error();
    if (step.value() >= run.loss.size()) return Diagnostic{fmt::format("'{}': the program has no such loss", name.text)};
    return run.loss[step.value()];
}

Result<double> hessian(const TapeRun& run, const std::string& name) {
    if (run.hessians.empty()) return Diagnostic{"the program has no hessian line"};
    const TapeHessian& hessian = run.hessians.front();
    for (size_t row = 0; row < hessian.in.size(); ++row)
        for (size_t column = 0; column < hessian.in.size(); ++column)
            if (name == "hessian." + hessian.in[row] + "." + hessian.in[column]) return hessian.at(row, column);
    return Diagnostic{fmt::format("'{}': a Hessian's element is named by two of {}, as in hessian.{}.{}", name,
                                  fmt::join(hessian.in, ", "), hessian.in.front(), hessian.in.back())};
}

constexpr Figure<TapeRun> tape_rows[] = {
    {"loss", "", "The root of backward, in the last step or in one of them.",
     [](const TapeRun& r, const FigureName& name) { return loss(r, name); }, "step"},
    {"steps", "", "That the program runs.", [](const TapeRun& r) { return r.text.steps; }},
    {"chain", "", "Ops of the longest chain in which each waits for the one before.",
     [](const TapeRun& r) { return r.chain; }},
    {"operations", "", "Of the forward pass.", [](const TapeRun& r) { return r.cost.forward.operations; }},
    {"parameters", "", "Elements of all params.", [](const TapeRun& r) { return r.parameters; }},
    {"cycles", "cycles", "Of all launches.", [](const TapeRun& r) { return cycles_of(r, ""); }},
    {"forward_cycles", "cycles", "Of the forward pass.", [](const TapeRun& r) { return cycles_of(r, "forward"); }},
    {"backward_cycles", "cycles", "Of the backward pass.", [](const TapeRun& r) { return cycles_of(r, "backward"); }},
    {"ops", "", "That the last step records.",
     [](const TapeRun& r) {
         return std::count_if(r.step->nodes.begin(), r.step->nodes.end(), [](const auto& node) { return !node.op.empty(); });
     }},
    {"accumulations", "", "Gradients that were added to another.",
     [](const TapeRun& r) {
         return std::count_if(r.step->launches.begin(), r.step->launches.end(),
                              [](const auto& launch) { return launch.kernel.starts_with("accumulate"); });
     }},
    {"gradcheck.compared", "", "Elements that gradcheck compares.",
     [](const TapeRun& r) -> Result<double> {
         const auto check = first_check(r);
         if (!check) return check.error();
         return static_cast<double>(check.value()->compared);
     }},
    {"gradcheck.wrong", "", "Elements that differ.",
     [](const TapeRun& r) -> Result<double> {
         const auto check = first_check(r);
         if (!check) return check.error();
         return static_cast<double>(check.value()->mismatches.size());
     }},
    {"gradcheck.worst", "tolerances", "The largest difference.",
     [](const TapeRun& r) -> Result<double> {
         const auto check = first_check(r);
         if (!check) return check.error();
         return check.value()->worst;
     }},
    {"gradcheck.backward", "", "What backward gives where the first element differs.",
     [](const TapeRun& r) { return first_mismatch<&tensor::GradcheckMismatch::backward>(r); }},
    {"gradcheck.numeric", "", "What central differences give there.",
     [](const TapeRun& r) { return first_mismatch<&tensor::GradcheckMismatch::numeric>(r); }},
    {"anomaly.found", "", "1 where a value or gradient is not finite, else 0.",
     [](const TapeRun& r) { return r.anomaly.has_value(); }},
    {"anomaly.line", "", "The line that recorded the first such value.",
     [](const TapeRun& r) { return of_anomaly(r, r.anomaly_line); }},
    {"anomaly.step", "", "The step in which it came up.", [](const TapeRun& r) { return of_anomaly(r, r.anomaly_step); }},
    {"anomaly.backward", "", "1 where it is a gradient, else 0.",
     [](const TapeRun& r) { return of_anomaly(r, r.anomaly && r.anomaly->backward); }},
};

}  // namespace

std::vector<FigureText> tape_figures() {
    return texts_of(tape_rows);
}

std::string anomaly_text(const TapeRun& run) {
    const std::string text = run.anomaly->text();
    return (run.text.steps > 1 ? fmt::format("step {}: ", run.anomaly_step) : "") +
           text.substr(0, text.find(", recorded at"));
}

std::string TapeHessian::text() const {
    size_t wide = 11;
    for (const std::string& name : in) wide = std::max(wide, name.size() + 1);
    std::string table = fmt::format("{:>{}}", "", wide);
    for (const std::string& name : in) table += fmt::format("{:>{}}", name, wide);
    for (size_t row = 0; row < in.size(); ++row) {
        table += fmt::format("\n{:>{}}", in[row], wide);
        for (size_t column = 0; column < in.size(); ++column) table += fmt::format("{:>{}.5g}", at(row, column), wide);
    }
    return table;
}

// A name of the program, d.NAME for its gradient, or a row; and whatever a training step answers.
Result<double> figure_of(const TapeRun& run, const FigureName& name) {
    if (name.base.starts_with("hessian.")) return hessian(run, name.text);
    if (!name.place("launch").empty()) return figure_of(*run.step, name);
    const Result<size_t> step = step_of(run, name);
    if (!step) return step.error();
    if (step.value() >= run.history.size())
        return Diagnostic{fmt::format("'{}': the program runs {} step{}, from 0", name.text, run.text.steps,
                                      run.text.steps == 1 ? "" : "s")};
    const bool gradient = name.base.starts_with("d.");
    const std::string named = gradient ? name.base.substr(2) : name.base;
    const auto& kept = run.history[step.value()];
    if (const auto found = kept.find(named); found != kept.end()) {
        const std::vector<double>& values = gradient ? found->second.gradient : found->second.value;
        if (values.empty())
            return Diagnostic{fmt::format("'{}' has no {}", named, gradient ? "gradient" : "value that was kept")};
        if (!name.indexed() && values.size() > 1)
            return Diagnostic{fmt::format("'{}' has {} elements: say which, as in {}[0]", named, values.size(), name.text)};
        const Result<size_t> index = name.indexed() ? name.index() : Result<size_t>(0);
        if (!index) return index.error();
        if (index.value() >= values.size())
            return Diagnostic{fmt::format("'{}' is beyond the {} elements", name.text, values.size())};
        return values[index.value()];
    }
    if (const Figure<TapeRun>* row = name.indexed() ? nullptr : row_named(tape_rows, name.base)) {
        if (auto wrong = wrong_place(*row, name)) return *std::move(wrong);
        return row->value.of(run, name);
    }
    if (const Result<double> of_step = figure_of(*run.step, name)) return of_step;
    std::vector<std::string> known;
    for (const auto& [one, unused] : kept) known.push_back(one);
    return unknown_figure(name, "a tensor program", texts_of(tape_rows), known);
}

}  // namespace lockstep::scene
