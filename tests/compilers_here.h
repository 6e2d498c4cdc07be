// Which compilers of CUDA C++ this computer has.
#pragma once
#include "core/device/kernels/kernel_library.h"

// Whether there is the compiler "nvrtc", "nvcc" or "clang"; "" any.
[[maybe_unused]] inline bool compiler_here(const std::string& name = {}) {
    for (const lockstep::device::DeviceListing& listing : lockstep::device::list_compilers())
        if (listing.available && (name.empty() || listing.name == name)) return true;
    return false;
}
