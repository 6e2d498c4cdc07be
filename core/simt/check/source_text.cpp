// See source_text.h. Just as much of C++ as it takes to find where a statement ends.
#include "core/simt/check/source_text.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/base/files.h"

namespace lockstep::simt {

namespace {

constexpr size_t most_source_bytes = size_t{4} << 20;
constexpr int most_nested_statements = 200;

bool is_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// Comments, strings and characters become blanks; lines stay where they are.
std::string without_comments(const std::string& text) {
    std::string out = text;
    const auto blank = [&](size_t from, size_t to) {
        for (size_t i = from; i < std::min(to, out.size()); ++i)
            if (out[i] != '\n') out[i] = ' ';
    };
    for (size_t i = 0; i < text.size();) {
        size_t end = i + 1;
        if (text.compare(i, 2, "//") == 0) {
            end = std::min(text.find('\n', i), text.size());
        } else if (text.compare(i, 2, "/*") == 0) {
            end = text.find("*/", i + 2);
            end = end == std::string::npos ? text.size() : end + 2;
        } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !is_letter(text[i - 1])))) {
            while (end < text.size() && text[end] != text[i] && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
            ++end;
        } else {
            ++i;
            continue;
        }
        blank(i, end);
        i = end;
    }
    return out;
}

struct SourceReader {
    const std::string& text;
    size_t at = 0;

    void skip_blanks() {
        while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
    }
    std::string word() const {
        size_t end = at;
        while (end < text.size() && is_letter(text[end])) ++end;
        return text.substr(at, end - at);
    }
    // From an opening bracket to behind its partner; false where there is none.
    bool skip_brackets(char open, char close) {
        for (int depth = 0; at < text.size(); ++at) {
            if (text[at] == open) ++depth;
            if (text[at] == close && --depth == 0) {
                ++at;
                return true;
            }
        }
        return false;
    }
    bool skip_statement(int depth = 0) {
        skip_blanks();
        if (at >= text.size() || depth > most_nested_statements) return false;
        if (text[at] == '{') return skip_brackets('{', '}');
        const std::string first = word();
        if (first == "if" || first == "for" || first == "while" || first == "switch") return skip_controlled(first, depth);
        while (at < text.size() && text[at] != ';') {
            if (text[at] == '{' ? !skip_brackets('{', '}') : text[at] == '(' ? !skip_brackets('(', ')') : (++at, false))
                return false;
        }
        return at++ < text.size();
    }
    bool skip_controlled(const std::string& keyword, int depth) {
        at += keyword.size();
        skip_blanks();
        if (word() == "constexpr") at += 9;
        skip_blanks();
        if (at >= text.size() || text[at] != '(' || !skip_brackets('(', ')') || !skip_statement(depth + 1)) return false;
        const size_t end = at;
        skip_blanks();
        if (keyword == "if" && word() == "else") {
            at += 4;
            return skip_statement(depth + 1);
        }
        at = end;
        return true;
    }
};

bool has_word(const std::string& text, size_t begin, size_t end, const std::string& word) {
    for (size_t i = text.find(word, begin); i < end; i = text.find(word, i + 1))
        if ((i == 0 || !is_letter(text[i - 1])) && (i + word.size() >= text.size() || !is_letter(text[i + word.size()])))
            return true;
    return false;
}

std::optional<Statement> statement_in_bare(const std::string& text, int32_t line) {
    size_t begin = 0;
    for (int32_t n = 1; n < line; ++n) {
        begin = text.find('\n', begin);
        if (begin == std::string::npos) return std::nullopt;
        ++begin;
    }
    const size_t end = std::min(text.find('\n', begin), text.size());
    for (size_t i = begin; i < end; ++i) {
        if (!is_letter(text[i]) || (i > 0 && is_letter(text[i - 1]))) continue;
        SourceReader reader{text, i};
        const std::string keyword = reader.word();
        if (keyword != "if" && keyword != "for" && keyword != "while") continue;
        if (!reader.skip_statement()) return std::nullopt;
        const auto last =
            line + static_cast<int32_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(i),
                                                   text.begin() + static_cast<std::ptrdiff_t>(reader.at), '\n'));
        return Statement{keyword, line, last, has_word(text, i, reader.at, "return"),
                         has_word(text, i, reader.at, "break") || has_word(text, i, reader.at, "continue")};
    }
    return std::nullopt;
}

}  // namespace

std::optional<Statement> statement_in(const std::string& text, int32_t line) {
    return statement_in_bare(without_comments(text), line);
}

const std::string& SourceText::text_of(const ptx::Program& program, int32_t file) {
    const auto [found, fresh] = texts_.try_emplace(file);
    if (!fresh) return found->second;
    namespace fs = std::filesystem;
    const auto number = static_cast<size_t>(file);
    const std::string name =
        number < program.files.size() && !program.files[number].empty() ? program.files[number] : program.source_file;
    if (name.empty()) return found->second;
    const fs::path beside = fs::path(program.ptx_file).parent_path();
    for (const fs::path& path : {fs::path(name), beside / name, beside / ".." / name}) {
        std::error_code error;
        if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > most_source_bytes) continue;
        const auto text = read_file(path.string());
        if (text) found->second = without_comments(text.value());
        break;
    }
    return found->second;
}

std::optional<Statement> SourceText::statement_at(const ptx::Program& program, int32_t file, int32_t line) {
    if (line <= 0) return std::nullopt;
    const std::string& text = text_of(program, file);
    return text.empty() ? std::nullopt : statement_in_bare(text, line);
}

}  // namespace lockstep::simt
