// Runs a stranger's program where it can do nothing but compute: it sees no network, no home and no files but those named,
// which it cannot write, and a folder of its own that goes with it; its processor time, memory, processes and output are
// bounded, and what it tried beyond that is said. On Linux by namespaces and seccomp; elsewhere there is none.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/system/system.h"

namespace lockstep::system {

struct Sandbox {
    struct Shown {
        std::filesystem::path from, to;  // a file or a folder, and what it is called inside
    };
    std::vector<Shown> shown;                  // read-only; what is not there is left out
    std::vector<std::filesystem::path> empty;  // folders inside with nothing in them
    std::filesystem::path work;          // a folder whose files, links left out, are copied to /tmp/work, the working folder
    std::vector<std::string> only;       // of `work` these files alone; empty: all
    std::filesystem::path program;       // as it is called inside
    std::vector<std::string> arguments;  // without the program's name
    std::vector<std::string> settings;   // the whole environment: "NAME=value"
    std::string strangers;               // where programs lie of whose attempts is told; empty: everywhere
    std::string input;                   // stdin
    std::string result;                  // a file inside whose content comes back: "/tmp/report.json"

    double seconds = 60, processor_seconds = 60;
    uint64_t memory_bytes = uint64_t{4} << 30;  // of all processes together
    uint64_t file_bytes = uint64_t{512} << 20;  // in /tmp, all files together
    uint64_t threads = 256;                     // of all processes together
    size_t output_bytes = size_t{4} << 20;      // of stdout, of stderr and of the result each
};

struct SandboxOutcome {
    std::string refused;  // why there is no sandbox here, and nothing ran
    ChildOutcome ended;   // its output is stdout
    std::string errors;   // stderr
    std::string result;
    bool strangers_began = false;    // a program of the stranger's ran, not a compiler alone
    std::vector<std::string> tried;  // "it tried to read /root/.ssh/id_rsa", each once, in their order
};

SandboxOutcome run_in_sandbox(const Sandbox& sandbox);

}  // namespace lockstep::system
