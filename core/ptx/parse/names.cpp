// A mangled name is read from left to right, one production a function.
#include "core/ptx/parse/names.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/ptx/ptx.h"

namespace lockstep::ptx {

//   mangled = "_Z" [ "L" ] component ... | "_ZN" { [ "L" ] component } ...        component = length name
std::string_view plain_name(std::string_view mangled) {
    if (!mangled.starts_with("_Z")) return {};
    mangled.remove_prefix(2);
    const bool nested = mangled.starts_with("N");
    if (nested) mangled.remove_prefix(1);
    std::string_view last;
    do {
        if (mangled.starts_with("L")) mangled.remove_prefix(1);
        size_t length = 0, digits = 0;
        while (digits < mangled.size() && digits < 6 && mangled[digits] >= '0' && mangled[digits] <= '9')
            length = length * 10 + static_cast<size_t>(mangled[digits++] - '0');
        if (digits == 0) break;
        last = mangled.substr(digits, length);
        mangled.remove_prefix(std::min(mangled.size(), digits + length));
    } while (nested);
    return last;
}

std::string spaces_of(std::string_view mangled) {
    const std::string_view plain = plain_name(mangled);
    if (!mangled.starts_with("_ZN") || plain.empty()) return {};
    std::string spaces;
    std::string_view rest = mangled.substr(3, static_cast<size_t>(plain.data() - mangled.data()) - 3);
    while (!rest.empty()) {
        size_t length = 0, digits = 0;
        if (rest[0] == 'L') rest.remove_prefix(1);
        while (digits < rest.size() && digits < 6 && rest[digits] >= '0' && rest[digits] <= '9')
            length = length * 10 + static_cast<size_t>(rest[digits++] - '0');
        if (digits == 0 || digits + length > rest.size()) break;
        const std::string_view name = rest.substr(digits, length);
        rest.remove_prefix(digits + length);
        if (name.find("_GLOBAL__N_") == std::string_view::npos) spaces += std::string(name) + "::";  // of this file alone
    }
    return spaces;
}

namespace {

bool takes(std::string_view& rest, std::string_view word) {
    if (!rest.starts_with(word)) return false;
    rest.remove_prefix(word.size());
    return true;
}

// type = "P" type | "K" type | builtin | length name
bool read_type(std::string_view& rest, std::string& out) {
    constexpr std::pair<char, const char*> builtins[] = {
        {'f', "float"},       {'d', "double"},        {'i', "int"},       {'j', "unsigned int"},      {'c', "char"},
        {'a', "signed char"}, {'h', "unsigned char"}, {'s', "short"},     {'t', "unsigned short"},    {'b', "bool"},
        {'l', "long"},        {'m', "unsigned long"}, {'x', "long long"}, {'y', "unsigned long long"}};
    std::string after;
    while (!rest.empty() && rest[0] == 'P') rest.remove_prefix(1), after += '*';
    if (takes(rest, "K")) out += "const ";
    if (rest.empty()) return false;
    if (rest[0] >= '1' && rest[0] <= '9') {
        size_t length = 0, digits = 0;
        while (digits < rest.size() && digits < 4 && rest[digits] >= '0' && rest[digits] <= '9')
            length = length * 10 + static_cast<size_t>(rest[digits++] - '0');
        if (length > rest.size() - digits) return false;
        out += std::string(rest.substr(digits, length)) + after;
        rest.remove_prefix(digits + length);
        return true;
    }
    for (const auto& [letter, name] : builtins)
        if (rest[0] == letter) {
            rest.remove_prefix(1);
            out += name + after;
            return true;
        }
    return false;
}

// literal = "L" type [ "n" ] digits "E"
bool read_literal(std::string_view& rest, std::string& out) {
    std::string type;
    if (!takes(rest, "L") || !read_type(rest, type)) return false;
    const bool negative = takes(rest, "n");
    const size_t end = rest.find('E');
    if (end == std::string_view::npos || end == 0) return false;
    const std::string_view digits = rest.substr(0, end);
    if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) return false;
    rest.remove_prefix(end + 1);
    out += type == "bool" ? (digits == "0" ? "false" : "true") : (negative ? "-" : "") + std::string(digits);
    return true;
}

}  // namespace

std::string instance_name(std::string_view mangled) {
    const std::string_view plain = plain_name(mangled);
    if (plain.empty()) return {};
    std::string_view rest = mangled.substr(static_cast<size_t>(plain.data() - mangled.data()) + plain.size());
    if (!takes(rest, "I")) return {};
    std::string arguments;
    while (!takes(rest, "E")) {
        if (!arguments.empty()) arguments += ", ";
        if (rest.starts_with("L") ? !read_literal(rest, arguments) : !read_type(rest, arguments)) return {};
    }
    return std::string(plain) + "<" + arguments + ">";
}

namespace {

// parameter = "P" parameter | "K" parameter | "V" parameter | "S" [ digit ] "_" | type;  S_ is the first of what is kept:
// all but builtin types.
bool read_parameter(std::string_view& rest, std::string& out, std::vector<std::string>& kept) {
    std::string inner;
    if (takes(rest, "P")) {
        if (!read_parameter(rest, inner, kept)) return false;
        out = inner + "*";
    } else if (rest.starts_with("K") || rest.starts_with("V")) {
        const std::string word = takes(rest, "K") ? "const" : (rest.remove_prefix(1), "volatile");
        if (!read_parameter(rest, inner, kept)) return false;
        out = inner.ends_with('*') ? inner + " " + word : word + " " + inner;
    } else if (takes(rest, "S")) {
        size_t at = 0;
        if (!rest.empty() && rest[0] >= '0' && rest[0] <= '9')
            at = static_cast<size_t>(rest[0] - '0') + 1, rest.remove_prefix(1);
        if (!takes(rest, "_") || at >= kept.size()) return false;
        out = kept[at];
        return true;
    } else {
        const bool builtin = rest.empty() || rest[0] < '1' || rest[0] > '9';
        if (!read_type(rest, out)) return false;
        if (builtin) return true;
    }
    kept.push_back(out);
    return true;
}

}  // namespace

std::string signature_name(std::string_view mangled) {
    const std::string_view plain = plain_name(mangled);
    if (plain.empty() || mangled.starts_with("_ZN")) return {};
    std::string_view rest = mangled.substr(static_cast<size_t>(plain.data() - mangled.data()) + plain.size());
    std::string parameters;
    std::vector<std::string> kept;
    if (rest == "v") rest = {};
    while (!rest.empty()) {
        std::string one;
        if (!read_parameter(rest, one, kept)) return {};
        parameters += (parameters.empty() ? "" : ", ") + one;
    }
    return std::string(plain) + "(" + parameters + ")";
}

std::string readable_name(std::string_view entry) {
    const std::string_view plain = plain_name(entry);
    return std::string(plain.empty() ? entry : plain);
}

bool of_cuda_header(std::string_view mangled) {
    for (const std::string_view space : {"_ZN3cub", "_ZN6thrust", "_ZN4cuda"})
        if (mangled.starts_with(space)) return true;
    return false;
}

}  // namespace lockstep::ptx
