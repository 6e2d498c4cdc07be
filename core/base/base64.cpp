#include "core/base/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace lockstep {

static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string base64(std::span<const unsigned char> bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (size_t i = 0; i < bytes.size(); i += 3) {
        const size_t there = std::min<size_t>(3, bytes.size() - i);
        uint32_t three = 0;
        for (size_t k = 0; k < 3; ++k) three = three << 8 | (k < there ? bytes[i + k] : 0u);
        for (size_t k = 0; k < 4; ++k) text += k <= there ? letters[three >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    const size_t ends = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
    std::array<int8_t, 256> value{};
    value.fill(-1);
    for (size_t i = 0; i < letters.size(); ++i) value[static_cast<unsigned char>(letters[i])] = static_cast<int8_t>(i);
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    for (size_t i = 0; i < text.size(); i += 4) {
        uint32_t three = 0;
        const size_t there = i + 4 == text.size() ? 4 - ends : 4;
        for (size_t k = 0; k < 4; ++k) {
            const int8_t six = k < there ? value[static_cast<unsigned char>(text[i + k])] : int8_t{0};
            if (six < 0) return std::nullopt;
            three = three << 6 | static_cast<uint32_t>(six);
        }
        for (size_t k = 0; k + 1 < there; ++k) bytes += static_cast<char>(three >> (16 - 8 * k) & 255);
    }
    return bytes;
}

}  // namespace lockstep
