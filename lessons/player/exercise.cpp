#include "lessons/player/exercise.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <sstream>

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
        const simt::LaunchConfig config{.grid = shape.grid, .block = shape.block, .dynamic_shared = exercise.dynamic_shared};
        const bool told = got && !report.fault;
        into.wrong = with_case(
            differs + (told ? who_wrote_it(*kernel, config, arguments, source, got.value().outputs, wanted.value().outputs)
                            : std::string()));
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
