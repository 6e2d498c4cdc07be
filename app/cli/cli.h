// The command line: one function a command, all registered in command_line.cpp. stdout carries the answer (JSON alone when
// `--json -` is given), stderr carries everything else. Exit statuses are lockstep::ExitStatus.
#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/app.h"
#include "core/base/diagnostic.h"

namespace CLI {
class App;
}

namespace lockstep::device {
struct CompileOptions;
struct Compiled;
}  // namespace lockstep::device

namespace lockstep::cli {

struct BenchRow {
    std::string name;
    double value = 0;
    std::string unit, config;
    // Of a row measured in slices: how many, by which clock, the least and the greatest of them, and what the best slice
    // came to by the clock on the wall (0: the row is a ratio).
    int slices = 0;
    std::string clock = {};
    double lowest = 0, highest = 0, wall = 0;
};

struct Hooks {
    std::function<int(const gui::AppOptions&)> app;
    std::function<std::vector<BenchRow>(std::string_view name)> app_bench;  // rows "app/..." whose name begins with `name`
};

// Parses, runs, and returns the exit status. Failures are printed to stderr in one sentence.
int run_command_line(int argc, char** argv, const Hooks& hooks);

// A command adds its options to `app` and sets the callback that will store its exit status in `status`.
void add_run(CLI::App& app, int& status);
// What `run` does with a FILE.host. JSON: times, figures, operations, hazards, outputs by name; trace: Perfetto.
int run_host_program(const std::string& file, const std::string& gpu, uint64_t seed, const std::string& json,
                     const std::string& trace, const std::string& check);
void add_compare(CLI::App& app, int& status);
void add_exec(CLI::App& app, int& status);
void add_compile(CLI::App& app, int& status);
void add_compiler_options(CLI::App& command, device::CompileOptions& options);  // --compiler --arch --include --define
// CUDA C++ to PTX; warnings go to stderr with their places, an error is thrown.
device::Compiled compile_with_warnings(const std::string& source, const std::string& file, device::CompileOptions how);
void add_experiment(CLI::App& app, int& status);
void add_tape(CLI::App& app, int& status);
void add_tensors(CLI::App& app);
void add_train(CLI::App& app, int& status);
void add_gpus(CLI::App& app, int& status);
void add_occupancy(CLI::App& app, int& status);
void add_devices(CLI::App& app, int& status);
void add_lesson(CLI::App& app, int& status);
void add_collective(CLI::App& app, int& status);
void add_glossary(CLI::App& app);
void add_grade(CLI::App& app, int& status);
void add_mesh(CLI::App& app, int& status);
void add_plan(CLI::App& app, int& status);
void add_puzzle(CLI::App& app, int& status);
void add_schedule(CLI::App& app, int& status);
void add_validate(CLI::App& app, int& status);
void add_silicon(CLI::App& app, int& status);
void add_sweep(CLI::App& app, int& status);
void add_bench(CLI::App& app, int& status, const Hooks& hooks);

// Writes to stdout for "-", else to the file.
void write_json(const nlohmann::ordered_json& json, const std::string& path, int indent = 2);
// A number as JSON has it: NaN and infinities are the strings "nan", "inf", "-inf".
nlohmann::ordered_json json_number(double value);
// For CLI11's check: why the text is no whole number from 0 (or from 1), empty when it is one.
std::string not_from_0(const std::string& text);
std::string not_from_1(const std::string& text);
// The same for numbers with a fraction: finite, and from `least` (above it, when told so) to `most`.
std::function<std::string(const std::string&)> number_within(double least, double most = 1e300, bool above = false);
// Throws Failure when the file could not be written at the end of a long run; leaves what is there as it is.
void check_can_write(const std::string& path);
void complain(const Diagnostic& diagnostic);  // stderr, one sentence with its caret

}  // namespace lockstep::cli
