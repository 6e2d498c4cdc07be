// The learner's own kernel: its text is compiled, its launch is bound, it runs, and what came out is published. A text that
// does not compile leaves the last good one as it is; a run that nobody asked for by hand is given up when it takes long.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

#include "app/gui/work/own_job.h"
#include "app/gui/work/worker.h"
#include "core/base/cores.h"
#include "core/base/diagnostic.h"
#include "core/base/files.h"
#include "core/device/kernels/kernel_library.h"
#include "core/model/gpus/gpu_file.h"
#include "core/model/gpus/refusals.h"
#include "core/model/sample/sample.h"
#include "core/ptx/ptx.h"
#include "core/scene/arguments/module_symbols.h"
#include "core/scene/arguments/outputs.h"
#include "core/system/system.h"

namespace lockstep::gui {

namespace {

using Clock = std::chrono::steady_clock;
constexpr double most_compile_seconds = 15;
constexpr size_t most_entries = 512, most_printed = size_t{64} << 10;
constexpr uint64_t timed_budget = 50'000'000, functional_budget = 1'000'000'000;  // warp instructions
constexpr uint64_t most_checkpoint_bytes = uint64_t{128} << 20;
constexpr size_t most_header = size_t{1} << 20;
constexpr size_t most_tracks = 4096;  // warps that can be looked into after a functional run

// A functional run has no cycles: its warps, so that they can be chosen and stepped through.
KernelTrace tracks_of(const simt::LaunchConfig& config) {
    KernelTrace trace;
    const uint64_t warps = (config.block.count() + 31) / 32;
    for (uint64_t block = 0; block < config.grid.count() && trace.warps.size() + warps <= most_tracks; ++block)
        for (uint64_t w = 0; w < warps; ++w) {
            WarpTrack track;
            track.block = static_cast<uint32_t>(block);
            track.warp_in_block = static_cast<uint32_t>(w);
            track.slot = static_cast<uint16_t>(w);
            track.scheduler = static_cast<uint16_t>(w % 4);
            trace.warps.push_back(track);
        }
    return trace;
}

// The text with those headers that lie beside its file in front: their macros, or the kernel itself, name the parameters.
std::string with_headers(const std::string& text, const std::string& path) {
    if (path.empty()) return text;
    std::string all;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    for (size_t at = 0, end; at < text.size(); at = end + 1) {
        end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        const size_t hash = line.find_first_not_of(" \t"), open = line.find('"'), close = line.rfind('"');
        if (hash == std::string::npos || line[hash] != '#' || line.find("include") == std::string::npos) continue;
        if (open == std::string::npos || close == open) continue;
        if (const auto header = read_file(folder / line.substr(open + 1, close - open - 1), most_header); header.ok())
            all += header.value() + "\n";
    }
    return all + text;
}

}  // namespace

void Session::Worker::own_kernel(const KernelJob& wanted) {
    bring(Source::own);
    steps_to_run = 0;
    const std::string document = wanted.path + '\n' + wanted.name;
    const bool another = std::exchange(shown_document, document) != document;
    if (another) {  // what another file left on show is none of this one's
        clear_shown();
        tape_run.reset();
        draft.own.run.reset();
        draft.own.before.reset();
        draft.own.learned.reset();
        draft.program = {};
    }
    draft.whose = wanted.name;
    if (scene::is_tensor_program(wanted.name)) return own_tape(wanted);
    tape_run.reset();
    if (scene::is_engine_program(wanted.name) || scene::is_parallel_program(wanted.name)) {  // its exercise's check runs it
        draft.own.compiled = begun(wanted);
        draft.own.runnable.reset();
        draft.own.result.reset();
        return busy("");
    }
    if (wanted.is_program) return own_program(wanted);
    if (scene::is_host_program(wanted.name)) return own_host(wanted);
    if (wanted.compile && !compile_own(wanted)) return;
    if (another && draft.own.compiled && !draft.own.compiled->ok)  // what the last file's text left is none of this one's
        draft.own.runnable.reset(), draft.own.result.reset();
    const bool compiled = draft.own.runnable && draft.own.runnable->version == wanted.version;
    if (!wanted.run || !draft.own.runnable || (wanted.on_change && !compiled)) return;
    if (wanted.on_change) {  // newer text is waiting already
        const std::lock_guard lock(mutex);
        if (waits<ask::RunOwn>()) return;
    }
    run_own(wanted);
    learn_own(wanted);
}

namespace {

struct CompiledText {
    std::optional<Result<device::Compiled>> compiled;
    std::vector<Diagnostic> messages;
    std::exception_ptr failed;
};

// Compiled on a thread of its own. Null: it was given up first; what the compiler then still finds nobody hears of.
std::shared_ptr<const CompiledText> compiled_text(const KernelJob& wanted, device::CompileOptions how,
                                                  const std::function<bool()>& given_up) {
    struct Shared {
        std::mutex mutex;
        std::condition_variable ended;
        std::shared_ptr<CompiledText> found;
    };
    const auto shared = std::make_shared<Shared>();
    std::thread([shared, text = wanted.text, name = wanted.name, how]() mutable {
        const auto found = std::make_shared<CompiledText>();
        how.messages = &found->messages;
        try {
            found->compiled.emplace(device::compile(text, name, how));
        } catch (...) {
            found->failed = std::current_exception();
        }
        const std::lock_guard lock(shared->mutex);
        shared->found = found;
        shared->ended.notify_all();
    }).detach();
    std::unique_lock lock(shared->mutex);
    constexpr std::chrono::milliseconds often(40);
    while (!shared->ended.wait_for(lock, often, [&] { return shared->found != nullptr; }))
        if (given_up()) return nullptr;
    return shared->found;
}

}  // namespace

// False: something newer was asked for before the compiler had ended.
bool Session::Worker::compile_own(const KernelJob& wanted) {
    const Clock::time_point begin = Clock::now();
    busy("compiling " + wanted.name);
    const auto made = begun(wanted);
    const bool is_ptx = wanted.name.size() > 4 && wanted.name.ends_with(".ptx");
    try {
        std::string ptx = wanted.text, ptx_name = wanted.name;
        bool good = true;
        if (!is_ptx) {
            device::CompileOptions how;
            how.seconds = most_compile_seconds;
            if (!wanted.path.empty())  // headers beside the file
                how.include.push_back(std::filesystem::absolute(wanted.path).parent_path().string());
            const std::shared_ptr<const CompiledText> text = compiled_text(wanted, how, [&] {
                const std::lock_guard lock(mutex);  // another text is there, or the window has been closed
                return waits<ask::RunOwn>() || thread.get_stop_token().stop_requested();
            });
            if (!text) return busy(""), false;
            if (text->failed) std::rethrow_exception(text->failed);
            const Result<device::Compiled>& compiled = *text->compiled;
            made->messages = text->messages;
            good = compiled.ok();
            if (good) {
                made->compiler = compiled.value().compiler;
                made->from_cache = compiled.value().from_cache;
                ptx = compiled.value().ptx;
                ptx_name += ".ptx";
            } else if (made->messages.empty()) {
                made->messages.push_back(compiled.error());
            }
        }
        if (good) {
            const auto module = ptx::parse(ptx, ptx_name);
            if (!module.ok()) {
                made->messages.push_back(module.error());
            } else {
                std::vector<std::string> entries = ptx::entries(module.value());
                if (entries.empty())
                    made->messages.push_back({"there is no kernel here: a kernel is a __global__ function"});
                if (entries.size() > most_entries) entries.resize(most_entries);
                for (const std::string& name : entries) {
                    KernelEntry entry;
                    entry.name = ptx::readable_name(name);
                    auto program = ptx::decode(module.value(), name);
                    if (program.ok()) {
                        entry.program = std::move(program.value());
                        entry.parameters =
                            scene::parameter_names(is_ptx ? wanted.text : with_headers(wanted.text, wanted.path), name);
                        if (entry.parameters.size() != entry.program->parameters.size()) {
                            entry.parameters.clear();
                            for (size_t i = 0; i < entry.program->parameters.size(); ++i)
                                entry.parameters.push_back(fmt::format("argument {}", i + 1));
                        }
                        made->ok = true;
                    } else {
                        entry.refused = program.error();
                        made->messages.push_back(program.error());
                    }
                    made->entries.push_back(std::move(entry));
                }
            }
        }
    } catch (const Failure& failure) {
        made->messages.push_back(failure.diagnostic);
    }
    // A place in the PTX is no place in the learner's text.
    if (!is_ptx)
        for (Diagnostic& message : made->messages)
            if (message.where.file != wanted.name && message.where.line > 0) {
                message.message += fmt::format(" ({} line {})", message.where.file, message.where.line);
                message.where.line = message.where.column = 0;
            }
    std::stable_sort(made->messages.begin(), made->messages.end(),
                     [](const Diagnostic& a, const Diagnostic& b) { return a.severity < b.severity; });
    // Two entries of one C++ name (templates, overloads) go by the names that PTX has.
    for (size_t i = 0; i < made->entries.size(); ++i)
        for (size_t k = i + 1; k < made->entries.size(); ++k)
            if (made->entries[i].name == made->entries[k].name && made->entries[i].program && made->entries[k].program) {
                made->entries[i].name = made->entries[i].program->kernel;
                made->entries[k].name = made->entries[k].program->kernel;
            }
    made->seconds = since(begin);
    draft.own.compiled = made;
    if (made->ok) draft.own.runnable = made;
    busy("");
    return true;
}

namespace {

struct Refusal {  // thrown: the launch cannot be run as it was typed
    std::string field;
    Diagnostic why;
};

const KernelEntry& entry_of(const CompiledKernel& compiled, const std::string& name) {
    const KernelEntry* entry = nullptr;
    for (const KernelEntry& candidate : compiled.entries)
        if (candidate.program && (entry == nullptr || candidate.name == name)) entry = &candidate;
    if (entry == nullptr) throw Refusal{"", {"none of the file's kernels can run here"}};
    return *entry;
}

std::optional<uint64_t> number_in(const std::string& text, uint64_t most) {
    uint64_t value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool good = error == std::errc{} && rest == text.data() + text.size() && value <= most;
    return good ? std::optional(value) : std::nullopt;
}

simt::Dim3 extent(const std::string& field, const std::string& text) {
    const auto read = scene::parse_dim3(text, "the " + field);
    if (!read.ok()) throw Refusal{field, read.error()};
    return read.value();
}

uint64_t seed_of(const LaunchSettings& settings) {
    const auto seed = number_in(settings.seed.empty() ? "1" : settings.seed, UINT64_MAX);
    if (!seed) throw Refusal{"seed", {"the seed is a whole number from 0"}};
    return *seed;
}

// GPU, program, source and extents, as they were typed.
std::shared_ptr<model::KernelRun> typed_run(const KernelJob& wanted, const LaunchSettings& settings,
                                            const KernelEntry& entry, const CompiledKernel& compiled) {
    auto run = std::make_shared<model::KernelRun>();
    const auto spec = model::gpu_named(settings.gpu);
    if (!spec.ok()) throw Refusal{"", spec.error()};
    run->gpu = spec.value();
    run->program = entry.program;
    if (!wanted.name.ends_with(".ptx")) run->source = compiled.source;
    if (!has_lines_of(*run, wanted.name))
        if (auto header = read_file(run->program->source_file, 1 << 20); header.ok())
            run->source = std::move(header.value());
    run->config.grid = extent("grid", settings.grid);
    run->config.block = extent("block", settings.block);
    const auto shared = number_in(settings.shared.empty() ? "0" : settings.shared, 1 << 24);
    if (!shared) throw Refusal{"shared", {"bytes of shared memory are a whole number from 0, such as 4096"}};
    run->config.dynamic_shared = static_cast<uint32_t>(*shared);
    return run;
}

// The arguments, as they were typed, in the memory that the launch begins with.
scene::BoundArguments typed_arguments(const KernelJob& wanted, const LaunchSettings& settings, model::KernelRun& run,
                                      simt::Memory& memory, const std::string& source) {
    std::vector<scene::KernelArgument> arguments;
    for (size_t i = 0; i < settings.arguments.size(); ++i) {
        auto argument = scene::parse_argument(settings.arguments[i].text);
        if (!argument.ok()) throw Refusal{fmt::format("argument {}", i), argument.error()};
        arguments.push_back(std::move(argument.value()));
    }
    const std::filesystem::path folder = std::filesystem::path(wanted.path).parent_path();
    try {
        auto bound = scene::bind_arguments(*run.program, arguments, memory, run.config, seed_of(settings), folder, source);
        if (bound.ok()) {
            const auto symbols = scene::parse_symbols(settings.symbols);
            if (!symbols.ok()) throw Refusal{"symbols", symbols.error()};
            if (auto problem =
                    scene::bind_symbols(*run.program, symbols.value(), memory, seed_of(settings), folder, &bound.value()))
                throw Refusal{"symbols", *problem};
            return std::move(bound.value());
        }
        std::string field;
        for (size_t i = 0; i < arguments.size(); ++i)
            if (bound.error().message.starts_with(fmt::format("argument {} ", i + 1))) field = fmt::format("argument {}", i);
        throw Refusal{field, bound.error()};
    } catch (const Failure& failure) {
        throw Refusal{"", failure.diagnostic};
    }
}

void check_fits(const model::KernelRun& run) {
    const auto problem = simt::check_launch(*run.program, run.config, model::limits_of(run.gpu));
    if (!problem) return;
    const std::string& why = problem->message;
    throw Refusal{why.find("shared memory") != std::string::npos ? "shared"
                  : why.starts_with("a grid")                    ? "grid"
                                                                 : "block",
                  *problem};
}

// What the outputs of a launch that ended say, as `lockstep run` says it.
void warn_of_outputs(model::KernelRun& run, const simt::Memory& memory, const KernelResult& result,
                     const std::string& source) {
    const std::vector<Array> outputs = scene::read_outputs(result.bound, memory);
    scene::LaunchToLookAt look{*run.program, run.config, result.bound, outputs, run.before, {}, 0};
    look.options = model::functional_options(run.gpu, *run.program, run.config);
    look.warp_instructions = run.result.warp_instructions;
    std::vector<std::string> symbols;
    std::istringstream in(result.settings.symbols);
    for (std::string symbol; std::getline(in, symbol, ';');) {
        symbol.erase(0, std::min(symbol.find_first_not_of(' '), symbol.size()));
        symbols.push_back(symbol);
    }
    for (simt::Fault& warning : scene::warnings_of_launch(look, symbols, source))
        run.result.warnings.push_back(std::move(warning));
}

}  // namespace

// What ran before stays beside what runs now, where anything differs; run once more, the two stay who they were.
static void keep_earlier(OwnState& own, const KernelResult& now) {
    const auto good = [](const KernelResult& result) { return result.run && result.timed && !result.run->result.fault; };
    if (!own.run || !own.run->run || own.run->kernel != now.kernel) return own.before.reset();
    if (!good(*own.run) || !good(now)) return;
    const model::KernelRun &was = *own.run->run, &is = *now.run;
    const bool same_launch = was.config.grid == is.config.grid && was.config.block == is.config.block &&
                             was.config.dynamic_shared == is.config.dynamic_shared && was.gpu.name == is.gpu.name &&
                             was.result.cycles == is.result.cycles;
    if (own.run->version == now.version && same_launch) return;
    own.before = std::make_shared<const EarlierRun>(
        EarlierRun{without_trace(was), own.run->compiled ? own.run->compiled->source : was.source});
}

// How far a launch came that was cancelled or given up: its trace up to there is what says why it takes so long.
static void show_stopped(KernelState& shown, const std::shared_ptr<const model::KernelRun>& run, const std::string& kernel) {
    shown = {};
    shown.run = run;
    shown.label = kernel + "  (your kernel, stopped)";
}

void Session::Worker::run_own(const KernelJob& wanted) {
    const CompiledKernel& compiled = *draft.own.runnable;
    auto result = std::make_shared<KernelResult>();
    result->version = compiled.version;
    result->edited_at = wanted.edited_at;
    result->gpu = wanted.launch.gpu;
    result->settings = wanted.launch;
    std::shared_ptr<model::KernelRun> under_way;
    try {
        const KernelEntry& entry = entry_of(compiled, wanted.launch.kernel);
        LaunchSettings& settings = result->settings;
        if (wanted.compile) settings.kernel = entry.name, fit_launch(settings, entry, compiled.source);
        result->kernel = entry.name;
        result->timed = settings.timed;
        for (const bool again : {false, true}) {  // once more where a first run tells other sizes than were guessed
            if (again && !learn_sizes(*result, entry, compiled, settings)) break;
            const std::shared_ptr<model::KernelRun> run = typed_run(wanted, settings, entry, compiled);
            simt::Memory memory;
            seed_of(settings);  // is said before what is wrong with an argument
            result->printed.clear();
            result->printed_more = false;
            result->bound = typed_arguments(wanted, settings, *run, memory, compiled.source);
            check_fits(*run);
            run->before = std::make_shared<simt::Memory>(memory);
            under_way = run;
            launch_own(wanted, *run, memory, *result);
            if (!run->result.fault) warn_of_outputs(*run, memory, *result, compiled.source);
            result->after = std::make_shared<simt::Memory>(std::move(memory));
            result->run = run;
            result->compiled = draft.own.runnable;
        }
    } catch (const Refusal& refusal) {
        result->run.reset();
        result->field = refusal.field;
        result->refused = refusal.why;
        draft.own.result = result;
        if (result->given_up) {  // nobody waits for it: a warp may be looked at now
            const std::lock_guard lock(mutex);
            if (!superseded()) job = std::stop_source();
        }
        if (under_way && under_way->result.stopped && result->timed && !under_way->result.trace.warps.empty()) {
            show_stopped(draft.kernel, under_way, result->kernel);
            forget_fault();
            forget_warp();
        }
        return busy("");
    }
    keep_earlier(draft.own, *result);
    draft.own.result = draft.own.run = result;
    draft.progress = -1;
    draft.busy.clear();
    show_own();
}

// Runs what was typed, timed or not, with the checkers that were chosen, as far as nothing stops it.
void Session::Worker::launch_own(const KernelJob& wanted, model::KernelRun& run, simt::Memory& memory,
                                 KernelResult& result) {
    const LaunchSettings& settings = result.settings;
    busy("running " + result.kernel + " on the modelled " + upper(model::short_name(result.gpu)), 0);
    const std::stop_source source = [&] {
        const std::lock_guard lock(mutex);
        return job;
    }();
    // Of the processor's time: on a machine that is busy a run is not given up for what others do.
    const bool unasked = wanted.on_change && options.paced;
    const Watchdog watchdog(unasked ? most_unasked_wait : 0, source);
    const double worked = system::thread_seconds();
    bool long_work = false;
    simt::LaunchOptions common;
    common.max_instructions = settings.timed ? timed_budget : functional_budget;
    common.synccheck = settings.synccheck;
    common.racecheck = settings.racecheck;
    common.initcheck = settings.initcheck;
    common.independent = run.config.independent = model::schedules_threads(run.gpu);
    common.order = settings.order;
    common.seed = seed_of(settings);
    common.stop = source.get_token();
    common.print = [&](std::string_view text) {
        const size_t room = most_printed - std::min(most_printed, result.printed.size());
        result.printed += text.substr(0, room);
        result.printed_more |= text.size() > room;
    };
    Clock::time_point told = Clock::now();
    common.progress = [&](double share) {
        serve_light();
        if (unasked && !long_work && system::thread_seconds() - worked > most_unasked_seconds)
            long_work = true, std::stop_source(source).request_stop();
        if (since(told) < 0.1) return;
        told = Clock::now();
        busy(draft.busy, share);
    };
    const Clock::time_point begin = Clock::now();
    if (settings.timed) {
        model::TimedOptions timed;
        static_cast<simt::LaunchOptions&>(timed) = common;
        if (wanted.traced_block >= 0 && draft.own.run)
            for (const BlockRun& block : draft.own.run->run->result.trace.blocks)
                if (block.block == wanted.traced_block) timed.traced_sm = block.sm;
        timed.trace_limit = options.trace_limit;
        timed.machine = true;
        timed.checkpoint_bytes = most_checkpoint_bytes;
        if (model::is_long(run.gpu, *run.program, run.config, memory, timed_budget))
            run.result = model::sampled_launch(run.gpu, *run.program, run.config, memory, timed, {.threads = cores()}).timed;
        else
            run.result = model::launch(run.gpu, *run.program, run.config, memory, timed);
    } else {
        static_cast<simt::LaunchResult&>(run.result) = simt::launch(*run.program, run.config, memory, common);
        run.result.trace = tracks_of(run.config);
    }
    result.seconds = since(begin);
    if (run.result.stopped) {
        result.given_up = long_work || watchdog.barked();
        result.cancelled = !result.given_up;
        throw Refusal{
            "",
            {result.cancelled
                 ? fmt::format("cancelled after {:.1f} s", result.seconds)
                 : fmt::format("given up after {:.1f} s and {} warp instructions: there is much to do, or a loop does not "
                               "end; Run waits for it, and tells a loop that never ends",
                               result.seconds, with_commas(static_cast<int64_t>(run.result.warp_instructions)))}};
    }
    const std::vector<std::string> refusals = model::refusals(run.gpu, *run.program, run.config);
    run.result.notes.insert(run.result.notes.begin(), refusals.begin(), refusals.end());
}

void Session::Worker::show_own() {
    bring(Source::own);
    if (tape_run) return show_tape(false);
    if (!draft.own.run || !draft.own.run->run) return publish();
    // The fault is a row of the report list; the strip on top is for what has no other place.
    draft.kernel.run = draft.kernel.run == draft.own.run->run ? draft.kernel.run : nullptr;
    if (draft.kernel.run) return;
    draft.kernel.run = draft.own.run->run;
    draft.kernel.label =
        draft.own.run->kernel + (draft.own.run->run->result.sampling ? "  (your kernel, sampled)" : "  (your kernel)");
    draft.kernel.look_at = {};
    forget_fault();
    forget_warp();
    publish();
}

}  // namespace lockstep::gui
