// Variables of a module that a kernel reads and nobody has set: they are zero, which is seldom meant.
#pragma once
#include <string>
#include <vector>

#include "core/simt/launch.h"

namespace lockstep::scene {

// Warnings of kind "outputs", one a variable: __constant__ and __device__ ones without an initial value, not among `set`
// (names in CUDA C++ or in PTX), that `program` reads and never writes. `source`: the CUDA text, which may have an initial
// value of zeros, or nothing.
std::vector<simt::Fault> warnings_of_symbols(const ptx::Program& program, const std::vector<std::string>& set,
                                             const std::string& source);

}  // namespace lockstep::scene
