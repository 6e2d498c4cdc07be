// Whole CUDA programs, main() and all, as an executable whose GPU is the modelled one: its device part is compiled as
// kernels alone are, its host part by nvcc with the toolkit's headers, or by clang with our own (kernels/include/program).
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/base/result.h"

namespace lockstep::device {

struct ProgramRequest {
    std::vector<std::string> sources;                // .cu, .cpp, .c; .o and .a are linked as they are
    std::string compiler;                            // "" the first found; "nvcc", "clang"
    int least_arch = 0;                              // 80: of the GPU that it is going to run on
    std::string arch;                                // "sm_80"; "" as least_arch says
    std::string standard = "c++17";                  // of C++
    bool separate = false;                           // -rdc=true: device code of several files linked together
    std::vector<std::string> include, define, more;  // -I, -D, and options for the compiler as they stand
    double seconds = 300;                            // after which a compiler is ended
    std::vector<Diagnostic>* found = nullptr;        // gets all errors and warnings of the sources, with their places
};

struct BuiltProgram {
    std::filesystem::path executable;
    std::string compiler;  // "nvcc 13.0"
    std::string messages;  // warnings, as the compiler wrote them; empty when it came from the cache
    bool from_cache = false;
    std::shared_ptr<const TemporaryFolder> folder;  // where the executable lies when the cache cannot be written
};

// The executable lies in the user's cache under the content of everything that it was made of, headers included, so that the
// same program is compiled once. An error has the compiler's first message with its place in the program. Throws
// Failure(missing) where no compiler for whole programs is here, or the runtime's library is not beside this binary.
Result<BuiltProgram> build_program(const ProgramRequest& request);

// The folder with liblockstep_cudart and its other names: beside the binary, or where the package puts it.
std::filesystem::path runtime_folder();
// "NAME=value", for the environment of a program that it is not linked into: the loader finds it there, in front of what is
// named already, and so do NVTX's headers, unless another tool listens to them.
std::vector<std::string> library_settings();

// Whether the text has a main(), outside of comments and literals.
bool has_main(const std::string& source);

}  // namespace lockstep::device
