// nvcc, NVIDIA's compiler as a program, on the PATH or where the toolkit installs itself.
#include <fmt/format.h>

#include <cstdlib>

#include "core/base/files.h"
#include "core/device/compile/compilers.h"

namespace lockstep::device {

std::filesystem::path nvcc_program() {
    return system::find_program({"nvcc"}, {"/usr/local/cuda/bin"});
}

namespace {

std::optional<std::string> version() {
    static const std::optional<std::string> found = []() -> std::optional<std::string> {
        if (nvcc_program().empty()) return std::nullopt;
        const TemporaryFolder folder;
        const std::string text = system::run_program(nvcc_program(), {"--version"}, folder.path()).output;
        const size_t at = text.find("release ");
        if (at == std::string::npos) return std::nullopt;
        return "nvcc " + text.substr(at + 8, text.find(',', at) - at - 8);
    }();
    return found;
}

std::string lowest_arch(const std::filesystem::path& folder) {
    static const std::string lowest = [&]() -> std::string {
        const system::ChildOutcome listed =
            system::run_program(nvcc_program(), {"--list-gpu-arch"}, folder);  // "compute_75\n...", ascending
        if (!listed.succeeded() || !listed.output.starts_with("compute_")) return "sm_75";
        return "sm_" + listed.output.substr(8, listed.output.find('\n') - 8);
    }();
    return lowest;
}

CompilerRun run(const CompileRequest& request) {
    std::string target = request.arch;
    if (target.empty()) {
        target = lowest_arch(request.folder);
        if (std::atoi(target.c_str() + 3) < request.least_arch) target = "sm_" + own_target(request.least_arch);
    }
    std::vector<std::string> arguments = {
        "-ptx", "-lineinfo", "-std=c++17", "--extended-lambda", "--expt-relaxed-constexpr", "-arch=" + target,
        "-o",   "out.ptx"};
    for (std::string& option : preprocessor_options(request)) arguments.push_back(std::move(option));
    arguments.emplace_back(source_name);
    CompilerRun result{system::run_program(nvcc_program(), arguments, request.folder, request.limits), {}};
    if (!result.outcome.succeeded()) return result;
    const auto ptx = read_file(request.folder / "out.ptx", size_t{64} << 20);
    if (ptx) result.ptx = ptx.value();
    return result;
}
}  // namespace

const Compiler nvcc = {"nvcc", "nvcc of the CUDA toolkit (Debian package nvidia-cuda-toolkit)", version, run};

}  // namespace lockstep::device
