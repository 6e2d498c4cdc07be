#include "core/device/compile/source_tokens.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace lockstep::device {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

size_t end_of_raw_string(std::string_view source, size_t quote) {  // R"x( ... )x"
    const size_t open = source.find('(', quote);
    if (open == std::string_view::npos) return source.size();
    const std::string close = ")" + std::string(source.substr(quote + 1, open - quote - 1)) + "\"";
    const size_t end = source.find(close, open);
    return end == std::string_view::npos ? source.size() : end + close.size();
}

// Behind the comment that begins here; `at` itself where none does.
size_t end_of_comment(std::string_view source, size_t at) {
    const std::string_view two = source.substr(at, 2);
    if (two == "//") return std::min(source.find('\n', at), source.size());
    if (two != "/*") return at;
    const size_t end = source.find("*/", at + 2);
    return end == std::string_view::npos ? source.size() : end + 2;
}

size_t end_of_directive(std::string_view source, size_t at) {
    while (at < source.size() && source[at] != '\n') {
        if (source.substr(at, 2) == "//") return at;
        if (source.substr(at, 2) == "/*")
            at = end_of_comment(source, at);
        else if (source[at] == '\\' && at + 1 < source.size())
            at += source.substr(at + 1, 2) == "\r\n" ? 3 : 2;
        else
            ++at;
    }
    return std::min(at, source.size());
}

}  // namespace

bool in_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

size_t end_of_name(std::string_view source, size_t at) {
    while (at < source.size() && in_name(source[at])) ++at;
    return at;
}

// 1.5e-3f, 0x1p4, 1'000: a sign belongs to it behind an exponent's letter.
size_t end_of_number(std::string_view source, size_t at) {
    const bool hexadecimal = source.substr(at, 2) == "0x" || source.substr(at, 2) == "0X";
    for (++at; at < source.size(); ++at) {
        const char c = source[at], last = source[at - 1];
        const bool sign = (c == '+' || c == '-') && !hexadecimal && (last == 'e' || last == 'E');
        if (!in_name(c) && c != '.' && c != '\'' && !sign) break;
    }
    return at;
}

size_t begin_of_name(std::string_view source, size_t end) {
    while (end > 0 && in_name(source[end - 1])) --end;
    return end;
}

size_t end_of_literal(std::string_view source, size_t at) {
    const char quote = source[at];
    for (++at; at < source.size() && source[at] != '\n'; ++at) {
        if (source[at] == '\\' && at + 1 < source.size())
            ++at;
        else if (source[at] == quote)
            return at + 1;
    }
    return at;
}

bool has_name(std::string_view source, std::string_view name) {
    for (size_t at = source.find(name); at != std::string_view::npos; at = source.find(name, at + 1))
        if (begin_of_name(source, at) == at && end_of_name(source, at) == at + name.size()) return true;
    return false;
}

std::string without_comments(std::string_view source) {
    std::string text(source);
    for (size_t at = 0; at < text.size();) {
        const size_t end = end_of_comment(source, at);
        if (end == at) {
            at = text[at] == '"' || text[at] == '\'' ? end_of_literal(source, at) : at + 1;
            continue;
        }
        for (; at < end; ++at)
            if (text[at] != '\n') text[at] = ' ';
    }
    return text;
}

std::string with_plain_comments(std::string_view source) {
    std::string text(source);
    if (std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) return text;
    for (const SourceToken& token : tokens_of(source, true)) {
        if (token.kind != SourceToken::Kind::comment) continue;
        for (size_t at = token.begin; at < token.end; ++at)
            if (static_cast<unsigned char>(text[at]) >= 0x80) text[at] = '?';
    }
    return text;
}

std::vector<SourceToken> tokens_of(std::string_view source, bool with_comments) {
    std::vector<SourceToken> tokens;
    bool line_begins = true;
    for (size_t at = 0; at < source.size();) {
        const char c = source[at];
        if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == '\\') {
            line_begins |= c == '\n';
            ++at;
            continue;
        }
        const size_t behind = end_of_comment(source, at);
        if (behind != at && !with_comments) {
            at = behind;
            continue;
        }
        SourceToken token;
        token.begin = at;
        if (behind != at) {
            token.kind = SourceToken::Kind::comment;
            at = behind;
        } else if ((c == '#' || source.substr(at, 2) == "%:") && line_begins) {
            token.kind = SourceToken::Kind::directive;
            at = end_of_directive(source, at);
        } else if (is_digit(c) || (c == '.' && at + 1 < source.size() && is_digit(source[at + 1]))) {
            token.kind = SourceToken::Kind::number;
            at = end_of_number(source, at);
        } else if (in_name(c)) {
            token.kind = SourceToken::Kind::name;
            at = end_of_name(source, at);
            const std::string_view name = source.substr(token.begin, at - token.begin);
            if (at < source.size() && source[at] == '"' &&
                (name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R")) {
                token.kind = SourceToken::Kind::literal;
                at = end_of_raw_string(source, at);
            }
        } else if (c == '"' || c == '\'') {
            token.kind = SourceToken::Kind::literal;
            at = end_of_literal(source, at);
        } else {
            token.kind = SourceToken::Kind::punctuation;
            ++at;
        }
        line_begins &= token.kind == SourceToken::Kind::comment;
        token.end = at;
        token.text = source.substr(token.begin, token.end - token.begin);
        tokens.push_back(token);
    }
    return tokens;
}

std::string_view directive_name(std::string_view directive) {
    size_t at = directive.starts_with("%:") ? 2 : 1;
    while (at < directive.size() && directive[at] != '\n' && std::isspace(static_cast<unsigned char>(directive[at]))) ++at;
    size_t end = at;
    while (end < directive.size() && in_name(directive[end])) ++end;
    return directive.substr(at, end - at);
}

std::vector<SourceToken> one_branch_of(const std::vector<SourceToken>& tokens) {
    struct Open {
        bool first = true, uneven = false, never = false;
        int depth = 0;  // of braces, where the branch began
    };
    std::vector<SourceToken> kept;
    std::vector<Open> open;
    int depth = 0;
    const auto left_out = [&] {
        return std::any_of(open.begin(), open.end(), [](const Open& o) { return o.never || (!o.first && o.uneven); });
    };
    for (const SourceToken& token : tokens) {
        if (token.kind == SourceToken::Kind::directive) {
            const std::string_view name = directive_name(token.text);
            if (name == "if" || name == "ifdef" || name == "ifndef") {
                std::string_view condition = token.text.substr(token.text.find(name) + name.size());
                while (!condition.empty() && condition.front() == ' ') condition.remove_prefix(1);
                open.push_back({.never = name == "if" && condition.starts_with('0'), .depth = depth});
            } else if ((name == "else" || name == "elif") && !open.empty()) {
                Open& last = open.back();
                if (last.first) last.uneven = !last.never && depth != last.depth;
                last.first = last.first && last.never;  // behind #if 0 the #else is the first
                last.never = false;
            } else if (name == "endif" && !open.empty()) {
                open.pop_back();
            }
            kept.push_back(token);
            continue;
        }
        if (left_out()) continue;
        if (token.is("{")) ++depth;
        if (token.is("}")) --depth;
        kept.push_back(token);
    }
    return kept;
}

}  // namespace lockstep::device
