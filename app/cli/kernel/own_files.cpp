#include "app/cli/kernel/own_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/diagnostic.h"

namespace lockstep::cli {
namespace {

bool can_be_lost(const std::string& file) {
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    return !file.empty() && file != "-" && (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status));
}

}  // namespace

bool same_file(const std::string& a, const std::string& b) {
    std::error_code error;
    if (std::filesystem::equivalent(a, b, error)) return true;
    const std::filesystem::path one = std::filesystem::weakly_canonical(std::filesystem::absolute(a, error), error);
    return !error && one == std::filesystem::weakly_canonical(std::filesystem::absolute(b, error), error);
}

void keep_apart(const std::vector<FileUse>& read, const std::vector<FileUse>& written) {
    for (size_t i = 0; i < written.size(); ++i) {
        const auto& [by, file] = written[i];
        if (!can_be_lost(file)) continue;
        for (const FileUse& source : read)
            if (can_be_lost(source.file) && same_file(source.file, file))
                throw Failure(Diagnostic{fmt::format("this is {}: {} would overwrite it, so it needs another name",
                                                     source.by.empty() ? "the source" : "what " + source.by + " reads", by),
                                         {file}});
        for (size_t j = 0; j < i; ++j)
            if (can_be_lost(written[j].file) && same_file(written[j].file, file))
                throw Failure(Diagnostic{
                    fmt::format("{} and {} would both be written here: each needs a name of its own", written[j].by, by),
                    {file}});
    }
}

}  // namespace lockstep::cli
