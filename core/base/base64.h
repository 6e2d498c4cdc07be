// Bytes as text, as RFC 4648 has it: a picture inside of a page.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lockstep {

std::string base64(std::span<const unsigned char> bytes);
std::optional<std::string> from_base64(std::string_view text);  // nothing: it is none

}  // namespace lockstep
