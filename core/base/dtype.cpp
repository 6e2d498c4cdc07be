#include "core/base/dtype.h"

#include <array>
#include <bit>

namespace lockstep {
namespace {
struct Row {
    DType type;
    const char* name;
    size_t bytes;
};
constexpr std::array<Row, 12> rows = {{{DType::i8, "i8", 1},
                                       {DType::u8, "u8", 1},
                                       {DType::i16, "i16", 2},
                                       {DType::u16, "u16", 2},
                                       {DType::f16, "f16", 2},
                                       {DType::bf16, "bf16", 2},
                                       {DType::i32, "i32", 4},
                                       {DType::u32, "u32", 4},
                                       {DType::f32, "f32", 4},
                                       {DType::i64, "i64", 8},
                                       {DType::u64, "u64", 8},
                                       {DType::f64, "f64", 8}}};
}  // namespace

size_t size_of(DType type) {
    return rows[static_cast<size_t>(type)].bytes;
}
std::string_view name_of(DType type) {
    return rows[static_cast<size_t>(type)].name;
}
std::optional<DType> dtype_named(std::string_view name) {
    for (const Row& row : rows)
        if (name == row.name) return row.type;
    return std::nullopt;
}

float f16_to_f32(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    uint32_t exponent = (bits >> 10) & 0x1fu, mantissa = bits & 0x3ffu;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
    if (exponent == 0) {
        if (mantissa == 0) return std::bit_cast<float>(sign);
        exponent = 1;
        while (!(mantissa & 0x400u)) {
            mantissa <<= 1;
            --exponent;
        }
        mantissa &= 0x3ffu;
    }
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

uint16_t f32_to_f16(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value), sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return 0x7fff;
    if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds to infinity
    uint32_t exponent = magnitude >> 23, mantissa = (magnitude & 0x7fffffu) | (exponent ? 0x800000u : 0u);
    uint32_t shift = 13, base = 0;
    if (exponent < 113) {  // subnormal in half precision
        shift = 126 - exponent;
        if (shift > 24) return static_cast<uint16_t>(sign);
    } else {
        base = (exponent - 113) << 10;
    }
    uint32_t kept = mantissa >> shift;
    const uint32_t rest = mantissa & ((1u << shift) - 1), half = 1u << (shift - 1);
    if (rest > half || (rest == half && (kept & 1))) ++kept;
    return static_cast<uint16_t>(sign | (base + kept));
}

uint16_t f32_to_bf16(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace lockstep
