// The one scanner of CUDA C++ text: source cut into tokens, as far as its outline needs them (names, punctuation, literals,
// directives), and the ends of names, literals and comments for whoever walks over the text itself.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::device {

struct SourceToken {
    enum class Kind { name, number, literal, punctuation, directive, comment };  // punctuation: one character each
    Kind kind = Kind::name;
    size_t begin = 0, end = 0;  // in the source
    std::string_view text;      // of a directive: the whole line, lines that continue it included

    bool is(std::string_view t) const { return text == t && kind != Kind::literal; }
};

std::vector<SourceToken> tokens_of(std::string_view source, bool with_comments = false);

bool in_name(char c);                                    // letters, digits, '_' and '$'
size_t end_of_name(std::string_view source, size_t at);  // behind the name that begins here
size_t end_of_number(std::string_view source, size_t at);
size_t begin_of_name(std::string_view source, size_t end);      // of the name that ends in front of `end`; `end`: none does
size_t end_of_literal(std::string_view source, size_t at);      // behind the closing quote, or the end of the line
bool has_name(std::string_view source, std::string_view name);  // as a name of its own
std::string without_comments(std::string_view source);          // blanks in their place: of the same length
// '?' for each byte of a comment that is not ASCII: compilers take some, in texts of older encodings, for the text's end.
std::string with_plain_comments(std::string_view source);

// The same where of #if ... #else ... #endif with braces that do not match within the branches only the first branch is
// left, and nothing of what stands behind #if 0.
std::vector<SourceToken> one_branch_of(const std::vector<SourceToken>& tokens);

// "include" of "  # include <vector>".
std::string_view directive_name(std::string_view directive);

}  // namespace lockstep::device
