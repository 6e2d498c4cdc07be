// definition = ("struct" | "class") NAME "{" { member } "}"  |  "typedef" "struct" [ NAME ] "{" { member } "}" NAME
// member     = type declarator { "," declarator } ";"
// declarator = { "*" } NAME { "[" number "]" }
#include "core/scene/arguments/struct_members.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include "core/scene/arguments/kernel_source.h"

namespace lockstep::scene {

namespace {

constexpr int deepest_struct = 4;

struct Layout {
    uint32_t bytes = 0, align = 1;
    std::vector<simt::ParameterName::Member> members;  // of a struct
};

bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// "float", "unsigned long long", "double2"; none for others.
std::optional<Layout> layout_of_number(const std::string& type) {
    static const std::map<std::string, uint32_t, std::less<>> sizes = {
        {"char", 1},           {"bool", 1},         {"signed char", 1},   {"unsigned char", 1},
        {"uchar", 1},          {"int8_t", 1},       {"uint8_t", 1},       {"short", 2},
        {"unsigned short", 2}, {"ushort", 2},       {"int16_t", 2},       {"uint16_t", 2},
        {"half", 2},           {"__half", 2},       {"__nv_bfloat16", 2}, {"int", 4},
        {"unsigned", 4},       {"unsigned int", 4}, {"uint", 4},          {"int32_t", 4},
        {"uint32_t", 4},       {"float", 4},        {"long", 8},          {"unsigned long", 8},
        {"long long", 8},      {"int64_t", 8},      {"uint64_t", 8},      {"unsigned long long", 8},
        {"size_t", 8},         {"double", 8},       {"ptrdiff_t", 8}};
    if (const auto found = sizes.find(type); found != sizes.end()) return Layout{found->second, found->second, {}};
    if (type == "dim3") return Layout{12, 4, {}};
    if (type.size() < 2 || type.back() < '2' || type.back() > '4') return std::nullopt;
    static const std::map<std::string, uint32_t, std::less<>> of_vectors = {
        {"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"int", 4}, {"uint", 4}, {"float", 4}, {"double", 8}};
    const auto element = of_vectors.find(type.substr(0, type.size() - 1));
    if (element == of_vectors.end()) return std::nullopt;
    const auto count = static_cast<uint32_t>(type.back() - '0');
    const uint32_t bytes = element->second * count;
    return Layout{bytes, count == 3 ? element->second : std::min(16u, bytes), {}};
}

// What stands between the braces of a struct's definition.
std::optional<std::string> body_of(const std::string& text, const std::string& type) {
    for (const char* const word : {"struct", "class"}) {
        const std::string_view key = word;
        for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
            if ((at > 0 && is_word(text[at - 1])) || is_word(text[at + key.size()])) continue;
            const size_t open = text.find_first_of("{;()", at);
            if (open == std::string::npos || text[open] != '{') continue;
            size_t close = open;
            for (int depth = 0; close < text.size(); ++close) {
                if (text[close] == '{') ++depth;
                if (text[close] == '}' && --depth == 0) break;
            }
            if (close == text.size()) continue;
            std::istringstream head(text.substr(at + key.size(), open - at - key.size()));
            std::string name, rest;
            while (head >> name && (name.starts_with("__align__") || name.starts_with("alignas"))) {
            }
            if (head >> rest) continue;  // a base, or an attribute
            const size_t behind = text.find_first_not_of(" \t\r\n", close + 1);
            size_t end = behind;
            while (end != std::string::npos && end < text.size() && is_word(text[end])) ++end;
            const bool alias = behind != std::string::npos && text.substr(behind, end - behind) == type;
            if (name == type || alias) return text.substr(open + 1, close - open - 1);
        }
    }
    return std::nullopt;
}

std::optional<Layout> layout_of(const std::string& text, const std::string& type, int depth);

// One declaration of members, "float *x, y[4]", added to the struct; false where it is not understood.
bool add_members(const std::string& text, std::string declaration, Layout& whole, int depth) {
    for (const std::string_view left_out : {"const ", "volatile ", "__restrict__", "struct ", "public:", "private:"})
        for (size_t at = declaration.find(left_out); at != std::string::npos; at = declaration.find(left_out))
            declaration.replace(at, left_out.size(), " ");
    if (declaration.find_first_not_of(" \t\r\n") == std::string::npos) return true;
    if (declaration.find_first_of(":<>(){}=") != std::string::npos) return false;
    const size_t comma = declaration.find(','), first_end = std::min(comma, declaration.find('['));
    size_t name_end = std::min(first_end, declaration.size());
    while (name_end > 0 && !is_word(declaration[name_end - 1])) --name_end;
    size_t name_begin = name_end;
    while (name_begin > 0 && is_word(declaration[name_begin - 1])) --name_begin;
    std::string type;
    std::istringstream words(declaration.substr(0, std::min(name_begin, declaration.find('*'))));
    for (std::string word; words >> word;) type += (type.empty() ? "" : " ") + word;
    std::istringstream declarators(declaration.substr(std::min(name_begin, declaration.find('*'))));
    for (std::string part; std::getline(declarators, part, ',');) {
        const bool pointer = part.find('*') != std::string::npos;
        const std::optional<Layout> one = pointer ? Layout{8, 8, {}} : layout_of(text, type, depth - 1);
        if (!one) return false;
        std::string name;
        size_t at = 0;
        for (; at < part.size() && part[at] != '['; ++at)
            if (is_word(part[at])) name += part[at];
        uint32_t count = 1;
        for (; at < part.size() && part[at] == '['; at = part.find('[', at + 1)) {
            uint32_t extent = 0;
            const char* const begin = part.data() + at + 1;
            const auto [end, error] = std::from_chars(begin, part.data() + part.size(), extent);
            if (error != std::errc() || end == part.data() + part.size() || *end != ']') return false;
            count *= extent;
        }
        if (name.empty()) return false;
        whole.bytes = (whole.bytes + one->align - 1) / one->align * one->align;
        whole.align = std::max(whole.align, one->align);
        if (one->members.empty()) whole.members.push_back({whole.bytes, name});
        for (const auto& member : one->members) whole.members.push_back({whole.bytes + member.at, name + "." + member.name});
        whole.bytes += one->bytes * count;
    }
    return true;
}

std::optional<Layout> layout_of(const std::string& text, const std::string& type, int depth) {
    if (auto number = layout_of_number(type)) return number;
    if (depth == 0) return std::nullopt;
    const std::optional<std::string> body = body_of(text, type);
    if (!body) return std::nullopt;
    Layout whole;
    std::string declaration;
    int inside = 0;  // braces of methods
    for (const char c : *body) {
        if (c == '{') ++inside;
        if (inside == 0 && c != ';') declaration += c;
        const bool method_ends = c == '}' && --inside == 0;
        if (method_ends || (c == ';' && inside == 0)) {
            const bool method = declaration.find('(') != std::string::npos;
            if (method_ends && !method) return std::nullopt;
            if (!method && !add_members(text, declaration, whole, depth)) return std::nullopt;
            declaration.clear();
        }
    }
    whole.bytes = (whole.bytes + whole.align - 1) / whole.align * whole.align;
    return whole;
}

// "Matrix" of "const Matrix A"; "" of a pointer or a reference.
std::string type_of(const std::string& declaration) {
    if (declaration.find_first_of("*&<[") != std::string::npos) return {};
    std::istringstream words(declaration);
    std::vector<std::string> kept;
    for (std::string word; words >> word;)
        if (word != "const" && word != "struct" && word != "__grid_constant__") kept.push_back(word);
    std::string type;
    for (size_t k = 0; k + 1 < kept.size(); ++k) type += (k ? " " : "") + kept[k];
    return type;
}

}  // namespace

std::vector<simt::ParameterName::Member> struct_members(const std::string& text, const std::string& type) {
    if (type.empty() || layout_of_number(type)) return {};
    const std::optional<Layout> layout = layout_of(text, type, deepest_struct);
    return layout ? layout->members : std::vector<simt::ParameterName::Member>();
}

std::vector<simt::ParameterName> named_parameters(const std::string& source, const std::string& kernel) {
    std::vector<simt::ParameterName> found;
    const std::vector<std::string> names = parameter_names(source, kernel);
    const std::vector<std::string> declarations = parameter_declarations(source, kernel);
    std::string plain;
    for (size_t i = 0; i < names.size(); ++i) {
        simt::ParameterName parameter{names[i], {}};
        const std::string type = i < declarations.size() ? type_of(declarations[i]) : std::string();
        if (!type.empty() && !layout_of_number(type)) {
            if (plain.empty()) plain = without_macros(source);
            parameter.members = struct_members(plain, type);
        }
        found.push_back(std::move(parameter));
    }
    return found;
}

}  // namespace lockstep::scene
