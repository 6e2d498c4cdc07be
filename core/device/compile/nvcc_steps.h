// What nvcc does to compile a file, step by step, so that the host's half and the device's can run side by side: nvcc runs
// one after the other, which is two thirds of the time from an edit to its result. nvcc itself says its steps (--dryrun);
// what it says in another shape than is known here is left to nvcc.
#pragma once
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::device {

using Words = std::vector<std::string>;  // a program and its arguments

struct NvccSteps {
    std::array<Words, 2> host;    // the preprocessor, cudafe++
    std::array<Words, 3> device;  // the preprocessor, cicc, fatbinary
    Words join;                   // the host's compiler, of what both made
    std::string module_id;        // the file that nvcc has its first half write and its second read
};

// Of what `nvcc --dryrun ... -c` says. Both preprocessors write into `folder` what they read: files.d and device.d.
std::optional<NvccSteps> nvcc_steps(std::string_view dry_run, const std::filesystem::path& folder);

}  // namespace lockstep::device
