#include "core/base/base64.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace lockstep {

std::string base64(std::span<const unsigned char> bytes) {
    static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
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

}  // namespace lockstep
