// FNV-1a, 64 bits (Fowler, Noll, Vo): what kernels/build_ptx writes into a PTX file's first line, of the source's bytes.
#pragma once
#include <cstdint>
#include <string_view>

namespace lockstep {

constexpr uint64_t fnv1a64(std::string_view text) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
}

}  // namespace lockstep
