// The words of CUDA C++ are listed; of PTX, where a word stands says what it is.
#include "app/gui/widgets/code_colours.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace lockstep::gui {

namespace {

constexpr std::array<std::string_view, 43> keywords = {"alignas",
                                                       "asm",
                                                       "auto",
                                                       "break",
                                                       "case",
                                                       "class",
                                                       "const",
                                                       "constexpr",
                                                       "const_cast",
                                                       "continue",
                                                       "default",
                                                       "delete",
                                                       "do",
                                                       "else",
                                                       "enum",
                                                       "extern",
                                                       "false",
                                                       "for",
                                                       "goto",
                                                       "if",
                                                       "inline",
                                                       "namespace",
                                                       "new",
                                                       "nullptr",
                                                       "operator",
                                                       "private",
                                                       "public",
                                                       "register",
                                                       "reinterpret_cast",
                                                       "return",
                                                       "sizeof",
                                                       "static",
                                                       "static_assert",
                                                       "static_cast",
                                                       "struct",
                                                       "switch",
                                                       "template",
                                                       "true",
                                                       "typedef",
                                                       "typename",
                                                       "union",
                                                       "using",
                                                       "while"};
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

}  // namespace

uint8_t colour_line(std::string_view line, bool ptx, uint8_t state, std::vector<ColouredWord>& words, bool program) {
    size_t i = 0;
    const auto add = [&](size_t end, WordKind kind) {
        if (kind != WordKind::plain && end > i) words.push_back({i, end, kind});
        i = end;
    };
    const auto comment = [&](size_t from) {
        const size_t close = line.find("*/", from);
        state = close == std::string_view::npos ? 1 : 0;
        add(close == std::string_view::npos ? line.size() : close + 2, WordKind::comment);
    };
    if (state == 1) comment(0);
    const size_t first = line.find_first_not_of(" \t");
    while (i < line.size()) {
        const char c = line[i];
        if (program && c == '#') {
            add(line.size(), WordKind::comment);
        } else if (program && is_letter(c) && i == first) {
            size_t end = i + 1;
            while (end < line.size() && (is_letter(line[end]) || is_digit(line[end]))) ++end;
            add(end, is_in(program_verbs, line.substr(i, end - i)) ? WordKind::keyword : WordKind::plain);
        } else if (line.substr(i, 2) == "//") {
            add(line.size(), WordKind::comment);
        } else if (line.substr(i, 2) == "/*") {
            comment(i + 2);
        } else if (c == '"' || (c == '\'' && !ptx)) {
            size_t end = i + 1;
            while (end < line.size() && line[end] != c) end += line[end] == '\\' ? 2 : 1;
            add(std::min(end + 1, line.size()), WordKind::string);
        } else if (c == '#' && i == first && !ptx) {
            size_t end = i + 1;
            while (end < line.size() && (is_letter(line[end]) || line[end] == ' ')) ++end;
            add(end, WordKind::directive);
        } else if (is_digit(c) || (c == '.' && i + 1 < line.size() && is_digit(line[i + 1]) && !ptx)) {
            size_t end = i + 1;
            while (end < line.size() && (is_letter(line[end]) || is_digit(line[end]) || line[end] == '.' ||
                                         ((line[end] == '+' || line[end] == '-') &&
                                          (line[end - 1] == 'e' || line[end - 1] == 'E') && line.substr(i, 2) != "0x")))
                ++end;
            add(end, WordKind::number);
        } else if (ptx && (c == '%' || c == '$')) {
            size_t end = i + 1;
            while (end < line.size() && (is_letter(line[end]) || is_digit(line[end]) || line[end] == '$')) ++end;
            add(end, c == '$' ? WordKind::directive : WordKind::type);
        } else if (ptx && c == '.' && i == first) {
            size_t end = i + 1;
            while (end < line.size() && is_letter(line[end])) ++end;
            add(end, WordKind::qualifier);
        } else if (is_letter(c)) {
            size_t end = i + 1;
            while (end < line.size() && (is_letter(line[end]) || is_digit(line[end]) || (ptx && line[end] == '.'))) ++end;
            const std::string_view word = line.substr(i, end - i);
            add(end, ptx ? (i == first || (first != std::string_view::npos && line[first] == '@') ? WordKind::keyword
                                                                                                  : WordKind::plain)
                         : kind_of(word));
        } else {
            ++i;
        }
    }
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
