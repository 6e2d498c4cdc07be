// How every reader of this folder refuses a file: one sentence with the offset of the byte that it stumbled over.
#pragma once
#include <fmt/format.h>

#include <string>

#include "core/base/diagnostic.h"

namespace lockstep::nn {

inline Diagnostic refusal(const std::string& file, uint64_t offset, const std::string& reason) {
    return Diagnostic{fmt::format("at byte {}: {}", offset, reason), {file}};
}

// A piece of a file that nobody vouches for, fit for a sentence: printable and at most 60 bytes long.
inline std::string in_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text.substr(0, 60)) out += c < 0x20 || c == 0x7f ? '?' : c;
    for (size_t i = 1; i < out.size(); ++i)  // a sequence of UTF-8 that was cut, or that never was one
        if (static_cast<unsigned char>(out[i]) >= 0x80 && text.size() > 60) out[i] = '?';
    return out + (text.size() > 60 ? "...'" : "'");
}

}  // namespace lockstep::nn
