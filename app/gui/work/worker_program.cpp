// The learner's whole program, main() and all: it is built, it runs as a process of its own over the modelled GPU, and its
// launches can be opened: the kernel runs again cycle by cycle, with the memory that the launch found.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>

#include "app/gui/work/own_job.h"
#include "app/gui/work/worker.h"
#include "core/base/diagnostic.h"
#include "core/base/hash.h"
#include "core/device/compile/source_tokens.h"
#include "core/model/gpus/gpu_file.h"
#include "core/model/memory/memory_system.h"
#include "core/runtime/report/settings.h"
#include "core/runtime/report/sites.h"
#include "core/runtime/report/snapshots.h"
#include "core/system/system.h"

namespace lockstep::gui {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr double most_program_seconds = 10;  // of a run after an edit, that nobody asked for by hand
constexpr uint64_t launch_budget = 200'000'000;
constexpr uint64_t launch_checkpoints = uint64_t{128} << 20;

std::vector<std::string> words_in(const std::string& text) {  // as a shell parts them: quotation marks keep blanks
    std::vector<std::string> words;
    std::string word;
    bool inside = false;
    char quote = 0;
    for (const char c : text) {
        if (quote != 0 ? c == quote : c == '"' || c == '\'') {
            quote = quote != 0 ? 0 : c;
            inside = true;
        } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
            if (inside) words.push_back(std::move(word));
            word.clear();
            inside = false;
        } else {
            word += c;
            inside = true;
        }
    }
    if (inside) words.push_back(std::move(word));
    return words;
}

// The text as a file that a compiler can read: the same one for the same document, so that the build is cached.
fs::path file_of(const KernelJob& wanted) {
    const std::string home = fmt::format("{:016x}", fnv1a64(wanted.path.empty() ? wanted.name : wanted.path));
    fs::path folder = system::cache_folder();
    if (folder.empty()) folder = fs::temp_directory_path();
    folder = folder / "edited" / home;
    std::error_code error;
    fs::create_directories(folder, error);
    fs::path name = wanted.name;
    if (name.extension() != ".cu" && name.extension() != ".cpp") name += ".cu";
    const auto before = read_file(folder / name);
    if (!before || before.value() != wanted.text) write_file(folder / name, wanted.text);
    return folder / name;
}

device::ProgramRequest request_of(const KernelJob& wanted, const fs::path& source, const model::GpuSpec& gpu) {
    device::ProgramRequest request;
    request.sources = {source.string()};
    request.least_arch = static_cast<int>(gpu.compute.number);
    std::error_code error;
    const fs::path folder = wanted.path.empty() ? fs::current_path(error) : fs::absolute(wanted.path, error).parent_path();
    request.include.push_back(folder.string());
    for (const std::string& word : words_in(wanted.launch.build)) {
        if (word.starts_with("-I")) {
            request.include.push_back((folder / word.substr(2)).string());
        } else if (word.starts_with("-D")) {
            request.define.push_back(word.substr(2));
        } else if (word.starts_with("-std=")) {
            request.standard = word.substr(5);
        } else if (word == "-rdc=true" || word == "--rdc") {
            request.separate = true;
        } else if (word.starts_with("-")) {
            request.more.push_back(word);
        } else {
            request.sources.push_back((folder / word).string());
        }
    }
    return request;
}

runtime::Settings settings_of(const LaunchSettings& launch, const fs::path& folder) {
    runtime::Settings settings;
    settings.gpu = launch.gpu;
    settings.timed_launches = !launch.timed || launch.time == "none" ? 0 : launch.time == "all" ? -1 : 3;
    settings.synccheck = launch.synccheck;
    settings.racecheck = launch.racecheck;
    settings.initcheck = launch.initcheck;
    settings.report = (folder / "report.json").string();
    settings.snapshots = folder.string();
    settings.progress = (folder / "progress").string();
    settings.by_lines = true;
    return settings;
}

// The buffers that a launch's pointers lead to, by the names that the kernel has for them and the program.
scene::BoundArguments buffers_of(const model::KernelRun& kernel, const std::string& source) {
    scene::BoundArguments bound;
    const std::vector<std::string> declarations = scene::parameter_declarations(source, kernel.program->kernel),
                                   names = scene::parameter_names(source, kernel.program->kernel);
    for (size_t k = 0; k < kernel.program->parameters.size(); ++k) {
        const ptx::Parameter& parameter = kernel.program->parameters[k];
        scene::BoundArgument argument;
        argument.name = k < names.size() ? names[k] : fmt::format("argument {}", k + 1);
        uint64_t value = 0;
        if (parameter.bytes == sizeof value && parameter.offset + sizeof value <= kernel.config.parameters.size())
            std::memcpy(&value, kernel.config.parameters.data() + parameter.offset, sizeof value);
        const simt::Allocation* const allocation = value != 0 ? kernel.before->find(value) : nullptr;
        if (allocation != nullptr) {
            const std::string declared = k < declarations.size() ? declarations[k] : "";
            const auto says = [&](std::string_view type) { return device::has_name(declared, type); };
            argument.role = scene::KernelArgument::Role::inout;
            argument.type = says("double")                    ? DType::f64
                            : says("int") || says("unsigned") ? DType::i32
                            : says("char")                    ? DType::u8
                                                              : DType::f32;
            argument.address = allocation->address;
            argument.bytes = allocation->bytes;
            if (allocation->name != argument.name) argument.name += " = " + allocation->name;
        }
        bound.arguments.push_back(std::move(argument));
    }
    return bound;
}

system::Foreground call_of(const ProgramRun& run, const runtime::Settings& settings) {
    std::vector<std::string> environment = runtime::environment_of(settings);
    for (std::string& setting : device::library_settings()) environment.push_back(std::move(setting));
    return {.program = run.built.executable,
            .name = fs::path(run.name).stem().string(),
            .arguments = words_in(run.settings.words),
            .settings = environment,
            .folder = run.path.empty() ? fs::path() : fs::path(run.path).parent_path()};
}

std::string end_of(const system::ChildOutcome& outcome) {
    using End = system::ChildOutcome::End;
    if (outcome.end == End::exited) return fmt::format("exit status {}", outcome.status);
    return fmt::format("ended by {}", system::signal_text(outcome.status));
}

}  // namespace

std::shared_ptr<CompiledKernel> Session::Worker::build_own(const KernelJob& wanted) {
    const Clock::time_point begin = Clock::now();
    busy("compiling " + wanted.name);
    const auto compiled = begun(wanted);
    try {
        const auto spec = model::gpu_named(wanted.launch.gpu);
        if (!spec.ok()) throw Failure(spec.error());
        const fs::path source = file_of(wanted);
        std::vector<Diagnostic> found;
        device::ProgramRequest request = request_of(wanted, source, spec.value());
        request.found = &found;
        auto built = device::build_program(request);
        compiled->ok = built.ok();
        const bool errs =
            std::any_of(found.begin(), found.end(), [](const Diagnostic& d) { return d.severity == Severity::error; });
        if (!built.ok() && !errs) found.insert(found.begin(), built.error());
        for (Diagnostic& message : found) {
            if (fs::path(message.where.file).filename() == source.filename()) {
                message.where.file = wanted.name;
            } else if (message.where.line > 0) {  // no place in this text
                message.message += fmt::format(" ({} line {})", message.where.file, message.where.line);
                message.where.line = message.where.column = 0;
            }
            compiled->messages.push_back(std::move(message));
        }
        std::stable_sort(compiled->messages.begin(), compiled->messages.end(),
                         [](const Diagnostic& a, const Diagnostic& b) { return a.severity < b.severity; });
        if (built.ok()) {
            compiled->compiler = built.value().compiler;
            auto run = std::make_shared<ProgramRun>();
            run->version = wanted.version;
            run->name = wanted.name;
            run->path = wanted.path;
            run->text = wanted.text;
            run->source = source;
            run->gpu = spec.value();
            run->built = std::move(built.value());
            compiled->program = run;
        }
    } catch (const Failure& failure) {
        compiled->messages.push_back(failure.diagnostic);
    }
    compiled->seconds = since(begin);
    busy("");
    return compiled;
}

void Session::Worker::own_program(const KernelJob& wanted) {
    const auto compiled = build_own(wanted);
    draft.own.compiled = compiled;
    if (compiled->ok) draft.own.runnable = compiled;
    if (draft.program.run && (draft.program.run->name != wanted.name || draft.program.run->path != wanted.path))
        draft.program = {}, draft.own.result.reset(), draft.own.run.reset();
    if (!wanted.run || !compiled->ok) return;
    {  // newer text is waiting already
        const std::lock_guard lock(mutex);
        if (wanted.on_change && waits<ask::RunOwn>()) return;
    }
    run_program(wanted, *compiled);
}

void Session::Worker::run_program(const KernelJob& wanted, const CompiledKernel& compiled) {
    auto run = std::make_shared<ProgramRun>(*compiled.program);
    run->settings = wanted.launch;
    run->compile_seconds = compiled.seconds;
    run->folder = std::make_shared<const TemporaryFolder>();
    run->running = true;
    draft.program = {run, -1, {}};
    draft.host.reset();
    const std::string what = "running " + wanted.name + " on the modelled " + upper(model::short_name(wanted.launch.gpu));
    busy(what, -1);
    std::stop_source source;
    const Watchdog watchdog(wanted.on_change && options.paced ? most_program_seconds : 0, source);
    const std::stop_callback newer(job_token(), [&] { source.request_stop(); });
    const Clock::time_point begin = Clock::now();
    Clock::time_point told = begin;
    size_t printed = 0;
    const runtime::Settings settings = settings_of(wanted.launch, run->folder->path());
    const system::ChildOutcome outcome =
        system::run_watched(call_of(*run, settings), wanted.launch.input, [&](std::string_view text, bool of_errors) {
            if (!text.empty()) {
                const size_t room = most_program_output - std::min(most_program_output, printed);
                run->printed_more |= text.size() > room;
                text = text.substr(0, room);
                printed += text.size();
                if (run->printed.empty() || run->printed.back().of_errors != of_errors)
                    run->printed.push_back({"", of_errors});
                run->printed.back().text += text;
            }
            if (since(told) >= 0.1) {
                told = Clock::now();
                serve_light();
                double share = -1;
                std::string kernel;
                std::ifstream(settings.progress) >> share >> kernel;
                draft.program.run = std::make_shared<ProgramRun>(*run);
                busy(kernel.empty() ? what : what + ": " + kernel, kernel.empty() ? -1 : share);
            }
            return !source.stop_requested();
        });
    run = std::make_shared<ProgramRun>(*run);
    run->running = false;
    run->run_seconds = since(begin);
    using End = system::ChildOutcome::End;
    const auto result = begun_run(wanted);
    result->seconds = run->run_seconds;
    if (outcome.end == End::timed_out) {
        run->cancelled = true;
        result->given_up = watchdog.barked();
        result->cancelled = !result->given_up;
        run->ended = watchdog.barked()
                         ? fmt::format("given up after {:.0f} s: Run waits for it as long as it takes", most_program_seconds)
                         : fmt::format("cancelled after {:.1f} s", run->run_seconds);
        result->refused = Diagnostic{run->ended};
    } else if (outcome.end == End::not_started || (outcome.end == End::exited && outcome.status == 127)) {
        run->ended = "it could not be started";
        run->status = 127;
    } else {
        run->status = outcome.end == End::exited ? outcome.status : 128 + outcome.status;
        run->ended = end_of(outcome);
    }
    std::error_code error;
    if (fs::exists(settings.report, error)) {
        auto report = runtime::read_report(settings.report);
        run->reported = report.ok();
        if (report.ok()) {
            run->report = std::move(report.value());
            runtime::resolve_sites(run->report);
        } else
            run->ended += "; " + report.error().message;
    }
    draft.program.run = run;
    draft.own.result = result;
    draft.own.run.reset();
    // What an earlier run launched is none of this one's.
    if (run->report.launches.empty() && !run->cancelled && draft.source == Source::own) draft.kernel = {};
    busy("");
    // The launch that took longest is looked at first.
    if (run->report.launches.empty() || run->cancelled) return;
    const auto& launches = run->report.launches;
    const auto longest = std::max_element(launches.begin(), launches.end(),
                                          [](const auto& a, const auto& b) { return a.time_us < b.time_us; });
    size_t first = 0;  // of its kernel and shape
    while (launches[first].kernel != longest->kernel || !(launches[first].grid == longest->grid)) ++first;
    if (runtime::has_snapshot(run->folder->path(), first)) open_launch(static_cast<int64_t>(first));
}

void Session::Worker::open_launch(int64_t launch) {
    const std::shared_ptr<const ProgramRun> run = draft.program.run;
    if (!run || launch < 0 || static_cast<size_t>(launch) >= run->report.launches.size()) return;
    const auto number = static_cast<size_t>(launch);
    draft.program.refused.clear();
    const std::string what = "opening " + run->label_of(launch);
    busy(what, 0);
    const std::stop_source source = [&] {
        const std::lock_guard lock(mutex);
        return job;
    }();
    fs::path folder = run->folder->path();
    if (!runtime::has_snapshot(folder, number)) {  // the program runs again, up to there
        folder /= fmt::format("again-{}", launch);
        std::error_code error;
        fs::create_directories(folder, error);
        runtime::Settings settings = settings_of(run->settings, folder);
        settings.report.clear();
        if (!settings.warm_l2) settings.timed_launches = 0;  // else what L2 holds comes of the launches before
        settings.only_snapshot = launch;
        if (!runtime::has_snapshot(folder, number))
            system::run_watched(call_of(*run, settings), run->settings.input,
                                [&](std::string_view, bool) { return !source.stop_requested(); });
    }
    auto opened = runtime::open_snapshot(folder, number);
    if (source.stop_requested()) throw Cancelled();
    if (!opened.ok()) {
        draft.program.refused = opened.error().message + ": the program did something else when it ran again";
        return busy("");
    }
    auto kernel = std::make_shared<model::KernelRun>();
    kernel->gpu = run->gpu;
    kernel->program = opened.value().program;
    kernel->config = opened.value().config;
    kernel->source = run->text;
    kernel->before = std::make_shared<simt::Memory>(opened.value().memory);
    auto result = std::make_shared<KernelResult>();
    result->version = run->version;
    result->edited_at = -1;
    result->settings = run->settings;
    result->gpu = run->settings.gpu;
    result->kernel = kernel->program->shown_name();
    model::TimedOptions how;
    how.max_instructions = launch_budget;
    how.synccheck = run->settings.synccheck;
    result->bound = buffers_of(*kernel, run->text);
    how.racecheck = run->settings.racecheck;
    how.initcheck = false;  // which bytes had been written is not kept
    how.independent = kernel->config.independent;
    how.stop = source.get_token();
    how.trace_limit = options.trace_limit;
    how.machine = true;
    how.checkpoint_bytes = launch_checkpoints;
    how.print = [&](std::string_view text) {
        result->printed += text.substr(0, (64 << 10) - std::min<size_t>(64 << 10, result->printed.size()));
    };
    Clock::time_point told = Clock::now();
    how.progress = [&](double share) {
        serve_light();
        if (since(told) < 0.1) return;
        told = Clock::now();
        busy(what, share);
    };
    runtime::OpenedChildren children(opened.value().module, opened.value().memory, kernel->config.independent);
    how.device_runtime = &children;
    kernel->config.device_runtime = children.again(opened.value().memory);  // as it is before its first launch
    kernel->l2 = std::make_shared<const model::L2State>(model::l2_from(kernel->gpu, opened.value().l2));
    const std::shared_ptr<model::L2State> l2 = model::l2_of(*kernel);
    how.l2 = l2.get();
    const Clock::time_point begin = Clock::now();
    kernel->result = model::launch(kernel->gpu, *kernel->program, kernel->config, opened.value().memory, how);
    result->seconds = since(begin);
    if (kernel->result.stopped) throw Cancelled();
    children.wait();
    if (children.count() > 0)
        kernel->result.notes.push_back(
            fmt::format("{} kernels that it launched ran for their values alone, without timing", children.count()));
    result->after = std::make_shared<simt::Memory>(std::move(opened.value().memory));
    result->run = kernel;
    draft.own.result = draft.own.run = result;
    draft.program.launch = launch;
    draft.progress = -1;
    draft.busy.clear();
    bring(Source::own);
    draft.kernel.run = kernel;
    draft.kernel.label = run->label_of(launch);
    draft.kernel.look_at = {};
    forget_fault();
    forget_warp();
    publish();
}

}  // namespace lockstep::gui
