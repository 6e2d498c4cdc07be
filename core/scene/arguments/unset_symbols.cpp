#include "core/scene/arguments/unset_symbols.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/ptx.h"
#include "core/scene/arguments/kernel_source.h"

namespace lockstep::scene {

namespace {

bool is_word_character(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Whether the text declares the variable with an initial value: "w[5] = {0}", "scale{1}".
bool is_given_value(const std::string& text, const std::string& name) {
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
        size_t end = at + name.size();
        if ((at > 0 && is_word_character(text[at - 1])) || end >= text.size() || is_word_character(text[end])) continue;
        const size_t begin = text.find_last_of(";{}", at == 0 ? 0 : at - 1);
        const std::string head = text.substr(begin == std::string::npos ? 0 : begin + 1, at - (begin + 1));
        if (head.find("__constant__") == std::string::npos && head.find("__device__") == std::string::npos) continue;
        while (end < text.size() && (text[end] == ' ' || text[end] == '[')) {
            if (text[end] == '[') end = std::min(text.find(']', end), text.size() - 1);
            ++end;
        }
        if (end < text.size() && (text[end] == '=' || text[end] == '{')) return true;
    }
    return false;
}

struct Uses {  // of a variable
    uint32_t reads = 0, first_read = ptx::no_pc;
    bool may_be_written = false;
};

std::vector<Uses> uses_of(const ptx::Program& program) {
    std::vector<Uses> uses(program.variables.size());
    const ptx::Origins origins(program);
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        const ptx::DecodedInstruction& i = program.instructions[pc];
        const std::vector<ptx::MemoryOperand> accesses = ptx::memory_of(program, i);
        for (const ptx::MemoryOperand& access : accesses)
            for (const ptx::Origin& origin : origins.of_access(pc, access)) {
                if (origin.from != ptx::Origin::From::variable) continue;
                Uses& of = uses[static_cast<size_t>(origin.index)];
                if (access.writes) of.may_be_written = true;
                if (!access.reads) continue;
                ++of.reads;
                of.first_read = std::min(of.first_read, pc);
            }
        // An address that is passed on or kept may be written through by others.
        const bool passes = i.kind == ptx::Kind::call || i.kind == ptx::Kind::system || i.kind == ptx::Kind::store;
        if (!passes) continue;
        ptx::each_use(program.lists, i, [&](const ptx::RegisterUse& use) {
            if (use.role != ptx::Role::source) return;
            for (const ptx::Origin& origin : origins.of(pc, use.reg))
                if (origin.from == ptx::Origin::From::variable && origin.direct)
                    uses[static_cast<size_t>(origin.index)].may_be_written = true;
        });
    }
    return uses;
}

}  // namespace

std::vector<simt::Fault> warnings_of_symbols(const ptx::Program& program, const std::vector<std::string>& set,
                                             const std::string& source) {
    std::vector<simt::Fault> found;
    if (program.variables.empty()) return found;
    const std::vector<Uses> uses = uses_of(program);
    std::string text;
    for (size_t v = 0; v < program.variables.size(); ++v) {
        const ptx::GlobalVariable& variable = program.variables[v];
        const std::string name = ptx::readable_name(variable.name);
        const bool given =
            std::any_of(set.begin(), set.end(), [&](const std::string& s) { return s == name || s == variable.name; });
        if (given || uses[v].reads == 0 || uses[v].may_be_written || variable.opaque != ptx::Opaque::none ||
            !variable.initial.empty() || !variable.addresses.empty() || variable.bytes == 0)
            continue;
        if (text.empty() && !source.empty()) text = without_macros(source);
        if (is_given_value(text, name)) continue;
        const ptx::DecodedInstruction& i = program.instructions[uses[v].first_read];
        simt::Fault fault;
        fault.kind = "outputs";
        fault.warning = true;
        fault.kernel = program.shown_name();
        const auto file = static_cast<size_t>(i.file);
        fault.file = i.line <= 0                                                   ? program.ptx_file
                     : file < program.files.size() && !program.files[file].empty() ? program.files[file]
                                                                                   : program.source_file;
        const int32_t line = i.line > 0 ? i.line : i.ptx_line;
        fault.allocation = name;
        fault.message = fmt::format("'{}' is read at {}:{} and was never set: all of its {} bytes are 0", name, fault.file,
                                    line, variable.bytes);
        fault.advice = fmt::format("Set it before the launch: --symbol {}=in:{}.npy here, cudaMemcpyToSymbol in a program.",
                                   name, name);
        found.push_back(std::move(fault));
    }
    return found;
}

}  // namespace lockstep::scene
