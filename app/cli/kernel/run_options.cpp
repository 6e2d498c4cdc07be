// The options of `lockstep run`, and what they mean.
#include "app/cli/kernel/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "app/cli/cli.h"
#include "app/cli/kernel/metrics_text.h"
#include "app/cli/kernel/output_json.h"
#include "app/cli/kernel/own_files.h"
#include "app/cli/lesson/notebook.h"
#include "app/cli/program/program.h"
#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/base/tell.h"
#include "core/model/advice/what_if.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "core/scene/arguments/module_symbols.h"
#include "core/scene/host/host_program.h"
#include "lessons/player/lesson.h"

namespace lockstep::cli {

std::optional<model::SchedulerPolicy> scheduler_of(const std::string& name) {
    if (name.empty()) return std::nullopt;
    const auto policy = model::scheduler_named(name);
    if (!policy) throw Failure(fmt::format("unknown scheduler '{}'; there are gto, gty, lrr", name));
    return policy;
}

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

static void note_files(const scene::KernelArgument& argument, const std::string& who, std::vector<FileUse>& read,
                       std::vector<FileUse>& written) {
    const auto& [in, out] = std::tie(argument.file, argument.output_file);
    const bool in_place = !in.empty() && !out.empty() && same_file(in, out);  // inout:x.npy=x.npy, on purpose
    if (!in_place) read.push_back({who, in});
    written.push_back({who, out});
    if (argument.expected) read.push_back({who, argument.expected->file});
    for (const scene::KernelArgument& part : argument.parts) note_files(part, who, read, written);
}

// Arguments that do not parse are refused later, with their carets.
void keep_files_apart(const KernelAsked& options) {
    std::vector<FileUse> read{{"", options.file}}, written;
    for (const std::string& text : options.arguments) {
        const Result<scene::KernelArgument> argument = scene::parse_argument(text);
        if (!argument) continue;
        note_files(argument.value(), "--arg " + text, read, written);
    }
    for (const std::string& text : options.symbols)
        if (const Result<scene::ModuleSymbol> symbol = scene::parse_symbol(text))
            note_files(symbol.value().value, "--symbol " + text, read, written);
    written.push_back({"--json", options.json});
    written.push_back({"--trace", options.trace});
    keep_apart(read, written);
}

namespace {

std::string number_of_32_bits(const std::string& text) {
    const size_t sign = text.starts_with('-') ? 1 : 0;
    const bool number = text.size() > sign && text.find_first_not_of("0123456789", sign) == std::string::npos;
    uint32_t value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return number && error != std::errc{} ? fmt::format("a whole number from 0 to 4294967295 is needed, not '{}'", text)
                                          : not_from_0(text);
}

// `lockstep run FILE.host`: of the options those that are not for one kernel alone.
int run_host_asked(const Command& command, const KernelAsked& asked) {
    std::vector<FileUse> read{{"", asked.file}};
    if (const auto text = read_text(asked.file, 1 << 20))
        if (const auto host = scene::parse_host(text.value(), asked.file))
            for (const std::string& file : host.value().kernel_files)
                read.push_back({"the host program", (std::filesystem::path(asked.file).parent_path() / file).string()});
    keep_apart(read, {{"--json", asked.json}, {"--trace", asked.trace}});
    for (const Option& given : command.options()) {
        const std::string name = given.name();
        const bool fits = name == "FILE" || name == "--gpu" || name == "--seed" || name == "--json" || name == "--trace" ||
                          name == "--check";
        if (given.given() && !fits)
            throw Failure(
                name +
                " is for one kernel: a host program says itself what it launches, and takes --gpu, --seed, --json, "
                "--trace and --check");
    }
    return run_host_program(asked.file, asked.gpu, asked.seed, asked.json, asked.trace, asked.check);
}

}  // namespace

static std::string what_if_names() {
    std::string names;
    for (const model::WhatIf& row : model::what_ifs()) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
    return names;
}

static void refuse_second_file(const std::string& word) {
    if (word.starts_with("in:") || word.starts_with("inout:"))
        throw Failure(
            fmt::format("'{}' is no file; the shell takes braces apart, so quote them: --arg 'in:f32{{1,2,3}}'", word));
    throw Failure(
        fmt::format("'{}' is not expected here: several files make a program, and none of these has a main()", word));
}

// A whole program: what it shares with kernels alone, and refuses of it.
static int run_program_asked(const Command& command, const KernelAsked& asked, ProgramAsked& program) {
    for (const char* name :
         {"--sample", "--whole", "--time-only", "--kernel", "--arg", "--symbol", "--cluster", "--shared", "--order",
          "--scheduler", "--native", "--registers", "--metrics", "--energy", "--what-if", "--trace-sm", "--trace-cycles"})
        if (command.given(name))
            throw Failure(fmt::format("{} is for one kernel with --grid and --block; this is a program with main()", name));
    for (std::string& option : program.build.more)
        if (option.starts_with("=")) option.erase(0, 1);  // -X=-fopenmp, as the help writes it
    program.arguments = words_behind();
    program.gpu = asked.gpu;
    program.functional = asked.functional;
    if (command.given("--max-instructions")) program.max_instructions = asked.max_instructions;
    program.json = asked.json;
    program.trace = asked.trace;
    if (command.given("--check")) program.check = asked.check;
    program.build.compiler = asked.compiler.compiler;
    if (command.given("--compile-seconds")) program.build.seconds = asked.compiler.seconds;
    program.build.arch = asked.compiler.arch;
    program.build.include = asked.compiler.include;
    program.build.define = asked.compiler.define;
    std::error_code error;
    for (std::string& folder : program.build.include) folder = std::filesystem::absolute(folder, error).string();
    return run_program(program);
}

void add_run(const Command& app, int& status) {
    const Command command =
        app.add_subcommand("run",
                           "run a kernel (with --grid and --block), or a whole program with main(), on the modelled GPU: "
                           "lockstep run prog.cu -- "
                           "ARGUMENTS. A program's host part runs as any program does, with all that you may do");
    auto options = std::make_shared<KernelAsked>();
    auto program = std::make_shared<ProgramAsked>();
    command.add_option(
        "FILE", program->files,
        "kernel.cu or kernel.ptx; program.cu and what belongs to it; or program.host, a host program with streams");
    command.add_option("--kernel", options->kernel, "entry name, when the file has several");
    command.add_option("--grid", options->grid, "blocks: X[,Y[,Z]]");
    command.add_option("--block", options->block, "threads a block: X[,Y[,Z]]");
    command.add_option("--cluster", options->cluster, "blocks a cluster: X[,Y[,Z]]; else as the kernel says");
    command.add_option("--shared", options->shared, "bytes of dynamic shared memory").check(number_of_32_bits);
    command
        .add_option(
            "--arg", options->arguments,
            "an argument, in the kernel's order: i32:42, f32:1.5, in:x.npy, out:f32[1024]=y.npy, inout:f32{1,2}, "
            "in:f32[1024 random] (or ramp, zero, below N), tex2d:image.npy,linear,normalized, surf2d:u8[64,64,4]=out.npy, "
            "struct:f32:2,i32:7. A pointer is also null, @NAME or @2+16 (into the buffer of another parameter) or "
            "in:f32[64]+3 (elements behind the first); a struct may hold them: struct:i32:4,in:f32[16],null, and "
            "pointers:in:f32[8],out:f32[8] is an array of them, float **. What an output has to hold, and how far off it "
            "may be: out:f32[64],expect=ref.npy,rtol=1e-5,atol=1e-6")
        .one_value_each();
    command
        .add_option("--symbol", options->symbols,
                    "a module variable's value before the launch: filter=in:f32{1,2,1}, table=in:x.npy, n=i32:7, "
                    "p=struct:i32:4,f32:2; "
                    "of a pointer, float *d, as pointers:inout:f32[64]=d.npy or pointers:@NAME+4")
        .one_value_each();
    command.add_option("--order", options->order,
                       "of warps and blocks, functional runs: round_robin, greedy, reverse or random");
    command.add_option("--seed", options->seed, "of --order random and of random arguments").check(not_from_0);
    command.add_option("--gpu", options->gpu, "modelled GPU, see 'lockstep gpus'");
    command.add_option("--scheduler", options->scheduler,
                       "of warps: lrr (loose round robin), gto (greedy then oldest) or gty (greedy then youngest); "
                       "default: the GPU's own");
    command.add_option("--registers", options->registers,
                       "registers a thread, 1 to 255, or ptxas: as the ptxas of this machine says; default: what the "
                       "PTX states, else what its values need");
    command.add_flag("--functional", options->functional, "no timing, much faster");
    command.add_option("--native", options->native,
                       "functional runs: on: native code runs what runs often, where LLVM is installed, with the same "
                       "results; off (default): all is interpreted");
    command.add_option(
        "--check", options->check,
        "all, strict (all, and a warning makes the exit status 1 too), none or a list of memcheck (bounds, alignment, use "
        "after free: always on), racecheck (two accesses to one "
        "place, "
        "one of them a plain write, or a plain read against an atomic, with nothing that orders them; the read in front of "
        "a "
        "compare-and-swap loop is none, and one that an atomic of the same thread follows is a note), initcheck (reads of "
        "what "
        "nobody wrote), synccheck (barriers that not all threads reach) and leakcheck (malloc without free)");
    command
        .add_option("--max-instructions", options->max_instructions,
                    "warp instructions before the kernel counts as a run-away: 1,000,000,000 unless told, of a program "
                    "20,000,000,000")
        .check(not_from_1);
    add_compiler_options(command, options->compiler);
    command.add_option("--std", program->build.standard, "of a program: its C++, c++17 unless told");
    command.add_flag("--rdc", program->build.separate, "of a program: link the device code of its files together");
    command.add_option("-X", program->build.more, "of a program: an option for its compiler, as it stands: -X=-fopenmp")
        .one_value_each();
    command.add_flag("--sample", options->sample,
                     "time a part of the launch and compose the rest, with an estimate of the error; unasked from "
                     "200,000,000 warp instructions on");
    command.add_flag("--whole", options->whole, "time every cycle, however long the launch");
    command.add_flag("--time-only", options->time_only,
                     "sample, and leave out the outputs of the blocks that are not timed");
    command
        .add_option("--threads", program->threads,
                    "of this machine, for a launch or a program's launches; they change nothing but how long it takes; else "
                    "one a core")
        .check(not_from_1);
    command.add_option("--gpus", program->gpus, "of a program: how many GPUs it sees").check(not_from_1);
    command.add_option("--time", program->time,
                       "of a program: the launches to simulate: all, none, or first:N of each kernel and shape; a later one "
                       "takes the time of those");
    command.add_option("--l2", program->l2, std::string("of a program: ") + l2_of_a_program);
    command.add_option("--max-seconds", program->max_seconds, std::string("of a program: ") + max_seconds_of_a_program)
        .between(0.1, 86400);
    command.add_option("--report", program->report, "of a program: none says nothing behind it; else all");
    command.add_option("--metrics", options->metrics,
                       "counters to print, with Nsight Compute's names, a list: all, by-line, by-window, "
                       "all@cycles:1000..2000, or their names, as in "
                       "sectors_per_request,l1_hit_rate@line:7,dram_throughput@cycles:1000..2000; in --json as by_line, "
                       "by_window and selected. --metrics names runs nothing and lists all names with what they say");
    command.add_flag("--energy", options->energy,
                     "estimate the launch's energy: what it did, counted, times published energies of an operation");
    command.add_option(
        "--what-if", options->what_if,
        "simulate the launch again with one thing idealised, which bounds what a change can gain: names with "
        "commas between, all (those that the findings name) or none; left out: all, where they take a share of "
        "a second. There are " +
            what_if_names());
    command.add_option(
        "--json", options->json,
        "write the result as JSON; '-' for stdout. An output of more than 16,777,216 elements is null there: name its file");
    command.add_option(
        "--trace", options->trace,
        "write the warp timeline of one SM: F.json for ui.perfetto.dev (1 µs is 1 cycle), F.csv, or F.txt; of a "
        "long run the first 2,000,000 issues: a file of up to 0.8 GB, and up to 0.5 GB of memory on the way");
    command.add_option("--trace-sm", options->trace_sm, "the SM to trace, 0 unless told").check(not_from_0);
    command.add_option("--trace-cycles", options->trace_cycles,
                       "trace these cycles of a long run, replayed from checkpoints of at most 256 MiB: 100000-120000");
    command.callback([command, options, program, &status] {
        if (options->metrics == "names") {
            if (options->json != "-") fmt::print("{}", metric_names());
            if (!options->json.empty()) write_json(metric_names_json(), options->json);
            return;
        }
        if (program->files.empty()) missing_option("FILE");
        // A notebook stands for what is in its cells; the files live until the run has ended.
        std::deque<TemporaryFolder> unpacked;
        std::vector<std::string> files;
        for (const std::string& file : program->files) {
            std::error_code error;
            if (!is_notebook(file) || !std::filesystem::exists(file, error)) {
                files.push_back(file);
                continue;
            }
            NotebookProgram cells = unpack_notebook(file, unpacked.emplace_back().path()).value();
            tell("runs {}\n", cells.told);
            files.insert(files.end(), cells.sources.begin(), cells.sources.end());
        }
        program->files = files;
        options->file = program->files.front();
        if (options->grid.empty() && options->block.empty() && is_program(program->files)) {
            status = run_program_asked(command, *options, *program);
            return;
        }
        if (program->files.size() > 1) refuse_second_file(program->files[1]);
        if (scene::is_host_program(options->file)) {
            status = run_host_asked(command, *options);
            return;
        }
        if (options->grid.empty() && options->block.empty())
            throw Failure(
                Diagnostic{"there is no main() in it, so it is a kernel, which needs --grid and --block", {options->file}});
        options->threads = program->threads;
        if (options->grid.empty()) missing_option("--grid");
        if (options->block.empty()) missing_option("--block");
        status = run_kernel(*options);
    });
}

}  // namespace lockstep::cli
