// What can be asked of a tensor program's run, by name, and what it found in words.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/scene/figures/figure_name.h"
#include "core/scene/tape/tape_program.h"

namespace lockstep::scene {

namespace {

// "d.w[1]@step:3"
struct FigureName {
    std::string name;
    int64_t step = -1;
    size_t index = 0;
    bool indexed = false, gradient = false;
};
Result<FigureName> figure_name(const std::string& full) {
    FigureName figure{full};
    if (const std::string step = take_suffix(figure.name, "step"); !step.empty()) {
        const Result<size_t> number = whole_in(step, full);
        if (!number) return number.error();
        figure.step = static_cast<int64_t>(std::min<size_t>(number.value(), INT64_MAX));
    }
    if (const size_t open = figure.name.find('['); open != std::string::npos) {
        const Result<size_t> index = index_in(figure.name);
        if (!index) return index.error();
        figure.index = index.value();
        figure.indexed = true;
        figure.name.erase(open);
    }
    if (figure.name.starts_with("d.")) {
        figure.gradient = true;
        figure.name.erase(0, 2);
    }
    return figure;
}

double cycles_of(const nn::StepRecord& step, std::string_view phase) {
    double sum = 0;
    for (const device::LaunchEvent& launch : step.launches)
        if (phase.empty() || launch.phase == phase) sum += static_cast<double>(launch.cycles);
    return sum;
}

}  // namespace

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

Result<double> tape_figure(const TapeRun& run, const std::string& full) {
    if (full.starts_with("hessian.")) {
        if (run.hessians.empty()) return Diagnostic{"the program has no hessian line"};
        const TapeHessian& hessian = run.hessians.front();
        for (size_t row = 0; row < hessian.in.size(); ++row)
            for (size_t column = 0; column < hessian.in.size(); ++column)
                if (full == "hessian." + hessian.in[row] + "." + hessian.in[column]) return hessian.at(row, column);
        return Diagnostic{fmt::format("'{}': a Hessian's element is named by two of {}, as in hessian.{}.{}", full,
                                      fmt::join(hessian.in, ", "), hessian.in.front(), hessian.in.back())};
    }
    if (full.starts_with("anomaly.")) {
        const std::string what = full.substr(8);
        if (what == "found") return run.anomaly ? 1.0 : 0.0;
        if (!run.anomaly) return Diagnostic{"every value and gradient is finite: there is no anomaly"};
        if (what == "line") return static_cast<double>(run.anomaly_line);
        if (what == "step") return static_cast<double>(run.anomaly_step);
        if (what == "backward") return run.anomaly->backward ? 1.0 : 0.0;
        return Diagnostic{"of an anomaly there are found, line, step and backward"};
    }
    if (full.starts_with("gradcheck.")) {
        if (run.checks.empty()) return Diagnostic{"the program has no gradcheck line"};
        const tensor::GradcheckResult& check = run.checks.front();
        const std::string what = full.substr(10);
        if (what == "compared") return static_cast<double>(check.compared);
        if (what == "wrong") return static_cast<double>(check.mismatches.size());
        if (what == "worst") return check.worst;
        if (what == "backward" || what == "numeric") {
            if (check.mismatches.empty()) return Diagnostic{"gradcheck finds no difference"};
            return what == "backward" ? check.mismatches.front().backward : check.mismatches.front().numeric;
        }
        return Diagnostic{"of gradcheck there are compared, wrong, worst, backward and numeric"};
    }
    const Result<FigureName> asked = figure_name(full);
    if (!asked) return asked.error();
    const FigureName& figure = asked.value();
    const int64_t steps = run.text.steps, step = figure.step < 0 ? steps - 1 : figure.step;
    if (step >= static_cast<int64_t>(run.history.size()))
        return Diagnostic{fmt::format("'{}': the program runs {} step{}, from 0", full, steps, steps == 1 ? "" : "s")};
    const auto& kept = run.history[static_cast<size_t>(step)];
    if (const auto found = kept.find(figure.name); found != kept.end()) {
        const std::vector<double>& values = figure.gradient ? found->second.gradient : found->second.value;
        if (values.empty())
            return Diagnostic{
                fmt::format("'{}' has no {}", figure.name, figure.gradient ? "gradient" : "value that was kept")};
        if (figure.index >= values.size())
            return Diagnostic{fmt::format("'{}' is beyond the {} elements", full, values.size())};
        if (!figure.indexed && values.size() > 1)
            return Diagnostic{fmt::format("'{}' has {} elements: say which, as in {}[0]", figure.name, values.size(), full)};
        return values[figure.index];
    }
    const nn::StepRecord& last = *run.step;
    if (figure.name == "loss" && step < static_cast<int64_t>(run.loss.size())) return run.loss[static_cast<size_t>(step)];
    if (figure.name == "steps") return static_cast<double>(steps);
    if (figure.name == "chain") return static_cast<double>(run.chain);
    if (figure.name == "operations") return run.cost.forward.operations;
    if (figure.name == "parameters") return static_cast<double>(run.parameters);
    if (figure.name == "cycles") return cycles_of(last, "");
    if (figure.name == "forward_cycles") return cycles_of(last, "forward");
    if (figure.name == "backward_cycles") return cycles_of(last, "backward");
    if (figure.name == "ops")
        return static_cast<double>(
            std::count_if(last.nodes.begin(), last.nodes.end(), [](const nn::GraphNode& node) { return !node.op.empty(); }));
    if (figure.name == "accumulations")
        return static_cast<double>(
            std::count_if(last.launches.begin(), last.launches.end(),
                          [](const device::LaunchEvent& launch) { return launch.kernel.starts_with("accumulate"); }));
    std::vector<std::string> known;
    for (const auto& [name, unused] : kept) known.push_back(name);
    const std::string near = nearest_name(figure.name, known);
    return Diagnostic{near.empty()
                          ? fmt::format("unknown figure '{}'; named in the program are {}", full, fmt::join(known, ", "))
                          : fmt::format("unknown figure '{}', did you mean '{}'?", full, near)};
}

}  // namespace lockstep::scene
