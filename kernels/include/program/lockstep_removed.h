// What CUDA 13 took away and programs still use: cudaThreadSynchronize and its like, fields of cudaDeviceProp, devices by
// their number in cudaMemPrefetchAsync, votes and shuffles without a mask. Put behind cuda_runtime.h by -include:
//   nvcc -include lockstep_removed.h ...
// lockstep_program.h includes it too; cuda_runtime_api.h there has the host's part already.
#pragma once
#ifdef __cplusplus
#include <cuda_runtime.h>

#define LOCKSTEP_REMOVED static __inline__ __device__
#ifdef LOCKSTEP_PROGRAM  // nvcc still has these three
LOCKSTEP_REMOVED int __any(int p) { return __any_sync(__activemask(), p); }
LOCKSTEP_REMOVED int __all(int p) { return __all_sync(__activemask(), p); }
LOCKSTEP_REMOVED unsigned __ballot(int p) { return __ballot_sync(__activemask(), p); }
#endif
#if defined LOCKSTEP_PROGRAM || (defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 700)
template <class T>
LOCKSTEP_REMOVED T __shfl(T value, int lane, int width = 32) {
    return __shfl_sync(__activemask(), value, lane, width);
}
template <class T>
LOCKSTEP_REMOVED T __shfl_up(T value, unsigned by, int width = 32) {
    return __shfl_up_sync(__activemask(), value, by, width);
}
template <class T>
LOCKSTEP_REMOVED T __shfl_down(T value, unsigned by, int width = 32) {
    return __shfl_down_sync(__activemask(), value, by, width);
}
template <class T>
LOCKSTEP_REMOVED T __shfl_xor(T value, int with, int width = 32) {
    return __shfl_xor_sync(__activemask(), value, with, width);
}
#endif
#undef LOCKSTEP_REMOVED

#ifndef LOCKSTEP_PROGRAM
#include "lockstep_device_properties.h"
struct lockstepDeviceProp {
    LOCKSTEP_DEVICE_PROPERTIES
    LOCKSTEP_REMOVED_DEVICE_PROPERTIES
};
extern "C" {
cudaError_t lockstepGetDeviceProperties(struct lockstepDeviceProp* properties, int device);
cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaThreadExit(void);
cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config);
}
static inline cudaError_t cudaGetDeviceProperties(struct lockstepDeviceProp* properties, int device) {
    return lockstepGetDeviceProperties(properties, device);
}
static inline cudaError_t cudaChooseDevice(int* device, const struct lockstepDeviceProp* properties) {
    return cudaChooseDevice(device, (const struct cudaDeviceProp*)properties);  // the first fields are the same
}
#define cudaDeviceProp lockstepDeviceProp

static inline cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device, cudaStream_t stream = 0) {
    const struct cudaMemLocation location = {device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device};
    return ::cudaMemPrefetchAsync(pointer, bytes, location, 0, stream);
}
static inline cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, enum cudaMemoryAdvise advice, int device) {
    const struct cudaMemLocation location = {device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device};
    return ::cudaMemAdvise(pointer, bytes, advice, location);
}
static inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                                   size_t count) {
    return ::cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
#endif
#endif
