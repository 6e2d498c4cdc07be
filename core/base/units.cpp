// One formatter for each kind of amount.
#include "core/base/units.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep {

std::string with_commas(int64_t value) {
    std::string digits = std::to_string(value);
    const int first = value < 0 ? 1 : 0;
    for (int at = static_cast<int>(digits.size()) - 3; at > first; at -= 3) digits.insert(static_cast<size_t>(at), ",");
    return digits;
}

std::string counted(int64_t count, std::string_view one, std::string_view many) {
    const std::string number = with_commas(count);
    if (count == 1) return fmt::format("{} {}", number, one);
    return many.empty() ? fmt::format("{} {}s", number, one) : fmt::format("{} {}", number, many);
}

std::string time_text(double us, const TimeDigits& digits) {
    struct Unit {
        double us;
        const char* name;
    };
    // What rounds up to a thousand of one unit is one of the next: 999.9 µs is 1 ms, not 1e+03 µs.
    const double power = us > 0 ? std::pow(10.0, std::floor(std::log10(us)) + 1 - digits.significant) : 1;
    const double shown = digits.decimals >= 0 ? us : std::round(us / power) * power;
    const Unit unit = shown >= 1e6 ? Unit{1e6, "s"} : shown >= digits.milli_from ? Unit{1e3, "ms"} : Unit{1, "µs"};
    return digits.decimals >= 0 ? fmt::format("{:.{}f} {}", us / unit.us, digits.decimals, unit.name)
                                : fmt::format("{:.{}g} {}", us / unit.us, digits.significant, unit.name);
}

std::string wall_time_text(double seconds) {
    TimeDigits digits{.decimals = seconds < 0.9995 ? 0 : 2, .milli_from = 0};
    if (seconds < 0.01) digits = {.significant = 2, .milli_from = 0};
    return seconds >= 0.9995 ? fmt::format("{:.2f} s", seconds) : time_text(1e6 * seconds, digits);
}

std::string bytes_si(double bytes) {
    static constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
    int unit = 0;
    while (bytes >= 999.5 && unit < 4) bytes /= 1000, ++unit;
    return fmt::format("{:.3g} {}", bytes, units[unit]);
}

}  // namespace lockstep
