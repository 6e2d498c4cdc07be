// Unpacking by zlib, held to a limit: a small file that claims or makes a huge one is refused, not followed.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace lockstep::nn {

// A gzip file's contents (RFC 1952, one member after another), at most `limit` bytes.
Result<std::string> gunzip(std::string_view bytes, const std::string& name, size_t limit = size_t{1} << 28);

// Raw deflate (RFC 1951) that makes exactly `size` bytes of all of `bytes`; `offset` is where these stand in the file.
Result<std::string> inflate_raw(std::string_view bytes, const std::string& name, uint64_t offset, uint64_t size);

uint32_t crc32_of(std::string_view bytes);  // as in gzip and zip

}  // namespace lockstep::nn
