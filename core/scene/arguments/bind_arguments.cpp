// KernelArguments meet a program's parameters: buffers in device memory, the parameter block, and the way back.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>

#include "core/base/files.h"
#include "core/ptx/ptx.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "core/scene/arguments/kernel_source.h"
#include "core/scene/arguments/texture_arguments.h"
#include "core/simt/async/tensor_map.h"

namespace lockstep::scene {
namespace {

bool is_struct(const ptx::Parameter& p) {
    return p.type != ptx::Type::none && p.bytes != ptx::size_of(p.type);
}

// "2" of _Z4axpyfPKfPfi_param_2: the compilers do not keep the names that the source has.
std::string readable(const ptx::Program& program, size_t i) {
    const std::string prefix = program.kernel + "_param_", &name = program.parameters[i].name;
    return name.starts_with(prefix) ? fmt::format("{}", i + 1) : name;
}

// Why the argument does not fit the parameter, which people call `name`; empty when it does.
std::string mismatch(const ptx::Parameter& parameter, const std::string& name, const KernelArgument& argument) {
    constexpr size_t map_bytes = sizeof(simt::TensorMap::bytes);
    if (!argument.box.empty())
        return parameter.bytes == map_bytes
                   ? ""
                   : fmt::format("is a tensor map, but parameter '{}' takes {} bytes", name, parameter.bytes);
    if (argument.role != KernelArgument::Role::scalar && parameter.bytes == map_bytes)
        return fmt::format("is a buffer, but parameter '{}' is a tensor map: give map:ROWSxCOLUMNS:{}", name, argument.text);
    if (argument.role != KernelArgument::Role::scalar)
        return parameter.bytes == 8 ? ""
                                    : fmt::format("is a {}, but parameter '{}' takes {} bytes, not an address",
                                                  argument.texture ? "texture" : "buffer", name, parameter.bytes);
    const size_t bytes = argument.values.bytes.size();
    if (parameter.bytes != bytes)
        return fmt::format("has {} bytes, but parameter '{}' takes {}{}", bytes, name, parameter.bytes,
                           is_struct(parameter) ? ", as a struct: give struct:TYPE:VALUE,TYPE:VALUE" : "");
    if (parameter.pointer)
        return fmt::format("is a number, but parameter '{}' is a pointer: give in:, out: or inout:", name);
    // The compilers keep apart whole numbers and fractions, not signed and unsigned.
    const bool fraction = argument.values.dtype == DType::f32 || argument.values.dtype == DType::f64;
    const bool takes_fraction = parameter.type == ptx::Type::f32 || parameter.type == ptx::Type::f64;
    const bool takes_whole = parameter.type >= ptx::Type::u8 && parameter.type <= ptx::Type::s64;
    if (argument.values.count() == 1 && ((takes_fraction && !fraction) || (takes_whole && fraction)))
        return fmt::format("is {}, but parameter '{}' takes {}: {} would do", fraction ? "a fraction" : "a whole number",
                           name, fraction ? "a whole number" : "a fraction",
                           fmt::format("{}{}:", fraction ? "i" : "f", 8 * parameter.bytes));
    return {};
}

// What "const float *__restrict__ x" points to; nothing where it is no pointer to a type whose elements are known.
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

bool is_fraction(DType type) {
    return type == DType::f16 || type == DType::bf16 || type == DType::f32 || type == DType::f64;
}

// Whether the kernel, which may be one of several of its name, has a parameter of that type.
bool is_of(const ptx::Program& program, DType type) {
    constexpr std::pair<DType, const char*> letters[] = {
        {DType::f32, "f"}, {DType::f64, "d"}, {DType::f16, "6__half"}, {DType::bf16, "13__nv_bfloat16"},
        {DType::i8, "ca"}, {DType::u8, "hb"}, {DType::i16, "s"},       {DType::u16, "t"},
        {DType::i32, "i"}, {DType::u32, "j"}, {DType::i64, "lx"},      {DType::u64, "my"}};
    if (!program.kernel.starts_with("_Z")) return true;
    const std::string plain = ptx::readable_name(program.kernel);
    const std::string parameters = program.kernel.substr(program.kernel.find(plain) + plain.size());
    for (const auto& [one, text] : letters)
        if (one == type)
            return is_fraction(type) ? parameters.find(text) != parameters.npos
                                     : parameters.find_first_of(text) != parameters.npos;
    return false;
}

// Why an array of a file is not what the parameter "const float *x" points to; empty where it is, or where nobody knows.
std::string other_elements(const ptx::Program& program, const std::string& declaration, const std::string& name,
                           const KernelArgument& argument, DType held) {
    std::string type;
    const std::optional<DType> wanted = pointed_to(declaration, type);
    if (!wanted || *wanted == held || !is_of(program, *wanted)) return {};
    const bool half_bits = size_of(held) == 2 && size_of(*wanted) == 2 && held != DType::f16;  // bf16 is u2 in npy
    if (half_bits || (size_of(held) == size_of(*wanted) && !is_fraction(held) && !is_fraction(*wanted))) return {};
    const bool from_file = argument.fill == KernelArgument::Fill::file;
    if (!from_file && !(is_fraction(held) && is_fraction(*wanted))) return {};  // bits of other types may be meant
    static const std::map<DType, const char*> numpy = {
        {DType::i8, "int8"},     {DType::u8, "uint8"},    {DType::i16, "int16"},  {DType::u16, "uint16"},
        {DType::f16, "float16"}, {DType::bf16, "uint16"}, {DType::i32, "int32"},  {DType::u32, "uint32"},
        {DType::f32, "float32"}, {DType::i64, "int64"},   {DType::u64, "uint64"}, {DType::f64, "float64"}};
    return fmt::format(
        "{} holds {}, the parameter {} is {}*: {}", from_file ? argument.file : "'" + argument.text + "'", name_of(held),
        name, type,
        from_file ? fmt::format("save it as {}", numpy.at(*wanted)) : fmt::format("{} would do", name_of(*wanted)));
}

// "buffer x", "f32 a" for people: what the source calls it, else what the PTX does.
std::string description(const ptx::Program& program, size_t i, const std::vector<std::string>& names) {
    const ptx::Parameter& p = program.parameters[i];
    const std::string type = p.pointer      ? "buffer"
                             : is_struct(p) ? fmt::format("struct of {} bytes", p.bytes)
                                            : std::string(ptx::name_of(p.type));
    const std::string name = names.size() == program.parameters.size() ? names[i] : readable(program, i);
    return p.type == ptx::Type::none ? name : type + " " + name;
}

}  // namespace

Result<BoundArguments> bind_arguments(const ptx::Program& program, const std::vector<KernelArgument>& arguments,
                                      simt::Memory& memory, simt::LaunchConfig& config, uint64_t seed,
                                      const std::filesystem::path& folder, const std::string& source) {
    const std::vector<std::string> names = parameter_names(source, program.kernel);
    const std::vector<std::string> declarations = parameter_declarations(source, program.kernel);
    if (arguments.size() != program.parameters.size()) {
        std::string list;
        for (size_t i = 0; i < program.parameters.size() && i < 16; ++i)
            list += (list.empty() ? "" : ", ") + description(program, i, names);
        if (program.parameters.size() > 16) list += " ...";
        return Diagnostic{fmt::format("kernel '{}' takes {} argument{}{}, but {} {} given", program.shown_name(),
                                      program.parameters.size(), program.parameters.size() == 1 ? "" : "s",
                                      list.empty() ? "" : " (" + list + ")", arguments.size(),
                                      arguments.size() == 1 ? "is" : "are")};
    }
    BoundArguments bound;
    config.parameters.assign(program.parameter_bytes, std::byte{0});
    for (size_t i = 0; i < arguments.size(); ++i) {
        const KernelArgument& argument = arguments[i];
        const ptx::Parameter& parameter = program.parameters[i];
        const std::string name = names.size() == arguments.size() ? names[i] : readable(program, i);
        if (const std::string why = mismatch(parameter, name, argument); !why.empty())
            return Diagnostic{fmt::format("argument {} ('{}') {}", i + 1, argument.text, why)};
        BoundArgument one;
        one.role = argument.role;
        one.type = argument.type;
        one.name = names.size() == arguments.size() ? names[i] : fmt::format("argument {}", i + 1);
        one.output_file = argument.output_file;
        std::byte* slot = config.parameters.data() + parameter.offset;
        if (parameter.offset + parameter.bytes > config.parameters.size())
            return Diagnostic{
                fmt::format("kernel '{}' declares a parameter outside its parameter block", program.shown_name())};
        if (argument.role == KernelArgument::Role::scalar) {
            std::memcpy(slot, argument.values.bytes.data(), argument.values.bytes.size());
        } else {
            const bool from_file = argument.fill == KernelArgument::Fill::file;
            if (!from_file) {  // what does not fit is refused before it is made
                one.bytes = size_of(argument.type);
                for (const int64_t extent : argument.shape) one.bytes *= static_cast<uint64_t>(extent);
                one.address = memory.allocate(one.bytes, one.name);
            }
            Result<Array> contents = initial_contents(argument, seed * 1000003u + i, folder);
            if (!contents) return contents.error();
            const Array& array = contents.value();
            if (declarations.size() == arguments.size() && !argument.texture && argument.box.empty())
                if (const std::string why = other_elements(program, declarations[i], name, argument, array.dtype);
                    !why.empty())
                    return Diagnostic{why};
            one.type = array.dtype;
            one.shape = array.shape;
            one.bytes = array.bytes.size();
            if (from_file) one.address = memory.allocate(one.bytes, one.name);
            if (one.bytes) std::memcpy(memory.write(one.address, one.bytes), array.bytes.data(), one.bytes);
            if (argument.role == KernelArgument::Role::out) memory.mark_unwritten(one.address);
            uint64_t passed = one.address;
            if (argument.texture) {
                const Result<uint64_t> handle = make_texture(argument, array, one.address, one.name, memory);
                if (!handle) return handle.error();
                passed = handle.value();
            }
            if (argument.box.empty()) {
                std::memcpy(slot, &passed, sizeof passed);
            } else {
                const std::vector<uint64_t> dims(array.shape.rbegin(), array.shape.rend());
                const std::vector<uint32_t> box(argument.box.rbegin(), argument.box.rend());
                const Result<simt::TensorMap> map = simt::make_tile_map(one.address, one.type, dims, box, argument.swizzle);
                if (!map)
                    return Diagnostic{fmt::format("argument {} ('{}'): {}", i + 1, argument.text, map.error().message)};
                std::memcpy(slot, map.value().bytes.data(), map.value().bytes.size());
            }
        }
        bound.arguments.push_back(std::move(one));
    }
    return bound;
}

std::vector<Array> read_outputs(const BoundArguments& bound, const simt::Memory& memory) {
    std::vector<Array> outputs;
    for (const BoundArgument& argument : bound.arguments) {
        if (argument.role != KernelArgument::Role::out && argument.role != KernelArgument::Role::inout) continue;
        Array array;
        array.dtype = argument.type;
        array.shape = argument.shape;
        const std::byte* bytes = argument.bytes ? memory.read(argument.address, argument.bytes) : nullptr;
        if (bytes) array.bytes.assign(bytes, bytes + argument.bytes);
        outputs.push_back(std::move(array));
    }
    return outputs;
}

void write_outputs(const BoundArguments& bound, const std::vector<Array>& outputs) {
    size_t next = 0;
    for (const BoundArgument& argument : bound.arguments) {
        if (argument.role != KernelArgument::Role::out && argument.role != KernelArgument::Role::inout) continue;
        const Array& output = outputs.at(next++);
        if (!argument.output_file.empty()) write_file(argument.output_file, format_npy(output));
    }
}

}  // namespace lockstep::scene
