#include "lessons/player/challenge/challenge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/files.h"
#include "core/base/units.h"
#include "core/scene/figures/figures.h"

namespace lockstep::lessons {

using namespace scene;

namespace {

constexpr double grace = 1.02;

// "us" of step_us@row:mine; of arithmetic there is none.
std::string unit_of(const Expression& figure) {
    const std::vector<FigureName> names = figure.names();
    if (names.size() != 1 || names.front().text != figure.text()) return {};
    const std::string& base = names.front().base;
    for (const FigureKind& kind : figure_kinds())
        for (const FigureText& row : kind.rows)
            if (row.name == base && !row.unit.empty()) return std::string(row.unit);
    for (const model::MetricRow& row : model::metric_rows())
        if (row.name == base) return std::string(row.unit);
    return {};
}

// The exercise at the challenge's size. At a size of its own right outputs are all that counts; without one every clause
// does, as a plan that does not fit is soon made fast.
Exercise at_size(const Challenge& challenge, const Exercise& exercise) {
    Exercise one = exercise;
    one.id.clear();  // it has no challenge of its own
    one.inputs = {{.random = 1}};
    std::string check = exercise.check.text();
    if (!challenge.shape.empty()) {
        one.shapes = {challenge.shape};
        check = exercise.check.names("outputs") ? "outputs == reference" : "";
    }
    one.check =
        Expression::parse(fmt::format("{}{}{} >= 0", check, check.empty() ? "" : " && ", challenge.of.text())).value();
    one.clause_points.assign(one.check.clauses().size(), 1.0);
    return one;
}

}  // namespace

std::string_view name_of(Medal medal) {
    static constexpr std::string_view names[] = {"none", "bronze", "silver", "gold"};
    return names[static_cast<size_t>(medal)];
}

std::string limit_words(double value, const std::string& unit) {
    if (unit == "us" && value >= 1e5) return limit_words(value / 1e6, "s");
    return (value >= 1000 ? with_commas(static_cast<int64_t>(std::floor(value))) : fmt::format("{:.4g}", value)) +
           (unit.empty()   ? ""
            : unit == "us" ? " µs"
                           : " " + unit);
}

Medal medal_named(std::string_view name) {
    for (const Medal medal : {Medal::bronze, Medal::silver, Medal::gold})
        if (name == name_of(medal)) return medal;
    return Medal::none;
}

Medal MedalLimits::of(double figure) const {
    return figure <= gold ? Medal::gold : figure <= silver ? Medal::silver : figure <= bronze ? Medal::bronze : Medal::none;
}

double MedalLimits::of(Medal medal) const {
    return medal == Medal::gold ? gold : medal == Medal::silver ? silver : bronze;
}

std::string MedalLimits::words() const {
    const std::string same = unit == "us" && bronze >= 1e5 ? unit : "";  // seconds each, or as the first
    return fmt::format("bronze to {}, silver to {}, gold to {}", limit_words(bronze, unit), limit_words(silver, same),
                       limit_words(gold, same));
}

std::string MedalWon::words() const {
    if (!problem.empty()) return "no medal: " + problem;
    return fmt::format("{}: {} in the challenge ({})", medal == Medal::none ? "no medal" : name_of(medal),
                       limit_words(figure, limits.unit), limits.words());
}

const Exercise* challenged(const Lesson& lesson) {
    if (!lesson.challenge) return nullptr;
    for (const Step& step : lesson.steps)
        for (const Exercise& exercise : step.exercises)
            if (exercise.id == lesson.challenge->exercise) return &exercise;
    return nullptr;
}

std::string_view provenance_of_challenge(const Lesson& lesson) {
    static constexpr std::pair<std::string_view, std::string_view> rows[] = {{".plan", "derived"}, {".train", "executed"}};
    const Exercise* const exercise = challenged(lesson);
    for (const auto& [ending, provenance] : rows)
        if (exercise && exercise->file.ends_with(ending)) return provenance;
    return "simulated";
}

Result<AtSize> at_challenge_size(const Lesson& lesson, const JudgeAtSize& judge) {
    const Result<ExerciseReport> report = judge(at_size(*lesson.challenge, *challenged(lesson)));
    if (!report) return report.error();
    for (const Clause& clause : report.value().clauses)
        if (!clause.holds) return AtSize{0, clause.detail};
    if (!report.value().timed) return AtSize{0, "nothing was measured"};
    const Result<double> figure =
        lesson.challenge->of.evaluate([&](const FigureName& name) { return figure_of(*report.value().timed, name); });
    if (!figure) return figure.error();
    return AtSize{figure.value(), ""};
}

Result<AtSize> at_challenge_size(const Lesson& lesson, const std::string& file, const RunOptions& options,
                                 bool compiled_here) {
    RunOptions own = options;
    own.submission.reset();
    return at_challenge_size(lesson, [&](const Exercise& exercise) -> Result<ExerciseReport> {
        Yardstick known;
        const Result<std::string> text = read_text(lesson.folder / file, size_t{1} << 20);
        if (!text) return text.error();
        if (compiled_here || std::filesystem::path(file).extension() != ".cu")
            return check_submission(lesson, exercise, text.value(), (lesson.folder / file).string(), own, &known);
        const auto program = load_kernel(lesson.folder, file, exercise.kernel);
        if (!program) return program.error();
        return check_exercise(lesson, exercise, program.value(), own, text.value(), false, &known);
    });
}

Result<MedalLimits> medal_limits(const Lesson& lesson, const RunOptions& options, bool compiled_here) {
    const auto figure = [&](const std::string& file) -> Result<double> {
        Result<AtSize> one = at_challenge_size(lesson, file, options, compiled_here);
        if (!one) return one.error();
        if (one.value().wrong.empty()) return one.value().figure;
        return Diagnostic{fmt::format("the challenge's reference {} is wrong: {}", file, one.value().wrong),
                          lesson.challenge->where};
    };
    const Result<double> solution = figure("solution/" + challenged(lesson)->file), gold = figure(lesson.challenge->gold);
    if (!solution) return solution.error();
    if (!gold) return gold.error();
    return MedalLimits{grace * solution.value(), grace * std::sqrt(solution.value() * gold.value()), grace * gold.value(),
                       unit_of(lesson.challenge->of)};
}

Result<MedalWon> medal_of(const Lesson& lesson, const ExerciseReport& passed, const JudgeAtSize& judge,
                          const RunOptions& options, bool compiled_here, Yardstick& known) {
    if (!known.medals) {
        const TimeForAll::Piece for_all(known.time);
        Result<MedalLimits> limits = medal_limits(lesson, options, compiled_here);
        if (!limits) return limits.error();
        known.medals = std::move(limits.value());
    }
    const bool same_size = lesson.challenge->shape.empty() && passed.timed;
    const JudgeAtSize again = [&](const Exercise&) -> Result<ExerciseReport> { return passed; };
    const Result<AtSize> own = at_challenge_size(lesson, same_size ? again : judge);
    if (!own) return own.error();
    MedalWon won{Medal::none, own.value().figure, *known.medals, own.value().wrong};
    if (won.problem.empty()) won.medal = won.limits.of(won.figure);
    return won;
}

}  // namespace lockstep::lessons
