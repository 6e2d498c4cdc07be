#include "core/comm/collectives/reduce.h"

#include <type_traits>

namespace lockstep::comm {
namespace {

template <class T>
T reduced_sum(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    } else {
        return a + b;
    }
}

template <class T>
void reduce_elements(T* __restrict own, const T* __restrict arrived, int64_t count, Reduction reduction) {
    switch (reduction) {
        case Reduction::sum:
            for (int64_t i = 0; i < count; ++i) own[i] = reduced_sum(own[i], arrived[i]);
            break;
        case Reduction::max:  // of a NaN and a number the comparison is false: own's NaN by own != own, the other's by
                              // default
            for (int64_t i = 0; i < count; ++i) own[i] = own[i] > arrived[i] || own[i] != own[i] ? own[i] : arrived[i];
            break;
        case Reduction::min:
            for (int64_t i = 0; i < count; ++i) own[i] = own[i] < arrived[i] || own[i] != own[i] ? own[i] : arrived[i];
            break;
    }
}

template <class Widen, class Narrow>
void reduce_halves(uint16_t* own, const uint16_t* arrived, int64_t count, Reduction reduction, Widen widen, Narrow narrow) {
    for (int64_t i = 0; i < count; ++i) {
        float value = widen(own[i]);
        const float other = widen(arrived[i]);
        reduce_elements(&value, &other, 1, reduction);
        own[i] = narrow(value);
    }
}

}  // namespace

void reduce_into(const Buffer& own, const void* arrived, Reduction reduction) {
    const auto as = [&]<class T>(T) {
        reduce_elements(static_cast<T*>(own.data), static_cast<const T*>(arrived), own.count, reduction);
    };
    const auto halves = [&](auto widen, auto narrow) {
        reduce_halves(static_cast<uint16_t*>(own.data), static_cast<const uint16_t*>(arrived), own.count, reduction, widen,
                      narrow);
    };
    switch (own.type) {
        case DType::i8:
            return as(int8_t{});
        case DType::u8:
            return as(uint8_t{});
        case DType::i16:
            return as(int16_t{});
        case DType::u16:
            return as(uint16_t{});
        case DType::f16:
            return halves(f16_to_f32, f32_to_f16);
        case DType::bf16:
            return halves(bf16_to_f32, f32_to_bf16);
        case DType::i32:
            return as(int32_t{});
        case DType::u32:
            return as(uint32_t{});
        case DType::f32:
            return as(float{});
        case DType::i64:
            return as(int64_t{});
        case DType::u64:
            return as(uint64_t{});
        case DType::f64:
            return as(double{});
    }
}

std::string_view name_of(Reduction reduction) {
    return reduction == Reduction::sum ? "sum" : reduction == Reduction::max ? "max" : "min";
}

}  // namespace lockstep::comm
