// Devices: how many there are, what they are like, which one is current, and waiting for them.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "core/runtime/cudart/call.h"

using namespace lockstep::runtime;
using lockstep::model::GpuSpec;

namespace {

int kilohertz(const GpuSpec& gpu) {
    return static_cast<int>(gpu.boost_mhz * 1000);
}

// The bus is as wide as the DRAM's channels are together, as each kind of DRAM has them.
int bus_bits(const GpuSpec& gpu) {
    using lockstep::model::DramKind;
    const DramKind kind = gpu.dram_kind;
    const uint32_t channel_bits = kind == DramKind::hbm ? 128 : kind == DramKind::gddr ? 32 : 64;
    return static_cast<int>(gpu.dram_channels * channel_bits);
}

// Twice the clock's rate in words a second is what the bus carries.
int memory_kilohertz(const GpuSpec& gpu) {
    return static_cast<int>(gpu.dram_gb_per_second * 1e9 / (bus_bits(gpu) / 8.0) / 2 / 1000);
}

constexpr int most_of_a_side = 32768, most_layers = 2048, most_cube_layers = 2046;
constexpr int most_texture_1d = 131072, most_texture_2d[2] = {131072, 65536}, most_texture_3d[3] = {16384, 16384, 16384};

// As CUDA 12 lays its properties out; those of CUDA 11 end where hostRegisterSupported begins.
struct DeviceProp12 {
    char name[256];
    cudaUUID_t uuid;
    char luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
    int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2], maxTexture2DMipmap[2];
    int maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap;
    int maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2];
    int maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing;
    int memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
    int singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported;
    int canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor;
    int accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
    unsigned gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers, reserved[63];
};
static_assert(sizeof(DeviceProp12) == 1032 && offsetof(DeviceProp12, hostRegisterSupported) == 728);

void fill_common(auto& p, const GpuSpec& gpu, int device) {
    std::memset(&p, 0, sizeof p);
    std::snprintf(p.name, sizeof p.name, "%.*s", static_cast<int>(gpu.title.size()), gpu.title.data());
    std::snprintf(p.uuid.bytes, sizeof p.uuid.bytes, "lockstep %d", device);
    p.totalGlobalMem = static_cast<size_t>(gpu.memory_gb * 1e9);
    p.sharedMemPerBlock = std::min<size_t>(48 * 1024, gpu.shared_per_block);
    p.sharedMemPerBlockOptin = gpu.shared_per_block;
    p.sharedMemPerMultiprocessor = gpu.shared_per_sm;
    p.reservedSharedMemPerBlock = gpu.shared_reserved;
    p.regsPerBlock = static_cast<int>(gpu.registers_per_block ? gpu.registers_per_block : gpu.registers_per_sm);
    p.regsPerMultiprocessor = static_cast<int>(gpu.registers_per_sm);
    p.warpSize = 32;
    p.memPitch = 2147483647;
    p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
    p.maxThreadsDim[2] = 64;
    p.maxGridSize[0] = 2147483647;
    p.maxGridSize[1] = p.maxGridSize[2] = 65535;
    p.totalConstMem = 65536;
    p.major = static_cast<int>(gpu.compute.number / 10);
    p.minor = static_cast<int>(gpu.compute.number % 10);
    p.textureAlignment = p.surfaceAlignment = 512;
    p.texturePitchAlignment = 32;
    p.multiProcessorCount = static_cast<int>(gpu.sms);
    p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = p.managedMemory = 1;
    p.maxTexture1D = most_texture_1d;
    std::copy(std::begin(most_texture_2d), std::end(most_texture_2d), p.maxTexture2D);
    std::copy(std::begin(most_texture_3d), std::end(most_texture_3d), p.maxTexture3D);
    p.maxTexture1DMipmap = p.maxTexture2DMipmap[0] = p.maxTexture2DMipmap[1] = most_of_a_side;
    p.maxTexture2DLinear[0] = 131072, p.maxTexture2DLinear[1] = 65000, p.maxTexture2DLinear[2] = 2097120;
    p.maxTexture2DGather[0] = p.maxTexture2DGather[1] = most_of_a_side;
    p.maxTexture3DAlt[0] = p.maxTexture3DAlt[1] = 8192, p.maxTexture3DAlt[2] = 32768;
    p.maxTextureCubemap = p.maxTextureCubemapLayered[0] = p.maxSurfaceCubemap = p.maxSurfaceCubemapLayered[0] =
        most_of_a_side;
    p.maxTextureCubemapLayered[1] = p.maxSurfaceCubemapLayered[1] = most_cube_layers;
    p.maxTexture1DLayered[0] = p.maxTexture2DLayered[0] = p.maxTexture2DLayered[1] = most_of_a_side;
    p.maxTexture1DLayered[1] = p.maxTexture2DLayered[2] = most_layers;
    p.maxSurface1DLayered[0] = p.maxSurface2DLayered[0] = p.maxSurface2DLayered[1] = most_of_a_side;
    p.maxSurface1DLayered[1] = p.maxSurface2DLayered[2] = most_layers;
    std::fill(std::begin(p.maxSurface3D), std::end(p.maxSurface3D), 16384);
    p.maxSurface1D = 32768;
    p.maxSurface2D[0] = 131072, p.maxSurface2D[1] = 65536;
    p.pciBusID = device + 1;
    p.asyncEngineCount = static_cast<int>(gpu.copy_engines);
    p.memoryBusWidth = bus_bits(gpu);
    p.l2CacheSize = static_cast<int>(gpu.l2_bytes);
    if (gpu.compute.number >= 80) {  // accepted, and without effect on the model
        p.persistingL2CacheMaxSize = static_cast<int>(gpu.l2_bytes / 8 * (gpu.compute.number >= 90 ? 5 : 6));
        p.accessPolicyMaxWindowSize = 128 << 20;
    }
    p.ECCEnabled = gpu.dram_kind == lockstep::model::DramKind::hbm;
    p.maxThreadsPerMultiProcessor = static_cast<int>(gpu.warps_per_sm * 32);
    p.maxBlocksPerMultiProcessor = static_cast<int>(gpu.blocks_per_sm);
    p.streamPrioritiesSupported = p.globalL1CacheSupported = p.localL1CacheSupported = 1;
    p.concurrentManagedAccess = p.computePreemptionSupported = p.canUseHostPointerForRegisteredMem = 1;
    p.cooperativeLaunch = p.hostRegisterSupported = p.memoryPoolsSupported = p.unifiedFunctionPointers = 1;
    p.clusterLaunch = gpu.compute.number >= 90;
}

void fill_removed(auto& p, const GpuSpec& gpu) {
    p.clockRate = kilohertz(gpu);
    p.memoryClockRate = memory_kilohertz(gpu);
    p.deviceOverlap = 1;
    p.singleToDoublePrecisionPerfRatio = static_cast<int>(gpu.fp32_lanes / std::max<double>(gpu.fp64_lanes, 1e-9) + 0.5);
}

// The textures and surfaces of compute capability 7 and later (CUDA Programming Guide, "Technical Specifications"), as an
// H200 with CUDA 13.0 tells them, and what else it says of itself that the modelled GPUs have too.
struct Told {
    int attribute, value;
};
constexpr Told told[] = {
    {27, most_of_a_side},    // MaxTexture2DLayeredWidth
    {28, most_of_a_side},    // MaxTexture2DLayeredHeight
    {29, most_layers},       // MaxTexture2DLayeredLayers
    {42, most_of_a_side},    // MaxTexture1DLayeredWidth
    {43, most_layers},       // MaxTexture1DLayeredLayers
    {45, most_of_a_side},    // MaxTexture2DGatherWidth
    {46, most_of_a_side},    // MaxTexture2DGatherHeight
    {47, 8192},              // MaxTexture3DWidthAlt
    {48, 8192},              // MaxTexture3DHeightAlt
    {49, 32768},             // MaxTexture3DDepthAlt
    {52, most_of_a_side},    // MaxTextureCubemapWidth
    {53, most_of_a_side},    // MaxTextureCubemapLayeredWidth
    {54, most_cube_layers},  // MaxTextureCubemapLayeredLayers
    {55, 32768},             // MaxSurface1DWidth
    {56, 131072},            // MaxSurface2DWidth
    {57, 65536},             // MaxSurface2DHeight
    {58, 16384},             // MaxSurface3DWidth
    {59, 16384},             // MaxSurface3DHeight
    {60, 16384},             // MaxSurface3DDepth
    {61, most_of_a_side},    // MaxSurface1DLayeredWidth
    {62, most_layers},       // MaxSurface1DLayeredLayers
    {63, most_of_a_side},    // MaxSurface2DLayeredWidth
    {64, most_of_a_side},    // MaxSurface2DLayeredHeight
    {65, most_layers},       // MaxSurface2DLayeredLayers
    {66, most_of_a_side},    // MaxSurfaceCubemapWidth
    {67, most_of_a_side},    // MaxSurfaceCubemapLayeredWidth
    {68, most_cube_layers},  // MaxSurfaceCubemapLayeredLayers
    {69, 268435456},         // MaxTexture1DLinearWidth
    {70, 131072},            // MaxTexture2DLinearWidth
    {71, 65000},             // MaxTexture2DLinearHeight
    {72, 2097120},           // MaxTexture2DLinearPitch
    {73, most_of_a_side},    // MaxTexture2DMipmappedWidth
    {74, most_of_a_side},    // MaxTexture2DMipmappedHeight
    {77, most_of_a_side},    // MaxTexture1DMipmappedWidth
};
constexpr int last_attribute = 147;  // of CUDA 13.0

int attribute_of(const GpuSpec& gpu, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp p;
    fill_common(p, gpu, device);
    fill_removed(p, gpu);
    switch (attribute) {
        case cudaDevAttrMaxThreadsPerBlock:
            return p.maxThreadsPerBlock;
        case cudaDevAttrMaxBlockDimX:
            return p.maxThreadsDim[0];
        case cudaDevAttrMaxBlockDimY:
            return p.maxThreadsDim[1];
        case cudaDevAttrMaxBlockDimZ:
            return p.maxThreadsDim[2];
        case cudaDevAttrMaxGridDimX:
            return p.maxGridSize[0];
        case cudaDevAttrMaxGridDimY:
            return p.maxGridSize[1];
        case cudaDevAttrMaxGridDimZ:
            return p.maxGridSize[2];
        case cudaDevAttrMaxSharedMemoryPerBlock:
            return static_cast<int>(p.sharedMemPerBlock);
        case cudaDevAttrTotalConstantMemory:
            return static_cast<int>(p.totalConstMem);
        case cudaDevAttrWarpSize:
            return p.warpSize;
        case cudaDevAttrMaxPitch:
            return static_cast<int>(p.memPitch);
        case cudaDevAttrMaxRegistersPerBlock:
            return p.regsPerBlock;
        case cudaDevAttrClockRate:
            return p.clockRate;
        case cudaDevAttrTextureAlignment:
            return static_cast<int>(p.textureAlignment);
        case cudaDevAttrGpuOverlap:
            return p.deviceOverlap;
        case cudaDevAttrMultiProcessorCount:
            return p.multiProcessorCount;
        case cudaDevAttrCanMapHostMemory:
            return 1;
        case cudaDevAttrMaxTexture1DWidth:
            return p.maxTexture1D;
        case cudaDevAttrMaxTexture2DWidth:
            return p.maxTexture2D[0];
        case cudaDevAttrMaxTexture2DHeight:
            return p.maxTexture2D[1];
        case cudaDevAttrMaxTexture3DWidth:
            return p.maxTexture3D[0];
        case cudaDevAttrMaxTexture3DHeight:
            return p.maxTexture3D[1];
        case cudaDevAttrMaxTexture3DDepth:
            return p.maxTexture3D[2];
        case cudaDevAttrSurfaceAlignment:
            return static_cast<int>(p.surfaceAlignment);
        case cudaDevAttrConcurrentKernels:
            return 1;
        case cudaDevAttrPciBusId:
            return p.pciBusID;
        case cudaDevAttrMemoryClockRate:
            return p.memoryClockRate;
        case cudaDevAttrGlobalMemoryBusWidth:
            return p.memoryBusWidth;
        case cudaDevAttrL2CacheSize:
            return p.l2CacheSize;
        case cudaDevAttrMaxThreadsPerMultiProcessor:
            return p.maxThreadsPerMultiProcessor;
        case cudaDevAttrAsyncEngineCount:
            return p.asyncEngineCount;
        case cudaDevAttrUnifiedAddressing:
            return 1;
        case cudaDevAttrTexturePitchAlignment:
            return static_cast<int>(p.texturePitchAlignment);
        case cudaDevAttrComputeCapabilityMajor:
            return p.major;
        case cudaDevAttrComputeCapabilityMinor:
            return p.minor;
        case cudaDevAttrStreamPrioritiesSupported:
            return 1;
        case cudaDevAttrGlobalL1CacheSupported:
            return 1;
        case cudaDevAttrLocalL1CacheSupported:
            return 1;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
            return static_cast<int>(p.sharedMemPerMultiprocessor);
        case cudaDevAttrMaxRegistersPerMultiprocessor:
            return p.regsPerMultiprocessor;
        case cudaDevAttrManagedMemory:
            return 1;
        case cudaDevAttrSingleToDoublePrecisionPerfRatio:
            return p.singleToDoublePrecisionPerfRatio;
        case cudaDevAttrConcurrentManagedAccess:
            return 1;
        case cudaDevAttrComputePreemptionSupported:
            return 1;
        case cudaDevAttrCanUseHostPointerForRegisteredMem:
            return 1;
        case cudaDevAttrCooperativeLaunch:
            return 1;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin:
            return static_cast<int>(p.sharedMemPerBlockOptin);
        case cudaDevAttrHostRegisterSupported:
            return 1;
        case cudaDevAttrMaxBlocksPerMultiprocessor:
            return p.maxBlocksPerMultiProcessor;
        case cudaDevAttrReservedSharedMemoryPerBlock:
            return static_cast<int>(p.reservedSharedMemPerBlock);
        case cudaDevAttrMemoryPoolsSupported:
            return 1;
        case cudaDevAttrClusterLaunch:
            return p.clusterLaunch;
        case cudaDevAttrEccEnabled:
            return p.ECCEnabled;
        case cudaDevAttrMaxPersistingL2CacheSize:
            return p.persistingL2CacheMaxSize;
        case cudaDevAttrMaxAccessPolicyWindowSize:
            return p.accessPolicyMaxWindowSize;
        default:
            for (const Told& row : told)
                if (row.attribute == attribute) return row.value;
            if (attribute < 1 || attribute > last_attribute)
                throw CallFailure{cudaErrorInvalidValue, "there is no such attribute"};
            return 0;  // what it does not have
    }
}

size_t limits[7] = {1024, 8650752, 8 << 20, 2, 2048, 64, 0};  // by cudaLimit; CUDA 13.0's defaults on an H200
unsigned device_flags = 0;
cudaFuncCache cache_config = cudaFuncCachePreferNone;
cudaSharedMemConfig bank_config = cudaSharedMemBankSizeFourByte;

constexpr size_t least_heap = 4 << 20;  // an H200 with CUDA 13.0 has no smaller one

void need_limit(cudaLimit limit) {
    if (limit < 0 || limit > cudaLimitPersistingL2CacheSize)
        throw CallFailure{cudaErrorInvalidValue, "there is no such limit"};
}

cudaError_t synchronize(const char* name) {
    return call(name, [](Runtime& r) { r.synchronize(lockstep::model::SyncWith::device, 0, nullptr); });
}

}  // namespace

LOCKSTEP_INTERFACE

cudaError_t cudaGetDeviceCount(int* count) {
    return call(__func__, [&](Runtime& r) {
        need(count, "count");
        *count = static_cast<int>(r.device_count());
    });
}
cudaError_t cudaGetDevice(int* device) {
    return call(__func__, [&](Runtime& r) {
        need(device, "device");
        *device = static_cast<int>(r.device());
    });
}
cudaError_t cudaSetDevice(int device) {
    return call(__func__, [&](Runtime& r) {
        need_device(r, device);
        r.set_device(static_cast<uint32_t>(device));
    });
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
    return call(__func__, [&](Runtime& r) { need_device(r, device); });
}
cudaError_t lockstepGetDeviceProperties(cudaDeviceProp* properties, int device) {
    return call("cudaGetDeviceProperties", [&](Runtime& r) {
        need(properties, "properties");
        need_device(r, device);
        fill_common(*properties, r.gpu(), device);
        fill_removed(*properties, r.gpu());
    });
}
// Of a program compiled with CUDA 13's headers.
cudaError_t cudaGetDeviceProperties(lockstepDeviceProp13* properties, int device) {
    return call(__func__, [&](Runtime& r) {
        need(properties, "properties");
        need_device(r, device);
        fill_common(*properties, r.gpu(), device);
    });
}
cudaError_t cudaGetDeviceProperties_v2(void* properties, int device) {
    return call("cudaGetDeviceProperties", [&](Runtime& r) {
        need(properties, "properties");
        need_device(r, device);
        auto& p = *static_cast<DeviceProp12*>(properties);
        fill_common(p, r.gpu(), device);
        fill_removed(p, r.gpu());
    });
}
cudaError_t lockstep11_cudaGetDeviceProperties(void* properties, int device) {
    return call("cudaGetDeviceProperties", [&](Runtime& r) {
        need(properties, "properties");
        need_device(r, device);
        DeviceProp12 p;
        fill_common(p, r.gpu(), device);
        fill_removed(p, r.gpu());
        std::memcpy(properties, &p, offsetof(DeviceProp12, hostRegisterSupported));
    });
}
LOCKSTEP_EARLIER(cudaGetDeviceProperties)
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    return call(__func__, [&](Runtime& r) {
        need(value, "value");
        need_device(r, device);
        *value = attribute_of(r.gpu(), attribute, device);
    });
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
    return call(__func__, [&](Runtime&) {
        need(device, "device");
        *device = 0;
    });
}
cudaError_t cudaSetValidDevices(int*, int) {
    return call(__func__, [](Runtime&) {});
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
    return call(__func__, [&](Runtime&) {
        constexpr unsigned known = cudaDeviceMask;
        if ((flags & ~known) != 0) throw CallFailure{cudaErrorInvalidValue, "there is no such flag"};
        device_flags = flags;
    });
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
    return call(__func__, [&](Runtime&) {
        need(flags, "flags");
        *flags = device_flags | cudaDeviceMapHost;  // as every GPU with one address space has it
    });
}
cudaError_t cudaDeviceSynchronize() {
    return synchronize(__func__);
}
cudaError_t cudaThreadSynchronize() {
    return synchronize(__func__);
}
cudaError_t cudaDeviceReset() {
    return call(__func__, [](Runtime& r) { r.reset_device(); });
}
cudaError_t cudaThreadExit() {
    return call(__func__, [](Runtime& r) { r.reset_device(); });
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    return call(__func__, [&](Runtime& r) {
        need_limit(limit);
        if (limit == cudaLimitStackSize) {  // in steps of 16 bytes; a thread has no more than 512 KiB of local memory
            if (value > 512 * 1024) throw CallFailure{cudaErrorInvalidValue, "a thread has at most 512 KiB of stack"};
            value = (value + 15) / 16 * 16;
        }
        if (limit == cudaLimitMaxL2FetchGranularity && value > 128)
            throw CallFailure{cudaErrorInvalidValue, "the L2 fetches at most 128 bytes at once"};
        if (limit == cudaLimitMallocHeapSize) value = std::max(value, least_heap);
        limits[limit] = value;
        if (limit == cudaLimitMallocHeapSize) r.memory().set_heap_limit(value);
    });
}
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
    return call(__func__, [&](Runtime&) {
        need(value, "value");
        need_limit(limit);
        *value = limits[limit];
    });
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
    return call(__func__, [&](Runtime&) {
        need(config, "config");
        *config = cache_config;
    });
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
    return call(__func__, [&](Runtime&) {
        if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual)
            throw CallFailure{cudaErrorInvalidValue, "there is no such preference"};
        cache_config = config;
    });
}
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) {
    return cudaDeviceSetCacheConfig(config);
}
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    return call(__func__, [&](Runtime&) {
        need(config, "config");
        *config = bank_config;
    });
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {  // banks are 4 bytes wide on all GPUs since Maxwell
    return call(__func__, [](Runtime&) {});
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return call(__func__, [&](Runtime&) {
        if (least) *least = 0;
        if (greatest) *greatest = -5;
    });
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
    return call(__func__, [&](Runtime& r) {
        need(text, "text");
        need_device(r, device);
        if (bytes < 13) throw CallFailure{cudaErrorInvalidValue, "the identifier has 12 characters and an end"};
        std::snprintf(text, static_cast<size_t>(bytes), "0000:%02x:00.0", device + 1);
    });
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
    return call(__func__, [&](Runtime& r) {
        need(device, "device");
        need(text, "text");
        unsigned domain = 0, bus = 0;
        if (std::sscanf(text, "%x:%x", &domain, &bus) != 2)
            throw CallFailure{cudaErrorInvalidValue, "this is no identifier of a device"};
        if (bus < 1 || bus > r.device_count()) throw CallFailure{cudaErrorInvalidDevice, "no device is there"};
        *device = static_cast<int>(bus) - 1;
    });
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    return call(__func__, [&](Runtime& r) {
        need(can, "can");
        need_device(r, device);
        need_device(r, peer);
        *can = device != peer;
    });
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    return call(__func__, [&](Runtime& r) {
        if (flags != 0) throw CallFailure{cudaErrorInvalidValue, "the flags are 0"};
        need_device(r, peer);
        if (peer == static_cast<int>(r.device()))
            throw CallFailure{cudaErrorPeerAccessUnsupported, "a device is no peer of itself"};
        if (!r.set_peer(static_cast<uint32_t>(peer), true))
            throw CallFailure{cudaErrorPeerAccessAlreadyEnabled, "it was enabled before"};
    });
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    return call(__func__, [&](Runtime& r) {
        need_device(r, peer);
        if (!r.set_peer(static_cast<uint32_t>(peer), false))
            throw CallFailure{cudaErrorPeerAccessNotEnabled, "it was not enabled"};
    });
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
    return call(__func__, [&](Runtime& r) {
        need(value, "value");
        need_device(r, from);
        need_device(r, to);
        if (from == to) throw CallFailure{cudaErrorInvalidDevice, "a device is no peer of itself"};
        *value = attribute == cudaDevP2PAttrPerformanceRank ? 0 : 1;
    });
}
cudaError_t cudaDriverGetVersion(int* version) {
    return call(__func__, [&](Runtime&) {
        need(version, "version");
        *version = CUDART_VERSION;
    });
}
cudaError_t cudaRuntimeGetVersion(int* version) {
    return call(__func__, [&](Runtime&) {
        need(version, "version");
        *version = CUDART_VERSION;
    });
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    return call(__func__, [&](Runtime& r) {
        if (total) *total = r.memory_limit();
        if (free) *free = r.memory_limit() - std::min(r.memory_limit(), r.live_bytes());
    });
}
cudaError_t cudaCtxResetPersistingL2Cache() {
    return call(__func__, [](Runtime&) {});
}
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* texels, const cudaChannelFormatDesc* desc, int device) {
    return call(__func__, [&](Runtime& r) {
        need(texels, "the width's address");
        need(desc, "the channel descriptor");
        need_device(r, device);
        texels_of(*desc);
        *texels = size_t{1} << 28;
    });
}
cudaError_t cudaProfilerStart() {
    return call(__func__, [](Runtime& r) { r.note_mark("cudaProfilerStart"); });
}
cudaError_t cudaProfilerStop() {
    return call(__func__, [](Runtime& r) { r.note_mark("cudaProfilerStop"); });
}
LOCKSTEP_ALIAS(cudaThreadSetLimit, cudaDeviceSetLimit)
LOCKSTEP_ALIAS(cudaThreadGetLimit, cudaDeviceGetLimit)
LOCKSTEP_ALIAS(cudaThreadGetCacheConfig, cudaDeviceGetCacheConfig)
LOCKSTEP_INTERFACE_END
