// First what is opened and never closed, from the top of the file on; then the one line at which the parser gave up, from
// its left to its right: name, '=', value, what stands behind the value.
#include "core/model/gpus/gpu_file_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/diagnostic.h"

namespace lockstep::model {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Where the text in quotes that begins at `at` ends, behind its quotes; nothing: it is never closed.
std::optional<size_t> end_of_quotes(const std::string& text, size_t at) {
    const char quote = text[at];
    const std::string three(3, quote);
    const bool lines = text.compare(at, 3, three) == 0;
    for (size_t i = at + (lines ? 3 : 1); i < text.size(); ++i) {
        if (!lines && text[i] == '\n') return std::nullopt;
        if (quote == '"' && text[i] == '\\')
            ++i;
        else if (lines && text.compare(i, 3, three) == 0)
            return i + 3;
        else if (!lines && text[i] == quote)
            return i + 1;
    }
    return std::nullopt;
}

struct Unclosed {
    size_t at = 0;
    std::string message;
};

// Quotes, [ and { that nothing closes. Braces hold one line.
std::optional<Unclosed> unclosed(const std::string& text) {
    std::vector<size_t> open;
    const auto left_open = [&](size_t at) {
        return text[at] == '[' ? Unclosed{at, "the list that begins here has no closing ']', as in [0, 8192]"}
                               : Unclosed{at,
                                          "what begins here has no closing '}' on its line, as in { value = 8, source = "
                                          "\"a guess\" }"};
    };
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"' || c == '\'') {
            const auto end = end_of_quotes(text, i);
            if (!end) {
                const std::string quotes(text.compare(i, 3, std::string(3, c)) == 0 ? 3 : 1, c);
                return Unclosed{
                    i, fmt::format("the text that begins here has no closing {}, as in {}h100{}", quotes, quotes, quotes)};
            }
            i = *end - 1;
        } else if (c == '#') {
            i = std::min(text.find('\n', i), text.size()) - 1;
        } else if (c == '[' || c == '{') {
            open.push_back(i);
        } else if (c == ']' || c == '}') {
            if (!open.empty()) open.pop_back();
        } else if (c == '\n' && !open.empty() && text[open.back()] == '{') {
            return left_open(open.back());
        }
    }
    if (!open.empty()) return left_open(open.back());
    return std::nullopt;
}

// Of a value that is neither in quotes nor in brackets, as far as the next blank.
std::string value_fault(std::string_view name, std::string_view word) {
    const size_t digits = word.find_first_not_of("0123456789+-._");
    const std::string plain(word);
    if (std::isdigit(static_cast<unsigned char>(word[0])) == 0 && word[0] != '+' && word[0] != '-' && word[0] != '.')
        return fmt::format("'{}' is no number; a text stands in quotes, as in {} = \"{}\"", plain, name, plain);
    if (digits != std::string_view::npos && word[digits] == ',')
        return fmt::format("a number has a point, no comma: {}",
                           std::string(word.substr(0, digits)) + "." + std::string(word.substr(digits + 1)));
    if (word.size() > 1 && word[0] == '0' && std::isdigit(static_cast<unsigned char>(word[1])) != 0)
        return fmt::format("a number does not begin with a zero: {}",
                           word.substr(std::min(word.find_first_not_of('0'), word.size() - 1)));
    return fmt::format("'{}' is no number, as in sms = 4: its unit, if any, is part of the figure's name (l2_mb)", plain);
}

// Of one line as it stands in the file: its column from 0 and what is wrong there.
std::pair<size_t, std::string> line_fault(const std::string& line, size_t gave_up) {
    for (const char* const curly : {"\u201c", "\u201d", "\u2018", "\u2019"})
        if (const size_t at = line.find(curly); at != std::string::npos)
            return {at, "a text stands in straight quotes, as in inherits = \"h100\""};
    const size_t first = std::min(line.find_first_not_of(blanks), line.size());
    if (first < line.size() && line[first] == '[')
        return {first, "a GPU's file has no parts in brackets: it is one figure and its value a line, as in sms = 4"};
    const size_t equals = line.find('=');
    const std::string_view name = trimmed(std::string_view(line).substr(0, equals));
    const size_t name_end = std::min(line.find_first_of(" \t\r=:", first), line.size());
    const std::string word = line.substr(first, name_end - first);
    if (name.empty()) return {first, "there is no name before the '=', as in sms = 4"};
    if (equals == std::string::npos || trimmed(std::string_view(line).substr(name_end, equals - name_end)).size() > 0) {
        const size_t at = std::min(line.find_first_not_of(blanks, name_end), line.size());
        return {at, fmt::format("between '{}' and its value stands an '=', as in sms = 4", word)};
    }
    const size_t value = line.find_first_not_of(blanks, equals + 1);
    if (value == std::string::npos || line[value] == '#')
        return {equals, fmt::format("'{}' has no value behind its '=', as in sms = 4", name)};
    size_t end = value;
    if (line[value] == '"' || line[value] == '\'') {
        end = end_of_quotes(line, value).value_or(line.size());
        if (gave_up < end) {
            const size_t at = std::min(gave_up, line.size()), backslash = line.rfind('\\', at);
            if (backslash == std::string::npos || backslash + 12 < at)
                return {at, "a text holds letters, not control characters"};
            return {backslash,
                    "a text in double quotes has a backslash written twice; one in single quotes, '...', has it as it is"};
        }
    } else if (line[value] != '[' && line[value] != '{') {
        end = std::min(line.find_first_of(" \t\r#;", value), line.size());
        if (gave_up <= end && line.find_first_not_of("0123456789", value) != end)
            return {value, value_fault(name, std::string_view(line).substr(value, end - value))};
        if (end - value > 1 && line[value] == '0')
            return {value, value_fault(name, std::string_view(line).substr(value, end - value))};
    } else {
        return {std::min(gave_up, line.size()),
                fmt::format("the value of '{}' cannot be read from here on: a list is [1, 2], a value with its source is "
                            "{{ value = 8, source = \"a guess\" }}",
                            name)};
    }
    const size_t behind = line.find_first_not_of(blanks, end);
    if (behind != std::string::npos)
        return {behind,
                fmt::format("something stands behind the value of '{}': it is one figure a line, and a remark begins "
                            "with '#'",
                            name)};
    return {std::min(gave_up, line.size()), "this cannot be read: a line is a figure and its value, as in sms = 4"};
}

}  // namespace

GpuFileFault gpu_file_fault(const std::string& text, int line, int column, std::string_view said) {
    const std::string bad = line_of(text, line);
    const size_t gave_up = static_cast<size_t>(std::max(column, 1) - 1);
    if (said.find("redefine") != std::string_view::npos) {
        const size_t first = std::min(bad.find_first_not_of(blanks), bad.size());
        const size_t end = std::min(bad.find_first_of(" \t=.", first), bad.size());
        return {line, static_cast<int>(first) + 1, fmt::format("'{}' is set twice", bad.substr(first, end - first))};
    }
    if (said.find("utf-8") != std::string_view::npos)
        return {line, column, "this byte belongs to no letter of UTF-8: save the file as UTF-8"};
    if (const auto fault = unclosed(text)) {
        const auto before = std::string_view(text).substr(0, fault->at);
        const int at_line = 1 + static_cast<int>(std::ranges::count(before, '\n'));
        if (at_line <= line) {
            const size_t start = before.rfind('\n');
            const size_t from = start == std::string_view::npos ? 0 : start + 1;
            return {at_line, static_cast<int>(fault->at - from) + 1, fault->message};
        }
    }
    const auto [at, message] = line_fault(bad, gave_up);
    return {line, static_cast<int>(at) + 1, message};
}

}  // namespace lockstep::model
