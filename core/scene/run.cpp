#include "core/scene/run.h"

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/device/compile/confined.h"
#include "core/device/kernels/kernel_library.h"
#include "core/ptx/ptx.h"
#include "core/scene/cluster/parallel_scene.h"
#include "core/scene/host/host_program.h"
#include "core/scene/tape/tape_program.h"
#include "core/scene/training/cheaper_runs.h"
#include "core/scene/training/training_runs.h"

namespace lockstep::scene {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t timed_budget = 50'000'000;  // warp instructions of a lesson's launch

// As kernels/build_ptx writes it into a PTX file's first line.
std::string hash_of(const std::string& text) {
    return fmt::format("fnv1a64:{:016x}", fnv1a64(text));
}

fs::path ptx_beside(const fs::path& source) {
    return source.parent_path() / "ptx" / (source.stem().string() + ".ptx");
}

Result<std::shared_ptr<const ptx::Program>> decode_text(const std::string& text, const std::string& name,
                                                        const std::string& kernel) {
    Result<ptx::Module> module = ptx::parse(text, name);
    if (!module) return module.error();
    return ptx::decode(module.value(), kernel);
}

}  // namespace

Result<bool> check_ptx(const fs::path& source) {
    Result<std::string> text = read_text(source, 1 << 20);
    if (!text) return text.error();
    const fs::path ptx = ptx_beside(source);
    Result<std::string> compiled = read_file(ptx, 16 << 20);
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(fs::absolute(source, error), error),
                   root = fs::weakly_canonical(fs::absolute(resource_root(), error), error);
    const fs::path within = whole.lexically_relative(root);
    const fs::path& shown = within.empty() || *within.begin() == ".." ? whole : within;  // a lesson of one's own folder
    const std::string command = fmt::format("kernels/build_ptx {}", shown.string());
    if (!compiled) return Diagnostic{fmt::format("its PTX is missing; '{}' makes it", command), {source.string()}};
    if (line_of(compiled.value(), 1).find(hash_of(text.value())) == std::string::npos)
        return Diagnostic{fmt::format("its PTX is older than the source; '{}' makes it anew", command), {source.string()}};
    return true;
}

Result<std::shared_ptr<const ptx::Program>> load_kernel(const fs::path& folder, const std::string& file,
                                                        const std::string& kernel) {
    const fs::path source = folder / file;
    if (check_ptx(source)) {
        const fs::path ptx = ptx_beside(source);
        return decode_text(read_file(ptx, 16 << 20).value(), ptx.string(), kernel);
    }
    std::error_code error;
    if (!fs::exists(source, error))
        return Diagnostic{fmt::format("there is no file '{}' in the folder {}", file,
                                      folder.empty() ? fs::current_path(error).string() : folder.string()),
                          {source.string()}};
    Result<std::string> text = read_text(source, 1 << 20);
    if (!text) return text.error();
    return compile_kernel(text.value(), source.string(), kernel);
}

Result<std::shared_ptr<const ptx::Program>> compile_kernel(const std::string& text, const std::string& file,
                                                           const std::string& kernel, const std::string& compiler) {
    RunOptions options;
    options.compiler = compiler;
    return compile_submission(text, file, kernel, {}, options);
}

Result<std::shared_ptr<const ptx::Program>> compile_submission(const std::string& text, const std::string& file,
                                                               const std::string& kernel, const fs::path& folder,
                                                               const RunOptions& options) {
    if (fs::path(file).extension() == ".ptx") return decode_text(text, file, kernel);
    device::CompileOptions how;
    how.compiler = options.compiler;
    how.seconds = options.compile_seconds;
    how.processor_seconds = options.compile_processor_seconds;
    if (options.submission) {
        const std::vector<fs::path> folders = {options.submission->empty() ? fs::path(".") : *options.submission, folder};
        if (auto problem = device::include_outside(text, file, folders)) return *problem;
        for (const fs::path& one : folders) how.include.push_back(one.string());
    }
    Result<device::Compiled> compiled = device::compile(text, file, how);
    if (!compiled) return compiled.error();
    if (options.submission)
        if (auto problem = device::code_of_solution(compiled.value().ptx, file)) return *problem;
    auto program = decode_text(compiled.value().ptx, file + ".ptx", kernel);
    if (!program) return device::in_source(program.error(), text, file);
    return program;
}

std::shared_ptr<const nn::StepRecord> SceneResult::step() const {
    if (const auto tape = as<TapeRun>()) return tape->step;
    const auto training = as<TrainingRuns>();
    return training ? training->step : nullptr;
}

std::string gpu_of(const SceneHome& home, const Scene& scene, const RunOptions& options) {
    return !options.gpu.empty() ? options.gpu : !scene.gpu.empty() ? scene.gpu : home.gpu;
}

namespace {

struct SceneText {  // rows or runs, and where they stand
    std::string text;
    SourceLocation where;
};
Result<SceneText> text_of(const SceneHome& home, const std::string& written, bool in_file, const SourceLocation& where) {
    if (!in_file) return SceneText{written, where};
    const fs::path file = home.folder / written;
    Result<std::string> read = read_text(file, 1 << 20);
    if (!read) return read.error();
    return SceneText{std::move(read).value(), {file.string(), 1, 1}};
}

Result<SceneResult> run_training_scene(const SceneHome& home, const Scene& scene, const RunOptions& options) {
    const Result<SceneText> text = text_of(home, scene.train, is_engine_program(scene.train), scene.where);
    if (!text) return text.error();
    const TrainingRunOptions how{.gpu = gpu_of(home, scene, options),
                                 .keep_runs = options.keep_runs,
                                 .keep_values = options.keep_values,
                                 .stop = options.stop,
                                 .progress = options.progress};
    const auto trained = [&]() -> Result<TrainingRuns> {
        if (is_cheaper(text.value().text)) return run_cheaper(text.value().text, text.value().where, home.seed, how);
        const Result<std::vector<TrainingSpec>> specs = parse_training(text.value().text, text.value().where, home.seed);
        if (!specs) return specs.error();
        return run_training(specs.value(), how);
    };
    Result<TrainingRuns> runs = trained();
    if (!runs) return runs.error();
    return SceneResult{std::make_shared<const TrainingRuns>(std::move(runs).value())};
}

Result<SceneResult> run_rows(const SceneHome& home, const Scene& scene, const RunOptions& options) {
    const Result<SceneText> text = text_of(home, scene.parallel, is_parallel_program(scene.parallel), scene.where);
    if (!text) return text.error();
    const auto made = run_parallel_scene(scene.parallel_kind, text.value().text, text.value().where,
                                         {.seed = home.seed, .stop = options.stop, .progress = options.progress});
    if (!made) return made.error();
    return SceneResult{made.value()};
}

Result<SceneResult> run_tape_scene(const SceneHome& home, const Scene& scene, const RunOptions& options) {
    const fs::path file = home.folder / scene.tape;
    const Result<std::string> text = read_file(file, 1 << 20);
    if (!text) return text.error();
    const Result<TapeText> parsed = parse_tape(text.value(), file.string());
    if (!parsed) return parsed.error();
    const auto run = run_tape(parsed.value(), {.device = "sim:" + gpu_of(home, scene, options),
                                               .keep_runs = options.keep_runs,
                                               .seed = home.seed + 1,
                                               .watch = true,
                                               .stop = options.stop,
                                               .progress = options.progress});
    if (!run) return run.error();
    return SceneResult{run.value()};
}

Result<SceneResult> run_host_scene(const SceneHome& home, const Scene& scene, const RunOptions& options) {
    Result<model::GpuSpec> gpu = model::gpu_named(gpu_of(home, scene, options));
    if (!gpu) return gpu.error();
    const fs::path file = home.folder / scene.host;
    Result<std::string> text = read_text(file, 1 << 20);
    if (!text) return text.error();
    Result<HostText> parsed = parse_host(text.value(), file.string());
    if (!parsed) return parsed.error();
    const auto run = run_host(parsed.value(), gpu.value(), home.folder,
                              {.seed = home.seed, .stop = options.stop, .progress = options.progress});
    if (!run) return run.error();
    return SceneResult{run.value()};
}

Result<KernelLaunch> launch_of(const SceneHome& home, const Scene& scene, const RunOptions& options) {
    Result<model::GpuSpec> gpu = model::gpu_named(gpu_of(home, scene, options));
    if (!gpu) return gpu.error();
    Result<std::shared_ptr<const ptx::Program>> program = load_kernel(home.folder, scene.file, scene.kernel);
    if (!program) return program.error();
    KernelLaunch launch;
    launch.gpu = gpu.value();
    launch.program = program.value();
    launch.grid = parse_dim3(scene.grid, "grid").value();
    launch.block = parse_dim3(scene.block, "block").value();
    launch.dynamic_shared = scene.dynamic_shared;
    launch.seed = home.seed;
    launch.folder = home.folder;
    launch.racecheck = scene.expect == "racecheck";
    launch.initcheck = scene.expect == "initcheck";
    for (const std::string& text : scene.arguments) {
        Result<KernelArgument> argument = parse_argument(text);
        if (!argument) return argument.error();
        launch.arguments.push_back(std::move(argument).value());
    }
    if (Result<std::string> source = read_file(home.folder / scene.file, 1 << 20)) launch.source = source.value();
    return launch;
}

Result<std::shared_ptr<const KernelResult>> run_generations(KernelLaunch launch, const std::vector<std::string>& gpus,
                                                            const RunOptions& options) {
    Result<std::shared_ptr<const KernelResult>> result = run_timed(launch, options);
    if (!result || gpus.empty()) return result;
    auto all = std::make_shared<KernelResult>(*result.value());
    for (const std::string& name : gpus) {
        Result<model::GpuSpec> other = model::gpu_named(name);
        if (!other) return other.error();
        launch.gpu = other.value();
        const auto run = run_timed(launch, options);
        if (!run) return run.error();
        const model::TimedResult& timed = run.value()->run->result;
        all->generations.push_back({launch.gpu, timed.cycles, timed.time_us, timed.metrics});
    }
    return std::shared_ptr<const KernelResult>(std::move(all));
}

Result<SceneResult> run_kernel(const SceneHome& home, const Scene& scene, const RunOptions& options) {
    const auto placed = [&](Diagnostic d) {  // a mistake of the scene itself stands at its line
        if (d.where.file.empty() || d.where.file == "argument") d.where = scene.where, d.source_line.clear();
        return d;
    };
    const Result<KernelLaunch> launch = launch_of(home, scene, options);
    if (!launch) return placed(launch.error());
    const auto result = run_generations(launch.value(), scene.gpus, options);
    if (!result) return placed(result.error());
    return SceneResult{result.value()};
}

}  // namespace

Result<std::shared_ptr<const KernelResult>> run_timed(const KernelLaunch& launch, const RunOptions& options) {
    auto run = std::make_shared<model::KernelRun>();
    run->gpu = launch.gpu;
    run->program = launch.program;
    run->config.grid = launch.grid;
    run->config.block = launch.block;
    run->config.dynamic_shared = launch.dynamic_shared;
    run->config.shared_fill = launch.shared_fill;
    run->source = launch.source;
    simt::Memory memory;
    Result<BoundArguments> bound =
        bind_arguments(*run->program, launch.arguments, memory, run->config, launch.seed, launch.folder, launch.source);
    if (!bound) return bound.error();
    if (auto problem = simt::check_launch(*run->program, run->config, model::limits_of(run->gpu))) return *problem;
    run->before = std::make_shared<simt::Memory>(memory);

    model::TimedOptions timed;
    timed.exact = true;  // a scene may show a race: its replays have to be the same
    timed.machine = true;
    timed.max_instructions = timed_budget;
    timed.racecheck = launch.racecheck;
    timed.initcheck = launch.initcheck;
    timed.stop = options.stop;
    timed.progress = options.progress;
    run->result = model::launch(run->gpu, *run->program, run->config, memory, timed);
    if (run->result.stopped) throw Cancelled();
    std::vector<Array> outputs = read_outputs(bound.value(), memory);
    return std::make_shared<const KernelResult>(
        KernelResult{std::move(run), std::move(bound).value(), std::move(outputs), {}});
}

Result<SceneResult> run_scene(const SceneHome& home, const Scene& scene, const RunOptions& options) {
    try {
        if (!scene.host.empty()) return run_host_scene(home, scene, options);
        if (!scene.tape.empty()) return run_tape_scene(home, scene, options);
        if (!scene.parallel.empty()) return run_rows(home, scene, options);
        return scene.train.empty() ? run_kernel(home, scene, options) : run_training_scene(home, scene, options);
    } catch (const Failure& failure) {
        // Something the machine lacks keeps its exit status; wrong input is this scene's diagnostic.
        if (failure.status == ExitStatus::missing) throw;
        Diagnostic d = failure.diagnostic;
        if (d.where.file.empty()) d.where = scene.where;
        return d;
    }
}

}  // namespace lockstep::scene
