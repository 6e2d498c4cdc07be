// Catch2, version 2 or 3, under one include. A test case tagged [long] trains or simulates for seconds to prove a figure;
// under sanitizers, where that takes minutes and finds nothing that shorter ones do not, it is left out.
#pragma once
#include <cstdlib>
#include <string_view>

#ifdef LOCKSTEP_CATCH2_V3
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

// Whether every case is asked for that there is: `./dev check` asks so (LOCKSTEP_EXHAUSTIVE=1), `./dev test` takes a sample
// of what is large and alike (random programs, exercises and kernels by each compiler).
inline bool exhaustive() {
    const char* const asked = std::getenv("LOCKSTEP_EXHAUSTIVE");
    return asked != nullptr && std::string_view(asked) == "1";
}
// Of cases numbered from 0: all of them, or every nth.
inline bool sampled(size_t number, size_t nth) {
    return number % nth == 0 || exhaustive();
}
