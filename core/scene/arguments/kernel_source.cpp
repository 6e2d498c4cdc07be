// A small preprocessor (defines, arguments, #, ##, of conditions only #if 0, no headers) and a search for `__global__ void
// NAME(...)`.
#include "core/scene/arguments/kernel_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <string_view>

#include "core/device/compile/source_tokens.h"
#include "core/ptx/ptx.h"

namespace lockstep::scene {
namespace {

using device::begin_of_name;
using device::end_of_literal;
using device::end_of_name;
using device::in_name;
using device::without_comments;

constexpr size_t most_expanded = 1 << 20;  // bytes; macros can double themselves

std::string stripped(std::string_view text) {
    const size_t first = text.find_first_not_of(" \t\n\r");
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(" \t\n\r") + 1 - first));
}

// The parts between the bracket at `open` and its partner, cut at the commas that stand in no other bracket; `end`: behind
// the partner, or npos.
std::vector<std::string> parts(std::string_view text, size_t open, size_t& end, bool angles) {
    std::vector<std::string> found(1);
    int depth = 0;
    for (size_t i = open; i < text.size();) {
        const char c = text[i];
        if (c == '"' || c == '\'') {
            const size_t to = end_of_literal(text, i);
            found.back() += text.substr(i, to - i);
            i = to;
            continue;
        }
        depth += c == '(' || c == '[' || c == '{' || (angles && c == '<')   ? 1
                 : c == ')' || c == ']' || c == '}' || (angles && c == '>') ? -1
                                                                            : 0;
        if (depth == 0) {
            end = i + 1;
            for (std::string& one : found) one = stripped(one);
            if (found.size() == 1 && found[0].empty()) found.clear();
            return found;
        }
        if (c == ',' && depth == 1)
            found.emplace_back();
        else if (i > open)
            found.back() += c;
        ++i;
    }
    end = std::string_view::npos;
    return {};
}

struct Macro {
    bool takes_arguments = false;
    std::map<std::string, size_t, std::less<>> names;  // of its arguments, by their place
    size_t first_of_rest = std::string::npos;          // the place of "..."
    std::string body;
};
using Macros = std::map<std::string, Macro, std::less<>>;

void define(Macros& macros, std::string_view line) {  // what stands behind #define
    const size_t end = end_of_name(line, 0);
    if (end == 0) return;
    Macro made;
    size_t body = end;
    if (end < line.size() && line[end] == '(') {
        made.takes_arguments = true;
        const std::vector<std::string> names = parts(line, end, body, false);
        if (body == std::string_view::npos) return;
        for (size_t i = 0; i < names.size(); ++i) made.names.emplace(names[i], i);
        if (!names.empty() && names.back().ends_with("...")) made.first_of_rest = names.size() - 1;
    }
    made.body = stripped(line.substr(body));
    macros[std::string(line.substr(0, end))] = std::move(made);
}

// Puts macros into a text. What that costs is bounded for the whole text: macros can call each other four times each, or
// read the same argument again and again. Beyond the bounds words stay as they are.
class Expander {
  public:
    Macros macros;

    std::string expand(std::string_view text) { return expand(text, nullptr, 0); }

  private:
    struct Within {  // the macros whose bodies these are; none stands in its own
        std::string_view name;
        const Within* outer;
        size_t depth;
        static bool has(const Within* one, std::string_view name) {
            for (; one != nullptr; one = one->outer)
                if (one->name == name) return true;
            return false;
        }
    };
    static constexpr size_t deepest = 32;  // macros within macros, and arguments within arguments

    // Whether there is enough left to look at so many characters.
    bool afford(size_t characters) {
        if (characters > characters_left_) characters_left_ = expansions_left_ = 0;
        characters_left_ -= std::min(characters, characters_left_);
        return expansions_left_ > 0;
    }

    // The macro's body with the arguments in their places.
    std::string filled(const Macro& macro, const std::vector<std::string>& arguments, const Within* within, size_t nested) {
        static const std::string nothing;
        const auto argument = [&](std::string_view name) -> const std::string* {
            const auto found = macro.names.find(name);
            if (found == macro.names.end()) return nullptr;
            return found->second < arguments.size() ? &arguments[found->second] : &nothing;
        };
        std::string rest;  // of "...": arguments behind the named ones
        for (size_t i = macro.first_of_rest; i < arguments.size(); ++i) rest += (rest.empty() ? "" : ", ") + arguments[i];
        std::string out;
        const std::string_view body = macro.body;
        if (!afford(body.size())) return std::string(body);
        bool paste = false;  // the last token was ##
        for (size_t i = 0; i < body.size() && out.size() < most_expanded;) {
            if (body.substr(i).starts_with("##")) {
                while (!out.empty() && std::isspace(static_cast<unsigned char>(out.back()))) out.pop_back();
                i = std::min(body.find_first_not_of(" \t\n", i + 2), body.size());
                paste = true;
                continue;
            }
            if (body[i] == '"' || body[i] == '\'') {
                const size_t to = end_of_literal(body, i);
                out += body.substr(i, to - i);
                i = to;
            } else if (in_name(body[i])) {
                const size_t to = end_of_name(body, i);
                const std::string_view word = body.substr(i, to - i);
                const std::string* given = word == "__VA_ARGS__" ? &rest : argument(word);
                const size_t next = body.find_first_not_of(" \t\n", to);
                const bool joined = paste || (next != std::string_view::npos && body.substr(next).starts_with("##"));
                if (!out.empty() && out.back() == '#') {
                    if (given) out.pop_back(), out += '"' + *given + '"';
                } else if (given == nullptr) {
                    out += word;
                } else {
                    out += joined ? *given : expand(*given, within, nested + 1);
                }
                i = to;
            } else {
                out += body[i++];
            }
            paste = false;
        }
        return out;
    }

    std::string expand(std::string_view text, const Within* within, size_t nested) {
        if (nested > deepest || !afford(text.size())) return std::string(text);
        std::string out;
        for (size_t i = 0; i < text.size() && out.size() < most_expanded;) {
            if (text[i] == '"' || text[i] == '\'') {
                const size_t to = end_of_literal(text, i);
                out += text.substr(i, to - i);
                i = to;
                continue;
            }
            if (!in_name(text[i])) {
                out += text[i++];
                continue;
            }
            size_t to = end_of_name(text, i);
            const std::string_view word = text.substr(i, to - i);
            const auto macro = expansions_left_ > 0 ? macros.find(word) : macros.end();
            std::vector<std::string> arguments;
            bool use = macro != macros.end() && !Within::has(within, word) && (!within || within->depth < deepest);
            if (use && macro->second.takes_arguments) {
                const size_t open = text.find_first_not_of(" \t\n", to);
                size_t end = std::string_view::npos;
                if (open != std::string_view::npos && text[open] == '(') {
                    arguments = parts(text, open, end, false);
                    afford(std::min(end, text.size()) - open);
                }
                use = end != std::string_view::npos;
                if (use) to = end;
            }
            if (use && expansions_left_ > 0) {
                --expansions_left_;
                const Within inside{macro->first, within, within ? within->depth + 1 : 1};
                out += expand(filled(macro->second, arguments, within, nested), &inside, nested);
            } else {
                out += text.substr(i, to - i);
            }
            i = to;
        }
        return out;
    }

    size_t expansions_left_ = 100'000, characters_left_ = size_t{16} << 20;
};

std::vector<std::string> declarations_in(const std::string& text, const std::string& kernel) {
    constexpr std::string_view mark = "__global__";
    const std::string readable = ptx::readable_name(kernel);
    for (size_t from = text.find(mark), next; from != std::string::npos; from = next) {
        next = text.find(mark, from + mark.size());
        const std::string_view one = std::string_view(text).substr(from, next - from);  // nothing of the next kernel's
        size_t open = one.find('(');
        std::string_view name;
        while (open != std::string_view::npos) {  // behind __launch_bounds__(256) and its like
            size_t end = open;
            while (std::isspace(static_cast<unsigned char>(one[end - 1]))) --end;
            if (one[end - 1] == '>') end = std::min(one.rfind('<', end), end);  // scale<float>(
            const size_t begin = begin_of_name(one, end);
            name = one.substr(begin, end - begin);
            size_t behind = 0;
            if (!name.starts_with("__") || name == mark) break;
            parts(one, open, behind, false);
            open = behind == std::string_view::npos ? behind : one.find('(', behind);
        }
        if (open == std::string_view::npos || name.empty() || (kernel != name && readable != name)) continue;
        size_t end = 0;
        std::vector<std::string> found = parts(one, open, end, true);
        if (found.size() == 1 && found[0] == "void") found.clear();
        return found;
    }
    return {};
}

// The name in "const float *__restrict__ x[4] = nullptr"; empty: it has none.
std::string name_in(std::string declaration) {
    static constexpr std::string_view types[] = {"char", "short",  "int",   "long",         "signed", "unsigned", "bool",
                                                 "void", "double", "float", "__restrict__", "const",  "volatile"};
    declaration = declaration.substr(0, declaration.find('='));
    if (const size_t inner = declaration.find_first_of("*&", std::min(declaration.find('('), declaration.size()));
        inner != std::string::npos && declaration.find('(') != std::string::npos) {  // int (*x)[3]
        const size_t from = std::min(declaration.find_first_not_of(" *&", inner), declaration.size());
        return declaration.substr(from, end_of_name(declaration, from) - from);
    }
    declaration = stripped(declaration.substr(0, declaration.find('[')));
    const size_t begin = begin_of_name(declaration, declaration.size());
    const std::string word = declaration.substr(begin);
    const bool only = stripped(declaration.substr(0, begin)).empty();
    return only || std::find(std::begin(types), std::end(types), word) != std::end(types) ? std::string() : word;
}

}  // namespace

std::string without_macros(const std::string& source) {
    std::string text = without_comments(source);
    std::erase(text, '\r');
    for (size_t at = text.find("\\\n"); at != std::string::npos; at = text.find("\\\n", at)) text.replace(at, 2, "  ");
    Expander expander;
    std::string out, stretch;
    const auto flush = [&] {
        out += expander.expand(stretch);
        stretch.clear();
    };
    int left_out = 0;  // how many #if are open, from an #if 0 on
    for (size_t from = 0; from < text.size() && out.size() < most_expanded;) {
        const size_t end = std::min(text.find('\n', from), text.size());
        const std::string line = stripped(std::string_view(text).substr(from, end - from));
        from = end + 1;
        if (!line.starts_with('#')) {
            if (left_out == 0) stretch += line + '\n';
            continue;
        }
        const std::string what = stripped(std::string_view(line).substr(1));
        const std::string word = what.substr(0, end_of_name(what, 0)), rest = stripped(what.substr(word.size()));
        if (left_out > 0) {
            if (word.starts_with("if")) ++left_out;
            if (word == "endif" || (left_out == 1 && (word == "else" || word == "elif"))) --left_out;
            continue;
        }
        flush();
        if (word == "if" && rest == "0") left_out = 1;
        if (word == "define") define(expander.macros, rest);
        if (word == "undef") expander.macros.erase(rest);
    }
    flush();
    return out;
}

std::vector<std::string> parameter_declarations(const std::string& source, const std::string& kernel) {
    std::vector<std::string> found = declarations_in(without_comments(source), kernel);
    const bool plain = !found.empty() && std::all_of(found.begin(), found.end(), [](const std::string& one) {
        return one.find_first_of(" *&") != std::string::npos;
    });
    const bool left_out = source.find("if 0") != std::string::npos;  // an #if 0 may hold an older one
    if (!left_out && (plain || source.find("#define") == std::string::npos)) return found;
    std::vector<std::string> expanded = declarations_in(without_macros(source), kernel);
    return expanded.empty() ? found : expanded;
}

std::vector<std::string> parameter_names(const std::string& source, const std::string& kernel) {
    std::vector<std::string> names;
    for (const std::string& declaration : parameter_declarations(source, kernel)) {
        names.push_back(name_in(declaration));
        if (names.back().empty()) names.back() = fmt::format("argument {}", names.size());
    }
    return names;
}

std::optional<DType> pointed_to(std::string declaration, std::string& type) {
    const size_t star = declaration.find('*');
    if (star == std::string::npos || declaration.find_first_of("*&[(", star + 1) != std::string::npos) return std::nullopt;
    std::istringstream words(declaration.substr(0, star));
    type.clear();
    for (std::string word; words >> word;)
        if (word != "const" && word != "volatile" && word != "__restrict__") type += (type.empty() ? "" : " ") + word;
    static const std::map<std::string, DType, std::less<>> types = {
        {"float", DType::f32},      {"double", DType::f64},         {"__half", DType::f16},
        {"half", DType::f16},       {"__nv_bfloat16", DType::bf16}, {"char", DType::i8},
        {"signed char", DType::i8}, {"unsigned char", DType::u8},   {"bool", DType::u8},
        {"short", DType::i16},      {"unsigned short", DType::u16}, {"int", DType::i32},
        {"unsigned", DType::u32},   {"unsigned int", DType::u32},   {"long long", DType::i64},
        {"long", DType::i64},       {"unsigned long", DType::u64},  {"unsigned long long", DType::u64},
        {"int8_t", DType::i8},      {"uint8_t", DType::u8},         {"int16_t", DType::i16},
        {"uint16_t", DType::u16},   {"int32_t", DType::i32},        {"uint32_t", DType::u32},
        {"int64_t", DType::i64},    {"uint64_t", DType::u64},       {"size_t", DType::u64}};
    const auto found = types.find(type);
    return found == types.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace lockstep::scene
