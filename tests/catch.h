// Catch2, version 2 or 3, under one include. A test case tagged [long] trains or simulates for seconds to prove a figure;
// under sanitizers, where that takes minutes and finds nothing that shorter ones do not, it is left out.
#pragma once
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
