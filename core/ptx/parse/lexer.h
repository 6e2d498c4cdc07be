// Text -> tokens, one at a time. A dotted spelling is one word: "mad.lo.s32", ".visible", "%tid.x", "ld.global.L2::128B".
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/ptx/parse/module.h"

namespace lockstep::ptx {

struct Token {
    enum class Kind { word, integer, real, text, mark, end };  // mark: one character of punctuation
    Kind kind = Kind::end;
    std::string_view spelling;  // of a text: without the quotes
    uint64_t value = 0;         // integer; real: bits of a double
    bool single = false;        // real: 0f...
    size_t offset = 0;          // in the text
    Place place;

    bool is(char mark) const { return kind == Kind::mark && spelling[0] == mark; }
    bool is(std::string_view word) const { return kind == Kind::word && spelling == word; }
};

class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text) {}
    Token next();                                        // throws Complaint
    void back(size_t characters) { at_ -= characters; }  // to read the end of a word again

  private:
    void skip_blanks();
    Token number(Token token);

    std::string_view text_;
    size_t at_ = 0;
    int line_ = 1;
    size_t line_start_ = 0;
};

// What is wrong and where; parse and decode turn it into a Diagnostic with the file's name and the line.
struct Complaint {
    std::string message;
    Place place;
};

Diagnostic diagnostic_of(const Complaint& complaint, const std::string& text, const std::string& file);

// ", did you mean 'x'?" for the nearest of the candidates, or nothing when none is near.
std::string did_you_mean(std::string_view written, const std::vector<std::string_view>& candidates);

}  // namespace lockstep::ptx
