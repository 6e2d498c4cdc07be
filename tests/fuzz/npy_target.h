// What the fuzzer does with npy files: read one; what can be read is written and read again, and is the same.
#pragma once
#include "core/base/files.h"
#include "tests/fuzz/ptx_target.h"

namespace lockstep::fuzz {

inline bool try_npy(std::string_view input) {  // whether it is one
    const auto array = parse_npy(input, "fuzz.npy");
    if (!array) {
        must(!array.error().message.empty() && !render(array.error()).empty(), "a complaint without words");
        return false;
    }
    uint64_t bytes = size_of(array.value().dtype);
    for (const int64_t extent : array.value().shape) {
        must(extent >= 0, "an extent below zero");
        bytes *= static_cast<uint64_t>(extent);
    }
    must(bytes == array.value().bytes.size(), "the shape does not say how many bytes there are");
    const auto again = parse_npy(format_npy(array.value()), "again.npy");
    must(again.ok() && again.value().dtype == array.value().dtype && again.value().shape == array.value().shape &&
             again.value().bytes == array.value().bytes,
         "an array changes when it is written and read");
    return true;
}

}  // namespace lockstep::fuzz
