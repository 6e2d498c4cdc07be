// What the three compilers have in common; one file a compiler (nvrtc.cpp, nvcc.cpp, clang.cpp), compile.cpp lists them.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/device/child_process.h"

namespace lockstep::device {

inline constexpr std::string_view source_name = "source.cu";  // what the student's file is called while it is compiled

struct CompilerRun {
    ChildOutcome outcome;  // output: the compiler's messages
    std::string ptx;
};

struct Compiler {
    std::string_view name;                    // "nvcc"
    std::string_view needs;                   // what to install when it is missing
    std::optional<std::string> (*version)();  // "nvcc 13.0"; nothing when it is not there
    // Compiles `folder`/source.cu, which holds `source`. `arch` is "sm_75", or empty for the compiler's lowest.
    CompilerRun (*run)(const std::string& source, const std::string& arch, const std::filesystem::path& folder,
                       const ChildLimits& limits);
};

extern const Compiler nvrtc, nvcc, clang;

// Headers that students include out of habit and that the compilers have built in: kernels/include/standard.
std::filesystem::path standard_headers();

// The first error in a compiler's messages as a Diagnostic on the student's own text; and the messages with the
// student's file name in place of source_name.
std::optional<Diagnostic> first_error(const std::string& messages, const std::string& source, const std::string& file);
// All errors and warnings likewise, at most some hundreds.
std::vector<Diagnostic> all_messages(const std::string& messages, const std::string& source, const std::string& file);
std::string with_file_name(std::string messages, const std::string& file);

// PTX whose .file lines say `file` where they said source_name in some folder.
std::string with_source_file(const std::string& ptx, const std::string& file);

}  // namespace lockstep::device
