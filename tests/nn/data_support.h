// What the tests of data files share: whether something was refused and in which words, a folder that goes away, fixtures.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <string>

#include "core/base/files.h"
#include "tests/catch.h"

// Whether `run` throws a Failure whose sentence has `part` in it.
template <class Run>
bool fails_with(const std::string& part, Run run) {
    try {
        run();
    } catch (const lockstep::Failure& failure) {
        UNSCOPED_INFO(failure.what());
        return std::string(failure.what()).find(part) != std::string::npos;
    }
    return false;
}

// Whether the result is a diagnostic whose rendering has `part` in it.
template <class T>
bool refused(const lockstep::Result<T>& result, const std::string& part) {
    if (result.ok()) return false;
    const std::string text = lockstep::render(result.error());
    UNSCOPED_INFO(text);
    return text.find(part) != std::string::npos;
}

struct Scratch {
    std::filesystem::path folder;
    explicit Scratch(const std::string& name)
        : folder(std::filesystem::temp_directory_path() / ("lockstep_" + name + "_" + std::to_string(::getpid()))) {
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
};

// A file of the fuzzer's corpus, without the first byte, which names the reader.
inline std::string fixture(const std::string& name) {
    const auto folder = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests" / "fuzz" / "corpus" / "data";
    return lockstep::read_file(folder / name).value().substr(1);
}
