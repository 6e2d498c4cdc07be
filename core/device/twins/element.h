// Element types on the host, as kernels/include/element.h has them on the GPU: storage T, arithmetic in Acc<T>. Conversions
// are without branches, so that loops over f16 and bf16 become vectors too.
#pragma once
#include <bit>
#include <cstdint>

#include "core/device/twins/isa.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

struct f16 {  // IEEE binary16
    uint16_t bits = 0;
    f16() = default;
    f16(float value) : bits(rounded(value)) {}
    operator float() const {
        const uint32_t wide = static_cast<uint32_t>(bits & 0x7fff) << 13;
        // 2^112 moves the exponent's bias; subnormals become normal on the way.
        const float scaled = std::bit_cast<float>(wide) * std::bit_cast<float>(0x77800000u);
        const uint32_t special = (bits & 0x7c00) == 0x7c00 ? 0x7f800000u : 0u;
        return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | special | static_cast<uint32_t>(bits & 0x8000) << 16);
    }

  private:
    static uint16_t rounded(float value) {  // to nearest even, by an addition whose last bit is f16's
        const uint32_t given = std::bit_cast<uint32_t>(value), magnitude = given & 0x7fffffffu;
        const uint32_t exponent = magnitude & 0x7f800000u;
        const uint32_t least = exponent < 0x38800000u ? 0x38800000u : exponent;  // 2^-14, the smallest normal f16
        const float shifter = std::bit_cast<float>(least + (13u << 23));
        const uint32_t sum = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + shifter);
        const uint32_t fraction = sum - std::bit_cast<uint32_t>(shifter);
        const uint32_t finite = fraction + (((least >> 23) - 113u) << 10);
        const uint32_t kept = magnitude > 0x7f800000u ? 0x7fffu : (magnitude >= 0x477ff000u ? 0x7c00u : finite);
        return static_cast<uint16_t>(kept | (magnitude > 0x7f800000u ? 0u : given >> 16 & 0x8000u));
    }
};

struct bf16 {  // the upper half of a float
    uint16_t bits = 0;
    bf16() = default;
    bf16(float value) {
        const uint32_t wide = std::bit_cast<uint32_t>(value);
        const uint32_t rounded = (wide + 0x7fffu + (wide >> 16 & 1)) >> 16;
        bits = static_cast<uint16_t>((wide & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded);
    }
    operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

template <class T>
struct Computed {
    using type = float;
};
template <>
struct Computed<double> {
    using type = double;
};
template <>
struct Computed<int> {
    using type = int;
};
template <>
struct Computed<int64_t> {
    using type = int64_t;
};
template <>
struct Computed<uint8_t> {
    using type = uint32_t;
};
template <class T>
using Acc = typename Computed<T>::type;

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
