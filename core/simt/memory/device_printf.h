// printf as a kernel has it: the format set of the CUDA C++ programming guide ("Formatted Output"). Internal to core/simt.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::simt {

constexpr uint32_t most_printf_arguments = 32;  // that the guide allows besides the format

struct Formatted {
    std::string text;
    uint32_t arguments = 0;  // that the format took: what printf returns
    std::string problem;     // why it stopped early; empty: it did not
};

// `argument(offset, bytes)`: the bytes of the argument buffer there (each argument lies at a multiple of its size), none
// where it cannot be read. `string(address)`: what %s shows, none likewise.
Formatted format_printf(std::string_view format, const std::function<std::optional<uint64_t>(uint64_t, uint32_t)>& argument,
                        const std::function<std::optional<std::string>(uint64_t)>& string);

}  // namespace lockstep::simt
