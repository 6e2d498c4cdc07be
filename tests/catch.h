// Catch2, version 2 or 3, under one include.
#pragma once
#ifdef LOCKSTEP_CATCH2_V3
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
