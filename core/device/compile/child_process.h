// Compilers are other people's programs fed with strangers' text: each run is a child process without a shell, bounded in
// time, memory and output. child_process_posix.cpp is the only file here that knows the operating system.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::device {

struct ChildLimits {
    double seconds = 30;                        // wall clock
    uint64_t memory_bytes = uint64_t{4} << 30;  // address space, beyond what the process has at its start
    uint64_t file_bytes = uint64_t{64} << 20;   // of any file that it writes
    size_t output_bytes = size_t{4} << 20;      // of what it prints
};

struct ChildOutcome {
    enum class End { exited, killed, timed_out, too_much_output, not_started } end = End::not_started;
    int status = -1;     // exit status of End::exited, signal of End::killed
    std::string output;  // stdout and stderr
    bool succeeded() const { return end == End::exited && status == 0; }
};

// Runs `program` in `folder` with a bare environment; the standard input is empty.
ChildOutcome run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                         const std::filesystem::path& folder, const ChildLimits& limits = {});

// A function that this same program runs in a child of its own, started afresh: no thread of the parent and none of its
// locks are in it. It gets the words of run_task and returns what becomes the output, or those of hear_task and says lines;
// a crash or an endless loop in it ends the child alone. One at namespace scope for each name.
using SayLine = std::function<void(std::string_view line)>;
class ChildTask {
  public:
    using Function = std::string (*)(const std::vector<std::string>& words);
    using Speaker = void (*)(const std::vector<std::string>& words, const SayLine& say);
    ChildTask(std::string_view name, Function function);
    ChildTask(std::string_view name, Speaker speaker);
};
// The first line of main(): in such a child it runs the task and ends the process; else it returns at once. A program
// without it cannot run tasks: they are not started.
void serve_task(int argc, char** argv);
// The working folder is `folder`; what the task prints itself is lost.
ChildOutcome run_task(std::string_view name, const std::vector<std::string>& words, const std::filesystem::path& folder,
                      const ChildLimits& limits = {});

// Runs a task that says lines, none of them empty; `heard` gets each and returns for how many seconds the task may be silent
// after it, `seconds` at its beginning. One that is silent for longer is ended. Working folder, environment and what it
// prints are this program's, and Ctrl-C ends both. No bound on memory: a GPU's driver reserves address space.
ChildOutcome hear_task(std::string_view name, const std::vector<std::string>& words,
                       const std::function<double(std::string_view line)>& heard, double seconds);

// The first of `names` on the PATH or in `folders`; empty when there is none.
std::filesystem::path find_program(const std::vector<std::string>& names,
                                   const std::vector<std::filesystem::path>& folders = {});

// The first library of `names` that loads, on the loader's path or in `folders`: a handle, or null. Never unloaded.
struct Library {
    void* handle = nullptr;
    std::string name;
};
Library load_library(const std::vector<std::string>& names, const std::vector<std::filesystem::path>& folders);
// Where NVIDIA's libraries lie beside the loader's path: the toolkit's, and what pip puts beside PyTorch
// (site-packages/nvidia/*/lib of the Python on the PATH, of a virtual environment, of conda, of the user).
std::vector<std::filesystem::path> nvidia_library_folders();
void* symbol_of(const Library& library, const char* name);

// An empty folder, gone with the object.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace lockstep::device
