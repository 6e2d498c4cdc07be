#include "lessons/player/companion/toml_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/nearest.h"

namespace lockstep::lessons {

TomlReader::TomlReader(const std::string& text, std::string file) : text_(text), file_(std::move(file)) {
    try {
        table_ = toml::parse(text_);
    } catch (const toml::parse_error& error) {
        throw Failure(at(error.source(), "the file is not valid TOML: " + std::string(error.description()).substr(0, 200)));
    }
}

Diagnostic TomlReader::at(const toml::source_region& region, std::string message) const {
    const int line = static_cast<int>(region.begin.line);
    return Diagnostic{std::move(message), {file_, line, static_cast<int>(region.begin.column)}, line_of(text_, line)};
}

void TomlReader::refuse(const toml::node& node, std::string message) const {
    throw Failure(at(node.source(), std::move(message)));
}

void TomlReader::refuse_other_keys(const toml::table& table, const std::vector<std::string>& known) const {
    for (const auto& [key, node] : table)
        if (const std::string name(key.str()); std::ranges::find(known, name) == known.end())
            throw Failure(at(key.source(), fmt::format("unknown key '{}'{}", name, did_you_mean(name, known))));
}

const toml::node& TomlReader::needed(const toml::table& table, std::string_view key) const {
    const toml::node* const node = table.get(key);
    if (node == nullptr) throw Failure(at(table.source(), fmt::format("'{}' is missing here", key)));
    return *node;
}

std::string TomlReader::words(const toml::node& node, std::string_view key) const {
    const auto value = node.value<std::string>();
    if (!node.is_string() || !value || value->empty()) refuse(node, fmt::format("'{}' is a text in quotes", key));
    return *value;
}

int TomlReader::whole(const toml::node& node, std::string_view key, int least, int most) const {
    const auto value = node.is_integer() ? node.value<int64_t>() : std::nullopt;
    if (!value || *value < least || *value > most)
        refuse(node, fmt::format("'{}' is a whole number from {} to {}", key, least, most));
    return static_cast<int>(*value);
}

const toml::table& TomlReader::as_table(const toml::node& node, std::string_view what) const {
    if (node.as_table() == nullptr) refuse(node, fmt::format("{} is a table of keys and values", what));
    return *node.as_table();
}

const toml::array& TomlReader::as_list(const toml::node& node, std::string_view key) const {
    if (node.as_array() == nullptr) refuse(node, fmt::format("'{}' is a list", key));
    return *node.as_array();
}

}  // namespace lockstep::lessons
