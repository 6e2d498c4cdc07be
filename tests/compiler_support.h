// What a compiler on this machine can do.
#pragma once
#include "core/device/kernels/kernel_library.h"

// clang's mathematical functions in double precision are a package of their own.
inline bool has_libclc() {
    return lockstep::device::compile("#ifndef LOCKSTEP_LIBCLC\n#error none\n#endif\n__global__ void f() {}\n", "probe.cu",
                                     {.compiler = "clang"})
        .ok();
}
