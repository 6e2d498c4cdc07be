// CUDA C++ -> PTX by the first compiler that this machine has: NVRTC, nvcc, clang without a toolkit,
// or the clang of a Python package.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/base/sizes.h"
#include "core/device/compile/compilers.h"
#include "core/device/compile/joined_launches.h"
#include "core/device/compile/kernel_cache.h"
#include "core/device/compile/source_tokens.h"
#include "core/device/kernels/kernel_library.h"

namespace lockstep::device {

namespace {
const Compiler* const compilers[] = {&nvrtc, &nvcc, &clang, &ziglang};  // in the order of trying

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

bool says(const CompilerRun& run, std::initializer_list<const char*> signs) {
    return std::any_of(signs.begin(), signs.end(),
                       [&](const char* sign) { return run.outcome.output.find(sign) != std::string::npos; });
}

bool has_host_code(const std::string& source, const CompilerRun& run) {
    for (const char* sign : {"main(", "<<<", "cudaMalloc", "std::"})
        if (source.find(sign) != std::string::npos) return true;
    return says(run, {"open source file", "No such file", "file not found", "execution space annotations"});
}

// What one compiler refuses for a name or a header that it lacks and another one may have: uint, pow(int, int).
bool may_lack_names(const CompilerRun& run) {
    return says(run,
                {"is undefined", "instance of", "has no member", "not a template", "dynamic initialization",
                 "undeclared identifier", "unknown type name", "no matching function", "is ambiguous", "no member named"});
}

bool succeeded(const CompilerRun& run) {
    return run.outcome.succeeded() && !run.ptx.empty();
}

bool timed_out(const CompilerRun& run) {
    return run.outcome.end == system::ChildOutcome::End::timed_out;
}

// What is here to be tried: names, versions, programs with the time they were installed. Runs none of them but the first.
std::string compilers_here(const Compiler& first, const CompileOptions& options) {
    std::string text = options.compiler + " " + *first.version();
    std::error_code error;
    for (const std::filesystem::path& program : {nvcc_program(), clang_program()})
        if (!program.empty())
            text += fmt::format(" {} {}", program.string(),
                                std::filesystem::last_write_time(program, error).time_since_epoch().count());
    return text;
}

Diagnostic why(const CompilerRun& run, const std::string& version, const CompileRequest& request, const std::string& source,
               const std::string& file) {
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
    if (auto error = first_error(run.outcome.output, source, file, request.include))
        return with_removed_name(with_host_function(std::move(*error), source, file));
    const std::string first_line = run.outcome.output.substr(0, run.outcome.output.find('\n')).substr(0, 500);
    return {fmt::format("{} refused the source{}{}", version, first_line.empty() ? "" : ": ", first_line), {file}};
}

// One way after the other, until one gives PTX: the compilers on the source as it stands, then what is left without its
// host's part.
class Attempts {
  public:
    // `source` is the text as it was given, for messages to quote.
    Attempts(const Compiler& first, const CompileRequest& request, const std::string& source, const std::string& file,
             const CompileOptions& options)
        : first_(first),
          request_(request),
          source_(source),
          file_(file),
          options_(options),
          any_(options.compiler.empty()) {}

    Result<Compiled> first_that_succeeds() {
        if (attempt(first_.run(request_), *first_.version())) return result();
        const bool host = has_host_code(request_.source, tried_.back().run);
        const bool another = any_ && (host || may_lack_names(tried_.back().run));
        // NVRTC knows no host code and no host headers: a whole program needs nvcc, and its errors are the true ones.
        if (any_ && &first_ == &nvrtc && (another || timed_out(tried_.back().run)) && nvcc.version()) {
            if (attempt(nvcc.run(request_), *nvcc.version())) return result();
            if (host) truest_ = tried_.size() - 1;
        }
        if (any_ && timed_out(tried_.back().run) && &first_ != &clang && clang.version())
            if (attempt(clang.run(request_), *clang.version())) return result();
        if (std::all_of(tried_.begin(), tried_.end(), [](const Tried& t) { return timed_out(t.run); })) return failure();
        if (&first_ == &clang && (host || may_lack_names(tried_.back().run)))
            if (attempt(run_program_by_clang(request_), *clang.version())) return result();
        if (!host) return failure();
        const std::string alone = *first_.version() + ", kernels alone";
        const bool done = attempt(run_kernels_only(first_, request_), alone);
        if (done && tried_.back().run.without_instance.empty()) return result();
        // What a launch does not say in so many words, only a compiler that reads the host's part knows.
        const Tried kernels = tried_.back();
        if (any_ && &first_ == &nvrtc && !nvcc.version() && clang.version())
            if (attempt(run_program_by_clang(request_), *clang.version())) return result();
        if (!done) return failure();
        tried_.push_back(kernels);
        return result();
    }

    // Whether no compiler said a word about what it took.
    bool was_silent() const { return silent_; }

  private:
    struct Tried {
        CompilerRun run;
        std::string called;  // "NVRTC 13.0"
    };

    bool attempt(CompilerRun run, std::string called) {
        tried_.push_back({std::move(run), std::move(called)});
        return succeeded(tried_.back().run);
    }

    std::vector<Diagnostic> messages_of(const CompilerRun& run) const {
        std::vector<Diagnostic> messages = all_messages(run.outcome.output, source_, file_, request_.include);
        for (Diagnostic& message : messages)
            if (message.severity == Severity::error)
                message = with_removed_name(with_host_function(std::move(message), source_, file_));
        return messages;
    }

    Result<Compiled> result() {
        const Tried& last = tried_.back();
        std::vector<Diagnostic> messages = messages_of(last.run);
        if (truest_ > 0 && last.called.ends_with(", kernels alone"))  // nvcc's word on the host's part
            for (Diagnostic& message : messages_of(tried_[truest_].run)) {
                if (message.severity != Severity::error) continue;
                message.severity = Severity::warning;
                message.message = "the kernels alone are compiled, for the host's part is refused: " + message.message;
                messages.push_back(std::move(message));
                break;
            }
        std::vector<std::string> missing = last.run.without_instance;
        if (last.run.ptx.find(".entry") == std::string::npos && missing.empty())
            missing = templates_without_instance(request_.source, last.run.ptx);
        if (last.run.ptx.find(".entry") == std::string::npos && !missing.empty())
            return Diagnostic{fmt::format("there is no kernel here, for {} a template and no launch says which instance it "
                                          "takes: say it, as in {}<float><<<...>>>, or by a line 'template __global__ "
                                          "void {}<float>(float*);'",
                                          missing.size() == 1 ? "'" + missing[0] + "' is"
                                                              : fmt::format("'{}' and others are each", missing[0]),
                                          missing[0], missing[0]),
                              {file_}};
        for (const std::string& name : missing)
            messages.push_back({fmt::format("the kernel '{0}' is left out: it is a template, and no launch says in so many "
                                            "words which instance it takes, as {0}<float><<<...>>> does",
                                            name),
                                {file_},
                                {},
                                Severity::warning});
        silent_ = last.run.outcome.output.empty() && messages.empty();
        if (options_.messages) *options_.messages = std::move(messages);
        return Compiled{last.run.ptx, last.called, with_file_name(last.run.outcome.output, file_)};
    }

    Diagnostic failure() {
        // A header that is not here hides the rest from a compiler; the kernels alone may have said what is wrong in them.
        if (truest_ > 0 && says(tried_[truest_].run, {"No such file"}) && tried_.size() > truest_ + 1)
            truest_ = tried_.size() - 1;
        else if (truest_ == 0 && &first_ != &nvcc && has_host_code(request_.source, tried_.front().run))
            truest_ = tried_.size() - 1;
        const Tried& tried = tried_[truest_];
        if (options_.messages) *options_.messages = messages_of(tried.run);
        return why(tried.run, tried.called.substr(0, tried.called.find(',')), request_, source_, file_);
    }

    const Compiler& first_;
    const CompileRequest& request_;
    const std::string &source_, &file_;
    const CompileOptions& options_;
    const bool any_;  // no compiler was asked for
    std::vector<Tried> tried_;
    size_t truest_ = 0;  // whose errors are told
    bool silent_ = false;
};
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
    limits.processor_seconds = options.processor_seconds;
    const TemporaryFolder folder;
    const std::string plain = with_joined_launches(with_plain_comments(cuda_source));
    write_file(folder.path() / source_name, plain);
    const CompileRequest request{
        plain,         options.arch, options.least_arch, include_folders(file, options.include), options.define,
        folder.path(), limits};
    const std::string key = kernel_cache_key(request, compilers_here(compiler, options));
    if (const auto before = cached_ptx(key)) {
        if (options.messages) options.messages->clear();
        return Compiled{with_source_file(before->ptx, file), before->compiler, "", true};
    }
    Attempts attempts(compiler, request, cuda_source, file, options);
    Result<Compiled> compiled = attempts.first_that_succeeds();
    if (!compiled) return compiled;
    if (attempts.was_silent()) keep_ptx(key, {compiled.value().ptx, compiled.value().compiler});
    compiled.value().ptx = with_source_file(compiled.value().ptx, file);
    return compiled;
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
