#include "app/cli/program/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/kernel/own_files.h"
#include "app/cli/kernel/run_options.h"
#include "app/cli/kernel/trace_file.h"
#include "app/cli/long_work.h"
#include "core/base/files.h"
#include "core/base/missing_file.h"
#include "core/base/tell.h"
#include "core/runtime/report/report.h"
#include "core/runtime/report/settings.h"
#include "core/runtime/report/sites.h"
#include "core/system/feed.h"
#include "core/system/system.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

// "all", "none", "first:3": how many launches of a kernel with one shape are simulated before their time is taken again.
int64_t timed_launches(const std::string& text) {
    if (text == "all") return -1;
    if (text == "none") return 0;
    int64_t first = 0;
    if (text.starts_with("first:")) {
        const auto [end, error] = std::from_chars(text.data() + 6, text.data() + text.size(), first);
        if (error == std::errc() && end == text.data() + text.size() && first > 0) return first;
    }
    throw Failure(fmt::format("--time is all, first:N (N from 1) or none, not '{}'", text));
}

runtime::Settings settings_of(const ProgramAsked& asked, const fs::path& report) {
    runtime::Settings settings;
    settings.gpu = asked.gpu;
    model::gpu_named(asked.gpu).value();  // a wrong name is told before anything is compiled
    settings.gpus = asked.gpus;
    settings.threads = asked.threads;
    if (asked.gpus < 1 || asked.gpus > 16) throw Failure("--gpus is a number from 1 to 16");
    settings.timed_launches = asked.functional ? 0 : timed_launches(asked.time);
    if (asked.l2 != "warm" && asked.l2 != "cold") throw Failure(fmt::format("--l2 is warm or cold, not '{}'", asked.l2));
    settings.warm_l2 = asked.l2 == "warm";
    settings.max_instructions = asked.max_instructions;
    settings.report = report.string();
    if (!asked.check.empty()) {
        simt::LaunchOptions launch;
        settings.leakcheck = choose_checkers(asked.check, launch);
        settings.racecheck = launch.racecheck;
        settings.initcheck = launch.initcheck;
        settings.synccheck = launch.synccheck;
    }
    return settings;
}

// Host, copies and kernels on one timeline, in nanoseconds.
Trace timeline_of(const runtime::Report& report) {
    Trace trace;
    std::map<std::string, int> tracks;
    const auto track_of = [&](const std::string& name) {
        const auto [found, fresh] = tracks.try_emplace(name, static_cast<int>(trace.tracks.size()));
        if (fresh) trace.tracks.push_back({name, -1});
        return found->second;
    };
    const auto nanoseconds = [](double us) { return static_cast<int64_t>(us * 1000); };
    for (const runtime::CallRecord& call : report.calls)
        trace.spans.push_back(
            {.track = track_of("host"),
             .begin = nanoseconds(call.begin_us),
             .end = nanoseconds(call.end_us),
             .name = call.site.line > 0 ? fmt::format("{} ({}:{})", call.call, call.site.file, call.site.line) : call.call});
    std::vector<int64_t> open;  // ends of the ranges around
    std::vector<runtime::MarkRecord> marks = report.marks;
    std::stable_sort(marks.begin(), marks.end(), [](const auto& a, const auto& b) {
        return a.begin_us != b.begin_us ? a.begin_us < b.begin_us : a.end_us > b.end_us;
    });
    for (const runtime::MarkRecord& mark : marks) {  // one row for each depth
        while (!open.empty() && open.back() <= nanoseconds(mark.begin_us)) open.pop_back();
        trace.spans.push_back({.track = track_of(open.empty() ? "marks" : fmt::format("marks, depth {}", open.size() + 1)),
                               .begin = nanoseconds(mark.begin_us),
                               .end = nanoseconds(mark.end_us),
                               .name = mark.name});
        open.push_back(nanoseconds(mark.end_us));
    }
    for (const runtime::LaunchRecord& launch : report.launches)
        trace.spans.push_back({.track = track_of(fmt::format("GPU {}, stream {}", launch.device, launch.stream)),
                               .begin = nanoseconds(launch.begin_us),
                               .end = nanoseconds(launch.end_us),
                               .name = launch.kernel});
    for (const runtime::CopyRecord& copy : report.copies)
        trace.spans.push_back({.track = track_of(copy.direction),
                               .begin = nanoseconds(copy.begin_us),
                               .end = nanoseconds(copy.end_us),
                               .name = fmt::format("{} bytes", copy.bytes)});
    return trace;
}

// Paths of the report as the reader would write them from here.
void shorten(std::string& file) {
    if (file.find(".ipynb, cell ") != std::string::npos)
        file = fs::path(file).filename().string();  // made in another folder
    std::error_code error;
    const fs::path relative = fs::path(file).lexically_relative(fs::current_path(error));
    if (!error && !relative.empty() && *relative.begin() != "..") file = relative.string();
}

void shorten_paths(runtime::Report& report) {
    std::error_code no_folder;
    const std::string here = fs::current_path(no_folder).string() + "/";
    const auto shorten_in = [&](std::string& sentence) {
        if (no_folder || here == "/") return;
        for (size_t at = 0; (at = sentence.find(here, at)) != std::string::npos;) {
            const bool begins = at == 0 || (std::isalnum(static_cast<unsigned char>(sentence[at - 1])) == 0);
            if (begins)
                sentence.erase(at, here.size());
            else
                at += here.size();
        }
    };
    for (auto& launch : report.launches) {
        shorten(launch.hot_file), shorten(launch.site.file);
        for (auto& finding : launch.findings) shorten(finding.file);
    }
    for (auto& copy : report.copies) shorten(copy.site.file);
    for (auto& call : report.calls) shorten(call.site.file);
    for (auto* allocations : {&report.allocations, &report.leaks})
        for (auto& allocation : *allocations) shorten(allocation.site.file), shorten(allocation.freed_at.file);
    for (auto& error : report.errors) shorten(error.site.file), shorten_in(error.message);
    for (auto* faults : {&report.faults, &report.warnings})
        for (auto& fault : *faults) {
            shorten(fault.file), shorten(fault.other_file);
            shorten_in(fault.message), shorten_in(fault.advice);
        }
    for (auto* sentences : {&report.races, &report.touches, &report.notes})
        for (std::string& sentence : *sentences) shorten_in(sentence);
}

// The machine that an ELF file is for; empty where it is none.
std::string machine_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::array<unsigned char, 20> head{};
    in.read(reinterpret_cast<char*>(head.data()), head.size());
    if (!in || head[0] != 0x7f || head[1] != 'E' || head[2] != 'L' || head[3] != 'F') return "";
    const bool big = head[5] == 2;
    const int number = head[big ? 19 : 18] + 256 * head[big ? 18 : 19];
    static const std::map<int, std::string> names = {{3, "x86"},     {21, "PowerPC"},  {22, "S/390"},  {40, "Arm"},
                                                     {62, "x86-64"}, {183, "AArch64"}, {243, "RISC-V"}};
    const auto known = names.find(number);
    return known == names.end() ? fmt::format("machine {} of ELF", number) : known->second;
}

// Of a file that the system did not start.
std::string why_not_started(const fs::path& file) {
    const std::string machine = machine_of(file), own = machine_of(system::own_executable());
    if (!machine.empty() && machine != own)
        return fmt::format("'{}' is a program for {}, and this computer is {}", file.string(), machine, own);
    if (machine.empty() && !own.empty())
        return fmt::format("'{}' is no program: `exec` starts what a compiler has linked, `run` compiles sources",
                           file.string());
    return fmt::format("'{}' could not be started: it may not be executed, or a library that it needs is missing",
                       file.string());
}

// `name`: as the program sees itself called.
int run_executable(const ProgramAsked& asked, const fs::path& executable, const std::string& name,
                   const std::vector<std::string>& arguments) {
    const TemporaryFolder folder;
    const fs::path report_file = folder.path() / "report.json";
    std::vector<std::string> environment = runtime::environment_of(settings_of(asked, report_file));
    for (std::string& setting : device::library_settings()) environment.push_back(std::move(setting));
    const system::ChildOutcome outcome = system::run_in_foreground_within({.program = executable,
                                                                           .name = name,
                                                                           .arguments = arguments,
                                                                           .settings = environment,
                                                                           .output_is_errors = asked.json == "-"},
                                                                          asked.max_seconds);
    using End = system::ChildOutcome::End;
    if (outcome.end == End::not_started || (outcome.end == End::exited && outcome.status == 127))
        throw Failure(why_not_started(executable), machine_of(executable) == machine_of(system::own_executable())
                                                       ? ExitStatus::missing
                                                       : ExitStatus::bad_input);
    if (outcome.end == End::killed) tell("the program was ended by {}\n", system::signal_text(outcome.status));
    if (outcome.end == End::timed_out)
        tell("the program was not done after {:g} s (--max-seconds), and was ended\n", asked.max_seconds);
    const int status = outcome.end == End::timed_out ? static_cast<int>(ExitStatus::bad_input)
                       : outcome.end == End::exited  ? outcome.status
                                                     : 128 + outcome.status;
    std::error_code error;
    if (!fs::exists(report_file, error)) {
        if (outcome.end == End::exited) tell("note: the program made no call of CUDA's runtime\n");
        return status;
    }
    const bool is_asked = asked.report != "none" || !asked.check.empty() || !asked.json.empty() || !asked.trace.empty();
    if (!is_asked) return status;  // a report of many launches takes longer to read than the program to run
    runtime::Report report = runtime::read_report(report_file.string()).value();
    runtime::resolve_sites(report);
    shorten_paths(report);
    if (!asked.json.empty()) {
        nlohmann::ordered_json json = runtime::to_json(report);
        json["status"] = status;
        write_json(json, asked.json);
    }
    if (!asked.trace.empty()) write_trace(timeline_of(report), asked.trace);
    if (asked.report != "none" && asked.json != "-") tell("{}", runtime::words_of(report));
    const bool checked =
        !asked.check.empty() && (!report.faults.empty() || !report.errors.empty() || !report.races.empty() ||
                                 !report.touches.empty() || (is_strict(asked.check) && !report.warnings.empty()));
    return status == 0 && checked ? static_cast<int>(ExitStatus::faulted) : status;
}

// nvcc links its own copy of the runtime into a program unless it is told otherwise, and that copy wants NVIDIA's driver.
void refuse_static_runtime(const fs::path& program) {
    const Result<std::string> bytes = read_file(program, size_t{1} << 30);
    if (!bytes || !bytes.value().starts_with("\x7f"
                                             "ELF"))
        return;  // a script, which starts programs itself
    if (bytes.value().find(".nv_fatbin") == std::string::npos || bytes.value().find("libcudart.so") != std::string::npos ||
        bytes.value().find("liblockstep_cudart.so") != std::string::npos)
        return;
    throw Failure(
        fmt::format("{} has CUDA's static runtime inside, which needs NVIDIA's driver: link it with nvcc -cudart shared "
                    "(export NVCC_APPEND_FLAGS=\"-cudart shared\" reaches Makefiles and CMake)",
                    program.string()),
        ExitStatus::missing);
}

void check_asked(const ProgramAsked& asked) {
    if (asked.report != "all" && asked.report != "none")
        throw Failure(fmt::format("--report is all or none, not '{}'", asked.report));
    if (!asked.trace.empty()) check_trace_name(asked.trace);
    settings_of(asked, {});
}

}  // namespace

std::vector<std::string>& words_behind() {
    static std::vector<std::string> words;
    return words;
}

bool is_program(const std::vector<std::string>& files) {
    for (const std::string& file : files) {
        std::error_code error;
        if (fs::is_directory(file, error)) throw Failure(Diagnostic{"this is a folder, not a file", {file}});
        if (!fs::exists(file, error) && !file.starts_with("in:") && !file.starts_with("inout:"))
            throw Failure(Diagnostic{"there is no such file" + near_file(file), {file}});
        const std::string extension = fs::path(file).extension().string();
        if (extension == ".ptx" || extension == ".host") continue;
        if (const Result<std::string> text = read_text(file, 4u << 20); text && device::has_main(text.value())) return true;
    }
    return false;
}

int run_program(const ProgramAsked& asked) {
    check_asked(asked);
    std::vector<FileUse> read, written = {{"--json", asked.json}, {"--trace", asked.trace}};
    for (const std::string& file : asked.files) read.push_back({"", file});
    keep_apart(read, written);
    device::ProgramRequest request = asked.build;
    request.sources = asked.files;
    request.least_arch = static_cast<int>(model::gpu_named(asked.gpu).value().compute.number);
    const device::BuiltProgram built = [&] {
        const Patience patience("compiling " + asked.files.front());
        return device::build_program(request).value();
    }();
    if (!built.messages.empty()) tell("{}", built.messages);
    return run_executable(asked, built.executable, fs::path(asked.files.front()).stem().string(), asked.arguments);
}

int exec_program(const ProgramAsked& asked) {
    check_asked(asked);
    if (asked.arguments.empty()) throw Failure("exec needs the command behind --, as in lockstep exec -- ./a.out 1000");
    fs::path program = asked.arguments.front();
    std::error_code error;
    if (program.string().find('/') == std::string::npos && !fs::exists(program, error))
        program = system::find_program({program.string()});
    if (program.empty() || !fs::is_regular_file(program, error))
        throw Failure(fmt::format("there is no program '{}'", asked.arguments.front()));
    if (program.string().find('/') == std::string::npos) program = "./" / program;
    refuse_static_runtime(program);
    return run_executable(asked, program, asked.arguments.front(), {asked.arguments.begin() + 1, asked.arguments.end()});
}

void add_exec(const Command& app, int& status) {
    const Command command = app.add_subcommand(
        "exec",
        "run a program that nvcc linked with -cudart shared on the modelled GPU: lockstep exec [options] -- ./a.out "
        "ARGUMENTS. Compiled with -lineinfo -Xcompiler -g, its lines are named. Its host part runs as any program does, "
        "with all that you may do");
    auto asked = std::make_shared<ProgramAsked>();
    command.add_option("--gpu", asked->gpu, "modelled GPU, see 'lockstep gpus'");
    command.add_option("--gpus", asked->gpus, "how many of them the program sees").check(not_from_1);
    command.add_option("--time", asked->time, "launches to simulate: all, none, or first:N of each kernel and shape");
    command.add_option("--l2", asked->l2, l2_of_a_program);
    command.add_option("--threads", asked->threads, "for blocks of launches without timing; else one a core")
        .check(not_from_1);
    command.add_flag("--functional", asked->functional, "no timing, much faster: as --time none");
    command.add_option("--check", asked->check, "all, none or a list, as for 'lockstep run'");
    command.add_option("--max-instructions", asked->max_instructions, "warp instructions before a kernel is a run-away")
        .check(not_from_1);
    command.add_option("--max-seconds", asked->max_seconds, max_seconds_of_a_program).between(0.1, 86400);
    command.add_option("--report", asked->report, "none: say nothing behind the program; else all");
    command.add_option("--json", asked->json, "write the report as JSON; '-' for stdout");
    command.add_option("--trace", asked->trace,
                       "write the host's calls, copies and kernels on a timeline: F.json for ui.perfetto.dev");
    command.callback([asked, &status] {
        asked->arguments = words_behind();
        status = exec_program(*asked);
    });
}

}  // namespace lockstep::cli
