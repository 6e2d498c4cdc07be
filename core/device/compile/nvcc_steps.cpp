#include "core/device/compile/nvcc_steps.h"

#include <cctype>
#include <map>

namespace lockstep::device {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

// As a shell takes a line apart: quotes keep blanks together, and $NAME is a variable's value. Nothing else is known.
std::optional<Words> words_of(std::string_view line, const Variables& variables) {
    Words words;
    std::string word;
    bool quoted = false, begun = false;
    for (size_t at = 0; at < line.size(); ++at) {
        const char c = line[at];
        if (c == '"') {
            quoted = !quoted;
            begun = true;
        } else if (c == ' ' && !quoted) {
            if (begun) words.push_back(std::move(word));
            word.clear();
            begun = false;
        } else if (c == '$') {
            size_t end = at + 1;
            while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 || line[end] == '_'))
                ++end;
            const auto known = variables.find(line.substr(at + 1, end - at - 1));
            if (known == variables.end()) return std::nullopt;
            word += known->second;
            at = end - 1;
            begun = true;
        } else if (std::string_view("\\'`|&;<>(){}*?#").find(c) != std::string_view::npos) {
            return std::nullopt;
        } else {
            word += c;
            begun = true;
        }
    }
    if (quoted) return std::nullopt;
    if (begun) words.push_back(std::move(word));
    return words;
}

bool has(const Words& words, std::string_view word) {
    for (const std::string& own : words)
        if (own == word) return true;
    return false;
}

bool ends(const Words& words, std::string_view end) {
    return !words.empty() && words.back().ends_with(end);
}

std::string value_of(const Words& words, std::string_view option) {
    for (size_t k = 0; k + 1 < words.size(); ++k)
        if (words[k] == option) return words[k + 1];
    return "";
}

}  // namespace

std::optional<NvccSteps> nvcc_steps(std::string_view dry_run, const std::filesystem::path& folder) {
    NvccSteps steps;
    Variables variables;
    while (!dry_run.empty()) {
        std::string_view line = dry_run.substr(0, dry_run.find('\n'));
        dry_run.remove_prefix(std::min(dry_run.size(), line.size() + 1));
        if (!line.starts_with("#$ ")) return std::nullopt;  // a warning, an error: nvcc says it better itself
        line.remove_prefix(3);
        const size_t equals = line.find('=');
        if (equals != std::string_view::npos && line.substr(0, equals).find_first_of(" \"") == std::string_view::npos) {
            variables[std::string(line.substr(0, equals))] = line.substr(equals + 1);
            continue;
        }
        if (line.starts_with("-- Filter Dependencies") || line.starts_with("rm ")) continue;
        std::optional<Words> words = words_of(line, variables);
        if (!words || words->empty()) return std::nullopt;
        const std::string& program = words->front();
        Words* place = nullptr;
        if (has(*words, "-E"))
            place = ends(*words, ".cpp4.ii") ? &steps.host[0] : ends(*words, ".cpp1.ii") ? &steps.device[0] : nullptr;
        else if (program.ends_with("cudafe++"))
            place = &steps.host[1];
        else if (program.ends_with("/cicc"))
            place = &steps.device[1];
        else if (program.ends_with("fatbinary"))
            place = &steps.device[2];
        else if (has(*words, "-c") && has(*words, "c++"))
            place = &steps.join;
        if (place == nullptr || !place->empty()) return std::nullopt;
        *place = std::move(*words);
    }
    for (const Words& words : {steps.host[0], steps.host[1], steps.device[0], steps.device[1], steps.device[2], steps.join})
        if (words.empty()) return std::nullopt;
    steps.module_id = value_of(steps.host[1], "--module_id_file_name");
    if (steps.module_id.empty() || value_of(steps.device[1], "--module_id_file_name") != steps.module_id ||
        std::erase(steps.host[1], "--gen_module_id_file") != 1)
        return std::nullopt;
    for (const auto& [words, file] : {std::pair{&steps.host[0], "files.d"}, {&steps.device[0], "device.d"}})
        words->insert(words->end(), {"-MD", "-MT", "object.o", "-MF", (folder / file).string()});
    return steps;
}

}  // namespace lockstep::device
