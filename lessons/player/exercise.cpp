#include "lessons/player/exercise.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <sstream>

#include "core/base/close_enough.h"
#include "core/base/files.h"
#include "core/base/rng.h"
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
    std::vector<simt::Fault> races;
};

std::vector<simt::Fault> races_of(const simt::LaunchResult& result) {
    std::vector<simt::Fault> races;
    for (const simt::Fault& report : result.reports)
        if (report.kind == "racecheck") races.push_back(report);
    return races;
}

Result<Outcome> run_once(const Program& program, const Exercise& exercise, const LaunchShape& shape,
                         const std::vector<KernelArgument>& arguments, const RunOptions& options,
                         const std::string& source = {}, bool racecheck = false) {
    simt::Memory memory(uint64_t{1} << 30);
    simt::LaunchConfig config;
    config.grid = shape.grid;
    config.block = shape.block;
    config.dynamic_shared = exercise.dynamic_shared;
    Result<BoundArguments> bound = bind_arguments(*program, arguments, memory, config, 1, {}, source);
    if (!bound) return bound.error();
    if (auto problem = simt::check_launch(*program, config, {})) return *problem;
    simt::LaunchOptions launch;
    launch.max_instructions = functional_budget;
    launch.stop = options.stop;
    launch.racecheck = racecheck;
    simt::LaunchResult result = simt::launch(*program, config, memory, launch);
    if (result.stopped) throw Cancelled();
    return Outcome{read_outputs(bound.value(), memory), result.fault, races_of(result)};
}

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
        case DType::f32:
            return fmt::format("{}", array.as<float>()[i]);
        case DType::f64:
            return fmt::format("{}", array.as<double>()[i]);
        case DType::f16:
            return fmt::format("{}", f16_to_f32(array.as<uint16_t>()[i]));
        case DType::bf16:
            return fmt::format("{}", bf16_to_f32(array.as<uint16_t>()[i]));
        case DType::i8:
            return fmt::format("{}", array.as<int8_t>()[i]);
        case DType::u8:
            return fmt::format("{}", array.as<uint8_t>()[i]);
        case DType::i16:
            return fmt::format("{}", array.as<int16_t>()[i]);
        case DType::u16:
            return fmt::format("{}", array.as<uint16_t>()[i]);
        case DType::i32:
            return fmt::format("{}", array.as<int32_t>()[i]);
        case DType::u32:
            return fmt::format("{}", array.as<uint32_t>()[i]);
        case DType::i64:
            return fmt::format("{}", array.as<int64_t>()[i]);
        case DType::u64:
            return fmt::format("{}", array.as<uint64_t>()[i]);
    }
    return "?";
}

std::string describe_case(const LaunchShape& shape, const Filling& filling) {
    return fmt::format("{}{}grid {},{},{}, block {},{},{}, inputs {}", shape.text, shape.text.empty() ? "" : ", ",
                       shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x, shape.block.y, shape.block.z, filling.name);
}

// One timed launch on the first shape, as a scene's result, so that figure_of reads it.
Result<SceneResult> timed_run(const Lesson& lesson, const Exercise& exercise, const Program& program,
                              const LaunchShape& shape, const Filling& filling, const RunOptions& options,
                              const std::string& source, bool racecheck) {
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
    launch.racecheck = racecheck;
    const auto result = run_timed(launch, options);
    if (!result) return result.error();
    return SceneResult{result.value()};
}

}  // namespace

std::string difference(const std::vector<Array>& got, const std::vector<Array>& wanted,
                       const std::vector<std::string>& names) {
    for (size_t o = 0; o < wanted.size() && o < got.size(); ++o) {
        const std::string which = o < names.size() ? "'" + names[o] + "'" : fmt::format("output {}", o + 1);
        if (got[o].dtype != wanted[o].dtype || got[o].count() != wanted[o].count())
            return which + " has another type or size than the reference's";
        const double largest = largest_in(wanted[o]);
        for (size_t i = 0; i < wanted[o].count(); ++i)
            if (!same(got[o], wanted[o], i, largest))
                return fmt::format("{}, element {}: {} where the reference has {}", which, i, value_text(got[o], i),
                                   value_text(wanted[o], i));
    }
    return got.size() == wanted.size() ? "" : "the number of outputs differs";
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

namespace {

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
    if (!about_outputs && !known && !how.wrong.empty()) {
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

namespace {

// Both kernels on every shape and filling, until one launch differs.
struct Comparison {
    std::string wrong;  // the first launch whose outputs differ
    int agreed = 0;
    std::optional<std::vector<simt::Fault>> races;  // of that launch, where they are looked for
};

class Comparer {
  public:
    const Exercise& exercise;
    const Program &kernel, &reference;
    const RunOptions& options;
    const std::string& source;
    bool racecheck = false;

    // Nothing: the two were compared, as `into` and `report` say. A Diagnostic is a mistake in the lesson.
    std::optional<Diagnostic> compare(const LaunchShape& shape, const Filling& filling,
                                      const std::vector<KernelArgument>& arguments, Comparison& into,
                                      ExerciseReport& report) const {
        const auto with_case = [&](const std::string& what) {
            return fmt::format("{} ({})", what, describe_case(shape, filling));
        };
        const Result<Outcome> wanted = run_once(reference, exercise, shape, arguments, options);
        if (!wanted) return wanted.error();
        if (wanted.value().fault)
            return Diagnostic{fmt::format("the reference itself faults ({}): {}", describe_case(shape, filling),
                                          simt::render(*wanted.value().fault))};
        const Result<Outcome> got = run_once(kernel, exercise, shape, arguments, options, source);
        ++report.launches;
        if (got) report.fault = got.value().fault;
        const std::string differs = !got           ? got.error().message
                                    : report.fault ? simt::render(*report.fault)
                                                   : difference(got.value().outputs, wanted.value().outputs);
        if (differs.empty()) {
            ++into.agreed;
            return std::nullopt;
        }
        into.wrong = with_case(differs);
        if (!racecheck || !got || report.fault) return std::nullopt;
        Result<Outcome> looked = run_once(kernel, exercise, shape, arguments, options, source, true);
        if (!looked) return looked.error();
        if (!looked.value().fault) into.races = std::move(looked.value().races);
        return std::nullopt;
    }
};

}  // namespace

Result<ExerciseReport> check_exercise(const Lesson& lesson, const Exercise& exercise, const Program& kernel,
                                      const RunOptions& options, const std::string& source, bool compiled_here) {
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
    const Comparer comparer{exercise, kernel, reference.value(), options, source, racecheck};
    for (const LaunchShape& shape : shapes)
        for (const Filling& filling : fillings) {
            if (!all.wrong.empty()) continue;
            const auto arguments = filled_arguments(shape, filling, lesson.folder);
            if (!arguments) return placed(exercise, arguments.error());
            if (auto problem = comparer.compare(shape, filling, arguments.value(), all, report))
                return placed(exercise, *problem);
        }

    const auto program_of = [&](const std::string& run) -> Result<Program> {
        if (run.empty()) return kernel;
        const std::string& file = run == "starter" ? exercise.file : exercise.reference;
        if (compiled_here)
            if (const Result<std::string> text = read_text(lesson.folder / file, 1 << 20))
                return compile_kernel(text.value(), (lesson.folder / file).string(), exercise.kernel, options.compiler);
        return load_kernel(lesson.folder, file, exercise.kernel);
    };
    ExerciseRuns runs([&](const std::string& run) -> Result<SceneResult> {
        const Result<Program> program = program_of(run);
        if (!program) return program.error();
        return timed_run(lesson, exercise, program.value(), shapes.front(), fillings.front(), options,
                         run.empty() ? source : "", racecheck);
    });
    const auto lookup = [&](const FigureName& name) -> Result<double> {
        if (name.text == "races" && all.races) return static_cast<double>(all.races->size());
        return runs.figure(name);
    };
    Judging how{lookup, all.wrong, fmt::format("the same in all {} launches", all.agreed)};
    if (racecheck && (all.wrong.empty() || all.races))
        how.causes["races"] = [&] {
            const auto found = all.races ? *all.races : races_of(runs.of("").value().as<KernelResult>()->run->result);
            return found.empty() ? std::string() : simt::render(found.front());
        };
    if (const auto problem = judge_clauses(report, exercise.check, how)) return placed(exercise, *problem);
    if (runs.has("")) report.timed = runs.of("").value();
    return report;
}

Result<ExerciseReport> check_submission(const Lesson& lesson, const Exercise& exercise, const std::string& text,
                                        const std::string& file, const RunOptions& options) {
    if (is_host_program(exercise.file)) return check_host_exercise(lesson, exercise, text, file, options);
    if (is_tensor_program(exercise.file)) return check_tape_exercise(lesson, exercise, text, file, options);
    if (is_engine_program(exercise.file)) return check_training_exercise(lesson, exercise, text, file, options);
    if (is_parallel_program(exercise.file)) return check_parallel_exercise(lesson, exercise, text, file, options);
    Result<Program> program = compile_submission(text, file, exercise.kernel, lesson.folder, options);
    const bool compiled_here = std::filesystem::path(file).extension() != ".ptx";
    if (program) return check_exercise(lesson, exercise, program.value(), options, compiled_here ? text : "", compiled_here);
    return refused(exercise, "it compiles", render(program.error()));
}

}  // namespace lockstep::lessons
