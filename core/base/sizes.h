// Sizes in messages, in the unit in which people know them.
#pragma once
#include <cstdint>
#include <string>

namespace lockstep {

// "1 byte", "600 bytes", "48 KiB", "2.4 GiB"; in bytes what no digit would tell from a whole number: "524289 bytes".
inline std::string size_text(uint64_t bytes) {
    static constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = 0;
    uint64_t step = 1024;
    for (; bytes / step >= 1024; step *= 1024) ++unit;
    const uint64_t tenths = static_cast<uint64_t>(static_cast<double>(bytes) / static_cast<double>(step) * 10 + 0.5);
    if (bytes < 1024 || (tenths % 10 == 0 && bytes % step != 0))
        return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
    const std::string tenth = tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10);
    return std::to_string(tenths / 10) + tenth + " " + units[unit];
}

}  // namespace lockstep
