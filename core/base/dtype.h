// Element types by their short names, as `--arg` and npy files spell them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep {

enum class DType : uint8_t { i8, u8, i16, u16, f16, bf16, i32, u32, f32, i64, u64, f64 };

size_t size_of(DType type);                               // bytes an element
std::string_view name_of(DType type);                     // "f32"
std::optional<DType> dtype_named(std::string_view name);  // none for an unknown name

float f16_to_f32(uint16_t bits);
uint16_t f32_to_f16(float value);  // round to nearest even
inline float bf16_to_f32(uint16_t bits) {
    uint32_t wide = static_cast<uint32_t>(bits) << 16;
    return __builtin_bit_cast(float, wide);
}
uint16_t f32_to_bf16(float value);  // round to nearest even

}  // namespace lockstep
