// Checking kernel arguments and laying them out. PTX says .u32 for int and unsigned alike, and .u64 for pointers.
#include "core/device/arguments.h"

#include <fmt/format.h>

#include <cstring>

#include "core/simt/async/tensor_map.h"

namespace lockstep::device {

namespace {
constexpr std::string_view names[] = {"pointer", "i32", "u32",       "i64",
                                      "f32",     "f64", "tensor map"};  // in the order of Argument

// What a parameter takes, in the words of `names`; "" for a struct or a type that no Argument holds.
std::string_view wanted_by(const ptx::Parameter& parameter) {
    using ptx::Type;
    switch (parameter.type) {
        case Type::f32:
            return "f32";
        case Type::f64:
            return "f64";
        case Type::b32:
        case Type::u32:
        case Type::s32:
            return "i32";
        case Type::b64:
        case Type::u64:
            return "pointer";
        case Type::s64:
            return "i64";
        default:
            return parameter.bytes == sizeof(EncodedTile) && parameter.align == 64 ? "tensor map" : "";
    }
}

bool takes(const ptx::Parameter& parameter, const Argument& argument) {
    const std::string_view wanted = wanted_by(parameter), given = type_name(argument);
    if (wanted == given) return true;
    if (wanted == "i32") return given == "u32";
    return wanted == "pointer" && given == "i64" && !parameter.pointer;  // .u64 may be a 64-bit integer
}
}  // namespace

std::string_view type_name(const Argument& argument) {
    return names[argument.index()];
}

void wrong_count(std::string_view kernel, size_t wanted, size_t given) {
    throw Failure(fmt::format("kernel {} takes {} argument{}, but {} given", kernel, wanted, wanted == 1 ? "" : "s",
                              given == 1 ? "1 was" : fmt::format("{} were", given)));
}

void wrong_type(std::string_view kernel, size_t index, std::string_view wanted, const Argument& given) {
    const auto article = [](std::string_view name) { return name.front() == 'i' || name.front() == 'f' ? "an" : "a"; };
    throw Failure(fmt::format("argument {} of {} is {} {}, but {} {} was given", index + 1, kernel, article(wanted), wanted,
                              article(type_name(given)), type_name(given)));
}

EncodedTile encode_for_model(const TensorTile& tile) {
    return simt::make_tile_map(tile.tensor.address, tile.type, tile.dims, tile.box, tile.swizzle).value().bytes;
}

std::vector<std::byte> pack(const ptx::Program& program, std::span<const Argument> arguments,
                            const std::function<EncodedTile(const TensorTile&)>& encode) {
    if (arguments.size() != program.parameters.size())
        wrong_count(program.shown_name(), program.parameters.size(), arguments.size());
    std::vector<std::byte> block(program.parameter_bytes);
    for (size_t i = 0; i < arguments.size(); ++i) {
        const ptx::Parameter& parameter = program.parameters[i];
        const std::string_view wanted = wanted_by(parameter);
        if (wanted.empty())
            throw Failure(fmt::format("argument {} of {} is of a type ({} bytes) that cannot be given here", i + 1,
                                      program.shown_name(), parameter.bytes));
        if (!takes(parameter, arguments[i])) wrong_type(program.shown_name(), i, wanted, arguments[i]);
        const auto put = [&](const auto& value) { std::memcpy(block.data() + parameter.offset, &value, sizeof value); };
        if (const auto* tile = std::get_if<const TensorTile*>(&arguments[i]))
            put(encode(**tile));
        else
            std::visit(put, arguments[i]);
    }
    return block;
}

}  // namespace lockstep::device
