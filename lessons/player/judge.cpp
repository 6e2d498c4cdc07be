// What judging shares, whatever a learner hands in: outputs against the reference's, the runs that check= names, and its
// clauses one by one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/close_enough.h"
#include "core/scene/arguments/outputs.h"
#include "lessons/player/exercise_parts.h"

namespace lockstep::lessons {

using namespace scene;

namespace {

// What a type's values may be off by, in parts of the number itself, and in parts of the array's largest: sums that are
// taken in another order are off by roundings of what they passed through, which their own small result does not tell.
struct Rounding {
    double relative = 0, of_largest = 0;
};
Rounding rounding_of(DType type) {
    switch (type) {
        case DType::f32:
            return {1e-5, 1e-5};
        case DType::f64:
            return {1e-12, 1e-12};
        case DType::f16:  // the sums themselves in f32
            return {2e-3, 1e-5};
        case DType::bf16:
            return {2e-2, 1e-5};
        default:
            return {};
    }
}

double largest_in(const Array& array) {  // of the finite ones, without its sign
    double largest = 0;
    if (rounding_of(array.dtype).relative > 0)
        for (size_t i = 0; i < array.count(); ++i)
            if (const double x = std::fabs(element_of(array, i)); std::isfinite(x)) largest = std::max(largest, x);
    return largest;
}

// Equal bits, or numbers within the type's rounding of sums taken in another order; NaN agrees with NaN alone. `largest`:
// of the reference's array, `b`.
bool same(const Array& a, const Array& b, size_t i, double largest) {
    const size_t size = size_of(a.dtype);
    if (std::memcmp(a.bytes.data() + i * size, b.bytes.data() + i * size, size) == 0) return true;
    const Rounding rounding = rounding_of(a.dtype);
    if (rounding.relative == 0) return false;
    const double x = element_of(a, i), y = element_of(b, i);
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    return close_enough(x, y, rounding.relative, std::max(1e-3, largest * rounding.of_largest / rounding.relative));
}

std::string value_text(const Array& array, size_t i) {
    switch (array.dtype) {
        case DType::f64:
            return fmt::format("{}", array.as<double>()[i]);
        case DType::i64:
            return fmt::format("{}", array.as<int64_t>()[i]);
        case DType::u64:
            return fmt::format("{}", array.as<uint64_t>()[i]);
        case DType::f32:
        case DType::f16:
        case DType::bf16:
            return fmt::format("{}", static_cast<float>(element_of(array, i)));
        default:
            return fmt::format("{}", static_cast<int64_t>(element_of(array, i)));
    }
}

// One clause of check=, with the words that say why it holds or not.
Result<Clause> judged(const Expression& clause, const Judging& how) {
    const auto value_of = [&](const FigureName& name) -> Result<double> {
        if (name.text == "outputs") return how.wrong.empty() ? 1.0 : 0.0;
        return name.text == "reference" ? Result<double>(1.0) : how.lookup(name);
    };
    Clause line;
    line.text = clause.text();
    const std::vector<FigureName> names = clause.names();
    const bool about_outputs = clause.names("outputs");
    const bool known = !names.empty() && std::all_of(names.begin(), names.end(),
                                                     [&](const FigureName& name) { return how.causes.contains(name.text); });
    if (!about_outputs && !known && !how.wrong.empty() && !how.measure_anyway) {
        line.detail = "not measured: the outputs come first";  // a kernel that faults has no counters worth reading
        return line;
    }
    const Result<double> value = clause.evaluate(value_of);
    if (!value) return value.error();
    line.holds = value.value() != 0 && !std::isnan(value.value());
    if (about_outputs) {
        line.detail = how.wrong.empty() ? how.right : how.wrong;
    } else if (clause.is_comparison()) {
        const auto [left, right] = clause.sides();
        const Result<double> a = left.evaluate(value_of), b = right.evaluate(value_of);
        if (a && b) line.detail = fmt::format("{:.6g} against {:.6g}", a.value(), b.value());
    }
    for (const FigureName& name : names)
        if (const auto cause = how.causes.find(name.text); !line.holds && cause != how.causes.end()) {
            const std::string sentence = cause->second();
            if (!sentence.empty()) line.detail += (line.detail.empty() ? "" : ": ") + sentence;
        }
    return line;
}

}  // namespace

namespace {

struct Element {
    size_t output = 0, element = 0;
};

// The first element that differs, of outputs of the same types and sizes.
std::optional<Element> first_different(const std::vector<Array>& got, const std::vector<Array>& wanted) {
    for (size_t o = 0; o < wanted.size() && o < got.size(); ++o) {
        if (got[o].dtype != wanted[o].dtype || got[o].count() != wanted[o].count()) return std::nullopt;
        const double largest = largest_in(wanted[o]);
        for (size_t i = 0; i < wanted[o].count(); ++i)
            if (!same(got[o], wanted[o], i, largest)) return Element{o, i};
    }
    return std::nullopt;
}

}  // namespace

std::string difference(const std::vector<Array>& got, const std::vector<Array>& wanted,
                       const std::vector<std::string>& names) {
    const auto which = [&](size_t o) { return o < names.size() ? "'" + names[o] + "'" : fmt::format("output {}", o + 1); };
    if (const auto at = first_different(got, wanted))
        return fmt::format("{}, element {}: {} where the reference has {}", which(at->output), at->element,
                           value_text(got[at->output], at->element), value_text(wanted[at->output], at->element));
    for (size_t o = 0; o < wanted.size() && o < got.size(); ++o)
        if (got[o].dtype != wanted[o].dtype || got[o].count() != wanted[o].count())
            return which(o) + " has another type or size than the reference's";
    return got.size() == wanted.size() ? "" : "the number of outputs differs";
}

std::string who_wrote_it(const ptx::Program& kernel, simt::LaunchConfig config, const std::vector<KernelArgument>& arguments,
                         const std::string& source, const std::vector<Array>& got, const std::vector<Array>& wanted) {
    const auto at = first_different(got, wanted);
    if (!at) return {};
    simt::Memory memory(uint64_t{1} << 30);
    const Result<BoundArguments> bound = bind_arguments(kernel, arguments, memory, config, 1, {}, source);
    if (!bound) return {};
    const LaunchToLookAt look{kernel, config, bound.value(), got, std::make_shared<const simt::Memory>(memory), {}, 0};
    const std::string text = last_writer_text(look, at->output, at->element);
    return text.empty() ? text : ", " + text;
}

Result<SceneResult> ExerciseRuns::of(const std::string& run) {
    if (const auto known = results_.find(run); known != results_.end()) return known->second;
    if (!run.empty() && run != "reference" && run != "starter")
        return Diagnostic{fmt::format("unknown run '{}': there are reference and starter", run)};
    Result<SceneResult> result = make_(run);
    if (result) results_.emplace(run, result.value());
    return result;
}

Result<double> ExerciseRuns::figure(const FigureName& name) {
    const Result<SceneResult> result = of(name.place("run"));
    if (!result) return result.error();
    return figure_of(result.value(), name.without("run"));
}

Result<double> ExerciseRuns::figure_or_nan(const FigureName& name) {
    Result<double> value = figure(name);
    if (value || !name.place("run").empty()) return value;
    const Result<SceneResult> reference = of("reference");
    if (!reference) return reference.error();
    return figure_of(reference.value(), name) ? Result<double>(std::nan("")) : value;
}

Diagnostic placed(const Exercise& exercise, Diagnostic problem) {
    if (!problem.where.file.empty() && problem.where.file != "argument") return problem;
    problem.where = exercise.where;
    problem.source_line.clear();
    return problem;
}

std::optional<Diagnostic> judge_clauses(ExerciseReport& report, const Expression& check, const Judging& how) {
    report.passed = true;
    for (const Expression& clause : check.clauses()) {
        Result<Clause> line = judged(clause, how);
        if (!line) return line.error();
        report.passed = report.passed && line.value().holds;
        report.lines.push_back(
            fmt::format("{} {}: {}", line.value().holds ? "pass" : "FAIL", line.value().text, line.value().detail));
        report.clauses.push_back(std::move(line).value());
    }
    report.points = report.passed ? report.of_points : 0;
    report.lines.push_back(fmt::format("{} of {} points", report.points, report.of_points));
    return {};
}

int random_fillings(const Exercise& exercise) {
    const auto random =
        std::find_if(exercise.inputs.begin(), exercise.inputs.end(), [](const InputKind& kind) { return kind.random > 0; });
    return random == exercise.inputs.end() ? 1 : std::min(random->random, 20);
}

ExerciseReport empty_report(const Exercise& exercise) {
    ExerciseReport report;
    report.exercise = exercise.id;
    report.of_points = exercise.points;
    return report;
}

ExerciseReport refused(const Exercise& exercise, const std::string& clause, const std::string& detail) {
    ExerciseReport report = empty_report(exercise);
    report.clauses.push_back({clause, false, detail});
    report.lines.push_back(fmt::format("FAIL {}: {}", clause, detail));
    report.lines.push_back(fmt::format("0 of {} points", report.of_points));
    return report;
}

}  // namespace lockstep::lessons
