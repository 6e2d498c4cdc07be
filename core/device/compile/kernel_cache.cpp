#include "core/device/compile/kernel_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/device/compile/source_tokens.h"

namespace lockstep::device {
namespace {

namespace fs = std::filesystem;
constexpr size_t most_entries = 512;
constexpr size_t largest_entry = size_t{16} << 20;
constexpr std::string_view compiler_line = "\n// by ";

fs::path cache_folder() {
    const fs::path cache = system::cache_folder();
    return cache.empty() ? cache : cache / "kernels";
}

// Whether an #include may name a file beside the source or in a folder that was given.
bool includes_own_files(const CompileRequest& request) {
    for (const SourceToken& token : tokens_of(request.source)) {
        if (token.kind != SourceToken::Kind::directive || !directive_name(token.text).starts_with("include")) continue;
        const size_t open = token.text.find_first_of("<\"");
        if (open == std::string_view::npos) return true;  // by a macro
        const size_t close = token.text.find(token.text[open] == '<' ? '>' : '"', open + 1);
        if (close == std::string_view::npos) return true;
        const fs::path name(std::string(token.text.substr(open + 1, close - open - 1)));
        std::error_code error;
        if (name.is_absolute()) return true;
        for (const std::string& folder : request.include)
            if (fs::exists(fs::path(folder) / name, error)) return true;
    }
    return false;
}

// What our own headers for compilers without a toolkit are now.
const std::string& own_headers() {
    static const std::string hash = [] {
        uint64_t sum = 0;
        std::error_code error;
        for (const auto& entry : fs::recursive_directory_iterator(standard_headers().parent_path(), error))
            if (entry.is_regular_file(error))
                if (const Result<std::string> text = read_file(entry.path()))
                    sum += fnv1a64(entry.path().string() + "\n" + text.value());  // in whatever order they come
        return fmt::format("{:016x}", sum);
    }();
    return hash;
}

void drop_oldest(const fs::path& folder) {
    std::vector<std::pair<fs::file_time_type, fs::path>> entries;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
        entries.emplace_back(entry.last_write_time(error), entry.path());
    if (entries.size() <= most_entries) return;
    std::sort(entries.begin(), entries.end());
    for (size_t k = 0; k < entries.size() - most_entries / 2; ++k) fs::remove(entries[k].second, error);
}

}  // namespace

std::string kernel_cache_key(const CompileRequest& request, const std::string& compilers) {
    if (cache_folder().empty() || includes_own_files(request)) return "";
    std::string all = fmt::format("{}\n{}\n{}\n", compilers, request.arch, request.least_arch);
    for (const std::string& option : preprocessor_options(request)) all += option + "\n";
    all += own_headers() + "\n" + request.source;
    std::string reversed(all.rbegin(), all.rend());  // a second hash, so that no two sources share an entry by chance
    return fmt::format("{:016x}{:016x}", fnv1a64(all), fnv1a64(reversed));
}

// An entry is PTX whose last line says by whom: "// by nvcc 13.0".
std::optional<CachedPtx> cached_ptx(const std::string& key) {
    if (key.empty()) return std::nullopt;
    Result<std::string> text = read_file(cache_folder() / (key + ".ptx"), largest_entry);
    if (!text || text.value().find(".target") == std::string::npos) return std::nullopt;
    std::string ptx = std::move(text).value();
    const size_t at = ptx.rfind(compiler_line);
    if (at == std::string::npos || !ptx.ends_with('\n')) return std::nullopt;  // cut off
    std::string compiler = ptx.substr(at + compiler_line.size(), ptx.size() - 1 - at - compiler_line.size());
    ptx.resize(at);
    return CachedPtx{std::move(ptx), std::move(compiler)};
}

void keep_ptx(const std::string& key, const CachedPtx& kept) {
    if (key.empty() || kept.ptx.size() > largest_entry) return;
    try {
        std::error_code error;
        fs::create_directories(cache_folder(), error);
        write_file(cache_folder() / (key + ".ptx"), fmt::format("{}{}{}\n", kept.ptx, compiler_line, kept.compiler));
        drop_oldest(cache_folder());
    } catch (const Failure&) {
        return;  // a full disk, or a folder that may not be written: the next compile takes its time again
    }
}

}  // namespace lockstep::device
