// CUDA C++ -> PTX by the first compiler that this machine has: NVRTC, nvcc, clang without a toolkit.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/base/sizes.h"
#include "core/device/compile/compilers.h"
#include "core/device/compile/kernel_cache.h"
#include "core/device/kernels/kernel_library.h"

namespace lockstep::device {

namespace {
const Compiler* const compilers[] = {&nvrtc, &nvcc, &clang};  // in the order of trying

const Compiler& chosen(const std::string& name) {
    std::vector<std::string> known, needs;
    for (const Compiler* compiler : compilers) {
        if (name.empty() ? compiler->version().has_value() : compiler->name == name) {
            if (compiler->version()) return *compiler;
            throw Failure(fmt::format("the compiler {} is missing: it needs {}", name, compiler->needs),
                          ExitStatus::missing);
        }
        known.emplace_back(compiler->name);
        needs.emplace_back(compiler->needs);
    }
    if (name.empty())
        throw Failure(
            fmt::format("no compiler for CUDA C++ is here: install {}", fmt::join(needs.rbegin(), needs.rend(), ", or ")),
            ExitStatus::missing);
    throw Failure(
        fmt::format("unknown compiler '{}'{}; known: {}", name, did_you_mean(name, known, ""), fmt::join(known, ", ")));
}

// The source file's own folder, where "common.h" of its #include is, and those asked for.
std::vector<std::string> include_folders(const std::string& file, const std::vector<std::string>& more) {
    std::vector<std::string> folders;
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error))
        folders.push_back(std::filesystem::absolute(file, error).parent_path().string());
    for (const std::string& folder : more) {
        if (!std::filesystem::is_directory(folder, error))
            throw Failure(fmt::format("there is no folder '{}' to look for headers in", folder));
        folders.push_back(std::filesystem::absolute(folder, error).string());
    }
    return folders;
}

bool has_host_code(const std::string& source, const std::string& messages) {
    for (const char* sign : {"main(", "<<<", "cudaMalloc", "std::"})
        if (source.find(sign) != std::string::npos) return true;
    return messages.find("open source file") != std::string::npos;
}

Diagnostic why(const CompilerRun& run, const std::string& version, const CompileRequest& request, const std::string& file) {
    const system::ChildLimits& limits = request.limits;
    switch (run.outcome.end) {
        case system::ChildOutcome::End::timed_out:
            return {fmt::format("{} took longer than {:g} s and was ended", version, limits.seconds), {file}};
        case system::ChildOutcome::End::too_much_output:
            return {fmt::format("{} printed too much and was ended", version), {file}};
        case system::ChildOutcome::End::killed:
            return {fmt::format("{} crashed or ran out of memory on this source", version), {file}};
        case system::ChildOutcome::End::not_started:
            return {fmt::format("{} could not be started", version), {file}};
        case system::ChildOutcome::End::exited:
            break;
    }
    if (auto error = first_error(run.outcome.output, request.source, file, request.include))
        return with_host_function(std::move(*error), request.source, file);
    const std::string first_line = run.outcome.output.substr(0, run.outcome.output.find('\n')).substr(0, 500);
    return {fmt::format("{} refused the source{}{}", version, first_line.empty() ? "" : ": ", first_line), {file}};
}
}  // namespace

bool is_arch(const std::string& arch) {
    return (arch.starts_with("sm_") || arch.starts_with("compute_")) && arch.size() < 16 &&
           std::all_of(arch.begin(), arch.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

std::vector<std::string> preprocessor_options(const CompileRequest& request) {
    std::vector<std::string> options;
    for (const std::string& folder : request.include) options.push_back("-I" + folder);
    for (const std::string& macro : request.define) options.push_back("-D" + macro);
    for (const std::string& header : request.first) options.insert(options.end(), {"-include", header});
    return options;
}

std::string own_target(int arch) {
    return fmt::format("{}{}", arch, arch >= 90 ? "a" : "");
}

std::filesystem::path standard_headers() {
    return resource_root() / "kernels" / "include" / "standard";
}

Result<Compiled> compile(const std::string& cuda_source, const std::string& file, const CompileOptions& options) {
    const Compiler& compiler = chosen(options.compiler);
    const std::string version = *compiler.version();
    if (cuda_source.size() > largest_source)
        return Diagnostic{
            fmt::format("a source of {} is too large: at most {}", size_text(cuda_source.size()), size_text(largest_source)),
            {file}};
    if (const size_t zero = cuda_source.find('\0'); zero != std::string::npos)
        return Diagnostic{fmt::format("byte {} is zero: this is no text file", zero), {file}};
    if (!options.arch.empty() && !is_arch(options.arch))
        return Diagnostic{fmt::format("'{}' is no architecture: they are written like sm_75", options.arch)};

    system::ChildLimits limits;
    limits.seconds = options.seconds;
    const TemporaryFolder folder;
    write_file(folder.path() / source_name, cuda_source);
    const CompileRequest request{
        cuda_source,   options.arch, options.least_arch, include_folders(file, options.include), options.define,
        folder.path(), limits};
    const std::string key = kernel_cache_key(request, version);
    if (const auto before = cached_ptx(key)) {
        if (options.messages) options.messages->clear();
        return Compiled{with_source_file(*before, file), version, ""};
    }
    CompilerRun run = compiler.run(request);
    const auto keep_messages = [&](const CompilerRun& of) {
        if (options.messages == nullptr) return;
        *options.messages = all_messages(of.outcome.output, cuda_source, file, request.include);
        for (Diagnostic& message : *options.messages)
            if (message.severity == Severity::error) message = with_host_function(std::move(message), cuda_source, file);
    };
    keep_messages(run);
    const auto failed = [](const CompilerRun& r) { return !r.outcome.succeeded() || r.ptx.empty(); };
    if (run.outcome.end == system::ChildOutcome::End::timed_out)
        return why(run, version, request, file);  // no second one as long
    // NVRTC knows no host code and no host headers: a whole program needs nvcc, and its errors are the true ones.
    if (failed(run) && options.compiler.empty() && &compiler == &nvrtc && nvcc.version() &&
        has_host_code(cuda_source, run.outcome.output)) {
        CompilerRun second = nvcc.run(request);
        keep_messages(second);
        if (failed(second)) return why(second, *nvcc.version(), request, file);
        return Compiled{with_source_file(second.ptx, file), *nvcc.version(), with_file_name(second.outcome.output, file)};
    }
    if (failed(run) && &compiler != &nvcc &&
        (has_host_code(cuda_source, run.outcome.output) ||
         run.outcome.output.find("execution space annotations") != std::string::npos)) {
        CompilerRun second = run_kernels_only(compiler, request);
        keep_messages(second);
        if (failed(second)) return why(second, version, request, file);
        if (second.ptx.find(".entry") == std::string::npos && second.templates)
            return Diagnostic{
                "no launch says which instance of a kernel's template it takes: say it, as in k<float><<<...>>>, "
                "or by a line 'template __global__ void k<float>(float*);'",
                {file}};
        return Compiled{with_source_file(second.ptx, file), version + ", kernels alone",
                        with_file_name(second.outcome.output, file)};
    }
    if (failed(run)) return why(run, version, request, file);
    if (run.outcome.output.empty()) keep_ptx(key, run.ptx);
    return Compiled{with_source_file(run.ptx, file), version, with_file_name(run.outcome.output, file)};
}

std::string compiler_version(const std::string& name) {
    return *chosen(name).version();
}

std::vector<DeviceListing> list_compilers() {
    std::vector<DeviceListing> listings;
    for (const Compiler* compiler : compilers) {
        const auto version = compiler->version();
        listings.push_back({std::string(compiler->name),
                            version ? *version : fmt::format("missing: needs {}", compiler->needs), version.has_value()});
    }
    return listings;
}

}  // namespace lockstep::device
