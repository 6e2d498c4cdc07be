// Texture references, as CUDA had them before version 12: a global texture<float, 2> that the host binds to memory. The
// device's part of one is a .texref, whose handle is that of the texture object that stands behind it.
#pragma once
#include "cuda_runtime_api.h"

template <class T, int Type = cudaTextureType1D, enum cudaTextureReadMode Mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {
    __host__ texture(int norm = 0, enum cudaTextureFilterMode filter = cudaFilterModePoint,
                     enum cudaTextureAddressMode address = cudaAddressModeClamp)
        : texture(norm, filter, address, cudaCreateChannelDesc<T>()) {}
    __host__ texture(int norm, enum cudaTextureFilterMode filter, enum cudaTextureAddressMode address,
                     struct cudaChannelFormatDesc desc)
        : textureReference{norm, filter, {address, address, address}, desc, 0, 0, cudaFilterModePoint, 0, 0, 0, 0, {}} {}
};

// ---- Fetches: of the type, or of floats where the reference says so
template <class T, enum cudaTextureReadMode Mode>
struct lockstep_fetched {
    using type = T;
};
#define LOCKSTEP_NORMALIZED(T, name)                                \
    template <>                                                     \
    struct lockstep_fetched<T, cudaReadModeNormalizedFloat> {       \
        using type = float;                                         \
    };                                                              \
    template <>                                                     \
    struct lockstep_fetched<name##1, cudaReadModeNormalizedFloat> { \
        using type = float1;                                        \
    };                                                              \
    template <>                                                     \
    struct lockstep_fetched<name##2, cudaReadModeNormalizedFloat> { \
        using type = float2;                                        \
    };                                                              \
    template <>                                                     \
    struct lockstep_fetched<name##4, cudaReadModeNormalizedFloat> { \
        using type = float4;                                        \
    };
LOCKSTEP_NORMALIZED(signed char, char)
LOCKSTEP_NORMALIZED(unsigned char, uchar)
LOCKSTEP_NORMALIZED(short, short)
LOCKSTEP_NORMALIZED(unsigned short, ushort)
#undef LOCKSTEP_NORMALIZED
template <class Reference>
static __inline__ __attribute__((always_inline, nodebug, device)) cudaTextureObject_t lockstep_handle(Reference reference) {
    cudaTextureObject_t handle;
    asm("mov.b64 %0, %1;" : "=l"(handle) : "l"(reference));
    return handle;
}
#define LOCKSTEP_FETCH_BY_REFERENCE(name, dimensions, parameters, ...)                                                    \
    template <class T, enum cudaTextureReadMode Mode>                                                                     \
    static __inline__ __attribute__((always_inline, nodebug, device)) typename lockstep_fetched<T, Mode>::type name(      \
        texture<T, dimensions, Mode> reference, LOCKSTEP_UNPACK parameters) {                                             \
        return name<typename lockstep_fetched<T, Mode>::type>(lockstep_handle(reference), __VA_ARGS__);                   \
    }
#define LOCKSTEP_UNPACK(...) __VA_ARGS__
LOCKSTEP_FETCH_BY_REFERENCE(tex1Dfetch, cudaTextureType1D, (int x), x)
LOCKSTEP_FETCH_BY_REFERENCE(tex1D, cudaTextureType1D, (float x), x)
LOCKSTEP_FETCH_BY_REFERENCE(tex2D, cudaTextureType2D, (float x, float y), x, y)
LOCKSTEP_FETCH_BY_REFERENCE(tex3D, cudaTextureType3D, (float x, float y, float z), x, y, z)
LOCKSTEP_FETCH_BY_REFERENCE(texCubemap, cudaTextureTypeCubemap, (float x, float y, float z), x, y, z)
LOCKSTEP_FETCH_BY_REFERENCE(tex1DLayered, cudaTextureType1DLayered, (float x, int layer), x, layer)
LOCKSTEP_FETCH_BY_REFERENCE(tex2DLayered, cudaTextureType2DLayered, (float x, float y, int layer), x, y, layer)
LOCKSTEP_FETCH_BY_REFERENCE(tex2DLod, cudaTextureType2D, (float x, float y, float level), x, y, level)
#undef LOCKSTEP_FETCH_BY_REFERENCE

// ---- Bindings
template <class T, int Type, enum cudaTextureReadMode Mode>
static inline cudaError_t cudaBindTexture(size_t* offset, const texture<T, Type, Mode>& reference, const void* pointer,
                                          const struct cudaChannelFormatDesc& desc, size_t bytes = ~0u) {
    return ::cudaBindTexture(offset, &reference, pointer, &desc, bytes);
}
template <class T, int Type, enum cudaTextureReadMode Mode>
static inline cudaError_t cudaBindTexture(size_t* offset, const texture<T, Type, Mode>& reference, const void* pointer,
                                          size_t bytes = ~0u) {
    return ::cudaBindTexture(offset, &reference, pointer, &reference.channelDesc, bytes);
}
template <class T, int Type, enum cudaTextureReadMode Mode>
static inline cudaError_t cudaBindTexture2D(size_t* offset, const texture<T, Type, Mode>& reference, const void* pointer,
                                            const struct cudaChannelFormatDesc& desc, size_t width, size_t height,
                                            size_t pitch) {
    return ::cudaBindTexture2D(offset, &reference, pointer, &desc, width, height, pitch);
}
template <class T, int Type, enum cudaTextureReadMode Mode>
static inline cudaError_t cudaBindTexture2D(size_t* offset, const texture<T, Type, Mode>& reference, const void* pointer,
                                            size_t width, size_t height, size_t pitch) {
    return ::cudaBindTexture2D(offset, &reference, pointer, &reference.channelDesc, width, height, pitch);
}
template <class T, int Type, enum cudaTextureReadMode Mode>
static inline cudaError_t cudaBindTextureToArray(const texture<T, Type, Mode>& reference, cudaArray_const_t array,
                                                 const struct cudaChannelFormatDesc& desc) {
    return ::cudaBindTextureToArray(&reference, array, &desc);
}
template <class T, int Type, enum cudaTextureReadMode Mode>
static inline cudaError_t cudaBindTextureToArray(const texture<T, Type, Mode>& reference, cudaArray_const_t array) {
    return ::cudaBindTextureToArray(&reference, array, &reference.channelDesc);
}
template <class T, int Type, enum cudaTextureReadMode Mode>
static inline cudaError_t cudaUnbindTexture(const texture<T, Type, Mode>& reference) {
    return ::cudaUnbindTexture(&reference);
}
template <class T, int Type, enum cudaTextureReadMode Mode>
static inline cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const texture<T, Type, Mode>& reference) {
    return ::cudaGetTextureAlignmentOffset(offset, &reference);
}

// ---- Surface references
#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03
template <class T, int Dimensions = cudaSurfaceType1D>
struct __attribute__((device_builtin_surface_type)) surface;
template <int Dimensions>
struct __attribute__((device_builtin_surface_type)) surface<void, Dimensions> : public surfaceReference {
    __host__ surface() : surfaceReference{cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone)} {}
};
#define LOCKSTEP_MOVE_BY_REFERENCE(name, dimensions, parameters, ...)                                                     \
    template <class T>                                                                                                    \
    static __inline__ __attribute__((always_inline, nodebug, device)) T name##read(                                       \
        surface<void, dimensions> reference, LOCKSTEP_UNPACK parameters,                                                  \
        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                                       \
        return name##read<T>(lockstep_handle(reference), __VA_ARGS__, mode);                                              \
    }                                                                                                                     \
    template <class T>                                                                                                    \
    static __inline__ __attribute__((always_inline, nodebug, device)) void name##read(                                    \
        T* value, surface<void, dimensions> reference, LOCKSTEP_UNPACK parameters,                                        \
        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                                       \
        *value = name##read<T>(lockstep_handle(reference), __VA_ARGS__, mode);                                            \
    }                                                                                                                     \
    template <class T>                                                                                                    \
    static __inline__ __attribute__((always_inline, nodebug, device)) void name##write(                                   \
        T value, surface<void, dimensions> reference, LOCKSTEP_UNPACK parameters,                                         \
        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                                       \
        name##write(value, lockstep_handle(reference), __VA_ARGS__, mode);                                                \
    }
LOCKSTEP_MOVE_BY_REFERENCE(surf1D, cudaSurfaceType1D, (int x), x)
LOCKSTEP_MOVE_BY_REFERENCE(surf2D, cudaSurfaceType2D, (int x, int y), x, y)
LOCKSTEP_MOVE_BY_REFERENCE(surf3D, cudaSurfaceType3D, (int x, int y, int z), x, y, z)
#undef LOCKSTEP_MOVE_BY_REFERENCE
#undef LOCKSTEP_UNPACK
template <int Dimensions>
static inline cudaError_t cudaBindSurfaceToArray(const surface<void, Dimensions>& reference, cudaArray_const_t array) {
    return ::cudaBindSurfaceToArray(&reference, array, &reference.channelDesc);
}
template <int Dimensions>
static inline cudaError_t cudaBindSurfaceToArray(const surface<void, Dimensions>& reference, cudaArray_const_t array,
                                                 const struct cudaChannelFormatDesc& desc) {
    return ::cudaBindSurfaceToArray(&reference, array, &desc);
}
