// What the compilers have in common; one file a compiler (nvrtc.cpp, nvcc.cpp, and clang.cpp for both clangs), compile.cpp
// lists them.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/system/system.h"

namespace lockstep::device {

inline constexpr std::string_view source_name = "source.cu";  // what the student's file is called while it is compiled

struct CompilerRun {
    system::ChildOutcome outcome;  // output: the compiler's messages
    std::string ptx;
    std::vector<std::string> without_instance = {};  // run_kernels_only: templates of kernels that are not in the PTX
};

struct CompileRequest {
    const std::string& source;
    std::string arch;  // "sm_75", or empty for the compiler's lowest, but at least `least_arch` (75; 0 any)
    int least_arch = 0;
    std::vector<std::string> include;  // absolute folders
    std::vector<std::string> define;   // "N=16"
    std::filesystem::path folder;      // holds source.cu
    system::ChildLimits limits;
    bool kernels_only = false;       // source.cu is without the host's part: what is unmarked is the device's
    std::vector<std::string> first;  // headers to include before the source
};

struct Compiler {
    std::string_view name;                    // "nvcc"
    std::string_view needs;                   // what to install when it is missing
    std::optional<std::string> (*version)();  // "nvcc 13.0"; nothing when it is not there
    CompilerRun (*run)(const CompileRequest& request);
};

// "-Ifolder" and "-Dmacro" of a request.
std::vector<std::string> preprocessor_options(const CompileRequest& request);
// "90a" for 90: from Hopper on a GPU's own instructions (wgmma) need the architecture's own target.
std::string own_target(int arch);
bool is_arch(const std::string& arch);  // written like sm_75

extern const Compiler nvrtc, nvcc, clang, ziglang;
std::filesystem::path nvcc_program();  // empty: it is not here
std::filesystem::path clang_program();
std::filesystem::path zig_program();        // of the Python package ziglang
int ptx_for(const std::string& arch);       // 70 for "sm_80": the lowest version of PTX that has the target
std::vector<std::string> libclc_options();  // for clang: LLVM's mathematical functions, where they are installed
extern const system::ChildTask nvrtc_task;  // main() serves it: NVRTC runs in a child process

inline constexpr size_t largest_source = size_t{4} << 20;  // bytes

// Compiles the request again without its host's part (kernels_only.h), of which source.cu and the headers beside it are rid.
CompilerRun run_kernels_only(const Compiler& compiler, const CompileRequest& request);
// The device's part of the whole program by clang, which reads the host's part too, with the host's own headers and our
// headers for programs (kernels/include/program): it knows what launches, macros and std mean.
CompilerRun run_program_by_clang(const CompileRequest& request);
// What "zig clang" is told of the host: its target and where its headers of C and C++ lie, as "zig c++" says it. Empty where
// it does not say so.
std::vector<std::string> zig_host_options();
// For "zig build-exe", in front of the objects: `runtime` is the folder of libcudart; `cpp`: with C++'s library.
std::vector<std::string> zig_link_words(const std::filesystem::path& runtime, const std::filesystem::path& folder, bool cpp);
// What clang is told of every whole program; `folder` has no toolkit.
std::vector<std::string> clang_program_options(int arch, const std::filesystem::path& folder);
// Templates of kernels in the text of which the PTX has no instance.
std::vector<std::string> templates_without_instance(const std::string& source, const std::string& ptx);

// Headers that students include out of habit and that the compilers have built in: kernels/include/standard.
std::filesystem::path standard_headers();

// The first error in a compiler's messages as a Diagnostic on the student's own text, or on a header of hers, which is named
// as `file` is: relative to the same folder; and the messages with the student's file name in place of source_name.
std::optional<Diagnostic> first_error(const std::string& messages, const std::string& source, const std::string& file,
                                      const std::vector<std::string>& include = {});
// All errors and warnings likewise, at most some hundreds.
std::vector<Diagnostic> all_messages(const std::string& messages, const std::string& source, const std::string& file,
                                     const std::vector<std::string>& include = {});
std::string with_file_name(std::string messages, const std::string& file);
// "identifier "square" is undefined", said of a function of the source that lacks __device__: that it does, at its own
// place.
Diagnostic with_host_function(Diagnostic error, const std::string& source, const std::string& file);
// Of a name that CUDA had and took away, __shfl_down or texture<>: that it did, and what replaces it.
Diagnostic with_removed_name(Diagnostic error);

// PTX whose .file lines say `file` where they said source_name in some folder.
std::string with_source_file(const std::string& ptx, const std::string& file);

}  // namespace lockstep::device
