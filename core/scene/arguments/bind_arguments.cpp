// KernelArguments meet a program's parameters: buffers in device memory, the parameter block, and the way back.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>

#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/ptx/ptx.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "core/scene/arguments/kernel_source.h"
#include "core/scene/arguments/struct_members.h"
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
    using Kind = KernelArgument::Kind;
    if (argument.kind == Kind::null || argument.kind == Kind::same || argument.kind == Kind::pointers)
        return parameter.bytes == 8 && parameter.type != ptx::Type::f64
                   ? ""
                   : fmt::format("is {}, but parameter '{}' takes {}",
                                 argument.kind == Kind::pointers ? "an array of pointers" : "a pointer", name,
                                 parameter.type == ptx::Type::f64 ? "a fraction" : fmt::format("{} bytes", parameter.bytes));
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
                           is_struct(parameter)
                               ? ", as a struct: give struct:TYPE:VALUE,TYPE:VALUE, and in:, out: or null for its "
                                 "pointers"
                               : "");
    if (parameter.pointer && argument.kind != Kind::members)  // a struct may begin with one
        return fmt::format("is a number, but parameter '{}' is a pointer: give in:, out:, inout:, @NAME or null", name);
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
std::string description(const ptx::Program& program, size_t i, const std::vector<std::string>& names,
                        const std::vector<std::string>& declarations) {
    const ptx::Parameter& p = program.parameters[i];
    // The compilers make u32 of int, and bytes of a struct: the source says what it is.
    if ((!p.pointer || is_struct(p)) && declarations.size() == program.parameters.size() && !declarations[i].empty())
        return declarations[i];
    const std::string type = is_struct(p) ? fmt::format("struct of {} bytes", p.bytes)
                             : p.pointer  ? "buffer"
                                          : std::string(ptx::name_of(p.type));
    const std::string name = names.size() == program.parameters.size() ? names[i] : readable(program, i);
    return p.type == ptx::Type::none ? name : type + " " + name;
}

std::string name_of_part(const KernelArgument& whole, const KernelArgument& part, const std::string& name) {
    return whole.kind == KernelArgument::Kind::pointers ? fmt::format("{}[{}]", name, part.number)
                                                        : fmt::format("{}.{}", name, part.number);
}

// The address that many elements behind the buffer's first, the end included.
Result<uint64_t> address_in(const BoundArgument& buffer, int64_t offset) {
    const uint64_t size = size_of(buffer.type), count = buffer.bytes / size;
    if (static_cast<uint64_t>(offset) > count)
        return Diagnostic{
            fmt::format("points behind '{}', which has {} element{}", buffer.name, count, count == 1 ? "" : "s")};
    return buffer.address + static_cast<uint64_t>(offset) * size;
}

Result<uint64_t> address_of(const KernelArgument& pointer, const std::string& name, const BoundArguments& bound) {
    if (pointer.kind == KernelArgument::Kind::null) return uint64_t{0};
    const std::string& wanted = pointer.kind == KernelArgument::Kind::same ? pointer.same_as : name;
    std::vector<std::string> buffers;
    for (size_t i = 0; i < bound.arguments.size(); ++i) {
        const BoundArgument& buffer = bound.arguments[i];
        if (buffer.address == 0) continue;
        if (buffer.name == wanted || wanted == fmt::format("{}", i + 1)) return address_in(buffer, pointer.offset);
        buffers.push_back(buffer.name);
    }
    const std::string near = nearest_name(wanted, buffers);
    return Diagnostic{fmt::format("means the buffer of '{}', and there is none{}", wanted,
                                  !near.empty()     ? fmt::format(", did you mean '@{}'?", near)
                                  : buffers.empty() ? ""
                                                    : fmt::format(": there is '@{}'", fmt::join(buffers, "', '@")))};
}

// One buffer in memory, filled; `fits` says why elements of a type are none for it.
template <class Fits>
Result<BoundArgument> make_buffer(const KernelArgument& argument, const std::string& name, uint64_t seed,
                                  const std::filesystem::path& folder, simt::Memory& memory, const Fits& fits) {
    BoundArgument buffer{.role = argument.role, .type = argument.type, .name = name, .output_file = argument.output_file};
    const bool from_file = argument.fill == KernelArgument::Fill::file;
    if (!from_file) {  // what does not fit is refused before it is made
        buffer.bytes = size_of(argument.type);
        for (const int64_t extent : argument.shape) buffer.bytes *= static_cast<uint64_t>(extent);
        buffer.address = memory.allocate(buffer.bytes, name);
    }
    Result<Array> contents = initial_contents(argument, seed, folder);
    if (!contents) return contents.error();
    const Array& array = contents.value();
    if (const std::string why = fits(array.dtype); !why.empty()) return Diagnostic{why};
    buffer.type = array.dtype;
    buffer.shape = array.shape;
    buffer.bytes = array.bytes.size();
    if (from_file) buffer.address = memory.allocate(buffer.bytes, name);
    if (buffer.bytes) std::memcpy(memory.write(buffer.address, buffer.bytes), array.bytes.data(), buffer.bytes);
    if (argument.role == KernelArgument::Role::out) memory.mark_unwritten(buffer.address);
    if (!argument.expected) return buffer;
    buffer.expected = argument.expected;
    const std::string& file = argument.expected->file;
    Result<Array> wanted = read_npy(folder.empty() ? std::filesystem::path(file) : folder / file);
    if (!wanted) return wanted.error();
    buffer.expected->values = std::move(wanted).value();
    const size_t elements = buffer.bytes / size_of(buffer.type), held = buffer.expected->values.count();
    if (held != elements) return Diagnostic{fmt::format("{} has {} elements, but '{}' has {}", file, held, name, elements)};
    return buffer;
}

// The argument itself first, then what it points to.
template <class Fits>
std::optional<Diagnostic> place_buffers(const KernelArgument& argument, const std::string& name, uint64_t seed,
                                        const std::filesystem::path& folder, simt::Memory& memory, BoundArguments& made,
                                        const Fits& fits) {
    if (argument.is_buffer()) {
        Result<BoundArgument> buffer = make_buffer(argument, name, seed, folder, memory, fits);
        if (!buffer) return buffer.error();
        made.arguments.push_back(std::move(buffer).value());
        return std::nullopt;
    }
    BoundArgument own{.type = argument.type, .name = name};
    if (argument.kind == KernelArgument::Kind::pointers) {
        own.role = KernelArgument::Role::in;
        own.type = DType::u64;
        own.bytes = argument.values.bytes.size();
        own.shape = {static_cast<int64_t>(own.bytes / sizeof(uint64_t))};
        own.address = memory.allocate(own.bytes, name);
    }
    made.arguments.push_back(std::move(own));
    return place_pointed(argument, name, seed, folder, memory, made);
}

}  // namespace

std::optional<Diagnostic> place_pointed(const KernelArgument& argument, const std::string& name, uint64_t seed,
                                        const std::filesystem::path& folder, simt::Memory& memory, BoundArguments& bound) {
    for (const KernelArgument& part : argument.parts) {
        if (!part.is_buffer()) continue;
        const auto any = [](DType) { return std::string(); };
        Result<BoundArgument> buffer =
            make_buffer(part, name_of_part(argument, part, name), seed + 10007u * static_cast<uint64_t>(part.number + 1),
                        folder, memory, any);
        if (!buffer) return buffer.error();
        bound.arguments.push_back(std::move(buffer).value());
    }
    return std::nullopt;
}

Result<std::vector<std::byte>> bytes_of_argument(const KernelArgument& argument, const std::string& name,
                                                 const BoundArguments& bound) {
    std::vector<std::byte> bytes = argument.values.bytes;
    const auto put = [&](const KernelArgument& pointer, const std::string& called,
                         uint64_t at) -> std::optional<Diagnostic> {
        const Result<uint64_t> address = address_of(pointer, called, bound);
        if (!address) return address.error();
        std::memcpy(bytes.data() + at, &address.value(), sizeof address.value());
        return std::nullopt;
    };
    if (argument.kind == KernelArgument::Kind::null || argument.kind == KernelArgument::Kind::same || argument.is_buffer()) {
        bytes.assign(sizeof(uint64_t), std::byte{0});
        if (auto problem = put(argument, name, 0)) return *problem;
    }
    for (const KernelArgument& part : argument.parts)
        if (auto problem = put(part, name_of_part(argument, part, name), part.place)) return *problem;
    return bytes;
}

Result<BoundArguments> bind_arguments(const ptx::Program& program, const std::vector<KernelArgument>& arguments,
                                      simt::Memory& memory, simt::LaunchConfig& config, uint64_t seed,
                                      const std::filesystem::path& folder, const std::string& source) {
    const std::vector<std::string> names = parameter_names(source, program.kernel);
    const std::vector<std::string> declarations = parameter_declarations(source, program.kernel);
    if (arguments.size() != program.parameters.size()) {
        std::string list;
        for (size_t i = 0; i < program.parameters.size() && i < 16; ++i)
            list += (list.empty() ? "" : ", ") + description(program, i, names, declarations);
        if (program.parameters.size() > 16) list += " ...";
        return Diagnostic{fmt::format("kernel '{}' takes {} argument{}{}, but {} {} given", program.shown_name(),
                                      program.parameters.size(), program.parameters.size() == 1 ? "" : "s",
                                      list.empty() ? "" : " (" + list + ")", arguments.size(),
                                      arguments.size() == 1 ? "is" : "are")};
    }
    BoundArguments bound, behind;
    config.names = named_parameters(source, program.kernel);
    config.parameters.assign(program.parameter_bytes, std::byte{0});
    const auto name_at = [&](size_t i) {
        return names.size() == arguments.size() ? names[i] : fmt::format("argument {}", i + 1);
    };
    for (size_t i = 0; i < arguments.size(); ++i) {  // what does not fit is refused before anything is made
        const ptx::Parameter& parameter = program.parameters[i];
        const std::string name = names.size() == arguments.size() ? names[i] : readable(program, i);
        if (const std::string why = mismatch(parameter, name, arguments[i]); !why.empty())
            return Diagnostic{fmt::format("argument {} ('{}') {}", i + 1, arguments[i].text, why)};
        if (parameter.offset + parameter.bytes > config.parameters.size())
            return Diagnostic{
                fmt::format("kernel '{}' declares a parameter outside its parameter block", program.shown_name())};
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
        const std::string declaration = declarations.size() == arguments.size() ? declarations[i] : "";
        const auto fits = [&](DType held) {
            return declaration.empty() || arguments[i].texture || !arguments[i].box.empty()
                       ? ""
                       : other_elements(program, declaration, name_at(i), arguments[i], held);
        };
        BoundArguments made;
        if (auto problem = place_buffers(arguments[i], name_at(i), seed * 1000003u + i, folder, memory, made, fits))
            return *problem;
        bound.arguments.push_back(std::move(made.arguments.front()));
        std::move(made.arguments.begin() + 1, made.arguments.end(), std::back_inserter(behind.arguments));
    }
    std::move(behind.arguments.begin(), behind.arguments.end(), std::back_inserter(bound.arguments));
    for (size_t i = 0; i < arguments.size(); ++i) {  // now that all buffers have addresses
        const KernelArgument& argument = arguments[i];
        const BoundArgument& own = bound.arguments[i];
        std::byte* slot = config.parameters.data() + program.parameters[i].offset;
        const Result<std::vector<std::byte>> bytes = bytes_of_argument(argument, own.name, bound);
        if (!bytes) return Diagnostic{fmt::format("argument {} ('{}') {}", i + 1, argument.text, bytes.error().message)};
        if (argument.kind == KernelArgument::Kind::pointers) {
            std::memcpy(memory.write(own.address, own.bytes), bytes.value().data(), own.bytes);
            std::memcpy(slot, &own.address, sizeof own.address);
        } else if (!argument.box.empty()) {
            const std::vector<uint64_t> dims(own.shape.rbegin(), own.shape.rend());
            const std::vector<uint32_t> box(argument.box.rbegin(), argument.box.rend());
            const Result<simt::TensorMap> map = simt::make_tile_map(own.address, own.type, dims, box, argument.swizzle);
            if (!map) return Diagnostic{fmt::format("argument {} ('{}'): {}", i + 1, argument.text, map.error().message)};
            std::memcpy(slot, map.value().bytes.data(), map.value().bytes.size());
        } else if (argument.texture) {
            const uint64_t bytes_there = own.bytes;
            Array texels{own.type, own.shape, {}};
            if (const std::byte* held = bytes_there ? memory.read(own.address, bytes_there) : nullptr)
                texels.bytes.assign(held, held + bytes_there);
            const Result<uint64_t> handle = make_texture(argument, texels, own.address, own.name, memory);
            if (!handle) return handle.error();
            std::memcpy(slot, &handle.value(), sizeof handle.value());
        } else {
            std::memcpy(slot, bytes.value().data(), bytes.value().size());
        }
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
