// Memory: allocations of every kind, copies and fills.
#include <algorithm>
#include <cstring>

#include "core/runtime/cudart/call.h"

using namespace lockstep::runtime;

namespace {

constexpr size_t pitch_bytes = 512;  // rows of pitched memory begin at multiples of it

void allocate(Runtime& r, void** pointer, size_t bytes, MemoryKind kind, const char* name) {
    need(pointer, "the pointer's address");
    r.need_no_capture();
    *pointer = bytes == 0 ? nullptr : reinterpret_cast<void*>(r.allocate(bytes, kind, name));
}

// In a capture the memory becomes the graph's.
void allocate_in_order(Runtime& r, void** pointer, size_t bytes, cudaStream_t handle) {
    need(pointer, "the pointer's address");
    const StreamState& stream = stream_of(r, handle);
    *pointer = nullptr;
    if (bytes == 0) return;
    const uint64_t address =
        stream.capture ? r.allocate_for(*stream.capture->graph, bytes) : r.allocate(bytes, MemoryKind::device, "allocation");
    if (stream.capture) r.submit(stream.number, AllocateWork{address, bytes});
    *pointer = reinterpret_cast<void*>(address);
}

void allocate_pitched(Runtime& r, void** pointer, size_t* pitch, size_t width, size_t rows) {
    need(pitch, "pitch");
    *pitch = (width + pitch_bytes - 1) / pitch_bytes * pitch_bytes;
    allocate(r, pointer, *pitch * rows, MemoryKind::device, "pitched allocation");
}

void free(Runtime& r, void* pointer, bool of_host) {
    if (!pointer) return;
    r.need_no_capture();
    r.release(address_of(pointer), of_host);
}

void copy(Runtime& r, void* to, const void* from, size_t bytes, int kind, bool asynchronous, cudaStream_t stream) {
    if (bytes == 0) return;
    need(to, "the destination");
    need(from, "the source");
    r.copy({.to = address_of(to), .from = address_of(from), .bytes = bytes, .kind = kind}, stream_of(r, stream).number,
           asynchronous);
}

void copy_rows(Runtime& r, void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t rows,
               int kind, bool asynchronous, cudaStream_t stream) {
    if (width == 0 || rows == 0) return;
    need(to, "the destination");
    need(from, "the source");
    r.copy({.to = address_of(to),
            .to_pitch = to_pitch,
            .from = address_of(from),
            .from_pitch = from_pitch,
            .bytes = width,
            .rows = rows,
            .kind = kind},
           stream_of(r, stream).number, asynchronous);
}

void copy_to_symbol(Runtime& r, const void* symbol, const void* from, size_t bytes, size_t offset, int kind,
                    bool asynchronous, cudaStream_t stream) {
    if (bytes == 0) return;
    need(from, "the source");
    r.copy({.to = address_in(r, symbol, offset, bytes), .from = address_of(from), .bytes = bytes, .kind = kind},
           stream_of(r, stream).number, asynchronous);
}

void copy_from_symbol(Runtime& r, void* to, const void* symbol, size_t bytes, size_t offset, int kind, bool asynchronous,
                      cudaStream_t stream) {
    if (bytes == 0) return;
    need(to, "the destination");
    r.copy({.to = address_of(to), .from = address_in(r, symbol, offset, bytes), .bytes = bytes, .kind = kind},
           stream_of(r, stream).number, asynchronous);
}

void fill(Runtime& r, void* pointer, size_t pitch, int value, size_t width, size_t rows, bool asynchronous,
          cudaStream_t stream) {
    if (width == 0 || rows == 0) return;
    need(pointer, "the pointer");
    r.fill({.to = address_of(pointer),
            .pitch = pitch,
            .value = static_cast<uint32_t>(value) & 0xff,
            .width = width,
            .rows = rows},
           stream_of(r, stream).number, asynchronous);
}

void fill_3d(Runtime& r, const cudaPitchedPtr& p, int value, const cudaExtent& extent, bool asynchronous,
             cudaStream_t stream) {
    for (size_t z = 0; z < extent.depth; ++z)
        fill(r, static_cast<char*>(p.ptr) + z * p.pitch * p.ysize, p.pitch, value, extent.width, extent.height, asynchronous,
             stream);
}

struct Pool {
    uint64_t threshold = 0;
};
Pool default_pool;

}  // namespace

LOCKSTEP_INTERFACE

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
    return call(__func__, [&](Runtime& r) { allocate(r, pointer, bytes, MemoryKind::device, "allocation"); });
}
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
    return call(__func__, [&](Runtime& r) { allocate_pitched(r, pointer, pitch, width, height); });
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
    return call(__func__, [&](Runtime& r) {
        need(pitched, "the pitched pointer");
        allocate_pitched(r, &pitched->ptr, &pitched->pitch, extent.width, extent.height * extent.depth);
        pitched->xsize = extent.width;
        pitched->ysize = extent.height;
    });
}
cudaError_t cudaFree(void* pointer) {
    return call(__func__, [&](Runtime& r) { free(r, pointer, false); });
}
cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
    return call(__func__, [&](Runtime& r) { allocate(r, pointer, bytes, MemoryKind::pinned, "pinned allocation"); });
}
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) {
    return call(__func__, [&](Runtime& r) { allocate(r, pointer, bytes, MemoryKind::pinned, "pinned allocation"); });
}
cudaError_t cudaFreeHost(void* pointer) {
    return call(__func__, [&](Runtime& r) { free(r, pointer, true); });
}
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned) {
    return call(__func__, [&](Runtime& r) {
        need(pointer, "the pointer");
        if (bytes == 0) throw CallFailure{cudaErrorInvalidValue, "no bytes are to be registered"};
        r.adopt(pointer, bytes);
    });
}
cudaError_t cudaHostUnregister(void* pointer) {
    return call(__func__, [&](Runtime& r) {
        const Block* block = r.find(address_of(pointer));
        if (!block || block->kind != MemoryKind::registered || block->address != address_of(pointer))
            throw CallFailure{cudaErrorHostMemoryNotRegistered, "this memory is not registered"};
        r.release(address_of(pointer), true);
    });
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
    return call(__func__, [&](Runtime& r) {
        need(device, "the pointer's address");
        const Block* block = r.find(address_of(host));
        if (!block || block->freed || block->kind == MemoryKind::device)
            throw CallFailure{cudaErrorInvalidValue, "this is neither pinned nor registered host memory"};
        *device = host;  // the same address on both sides
    });
}
cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
    return call(__func__, [&](Runtime& r) {
        need(flags, "flags");
        const Block* block = r.find(address_of(host));
        if (!block || block->kind != MemoryKind::pinned)
            throw CallFailure{cudaErrorInvalidValue, "this is no pinned host memory"};
        *flags = cudaHostAllocMapped;
    });
}
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned) {
    return call(__func__, [&](Runtime& r) {
        if (bytes == 0) throw CallFailure{cudaErrorInvalidValue, "no bytes are asked for"};
        allocate(r, pointer, bytes, MemoryKind::managed, "managed allocation");
    });
}

// ---- Pools: memory of a pool is memory of the device, and comes and goes in the order of the calls.
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) { allocate_in_order(r, pointer, bytes, stream); });
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t, cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) { allocate_in_order(r, pointer, bytes, stream); });
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t handle) {
    return call(__func__, [&](Runtime& r) {
        const StreamState& stream = stream_of(r, handle);
        if (!pointer) return;
        if (stream.capture)
            r.submit(stream.number, ReleaseWork{address_of(pointer)});
        else
            r.release(address_of(pointer), false);
    });
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    return call(__func__, [&](Runtime& r) {
        need(pool, "pool");
        need_device(r, device);
        *pool = reinterpret_cast<cudaMemPool_t>(&default_pool);
    });
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
    return cudaDeviceGetDefaultMemPool(pool, device);
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t) {
    return call(__func__, [&](Runtime& r) { need_device(r, device); });
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
    return call(__func__, [&](Runtime&) {
        need(pool, "pool");
        *pool = reinterpret_cast<cudaMemPool_t>(new Pool);
    });
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    return call(__func__, [&](Runtime&) {
        if (auto* const own = reinterpret_cast<Pool*>(pool); own != &default_pool) delete own;
    });
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) {
    return call(__func__, [](Runtime&) {});
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return call(__func__, [&](Runtime&) {
        need(pool, "pool");
        need(value, "value");
        if (attribute == cudaMemPoolAttrReleaseThreshold)
            reinterpret_cast<Pool*>(pool)->threshold = *static_cast<uint64_t*>(value);
    });
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return call(__func__, [&](Runtime& r) {
        need(pool, "pool");
        need(value, "value");
        if (attribute <= cudaMemPoolReuseAllowInternalDependencies)
            *static_cast<int*>(value) = 1;
        else
            *static_cast<uint64_t*>(value) =
                attribute == cudaMemPoolAttrReleaseThreshold ? reinterpret_cast<Pool*>(pool)->threshold : r.live_bytes();
    });
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, size_t) {
    return call(__func__, [](Runtime&) {});
}

// ---- Copies
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) { copy(r, to, from, bytes, kind, false, nullptr); });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) { copy(r, to, from, bytes, kind, true, stream); });
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
    return call(__func__,
                [&](Runtime& r) { copy_rows(r, to, to_pitch, from, from_pitch, width, height, kind, false, nullptr); });
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
    return call(__func__,
                [&](Runtime& r) { copy_rows(r, to, to_pitch, from, from_pitch, width, height, kind, true, stream); });
}
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
    return call(__func__, [&](Runtime& r) {
        need_device(r, to_device);
        need_device(r, from_device);
        copy(r, to, from, bytes, cudaMemcpyDeviceToDevice, false, nullptr);
    });
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) {
        need_device(r, to_device);
        need_device(r, from_device);
        copy(r, to, from, bytes, cudaMemcpyDeviceToDevice, true, stream);
    });
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) { copy_to_symbol(r, symbol, from, bytes, offset, kind, false, nullptr); });
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                    cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) { copy_to_symbol(r, symbol, from, bytes, offset, kind, true, stream); });
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) { copy_from_symbol(r, to, symbol, bytes, offset, kind, false, nullptr); });
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) { copy_from_symbol(r, to, symbol, bytes, offset, kind, true, stream); });
}
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
    return call(__func__, [&](Runtime& r) {
        need(pointer, "the pointer's address");
        *pointer = reinterpret_cast<void*>(r.address_of(symbol_of(r, symbol)));
    });
}
cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
    return call(__func__, [&](Runtime& r) {
        need(bytes, "the size's address");
        *bytes = symbol_of(r, symbol).bytes;
    });
}

// ---- Fills
cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
    return call(__func__, [&](Runtime& r) { fill(r, pointer, bytes, value, bytes, 1, false, nullptr); });
}
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) { fill(r, pointer, bytes, value, bytes, 1, true, stream); });
}
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
    return call(__func__, [&](Runtime& r) { fill(r, pointer, pitch, value, width, height, false, nullptr); });
}
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) { fill(r, pointer, pitch, value, width, height, true, stream); });
}
cudaError_t cudaMemset3D(cudaPitchedPtr pitched, int value, cudaExtent extent) {
    return call(__func__, [&](Runtime& r) { fill_3d(r, pitched, value, extent, false, nullptr); });
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr pitched, int value, cudaExtent extent, cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) { fill_3d(r, pitched, value, extent, true, stream); });
}

// ---- Managed memory is where both sides see it, so advice changes nothing here.
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t, cudaMemLocation, unsigned, cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) {
        stream_of(r, stream);
        if (!r.find(address_of(pointer))) throw CallFailure{cudaErrorInvalidValue, "this is no managed memory"};
    });
}
cudaError_t cudaMemAdvise(const void* pointer, size_t, cudaMemoryAdvise, cudaMemLocation) {
    return call(__func__, [&](Runtime& r) {
        if (!r.find(address_of(pointer))) throw CallFailure{cudaErrorInvalidValue, "this is no managed memory"};
    });
}
cudaError_t cudaMemRangeGetAttribute(void* data, size_t bytes, cudaMemRangeAttribute, const void*, size_t) {
    return call(__func__, [&](Runtime&) {
        need(data, "data");
        std::memset(data, 0, bytes);
    });
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void*, size_t, unsigned) {
    return call(__func__, [&](Runtime& r) { stream_of(r, stream); });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    return call(__func__, [&](Runtime& r) {
        need(attributes, "attributes");
        *attributes = {};
        attributes->device = cudaInvalidDeviceId;  // of memory that the runtime does not know, which is no error
        const Block* block = r.find(address_of(pointer));
        if (block && block->freed) return;
        const auto* const variable = block ? nullptr : r.memory().find(address_of(pointer));
        if (!block && !variable) return;
        const bool managed = block ? block->kind == MemoryKind::managed : variable->contents.of_host();
        const bool device = block ? block->kind == MemoryKind::device || block->kind == MemoryKind::array : !managed;
        attributes->device = block ? static_cast<int>(block->device) : static_cast<int>(r.device());
        attributes->type = managed ? cudaMemoryTypeManaged : device ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
        attributes->devicePointer = const_cast<void*>(pointer);
        attributes->hostPointer = device ? nullptr : const_cast<void*>(pointer);
    });
}
LOCKSTEP_INTERFACE_END
