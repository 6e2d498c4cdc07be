// Pools: memory of a pool is memory of the device, which comes and goes in the order of the calls. A pool counts what it has
// given out.
#include <algorithm>
#include <deque>
#include <map>

#include "core/runtime/cudart/call.h"

using namespace lockstep::runtime;

namespace {

struct Pool {
    uint64_t threshold = 0, used = 0, high = 0;
    int reuse[3] = {1, 1, 1};  // by cudaMemPoolReuse...
};
struct FromPool {
    Pool* pool = nullptr;
    uint64_t bytes = 0;
};
std::deque<Pool> default_pools;  // by device
std::map<uint32_t, Pool*> current_pools;
std::map<Pool*, std::unique_ptr<Pool>> own_pools;
std::map<uint64_t, FromPool> given_out;  // by address

Pool& default_pool_of(uint32_t device) {
    while (default_pools.size() <= device) default_pools.emplace_back();
    return default_pools[device];
}

Pool& current_pool_of(uint32_t device) {
    Pool* const chosen = current_pools[device];
    return chosen ? *chosen : default_pool_of(device);
}

Pool& pool_of(cudaMemPool_t handle) {
    auto* const pool = reinterpret_cast<Pool*>(handle);
    const bool known = own_pools.contains(pool) ||
                       std::any_of(default_pools.begin(), default_pools.end(), [&](Pool& other) { return &other == pool; });
    if (!known) throw CallFailure{cudaErrorInvalidValue, "this is no memory pool, or it was destroyed"};
    return *pool;
}

// In a capture the memory becomes the graph's.
void allocate_in_order(Runtime& r, void** pointer, size_t bytes, Pool& pool, cudaStream_t handle) {
    need(pointer, "the pointer's address");
    const StreamState& stream = stream_of(r, handle);
    *pointer = nullptr;
    if (bytes == 0) return;
    if (stream.capture) {
        const uint64_t address = r.allocate_for(*stream.capture->graph, bytes);
        r.submit(stream.number, AllocateWork{address, bytes});
        *pointer = reinterpret_cast<void*>(address);
        return;
    }
    const uint64_t address = r.allocate(bytes, MemoryKind::device, "allocation");
    given_out[address] = {&pool, bytes};
    pool.used += bytes;
    pool.high = std::max(pool.high, pool.used);
    *pointer = reinterpret_cast<void*>(address);
}

uint32_t device_of(Runtime& r, const cudaMemLocation* location) {
    need(location, "the location");
    if (location->type != cudaMemLocationTypeDevice)
        throw CallFailure{cudaErrorNotSupported, "only devices have pools on the modelled GPU"};
    need_device(r, location->id);
    return static_cast<uint32_t>(location->id);
}

void tell_pool(cudaMemPool_t* told, Pool& pool) {
    need(told, "the pool's address");
    *told = reinterpret_cast<cudaMemPool_t>(&pool);
}

}  // namespace

namespace lockstep::runtime {

void give_back_to_pool(uint64_t address) {
    const auto found = given_out.find(address);
    if (found == given_out.end()) return;
    if (found->second.pool) found->second.pool->used -= found->second.bytes;
    given_out.erase(found);
}

}  // namespace lockstep::runtime

LOCKSTEP_INTERFACE

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) { allocate_in_order(r, pointer, bytes, current_pool_of(r.device()), stream); });
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) { allocate_in_order(r, pointer, bytes, pool_of(pool), stream); });
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t handle) {
    return call(__func__, [&](Runtime& r) {
        const StreamState& stream = stream_of(r, handle);
        if (!pointer) return;
        if (stream.capture) return r.submit(stream.number, ReleaseWork{address_of(pointer)});
        r.release(address_of(pointer), false);
        give_back_to_pool(address_of(pointer));
    });
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    return call(__func__, [&](Runtime& r) {
        need_device(r, device);
        tell_pool(pool, default_pool_of(static_cast<uint32_t>(device)));
    });
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
    return call(__func__, [&](Runtime& r) {
        need_device(r, device);
        tell_pool(pool, current_pool_of(static_cast<uint32_t>(device)));
    });
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    return call(__func__, [&](Runtime& r) {
        need_device(r, device);
        current_pools[static_cast<uint32_t>(device)] = &pool_of(pool);
    });
}
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType) {
    return call(__func__, [&](Runtime& r) { tell_pool(pool, default_pool_of(device_of(r, location))); });
}
cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType) {
    return call(__func__, [&](Runtime& r) { tell_pool(pool, current_pool_of(device_of(r, location))); });
}
cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType, cudaMemPool_t pool) {
    return call(__func__, [&](Runtime& r) { current_pools[device_of(r, location)] = &pool_of(pool); });
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
    return call(__func__, [&](Runtime&) {
        need(pool, "the pool's address");
        need(properties, "the properties");
        if (properties->allocType != cudaMemAllocationTypePinned || properties->location.type != cudaMemLocationTypeDevice)
            throw CallFailure{cudaErrorInvalidValue, "a pool has pinned memory of a device"};
        auto created = std::make_unique<Pool>();
        *pool = reinterpret_cast<cudaMemPool_t>(created.get());
        own_pools[created.get()] = std::move(created);
    });
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    return call(__func__, [&](Runtime&) {
        Pool* const destroyed = &pool_of(pool);
        if (!own_pools.contains(destroyed))
            throw CallFailure{cudaErrorInvalidValue, "the device's own pool cannot be destroyed"};
        for (auto& [address, memory] : given_out)
            if (memory.pool == destroyed) memory.pool = nullptr;
        for (auto& [device, current] : current_pools)
            if (current == destroyed) current = nullptr;
        own_pools.erase(destroyed);
    });
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
    return call(__func__, [&](Runtime&) { pool_of(pool); });
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
    return call(__func__, [&](Runtime&) {
        Pool& pool = pool_of(handle);
        need(value, "the value");
        if (attribute >= cudaMemPoolReuseFollowEventDependencies && attribute <= cudaMemPoolReuseAllowInternalDependencies)
            pool.reuse[attribute - cudaMemPoolReuseFollowEventDependencies] = *static_cast<int*>(value);
        else if (attribute == cudaMemPoolAttrReleaseThreshold)
            pool.threshold = *static_cast<uint64_t*>(value);
        else if (attribute == cudaMemPoolAttrUsedMemHigh || attribute == cudaMemPoolAttrReservedMemHigh)
            pool.high = pool.used;
        else
            throw CallFailure{cudaErrorInvalidValue, "this attribute cannot be set"};
    });
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
    return call(__func__, [&](Runtime&) {
        const Pool& pool = pool_of(handle);
        need(value, "the value");
        if (attribute >= cudaMemPoolReuseFollowEventDependencies && attribute <= cudaMemPoolReuseAllowInternalDependencies)
            *static_cast<int*>(value) = pool.reuse[attribute - cudaMemPoolReuseFollowEventDependencies];
        else if (attribute == cudaMemPoolAttrReleaseThreshold)
            *static_cast<uint64_t*>(value) = pool.threshold;
        else if (attribute == cudaMemPoolAttrUsedMemCurrent || attribute == cudaMemPoolAttrReservedMemCurrent)
            *static_cast<uint64_t*>(value) = pool.used;
        else if (attribute == cudaMemPoolAttrUsedMemHigh || attribute == cudaMemPoolAttrReservedMemHigh)
            *static_cast<uint64_t*>(value) = pool.high;
        else
            throw CallFailure{cudaErrorInvalidValue, "there is no such attribute"};
    });
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc*, size_t) {
    return call(__func__, [&](Runtime&) { pool_of(pool); });
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
    return call(__func__, [&](Runtime& r) {
        need(flags, "the flags' address");
        pool_of(pool);
        device_of(r, location);
        *flags = cudaMemAccessFlagsProtReadWrite;
    });
}
LOCKSTEP_ALIAS(cudaMallocAsync_ptsz, cudaMallocAsync)
LOCKSTEP_ALIAS(cudaMallocFromPoolAsync_ptsz, cudaMallocFromPoolAsync)
LOCKSTEP_ALIAS(cudaFreeAsync_ptsz, cudaFreeAsync)
LOCKSTEP_INTERFACE_END
