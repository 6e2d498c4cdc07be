// A submission that is a whole program: this binary runs it as `lockstep run` does, compiler included, in a sandbox, and
// what it prints, its exit status and the report of the checks come back. A process that outlives the program could forge
// that report, which is written beside it, and with it make exit status 1 look like 0; nothing else of what is judged.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "app/cli/cli.h"
#include "app/cli/kernel/run_options.h"
#include "app/cli/lesson/grade.h"
#include "app/cli/lesson/notebook.h"
#include "core/base/files.h"
#include "core/base/missing_file.h"
#include "core/device/compile/program.h"
#include "core/model/gpus/gpu_spec.h"
#include "core/runtime/report/report.h"
#include "core/system/sandbox.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line); lines.push_back(std::move(line)))
        while (!line.empty() && std::string_view(" \t\r").find(line.back()) != std::string_view::npos) line.pop_back();
    while (!lines.empty() && lines.back().empty()) lines.pop_back();
    return lines;
}

// Empty: it is what was expected.
std::string difference(const std::string& printed, const std::string& expected) {
    const std::vector<std::string> have = lines_of(printed), want = lines_of(expected);
    for (size_t k = 0; k < std::max(have.size(), want.size()); ++k) {
        if (k >= have.size()) return fmt::format("line {} is missing: '{}'", k + 1, want[k].substr(0, 80));
        if (k >= want.size()) return fmt::format("line {} is too much: '{}'", k + 1, have[k].substr(0, 80));
        if (have[k] != want[k])
            return fmt::format("line {} is '{}' and not '{}'", k + 1, have[k].substr(0, 80), want[k].substr(0, 80));
    }
    return {};
}

// The sources that a folder's program is made of, by name.
std::vector<std::string> sources_in(const fs::path& folder) {
    std::vector<std::string> sources;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string extension = entry.path().extension().string();
        const bool source = extension == ".cu" || extension == ".cpp" || extension == ".cc" || extension == ".c";
        if (source && entry.is_regular_file(error) && !entry.is_symlink(error))
            sources.push_back(entry.path().filename().string());
    }
    std::sort(sources.begin(), sources.end());
    return sources;
}

system::Sandbox sandbox_for(const fs::path& path, const GradeAsked& asked) {
    const ProgramTest& test = asked.program;
    std::error_code error;
    const bool folder = fs::is_directory(path, error);
    system::Sandbox box;
    box.work = folder ? path : fs::absolute(path, error).parent_path();
    const std::vector<std::string> sources = folder ? sources_in(path) : std::vector<std::string>{path.filename().string()};
    if (!folder) box.only = sources;
    box.shown = {{system::own_executable(), "/lockstep/bin/lockstep"},
                 {device::runtime_folder(), "/lockstep/bin/runtime"},
                 {resource_root() / "kernels", "/lockstep/kernels"}};
    box.empty = {"/lockstep/lessons"};  // without their solutions
    box.program = "/lockstep/bin/lockstep";
    box.arguments = {"run"};
    box.arguments.insert(box.arguments.end(), sources.begin(), sources.end());
    box.arguments.insert(box.arguments.end(),
                         {"--gpu", test.gpu, "--check", test.check, "--report", "none", "--json", "/tmp/report.json",
                          "--threads", "1", "--compile-seconds", fmt::format("{}", asked.max_seconds)});
    if (!asked.compiler.empty()) box.arguments.insert(box.arguments.end(), {"--compiler", asked.compiler});
    box.arguments.push_back("--");
    box.arguments.insert(box.arguments.end(), test.arguments.begin(), test.arguments.end());
    box.settings = {"PATH=/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin",
                    "HOME=/tmp",
                    "TMPDIR=/tmp",
                    "XDG_CACHE_HOME=/tmp/cache",
                    "LC_ALL=C",
                    "LOCKSTEP_HOME=/lockstep"};
    box.strangers = "/tmp";
    box.result = "/tmp/report.json";
    if (!test.input.empty()) box.input = read_file(test.input, size_t{256} << 20).value();
    box.seconds = asked.max_seconds;
    box.processor_seconds = test.processor_seconds;
    box.memory_bytes = static_cast<uint64_t>(test.memory_gib * 1024) << 20;
    box.threads = test.threads;
    box.output_bytes = test.output_bytes;
    return box;
}

// What the checks found, a sentence each.
std::vector<std::string> findings_of(const runtime::Report& report, bool leaks) {
    std::vector<std::string> findings;
    const auto place = [](const runtime::CallSite& site) {
        return site.line > 0 ? fmt::format("{}:{}: ", fs::path(site.file).filename().string(), site.line) : std::string();
    };
    for (const simt::Fault& fault : report.faults) findings.push_back(simt::render(fault));
    for (const std::string& race : report.races) findings.push_back(race);
    for (const runtime::ErrorRecord& error : report.errors)
        findings.push_back(fmt::format("{}{} returned {}: {}", place(error.site), error.call, error.error, error.message));
    if (leaks)
        for (const auto& [leak, count, bytes] : runtime::leaks_by_line(report))
            findings.push_back(fmt::format("{}{} was never freed", place(leak.site), leak.name));
    return findings;
}

// What the compiler or `run` said, with the places inside as the submission knows them.
std::string said(std::string text) {
    for (const std::string inside : {"/tmp/work/", "/lockstep/"})
        for (size_t at; (at = text.find(inside)) != std::string::npos;) text.erase(at, inside.size());
    while (text.ends_with('\n')) text.pop_back();
    return text.substr(0, 2000);
}

void judge(const system::SandboxOutcome& outcome, const ProgramTest& test, Graded& graded) {
    using End = system::ChildOutcome::End;
    const auto clause = [&](const std::string& text, bool holds, const std::string& detail) {
        graded.report.clauses.push_back({text, holds, detail, true, 0, 0});
        graded.report.lines.push_back(
            fmt::format("{}: {}{}{}", text, holds ? "holds" : "does not hold", detail.empty() ? "" : ": ", detail));
    };
    if (!outcome.strangers_began && outcome.ended.end == End::exited) {
        graded.problem = said(outcome.errors);
        if (graded.problem.empty()) graded.problem = "the program could not be started";
        return;
    }
    clause("keeps to its sandbox", outcome.tried.empty(), fmt::format("{}", fmt::join(outcome.tried, ", and ")));
    std::optional<runtime::Report> report;
    int status = outcome.ended.status;
    if (!outcome.result.empty()) {
        const TemporaryFolder folder;
        write_file(folder.path() / "report.json", outcome.result);
        Result<runtime::Report> read = runtime::read_report((folder.path() / "report.json").string());
        const auto json = nlohmann::json::parse(outcome.result, nullptr, false);
        if (read) report = std::move(read).value();
        // `run` ends with 1 where the program ended with 0 and a check found something.
        const bool by_check = status == static_cast<int>(ExitStatus::faulted) && json.is_object() && json.contains("status");
        if (by_check && json["status"] == 0) status = 0;
    }
    if (outcome.ended.end != End::exited) {
        clause(fmt::format("exit status {}", test.status), false, "it was ended");
    } else {
        clause(fmt::format("exit status {}", test.status), status == test.status,
               status == test.status ? ""
               : status > 128 && status <= 128 + 64
                   ? fmt::format("it was ended by {}, which is status {}", system::signal_text(status - 128), status)
                   : fmt::format("it is {}", status));
        if (!test.expected.empty()) {
            const std::string other = difference(outcome.ended.output, read_file(test.expected, size_t{256} << 20).value());
            clause("prints what is expected", other.empty(), other);
        }
        if (test.check != "none" && report) {
            simt::LaunchOptions launch;
            const bool leaks = choose_checkers(test.check, launch);
            const std::vector<std::string> findings = findings_of(*report, leaks);
            clause(fmt::format("no findings of --check {}", test.check), findings.empty(),
                   findings.size() > 1
                       ? fmt::format("{}{}{} more", findings.front(), findings.front().ends_with('.') ? " And " : ", and ",
                                     findings.size() - 1)
                   : findings.empty() ? ""
                                      : findings.front());
        }
        if (report) graded.report.launches = static_cast<int>(report->launches.size());
    }
    graded.report.passed = std::all_of(graded.report.clauses.begin(), graded.report.clauses.end(),
                                       [](const lessons::Clause& each) { return each.holds; });
    graded.report.points = graded.report.passed ? test.points : 0;
}

// The notebook that a path is, or the only one in a folder without sources; "": neither.
std::string notebook_in(const fs::path& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return is_notebook(path) && !fs::is_symlink(path, error) ? path.string() : "";
    if (!sources_in(path).empty()) return {};
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(path, error))
        if (is_notebook(entry.path()) && entry.is_regular_file(error) && !entry.is_symlink(error))
            found.push_back(entry.path().string());
    return found.size() == 1 ? found.front() : "";
}

// Other programs of the notebook do not belong to this one: all sources of a folder are compiled together.
void keep_only(const fs::path& folder, const std::vector<std::string>& sources) {
    for (const std::string& name : sources_in(folder))
        if (std::none_of(sources.begin(), sources.end(),
                         [&](const std::string& source) { return fs::path(source).filename() == name; }))
            fs::remove(folder / name);
}

}  // namespace

void check_program_test(const ProgramTest& test) {
    model::gpu_named(test.gpu).value();
    simt::LaunchOptions launch;
    choose_checkers(test.check, launch);
    std::error_code error;
    for (const std::string& file : {test.input, test.expected})
        if (!file.empty() && !fs::is_regular_file(file, error))
            throw Failure(Diagnostic{"there is no such file" + near_file(file), {file}});
    if (!(test.points >= 0)) throw Failure("--points is a number from 0");
}

GradedSubmission grade_program(const std::string& given, const GradeAsked& asked, const std::string& problem) {
    // A notebook is taken as the folder of its cells' files; in a folder without sources a lone one is what is handed in.
    std::string path = given, notebook;
    std::optional<TemporaryFolder> cells;
    if (problem.empty()) notebook = notebook_in(given);
    if (!notebook.empty()) {
        cells.emplace();
        path = cells->path().string();
    }
    const ProgramTest& test = asked.program;
    GradedSubmission submission{given, {}, 0, test.points};
    Graded graded;
    graded.exercise = "program";
    graded.file = fs::path(notebook.empty() ? given : notebook).filename().string();
    graded.problem = problem;
    graded.report.of_points = test.points;
    std::error_code error;
    if (cells) {
        const Result<NotebookProgram> unpacked = unpack_notebook(notebook, cells->path());
        if (unpacked)
            keep_only(cells->path(), unpacked.value().sources);
        else
            graded.problem = render(unpacked.error());
    }
    const bool folder = fs::is_directory(path, error);
    if (!graded.problem.empty()) {
        // nothing of it can be run
    } else if (folder && sources_in(path).empty()) {
        graded.problem = "there is no .cu, .cpp or .c file in the submission";
    } else if (!folder && fs::is_symlink(path, error)) {
        graded.problem = "it is a link: hand in the file itself";
    } else {
        const auto begin = std::chrono::steady_clock::now();
        const system::SandboxOutcome outcome = system::run_in_sandbox(sandbox_for(path, asked));
        graded.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (!outcome.refused.empty())
            throw Failure(fmt::format("a program is graded in a sandbox alone, and there is none here: {}", outcome.refused),
                          ExitStatus::missing);
        judge(outcome, test, graded);
    }
    submission.points = graded.problem.empty() ? graded.report.points : 0;
    submission.exercises.push_back(std::move(graded));
    return submission;
}

}  // namespace lockstep::cli
