// __managed__ variables: clang knows them for other GPUs alone. Here one is a device variable whose stand-in on the host lies
// in a section of its own; the runtime learns where that section is and lets the device use the stand-in itself.
#pragma once
#include "cuda_runtime_api.h"
#undef __managed__
#ifdef __CUDA_ARCH__
#define __managed__ __attribute__((device))
#else
#define __managed__ __attribute__((device, section("lockstep_managed")))
extern "C" __attribute__((weak, visibility("hidden"))) char __start_lockstep_managed[], __stop_lockstep_managed[];
static __attribute__((constructor(101), unused)) void lockstep_say_managed() {  // before the file's variables are registered
    if (__start_lockstep_managed) lockstepManaged(__start_lockstep_managed, __stop_lockstep_managed);
}
#endif
