// `lockstep run FILE.{cu,ptx} --grid ... --block ... --arg ...`: one kernel on the modelled GPU, timed unless --functional.
// read_input() makes a launch of what was asked (launch_input.h), launch() runs it, to_json() and print() tell what came of
// it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <tuple>

#include "app/cli/cli.h"
#include "app/cli/kernel/area_text.h"
#include "app/cli/kernel/launch_input.h"
#include "app/cli/kernel/metrics_text.h"
#include "app/cli/kernel/output_json.h"
#include "app/cli/kernel/run_options.h"
#include "app/cli/kernel/trace_file.h"
#include "app/cli/kernel/verdict_text.h"
#include "app/cli/long_work.h"
#include "app/silicon/measured.h"
#include "core/api/report.h"
#include "core/base/cores.h"
#include "core/base/files.h"
#include "core/base/tell.h"
#include "core/model/gpus/refusals.h"
#include "core/model/launch/replay.h"
#include "core/model/metrics/bound.h"
#include "core/model/metrics/energy.h"
#include "core/model/sample/sample.h"
#include "core/ptx/ptx.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "core/scene/arguments/module_symbols.h"
#include "core/scene/arguments/outputs.h"
#include "core/simt/check/faults.h"

namespace lockstep::cli {
namespace {

using api::diagnostic_json, api::indices, api::time_error_json, api::verdict_json;
using Json = nlohmann::ordered_json;

struct Ran {
    simt::LaunchResult result;
    model::TimedResult timed;
    std::shared_ptr<const simt::Memory> before;  // for a replay, and for what-ifs
    std::vector<Array> outputs;
    std::optional<model::Verdict> verdict;       // of a timed launch that ended
    std::vector<scene::Comparison> comparisons;  // of outputs that have expected values
    std::string whole_because;                   // it was to be sampled and could not be

    const model::Sampling* sampling() const { return timed.sampling.get(); }
    // Whether memory holds what the launch writes, all of it.
    bool has_outputs(const KernelAsked& options) const { return !sampling() || !options.time_only; }
};

// A short look at an output for people: the first values, "unset" where an out: buffer still holds its fill.
std::string preview(const Array& array, bool out) {
    const size_t shown = std::min<size_t>(array.count(), 8);
    Array first{array.dtype, {static_cast<int64_t>(shown)}, {}};
    first.bytes.assign(array.bytes.begin(), array.bytes.begin() + static_cast<std::ptrdiff_t>(shown * size_of(array.dtype)));
    const nlohmann::ordered_json values = output_json(first);
    std::string text;
    for (size_t i = 0; i < values.size(); ++i) {
        const bool unset = out && scene::is_unset(array.dtype, array.bytes.data() + i * size_of(array.dtype));
        text += (i ? " " : "") + (unset                         ? "unset"
                                  : values[i].is_string()       ? values[i].get<std::string>()
                                  : values[i].is_number_float() ? fmt::format("{:.6g}", values[i].get<double>())
                                                                : values[i].dump());
    }
    return text + (array.count() > shown ? " ..." : "");
}

void check_options(const KernelAsked& options) {
    keep_files_apart(options);
    const simt::WarpOrder order = order_named(options.order);
    if (!options.functional && order != simt::WarpOrder::round_robin)
        tell("note: --order is for functional runs (--functional); this one is timed, in the model's order\n");
    if (options.native != "on" && options.native != "off")
        throw Failure(fmt::format("--native is on or off, not '{}'", options.native));
    if (options.functional && !options.trace.empty()) throw Failure("--trace is of a timed run: leave --functional out");
    if (options.trace.empty() && (!options.trace_cycles.empty() || options.trace_sm != 0))
        throw Failure("--trace-sm and --trace-cycles choose what a trace holds: name its file too, as in --trace F.json");
    if (options.functional && options.energy) tell("note: --energy is of timed runs; this one is functional\n");
    if (options.functional && !(options.scheduler + options.metrics).empty())
        tell("note: --scheduler and --metrics are of timed runs; this one is functional\n");
    check_trace_name(options.trace);
    what_ifs_asked(options.what_if);
    const std::string sampled = options.time_only ? "--time-only" : options.sample ? "--sample" : "";
    if (sampled.empty()) return;
    if (options.whole) throw Failure(sampled + " and --whole contradict each other");
    if (options.functional) throw Failure(sampled + " is of timed runs: leave --functional out");
    if (!options.trace_cycles.empty()) throw Failure("--trace-cycles goes back in a whole run: leave " + sampled + " out");
    if (asks_for_windows(options.metrics))
        throw Failure("counters by time are those of a whole run: leave " + sampled + " or --metrics " + options.metrics +
                      " out");
}

// A launch that runs sampled: because it was asked to, or is long, and nothing else that was asked for needs all of it.
bool is_sampled(const KernelAsked& options, const LaunchInput& input, const simt::Memory& memory) {
    if (options.sample || options.time_only) return true;
    if (options.whole || !options.trace_cycles.empty() || asks_for_windows(options.metrics)) return false;
    if (options.max_instructions < KernelAsked().max_instructions) return false;  // a budget is one of what really runs
    return model::is_long(input.gpu, *input.program, input.config, memory);
}

// Everything that can be wrong is told here, before anything runs.
LaunchInput read_input(const KernelAsked& options, simt::Memory& memory) {
    LaunchInput input;
    input.gpu = model::gpu_named(options.gpu).value();
    simt::LaunchOptions wanted;  // a wrong name is refused before the kernel is compiled
    choose_checkers(options.check, wanted);
    scheduler_of(options.scheduler);
    read_kernel(options, input);
    bind_launch(options, input, memory);
    const ptx::Program& program = *input.program;
    for (const scene::BoundArgument& bound : input.bound.arguments)
        if (!options.json.empty() && bound.role >= scene::KernelArgument::Role::out && bound.output_file.empty() &&
            bound.bytes / size_of(bound.type) > most_in_json)
            throw Failure(fmt::format("{} has {} elements, too many for --json: name a file, as in out:f32[1024]=y.npy",
                                      bound.name, bound.bytes / size_of(bound.type)));
    if (const auto problem = simt::check_launch(program, input.config, model::limits_of(input.gpu))) throw Failure(*problem);

    metrics_text(input.gpu, program, nullptr, input.source, options.metrics, nullptr);  // refuses a wrong name
    input.refusals = model::refusals(input.gpu, program, input.config);
    for (const std::string& refusal : input.refusals) tell("note: {}\n", refusal);
    if (!options.trace_cycles.empty()) std::tie(input.trace_begin, input.trace_end) = parse_cycles(options.trace_cycles);
    if (options.trace_sm >= input.gpu.sms)
        throw Failure(fmt::format("--trace-sm: {} has the SMs 0 to {}", input.gpu.title, input.gpu.sms - 1));
    return input;
}

// What the outputs say: into the warnings and, where expected values are missed, into the reports.
void look_at_outputs(const KernelAsked& options, const LaunchInput& input, Ran& ran) {
    scene::LaunchToLookAt look{*input.program, input.config, input.bound, ran.outputs, ran.before, {}, 0};
    look.options = model::functional_options(input.gpu, *input.program, input.config);
    look.warp_instructions = ran.result.warp_instructions;
    for (simt::Fault& warning : scene::warnings_of_launch(look, options.symbols, input.source))
        ran.result.warnings.push_back(std::move(warning));
    for (simt::Fault& wrong : scene::compare_outputs(look, ran.comparisons)) ran.result.reports.push_back(std::move(wrong));
}

Ran launch(const KernelAsked& options, const LaunchInput& input, simt::Memory& memory) {
    constexpr uint64_t most_kept = uint64_t{1} << 30;  // bytes of memory, to run the launch again
    Ran ran;
    if (memory.live_bytes() <= most_kept) ran.before = std::make_shared<const simt::Memory>(memory);
    const auto print = [](std::string_view words) { std::fwrite(words.data(), 1, words.size(), stderr); };
    bool leakcheck = false;
    LongWork work(input.kernel);
    if (options.functional) {
        simt::LaunchOptions launch = model::functional_options(input.gpu, *input.program, input.config);
        launch.order = order_named(options.order);
        launch.seed = options.seed;
        launch.native = options.native != "off";
        launch.print = print;
        launch.max_instructions = options.max_instructions;
        leakcheck = choose_checkers(options.check, launch);
        launch.stop = work.token();
        launch.progress = [&](double share) { work(share); };
        ran.result = simt::launch(*input.program, input.config, memory, launch);
    } else {
        model::TimedOptions launch;
        launch.scheduler = scheduler_of(options.scheduler);
        launch.print = print;
        launch.max_instructions = options.max_instructions;
        leakcheck = choose_checkers(options.check, launch);
        launch.trace = !options.trace.empty();
        launch.traced_sm = options.trace_sm;
        if (options.trace.empty() && asks_for_windows(options.metrics)) launch.trace = true, launch.trace_limit = 1;
        launch.stop = work.token();
        launch.progress = [&](double share) { work(share); };
        launch.threads = options.threads;
        if (input.trace_end > 0) {
            if (!ran.before) ran.before = std::make_shared<const simt::Memory>(memory);
            launch.trace_limit = 100'000;  // the stretch comes from a replay
            launch.checkpoint_bytes = model::Replay::default_bytes;
        }
        if (is_sampled(options, input, memory)) {
            const uint32_t threads = options.threads != 0 ? options.threads : cores();
            const bool asked = options.sample || options.time_only;
            model::SampledResult sampled =
                model::sampled_launch(input.gpu, *input.program, input.config, memory, launch,
                                      {.time_only = options.time_only,
                                       .threads = threads,
                                       .rounds_from = asked ? model::rounds_left_out_from : UINT64_MAX});
            ran.timed = std::move(sampled.timed);
            ran.whole_because = std::move(sampled.why);
        } else {
            ran.timed = model::launch(input.gpu, *input.program, input.config, memory, launch);
        }
        ran.result = ran.timed;
    }
    if (leakcheck && !ran.result.fault && !ran.result.stopped)
        for (simt::Fault& leak : simt::find_leaks(memory)) ran.result.reports.push_back(std::move(leak));
    if (!ran.has_outputs(options) && !ran.sampling()->blocks_only) return ran;
    ran.outputs = scene::read_outputs(input.bound, memory);
    if (ran.result.fault || ran.result.stopped) return ran;
    scene::write_outputs(input.bound, ran.outputs);
    if (!ran.has_outputs(options)) return ran;
    look_at_outputs(options, input, ran);
    return ran;
}

std::shared_ptr<model::KernelRun> as_run(const LaunchInput& input, const Ran& ran) {
    auto run = std::make_shared<model::KernelRun>();
    run->gpu = input.gpu;
    run->program = input.program;
    run->config = input.config;
    run->result = ran.timed;
    run->before = ran.before;
    run->source = input.source;
    return run;
}

// What limits a timed launch, and what changes would gain, as far as that was asked for.
void judge(const KernelAsked& options, const LaunchInput& input, Ran& ran) {
    if (options.functional || ran.result.fault || ran.result.stopped) return;
    LongWork work("what-ifs of " + input.kernel);
    model::VerdictOptions asked = what_ifs_asked(options.what_if);
    if (ran.sampling()) asked.what_if_none = true;  // they would run all of it
    asked.stop = work.token();
    asked.progress = [&](double share) { work(share); };
    ran.verdict = model::verdict_of(*as_run(input, ran), asked);
}

// The same launch on a real GPU, where a stored file has it: into the JSON, and as words.
std::string on_silicon(const LaunchInput& input, const Ran& ran, Json& json) {
    const device::MeasuredStore measured = device::read_measured(device::measured_folder());
    for (const Diagnostic& problem : measured.problems) complain(problem);
    const auto found = measured.find(*input.program, input.config, input.gpu.name);
    if (!found) return {};
    json["measured"] = {{"time_us", found->time_us},
                        {"gpu", found->gpu->file.gpu},
                        {"driver", found->gpu->file.driver},
                        {"date", found->gpu->file.date},
                        {"real", found->gpu->real()}};
    return fmt::format("  {:.2f} µs {}; simulated over measured: {:.2f}\n", found->time_us, found->gpu->badge(),
                       ran.timed.time_us / found->time_us);
}

// How the launch was sampled, or why it was not though that was asked for; null: neither.
Json sampling_json(const KernelAsked& options, const Ran& ran) {
    if (!ran.sampling()) return ran.whole_because.empty() ? Json() : Json{{"sampled", false}, {"why", ran.whole_because}};
    const model::Sampling& s = *ran.sampling();
    Json json = {{"sampled", true},
                 {"blocks", s.blocks},
                 {"timed_blocks", s.timed_blocks},
                 {"timed_cycles", s.timed_cycles},
                 {"timed_instructions", s.timed_instructions},
                 {"error", json_number(s.error)},
                 {"how", model::words_of(s)},
                 {"error_from", model::error_words_of(s)},
                 {"outputs", ran.has_outputs(options) ? "all"
                             : s.blocks_only          ? "timed blocks"
                                                      : "none"},
                 {"gaps", Json::array()}};
    for (const model::Gap& gap : s.gaps)
        json["gaps"].push_back({{"at", gap.at},
                                {"cycles", gap.cycles},
                                {"blocks", gap.blocks},
                                {"rounds", gap.rounds},
                                {"instructions", gap.instructions},
                                {"error", json_number(gap.error)}});
    return json;
}

// Everything but what --metrics asks for; `silicon` takes the words on a measured run.
Json to_json(const KernelAsked& options, const LaunchInput& input, const Ran& ran, std::string& silicon) {
    Json json;
    json["gpu"] = input.gpu.name;
    json["kernel"] = input.kernel;
    json["grid"] = indices(input.config.grid);
    json["block"] = indices(input.config.block);
    json["cycles"] = options.functional ? Json() : Json(ran.timed.cycles);
    json["time_us"] = options.functional ? Json() : json_number(ran.timed.time_us);
    json["l2"] = options.functional ? Json() : Json("cold");  // empty when the launch begins
    json["launch_us"] = options.functional ? Json() : json_number(ran.timed.launch_us);
    if (Json sampling = sampling_json(options, ran); !sampling.is_null()) json["sampling"] = std::move(sampling);
    if (ran.result.stopped) json["stopped"] = true;  // by Ctrl-C: all that follows is of the part before
    if (!options.functional && !ran.result.fault) json["time_error"] = time_error_json(ran.timed);
    if (!options.functional && !ran.result.fault) silicon = on_silicon(input, ran, json);
    json["instructions"] = {{"warp", ran.result.warp_instructions}, {"thread", ran.result.thread_instructions}};
    json["metrics"] = Json::object();
    for (const model::Metric& metric : ran.timed.metrics)
        json["metrics"][std::string(metric.nsight)] = json_number(metric.value);
    if (ran.verdict) json["verdict"] = verdict_json(*ran.verdict);
    if (options.energy && !options.functional && !ran.result.fault)
        json["energy"] = energy_json(model::energy_of(input.gpu, *input.program, ran.timed));
    json["outputs"] = Json::array();
    if (!options.json.empty())
        for (const Array& output : ran.outputs)
            json["outputs"].push_back(output_json(output));  // a large one is null: its file has it
    json["diagnostics"] = Json::array();
    for (const simt::Fault& report : ran.result.reports) json["diagnostics"].push_back(diagnostic_json(report));
    if (ran.result.fault) json["diagnostics"].push_back(diagnostic_json(*ran.result.fault));
    json["warnings"] = Json::array();
    for (const simt::Fault& warning : ran.result.warnings) json["warnings"].push_back(diagnostic_json(warning));
    for (const scene::Comparison& c : ran.comparisons)
        json["expected"].push_back({{"name", c.name},
                                    {"elements", c.elements},
                                    {"wrong", c.wrong},
                                    {"first_wrong", c.wrong > 0 ? Json(c.first_wrong) : Json()},
                                    {"largest_error", json_number(c.largest_error)},
                                    {"largest_at", c.largest_at}});
    if (!ran.result.notes.empty() || !input.refusals.empty()) {
        json["notes"] = input.refusals;
        for (const std::string& note : ran.result.notes) json["notes"].push_back(note);
    }
    return json;
}

// What the checkers found, to stderr.
void tell_of_faults(const KernelAsked& options, const LaunchInput& input, const simt::LaunchResult& result) {
    for (const simt::Fault& report : result.reports) tell("{}\n", simt::render(report));
    for (const simt::Fault& warning : result.warnings) tell("{}\n", simt::render(warning));
    for (const std::string& note : result.notes) tell("note: {}\n", note);
    if (!result.fault) return;
    tell("{}\n", simt::render(*result.fault));
    if (options.shared == 0 && result.fault->message.find("shared memory") != std::string::npos)
        for (const ptx::SharedVariable& variable : input.program->shared_variables)
            if (variable.bytes == 0)
                tell("note: '{}' is extern __shared__ and has no bytes here: --shared BYTES gives them\n",
                     simt::readable_variable(variable.name));
}

void trace(const KernelAsked& options, const LaunchInput& input, Ran& ran) {
    if (input.trace_end > 0 && !ran.timed.fault) {
        if (input.trace_begin >= ran.timed.cycles)
            throw Failure(fmt::format("--trace-cycles {}: the run ends at cycle {}, before they begin", options.trace_cycles,
                                      ran.timed.cycles));
        auto run = as_run(input, ran);
        ran.timed.trace = model::Replay(run).trace(ran.timed.trace.sm, input.trace_begin, input.trace_end).value();
    }
    write_trace(
        ran.timed.trace, input.kernel, [&](uint32_t pc) { return ptx::text_of(*input.program, pc); }, options.trace);
}

void print(const KernelAsked& options, const LaunchInput& input, const Ran& ran, const std::string& silicon,
           const std::string& counters) {
    if (ran.result.fault)  // counters of half a run would mislead
        fmt::print("{} was stopped by {} after {} warp instructions\n", input.kernel, ran.result.fault->kind,
                   ran.result.warp_instructions);
    else if (ran.result.stopped)
        fmt::print("{} was stopped by Ctrl-C after {} warp instructions{}; what follows is of that part\n", input.kernel,
                   ran.result.warp_instructions,
                   options.functional ? "" : fmt::format(", at cycle {} on {}", ran.timed.cycles, input.gpu.title));
    else if (options.functional)
        fmt::print("{}: {} warp instructions, {} thread instructions of lanes whose condition held (executed)\n",
                   input.kernel, ran.result.warp_instructions, ran.result.thread_instructions);
    else
        fmt::print("{} on {}: {} cycles, {:.2f} µs, {} warp instructions (simulated)\n  {}\n", input.kernel, input.gpu.title,
                   ran.timed.cycles, ran.timed.time_us, ran.result.warp_instructions,
                   model::trust_in(model::bound_of(ran.timed)));
    if (ran.sampling())
        fmt::print("  {}\n  {}{}\n", model::words_of(*ran.sampling()), model::error_words_of(*ran.sampling()),
                   ran.has_outputs(options)      ? ""
                   : ran.sampling()->blocks_only ? " Outputs are those of the timed blocks alone."
                                                 : " There are no outputs: rounds were left out.");
    else if (!ran.whole_because.empty())
        fmt::print("  not sampled, every cycle was run: {}\n", ran.whole_because);
    fmt::print("{}{}", silicon, counters);
    if (options.energy && !options.functional && !ran.result.fault)
        fmt::print("{}", energy_text(model::energy_of(input.gpu, *input.program, ran.timed)));
    size_t output = 0;
    for (const scene::BoundArgument& argument : input.bound.arguments) {
        if (argument.role < scene::KernelArgument::Role::out || output == ran.outputs.size()) continue;
        const Array& array = ran.outputs[output];
        fmt::print("  output {}: {}[{}] {}\n", output++, name_of(array.dtype), array.count(),
                   preview(array, argument.role == scene::KernelArgument::Role::out));
    }
    if (ran.verdict) fmt::print("{}", verdict_text(*ran.verdict));
}

}  // namespace

int run_kernel(const KernelAsked& options) {
    check_options(options);
    simt::Memory memory;
    const LaunchInput input = read_input(options, memory);
    Ran ran = launch(options, input, memory);
    judge(options, input, ran);
    std::string silicon;
    Json json = to_json(options, input, ran, silicon);
    tell_of_faults(options, input, ran.result);
    if (!options.trace.empty() && ran.sampling())
        tell("note: the trace is of the {} cycles that ran, of {}\n", ran.sampling()->timed_cycles, ran.timed.cycles);
    if (!options.trace.empty() && !ran.result.stopped) trace(options, input, ran);
    const bool counted = !ran.result.fault && !options.functional;
    const auto run = counted && asks_for_windows(options.metrics) ? as_run(input, ran) : nullptr;
    std::string counters;  // a stretch of time behind the end is told before anything is printed
    if (counted && options.json != "-")
        counters = metrics_text(input.gpu, *input.program, &ran.timed, input.source, options.metrics, run.get());
    if (counted && !options.json.empty() && !options.metrics.empty())
        json.update(metrics_json(*input.program, ran.timed, input.source, options.metrics, run.get()));
    if (!options.json.empty()) write_json(json, options.json);
    if (options.json != "-") print(options, input, ran, silicon, counters);
    const bool wrong =
        ran.result.fault || !ran.result.reports.empty() || (is_strict(options.check) && !ran.result.warnings.empty());
    if (ran.result.stopped) return interrupted_status;
    return static_cast<int>(wrong ? ExitStatus::faulted : ExitStatus::done);
}

}  // namespace lockstep::cli
