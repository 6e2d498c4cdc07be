// Bytes as text, as RFC 4648 has it: a picture inside of a page.
#pragma once
#include <span>
#include <string>

namespace lockstep {

std::string base64(std::span<const unsigned char> bytes);

}  // namespace lockstep
