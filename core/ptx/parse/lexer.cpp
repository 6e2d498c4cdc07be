// blanks   := space | "//" to the end of the line | "/*" ... "*/" | "#" at the start of a line, to its end
// word     := [A-Za-z_$%.] [A-Za-z0-9_$%.]*      and "::" inside a word that has a dot
// integer  := 0x... | 0b... | 0... (octal) | decimal, each with an optional U
// real     := 0f + 8 hex digits | 0d + 16 hex digits | decimal with a point or an exponent
#include "core/ptx/parse/lexer.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"

namespace lockstep::ptx {
namespace {

bool letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}
bool digit(char c) {
    return c >= '0' && c <= '9';
}
bool hex_digit(char c) {
    return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

void Lexer::skip_blanks() {
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (c == '\n') {
            ++at_;
            ++line_;
            line_start_ = at_;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' || c == '\0') {
            ++at_;
        } else if (text_.substr(at_, 2) == "//" || (c == '#' && at_ == line_start_)) {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (text_.substr(at_, 2) == "/*") {
            const size_t end = text_.find("*/", at_ + 2);
            if (end == std::string_view::npos)
                throw Complaint{"this comment has no end", {line_, static_cast<int>(at_ - line_start_) + 1}};
            for (size_t i = at_; i < end; ++i)
                if (text_[i] == '\n') {
                    ++line_;
                    line_start_ = i + 1;
                }
            at_ = end + 2;
        } else {
            return;
        }
    }
}

Token Lexer::number(Token token) {
    size_t end = at_;
    const char kind = at_ + 1 < text_.size() && text_[at_] == '0' ? text_[at_ + 1] : '\0';
    const size_t hex_digits = kind == 'f' || kind == 'F' ? 8 : kind == 'd' || kind == 'D' ? 16 : 0;
    const char* first = text_.data() + at_;
    const char* last = text_.data() + text_.size();
    if (hex_digits) {
        token.kind = Token::Kind::real;
        const auto [stop, error] = std::from_chars(first + 2, std::min(last, first + 2 + hex_digits), token.value, 16);
        if (static_cast<size_t>(stop - first) != 2 + hex_digits)
            throw Complaint{"a hexadecimal " + std::string(hex_digits == 8 ? "float" : "double") + " needs " +
                                std::to_string(hex_digits) + " digits after " + std::string(text_.substr(at_, 2)),
                            token.place};
        if (hex_digits == 8) {
            token.single = true;
            token.value =
                std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(token.value))));
            uint32_t bits = 0;
            std::from_chars(first + 2, first + 10, bits, 16);
            if ((bits & 0x7fffffffu) > 0x7f800000u)  // a NaN keeps its payload where a float can hold it
                token.value = uint64_t{bits >> 31} << 63 | 0x7ffull << 52 | uint64_t{bits & 0x7fffffu} << 29;
        }
        end = at_ + 2 + hex_digits;
    } else {
        const int base = kind == 'x' || kind == 'X' ? 16 : kind == 'b' || kind == 'B' ? 2 : digit(kind) ? 8 : 10;
        size_t digits_end = at_;
        while (digits_end < text_.size() && digit(text_[digits_end])) ++digits_end;
        const bool real = base != 16 && base != 2 && digits_end < text_.size() &&
                          (text_[digits_end] == '.' || text_[digits_end] == 'e' || text_[digits_end] == 'E');
        if (real) {
            double value = 0;
            const auto [stop, error] = std::from_chars(first, last, value);
            token.kind = Token::Kind::real;
            token.value = std::bit_cast<uint64_t>(value);
            end = static_cast<size_t>(stop - text_.data());
        } else {
            token.kind = Token::Kind::integer;
            const char* start = base == 16 || base == 2 ? first + 2 : first;
            const auto [stop, error] = std::from_chars(start, last, token.value, base);
            if (stop == start) throw Complaint{"this number has no digits", token.place};
            if (error == std::errc::result_out_of_range) throw Complaint{"this number needs more than 64 bits", token.place};
            end = static_cast<size_t>(stop - text_.data());
            if (end < text_.size() && text_[end] == 'U') ++end;
        }
    }
    if (end < text_.size() && (letter(text_[end]) || hex_digit(text_[end])))
        throw Complaint{"this number ends in '" + std::string(1, text_[end]) + "'", token.place};
    token.spelling = text_.substr(at_, end - at_);
    at_ = end;
    return token;
}

Token Lexer::next() {
    skip_blanks();
    Token token;
    token.offset = at_;
    token.place = {line_, static_cast<int>(at_ - line_start_) + 1};
    if (at_ >= text_.size()) return token;
    const char c = text_[at_];
    if (digit(c)) return number(token);
    if (c == '"') {
        const size_t end = text_.find_first_of("\"\n", at_ + 1);
        if (end == std::string_view::npos || text_[end] == '\n') throw Complaint{"this string has no end", token.place};
        token.kind = Token::Kind::text;
        token.spelling = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        return token;
    }
    if (letter(c) || c == '.') {
        size_t end = at_ + 1;
        bool dotted = c == '.';
        while (end < text_.size()) {
            if (letter(text_[end]) || digit(text_[end])) {
                ++end;
            } else if (text_[end] == '.') {
                dotted = true;
                ++end;
            } else if (dotted && text_.substr(end, 2) == "::") {
                end += 2;
            } else {
                break;
            }
        }
        token.kind = Token::Kind::word;
        token.spelling = text_.substr(at_, end - at_);
        at_ = end;
        return token;
    }
    if (std::string_view(";:,{}[]()<>@!|+-=~*").find(c) == std::string_view::npos) {
        const bool printable = c > ' ' && c < 127;
        throw Complaint{printable ? "'" + std::string(1, c) + "' has no meaning in PTX" : "this byte has no meaning in PTX",
                        token.place};
    }
    token.kind = Token::Kind::mark;
    token.spelling = text_.substr(at_, 1);
    ++at_;
    return token;
}

Diagnostic diagnostic_of(const Complaint& complaint, const std::string& text, const std::string& file) {
    return Diagnostic{.message = complaint.message,
                      .where = {file, complaint.place.line, complaint.place.column},
                      .source_line = line_of(text, complaint.place.line)};
}

std::string did_you_mean(std::string_view written, const std::vector<std::string_view>& candidates) {
    if (written.size() > 64) return {};  // nobody mistypes that, and strangers' text must not take long
    std::vector<std::string> known;
    for (const std::string_view candidate : candidates)
        if (!candidate.empty() && candidate.size() <= 64) known.emplace_back(candidate);
    return lockstep::did_you_mean(written, known, "");
}

}  // namespace lockstep::ptx
