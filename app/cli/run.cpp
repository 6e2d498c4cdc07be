// `lockstep run FILE.{cu,ptx} --grid ... --block ... --arg ...`: one kernel on the modelled GPU, timed unless --functional.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "app/cli/cli.h"
#include "app/cli/metrics_text.h"
#include "app/cli/output_json.h"
#include "app/cli/own_files.h"
#include "app/cli/trace_file.h"
#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/base/tell.h"
#include "core/device/kernel_library.h"
#include "core/device/measured.h"
#include "core/device/ptxas.h"
#include "core/model/launch.h"
#include "core/model/refusals.h"
#include "core/model/replay.h"
#include "core/ptx/ptx.h"
#include "core/simt/faults.h"
#include "core/trace/csv.h"
#include "core/trace/perfetto.h"
#include "core/trace/text.h"
#include "lessons/player/host_program.h"
#include "lessons/player/kernel_arguments.h"
#include "lessons/player/lesson.h"
#include "lessons/player/module_symbols.h"

namespace lockstep::cli {
namespace {

struct Options {
    std::string file, kernel, grid, block, gpu = "v100", check = "memcheck,synccheck", json, trace, trace_cycles;
    uint32_t trace_sm = 0;
    std::string cluster, order = "round_robin", scheduler, registers, metrics;
    std::vector<std::string> arguments, symbols;
    device::CompileOptions compiler;
    uint64_t seed = 1;
    uint32_t shared = 0;
    bool functional = false;
    uint64_t max_instructions = 1'000'000'000;
};

// Which checkers `--check` asks for, into the launch's options; whether leaks are among them. Bounds are always enforced.
bool choose_checkers(const std::string& list, simt::LaunchOptions& launch) {
    const std::vector<std::string> names = {"memcheck", "racecheck", "initcheck", "synccheck", "leakcheck", "all", "none"};
    if (list.empty()) throw Failure(fmt::format("--check needs a list of {}", fmt::join(names, ", ")));
    launch.racecheck = launch.initcheck = launch.synccheck = false;
    bool leakcheck = false;
    std::istringstream in(list);
    for (std::string name; std::getline(in, name, ',');) {
        const bool all = name == "all";
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            const std::string near = nearest_name(name, names);
            throw Failure(fmt::format(
                "unknown checker '{}'{}", name,
                near.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : ", did you mean " + near + "?"));
        }
        if (name == "none") launch.racecheck = launch.initcheck = launch.synccheck = leakcheck = false;
        if (all || name == "racecheck") launch.racecheck = true;
        if (all || name == "initcheck") launch.initcheck = true;
        if (all || name == "synccheck") launch.synccheck = true;
        if (all || name == "leakcheck") leakcheck = true;
    }
    return leakcheck;
}

nlohmann::ordered_json indices(const simt::Dim3& d) {
    return {d.x, d.y, d.z};
}

nlohmann::ordered_json diagnostic_json(const simt::Fault& fault) {
    nlohmann::ordered_json json = {{"kind", fault.kind},
                                   {"message", fault.message},
                                   {"file", fault.file},
                                   {"line", fault.line},
                                   {"block", indices(fault.block)},
                                   {"thread", indices(fault.thread)},
                                   {"address", fmt::format("0x{:x}", fault.address)}};
    if (!fault.allocation.empty()) {
        json["allocation"] = fault.allocation;
        json["offset"] = fault.offset;
    }
    if (!fault.other_file.empty())
        json["other"] = {{"file", fault.other_file},
                         {"line", fault.other_line},
                         {"block", indices(fault.other_block)},
                         {"thread", indices(fault.other_thread)}};
    return json;
}

// A short look at an output for people: the first values.
std::string preview(const Array& array) {
    const size_t shown = std::min<size_t>(array.count(), 8);
    Array first{array.dtype, {static_cast<int64_t>(shown)}, {}};
    first.bytes.assign(array.bytes.begin(), array.bytes.begin() + static_cast<std::ptrdiff_t>(shown * size_of(array.dtype)));
    const nlohmann::ordered_json values = output_json(first);
    std::string text;
    for (size_t i = 0; i < values.size(); ++i)
        text += (i ? " " : "") + (values[i].is_string()         ? values[i].get<std::string>()
                                  : values[i].is_number_float() ? fmt::format("{:.6g}", values[i].get<double>())
                                                                : values[i].dump());
    return text + (array.count() > shown ? " ..." : "");
}

simt::WarpOrder order_named(const std::string& name) {
    const std::vector<std::string> names = {"round_robin", "greedy", "reverse", "random"};
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<simt::WarpOrder>(found - names.begin());
    const std::string near = nearest_name(name, names);
    throw Failure(
        fmt::format("unknown order '{}'{}", name,
                    near.empty() ? "; there are round_robin, greedy, reverse, random" : ", did you mean " + near + "?"));
}

// The program with the registers a thread that --registers says.
std::shared_ptr<const ptx::Program> with_registers(std::shared_ptr<const ptx::Program> program, const std::string& count,
                                                   const model::GpuSpec& gpu) {
    if (count.empty()) return program;
    uint32_t registers = 0;
    if (count == "ptxas") {
        const device::PtxasRegisters told = device::ptxas_registers(*program, gpu.compute.text());
        tell("ptxas for {}: {} registers a thread; without it {}\n", told.target, told.count, program->registers_per_thread);
        auto changed = std::make_shared<ptx::Program>(*program);
        changed->registers_per_thread = told.count;
        return changed;
    }
    const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), registers);
    if (error != std::errc() || end != count.data() + count.size() || registers < 1 || registers > 255)
        throw Failure(fmt::format("--registers needs a number from 1 to 255 or ptxas, not '{}'", count));
    auto changed = std::make_shared<ptx::Program>(*program);
    changed->registers_per_thread = registers;
    return changed;
}

std::optional<model::SchedulerPolicy> scheduler_of(const std::string& name) {
    if (name.empty()) return std::nullopt;
    const auto policy = model::scheduler_named(name);
    if (!policy) throw Failure(fmt::format("unknown scheduler '{}'; there are gto, gty, lrr", name));
    return policy;
}

// As the file's name ends: .csv, .txt, else Perfetto JSON.
void write_warp_timeline(const KernelTrace& trace, const std::string& kernel, const ptx::Program& program,
                         const std::string& file) {
    const std::string extension = std::filesystem::path(file).extension().string();
    const auto name_of = [&](uint32_t pc) { return ptx::text_of(program, pc); };
    write_file(file, [&](std::ostream& out) {
        if (extension == ".csv")
            write_csv(trace, out, name_of);
        else if (extension == ".txt")
            out << format_text(trace);
        else
            write_perfetto(trace, kernel, out, name_of);
    });
    if (trace.truncated)
        tell("note: the trace holds the cycles {} to {} of {}\n", trace.kept_from, trace.kept_until, trace.cycles);
}

// "100000-120000": from the first cycle up to, not including, the second.
std::pair<int64_t, int64_t> parse_cycles(const std::string& text) {
    const size_t dash = text.find('-');
    int64_t begin = -1, end = -1;
    const char* const last = text.data() + text.size();
    if (dash != std::string::npos) {
        const auto first = std::from_chars(text.data(), text.data() + dash, begin);
        const auto second = std::from_chars(text.data() + dash + 1, last, end);
        if (first.ec == std::errc{} && first.ptr == text.data() + dash && second.ec == std::errc{} && second.ptr == last &&
            begin >= 0 && end > begin)
            return {begin, end};
    }
    throw Failure(
        "--trace-cycles takes two cycles, the first one and the one behind the last, such as 100000-120000, not '" + text +
        "'");
}

std::string number_of_32_bits(const std::string& text) {
    const size_t sign = text.starts_with('-') ? 1 : 0;
    const bool number = text.size() > sign && text.find_first_not_of("0123456789", sign) == std::string::npos;
    uint32_t value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return number && error != std::errc{} ? fmt::format("a whole number from 0 to 4294967295 is needed, not '{}'", text)
                                          : not_from_0(text);
}

// Arguments that do not parse are refused later, with their carets.
void keep_files_apart(const Options& options) {
    std::vector<FileUse> read{{"", options.file}}, written;
    for (const std::string& text : options.arguments) {
        const Result<lessons::KernelArgument> argument = lessons::parse_argument(text);
        if (!argument) continue;
        const auto& [in, out] = std::tie(argument.value().file, argument.value().output_file);
        const bool in_place = !in.empty() && !out.empty() && same_file(in, out);  // inout:x.npy=x.npy, on purpose
        if (!in_place) read.push_back({"--arg " + text, in});
        written.push_back({"--arg " + text, out});
    }
    for (const std::string& text : options.symbols)
        if (const Result<lessons::ModuleSymbol> symbol = lessons::parse_symbol(text))
            read.push_back({"--symbol " + text, symbol.value().value.file});
    written.push_back({"--json", options.json});
    written.push_back({"--trace", options.trace});
    keep_apart(read, written);
}

int run(const Options& options) {
    keep_files_apart(options);
    const simt::WarpOrder order = order_named(options.order);
    if (!options.functional && order != simt::WarpOrder::round_robin)
        tell("note: --order is for functional runs (--functional); this one is timed, in the model's order\n");
    if (options.functional && !options.trace.empty()) throw Failure("--trace is of a timed run: leave --functional out");
    if (options.trace.empty() && (!options.trace_cycles.empty() || options.trace_sm != 0))
        throw Failure("--trace-sm and --trace-cycles choose what a trace holds: name its file too, as in --trace F.json");
    if (options.functional && !(options.scheduler + options.metrics).empty())
        tell("note: --scheduler and --metrics are of timed runs; this one is functional\n");
    check_trace_name(options.trace);
    const model::GpuSpec gpu = model::gpu_named(options.gpu).value();
    simt::LaunchOptions wanted;  // a wrong name is refused before the kernel is compiled
    const bool leakcheck = choose_checkers(options.check, wanted);
    const std::optional<model::SchedulerPolicy> scheduler = scheduler_of(options.scheduler);
    std::string text = read_text(options.file, 64u << 20).value(), source;
    bool compiled_here = false;
    std::string ptx_name = options.file;
    const std::string extension = std::filesystem::path(options.file).extension().string();
    if (extension == ".cu" || extension == ".cuh" || extension == ".cpp") {
        device::CompileOptions how = options.compiler;
        how.least_arch = static_cast<int>(gpu.compute.number);
        device::Compiled compiled = compile_with_warnings(text, options.file, how);
        source = std::move(text);
        text = std::move(compiled.ptx);
        ptx_name += ".ptx";
        compiled_here = true;
    } else if (extension != ".ptx") {
        throw Failure(Diagnostic{"a kernel file ends in .cu or .ptx", {options.file}});
    }
    const auto decoded = ptx::decode(ptx::parse(text, ptx_name).value(), options.kernel);
    if (!decoded) throw Failure(compiled_here ? device::in_source(decoded.error(), source, options.file) : decoded.error());
    const auto program = with_registers(decoded.value(), options.registers, gpu);

    simt::Memory memory;
    simt::LaunchConfig config;
    config.grid = lessons::parse_dim3(options.grid, "--grid").value();
    config.block = lessons::parse_dim3(options.block, "--block").value();
    config.dynamic_shared = options.shared;
    if (!options.cluster.empty()) config.cluster = lessons::parse_dim3(options.cluster, "--cluster").value();
    std::vector<lessons::KernelArgument> arguments;
    for (const std::string& argument : options.arguments) arguments.push_back(lessons::parse_argument(argument).value());
    lessons::BoundArguments bound =
        lessons::bind_arguments(*program, arguments, memory, config, options.seed, {}, source).value();
    for (const lessons::BoundArgument& one : bound.arguments)
        if (!options.json.empty() && one.role >= lessons::KernelArgument::Role::out && one.output_file.empty() &&
            one.bytes / size_of(one.type) > most_in_json)
            throw Failure(fmt::format("{} has {} elements, too many for --json: name a file, as in out:f32[1024]=y.npy",
                                      one.name, one.bytes / size_of(one.type)));
    std::vector<lessons::ModuleSymbol> symbols;
    for (const std::string& symbol : options.symbols) symbols.push_back(lessons::parse_symbol(symbol).value());
    if (const auto problem = lessons::bind_symbols(*program, symbols, memory, options.seed)) throw Failure(*problem);
    if (const auto problem = simt::check_launch(*program, config, model::limits_of(gpu))) throw Failure(*problem);

    metrics_text(gpu, *program, nullptr, source, options.metrics, nullptr);  // a wrong name is refused before anything runs
    const std::vector<std::string> refusals = model::refusals(gpu, *program, config);
    for (const std::string& refusal : refusals) tell("note: {}\n", refusal);
    int64_t trace_begin = 0, trace_end = 0;
    if (!options.trace_cycles.empty()) std::tie(trace_begin, trace_end) = parse_cycles(options.trace_cycles);
    if (options.trace_sm >= gpu.sms)
        throw Failure(fmt::format("--trace-sm: {} has the SMs 0 to {}", gpu.title, gpu.sms - 1));
    std::shared_ptr<const simt::Memory> before;  // for a replay
    simt::LaunchResult result;
    model::TimedResult timed;
    const auto print = [](std::string_view words) { std::fwrite(words.data(), 1, words.size(), stderr); };
    if (options.functional) {
        simt::LaunchOptions launch = model::functional_options(gpu, *program, config);
        launch.order = order;
        launch.seed = options.seed;
        launch.print = print;
        launch.max_instructions = options.max_instructions;
        choose_checkers(options.check, launch);
        result = simt::launch(*program, config, memory, launch);
    } else {
        model::TimedOptions launch;
        launch.scheduler = scheduler;
        launch.print = print;
        launch.max_instructions = options.max_instructions;
        choose_checkers(options.check, launch);
        launch.trace = !options.trace.empty();
        launch.traced_sm = options.trace_sm;
        if (options.trace.empty() && asks_for_windows(options.metrics)) launch.trace = true, launch.trace_limit = 1;
        if (trace_end > 0) {
            before = std::make_shared<const simt::Memory>(memory);
            launch.trace_limit = 100'000;  // the stretch comes from a replay
            launch.checkpoint_bytes = model::Replay::default_bytes;
        }
        timed = model::launch(gpu, *program, config, memory, launch);
        result = timed;
    }
    if (leakcheck && !result.fault)
        for (simt::Fault& leak : simt::find_leaks(memory)) result.reports.push_back(std::move(leak));
    const std::vector<Array> outputs = lessons::read_outputs(bound, memory);
    if (!result.fault) lessons::write_outputs(bound, outputs);

    nlohmann::ordered_json json;
    json["gpu"] = gpu.name;
    // As the user calls it: the mangled name only where that was asked for.
    const std::string& kernel = options.kernel == program->kernel ? program->kernel : program->shown_name();
    json["kernel"] = kernel;
    json["grid"] = indices(config.grid);
    json["block"] = indices(config.block);
    json["cycles"] = options.functional ? nlohmann::ordered_json() : nlohmann::ordered_json(timed.cycles);
    json["time_us"] = options.functional ? nlohmann::ordered_json() : json_number(timed.time_us);
    json["launch_us"] = options.functional ? nlohmann::ordered_json() : json_number(timed.launch_us);
    // The same launch on a real GPU, where a stored file has it.
    device::MeasuredStore measured;
    if (!options.functional && !result.fault) measured = device::read_measured(device::measured_folder());
    for (const Diagnostic& problem : measured.problems) complain(problem);
    std::string on_silicon;
    if (const auto found = measured.find(*program, config, gpu.name)) {
        json["measured"] = {{"time_us", found->time_us},
                            {"gpu", found->gpu->file.gpu},
                            {"driver", found->gpu->file.driver},
                            {"date", found->gpu->file.date},
                            {"real", found->gpu->real()}};
        on_silicon = fmt::format("  {:.2f} us {}; simulated over measured: {:.2f}\n", found->time_us, found->gpu->badge(),
                                 timed.time_us / found->time_us);
    }
    json["instructions"] = {{"warp", result.warp_instructions}, {"thread", result.thread_instructions}};
    json["metrics"] = nlohmann::ordered_json::object();
    for (const model::Metric& metric : timed.metrics)
        json["metrics"][std::string(metric.nsight)] = json_number(metric.value);
    json["outputs"] = nlohmann::ordered_json::array();
    if (!options.json.empty())
        for (const Array& output : outputs)
            json["outputs"].push_back(output_json(output));  // a large one is null: its file has it
    json["diagnostics"] = nlohmann::ordered_json::array();
    for (const simt::Fault& report : result.reports) {
        json["diagnostics"].push_back(diagnostic_json(report));
        tell("{}\n", simt::render(report));
    }
    for (const std::string& note : result.notes) tell("note: {}\n", note);
    if (!result.notes.empty() || !refusals.empty()) {
        json["notes"] = refusals;
        for (const std::string& note : result.notes) json["notes"].push_back(note);
    }
    if (result.fault) {
        json["diagnostics"].push_back(diagnostic_json(*result.fault));
        tell("{}\n", simt::render(*result.fault));
        if (options.shared == 0 && result.fault->message.find("shared memory") != std::string::npos)
            for (const ptx::SharedVariable& variable : program->shared_variables)
                if (variable.bytes == 0)
                    tell("note: '{}' is extern __shared__ and has no bytes here: --shared BYTES gives them\n",
                         simt::readable_variable(variable.name));
    }
    const auto as_run = [&] {
        auto run = std::make_shared<model::KernelRun>();
        run->gpu = gpu;
        run->program = program;
        run->config = config;
        run->result = timed;
        return run;
    };
    if (!options.trace.empty() && !options.functional) {
        if (trace_end > 0 && !timed.fault && trace_begin >= timed.cycles)
            throw Failure(fmt::format("--trace-cycles {}: the run ends at cycle {}, before they begin", options.trace_cycles,
                                      timed.cycles));
        if (trace_end > 0 && !timed.fault) {
            auto run = as_run();
            run->before = std::move(before);
            timed.trace = model::Replay(run).trace(timed.trace.sm, trace_begin, trace_end).value();
        }
        write_warp_timeline(timed.trace, kernel, *program, options.trace);
    }
    std::string counters;  // a stretch of time behind the end is told before anything is printed
    if (!result.fault && !options.functional && options.json != "-")
        counters = metrics_text(gpu, *program, &timed, source, options.metrics,
                                asks_for_windows(options.metrics) ? as_run().get() : nullptr);
    if (!options.json.empty() && !options.metrics.empty() && !result.fault && !options.functional)
        json.update(metrics_json(*program, timed, source, options.metrics,
                                 asks_for_windows(options.metrics) ? as_run().get() : nullptr));
    if (!options.json.empty()) write_json(json, options.json);
    if (options.json != "-") {
        if (result.fault)  // counters of half a run would mislead
            fmt::print("{} was stopped by {} after {} warp instructions\n", kernel, result.fault->kind,
                       result.warp_instructions);
        else if (options.functional)
            fmt::print("{}: {} warp instructions, {} thread instructions (executed)\n", kernel, result.warp_instructions,
                       result.thread_instructions);
        else
            fmt::print("{} on {}: {} cycles, {:.2f} us, {} warp instructions (simulated)\n", kernel, gpu.title, timed.cycles,
                       timed.time_us, result.warp_instructions);
        fmt::print("{}", on_silicon);
        fmt::print("{}", counters);
        for (size_t i = 0; i < outputs.size(); ++i)
            fmt::print("  output {}: {}[{}] {}\n", i, name_of(outputs[i].dtype), outputs[i].count(), preview(outputs[i]));
    }
    return static_cast<int>(result.fault || !result.reports.empty() ? ExitStatus::faulted : ExitStatus::done);
}

}  // namespace

void add_run(CLI::App& app, int& status) {
    CLI::App* command = app.add_subcommand("run", "run one CUDA or PTX kernel on the modelled GPU");
    auto options = std::make_shared<Options>();
    command->add_option("FILE", options->file, "kernel.cu or kernel.ptx; or program.host, a host program with streams")
        ->required();
    command->add_option("--kernel", options->kernel, "entry name, when the file has several");
    command->add_option("--grid", options->grid, "blocks: X[,Y[,Z]]");
    command->add_option("--block", options->block, "threads a block: X[,Y[,Z]]");
    command->add_option("--cluster", options->cluster, "blocks a cluster: X[,Y[,Z]]; else as the kernel says");
    command->add_option("--shared", options->shared, "bytes of dynamic shared memory")->check(number_of_32_bits);
    command
        ->add_option(
            "--arg", options->arguments,
            "an argument, in the kernel's order: i32:42, f32:1.5, in:x.npy, out:f32[1024]=y.npy, inout:f32{1,2}, "
            "in:f32[1024 random] (or ramp, zero, below N), tex2d:image.npy,linear,normalized, surf2d:u8[64,64,4]=out.npy, "
            "struct:f32:2,i32:7")
        ->allow_extra_args(false);
    command
        ->add_option("--symbol", options->symbols,
                     "a module variable's value before the launch: filter=in:f32{1,2,1}, table=in:x.npy, n=i32:7")
        ->allow_extra_args(false);
    command->add_option("--order", options->order,
                        "of warps and blocks, functional runs: round_robin, greedy, reverse or random");
    command->add_option("--seed", options->seed, "of --order random and of random arguments")->check(not_from_0);
    command->add_option("--gpu", options->gpu, "modelled GPU, see 'lockstep gpus'");
    command->add_option("--scheduler", options->scheduler,
                        "of warps: lrr (loose round robin), gto (greedy then oldest) or gty (greedy then youngest); "
                        "default: the GPU's own");
    command->add_option("--registers", options->registers,
                        "registers a thread, 1 to 255, or ptxas: as the ptxas of this machine says; default: what the "
                        "PTX states, else what its values need");
    command->add_flag("--functional", options->functional, "no timing, much faster");
    command->add_option(
        "--check", options->check,
        "all, none or a list of memcheck (bounds, alignment, use after free: always on), racecheck (two accesses to one "
        "place, "
        "one of them a plain write, or a plain read against an atomic, with nothing that orders them; the read in front of "
        "a "
        "compare-and-swap loop is none, and one that an atomic of the same thread follows is a note), initcheck (reads of "
        "what "
        "nobody wrote), synccheck (barriers that not all threads reach) and leakcheck (malloc without free)");
    command
        ->add_option("--max-instructions", options->max_instructions,
                     "warp instructions before the kernel counts as a run-away")
        ->check(not_from_1);
    add_compiler_options(*command, options->compiler);
    command->add_option("--metrics", options->metrics,
                        "counters to print, with Nsight Compute's names, a list: all, by-line, by-window, "
                        "all@cycles:1000..2000, or their names, as in "
                        "sectors_per_request,l1_hit_rate@line:7,dram_throughput@cycles:1000..2000; in --json as by_line, "
                        "by_window and selected. --metrics names runs nothing and lists all names with what they say");
    command->add_option(
        "--json", options->json,
        "write the result as JSON; '-' for stdout. An output of more than 16,777,216 elements is null there: name its file");
    command->add_option(
        "--trace", options->trace,
        "write the warp timeline of one SM: F.json for ui.perfetto.dev (1 us is 1 cycle), F.csv, or F.txt; of a "
        "long run the first 2,000,000 issues: a file of up to 0.8 GB, and up to 0.5 GB of memory on the way");
    command->add_option("--trace-sm", options->trace_sm, "the SM to trace, 0 unless told")->check(not_from_0);
    command->add_option("--trace-cycles", options->trace_cycles,
                        "trace these cycles of a long run, replayed from checkpoints of at most 256 MiB: 100000-120000");
    command->callback([command, options, &status] {
        if (options->metrics == "names") {
            if (options->json != "-") fmt::print("{}", metric_names());
            if (!options->json.empty()) write_json(metric_names_json(), options->json);
            return;
        }
        if (lessons::is_host_program(options->file)) {
            std::vector<FileUse> read{{"", options->file}};
            if (const auto text = read_text(options->file, 1 << 20))
                if (const auto host = lessons::parse_host(text.value(), options->file))
                    for (const std::string& file : host.value().kernel_files)
                        read.push_back(
                            {"the host program", (std::filesystem::path(options->file).parent_path() / file).string()});
            keep_apart(read, {{"--json", options->json}, {"--trace", options->trace}});
            for (const CLI::Option* const given : command->get_options()) {
                const std::string name = given->get_name();
                const bool fits =
                    name == "FILE" || name == "--gpu" || name == "--seed" || name == "--json" || name == "--trace";
                if (given->count() > 0 && !fits)
                    throw Failure(name +
                                  " is for one kernel: a host program says itself what it launches, and takes --gpu, "
                                  "--seed, --json and --trace");
            }
            status = run_host_program(options->file, options->gpu, options->seed, options->json, options->trace);
            return;
        }
        if (options->grid.empty()) throw CLI::RequiredError("--grid");
        if (options->block.empty()) throw CLI::RequiredError("--block");
        status = run(*options);
    });
}

}  // namespace lockstep::cli
