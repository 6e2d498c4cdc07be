// Times, sizes and counts as people read them, in units of the SI. Sizes of memories, in powers of 1024: sizes.h.
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep {

std::string with_commas(int64_t value);  // "12,525"
// So many of something: "1 warp", "2,048 warps"; `many` where it does not end in s alone ("pass", "passes").
std::string counted(int64_t count, std::string_view one, std::string_view many = {});
template <std::integral Count>
std::string counted(Count count, std::string_view one, std::string_view many = {}) {
    return counted(static_cast<int64_t>(count), one, many);
}

struct TimeDigits {
    int significant = 3;
    int decimals = -1;        // so many digits behind the point instead; -1: the significant ones
    double milli_from = 1e3;  // microseconds; a second is written in seconds
};
std::string time_text(double us, const TimeDigits& digits = {});  // "4.37 ms", "500 µs"

std::string wall_time_text(double seconds);  // that the reader waited: "8.3 ms", "120 ms", "1.25 s"

std::string bytes_si(double bytes);  // "64 MB", in powers of 1000

}  // namespace lockstep
