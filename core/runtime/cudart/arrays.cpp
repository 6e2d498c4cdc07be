// Arrays, mipmapped arrays, and copies between arrays and other memory. Texels of an array lie row by row without gaps, so a
// copy of one is a copy of rows like any other.
#include <fmt/format.h>

#include <algorithm>

#include "core/runtime/cudart/call.h"

using namespace lockstep::runtime;

namespace {

struct Side {  // of a copy
    uint64_t address = 0, pitch = 0, slice = 0;
    const void* array = nullptr;
};

[[noreturn]] void outside(const Array& array) {
    throw CallFailure{cudaErrorInvalidValue,
                      fmt::format("the copy reaches past the end of '{}', which has {} x {} x {} texels", array.texels.name,
                                  array.texels.width, array.texels.height, array.texels.slices())};
}

Side side_of(const Array& array, const cudaPos& at, const cudaExtent& extent) {
    const auto& texels = array.texels;
    if (at.x + extent.width > texels.width || at.y + extent.height > texels.height || at.z + extent.depth > texels.slices())
        outside(array);
    const uint64_t row = texels.row_bytes();
    return {texels.address + (at.z * texels.height + at.y) * row + at.x * texels.texel_bytes(), row, row * texels.height,
            &array};
}

Side side_of(const cudaPitchedPtr& p, const cudaPos& at, const cudaExtent& extent) {
    if (extent.depth > 1 && extent.height > p.ysize)
        throw CallFailure{cudaErrorInvalidPitchValue,
                          fmt::format("a slice has {} rows, and {} of each are to be copied", p.ysize, extent.height)};
    return {address_of(p.ptr) + (at.z * p.ysize + at.y) * p.pitch + at.x, p.pitch, p.pitch * p.ysize, nullptr};
}

// Bytes [column, column + ...) of a row on, as the 1-D and 2-D copies count; `bytes` each of `rows`.
Side bytes_of(Runtime& r, const void* handle, size_t column, size_t row, size_t bytes, size_t rows, bool in_one_piece) {
    const Array& array = array_of(r, handle);
    const uint64_t row_bytes = array.texels.row_bytes(), begin = row * row_bytes + column;
    const bool inside = in_one_piece ? begin + bytes <= array.texels.level_bytes()
                                     : column + bytes <= row_bytes && row + rows <= array.texels.height;
    if (!inside) outside(array);
    return {array.texels.address + begin, row_bytes, 0, handle};
}

Side pointer(const void* p, size_t pitch) {
    need(p, "the pointer");
    return {address_of(p), pitch, 0, nullptr};
}

void copy_sides(Runtime& r, const Side& to, const Side& from, size_t bytes, size_t rows, int kind, bool asynchronous,
                cudaStream_t stream) {
    if ((to.array && kind == cudaMemcpyDeviceToHost) || (from.array && kind == cudaMemcpyHostToDevice))
        throw CallFailure{cudaErrorInvalidMemcpyDirection,
                          "an array is memory of the device, and the direction says otherwise"};
    r.copy({.to = to.address,
            .to_pitch = to.pitch,
            .from = from.address,
            .from_pitch = from.pitch,
            .bytes = bytes,
            .rows = rows,
            .kind = kind,
            .to_array = to.array,
            .from_array = from.array},
           stream_of(r, stream).number, asynchronous);
}

Array& mipmapped_of(Runtime& r, cudaMipmappedArray_const_t handle) {
    return array_of(r, handle);
}

cudaError_t copy_3d(const char* name, const cudaMemcpy3DParms* parameters, bool asynchronous, cudaStream_t stream) {
    return call(name, [&](Runtime& r) {
        need(parameters, "the parameters");
        r.copy(copy_of(r, *parameters), stream_of(r, stream).number, asynchronous);
    });
}

cudaError_t copy_3d(const char* name, const cudaMemcpy3DPeerParms* p, bool asynchronous, cudaStream_t stream) {
    return call(name, [&](Runtime& r) {
        need(p, "the parameters");
        need_device(r, p->srcDevice);
        need_device(r, p->dstDevice);
        const cudaMemcpy3DParms parameters{p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                                           p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDefault};
        r.copy(copy_of(r, parameters), stream_of(r, stream).number, asynchronous);
    });
}

void make_array(Runtime& r, cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned flags) {
    need(array, "the array's address");
    need(desc, "the channel descriptor");
    r.need_no_capture();
    *array = reinterpret_cast<cudaArray_t>(r.add_array({*desc, extent, flags}, 1));
}

}  // namespace

namespace lockstep::runtime {

Array& array_of(Runtime& r, const void* handle) {
    Array* const array = r.array_of(handle);
    if (!array) throw CallFailure{cudaErrorInvalidResourceHandle, "this is no array, or it was freed"};
    return *array;
}

// Extents and positions count texels where an array takes part, also those of a pointer's side, and bytes otherwise. (CUDA's
// reference says bytes of a position in a pointer's memory; a real one, CUDA 13.0 on an H200, counts texels.)
CopyWork copy_of(Runtime& r, const cudaMemcpy3DParms& p) {
    if ((p.srcArray != nullptr) == (p.srcPtr.ptr != nullptr) || (p.dstArray != nullptr) == (p.dstPtr.ptr != nullptr))
        throw CallFailure{cudaErrorInvalidValue, "each side of the copy is either an array or a pitched pointer"};
    const Array* const from_array = p.srcArray ? &array_of(r, p.srcArray) : nullptr;
    const Array* const to_array = p.dstArray ? &array_of(r, p.dstArray) : nullptr;
    const Array* const any = from_array ? from_array : to_array;
    if (from_array && to_array && from_array->texels.texel_bytes() != to_array->texels.texel_bytes())
        throw CallFailure{cudaErrorInvalidValue, "the arrays have texels of different sizes"};
    const size_t element = any ? any->texels.texel_bytes() : 1;
    for (const cudaPitchedPtr* side : {from_array ? nullptr : &p.srcPtr, to_array ? nullptr : &p.dstPtr})
        if (side && p.extent.width * element > side->pitch && p.extent.height <= 1)
            throw CallFailure{cudaErrorInvalidValue, "a row is longer than the pitch"};
    const auto in_bytes = [&](const cudaPos& at) { return cudaPos{at.x * element, at.y, at.z}; };
    const Side from =
        from_array ? side_of(*from_array, p.srcPos, p.extent) : side_of(p.srcPtr, in_bytes(p.srcPos), p.extent);
    const Side to = to_array ? side_of(*to_array, p.dstPos, p.extent) : side_of(p.dstPtr, in_bytes(p.dstPos), p.extent);
    return {.to = to.address,
            .to_pitch = to.pitch,
            .to_slice = to.slice,
            .from = from.address,
            .from_pitch = from.pitch,
            .from_slice = from.slice,
            .bytes = p.extent.width * element,
            .rows = p.extent.height,
            .slices = p.extent.depth,
            .kind = p.kind,
            .to_array = to.array,
            .from_array = from.array};
}

namespace {
cudaPos position_in(const Array& array, uint64_t address) {
    const uint64_t offset = address - array.texels.address, row = array.texels.row_bytes();
    return {offset % row / array.texels.texel_bytes(), offset / row % array.texels.height,
            offset / row / array.texels.height};
}
cudaPitchedPtr pitched(uint64_t address, uint64_t pitch, uint64_t slice, const CopyWork& work) {
    const uint64_t step = pitch ? pitch : work.bytes;
    return {reinterpret_cast<void*>(address), step, work.bytes, slice ? slice / step : work.rows};
}
}  // namespace

cudaMemcpy3DParms parameters_of(Runtime& r, const CopyWork& work) {
    cudaMemcpy3DParms p{};
    p.kind = static_cast<cudaMemcpyKind>(work.kind);
    p.extent = {work.bytes, work.rows, work.slices};
    const Array* const from = work.from_array ? &array_of(r, work.from_array) : nullptr;
    const Array* const to = work.to_array ? &array_of(r, work.to_array) : nullptr;
    if (from || to) p.extent.width /= (from ? from : to)->texels.texel_bytes();
    if (from) {
        p.srcArray = static_cast<cudaArray_t>(const_cast<void*>(work.from_array));
        p.srcPos = position_in(*from, work.from);
    } else {
        p.srcPtr = pitched(work.from, work.from_pitch, work.from_slice, work);
    }
    if (to) {
        p.dstArray = static_cast<cudaArray_t>(const_cast<void*>(work.to_array));
        p.dstPos = position_in(*to, work.to);
    } else {
        p.dstPtr = pitched(work.to, work.to_pitch, work.to_slice, work);
    }
    return p;
}

}  // namespace lockstep::runtime

LOCKSTEP_INTERFACE

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
    return {x, y, z, w, kind};
}
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
    return call(__func__, [&](Runtime& r) {
        need(desc, "the channel descriptor");
        *desc = array_of(r, array).shape.channels;
    });
}
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width, size_t height,
                            unsigned flags) {
    return call(__func__, [&](Runtime& r) { make_array(r, array, desc, {width, height, 0}, flags); });
}
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned flags) {
    return call(__func__, [&](Runtime& r) { make_array(r, array, desc, extent, flags); });
}
cudaError_t cudaFreeArray(cudaArray_t array) {
    return call(__func__, [&](Runtime& r) {
        if (!array) return;
        Array& freed = array_of(r, array);
        if (!freed.owns) throw CallFailure{cudaErrorInvalidValue, "this is a level of a mipmapped array, which owns it"};
        r.remove_array(&freed);
    });
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags, cudaArray_t array) {
    return call(__func__, [&](Runtime& r) {
        const ArrayShape& shape = array_of(r, array).shape;
        if (desc) *desc = shape.channels;
        if (extent) *extent = shape.extent;
        if (flags) *flags = shape.flags;
    });
}
cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements* requirements, cudaArray_t array, int device) {
    return call(__func__, [&](Runtime& r) {
        need(requirements, "the requirements");
        need_device(r, device);
        *requirements = {array_of(r, array).texels.bytes(), 512, {}};
    });
}
cudaError_t cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements* requirements, cudaMipmappedArray_t array,
                                                    int device) {
    return call(__func__, [&](Runtime& r) {
        need(requirements, "the requirements");
        need_device(r, device);
        *requirements = {mipmapped_of(r, array).texels.bytes(), 512, {}};
    });
}
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent,
                                     unsigned levels, unsigned flags) {
    return call(__func__, [&](Runtime& r) {
        need(array, "the array's address");
        need(desc, "the channel descriptor");
        r.need_no_capture();
        const size_t longest =
            std::max({extent.width, extent.height, (flags & (cudaArrayLayered | cudaArrayCubemap)) ? 0 : extent.depth});
        unsigned most = 0;
        while (most < 31 && longest >> most) ++most;
        *array = reinterpret_cast<cudaMipmappedArray_t>(
            r.add_array({*desc, extent, flags}, std::clamp(levels, 1u, std::max(1u, most))));
    });
}
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level, cudaMipmappedArray_const_t array, unsigned number) {
    return call(__func__, [&](Runtime& r) {
        need(level, "the array's address");
        *level = reinterpret_cast<cudaArray_t>(r.level_of(mipmapped_of(r, array), number));
    });
}
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
    return call(__func__, [&](Runtime& r) {
        if (array) r.remove_array(&mipmapped_of(r, array));
    });
}

// ---- Copies
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
    return copy_3d(__func__, parameters, false, nullptr);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
    return copy_3d(__func__, parameters, true, stream);
}
cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
    return copy_3d(__func__, parameters, false, nullptr);
}
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
    return copy_3d(__func__, parameters, true, stream);
}
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t column, size_t row, const void* from, size_t bytes,
                              cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) {
        copy_sides(r, bytes_of(r, to, column, row, bytes, 1, true), pointer(from, 0), bytes, 1, kind, false, nullptr);
    });
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t column, size_t row, const void* from, size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) {
        copy_sides(r, bytes_of(r, to, column, row, bytes, 1, true), pointer(from, 0), bytes, 1, kind, true, stream);
    });
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t column, size_t row, size_t bytes,
                                cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) {
        copy_sides(r, pointer(to, 0), bytes_of(r, from, column, row, bytes, 1, true), bytes, 1, kind, false, nullptr);
    });
}
cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t column, size_t row, size_t bytes,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) {
        copy_sides(r, pointer(to, 0), bytes_of(r, from, column, row, bytes, 1, true), bytes, 1, kind, true, stream);
    });
}
cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_column, size_t to_row, cudaArray_const_t from,
                                   size_t from_column, size_t from_row, size_t bytes, cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) {
        copy_sides(r, bytes_of(r, to, to_column, to_row, bytes, 1, true),
                   bytes_of(r, from, from_column, from_row, bytes, 1, true), bytes, 1, kind, false, nullptr);
    });
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t column, size_t row, const void* from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) {
        copy_sides(r, bytes_of(r, to, column, row, width, height, false), pointer(from, pitch), width, height, kind, false,
                   nullptr);
    });
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t column, size_t row, const void* from, size_t pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) {
        copy_sides(r, bytes_of(r, to, column, row, width, height, false), pointer(from, pitch), width, height, kind, true,
                   stream);
    });
}
cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t column, size_t row, size_t width,
                                  size_t height, cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) {
        copy_sides(r, pointer(to, pitch), bytes_of(r, from, column, row, width, height, false), width, height, kind, false,
                   nullptr);
    });
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t column, size_t row,
                                       size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) {
        copy_sides(r, pointer(to, pitch), bytes_of(r, from, column, row, width, height, false), width, height, kind, true,
                   stream);
    });
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_column, size_t to_row, cudaArray_const_t from,
                                     size_t from_column, size_t from_row, size_t width, size_t height, cudaMemcpyKind kind) {
    return call(__func__, [&](Runtime& r) {
        copy_sides(r, bytes_of(r, to, to_column, to_row, width, height, false),
                   bytes_of(r, from, from_column, from_row, width, height, false), width, height, kind, false, nullptr);
    });
}
LOCKSTEP_ALIAS(cudaMemcpy2DArrayToArray_ptds, cudaMemcpy2DArrayToArray)
LOCKSTEP_ALIAS(cudaMemcpy2DFromArrayAsync_ptsz, cudaMemcpy2DFromArrayAsync)
LOCKSTEP_ALIAS(cudaMemcpy2DFromArray_ptds, cudaMemcpy2DFromArray)
LOCKSTEP_ALIAS(cudaMemcpy2DToArrayAsync_ptsz, cudaMemcpy2DToArrayAsync)
LOCKSTEP_ALIAS(cudaMemcpy2DToArray_ptds, cudaMemcpy2DToArray)
LOCKSTEP_ALIAS(cudaMemcpy3DAsync_ptsz, cudaMemcpy3DAsync)
LOCKSTEP_ALIAS(cudaMemcpy3DPeerAsync_ptsz, cudaMemcpy3DPeerAsync)
LOCKSTEP_ALIAS(cudaMemcpy3DPeer_ptds, cudaMemcpy3DPeer)
LOCKSTEP_ALIAS(cudaMemcpy3D_ptds, cudaMemcpy3D)
LOCKSTEP_ALIAS(cudaMemcpyArrayToArray_ptds, cudaMemcpyArrayToArray)
LOCKSTEP_ALIAS(cudaMemcpyFromArrayAsync_ptsz, cudaMemcpyFromArrayAsync)
LOCKSTEP_ALIAS(cudaMemcpyFromArray_ptds, cudaMemcpyFromArray)
LOCKSTEP_ALIAS(cudaMemcpyToArrayAsync_ptsz, cudaMemcpyToArrayAsync)
LOCKSTEP_ALIAS(cudaMemcpyToArray_ptds, cudaMemcpyToArray)
LOCKSTEP_INTERFACE_END
