// KernelArguments meet a program's parameters: buffers in device memory, the parameter block, and the way back.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/files.h"
#include "core/ptx/ptx.h"
#include "core/simt/tensor_map.h"
#include "lessons/player/kernel_arguments.h"
#include "lessons/player/kernel_source.h"
#include "lessons/player/texture_arguments.h"

namespace lockstep::lessons {
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

}  // namespace lockstep::lessons
