// The words of CUDA C++ are listed; of PTX, where a word stands says what it is.
#include "app/gui/widgets/code_colours.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/device/compile/source_tokens.h"

namespace lockstep::gui {

namespace {

// clang-format off
constexpr std::array<std::string_view, 43> keywords = {
    "alignas", "asm", "auto", "break", "case", "class", "const", "constexpr", "const_cast", "continue", "default", "delete",
    "do", "else", "enum", "extern", "false", "for", "goto", "if", "inline", "namespace", "new", "nullptr", "operator",
    "private", "public", "register", "reinterpret_cast", "return", "sizeof", "static", "static_assert", "static_cast",
    "struct", "switch", "template", "true", "typedef", "typename", "union", "using", "while"};
// clang-format on
constexpr std::array<std::string_view, 11> intrinsics = {
    "__all_sync",      "__any_sync",    "__ballot_sync", "__shfl_down_sync", "__shfl_sync",        "__shfl_up_sync",
    "__shfl_xor_sync", "__syncthreads", "__syncwarp",    "__threadfence",    "__threadfence_block"};
constexpr std::array<std::string_view, 20> types = {
    "bool",   "char", "dim3",  "double", "float",  "half",     "int",      "int16_t",  "int32_t", "int64_t",
    "int8_t", "long", "short", "signed", "size_t", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "unsigned"};
constexpr std::array<std::string_view, 5> places = {"blockDim", "blockIdx", "gridDim", "threadIdx", "warpSize"};

constexpr std::array<std::string_view, 30> program_verbs = {
    "backward", "connections", "d2d",  "d2h",   "dtype", "end",     "event", "for",    "free", "gradcheck",
    "h2d",      "hessian",     "hook", "host",  "input", "kernels", "label", "launch", "let",  "link",
    "malloc",   "mode",        "op",   "param", "save",  "steps",   "sync",  "update", "wait", "work"};

template <size_t n>
bool is_in(const std::array<std::string_view, n>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_letter(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

WordKind kind_of(std::string_view word) {
    if (word.starts_with("__") && word.ends_with("__")) return WordKind::qualifier;  // __global__, __shared__ ...
    if (word == "void" || is_in(types, word)) return WordKind::type;
    if (is_in(keywords, word)) return WordKind::keyword;
    if (is_in(places, word) || is_in(intrinsics, word)) return WordKind::qualifier;
    // float4, uint2, half2
    if (word.size() > 3 && word.back() >= '1' && word.back() <= '4' &&
        (is_in(types, word.substr(0, word.size() - 1)) || word.starts_with("uint") || word.starts_with("uchar")) &&
        word.find('_') == std::string_view::npos)
        return WordKind::type;
    return WordKind::plain;
}

// CUDA C++: words from `from` on; returns whether a block comment is open behind them.
bool colour_source(std::string_view line, size_t from, std::vector<ColouredWord>& words) {
    using Kind = device::SourceToken::Kind;
    bool open = false;
    for (const device::SourceToken& token : device::tokens_of(line.substr(from), true)) {
        const size_t begin = from + token.begin;
        if (token.kind == Kind::directive) {  // its name, and the rest as code
            size_t end = begin + 1;
            while (end < line.size() && (is_letter(line[end]) || line[end] == ' ')) ++end;
            words.push_back({begin, end, WordKind::directive});
            open = colour_source(line, std::min(line.find_first_not_of('#', end), line.size()), words);
            continue;
        }
        const WordKind kind = token.kind == Kind::comment   ? WordKind::comment
                              : token.kind == Kind::literal ? WordKind::string
                              : token.kind == Kind::number  ? WordKind::number
                              : token.kind == Kind::name    ? kind_of(token.text)
                                                            : WordKind::plain;
        if (kind != WordKind::plain) words.push_back({begin, from + token.end, kind});
        open = token.text.starts_with("/*") && (token.text.size() < 4 || !token.text.ends_with("*/"));
    }
    return open;
}

// PTX, and host and tensor programs.
struct OtherColours {
    std::string_view line;
    bool ptx;
    size_t first;  // the first sign of the line

    bool begins_comment(size_t i) const { return (!ptx && line[i] == '#') || line.substr(i, 2) == "//"; }
    bool begins_string(size_t i) const { return line[i] == '"' || (line[i] == '\'' && !ptx); }
    bool begins_number(size_t i) const {
        return is_digit(line[i]) || (line[i] == '.' && !ptx && i + 1 < line.size() && is_digit(line[i + 1]));
    }
    size_t end_of_word(size_t i, std::string_view more) const {
        size_t end = i + 1;
        while (end < line.size() && (is_letter(line[end]) || is_digit(line[end]) || more.find(line[end]) != more.npos))
            ++end;
        return end;
    }
    WordKind kind_of_word(size_t i, std::string_view word) const {
        if (ptx) return i == first || line[first] == '@' ? WordKind::keyword : WordKind::plain;
        if (i == first) return is_in(program_verbs, word) ? WordKind::keyword : WordKind::plain;
        return kind_of(word);
    }

    // The word at i; a comment of several lines is the state of the next one.
    ColouredWord word_at(size_t i, uint8_t& state) const {
        if (begins_comment(i)) return {i, line.size(), WordKind::comment};
        if (line.substr(i, 2) == "/*") {
            const size_t close = line.find("*/", i + 2);
            state = close == std::string_view::npos;
            return {i, state ? line.size() : close + 2, WordKind::comment};
        }
        if (begins_string(i)) return {i, device::end_of_literal(line, i), WordKind::string};
        if (begins_number(i)) return {i, device::end_of_number(line, i), WordKind::number};
        if (ptx && line[i] == '$') return {i, end_of_word(i, "$"), WordKind::directive};
        if (ptx && line[i] == '%') return {i, end_of_word(i, "$"), WordKind::type};
        if (ptx && line[i] == '.' && i == first) return {i, end_of_word(i, ""), WordKind::qualifier};
        if (!is_letter(line[i])) return {i, i + 1, WordKind::plain};
        const size_t end = end_of_word(i, ptx ? "." : "");
        return {i, end, kind_of_word(i, line.substr(i, end - i))};
    }
};

void colour_other(std::string_view line, bool ptx, size_t i, std::vector<ColouredWord>& words, uint8_t& state) {
    const OtherColours colours{line, ptx, line.find_first_not_of(" \t")};
    while (i < line.size()) {
        const ColouredWord word = colours.word_at(i, state);
        if (word.kind != WordKind::plain && word.end > i) words.push_back(word);
        i = word.end;
    }
}

}  // namespace

uint8_t colour_line(std::string_view line, bool ptx, uint8_t state, std::vector<ColouredWord>& words, bool program) {
    size_t from = 0;
    if (state == 1) {
        const size_t close = line.find("*/");
        state = close == std::string_view::npos;
        from = state ? line.size() : close + 2;
        if (from > 0) words.push_back({0, from, WordKind::comment});
    }
    if (!ptx && !program) return colour_source(line, from, words) || state;
    colour_other(line, ptx, from, words, state);
    return state;
}

Color color_of(WordKind kind, const Theme& theme) {
    switch (kind) {
        case WordKind::keyword:
        case WordKind::qualifier:
            return theme.keyword;
        case WordKind::type:
            return theme.accent;
        case WordKind::number:
            return theme.right;
        case WordKind::string:
            return theme.dark ? data::orange : rgb(0x8A5A00);
        case WordKind::comment:
            return theme.quiet;
        case WordKind::directive:
            return theme.ink2;
        case WordKind::plain:
            break;
    }
    return theme.ink;
}

bool is_bold(WordKind kind) {
    return kind == WordKind::qualifier;
}

}  // namespace lockstep::gui
