// What differs between operating systems: child processes, libraries, files that survive, folders, the terminal, clocks.
// Each function has a POSIX twin (*_posix.cpp) and a Windows twin (*_windows.cpp), of which the build takes one; no other
// file of the project includes a header that only one system has (tests/source/system_headers_test.cpp). Nothing here
// throws: a failure is an empty path, a null handle or a sentence, and the caller says what it means.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::system {

// ---- Child processes. Compilers are other people's programs fed with strangers' text: each run is a child process without
// a shell, bounded in time, memory and output. Ending it ends what it started; it ends with this process.

struct ChildLimits {
    double seconds = 30;                        // wall clock
    double processor_seconds = 0;               // 0: as many as `seconds`
    uint64_t memory_bytes = uint64_t{4} << 30;  // address space, beyond what the process has at its start
    uint64_t file_bytes = uint64_t{64} << 20;   // of any file that it writes (not bounded on Windows)
    size_t output_bytes = size_t{4} << 20;      // of what it prints
};

struct ChildOutcome {
    enum class End { exited, killed, timed_out, too_much_output, not_started } end = End::not_started;
    int status = -1;     // exit status of End::exited, signal (on Windows the exception's code) of End::killed
    std::string output;  // stdout and stderr
    bool succeeded() const { return end == End::exited && status == 0; }
};

// Runs `program` in `folder` with a bare environment; the standard input is empty.
ChildOutcome run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                         const std::filesystem::path& folder, const ChildLimits& limits = {});
// A program that runs as if it were called in this one's place: its standard input, output and errors, its folder and its
// environment. Ctrl-C is the program's, signals that would end this process are passed on to it, and it ends with this
// process. Limits: none.
struct Foreground {
    std::filesystem::path program;
    std::string name;  // as it sees itself called
    std::vector<std::string> arguments;
    std::vector<std::string> settings;  // "NAME=value", in front of the environment
    bool output_is_errors = false;      // its standard output goes where errors go
    std::filesystem::path folder;       // of run_watched: where it runs; "": where this process does
};
ChildOutcome run_in_foreground(const Foreground& run);
// The same where somebody else shows what it prints: its standard input is `input`, `heard` gets its output as it comes, and
// nothing at least ten times a second; false ends the program, and what it started (End::timed_out).
ChildOutcome run_watched(const Foreground& run, std::string_view input,
                         const std::function<bool(std::string_view text, bool of_errors)>& heard);
// "SIGSEGV: Segmentation fault" of End::killed.
std::string signal_text(int status);
// The first of `names` on the PATH or in `folders`; empty when there is none.
std::filesystem::path find_program(const std::vector<std::string>& names,
                                   const std::vector<std::filesystem::path>& folders = {});

// ---- Tasks: functions that this same program runs in a child of its own, started afresh: no thread of the parent and none
// of its locks are in it. A crash or an endless loop in it ends the child alone. main() has the table of them.

using SayLine = std::function<void(std::string_view line)>;
struct ChildTask {  // one of the two functions
    std::string_view name;
    std::string (*answer)(const std::vector<std::string>& words) = nullptr;              // of run_task: returns the output
    void (*speak)(const std::vector<std::string>& words, const SayLine& say) = nullptr;  // of hear_task: says lines
};
// The first call of main(): in such a child it runs the task and ends the process; else it returns at once. A program
// without it cannot run tasks: they are not started.
void serve_task(int argc, char** argv, std::span<const ChildTask> tasks);
// The working folder is `folder`; what the task prints itself is lost.
ChildOutcome run_task(std::string_view name, const std::vector<std::string>& words, const std::filesystem::path& folder,
                      const ChildLimits& limits = {});
// Runs a task that says lines, none of them empty; `heard` gets each and returns for how many seconds the task may be silent
// after it, `seconds` at its beginning. One that is silent for longer is ended. Working folder, environment and what it
// prints are this program's, and Ctrl-C ends both. No bound on memory: a GPU's driver reserves address space.
ChildOutcome hear_task(std::string_view name, const std::vector<std::string>& words,
                       const std::function<double(std::string_view line)>& heard, double seconds);
// Ends the process at once, without destructors: where other threads still run.
[[noreturn]] void exit_now(int status);

// ---- Libraries, loaded at run time and never unloaded.

struct Library {
    void* handle = nullptr;  // null: none of the names loads
    std::string name;        // the one that did
};
// The first library of `names` that loads, on the loader's path or in `folders`.
Library load_library(const std::vector<std::string>& names, const std::vector<std::filesystem::path>& folders = {});
void* symbol_of(const Library& library, const char* name);  // null: it has none
void* symbol_of_program(const char* name);                  // of what this program has loaded already
// What a library is called here: "libcuda.so.1", or "nvcuda.dll" for its Windows name.
std::string library_name(std::string_view posix, std::string_view windows);
bool runs_whole_programs();  // CUDA programs with main(), against a runtime of ours: not on Windows yet

// ---- Files and folders.

std::filesystem::path own_executable();  // empty: unknown
// Where the program keeps what belongs to the person who runs it; the folders need not exist yet. POSIX: as the XDG base
// directory specification says, $XDG_STATE_HOME/lockstep or ~/.local/state/lockstep, $XDG_CACHE_HOME/lockstep or
// ~/.cache/lockstep. Windows: below %LOCALAPPDATA%.
std::filesystem::path state_folder();           // what must outlast the run
std::filesystem::path cache_folder();           // what can be worked out again
std::filesystem::path home_folder();            // empty: nobody's
std::filesystem::path make_temporary_folder();  // a new one with a name of its own; empty: none can be made
std::string why_unwritable(const std::filesystem::path& folder);  // "": files can be made in it
// Writes into a temporary file in the same folder, flushes it to the disk, renames it over `path` and flushes the folder.
// On any failure (a full disk, a limit, no permission) the temporary is removed, an earlier file at `path` is as it was, and
// the sentence says which step failed and why; "" is success.
std::string write_durably(const std::filesystem::path& path, std::string_view contents);

// ---- The process and its terminal.

// A closed stdin, stdout or stderr would give its number to the next file that opens, and messages would be written into
// that: the first call of main() puts the empty device there. A file beyond the system's limit is a full disk from then on.
void prepare_process();
bool errors_go_to_a_terminal();  // whether stderr is one
// Calls `handler` where this process would end by a signal that nobody handles (an access to no memory, abort(), Ctrl-C),
// then lets it end so. `address`: of the access, else 0. The process is broken by then: the handler does the least it can.
void before_a_crash(void (*handler)(int signal, uint64_t address));
double thread_seconds();                              // processor time of this thread
double process_seconds();                             // the same of this process and the children of it that have ended
void advise_large_pages(void* memory, size_t bytes);  // a wish: refused where the system has none

}  // namespace lockstep::system
