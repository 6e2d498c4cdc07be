// The learner's own kernel as plain data: text and launch settings (kept by the frame), what the worker makes of them, and
// the guesses that fill a launch form. kernel_desk.* keeps the documents; worker_own.cpp compiles and runs.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/launch/launch.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "core/scene/arguments/kernel_source.h"

namespace lockstep::gui {

struct ProgramRun;  // program_run.h

struct ArgumentText {  // one parameter's argument, as the command line takes it
    std::string parameter, text;
    bool chosen = false;     // by the learner; else a guess, which follows the kernel's text
    std::string guess = {};  // of a size that a first run told: what was guessed before it; "": none was told
};

struct LaunchSettings {  // as typed; worked out when the kernel runs
    std::string kernel;  // C++ name of the entry; empty: the file's first
    std::string grid = "4", block = "256", shared = "0", seed = "1", gpu = "v100";
    bool grid_chosen = false;  // grid and block: by the learner
    std::vector<ArgumentText> arguments;
    std::string
        symbols;  // values of the file's variables, as --symbol takes them, between semicolons; empty: as the text has them
    bool timed = true;
    simt::WarpOrder order = simt::WarpOrder::round_robin;       // functional runs
    bool synccheck = true, racecheck = true, initcheck = true;  // a learner wants to know
    bool run_on_change = true;
    // Of a whole program; `arguments` and `kernel` are those of a kernel alone.
    std::string words, input;    // what stands behind its name on the command line; what its standard input holds
    std::string build;           // further sources and options of its compiler: "more.cu -DN=4 -lm"
    std::string time = "first";  // launches that are simulated: "first" three of each kernel and shape, "all", "none"
    bool kernels_alone = false;  // its main() is left out: the form launches one of its kernels
};

struct KernelDocument {
    std::string path;       // of its file; empty: not saved yet
    std::string name;       // "vector_add.cu"
    std::string text;       // as it is in the editor
    uint64_t on_disk = 0;   // hash of the text that the file had when it was read or written; 0: never
    LaunchSettings launch;  // of the entry that is chosen
    std::map<std::string, LaunchSettings> other_launches = {};  // of the file's other entries, by name
    std::string stored_as;                                      // id in the DocumentStore; empty: not kept yet
    int64_t used = 0;                                           // the greater, the later it was in front

    bool is_ptx() const;
    bool is_host() const;  // a host program (core/scene/host/host_program.h)
    bool is_tape()
        const;  // a tensor program (core/scene/tape/tape_program.h); launch.timed: on the modelled GPU, else the host
    bool is_header() const;       // it is compiled with the file that includes it
    bool is_lesson_text() const;  // of a kind that only a lesson's exercise runs: training runs, rows of many ranks
    // A whole program: C++ with main(), unless its kernels are to be launched alone.
    bool is_program() const;
    bool saved() const;  // the file holds this text
    std::string shown_name() const { return name.empty() ? "untitled.cu" : name; }

  private:
    mutable std::string main_sought_in_;  // is_program() is asked in every frame: the text that it was answered for
    mutable bool has_main_ = false;
};

struct KernelEntry {
    std::string name;                             // C++ name
    std::shared_ptr<const ptx::Program> program;  // null: refused
    std::vector<std::string> parameters;          // their names: as the source has them, else "argument 1"
    std::optional<Diagnostic> refused;
};

struct CompiledKernel {                // immutable
    uint64_t version = 0;              // of the text, see KernelDesk
    bool ok = false;                   // at least one entry can run
    std::vector<Diagnostic> messages;  // errors and warnings, first those that stop it; line 0: no place in the text
    std::vector<KernelEntry> entries;
    std::string compiler;     // "NVRTC 13.0"; empty for PTX
    bool from_cache = false;  // it compiled this text before, and did not run now
    double seconds = 0;
    std::string source;                         // the text
    std::shared_ptr<const ProgramRun> program;  // of a whole one: it is built and has not run; else null
};

struct KernelResult {      // of one run of the learner's kernel; immutable
    uint64_t version = 0;  // of the text that ran
    LaunchSettings settings;
    std::string gpu, kernel;
    std::optional<Diagnostic> refused;  // the launch was not possible, or was stopped
    std::string field;  // what is wrong then: "grid", "block", "shared", "seed", "argument 0"; empty: nothing typed
    bool cancelled = false;
    bool given_up = false;                           // nobody had asked for it by hand, and it took long
    std::shared_ptr<const model::KernelRun> run;     // null when refused
    std::shared_ptr<const CompiledKernel> compiled;  // what ran: its text
    bool timed = true;
    scene::BoundArguments bound;
    std::shared_ptr<const simt::Memory> after;  // device memory behind the launch
    std::string printed;                        // what the kernel printed, at most 64 KiB
    bool printed_more = false;
    double seconds = 0;    // of the run on this machine
    double edited_at = 0;  // the desk's clock when the text or a setting changed last

    // Fault first, then the checkers' reports.
    std::vector<simt::Fault> reports() const;
};

// What a first run of a kernel tells of the sizes that nobody has given: functional, in buffers that grow as it needs.
struct LaunchOffer {
    std::string title;                                      // "as much as it touches"
    std::string detail;                                     // "m in:f32[1048576]"
    std::vector<std::pair<size_t, std::string>> arguments;  // by parameter: its text
};
struct LearnedLaunch {
    uint64_t version = 0;     // of the text
    LaunchSettings settings;  // that it began with
    std::vector<LaunchOffer> offers;
    std::string sentence;  // what it found, or why it could not
};
// "grid 4, n = i32:1024": which sizes of a launch nobody has chosen; empty: none.
std::string guessed_sizes(const LaunchSettings& settings);
// The settings' launch tells as much about sizes as those settings do.
bool same_sizes(const LaunchSettings& a, const LaunchSettings& b);

struct KernelJob {  // what the worker is asked to do
    uint64_t version = 0;
    std::string text, name, path;
    LaunchSettings launch;
    bool compile = true, run = false;
    bool is_program = false;  // a whole one
    bool on_change = false;   // nobody pressed Run: give up when it takes long
    double edited_at = 0;
    int64_t traced_block = -1;  // trace the SM that this block ran on
};

// Whether the lines of a run's instructions are those of the document of this name: a kernel whose text stands in a header
// beside it has the header's.
bool has_lines_of(const model::KernelRun& run, std::string_view document);

// Fits the settings to an entry: one argument a parameter, kept by name where the learner chose it, else guessed from the
// parameter's type and how the source uses it; grid and block guessed likewise.
void fit_launch(LaunchSettings& settings, const KernelEntry& entry, const std::string& source);
using scene::parameter_declarations;

// Ready-made kernels with their launches.
struct KernelTemplate {
    std::string_view name, title, file;  // "vector_add", "Vector add", "vector_add.cu"
    KernelDocument (*make)();
};
const std::vector<KernelTemplate>& kernel_templates();

std::string_view name_of(simt::WarpOrder order);

}  // namespace lockstep::gui
