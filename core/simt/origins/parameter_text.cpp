#include "core/simt/origins/parameter_text.h"

#include <cctype>

namespace lockstep::simt {

namespace {

bool in_identifier(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// "x" of "const float *__restrict__ x[] = 0"; "" where a type stands alone.
std::string declared_name(std::string declaration) {
    declaration.erase(std::min(declaration.find_first_of("=["), declaration.size()));
    size_t end = declaration.size();
    while (end > 0 && !in_identifier(declaration[end - 1])) --end;
    size_t begin = end;
    while (begin > 0 && in_identifier(declaration[begin - 1])) --begin;
    const bool alone = declaration.find_first_not_of(" \t\r\n") >= begin;
    return alone || declaration.find('(') != std::string::npos ? std::string() : declaration.substr(begin, end - begin);
}

// The declarations between the bracket at `open` and its partner, and where that is.
std::vector<std::string> declarations_between(const std::string& text, size_t open, size_t& close) {
    std::vector<std::string> found(1);
    int depth = 0;
    for (close = open; close < text.size(); ++close) {
        const char c = text[close];
        if (c == '(' || c == '<' || c == '{') ++depth;
        if ((c == ')' || c == '>' || c == '}') && --depth == 0) return found;
        if (c == ',' && depth == 1)
            found.emplace_back();
        else if (close > open)
            found.back() += c;
    }
    return {};
}

}  // namespace

std::vector<std::string> parameter_names_in(const std::string& text, const std::string& kernel) {
    const std::string name = kernel.substr(kernel.rfind(':') == std::string::npos ? 0 : kernel.rfind(':') + 1);
    std::vector<std::string> names;
    bool found = false;
    for (size_t at = name.empty() ? std::string::npos : text.find(name); at != std::string::npos;
         at = text.find(name, at + 1)) {
        size_t open = at + name.size();
        while (open < text.size() && std::isspace(static_cast<unsigned char>(text[open]))) ++open;
        if ((at > 0 && in_identifier(text[at - 1])) || open >= text.size() || text[open] != '(') continue;
        const size_t before = text.find_last_of(";}", at);
        const size_t global = text.rfind("__global__", at);
        if (global == std::string::npos || (before != std::string::npos && global < before)) continue;
        size_t close = open;
        const std::vector<std::string> declarations = declarations_between(text, open, close);
        size_t behind = close + 1;
        while (behind < text.size() && std::isspace(static_cast<unsigned char>(text[behind]))) ++behind;
        if (behind >= text.size() || text[behind] != '{') continue;  // a declaration
        if (found) return {};
        found = true;
        for (const std::string& declaration : declarations) {
            names.push_back(declared_name(declaration));
            if (names.back().empty()) return {};
        }
    }
    return names;
}

}  // namespace lockstep::simt
