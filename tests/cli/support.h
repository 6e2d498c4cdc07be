// Runs the binary as a user does, and keeps what it printed and its exit status. Files go to a folder of this program's own.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/files.h"
#include "tests/catch.h"

namespace {

struct Outcome {
    int status = -1;
    std::string out, err;
};

struct Scratch {  // gone with the program
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("lockstep-cli-test-" + std::to_string(::getpid()));
    pid_t owner = ::getpid();
    Scratch() { std::filesystem::create_directories(path); }
    ~Scratch() {
        std::error_code error;
        if (owner == ::getpid()) std::filesystem::remove_all(path, error);
    }
};
[[maybe_unused]] const std::filesystem::path& scratch() {
    static const Scratch folder;
    return folder.path;
}

[[maybe_unused]] std::string write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = scratch() / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
}

[[maybe_unused]] Outcome shell(const std::string& command) {
    const std::string error = (scratch() / "stderr").string();
    FILE* pipe = ::popen((command + " 2>" + error).c_str(), "r");
    REQUIRE(pipe);
    Outcome outcome;
    std::array<char, 4096> chunk{};
    while (const size_t n = std::fread(chunk.data(), 1, chunk.size(), pipe)) outcome.out.append(chunk.data(), n);
    const int status = ::pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    outcome.err = lockstep::read_file(error).value();
    return outcome;
}

[[maybe_unused]] Outcome lockstep_command(const std::string& arguments) {
    return shell(std::string(LOCKSTEP_BINARY) + " " + arguments);
}

[[maybe_unused]] void refuses(const std::string& arguments, const std::string& sentence) {
    INFO("lockstep " << arguments);
    const Outcome outcome = lockstep_command(arguments);
    INFO(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.find(sentence) != std::string::npos);
    CHECK(outcome.err.rfind('\n') == outcome.err.size() - 1);
}

}  // namespace
