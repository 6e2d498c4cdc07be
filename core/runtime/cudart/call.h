// The frame of every function of the C interface: one at a time, errors as values, nothing thrown into the program. What is
// no error (cudaErrorNotReady) is returned by `work` instead of thrown.
#pragma once
#include <exception>
#include <mutex>
#include <type_traits>

#include "core/base/diagnostic.h"
#include "core/runtime/runtime.h"
// What programs may call is all that the library shows of itself.
#pragma GCC visibility push(default)
#include "kernels/include/program/cuda_runtime_api.h"
#pragma GCC visibility pop
#define LOCKSTEP_INTERFACE _Pragma("GCC visibility push(default)") extern "C" {
#define LOCKSTEP_INTERFACE_END \
    }                          \
    _Pragma("GCC visibility pop")

// Another name of a function of the same file: `_ptsz` and `_ptds` are those of programs that are compiled with a default
// stream for each thread (here it is the same one), `_v2` and `_v3` those of earlier CUDAs.
#define LOCKSTEP_ALIAS(other, name) void other() __attribute__((alias(#name)));
// Functions whose arguments changed: programs of the earlier CUDAs find lockstep11_NAME or lockstep12_NAME under the name.
// What is here as NAME is CUDA 13's then, and stands in versions.map.
#ifdef __ELF__
#define LOCKSTEP_NAMED(function, name, version) __asm__(".symver " #function "," #name "@libcudart.so." version);
#else
#define LOCKSTEP_NAMED(function, name, version)
#endif
#define LOCKSTEP_EARLIER(name) LOCKSTEP_NAMED(lockstep11_##name, name, "11.0") LOCKSTEP_NAMED(lockstep11_##name, name, "12")
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wattribute-alias"  // the alias' own type is never used
#endif

namespace lockstep::runtime {

template <class Work>
cudaError_t call(const char* name, Work&& work) {
    Runtime& runtime = Runtime::instance();
    const std::scoped_lock lock(runtime.mutex());
    runtime.enter(name);
    CallFailure failure;
    cudaError_t answer = cudaSuccess;
    try {
        if (in_host_function()) throw CallFailure{cudaErrorNotPermitted, "a stream's host function may not call CUDA"};
        if constexpr (std::is_void_v<decltype(work(runtime))>)
            work(runtime);
        else
            answer = work(runtime);
    } catch (const CallFailure& refused) {
        failure = refused;
    } catch (const Failure& problem) {
        failure = {cudaErrorUnknown, problem.diagnostic.message};
    } catch (const std::exception& problem) {
        failure = {cudaErrorMemoryAllocation, problem.what()};
    }
    const auto error = static_cast<cudaError_t>(runtime.leave(failure));
    return error == cudaSuccess ? answer : error;
}

// A call that the modelled GPU has no answer to: it says its name once.
inline cudaError_t not_supported(const char* name) {
    return call(name, [&](Runtime& runtime) {
        runtime.note(std::string(name) + " is not supported on the modelled GPU");
        throw CallFailure{cudaErrorNotSupported, "the modelled GPU does not have this call"};
    });
}

template <class Pointer>
void need(Pointer pointer, const char* what) {
    if (!pointer) throw CallFailure{cudaErrorInvalidValue, std::string(what) + " is a null pointer"};
}

inline StreamState& stream_of(Runtime& runtime, cudaStream_t handle) {
    StreamState* stream = runtime.stream_of(handle);
    if (!stream) throw CallFailure{cudaErrorInvalidResourceHandle, "this is no stream, or it was destroyed"};
    return *stream;
}

inline EventState& event_of(Runtime& runtime, cudaEvent_t handle) {
    auto* const event = reinterpret_cast<EventState*>(handle);
    if (!runtime.is_event(event)) throw CallFailure{cudaErrorInvalidResourceHandle, "this is no event, or it was destroyed"};
    return *event;
}

inline Kernel& kernel_of(Runtime& runtime, const void* function) {
    Kernel* kernel = runtime.kernel_of(function);
    if (!kernel) throw no_kernel(function);
    return *kernel;
}

inline uint64_t address_of(const void* pointer) {
    return reinterpret_cast<uintptr_t>(pointer);
}

inline ModuleVariable& symbol_of(Runtime& runtime, const void* symbol) {
    ModuleVariable* variable = runtime.variable_of(symbol);
    if (!variable)
        throw CallFailure{cudaErrorInvalidSymbol,
                          "this is no __device__, __constant__ or __managed__ variable of the program"};
    return *variable;
}

// Where byte `offset` of a variable lies, of which `bytes` bytes are wanted.
inline uint64_t address_in(Runtime& runtime, const void* symbol, size_t offset, size_t bytes) {
    ModuleVariable& variable = symbol_of(runtime, symbol);
    if (offset > variable.bytes || bytes > variable.bytes - offset)
        throw CallFailure{cudaErrorInvalidValue, std::to_string(bytes) + " bytes from byte " + std::to_string(offset) +
                                                     " on reach past the end of '" + variable.name + "', which has " +
                                                     std::to_string(variable.bytes)};
    return runtime.address_of(variable) + offset;
}

Array& array_of(Runtime& runtime, const void* handle);  // arrays.cpp
CopyWork copy_of(Runtime& runtime, const cudaMemcpy3DParms& parameters);
cudaMemcpy3DParms parameters_of(Runtime& runtime, const CopyWork& work);

void give_back_to_pool(uint64_t address);  // pools.cpp: what was freed

inline void need_device(Runtime& runtime, int device) {
    if (device < 0 || device >= static_cast<int>(runtime.device_count()))
        throw CallFailure{
            cudaErrorInvalidDevice,
            "there are " + std::to_string(runtime.device_count()) + " devices, numbered from 0, and device " +
                std::to_string(device) + " is asked for" +
                (device > 0 && device < 16 ? ": --gpus " + std::to_string(device + 1) + " gives the program so many" : "")};
}

}  // namespace lockstep::runtime
