// Assignments are found by their sign, line by line; no C++ is parsed: what looks unusual gets no name.
#include "app/gui/views/kernel/variable_names.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace lockstep::gui {
namespace {

bool in_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Without comments and strings.
std::string without_comments(std::string_view line) {
    std::string text;
    char quote = 0;
    for (size_t i = 0; i < line.size(); ++i) {
        if (quote != 0) {
            if (line[i] == '\\')
                ++i;
            else if (line[i] == quote)
                quote = 0;
            continue;
        }
        if (line[i] == '/' && i + 1 < line.size() && (line[i + 1] == '/' || line[i + 1] == '*')) break;
        if (line[i] == '"' || line[i] == '\'')
            quote = line[i];
        else
            text += line[i];
    }
    return text;
}

// The name that ends in front of `end`; "" where it is an element, a member or what a pointer points to.
std::string target_before(const std::string& text, size_t end) {
    while (end > 0 && text[end - 1] == ' ') --end;
    size_t begin = end;
    while (begin > 0 && in_name(text[begin - 1])) --begin;
    if (begin == end || std::isdigit(static_cast<unsigned char>(text[begin])) != 0) return {};
    size_t before = begin;
    while (before > 0 && text[before - 1] == ' ') --before;
    if (before > 0 && (text[before - 1] == '.' || text[before - 1] == '>')) return {};
    if (before > 0 && text[before - 1] == '*') {  // "float *p = ..." declares p, "*p = ..." writes through it
        while (before > 0 && (text[before - 1] == '*' || text[before - 1] == ' ')) --before;
        if (before == 0 || !in_name(text[before - 1])) return {};
    }
    return text.substr(begin, end - begin);
}

std::string target_behind(const std::string& text, size_t begin) {
    while (begin < text.size() && text[begin] == ' ') ++begin;
    size_t end = begin;
    while (end < text.size() && in_name(text[end])) ++end;
    const char next = end < text.size() ? text[end] : ';';
    return next == '[' || next == '.' || next == '-' ? std::string() : text.substr(begin, end - begin);
}

// What registers of its declared type are called in PTX; none where no declaration of a plain type is found.
ptx::Type type_declared(std::string_view source, const std::string& name) {
    static const std::map<std::string_view, ptx::Type> words = {
        {"float", ptx::Type::f32},   {"double", ptx::Type::f64},   {"int", ptx::Type::b32},    {"unsigned", ptx::Type::b32},
        {"int32_t", ptx::Type::b32}, {"uint32_t", ptx::Type::b32}, {"size_t", ptx::Type::b64}, {"int64_t", ptx::Type::b64},
        {"long", ptx::Type::b64},    {"uint64_t", ptx::Type::b64}};
    ptx::Type found = ptx::Type::none;
    for (size_t at = source.find(name); at != std::string_view::npos; at = source.find(name, at + 1)) {
        size_t end = at;
        while (end > 0 && source[end - 1] == ' ') --end;
        if (end == at || (at + name.size() < source.size() && in_name(source[at + name.size()]))) continue;
        size_t begin = end;
        while (begin > 0 && in_name(source[begin - 1])) --begin;
        const auto word = words.find(source.substr(begin, end - begin));
        if (word == words.end()) continue;
        if (found != ptx::Type::none && found != word->second) return ptx::Type::none;  // two variables of one name
        found = word->second;
    }
    return found;
}

bool same_file(ptx::Type reg, ptx::Type wanted) {  // of registers: %f, %fd, %r, %rd
    const auto floats = [](ptx::Type type) { return type == ptx::Type::f32 || type == ptx::Type::f64; };
    return floats(reg) == floats(wanted) && ptx::size_of(reg) == ptx::size_of(wanted);
}

bool writes(const ptx::DecodedInstruction& in, int32_t reg) {
    return std::find(in.writes, in.writes + in.registers_written, reg) != in.writes + in.registers_written;
}

bool reads(const ptx::DecodedInstruction& in, int32_t reg) {
    return std::find(in.reads, in.reads + in.registers_read, reg) != in.reads + in.registers_read;
}

// What the instructions of a run write and no instruction of their line uses up (`line`: all of them, also what a compiler
// moved out of a loop or unrolled): registers of `type`, unless that is none.
std::set<int32_t> results_of(const ptx::Program& program, uint32_t begin, uint32_t end, const std::vector<uint32_t>& line,
                             const std::map<int32_t, ptx::Type>& types, ptx::Type type) {
    std::set<int32_t> results, counters;  // those that are read and written at once: "++i", which a comparison may read, too
    for (uint32_t pc = begin; pc < end; ++pc) {
        const ptx::DecodedInstruction& in = program.instructions[pc];
        for (uint32_t k = 0; k < in.registers_written; ++k) {
            const int32_t reg = in.writes[k];
            const auto known = types.find(reg);
            if (known == types.end() || known->second == ptx::Type::pred) continue;
            if (type != ptx::Type::none && !same_file(known->second, type)) continue;
            const bool used = std::any_of(line.begin(), line.end(), [&](uint32_t other) {
                return reads(program.instructions[other], reg) && !writes(program.instructions[other], reg);
            });
            if (!used) results.insert(reg);
            if (reads(in, reg)) counters.insert(reg);
        }
    }
    return results.empty() ? counters : results;
}

}  // namespace

std::string variable_assigned(std::string_view line) {
    const std::string text = without_comments(line);
    std::set<std::string> names;
    bool unclear = text.find("[&]") != std::string::npos || text.find("[=]") != std::string::npos;  // lambdas
    const auto assigned = [&](const std::string& name) {
        if (name.empty())
            unclear = true;
        else
            names.insert(name);
    };
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : ' ', last = i > 0 ? text[i - 1] : ' ';
        if ((c == '+' || c == '-') && next == c) {
            const std::string behind = target_behind(text, i + 2);
            assigned(behind.empty() ? target_before(text, i) : behind);
            ++i;
        } else if (c == '=' && next == '=') {
            ++i;
        } else if (c == '=' && last != '!') {
            size_t sign = i;  // where "+=", "<<=" begins; "<=" and ">=" compare
            if (last == '<' || last == '>') {
                if (i < 2 || text[i - 2] != last) continue;
                sign = i - 2;
            } else if (std::string_view("+-*/%&|^").find(last) != std::string_view::npos) {
                sign = i - 1;
            }
            assigned(target_before(text, sign));
        }
    }
    return unclear || names.size() != 1 ? std::string() : *names.begin();
}

std::vector<std::string> variable_names(const ptx::Program& program, std::string_view source) {
    std::vector<std::string_view> lines;
    for (size_t begin = 0; begin <= source.size();) {
        const size_t end = std::min(source.find('\n', begin), source.size());
        lines.push_back(source.substr(begin, end - begin));
        begin = end + 1;
    }
    std::map<int32_t, ptx::Type> types;
    for (const ptx::Register& reg : program.registers) types[reg.offset] = reg.type;
    std::vector<std::string> names(program.instructions.size());
    if (program.functions.size() > 1) return names;  // offsets are those of a function's own frame
    const auto size = static_cast<uint32_t>(names.size());
    std::map<int32_t, std::vector<uint32_t>> of_line;
    for (uint32_t pc = 0; pc < size; ++pc) {
        const ptx::DecodedInstruction& in = program.instructions[pc];
        const auto file = static_cast<size_t>(in.file);
        const bool elsewhere =
            file < program.files.size() && !program.files[file].empty() && program.files[file] != program.source_file;
        if (!elsewhere && in.line > 0 && static_cast<size_t>(in.line) <= lines.size()) of_line[in.line].push_back(pc);
    }
    for (const auto& [number, pcs] : of_line) {
        const std::string name = variable_assigned(lines[static_cast<size_t>(number) - 1]);
        if (name.empty()) continue;
        const ptx::Type type = type_declared(source, name);
        for (size_t i = 0, next = 0; i < pcs.size(); i = next) {
            for (next = i + 1; next < pcs.size() && pcs[next] == pcs[next - 1] + 1;) ++next;
            const uint32_t begin = pcs[i], end = pcs[next - 1] + 1;
            const std::set<int32_t> results = results_of(program, begin, end, pcs, types, type);
            if (results.size() != 1) continue;
            for (uint32_t pc = begin; pc < end; ++pc)
                if (writes(program.instructions[pc], *results.begin())) names[pc] = name;
        }
    }
    return names;
}

}  // namespace lockstep::gui
