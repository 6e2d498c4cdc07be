// A whole program, as nvcc takes it, for compilers of the kernels alone: its host's part is left out, of its headers too.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "core/base/files.h"
#include "core/device/compile/compilers.h"
#include "core/device/compile/kernels_only.h"
#include "core/device/compile/source_tokens.h"

namespace lockstep::device {
namespace {

constexpr int deepest_header = 50;
constexpr size_t most_headers = 500;

bool begins(std::string_view header, std::initializer_list<std::string_view> beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view b) { return header.starts_with(b); });
}

// Headers of the host's libraries, those of a toolkit too: they need the host's compiler.
bool of_host_libraries(std::string_view header) {
    return begins(header, {"cublas",      "cusparse",    "cusolver",      "cufft",        "cudnn",         "curand.h",
                           "thrust/",     "npp",         "nvtx",          "nvToolsExt",   "cuda_profiler", "nccl",
                           "mpi.h",       "helper_cuda", "helper_string", "helper_timer", "helper_image",  "helper_gl",
                           "helper_func", "cuda_gl",     "GL/",           "sys/"});
}

// What only a toolkit has: that it is missing has to be said.
bool of_toolkit(std::string_view header) {
    return begins(header, {"cub/", "cuda/", "cuda_", "cooperative_groups", "cute/", "cutlass/", "mma.h", "curand_"});
}

bool is_file(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
}

// Those of which the PTX has no kernel: "4fill" stands in the mangled names of its instances.
std::vector<std::string> names_without_instance(const KernelNames::Names& templates, const std::string& ptx) {
    std::vector<std::string> names;
    for (const std::string& name : templates) {
        const std::string mangled = fmt::format("{}{}", name.size(), name);
        bool found = false;
        for (size_t at = ptx.find(".entry "); at != std::string::npos && !found; at = ptx.find(".entry ", at + 1)) {
            const std::string_view line = std::string_view(ptx).substr(at, ptx.find_first_of("(\n", at) - at);
            found = line.find(mangled) != std::string_view::npos;
        }
        if (!found) names.push_back(name);
    }
    return names;
}

// source.cu and the student's headers without the host's part. A header is written into a folder of its own under the
// request's, "header_3/common.h".
class KernelsAlone {
  public:
    explicit KernelsAlone(const CompileRequest& request) : request_(request) {}

    std::string text_of(const std::string& source, const std::filesystem::path& folder = {}, int depth = 0) {
        std::map<std::string, std::string, std::less<>> headers;  // of this text: as it names them, as they are called now
        for (const SourceToken& token : tokens_of(source)) {
            if (token.kind != SourceToken::Kind::directive || directive_name(token.text) != "include") continue;
            const size_t open = token.text.find_first_of("<\"");
            if (open == std::string_view::npos) continue;
            const size_t close = token.text.find(token.text[open] == '<' ? '>' : '"', open + 1);
            if (close == std::string_view::npos) continue;
            const std::string name(token.text.substr(open + 1, close - open - 1));
            if (begins(name, {"cublas", "cudnn"})) half_types = true;
            if (std::string taken = take(name, folder, depth); !taken.empty()) headers[name] = std::move(taken);
        }
        const FindHeader find = [&](std::string_view name, bool quoted) -> std::optional<std::string> {
            if (const auto header = headers.find(name); header != headers.end()) return header->second;
            if (of_host_libraries(name)) return std::nullopt;
            const std::filesystem::path built_in = standard_headers();
            const std::string file(name);
            if (quoted || of_toolkit(name) || is_file(built_in / file) || is_file(built_in.parent_path() / "clang" / file))
                return file;
            return std::nullopt;
        };
        const KernelNames::Names before = known_.templates;
        KernelsOnly only = kernels_only(source, find, known_);
        if (depth == 0)
            std::set_difference(known_.templates.begin(), known_.templates.end(), before.begin(), before.end(),
                                std::inserter(own_templates, own_templates.end()));
        instances += only.instances;
        return std::move(only.text);
    }

    // Messages with the headers called as they are.
    std::string with_own_names(std::string messages) const {
        for (const auto& [path, name] : written_)
            for (size_t at = 0; (at = messages.find(name, at)) != std::string::npos; at += path.size()) {
                size_t begin = at;  // "./header_1/common.h", or with the whole folder in front
                while (begin > 0 && (std::isalnum(static_cast<unsigned char>(messages[begin - 1])) != 0 ||
                                     std::string_view("/._-+").find(messages[begin - 1]) != std::string_view::npos))
                    --begin;
                messages.replace(begin, at - begin + name.size(), path);
                at = begin;
            }
        return messages;
    }

    std::vector<std::string> without_instance(const std::string& ptx) const {
        return names_without_instance(own_templates, ptx);
    }

    std::string instances;
    KernelNames::Names own_templates;  // of kernels, in source.cu itself
    bool half_types = false;           // a header was left out that brings cuda_fp16.h and cuda_bf16.h

  private:
    // The name of the student's header without its host's part; empty: it is none of hers.
    std::string take(const std::string& name, const std::filesystem::path& folder, int depth) {
        if (std::filesystem::path(name).is_absolute()) return {};
        std::vector<std::filesystem::path> places;
        if (!folder.empty()) places.push_back(folder);
        places.insert(places.end(), request_.include.begin(), request_.include.end());
        for (const std::filesystem::path& place : places) {
            if (!is_file(place / name)) continue;
            std::error_code error;
            const std::filesystem::path path = std::filesystem::canonical(place / name, error);
            const std::string key = path.string();
            if (const auto before = written_.find(key); before != written_.end()) return before->second;
            const auto text = read_file(path, largest_source);
            if (error || !text || depth >= deepest_header || written_.size() >= most_headers) return {};
            const std::string own = fmt::format("header_{}", written_.size());
            written_[key] = own + "/" + path.filename().string();
            std::filesystem::create_directories(request_.folder / own, error);
            const std::string kernels = text_of(text.value(), path.parent_path(), depth + 1);
            write_file(request_.folder / own / path.filename(), kernels);
            return written_[key];
        }
        return {};
    }

    const CompileRequest& request_;
    KernelNames known_;
    std::map<std::string, std::string> written_;  // path -> the name that stands for it
};

}  // namespace

std::vector<std::string> templates_without_instance(const std::string& source, const std::string& ptx) {
    KernelNames known;
    kernels_only(
        source, [](std::string_view name, bool) { return std::optional<std::string>(name); }, known);
    return names_without_instance(known.templates, ptx);
}

CompilerRun run_kernels_only(const Compiler& compiler, const CompileRequest& request) {
    KernelsAlone alone(request);
    const std::string text = alone.text_of(request.source);
    CompileRequest kernels = request;
    kernels.kernels_only = true;
    kernels.include.push_back(request.folder.string());  // where the headers' own #include find one another
    if (alone.half_types) kernels.first = {"cuda_fp16.h", "cuda_bf16.h"};
    const auto compiled = [&](const std::string& source) {
        write_file(request.folder / source_name, source);
        CompilerRun run = compiler.run(kernels);
        run.outcome.output = alone.with_own_names(std::move(run.outcome.output));
        run.ptx = alone.with_own_names(std::move(run.ptx));
        run.without_instance = alone.without_instance(run.ptx);
        return run;
    };
    CompilerRun run = compiled(text + "\n" + alone.instances);
    if ((run.outcome.succeeded() && !run.ptx.empty()) || alone.instances.empty()) return run;
    return compiled(text);  // an instance may depend on what only the host knows
}

}  // namespace lockstep::device
