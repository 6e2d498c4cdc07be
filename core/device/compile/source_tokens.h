// CUDA C++ source cut into tokens, as far as its outline needs them: names, punctuation, literals, directives.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

namespace lockstep::device {

struct SourceToken {
    enum class Kind { name, number, literal, punctuation, directive };  // punctuation: one character each
    Kind kind = Kind::name;
    size_t begin = 0, end = 0;  // in the source
    std::string_view text;      // of a directive: the whole line, lines that continue it included

    bool is(std::string_view t) const { return text == t && kind != Kind::literal; }
};

// Comments are left out.
std::vector<SourceToken> tokens_of(std::string_view source);

// The same where of #if ... #else ... #endif with braces that do not match within the branches only the first branch is
// left, and nothing of what stands behind #if 0.
std::vector<SourceToken> one_branch_of(const std::vector<SourceToken>& tokens);

// "include" of "  # include <vector>".
std::string_view directive_name(std::string_view directive);

}  // namespace lockstep::device
