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

namespace lockstep::runtime {

template <class Work>
cudaError_t call(const char* name, Work&& work) {
    Runtime& runtime = Runtime::instance();
    const std::scoped_lock lock(runtime.mutex());
    runtime.enter(name);
    CallFailure failure;
    cudaError_t answer = cudaSuccess;
    try {
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
    if (!kernel) throw CallFailure{cudaErrorInvalidDeviceFunction, "this is no __global__ function of the program"};
    return *kernel;
}

inline void need_device(Runtime& runtime, int device) {
    if (device < 0 || device >= static_cast<int>(runtime.device_count()))
        throw CallFailure{cudaErrorInvalidDevice, "there are " + std::to_string(runtime.device_count()) +
                                                      " devices, numbered from 0, and device " + std::to_string(device) +
                                                      " is asked for"};
}

}  // namespace lockstep::runtime
