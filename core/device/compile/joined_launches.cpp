#include "core/device/compile/joined_launches.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/device/compile/source_tokens.h"

namespace lockstep::device {
namespace {

constexpr size_t most_files_of_a_source = 200;

// The files that a text includes in quotes, where they are found.
std::vector<std::filesystem::path> quoted_headers(std::string_view text, const std::filesystem::path& beside,
                                                  std::span<const std::string> include) {
    std::vector<std::filesystem::path> found;
    for (const SourceToken& token : tokens_of(text)) {
        if (token.kind != SourceToken::Kind::directive || directive_name(token.text) != "include") continue;
        const size_t open = token.text.find('"');
        if (open == std::string_view::npos) continue;
        const std::string name(token.text.substr(open + 1, token.text.find('"', open + 1) - open - 1));
        std::error_code error;
        std::vector<std::filesystem::path> places{beside / name};
        for (const std::string& folder : include) places.push_back(std::filesystem::absolute(folder, error) / name);
        const auto place = std::find_if(places.begin(), places.end(), [&](const std::filesystem::path& p) {
            return std::filesystem::is_regular_file(p, error);
        });
        if (place != places.end()) found.push_back(place->lexically_normal());
    }
    return found;
}

}  // namespace

std::string with_joined_launches(std::string_view source) {
    std::string text(source);
    const std::vector<SourceToken> tokens = tokens_of(source);
    const auto three = [&](size_t k, std::string_view sign) {  // with nothing but blanks between them
        if (k + 2 >= tokens.size() || !tokens[k].is(sign) || !tokens[k + 1].is(sign) || !tokens[k + 2].is(sign))
            return false;
        return source.substr(tokens[k].begin, tokens[k + 2].end - tokens[k].begin).find('\n') == std::string_view::npos;
    };
    const auto join = [&](size_t k) {
        const size_t begin = tokens[k].begin, length = tokens[k + 2].end - begin;
        text.replace(begin, length, std::string(3, source[begin]) + std::string(length - 3, ' '));
    };
    for (size_t k = 1; k < tokens.size(); ++k) {
        if (!three(k, "<") || tokens[k - 1].is("operator")) continue;  // operator<< <T> is no launch
        join(k);
        int depth = 0;
        for (k += 3; k < tokens.size() && depth >= 0 && !tokens[k].is(";"); ++k) {
            if (tokens[k].is("(") || tokens[k].is("[") || tokens[k].is("{")) ++depth;
            if (tokens[k].is(")") || tokens[k].is("]") || tokens[k].is("}")) --depth;
            if (depth != 0 || !three(k, ">")) continue;
            join(k);
            break;
        }
    }
    return text;
}

std::vector<std::string> joined_launch_options(const std::filesystem::path& source, std::span<const std::string> include,
                                               const std::filesystem::path& folder) {
    nlohmann::json roots = nlohmann::json::array();
    std::vector<std::filesystem::path> files{source.lexically_normal()};
    for (size_t k = 0; k < files.size() && files.size() < most_files_of_a_source; ++k) {
        const Result<std::string> text = read_text(files[k], size_t{4} << 20);
        if (!text) continue;
        for (std::filesystem::path& header : quoted_headers(text.value(), files[k].parent_path(), include))
            if (std::find(files.begin(), files.end(), header) == files.end()) files.push_back(std::move(header));
        const std::string joined = with_joined_launches(text.value());
        if (joined == text.value()) continue;
        const std::filesystem::path own = folder / ("joined_" + std::to_string(k));
        write_file(own, joined);
        roots.push_back({{"name", files[k].string()}, {"type", "file"}, {"external-contents", own.string()}});
    }
    if (roots.empty()) return {};
    const std::filesystem::path overlay = folder / "joined.json";
    write_file(overlay, nlohmann::json{{"version", 0}, {"use-external-names", "false"}, {"roots", roots}}.dump());
    return {"-ivfsoverlay", overlay.string()};
}

}  // namespace lockstep::device
