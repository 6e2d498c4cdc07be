// The command line: one function a command, all registered in command_line.cpp. stdout carries the answer (JSON alone when
// `--json -` is given), stderr carries everything else. Exit statuses are lockstep::ExitStatus.
#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/command.h"
#include "app/gui/app.h"
#include "core/base/diagnostic.h"

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
void add_run(const Command& app, int& status);
// What `run` does with a FILE.host. JSON: times, figures, operations, hazards, outputs by name; trace: Perfetto.
int run_host_program(const std::string& file, const std::string& gpu, uint64_t seed, const std::string& json,
                     const std::string& trace, const std::string& check);
void add_compare(const Command& app, int& status);
void add_exec(const Command& app, int& status);
void add_compile(const Command& app, int& status);
void add_compiler_options(const Command& command, device::CompileOptions& options);  // --compiler --arch --include --define
// CUDA C++ to PTX; warnings go to stderr with their places, an error is thrown.
device::Compiled compile_with_warnings(const std::string& source, const std::string& file, device::CompileOptions how);
void add_experiment(const Command& app, int& status);
void add_tape(const Command& app, int& status);
void add_tensors(const Command& app);
void add_train(const Command& app, int& status);
void add_gpus(const Command& app, int& status);
void add_occupancy(const Command& app, int& status);
void add_devices(const Command& app, int& status);
void add_lesson(const Command& app, int& status, const Hooks& hooks);
void add_collective(const Command& app, int& status);
void add_glossary(const Command& app);
void add_grade(const Command& app, int& status);
void add_mesh(const Command& app, int& status);
void add_plan(const Command& app, int& status);
void add_puzzle(const Command& app, int& status);
void add_schedule(const Command& app, int& status);
void add_validate(const Command& app, int& status);
void add_silicon(const Command& app, int& status);
void add_sweep(const Command& app, int& status);
void add_bench(const Command& app, int& status, const Hooks& hooks);

// Writes to stdout for "-", else to the file.
void write_json(const nlohmann::ordered_json& json, const std::string& path, int indent = 2);
// A number as JSON has it: NaN and infinities are the strings "nan", "inf", "-inf".
nlohmann::ordered_json json_number(double value);
// For an option's check: why the text is no whole number from 0 (or from 1), empty when it is one.
std::string not_from_0(const std::string& text);
std::string not_from_1(const std::string& text);
// The same for numbers with a fraction: finite, and from `least` (above it, when told so) to `most`.
std::function<std::string(const std::string&)> number_within(double least, double most = 1e300, bool above = false);
// Throws Failure when the file could not be written at the end of a long run; leaves what is there as it is.
void check_can_write(const std::string& path);
void complain(const Diagnostic& diagnostic);  // stderr, one sentence with its caret

}  // namespace lockstep::cli
