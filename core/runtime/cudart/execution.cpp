// Launches, and what a program can ask about its kernels.
#include <algorithm>
#include <cstdlib>

#include "core/runtime/cudart/call.h"

using namespace lockstep::runtime;
using lockstep::simt::Dim3;

namespace {

constexpr int last_launch_attribute = 17;  // of CUDA 13.0

Dim3 extent(dim3 d) {
    return {d.x, d.y, d.z};
}

cudaError_t launch(const char* name, const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                   cudaStream_t stream, bool cooperative, Dim3 cluster = {1, 1, 1}) {
    return call(name, [&](Runtime& r) {
        const StreamState& state = stream_of(r, stream);
        if (state.number != 0 && state.device != r.device())
            throw CallFailure{cudaErrorInvalidResourceHandle, "the stream belongs to device " +
                                                                  std::to_string(state.device) + ", and device " +
                                                                  std::to_string(r.device()) + " is current"};
        LaunchAsked asked{.function = function,
                          .grid = extent(grid),
                          .block = extent(block),
                          .cluster = cluster,
                          .arguments = arguments,
                          .shared = shared,
                          .stream = state.number,
                          .cooperative = cooperative};
        r.launch(asked);
    });
}

void occupancy(Runtime& r, int* blocks, const void* function, int threads, size_t shared) {
    need(blocks, "blocks");
    Kernel& kernel = kernel_of(r, function);
    *blocks = 0;
    if (threads <= 0) throw CallFailure{cudaErrorInvalidValue, "a block has one thread or more"};
    if (threads > 1024) return;
    *blocks = static_cast<int>(r.occupancy_of(kernel, static_cast<uint32_t>(threads), shared).blocks);
}

}  // namespace

LOCKSTEP_INTERFACE

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t stream) {
    return launch(__func__, function, grid, block, arguments, shared, stream, false);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                                        cudaStream_t stream) {
    return launch(__func__, function, grid, block, arguments, shared, stream, true);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
    if (!config) return call(__func__, [&](Runtime&) { need(config, "config"); });
    bool cooperative = false;
    Dim3 cluster{1, 1, 1};
    for (unsigned k = 0; k < config->numAttrs; ++k) {
        const cudaLaunchAttribute& attribute = config->attrs[k];
        if (attribute.id < cudaLaunchAttributeIgnore || attribute.id > last_launch_attribute)
            return call(__func__, [](Runtime&) { throw CallFailure{cudaErrorInvalidValue, "there is no such attribute"}; });
        if (attribute.id == cudaLaunchAttributeCooperative) cooperative = attribute.val.cooperative != 0;
        if (attribute.id == cudaLaunchAttributeClusterDimension)
            cluster = {attribute.val.clusterDim.x, attribute.val.clusterDim.y, attribute.val.clusterDim.z};
    }
    return launch(__func__, function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, config->stream,
                  cooperative, cluster);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
    return call(__func__, [&](Runtime& r) {
        need(attributes, "attributes");
        Kernel& kernel = kernel_of(r, function);
        const auto program = r.program_of(kernel);
        *attributes = {};
        attributes->sharedSizeBytes = program->static_shared;
        for (const auto& variable : program->variables)
            if (variable.space == lockstep::ptx::Space::constant) attributes->constSizeBytes += variable.bytes;
        attributes->localSizeBytes = program->local_bytes;
        const uint32_t by_registers =
            r.gpu().registers_per_sm / std::max(1u, lockstep::ptx::registers_on(*program, r.gpu().compute.number)) / 32 * 32;
        attributes->maxThreadsPerBlock = static_cast<int>(std::min(1024u, by_registers));
        if (program->max_threads) attributes->maxThreadsPerBlock = static_cast<int>(program->max_threads);
        attributes->numRegs = static_cast<int>(lockstep::ptx::registers_on(*program, r.gpu().compute.number));
        // The PTX's own target: header libraries choose by it among what they were compiled for.
        attributes->ptxVersion = std::atoi(program->target.c_str() + program->target.find('_') + 1);
        attributes->binaryVersion = std::max(attributes->ptxVersion, static_cast<int>(r.gpu().compute.number));
        attributes->maxDynamicSharedSizeBytes =
            kernel.most_dynamic_shared >= 0
                ? static_cast<int>(kernel.most_dynamic_shared)
                : static_cast<int>(r.limits_of(kernel).shared_per_block) - static_cast<int>(program->static_shared);
        attributes->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
    });
}
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
    return call(__func__, [&](Runtime& r) {
        Kernel& kernel = kernel_of(r, function);
        if (attribute < cudaFuncAttributeMaxDynamicSharedMemorySize || attribute >= cudaFuncAttributeMax)
            throw CallFailure{cudaErrorInvalidValue, "there is no such attribute"};
        if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout &&
            (value < cudaSharedmemCarveoutDefault || value > 100))
            throw CallFailure{cudaErrorInvalidValue, "the carveout is a share of 0 to 100 %, or -1"};
        if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) kernel.any_cluster = value != 0;
        if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return;
        const auto most = static_cast<int64_t>(r.gpu().shared_per_block) - r.program_of(kernel)->static_shared;
        if (value < 0 || value > most)
            throw CallFailure{cudaErrorInvalidValue, "a block has at most " + std::to_string(most) +
                                                         " bytes of dynamic shared memory here, not " +
                                                         std::to_string(value)};
        kernel.most_dynamic_shared = value;
    });
}
cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
    return call(__func__, [&](Runtime& r) {
        kernel_of(r, function);
        if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual)
            throw CallFailure{cudaErrorInvalidValue, "there is no such preference"};
    });
}
cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
    return call(__func__, [&](Runtime& r) { kernel_of(r, function); });
}
cudaError_t cudaFuncGetName(const char** name, const void* function) {
    return call(__func__, [&](Runtime& r) {
        need(name, "name");
        *name = kernel_of(r, function).name.c_str();
    });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads, size_t shared) {
    return call(__func__, [&](Runtime& r) { occupancy(r, blocks, function, threads, shared); });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                   size_t shared, unsigned) {
    return call(__func__, [&](Runtime& r) { occupancy(r, blocks, function, threads, shared); });
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int blocks, int) {
    return call(__func__, [&](Runtime& r) {
        need(bytes, "bytes");
        // As an H200 with CUDA 13.0 answers: in steps of 128 bytes, and what the system keeps for itself is not taken off.
        Kernel& kernel = kernel_of(r, function);
        const size_t own = r.program_of(kernel)->static_shared;
        const size_t each = r.gpu().shared_per_sm / static_cast<size_t>(std::max(1, blocks)) / 128 * 128;
        const size_t most = kernel.most_dynamic_shared >= 0 ? static_cast<size_t>(kernel.most_dynamic_shared)
                                                            : r.limits_of(kernel).shared_per_block - own;
        *bytes = std::min<size_t>(each > own ? each - own : 0, most);
    });
}
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function, const cudaLaunchConfig_t*) {
    return call(__func__, [&](Runtime& r) {
        need(size, "size");
        kernel_of(r, function);
        *size = r.gpu().compute.number >= 90 ? 8 : 1;
    });
}
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function, const cudaLaunchConfig_t* config) {
    return call(__func__, [&](Runtime& r) {
        need(clusters, "clusters");
        need(config, "config");
        int blocks = 0;
        occupancy(r, &blocks, function, static_cast<int>(config->blockDim.x * config->blockDim.y * config->blockDim.z),
                  config->dynamicSmemBytes);
        uint32_t cluster = 1;
        for (unsigned k = 0; k < config->numAttrs; ++k)
            if (config->attrs[k].id == cudaLaunchAttributeClusterDimension)
                cluster = config->attrs[k].val.clusterDim.x * config->attrs[k].val.clusterDim.y *
                          config->attrs[k].val.clusterDim.z;
        if (cluster > portable_cluster && !kernel_of(r, function).any_cluster)
            throw CallFailure{cudaErrorInvalidClusterSize, "a cluster has at most 8 blocks"};
        *clusters = static_cast<int>(static_cast<uint32_t>(blocks) * r.gpu().sms / std::max(1u, cluster));
    });
}
LOCKSTEP_ALIAS(cudaLaunchCooperativeKernel_ptsz, cudaLaunchCooperativeKernel)
LOCKSTEP_ALIAS(cudaLaunchKernelExC_ptsz, cudaLaunchKernelExC)
LOCKSTEP_ALIAS(cudaLaunchKernel_ptsz, cudaLaunchKernel)
LOCKSTEP_INTERFACE_END
