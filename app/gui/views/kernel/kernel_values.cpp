#include "app/gui/views/kernel/kernel_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "app/gui/widgets/draw.h"
#include "core/scene/arguments/outputs.h"

namespace lockstep::gui {

namespace {

template <class T>
T read(const std::byte* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

bool is_real(DType type) {
    return type == DType::f16 || type == DType::bf16 || type == DType::f32 || type == DType::f64;
}

std::string short_real(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    const double size = std::abs(value);
    if (size != 0 && (size >= 1e6 || size < 1e-3)) return fmt::format("{:.2e}", value);
    return fmt::format("{:.5g}", value);
}

}  // namespace

double number_at(DType type, const std::byte* bytes) {
    switch (type) {
        case DType::i8:
            return read<int8_t>(bytes);
        case DType::u8:
            return read<uint8_t>(bytes);
        case DType::i16:
            return read<int16_t>(bytes);
        case DType::u16:
            return read<uint16_t>(bytes);
        case DType::f16:
            return f16_to_f32(read<uint16_t>(bytes));
        case DType::bf16:
            return bf16_to_f32(read<uint16_t>(bytes));
        case DType::i32:
            return read<int32_t>(bytes);
        case DType::u32:
            return read<uint32_t>(bytes);
        case DType::f32:
            return read<float>(bytes);
        case DType::i64:
            return static_cast<double>(read<int64_t>(bytes));
        case DType::u64:
            return static_cast<double>(read<uint64_t>(bytes));
        case DType::f64:
            return read<double>(bytes);
    }
    return NAN;
}

std::string text_at(DType type, const std::byte* bytes) {
    if (is_real(type)) return short_real(number_at(type, bytes));
    std::string text = type == DType::u64   ? std::to_string(read<uint64_t>(bytes))
                       : type == DType::i64 ? std::to_string(read<int64_t>(bytes))
                                            : fmt::format("{:.0f}", number_at(type, bytes));
    return text.size() > 10 ? fmt::format("{:.3e}", number_at(type, bytes)) : text;
}

bool is_unset(DType type, const std::byte* bytes) {
    return scene::is_unset(type, bytes);
}

Buffer buffer_of(const scene::BoundArgument& argument, const simt::Memory& before, const simt::Memory& after) {
    Buffer buffer;
    buffer.name = argument.name;
    buffer.role = argument.role;
    buffer.type = argument.type;
    buffer.shape = argument.shape;
    buffer.address = argument.address;
    static constexpr std::string_view roles[] = {"scalar", "in", "out", "inout"};
    buffer.type_text = fmt::format("{} {}[", roles[static_cast<size_t>(argument.role)], name_of(argument.type));
    for (size_t i = 0; i < argument.shape.size(); ++i)
        buffer.type_text += (i ? "," : "") + std::to_string(argument.shape[i]);
    buffer.type_text += "]";
    const auto copy = [&](const simt::Memory& memory) {
        const std::byte* bytes = argument.bytes ? memory.read(argument.address, argument.bytes) : nullptr;
        return bytes ? std::vector<std::byte>(bytes, bytes + argument.bytes) : std::vector<std::byte>();
    };
    buffer.before = copy(before);
    buffer.after = copy(after);
    BufferFacts& facts = buffer.facts;
    const size_t size = size_of(argument.type);
    facts.count = buffer.count();
    double sum = 0;
    for (size_t i = 0; i < facts.count; ++i) {
        const std::byte* at = buffer.after.data() + i * size;
        const bool same =
            i * size + size <= buffer.before.size() && std::memcmp(at, buffer.before.data() + i * size, size) == 0;
        facts.changed += !same;
        if (argument.role == scene::KernelArgument::Role::out && is_unset(argument.type, at)) {
            ++facts.untouched;
            continue;
        }
        const double value = number_at(argument.type, at);
        if (!std::isfinite(value)) {
            ++facts.not_numbers;
            continue;
        }
        if (facts.finite == 0) facts.low = facts.high = value;
        facts.low = std::min(facts.low, value);
        facts.high = std::max(facts.high, value);
        sum += value;
        ++facts.finite;
    }
    if (facts.finite > 0) facts.mean = sum / static_cast<double>(facts.finite);
    return buffer;
}

std::string sentence_of(const Buffer& buffer) {
    const BufferFacts& f = buffer.facts;
    if (f.count == 0) return "empty";
    std::string text;
    if (f.finite > 0)
        text = f.low == f.high ? fmt::format("{} everywhere", short_real(f.low))
                               : fmt::format("{} to {}, mean {}", short_real(f.low), short_real(f.high), short_real(f.mean));
    const auto more = [&](size_t count, const char* what) {
        if (count > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", with_commas(static_cast<int64_t>(count)), what);
    };
    more(f.not_numbers, "not finite");
    more(f.untouched, "never written");
    return text;
}

}  // namespace lockstep::gui
