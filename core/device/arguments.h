// Kernel arguments: checked by count and type, then either packed into a parameter block (modelled GPU) or handed to a
// native function (host twins). Both say the same sentence: "argument 3 of relu_f32 is an i32, but a pointer was given".
#pragma once
#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/device/device.h"
#include "core/device/kernels/thread_pool.h"

namespace lockstep::device {

std::string_view type_name(const Argument& argument);  // "pointer", "i32", ...

[[noreturn]] void wrong_count(std::string_view kernel, size_t wanted, size_t given);
[[noreturn]] void wrong_type(std::string_view kernel, size_t index, std::string_view wanted, const Argument& given);

// The parameter block of `program`, laid out as its parameters say. Throws Failure. encode: what a tensor map's 128 bytes
// are.
using EncodedTile = std::array<std::byte, 128>;
EncodedTile encode_for_model(const TensorTile& tile);
std::vector<std::byte> pack(const ptx::Program& program, std::span<const Argument> arguments,
                            const std::function<EncodedTile(const TensorTile&)>& encode = encode_for_model);

// Inlined: each copy of the twins keeps its own (twins/isa.h).
template <class T>
[[gnu::always_inline]] inline T unpack(std::string_view kernel, std::span<const Argument> arguments, size_t index) {
    if constexpr (std::is_pointer_v<T>) {
        if (const auto* p = std::get_if<Pointer>(&arguments[index])) return reinterpret_cast<T>(p->address);
        wrong_type(kernel, index, "pointer", arguments[index]);
    } else {
        if (const auto* p = std::get_if<T>(&arguments[index])) return *p;
        wrong_type(kernel, index, type_name(T{}), arguments[index]);
    }
}

// function(pool, arguments...), with the arguments' types taken from the function.
template <class... T>
[[gnu::always_inline]] inline void call(std::string_view kernel, void (*function)(ThreadPool&, T...),
                                        std::span<const Argument> arguments, ThreadPool& pool) {
    if (arguments.size() != sizeof...(T)) wrong_count(kernel, sizeof...(T), arguments.size());
    [&]<size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
        function(pool, unpack<T>(kernel, arguments, i)...);
    }
    (std::index_sequence_for<T...>{});
}

}  // namespace lockstep::device
