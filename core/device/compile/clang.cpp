// clang without any CUDA toolkit: kernels/include/lockstep_cuda.h stands in for NVIDIA's headers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "core/base/files.h"
#include "core/device/compile/compilers.h"

namespace lockstep::device {

std::filesystem::path clang_program() {
    return system::find_program(
        {"clang++", "clang++-19", "clang++-18", "clang++-17", "clang++-16", "clang++-15", "clang++-14"}, {});
}

namespace {

std::optional<std::string> version() {
    static const std::optional<std::string> found = []() -> std::optional<std::string> {
        if (clang_program().empty()) return std::nullopt;
        const TemporaryFolder folder;
        const std::string text =
            system::run_program(clang_program(), {"--version"}, folder.path()).output;  // "Debian clang version 14.0.6\n..."
        const size_t at = text.find("version ");
        if (at == std::string::npos) return std::nullopt;
        return "clang " + text.substr(at + 8, text.find_first_of(" \n-", at + 8) - at - 8);
    }();
    return found;
}

// clang 14 knows targets up to sm_86.
std::string default_arch(int least) {
    return least >= 80 ? "sm_80" : "sm_70";
}

// LLVM's OpenCL C library as bitcode for NVIDIA GPUs: its mathematical functions are linked in and inlined. Empty: not here,
// and lockstep_math.h has fewer functions, less exact.
const std::filesystem::path& libclc() {
    static const std::filesystem::path found = []() -> std::filesystem::path {
        const std::filesystem::path name = "nvptx64--nvidiacl.bc";
        std::error_code error;
        for (const char* folder : {"/usr/lib/clc", "/usr/share/clc", "/usr/local/share/clc", "/usr/lib64/clc"})
            if (std::filesystem::exists(folder / name, error)) return folder / name;
        return {};
    }();
    return found;
}

struct ClangCall {
    std::filesystem::path program;
    std::vector<std::string> first = {};  // words in front of clang's own
    std::string arch;
    int ptx = 64;  // version, 64 for 6.4
    bool libclc = false;
};

// "use of undeclared identifier 'pow'; did you mean 'powf'?", said of a function that CUDA has and libclc would bring, tells
// a student nothing: clang's messages with what is missing instead.
std::string with_missing_functions(const std::string& messages, bool zig) {
    constexpr std::array functions = std::to_array<std::string_view>(
        {"acos",  "acosh", "asin", "asinh", "atan", "atan2",     "atanh",  "cbrt",  "cosh",  "cospi",  "erf",   "erfc",
         "exp",   "exp10", "exp2", "expm1", "fmod", "frexp",     "hypot",  "ilogb", "ldexp", "lgamma", "log",   "log10",
         "log1p", "log2",  "logb", "modf",  "pow",  "remainder", "scalbn", "sinh",  "sinpi", "tanh",   "tgamma"});
    constexpr std::string_view marker = "use of undeclared identifier '";
    std::string result;
    std::istringstream text(messages);
    for (std::string line; std::getline(text, line); result += line + "\n") {
        const size_t at = line.find(marker), begin = at + marker.size();
        if (at == std::string::npos) continue;
        const std::string name = line.substr(begin, line.find('\'', begin) - begin);
        const auto is = [&](std::string_view function) { return name == function || name == std::string(function) + "f"; };
        if (std::any_of(functions.begin(), functions.end(), is))
            line = line.substr(0, at) +
                   (zig ? "ziglang's clang has no '" + name + "', which NVRTC, nvcc and clang with libclc have"
                        : "clang has '" + name + "' with the Debian package libclc-14, which is not installed");
    }
    return result;
}

CompilerRun run_clang(const ClangCall& call, const CompileRequest& request) {
    const std::filesystem::path& folder = request.folder;
    const auto header = standard_headers().parent_path() / "lockstep_cuda.h";
    // A CUDA path that is not there: the result is the same whether or not a toolkit is installed.
    std::vector<std::string> arguments = call.first;
    // Types are as large as on Linux wherever this runs: else long is 4 bytes on Windows, char has no sign on ARM, and a
    // kernel would be another one there.
    const std::vector<std::string> own = {"--target=x86_64-unknown-linux-gnu",
                                          "-x",
                                          "cuda",
                                          "--cuda-device-only",
                                          "--cuda-gpu-arch=" + call.arch,
                                          "--cuda-path=" + (folder / "no-toolkit").string(),
                                          "-Xclang",
                                          "-target-feature",
                                          "-Xclang",
                                          fmt::format("+ptx{}", call.ptx),
                                          "-nocudainc",
                                          "-nostdlibinc",  // the host's headers make no sense here
                                          "-nocudalib",
                                          "-std=c++17",
                                          "-O2",
                                          "-gline-tables-only",
                                          "-S",
                                          "-fno-color-diagnostics",
                                          "-isystem",
                                          standard_headers().string(),
                                          "-isystem",
                                          (standard_headers().parent_path() / "clang").string(),
                                          "-include",
                                          header.string()};
    arguments.insert(arguments.end(), own.begin(), own.end());
    if (call.libclc)
        for (std::string& option : libclc_options()) arguments.push_back(std::move(option));
    for (std::string& option : preprocessor_options(request)) arguments.push_back(std::move(option));
    arguments.insert(arguments.end(), {"-o", "out.ptx", std::string(source_name)});
    CompilerRun result{system::run_program(call.program, arguments, folder, request.limits), {}};
    if (!result.outcome.succeeded()) {
        if (!call.libclc || libclc().empty())
            result.outcome.output = with_missing_functions(result.outcome.output, !call.libclc);
        return result;
    }
    const auto ptx = read_file(folder / "out.ptx", size_t{64} << 20);
    if (ptx) result.ptx = ptx.value();
    return result;
}

CompilerRun run(const CompileRequest& request) {
    // clang 14 knows PTX 6.4 for its targets.
    return run_clang({.program = clang_program(),
                      .arch = request.arch.empty() ? default_arch(request.least_arch) : request.arch,
                      .ptx = 64,
                      .libclc = true},
                     request);
}

// ---- The clang that the Python package ziglang brings: no Debian package is needed, and no libclc is there.

std::optional<std::string> zig_version() {
    static const std::optional<std::string> found = []() -> std::optional<std::string> {
        if (zig_program().empty()) return std::nullopt;
        const TemporaryFolder folder;
        const std::string text = system::run_program(zig_program(), {"clang", "--version"}, folder.path()).output;
        const size_t at = text.find("version ");
        if (at == std::string::npos) return std::nullopt;
        return "ziglang's clang " + text.substr(at + 8, text.find_first_of(" \n-", at + 8) - at - 8);
    }();
    return found;
}

CompilerRun run_zig(const CompileRequest& request) {
    const std::string lowest = request.least_arch >= 90 ? "sm_90a" : default_arch(request.least_arch);
    const std::string arch = request.arch.empty() ? lowest : request.arch;
    return run_clang({.program = zig_program(), .first = {"clang"}, .arch = arch, .ptx = ptx_for(arch)}, request);
}
}  // namespace

std::filesystem::path zig_program() {
    if (const char* const set = std::getenv("LOCKSTEP_ZIG")) return set;  // by the Python package, which knows where it is
    return system::find_program({"zig"}, {});
}

// PTX ISA, "Release Notes".
int ptx_for(const std::string& arch) {
    const int number = std::atoi(arch.c_str() + arch.find('_') + 1);
    return number < 80    ? 64
           : number < 86  ? 70
           : number == 86 ? 71
           : number < 89  ? 74
           : number < 90  ? 78
           : number < 100 ? 80
                          : 87;
}

std::vector<std::string> clang_program_options(int arch, const std::filesystem::path& folder) {
    const std::filesystem::path headers = standard_headers().parent_path() / "program";
    // The version of the toolkit that is not there says how <<<>>> becomes calls.
    return {"-x",
            "cuda",
            fmt::format("--cuda-gpu-arch=sm_{}", arch),
            "--cuda-path=" + (folder / "no-toolkit").string(),
            "-nocudainc",
            "-nocudalib",
            "-Xclang",
            "-target-sdk-version=11.5",
            "-O2",
            "-gline-tables-only",
            "-fno-color-diagnostics",
            "-Wno-unknown-cuda-version",
            "-Wno-register",
            "-DLOCKSTEP",
            "-isystem",
            headers.string(),
            "-include",
            (headers / "lockstep_program.h").string()};
}

CompilerRun run_program_by_clang(const CompileRequest& request) {
    const std::string arch = request.arch.empty() ? default_arch(request.least_arch) : request.arch;
    std::vector<std::string> arguments = clang_program_options(std::atoi(arch.c_str() + arch.find('_') + 1), request.folder);
    for (std::string& option : libclc_options()) arguments.push_back(std::move(option));
    for (std::string& option : preprocessor_options(request)) arguments.push_back(std::move(option));
    write_file(request.folder / source_name, request.source);
    arguments.insert(arguments.end(), {"-std=c++17", "--cuda-device-only", "-S", "-Xclang", "-target-feature", "-Xclang",
                                       "+ptx64", "-o", "out.ptx", std::string(source_name)});
    CompilerRun result{system::run_program(clang_program(), arguments, request.folder, request.limits), {}};
    if (!result.outcome.succeeded()) return result;
    const auto ptx = read_file(request.folder / "out.ptx", size_t{64} << 20);
    if (ptx) result.ptx = ptx.value();
    return result;
}

std::vector<std::string> libclc_options() {
    if (libclc().empty()) return {};
    return {"-DLOCKSTEP_LIBCLC", "-Wno-linker-warnings", "-Xclang", "-mlink-builtin-bitcode", "-Xclang", libclc().string()};
}

const Compiler clang = {"clang", "the Debian packages clang-14 and libclc-14 (or later ones)", version, run};
const Compiler ziglang = {"ziglang", "the Python package ziglang (pip install lockstep[compiler])", zig_version, run_zig};

}  // namespace lockstep::device
