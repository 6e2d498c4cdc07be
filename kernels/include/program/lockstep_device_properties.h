// The fields of cudaDeviceProp, for driver_types.h and, behind NVIDIA's headers, for lockstep_removed.h.
#pragma once
// As CUDA 13 lays it out. What CUDA 13 removed stands behind it, for programs that still read it: the library fills that part
// for programs of these headers alone (see cudaGetDeviceProperties).
#define LOCKSTEP_DEVICE_PROPERTIES                                                                                    \
    char name[256];                                                                                                   \
    cudaUUID_t uuid;                                                                                                  \
    char luid[8];                                                                                                     \
    unsigned int luidDeviceNodeMask;                                                                                  \
    size_t totalGlobalMem, sharedMemPerBlock;                                                                         \
    int regsPerBlock, warpSize;                                                                                       \
    size_t memPitch;                                                                                                  \
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];                                                         \
    size_t totalConstMem;                                                                                             \
    int major, minor;                                                                                                 \
    size_t textureAlignment, texturePitchAlignment;                                                                   \
    int multiProcessorCount, integrated, canMapHostMemory;                                                            \
    int maxTexture1D, maxTexture1DMipmap, maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3];              \
    int maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2];        \
    int maxTexture2DLayered[3], maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2], maxSurface3D[3];          \
    int maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];               \
    size_t surfaceAlignment;                                                                                          \
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount;               \
    int unifiedAddressing, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor;        \
    int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;                                     \
    size_t sharedMemPerMultiprocessor;                                                                                \
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;       \
    int pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem; \
    int cooperativeLaunch;                                                                                            \
    size_t sharedMemPerBlockOptin;                                                                                    \
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor;           \
    int accessPolicyMaxWindowSize;                                                                                    \
    size_t reservedSharedMemPerBlock;                                                                                 \
    int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;                               \
    int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;                              \
    unsigned int gpuDirectRDMAFlushWritesOptions;                                                                     \
    int gpuDirectRDMAWritesOrdering;                                                                                  \
    unsigned int memoryPoolSupportedHandleTypes;                                                                      \
    int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers;                 \
    int deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId;                                                       \
    unsigned int gpuPciDeviceID, gpuPciSubsystemID;                                                                   \
    int hostNumaMultinodeIpcSupported, reserved[56];
// What CUDA 13 removed, behind the rest.
#define LOCKSTEP_REMOVED_DEVICE_PROPERTIES                                            \
    int clockRate, memoryClockRate, deviceOverlap, kernelExecTimeoutEnabled, computeMode; \
    int singleToDoublePrecisionPerfRatio, cooperativeMultiDeviceLaunch;
