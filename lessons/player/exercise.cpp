#include "lessons/player/exercise.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <sstream>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/system/system.h"
#include "lessons/player/challenge/challenge.h"
#include "lessons/player/exercise_parts.h"
#include "lessons/player/predict.h"

namespace lockstep::lessons {

using namespace scene;

namespace {

using Program = std::shared_ptr<const ptx::Program>;
constexpr uint64_t functional_budget = 20'000'000;  // warp instructions a launch: a run-away ends within a second

// How one launch's generated buffers are filled.
struct Filling {
    std::string name;  // "random 3": for reports
    enum class Kind : uint8_t { random, zeros, ramp, extremes } kind = Kind::random;
    uint64_t seed = 1;
};

std::vector<Filling> fillings_of(const Exercise& exercise, uint64_t seed) {
    std::vector<Filling> fillings;
    for (const InputKind& kind : exercise.inputs) {
        if (kind.edges) {
            fillings.push_back({"all zeros", Filling::Kind::zeros});
            fillings.push_back({"0, 1, 2, ...", Filling::Kind::ramp});
            fillings.push_back({"extreme values", Filling::Kind::extremes, seed});
        }
        for (int i = 0; i < kind.random; ++i)
            fillings.push_back(
                {fmt::format("random {}", i + 1), Filling::Kind::random, seed * 1000 + static_cast<uint64_t>(i)});
    }
    return fillings;
}

// Values that break careless kernels but keep sums finite: signs, zeros, denormals, widely different sizes.
void fill_extremes(Array& array, uint64_t below, uint64_t seed) {
    static const double reals[] = {0.0, -0.0, 1.0, -1.0, 1e-40, -1e-40, 3e4, -3e4, 0.5, 1e-3, -65504, 16777216};
    Rng rng(seed);
    for (size_t i = 0; i < array.count(); ++i) {
        const double value = reals[rng.below(std::size(reals))];
        const uint64_t whole = below ? (rng.below(2) ? below - 1 : 0) : rng.below(2) ? 99 : 0;
        switch (array.dtype) {
            case DType::f32:
                array.as<float>()[i] = static_cast<float>(value);
                break;
            case DType::f64:
                array.as<double>()[i] = value;
                break;
            case DType::f16:
                array.as<uint16_t>()[i] = f32_to_f16(static_cast<float>(value));
                break;
            case DType::bf16:
                array.as<uint16_t>()[i] = f32_to_bf16(static_cast<float>(value));
                break;
            default:
                std::memcpy(array.bytes.data() + i * size_of(array.dtype), &whole, size_of(array.dtype));
        }
    }
}

struct LaunchShape {
    std::string text;  // "n=25 block=12"
    simt::Dim3 grid, block;
    std::vector<KernelArgument> arguments;
};

Result<LaunchShape> make_shape(const Exercise& exercise, const std::string& text) {
    LaunchShape shape;
    shape.text = text;
    std::map<std::string, double> variables;
    std::istringstream in(text);
    for (std::string word; in >> word;) {
        const size_t equals = word.find('=');
        // The parser has looked at it: the whole word is a number.
        std::from_chars(word.data() + equals + 1, word.data() + word.size(), variables[word.substr(0, equals)]);
    }
    auto placed = [&](Diagnostic d) {
        d.message += text.empty() ? "" : fmt::format(" (shape {})", text);
        d.where = exercise.where;
        d.source_line.clear();
        return d;
    };
    for (const auto& [what, written, place] :
         {std::tuple{"grid", &exercise.grid, &shape.grid}, {"block", &exercise.block, &shape.block}}) {
        Result<std::string> filled = fill_in(*written, variables);
        if (!filled) return placed(filled.error());
        Result<simt::Dim3> extents = parse_dim3(filled.value(), what);
        if (!extents) return placed(extents.error());
        *place = extents.value();
    }
    for (const std::string& written : exercise.arguments) {
        Result<std::string> filled = fill_in(written, variables);
        if (!filled) return placed(filled.error());
        Result<KernelArgument> argument = parse_argument(filled.value());
        if (!argument) return placed(argument.error());
        shape.arguments.push_back(std::move(argument).value());
    }
    return shape;
}

// The shape's arguments with generated buffers replaced by this filling's values.
Result<std::vector<KernelArgument>> filled_arguments(const LaunchShape& shape, const Filling& filling,
                                                     const std::filesystem::path& folder) {
    std::vector<KernelArgument> arguments = shape.arguments;
    for (size_t i = 0; i < arguments.size(); ++i) {
        KernelArgument& argument = arguments[i];
        if (argument.fill != KernelArgument::Fill::random && argument.fill != KernelArgument::Fill::below) continue;
        KernelArgument wanted = argument;
        if (filling.kind == Filling::Kind::zeros) wanted.fill = KernelArgument::Fill::zero;
        if (filling.kind == Filling::Kind::ramp && argument.fill == KernelArgument::Fill::random)
            wanted.fill = KernelArgument::Fill::ramp;
        Result<Array> values = initial_contents(wanted, filling.seed * 1000003u + i, folder);
        if (!values) return values.error();
        argument.values = std::move(values).value();
        if (filling.kind == Filling::Kind::extremes) fill_extremes(argument.values, argument.below, filling.seed + i);
        argument.fill = KernelArgument::Fill::values;
    }
    return arguments;
}

struct Outcome {
    std::vector<Array> outputs;
    std::optional<simt::Fault> fault;
    std::vector<simt::Fault> reports;  // of the checkers that do not stop a kernel
};

// Shared memory begins with these bytes: on silicon it holds what an earlier kernel left there, and never all zeros.
constexpr std::byte left_in_shared{0xCD};

bool allows(const Exercise& exercise, std::string_view checker) {
    return std::find(exercise.allow.begin(), exercise.allow.end(), checker) != exercise.allow.end();
}

Result<Outcome> run_once(const Program& program, const Exercise& exercise, const LaunchShape& shape,
                         const std::vector<KernelArgument>& arguments, const RunOptions& options,
                         const std::string& source = {}, bool checked = false) {
    simt::Memory memory(uint64_t{1} << 30);
    simt::LaunchConfig config;
    config.grid = shape.grid;
    config.block = shape.block;
    config.dynamic_shared = exercise.dynamic_shared;
    config.shared_fill = left_in_shared;
    Result<BoundArguments> bound = bind_arguments(*program, arguments, memory, config, 1, {}, source);
    if (!bound) return bound.error();
    if (auto problem = simt::check_launch(*program, config, {})) return *problem;
    simt::LaunchOptions launch;
    launch.max_instructions = functional_budget;
    launch.stop = options.stop;
    launch.racecheck = checked && !allows(exercise, "racecheck");
    launch.initcheck = checked && !allows(exercise, "initcheck");
    launch.synccheck = !allows(exercise, "synccheck");
    simt::LaunchResult result = simt::launch(*program, config, memory, launch);
    if (result.stopped) throw Cancelled();
    return Outcome{read_outputs(bound.value(), memory), std::move(result.fault), std::move(result.reports)};
}

std::string describe_case(const LaunchShape& shape, const Filling& filling) {
    return fmt::format("{}{}grid {},{},{}, block {},{},{}, inputs {}", shape.text, shape.text.empty() ? "" : ", ",
                       shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x, shape.block.y, shape.block.z, filling.name);
}

// One timed launch on the first shape, as a scene's result, so that figure_of reads it.
Result<SceneResult> timed_run(const Lesson& lesson, const Exercise& exercise, const Program& program,
                              const LaunchShape& shape, const Filling& filling, const RunOptions& options,
                              const std::string& source) {
    Scene where;
    where.gpu = exercise.gpu;
    Result<model::GpuSpec> gpu = model::gpu_named(gpu_of(lesson, where, options));
    if (!gpu) return gpu.error();
    Result<std::vector<KernelArgument>> arguments = filled_arguments(shape, filling, lesson.folder);
    if (!arguments) return arguments.error();
    KernelLaunch launch;
    launch.gpu = gpu.value();
    launch.program = program;
    launch.grid = shape.grid;
    launch.block = shape.block;
    launch.dynamic_shared = exercise.dynamic_shared;
    launch.arguments = std::move(arguments).value();
    launch.source = source;
    launch.shared_fill = left_in_shared;
    const auto result = run_timed(launch, options);
    if (!result) return result.error();
    return SceneResult{result.value()};
}

// Both kernels on every shape and filling, until one launch differs.
struct Comparison {
    std::string wrong;  // the first launch whose outputs differ, or that a checker objects to
    int agreed = 0;
    bool ended = false;              // whether the last launch ran to its end
    std::vector<simt::Fault> races;  // of the first launch that has any, where check= asks for them
};

class Comparer {
  public:
    const Exercise& exercise;
    const Program &kernel, &reference;
    const RunOptions& options;
    const std::string& source;
    Yardstick& known;

    // Nothing: the two were compared, as `into` and `report` say. A Diagnostic is a mistake in the lesson.
    std::optional<Diagnostic> compare(const LaunchShape& shape, const Filling& filling,
                                      const std::vector<KernelArgument>& arguments, Comparison& into,
                                      ExerciseReport& report) const {
        const std::string launch = describe_case(shape, filling);
        if (auto problem = run_reference(launch, shape, arguments)) return problem;
        Result<Outcome> got = run_once(kernel, exercise, shape, arguments, options, source, true);
        ++report.launches;
        if (got) report.fault = got.value().fault;
        into.ended = got.ok() && !report.fault;
        std::string wrong = !got           ? got.error().message
                            : report.fault ? simt::render(*report.fault)
                                           : difference(got.value().outputs, known.outputs.at(launch));
        if (into.ended && !wrong.empty()) {
            simt::LaunchConfig config{.grid = shape.grid, .block = shape.block, .dynamic_shared = exercise.dynamic_shared};
            config.shared_fill = left_in_shared;
            wrong += who_wrote_it(*kernel, config, arguments, source, got.value().outputs, known.outputs.at(launch));
        }
        const std::string found = into.ended ? first_finding(got.value(), into) : "";
        if (!found.empty()) wrong = (wrong.empty() ? "the outputs are right, but by luck: " : wrong + "; ") + found;
        if (wrong.empty())
            ++into.agreed;
        else
            into.wrong = fmt::format("{} ({})", wrong, launch);
        return std::nullopt;
    }

  private:
    std::optional<Diagnostic> run_reference(const std::string& launch, const LaunchShape& shape,
                                            const std::vector<KernelArgument>& arguments) const {
        if (known.outputs.contains(launch)) return std::nullopt;
        const TimeForAll::Piece for_all(known.time);
        Result<Outcome> wanted = run_once(reference, exercise, shape, arguments, options);
        if (!wanted) return wanted.error();
        if (wanted.value().fault)
            return Diagnostic{
                fmt::format("the reference itself faults ({}): {}", launch, simt::render(*wanted.value().fault))};
        known.outputs.emplace(launch, std::move(wanted.value().outputs));
        return std::nullopt;
    }

    // What is no race of a clause's own, as text; those go to `into`.
    std::string first_finding(const Outcome& outcome, Comparison& into) const {
        const bool own_clause = exercise.check.names("races");
        std::string first;
        std::vector<simt::Fault> races;
        for (const simt::Fault& report : outcome.reports) {
            if (own_clause && report.kind == "racecheck")
                races.push_back(report);
            else if (first.empty())
                first = simt::render(report);
        }
        if (into.races.empty()) into.races = std::move(races);
        return first;
    }
};

std::optional<Diagnostic> compare_all(const Lesson& lesson, const Comparer& comparer, const std::vector<LaunchShape>& shapes,
                                      const std::vector<Filling>& fillings, Comparison& all, ExerciseReport& report) {
    for (const LaunchShape& shape : shapes)
        for (const Filling& filling : fillings) {
            const auto arguments = filled_arguments(shape, filling, lesson.folder);
            if (!arguments) return arguments.error();
            if (auto problem = comparer.compare(shape, filling, arguments.value(), all, report)) return problem;
            if (!all.wrong.empty()) return std::nullopt;
        }
    return std::nullopt;
}

}  // namespace

namespace {

// All or nothing, as check= says.
Result<ExerciseReport> judge_kernel(const Lesson& lesson, const Exercise& exercise, const Program& kernel,
                                    const RunOptions& options, const std::string& source, bool compiled_here,
                                    Yardstick& known, bool is_starter = false) {
    const Result<Program> reference = load_kernel(lesson.folder, exercise.reference, exercise.kernel);
    if (!reference) return reference.error();
    const bool racecheck = exercise.check.names("races");
    const std::vector<Filling> fillings = fillings_of(exercise, lesson.seed + 1);
    std::vector<LaunchShape> shapes;
    for (const std::string& text : exercise.shapes) {
        Result<LaunchShape> shape = make_shape(exercise, text);
        if (!shape) return shape.error();
        shapes.push_back(std::move(shape).value());
    }
    ExerciseReport report = empty_report(exercise);
    Comparison all;
    const Comparer comparer{exercise, kernel, reference.value(), options, source, known};
    if (auto problem = compare_all(lesson, comparer, shapes, fillings, all, report)) return placed(exercise, *problem);

    const auto program_of = [&](const std::string& run) -> Result<Program> {
        const std::string& file = run == "starter" ? exercise.file : exercise.reference;
        if (compiled_here)
            if (const Result<std::string> text = read_text(lesson.folder / file, 1 << 20))
                return compile_kernel(text.value(), (lesson.folder / file).string(), exercise.kernel, options.compiler);
        return load_kernel(lesson.folder, file, exercise.kernel);
    };
    ExerciseRuns runs([&](const std::string& run) -> Result<SceneResult> {
        if (run.empty()) return timed_run(lesson, exercise, kernel, shapes.front(), fillings.front(), options, source);
        if (const auto found = known.runs.find(run); found != known.runs.end()) return found->second;
        const TimeForAll::Piece for_all(known.time);
        const Result<Program> program = program_of(run);
        if (!program) return program.error();
        Result<SceneResult> made =
            timed_run(lesson, exercise, program.value(), shapes.front(), fillings.front(), options, "");
        if (made) known.runs.emplace(run, made.value());
        return made;
    });
    const auto lookup = [&](const FigureName& name) -> Result<double> {
        if (name.text == "races") return static_cast<double>(all.races.size());
        return runs.figure(name);
    };
    Judging how{lookup, all.wrong, fmt::format("the same in all {} launches", all.agreed)};
    how.measure_anyway = is_starter && all.ended;
    if (racecheck && all.ended)
        how.causes["races"] = [&] { return all.races.empty() ? std::string() : simt::render(all.races.front()); };
    if (const auto problem = judge_clauses(report, exercise.check, how)) return placed(exercise, *problem);
    if (runs.has("")) report.timed = runs.of("").value();
    return report;
}

Result<ExerciseReport> judge_text(const Lesson& lesson, const Exercise& exercise, const std::string& text,
                                  const std::string& file, const RunOptions& options, Yardstick& known,
                                  bool is_starter = false) {
    if (is_host_program(exercise.file)) return check_host_exercise(lesson, exercise, text, file, options, is_starter);
    if (is_tensor_program(exercise.file)) return check_tape_exercise(lesson, exercise, text, file, options, is_starter);
    if (is_engine_program(exercise.file)) return check_training_exercise(lesson, exercise, text, file, options);
    if (is_parallel_program(exercise.file)) return check_parallel_exercise(lesson, exercise, text, file, options);
    Result<Program> program = compile_submission(text, file, exercise.kernel, lesson.folder, options);
    if (!program) return refused(exercise, "it compiles", render(program.error()));
    const bool compiled_here = std::filesystem::path(file).extension() != ".ptx";
    return judge_kernel(lesson, exercise, program.value(), options, compiled_here ? text : "", compiled_here, known,
                        is_starter);
}

// Which clauses the starter holds; empty where it cannot be judged.
std::vector<bool> held_by_starter(const Lesson& lesson, const Exercise& exercise, const RunOptions& options,
                                  bool compiled_here, Yardstick& known) {
    const TimeForAll::Piece for_all(known.time);
    RunOptions own = options;
    own.submission.reset();
    const bool kernel = std::filesystem::path(exercise.file).extension() == ".cu";
    const auto judged = [&]() -> Result<ExerciseReport> {
        if (kernel && !compiled_here) {
            const Result<Program> program = load_kernel(lesson.folder, exercise.file, exercise.kernel);
            if (!program) return program.error();
            return judge_kernel(lesson, exercise, program.value(), own, "", false, known, true);
        }
        const Result<std::string> text = read_text(lesson.folder / exercise.file, 1 << 20);
        if (!text) return text.error();
        return judge_text(lesson, exercise, text.value(), exercise.file, own, known, true);
    };
    const Result<ExerciseReport> report = judged();
    std::vector<bool> holds;
    if (report && report.value().clauses.size() == exercise.check.clauses().size())
        for (const Clause& clause : report.value().clauses) holds.push_back(clause.holds);
    return holds;
}

std::string points_text(double points) {
    return fmt::format("{:.4g}", points);
}

// What each clause is worth: as points= says, or those that the starter does not hold share the points. One that is worth
// nothing is required. False: there is nothing to share.
bool weigh(ExerciseReport& report, const Exercise& exercise, const std::vector<bool>& starter) {
    const size_t clauses = report.clauses.size();
    if (exercise.clause_points.empty() && starter.size() != clauses) return false;
    const auto aims = static_cast<double>(std::count(starter.begin(), starter.end(), false));
    if (exercise.clause_points.empty() && aims == 0) return false;
    for (size_t i = 0; i < clauses; ++i) {
        Clause& clause = report.clauses[i];
        clause.of_points = !exercise.clause_points.empty() ? exercise.clause_points[i]
                           : starter[i]                    ? 0
                                                           : report.of_points / aims;
        clause.required = clause.of_points == 0;
    }
    return true;
}

// Part of the points for part of the clauses, where all that are required hold.
void share_points(ExerciseReport& report, const Exercise& exercise, const std::vector<bool>& starter) {
    if (report.lines.size() <= report.clauses.size() || !weigh(report, exercise, starter)) return;
    const bool may_earn = std::all_of(report.clauses.begin(), report.clauses.end(),
                                      [](const Clause& clause) { return clause.holds || !clause.required; });
    double earned = 0;
    for (size_t i = 0; i < report.clauses.size(); ++i) {
        Clause& clause = report.clauses[i];
        clause.points = clause.holds && may_earn ? clause.of_points : 0;
        earned += clause.points;
        report.lines[i] +=
            clause.required ? " (required)"
                            : fmt::format(" ({} of {} points)", points_text(clause.points), points_text(clause.of_points));
    }
    report.points = report.passed ? report.of_points : earned;
    report.lines.back() = fmt::format("{} of {} points", points_text(report.points), points_text(report.of_points));
}

// What a report that is not all or nothing is worth. Without `always` the starter is judged only where that can matter.
void share(const Lesson& lesson, const Exercise& exercise, const RunOptions& options, bool compiled_here, Yardstick& known,
           bool always, ExerciseReport& report) {
    const bool partly =
        !report.passed && std::any_of(report.clauses.begin(), report.clauses.end(), [](const Clause& c) { return c.holds; });
    if (!partly && !always) return;
    if (report.clauses.size() != exercise.check.clauses().size()) return;
    if (!known.starter)
        known.starter = exercise.clause_points.empty() ? held_by_starter(lesson, exercise, options, compiled_here, known)
                                                       : std::vector<bool>();
    share_points(report, exercise, *known.starter);
}

// What passed may have earned a medal in the lesson's challenge.
Result<ExerciseReport> with_medal(const Lesson& lesson, const Exercise& exercise, const JudgeAtSize& judge,
                                  const RunOptions& options, bool compiled_here, Yardstick& known, ExerciseReport report) {
    if (!report.passed || !lesson.challenge || lesson.challenge->exercise != exercise.id) return report;
    Result<MedalWon> medal = medal_of(lesson, report, judge, options, compiled_here, known);
    if (!medal) return placed(exercise, medal.error());
    report.medal = std::move(medal.value());
    report.lines.push_back(report.medal->words());
    return report;
}

}  // namespace

TimeForAll::Piece::Piece(TimeForAll& of) : of_(of), outermost_(of.since_ < 0) {
    if (outermost_) of_.since_ = system::process_seconds();
}

TimeForAll::Piece::~Piece() {
    if (!outermost_) return;
    of_.spent_ = of_.spent_ + std::max(0.0, system::process_seconds() - of_.since_);
    of_.since_ = -1;
}

double TimeForAll::seconds() const {
    const double since = since_;
    return spent_ + (since < 0 ? 0 : std::max(0.0, system::process_seconds() - since));
}

Result<ExerciseReport> check_exercise(const Lesson& lesson, const Exercise& exercise, const Program& kernel,
                                      const RunOptions& options, const std::string& source, bool compiled_here,
                                      Yardstick* known) {
    Yardstick own;
    Yardstick& yardstick = known ? *known : own;
    Result<ExerciseReport> report = judge_kernel(lesson, exercise, kernel, options, source, compiled_here, yardstick);
    if (!report) return report;
    share(lesson, exercise, options, compiled_here, yardstick, known != nullptr, report.value());
    const auto again = [&](const Exercise& at_size) {
        Yardstick large;
        return check_exercise(lesson, at_size, kernel, options, source, compiled_here, &large);
    };
    return with_medal(lesson, exercise, again, options, compiled_here, yardstick, std::move(report.value()));
}

Result<ExerciseReport> check_submission(const Lesson& lesson, const Exercise& exercise, const std::string& text,
                                        const std::string& file, const RunOptions& options, Yardstick* known) {
    Yardstick own;
    Yardstick& yardstick = known ? *known : own;
    Result<ExerciseReport> report = judge_text(lesson, exercise, text, file, options, yardstick);
    const bool compiled_here = std::filesystem::path(file).extension() != ".ptx";
    if (!report) return report;
    share(lesson, exercise, options, compiled_here, yardstick, known != nullptr, report.value());
    const auto again = [&](const Exercise& at_size) {
        Yardstick large;
        return check_submission(lesson, at_size, text, file, options, &large);
    };
    return with_medal(lesson, exercise, again, options, compiled_here, yardstick, std::move(report.value()));
}

}  // namespace lockstep::lessons
