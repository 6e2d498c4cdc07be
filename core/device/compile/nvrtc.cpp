// NVRTC, NVIDIA's compiler as a library, found at run time: https://docs.nvidia.com/cuda/nvrtc. Needs no header of NVIDIA's:
// the few functions used are declared here. It compiles in a child process (a system::ChildTask), so that no source can take
// the program along.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "core/base/files.h"
#include "core/device/compile/compilers.h"
#include "core/device/cuda/nvidia_libraries.h"

namespace lockstep::device {

namespace {
struct Nvrtc {
    using Program = void*;
    using Status = int;  // 0 is success
    system::Library library;
    Status (*version)(int* major, int* minor) = nullptr;
    Status (*create)(Program*, const char* source, const char* name, int headers, const char* const* texts,
                     const char* const* names) = nullptr;
    Status (*compile)(Program, int count, const char* const* options) = nullptr;
    Status (*log_size)(Program, size_t*) = nullptr;
    Status (*log)(Program, char*) = nullptr;
    Status (*ptx_size)(Program, size_t*) = nullptr;
    Status (*ptx)(Program, char*) = nullptr;
    Status (*arch_count)(int*) = nullptr;  // since 11.2
    Status (*archs)(int*) = nullptr;
    bool complete = false;
};

const Nvrtc& loaded() {
    static const Nvrtc instance = [] {
        Nvrtc n;
        n.library = system::load_library({"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"},
                                         {"/usr/local/cuda/lib64", "/usr/local/cuda/lib"});
        const auto take = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::decay_t<decltype(function)>>(system::symbol_of(n.library, name));
            return function != nullptr;
        };
        n.complete = take(n.version, "nvrtcVersion") && take(n.create, "nvrtcCreateProgram") &&
                     take(n.compile, "nvrtcCompileProgram") && take(n.log_size, "nvrtcGetProgramLogSize") &&
                     take(n.log, "nvrtcGetProgramLog") && take(n.ptx_size, "nvrtcGetPTXSize") &&
                     take(n.ptx, "nvrtcGetPTX") && take(n.arch_count, "nvrtcGetNumSupportedArchs") &&
                     take(n.archs, "nvrtcGetSupportedArchs");
        return n;
    }();
    return instance;
}

// In the child: "13 0 75" for NVRTC 13.0 whose lowest architecture is compute_75; "" where there is none.
std::string about_here() {
    const Nvrtc& n = loaded();
    int major = 0, minor = 0;
    if (!n.complete || n.version(&major, &minor) != 0) return {};
    int count = 0, lowest = 75;
    if (n.arch_count(&count) == 0 && count > 0)
        if (std::vector<int> archs(static_cast<size_t>(count)); n.archs(archs.data()) == 0)
            lowest = *std::min_element(archs.begin(), archs.end());
    return fmt::format("{} {} {}", major, minor, lowest);
}

struct About {
    int major = 0, minor = 0, lowest_arch = 75;  // major 0: there is no NVRTC
};
constexpr const char* about_word = "about";

// Asked of a child once: the library takes 27 MB of whoever loads it.
const About& about() {
    static const About known = [] {
        About read;
        const TemporaryFolder folder;
        const system::ChildOutcome said = system::run_task(nvrtc_task.name, {about_word}, folder.path(), {.seconds = 10});
        if (!said.succeeded() ||
            std::sscanf(said.output.c_str(), "%d %d %d", &read.major, &read.minor, &read.lowest_arch) != 3)
            return About{};
        return read;
    }();
    return known;
}

std::optional<std::string> version() {
    if (about().major == 0) return std::nullopt;
    return fmt::format("NVRTC {}.{}", about().major, about().minor);
}

std::string lowest_arch(int least) {
    return "compute_" + (about().lowest_arch < least ? own_target(least) : fmt::format("{}", about().lowest_arch));
}

// Where cuda_fp16.h and its like are, if anywhere.
std::filesystem::path toolkit_headers() {
    std::error_code error;
    const std::filesystem::path folder = "/usr/local/cuda/include";
    return std::filesystem::exists(folder / "cuda_fp16.h", error) ? folder : std::filesystem::path();
}

std::string text_by(Nvrtc::Status (*size)(Nvrtc::Program, size_t*), Nvrtc::Status (*get)(Nvrtc::Program, char*),
                    Nvrtc::Program program) {
    size_t bytes = 0;
    if (size(program, &bytes) != 0 || bytes == 0) return {};
    std::string text(bytes, '\0');
    if (get(program, text.data()) != 0) return {};
    text.resize(bytes - 1);  // without the closing zero
    return text;
}

// In the child, whose folder holds the source; `words`: the options. "1" or "0" for success, then the log, a zero, the PTX.
std::string compile_here(const std::vector<std::string>& words) {
    if (words.size() == 1 && words[0] == about_word) return about_here();
    const std::string source = read_file(std::filesystem::path(source_name)).value();
    std::vector<std::string> texts, names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(standard_headers(), error)) {
        names.push_back(entry.path().filename().string());
        texts.push_back(read_file(entry.path()).value());
    }
    std::vector<const char*> text_pointers, name_pointers;
    for (size_t i = 0; i < names.size(); ++i) {
        text_pointers.push_back(texts[i].c_str());
        name_pointers.push_back(names[i].c_str());
    }
    const Nvrtc& n = loaded();
    Nvrtc::Program program = nullptr;
    const std::string name(source_name);
    if (n.create(&program, source.c_str(), name.c_str(), static_cast<int>(names.size()), text_pointers.data(),
                 name_pointers.data()) != 0)
        return "0NVRTC could not begin";
    std::vector<const char*> options;
    for (const std::string& word : words) options.push_back(word.c_str());
    const bool ok = n.compile(program, static_cast<int>(options.size()), options.data()) == 0;
    return (ok ? "1" : "0") + text_by(n.log_size, n.log, program) + '\0' + (ok ? text_by(n.ptx_size, n.ptx, program) : "");
}

CompilerRun run(const CompileRequest& request) {
    system::ChildLimits limits = request.limits;
    limits.output_bytes = size_t{64} << 20;  // the PTX comes this way too
    const std::string& arch = request.arch;
    std::vector<std::string> options = {"-arch=" + (arch.empty()              ? lowest_arch(request.least_arch)
                                                    : arch.starts_with("sm_") ? "compute_" + arch.substr(3)
                                                                              : arch),
                                        "-lineinfo", "-std=c++17", "-include=math.h",
                                        "-include=stdint.h"};  // what nvcc has without asking
    if (const std::string toolkit = toolkit_headers().string(); !toolkit.empty()) {
        options.push_back("-I" + toolkit);
        options.push_back("-I" + toolkit + "/cccl");  // where CUDA 13 keeps cuda/std
    }
    if (request.kernels_only) options.push_back("-default-device");
    for (std::string& option : preprocessor_options(request)) options.push_back(std::move(option));
    CompilerRun result{system::run_task(nvrtc_task.name, options, request.folder, limits), {}};
    std::string& output = result.outcome.output;
    if (!result.outcome.succeeded()) return result;
    const size_t zero = std::min(output.find('\0'), output.size());
    if (zero < output.size()) result.ptx = output.substr(zero + 1);
    if (output.empty() || output[0] != '1') result.outcome.status = 1;
    output = zero > 0 ? output.substr(1, zero - 1) : "";
    return result;
}

}  // namespace

const system::ChildTask nvrtc_task = {.name = "nvrtc", .answer = compile_here};

const Compiler nvrtc = {"nvrtc", "NVRTC of the CUDA toolkit (Debian package nvidia-cuda-toolkit)", version, run};

}  // namespace lockstep::device
