// Assignments are found by their sign, line by line; no C++ is parsed: what looks unusual gets no name.
#include "app/gui/views/kernel/lines/variable_names.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/device/compile/source_tokens.h"
#include "core/ptx/analyse/dataflow.h"

namespace lockstep::gui {
namespace {

using device::SourceToken;
using Tokens = std::vector<SourceToken>;

bool is(const Tokens& tokens, size_t i, std::string_view text) {
    return i < tokens.size() && tokens[i].is(text);
}
bool is_name(const Tokens& tokens, size_t i) {
    return i < tokens.size() && tokens[i].kind == SourceToken::Kind::name;
}
// Whether this sign follows the one before without a blank: "+=" is two tokens.
bool joined(const Tokens& tokens, size_t i) {
    return i > 0 && i < tokens.size() && tokens[i].begin == tokens[i - 1].end;
}

// The name in front of token `sign`; "" where it is an element, a member or what a pointer points to.
std::string_view target_before(const Tokens& tokens, size_t sign) {
    if (sign == 0 || !is_name(tokens, sign - 1)) return {};
    size_t before = sign - 1;
    if (before > 0 && (is(tokens, before - 1, ".") || is(tokens, before - 1, ">"))) return {};
    if (before > 0 && is(tokens, before - 1, "*")) {  // "float *p = ..." declares p, "*p = ..." writes through it
        while (before > 0 && is(tokens, before - 1, "*")) --before;
        if (before == 0 || !is_name(tokens, before - 1)) return {};
    }
    return tokens[sign - 1].text;
}

std::string_view target_behind(const Tokens& tokens, size_t i) {
    if (!is_name(tokens, i) || is(tokens, i + 1, "[") || is(tokens, i + 1, ".") || is(tokens, i + 1, "-")) return {};
    return tokens[i].text;
}

// What registers of its declared type are called in PTX; none where no declaration of a plain type is found.
ptx::Type type_declared(const Tokens& source, std::string_view name) {
    static const std::map<std::string_view, ptx::Type> words = {
        {"float", ptx::Type::f32},   {"double", ptx::Type::f64},   {"int", ptx::Type::b32},    {"unsigned", ptx::Type::b32},
        {"int32_t", ptx::Type::b32}, {"uint32_t", ptx::Type::b32}, {"size_t", ptx::Type::b64}, {"int64_t", ptx::Type::b64},
        {"long", ptx::Type::b64},    {"uint64_t", ptx::Type::b64}};
    ptx::Type found = ptx::Type::none;
    for (size_t i = 1; i < source.size(); ++i) {
        if (!is_name(source, i) || source[i].text != name) continue;
        const auto word = words.find(source[i - 1].text);
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

// What the instructions of a run write and no instruction of their line uses up (`line`: all of them, also what a compiler
// moved out of a loop or unrolled): registers of `type`, unless that is none.
std::set<int32_t> results_of(const ptx::Program& program, uint32_t begin, uint32_t end, const std::vector<uint32_t>& line,
                             const std::map<int32_t, ptx::Type>& types, ptx::Type type) {
    std::set<int32_t> results, counters;  // those that are read and written at once: "++i", which a comparison may read, too
    for (uint32_t pc = begin; pc < end; ++pc) {
        const ptx::DecodedInstruction& in = program.instructions[pc];
        ptx::each_written(program.lists, in, [&](int32_t reg) {
            const auto known = types.find(reg);
            if (known == types.end() || known->second == ptx::Type::pred) return;
            if (type != ptx::Type::none && !same_file(known->second, type)) return;
            const bool used = std::any_of(line.begin(), line.end(), [&](uint32_t other) {
                const ptx::DecodedInstruction& user = program.instructions[other];
                return ptx::reads(program, user, reg) && !ptx::writes(program, user, reg);
            });
            if (!used) results.insert(reg);
            if (ptx::reads(program, in, reg)) counters.insert(reg);
        });
    }
    return results.empty() ? counters : results;
}

}  // namespace

std::string variable_assigned(std::string_view line) {
    const Tokens tokens = device::tokens_of(line);
    std::set<std::string_view> names;  // "": unclear
    for (size_t i = 0; i < tokens.size(); ++i) {
        const bool lambda =
            is(tokens, i, "[") && (is(tokens, i + 1, "&") || is(tokens, i + 1, "=")) && is(tokens, i + 2, "]");
        if (lambda) names.insert("");
        const bool twice = joined(tokens, i + 1) && tokens[i + 1].text == tokens[i].text;
        if ((is(tokens, i, "+") || is(tokens, i, "-")) && twice) {
            const std::string_view behind = target_behind(tokens, i + 2);
            names.insert(behind.empty() ? target_before(tokens, i) : behind);
            ++i;
        } else if (is(tokens, i, "=") && twice) {
            ++i;
        } else if (is(tokens, i, "=") && !lambda && !(i > 0 && is(tokens, i - 1, "[") && is(tokens, i + 1, "]"))) {
            const std::string_view last = joined(tokens, i) ? tokens[i - 1].text : std::string_view();
            size_t sign = i;  // where "+=", "<<=" begins; "<=" and ">=" compare
            if (last == "!") continue;
            if (last == "<" || last == ">") {
                if (!joined(tokens, i - 1) || tokens[i - 2].text != last) continue;
                sign = i - 2;
            } else if (last.size() == 1 && std::string_view("+-*/%&|^").find(last) != std::string_view::npos) {
                sign = i - 1;
            }
            names.insert(target_before(tokens, sign));
        }
    }
    return names.size() == 1 ? std::string(*names.begin()) : std::string();
}

std::vector<std::string> variable_names(const ptx::Program& program, std::string_view source) {
    std::vector<std::string_view> lines;
    for (size_t begin = 0; begin <= source.size();) {
        const size_t end = std::min(source.find('\n', begin), source.size());
        lines.push_back(source.substr(begin, end - begin));
        begin = end + 1;
    }
    const Tokens tokens = device::tokens_of(source);
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
        const ptx::Type type = type_declared(tokens, name);
        for (size_t i = 0, next = 0; i < pcs.size(); i = next) {
            for (next = i + 1; next < pcs.size() && pcs[next] == pcs[next - 1] + 1;) ++next;
            const uint32_t begin = pcs[i], end = pcs[next - 1] + 1;
            const std::set<int32_t> results = results_of(program, begin, end, pcs, types, type);
            if (results.size() != 1) continue;
            for (uint32_t pc = begin; pc < end; ++pc)
                if (ptx::writes(program, program.instructions[pc], *results.begin())) names[pc] = name;
        }
    }
    return names;
}

}  // namespace lockstep::gui
