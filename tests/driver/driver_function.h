// A function of the driver that the process has loaded, the one that LOCKSTEP_LIBCUDA names; null: there is none. What the
// modelled libraries move memory with.
#pragma once
#include <dlfcn.h>

#include <cstdlib>

template <class Function>
Function driver_function(const char* name) {
    const char* const path = std::getenv("LOCKSTEP_LIBCUDA");
    void* const library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
    return library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
}
