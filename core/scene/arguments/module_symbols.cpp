// NAME=VALUE -> bytes of a module variable in device memory.
#include "core/scene/arguments/module_symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/nearest.h"
#include "core/ptx/ptx.h"
#include "core/scene/arguments/texture_arguments.h"
#include "core/simt/warp.h"

namespace lockstep::scene {

Result<ModuleSymbol> parse_symbol(std::string_view text) {
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0)
        return Diagnostic{"a symbol is NAME=in:VALUES, such as filter=in:f32{1,2,1}", {"symbol", 1, 1}, std::string(text)};
    Result<KernelArgument> value = parse_argument(text.substr(equals + 1));
    if (!value) {
        Diagnostic problem = value.error();
        problem.where.file = "symbol";
        problem.where.column += static_cast<int>(equals) + 1;
        problem.source_line = std::string(text);
        return problem;
    }
    const KernelArgument::Role role = value.value().role;
    using Kind = KernelArgument::Kind;
    if (value.value().kind == Kind::null || value.value().kind == Kind::same || value.value().offset != 0)
        return Diagnostic{"a pointer is given to a variable as pointers:, such as pointers:null or pointers:@a+4",
                          {"symbol", 1, static_cast<int>(equals) + 2},
                          std::string(text)};
    if (role != KernelArgument::Role::in && role != KernelArgument::Role::scalar)
        return Diagnostic{
            "a symbol takes in: or a scalar, such as in:f32{1,2,1} or i32:7, and a pointer pointers:out:f32[64]",
            {"symbol", 1, static_cast<int>(equals) + 2},
            std::string(text)};
    return ModuleSymbol{std::string(text.substr(0, equals)), std::move(value.value())};
}

Result<std::vector<ModuleSymbol>> parse_symbols(std::string_view text) {
    std::vector<ModuleSymbol> symbols;
    while (!text.empty()) {
        const size_t end = std::min(text.find(';'), text.size());
        std::string_view part = text.substr(0, end);
        text.remove_prefix(std::min(text.size(), end + 1));
        while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
        while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
        if (part.empty()) continue;
        Result<ModuleSymbol> symbol = parse_symbol(part);
        if (!symbol) return symbol.error();
        symbols.push_back(std::move(symbol).value());
    }
    return symbols;
}

std::optional<Diagnostic> bind_symbols(const ptx::Program& program, const std::vector<ModuleSymbol>& symbols,
                                       simt::Memory& memory, uint64_t seed, const std::filesystem::path& folder,
                                       BoundArguments* bound) {
    if (symbols.empty()) return std::nullopt;
    BoundArguments own;
    BoundArguments& buffers = bound ? *bound : own;
    const std::vector<uint64_t> addresses = simt::place_variables(program, memory);
    for (size_t i = 0; i < symbols.size(); ++i) {
        const ModuleSymbol& symbol = symbols[i];
        std::vector<std::string> names;
        size_t found = program.variables.size(), matching = 0;
        for (size_t v = 0; v < program.variables.size(); ++v) {
            const std::string readable = ptx::readable_name(program.variables[v].name);
            names.push_back(readable);
            if (program.variables[v].name == symbol.name) {
                found = v;
                matching = 1;
                break;
            }
            if (readable != symbol.name) continue;
            found = v;
            ++matching;
        }
        if (matching > 1)
            return Diagnostic{fmt::format("{} variables are called '{}' here: use the PTX name, such as {}", matching,
                                          symbol.name, program.variables[found].name)};
        if (matching == 0) {
            if (names.empty())
                return Diagnostic{fmt::format("there is no variable '{}': the module has no __device__ or __constant__ ones",
                                              symbol.name)};
            const std::string near = nearest_name(symbol.name, names);
            return Diagnostic{fmt::format("there is no variable '{}' in this module, {}", symbol.name,
                                          near.empty() ? "there is " + names.front() : "did you mean '" + near + "'?")};
        }
        Result<Array> contents = symbol.value.role == KernelArgument::Role::scalar
                                     ? Result<Array>(symbol.value.values)
                                     : initial_contents(symbol.value, seed * 1000003u + 7919u * (i + 1), folder);
        if (!contents) return contents.error();
        std::vector<std::byte> bytes = contents.value().bytes;
        const ptx::GlobalVariable& variable = program.variables[found];
        if (!symbol.value.parts.empty()) {
            if (auto problem =
                    place_pointed(symbol.value, symbol.name, seed * 1000003u + 7919u * (i + 1), folder, memory, buffers))
                return problem;
            Result<std::vector<std::byte>> whole = bytes_of_argument(symbol.value, symbol.name, buffers);
            if (!whole) return Diagnostic{fmt::format("'{}={}' {}", symbol.name, symbol.value.text, whole.error().message)};
            bytes = std::move(whole).value();
        }
        if (symbol.value.texture) {  // the variable is a .texref: it holds a handle
            const uint64_t texels = memory.allocate(bytes.size(), symbol.name);
            if (!bytes.empty()) std::memcpy(memory.write(texels, bytes.size()), bytes.data(), bytes.size());
            const Result<uint64_t> handle = make_texture(symbol.value, contents.value(), texels, symbol.name, memory);
            if (!handle) return handle.error();
            bytes.resize(sizeof(uint64_t));
            std::memcpy(bytes.data(), &handle.value(), bytes.size());
        }
        if (bytes.size() > variable.bytes)
            return Diagnostic{
                fmt::format("'{}' has {} bytes, the value given for it has {}", symbol.name, variable.bytes, bytes.size())};
        if (!bytes.empty()) std::memcpy(memory.write(addresses[found], bytes.size()), bytes.data(), bytes.size());
    }
    return std::nullopt;
}

}  // namespace lockstep::scene
