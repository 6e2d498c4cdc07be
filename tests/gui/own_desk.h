// The Kernel workspace without a window: a desk that begins with the learner's own kernel, and a folder for its files.
#pragma once
#include <chrono>
#include <filesystem>
#include <fstream>

#include "core/device/kernels/kernel_library.h"
#include "tests/gui/desk.h"

namespace lockstep::gui::test {

struct Scratch {  // a folder of this test's own
    std::filesystem::path folder =
        std::filesystem::temp_directory_path() /
        ("lockstep-kernel-test-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
    Scratch() { std::filesystem::create_directories(folder); }
    ~Scratch() { std::filesystem::remove_all(folder); }
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(folder / name, std::ios::binary) << text;
        return (folder / name).string();
    }
};

struct OwnDesk : Desk {
    explicit OwnDesk(SessionOptions options = {}) : Desk(with_kernel(std::move(options))) {
        session.workspace = Workspace::kernel;
        pace = 0.4;
    }
    static SessionOptions with_kernel(SessionOptions options) {
        options.own_kernel = true;
        return options;
    }
    void open(const std::string& file) {
        const auto problem = session.desk.open(file);
        INFO((problem ? *problem : std::string()));
        REQUIRE(!problem);
        settle();
    }
    std::shared_ptr<const Snapshot> snapshot() const { return session.snapshot(); }
};

inline bool has_compiler() {
    for (const auto& one : device::list_compilers())
        if (one.available) return true;
    return false;
}

}  // namespace lockstep::gui::test
