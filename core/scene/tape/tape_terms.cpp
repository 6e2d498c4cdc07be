// One function a production:
//   sum     = product { ("+" | "-") product }
//   product = power { ("*" | "/") power }
//   power   = unary [ "^" unary ]
//   unary   = "-" unary | number | name [ "(" sum { "," sum } ")" ] | "(" sum ")"
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "core/scene/tape/tape_program.h"

namespace lockstep::scene {
namespace {

constexpr int deepest_term = 64, most_term_parts = 500;
constexpr size_t longest_term = 1000;

bool starts_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

struct TermParser {
    const std::string& text;
    size_t at = 0;
    int depth = 0, parts = 0;

    [[noreturn]] void fail(const std::string& message, size_t where) const {
        throw Failure(Diagnostic{message, {"term", 1, static_cast<int>(where) + 1}, text});
    }
    void space() {
        while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    }
    bool take(char c) {
        space();
        if (at >= text.size() || text[at] != c) return false;
        ++at;
        return true;
    }
    Term made(Term term, size_t begin) {
        if (++parts > most_term_parts) fail("this term is too long", begin);
        for (size_t i = begin; i < at; ++i)
            if (text[i] != ' ' && text[i] != '\t') term.text += text[i];
        return term;
    }
    Term sign(Term::Kind kind, Term left, Term right, size_t begin) {
        Term term;
        term.kind = kind;
        term.parts.push_back(std::move(left));
        term.parts.push_back(std::move(right));
        return made(std::move(term), begin);
    }

    Term sum() {
        if (++depth > deepest_term) fail("this term is nested too deeply", at);
        space();
        const size_t begin = at;
        Term left = product();
        for (;;) {
            const bool plus = take('+'), minus = !plus && take('-');
            if (!plus && !minus) break;
            Term right = product();
            left = sign(plus ? Term::Kind::add : Term::Kind::subtract, std::move(left), std::move(right), begin);
        }
        --depth;
        return left;
    }
    Term product() {
        space();
        const size_t begin = at;
        Term left = power();
        for (;;) {
            const bool times = take('*'), over = !times && take('/');
            if (!times && !over) break;
            Term right = power();
            left = sign(times ? Term::Kind::multiply : Term::Kind::divide, std::move(left), std::move(right), begin);
        }
        return left;
    }
    Term power() {
        space();
        const size_t begin = at;
        Term base = unary();
        if (!take('^')) return base;
        Term exponent = unary();
        return sign(Term::Kind::power, std::move(base), std::move(exponent), begin);
    }
    Term unary() {
        space();
        const size_t begin = at;
        if (at >= text.size()) fail("a number or a name is missing at the end", at);
        if (++depth > deepest_term) fail("this term is nested too deeply", at);
        Term term;
        if (take('-')) {
            term.kind = Term::Kind::negate;
            term.parts.push_back(unary());
        } else if (take('(')) {
            term = sum();
            if (!take(')')) fail("')' is missing", at);
            --depth;
            return term;
        } else if ((text[at] >= '0' && text[at] <= '9') || text[at] == '.') {
            const auto [rest, error] = std::from_chars(text.data() + at, text.data() + text.size(), term.number);
            if (error != std::errc{} || !std::isfinite(term.number)) fail("this is not a number", at);
            at = static_cast<size_t>(rest - text.data());
        } else if (starts_name(text[at])) {
            while (at < text.size() && (starts_name(text[at]) || (text[at] >= '0' && text[at] <= '9')))
                term.name += text[at++];
            term.kind = Term::Kind::name;
            if (take('(')) {
                term.kind = Term::Kind::call;
                do term.parts.push_back(sum());
                while (take(','));
                if (!take(')')) fail(fmt::format("')' is missing behind what {} takes", term.name), at);
            }
        } else {
            fail(fmt::format("unexpected '{}': a number or a name is needed here", text[at]), at);
        }
        --depth;
        return made(std::move(term), begin);
    }
};

}  // namespace

Result<Term> parse_term(const std::string& text) {
    try {
        if (text.size() > longest_term) return Diagnostic{"this term is too long", {"term", 1, 1}};
        TermParser parser{text};
        Term term = parser.sum();
        parser.space();
        if (parser.at != text.size()) parser.fail(fmt::format("unexpected '{}'", text.substr(parser.at)), parser.at);
        return term;
    } catch (const Failure& failure) {
        return failure.diagnostic;
    }
}

}  // namespace lockstep::scene
