// Memory: allocations of every kind, copies and fills.
#include <algorithm>
#include <cstring>
#include <map>

#include "core/runtime/cudart/call.h"

using namespace lockstep::runtime;

namespace {

std::map<uint64_t, unsigned> host_flags;  // that cudaHostAlloc was given, by address

constexpr size_t pitch_bytes = 512;  // rows of pitched memory begin at multiples of it

void allocate(Runtime& r, void** pointer, size_t bytes, MemoryKind kind, const char* name) {
    need(pointer, "the pointer's address");
    r.need_no_capture();
    *pointer = bytes == 0 ? nullptr : reinterpret_cast<void*>(r.allocate(bytes, kind, name));
}

void allocate_pitched(Runtime& r, void** pointer, size_t* pitch, size_t width, size_t rows) {
    need(pitch, "pitch");
    *pitch = (width + pitch_bytes - 1) / pitch_bytes * pitch_bytes;
    allocate(r, pointer, *pitch * rows, MemoryKind::device, "pitched allocation");
}

void free(Runtime& r, void* pointer, bool of_host) {
    r.need_no_capture();
    if (!pointer) return;
    r.release(address_of(pointer), of_host);
    give_back_to_pool(address_of(pointer));
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
    if (width > to_pitch || width > from_pitch)
        throw CallFailure{rows > 1 ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue,
                          "a row has " + std::to_string(width) + " bytes, which is more than a pitch"};
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
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        throw CallFailure{cudaErrorInvalidMemcpyDirection, "a variable of the device is the destination"};
    if (kind == cudaMemcpyHostToDevice) kind = cudaMemcpyDefault;  // from wherever the pointer points
    r.copy({.to = address_in(r, symbol, offset, bytes), .from = address_of(from), .bytes = bytes, .kind = kind},
           stream_of(r, stream).number, asynchronous);
}

void copy_from_symbol(Runtime& r, void* to, const void* symbol, size_t bytes, size_t offset, int kind, bool asynchronous,
                      cudaStream_t stream) {
    if (bytes == 0) return;
    need(to, "the destination");
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        throw CallFailure{cudaErrorInvalidMemcpyDirection, "a variable of the device is the source"};
    if (kind == cudaMemcpyDeviceToHost) kind = cudaMemcpyDefault;  // to wherever the pointer points
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

// `bytes` of managed memory lie there.
void need_managed(Runtime& r, const void* pointer, size_t bytes) {
    const uint64_t address = address_of(pointer);
    const Block* const block = r.find(address);
    const auto* const variable = block ? nullptr : r.memory().find(address);
    const bool managed = block ? block->kind == MemoryKind::managed : variable && variable->contents.of_host();
    if (!managed) throw CallFailure{cudaErrorInvalidValue, "this is no managed memory"};
    const uint64_t rest =
        block ? block->bytes - (address - block->address) : variable->bytes - (address - variable->address);
    if (bytes > rest)
        throw CallFailure{cudaErrorInvalidValue, std::to_string(bytes) +
                                                     " bytes reach past the end of managed memory, which has " +
                                                     std::to_string(rest) + " from there on"};
}

void need_location(Runtime& r, const cudaMemLocation& location) {
    if (location.type == cudaMemLocationTypeDevice) need_device(r, location.id);
}

// Advice is not kept: no copies for reading, no place that is preferred or prefetched to.
void tell_range(Runtime& r, void* data, size_t bytes, cudaMemRangeAttribute attribute, const void* pointer) {
    need(data, "the answer's address");
    need_managed(r, pointer, 0);
    const int32_t answer = attribute == cudaMemRangeAttributeReadMostly ? 0 : cudaInvalidDeviceId;
    for (size_t at = 0; at + sizeof answer <= bytes; at += sizeof answer)
        std::memcpy(static_cast<std::byte*>(data) + at, &answer, sizeof answer);
}

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
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
    return call(__func__, [&](Runtime& r) {
        if (flags > 7) throw CallFailure{cudaErrorInvalidValue, "there is no such flag"};
        allocate(r, pointer, bytes, MemoryKind::pinned, "pinned allocation");
        host_flags[address_of(*pointer)] = flags;
    });
}
cudaError_t cudaFreeHost(void* pointer) {
    return call(__func__, [&](Runtime& r) { free(r, pointer, true); });
}
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
    return call(__func__, [&](Runtime& r) {
        need(pointer, "the pointer");
        if (flags > 15) throw CallFailure{cudaErrorInvalidValue, "there is no such flag"};
        const Block* const block = r.find(address_of(pointer));
        if (block && !block->freed && (block->kind == MemoryKind::device || block->kind == MemoryKind::array))
            throw CallFailure{cudaErrorInvalidValue, "this is memory of the device"};
        if (bytes == 0) throw CallFailure{cudaErrorInvalidValue, "no bytes are to be registered"};
        r.adopt(pointer, bytes);
    });
}
cudaError_t cudaHostUnregister(void* pointer) {
    return call(__func__, [&](Runtime& r) {
        const Block* block = r.find(address_of(pointer));
        if (!block || block->kind != MemoryKind::registered || block->address != address_of(pointer))
            throw CallFailure{block ? cudaErrorInvalidValue : cudaErrorHostMemoryNotRegistered,
                              "this memory is not registered"};
        r.release(address_of(pointer), true);
    });
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
    return call(__func__, [&](Runtime& r) {
        need(device, "the pointer's address");
        if (flags != 0) throw CallFailure{cudaErrorInvalidValue, "the flags are 0"};
        const Block* block = r.find(address_of(host));
        if (!block || block->freed || (block->kind != MemoryKind::pinned && block->kind != MemoryKind::registered))
            throw CallFailure{cudaErrorInvalidValue, "this is neither pinned nor registered host memory"};
        *device = host;  // the same address on both sides
    });
}
cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
    return call(__func__, [&](Runtime& r) {
        need(flags, "flags");
        const Block* block = r.find(address_of(host));
        if (!block || (block->kind != MemoryKind::pinned && block->kind != MemoryKind::registered))
            throw CallFailure{cudaErrorInvalidValue, "this is no pinned host memory"};
        const auto asked = host_flags.find(block->address);
        *flags = cudaHostAllocMapped | (asked == host_flags.end() ? 0 : asked->second);
    });
}
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
    return call(__func__, [&](Runtime& r) {
        if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
            throw CallFailure{cudaErrorInvalidValue, "managed memory is attached to all (global) or to the host"};
        allocate(r, pointer, bytes, MemoryKind::managed, "managed allocation");
    });
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
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation to, unsigned flags,
                                 cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) {
        stream_of(r, stream);
        if (flags != 0 || bytes == 0) throw CallFailure{cudaErrorInvalidValue, "the flags are 0, and the bytes are not"};
        need_location(r, to);
        need_managed(r, pointer, bytes);
    });
}
cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
    return call(__func__, [&](Runtime& r) {
        if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
            throw CallFailure{cudaErrorInvalidValue, "there is no such advice"};
        if (advice > cudaMemAdviseUnsetReadMostly) need_location(r, location);
        need_managed(r, pointer, bytes);
    });
}
cudaError_t cudaMemRangeGetAttribute(void* data, size_t bytes, cudaMemRangeAttribute attribute, const void* pointer,
                                     size_t) {
    return call(__func__, [&](Runtime& r) { tell_range(r, data, bytes, attribute, pointer); });
}
cudaError_t cudaMemRangeGetAttributes(void** data, size_t* bytes, cudaMemRangeAttribute* attributes, size_t count,
                                      const void* pointer, size_t) {
    return call(__func__, [&](Runtime& r) {
        need(data, "the answers");
        need(bytes, "their sizes");
        need(attributes, "the attributes");
        for (size_t k = 0; k < count; ++k) tell_range(r, data[k], bytes[k], attributes[k], pointer);
    });
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t bytes, unsigned flags) {
    return call(__func__, [&](Runtime& r) {
        const bool known = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle;
        if (!known || (flags == cudaMemAttachSingle && stream_of(r, stream).number == 0))
            throw CallFailure{cudaErrorInvalidValue, "memory is attached to all, to the host or to a stream that was made"};
        need_managed(r, pointer, 0);
        const Block* const block = r.find(address_of(pointer));
        if (bytes != 0 && block && bytes != block->bytes)
            throw CallFailure{cudaErrorInvalidValue, "an allocation is attached as a whole"};
    });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    return call(__func__, [&](Runtime& r) {
        need(attributes, "attributes");
        *attributes = {};
        attributes->device = cudaInvalidDeviceId;  // of memory that the runtime does not know, which is no error
        const Block* block = r.find(address_of(pointer));
        if (block && block->freed) block = nullptr;
        attributes->hostPointer = const_cast<void*>(pointer);
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
LOCKSTEP_ALIAS(cudaMemPrefetchAsync_ptsz, cudaMemPrefetchAsync)
LOCKSTEP_ALIAS(cudaMemcpy2DAsync_ptsz, cudaMemcpy2DAsync)
LOCKSTEP_ALIAS(cudaMemcpy2D_ptds, cudaMemcpy2D)
LOCKSTEP_ALIAS(cudaMemcpyAsync_ptsz, cudaMemcpyAsync)
LOCKSTEP_ALIAS(cudaMemcpyFromSymbolAsync_ptsz, cudaMemcpyFromSymbolAsync)
LOCKSTEP_ALIAS(cudaMemcpyFromSymbol_ptds, cudaMemcpyFromSymbol)
LOCKSTEP_ALIAS(cudaMemcpyToSymbolAsync_ptsz, cudaMemcpyToSymbolAsync)
LOCKSTEP_ALIAS(cudaMemcpyToSymbol_ptds, cudaMemcpyToSymbol)
LOCKSTEP_ALIAS(cudaMemcpy_ptds, cudaMemcpy)
LOCKSTEP_ALIAS(cudaMemset2DAsync_ptsz, cudaMemset2DAsync)
LOCKSTEP_ALIAS(cudaMemset2D_ptds, cudaMemset2D)
LOCKSTEP_ALIAS(cudaMemset3DAsync_ptsz, cudaMemset3DAsync)
LOCKSTEP_ALIAS(cudaMemset3D_ptds, cudaMemset3D)
LOCKSTEP_ALIAS(cudaMemsetAsync_ptsz, cudaMemsetAsync)
LOCKSTEP_ALIAS(cudaMemset_ptds, cudaMemset)
LOCKSTEP_ALIAS(cudaStreamAttachMemAsync_ptsz, cudaStreamAttachMemAsync)
LOCKSTEP_ALIAS(cudaMemAdvise_v2, cudaMemAdvise)
LOCKSTEP_ALIAS(cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync)
LOCKSTEP_ALIAS(cudaMemPrefetchAsync_v2_ptsz, cudaMemPrefetchAsync)
LOCKSTEP_INTERFACE_END
