// Texture references, as CUDA had them before version 12: a global texture<float, 2> that the host binds to memory. The
// device's part of one is a .texref, whose handle is that of the texture object that stands behind it.
#pragma once
#include "cuda_runtime_api.h"

#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0C
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
struct textureReference {
    int normalized;
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureAddressMode addressMode[3];
    struct cudaChannelFormatDesc channelDesc;
    int sRGB;
    unsigned int maxAnisotropy;
    enum cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    cudaTextureObject_t lockstepObject;  // what it is bound to; 0: nothing
};
template <class T, int Type = cudaTextureType1D, enum cudaTextureReadMode Mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {
    __host__ texture(int norm = 0, enum cudaTextureFilterMode filter = cudaFilterModePoint,
                     enum cudaTextureAddressMode address = cudaAddressModeClamp)
        : texture(norm, filter, address, cudaCreateChannelDesc<T>()) {}
    __host__ texture(int norm, enum cudaTextureFilterMode filter, enum cudaTextureAddressMode address,
                     struct cudaChannelFormatDesc desc)
        : textureReference{norm, filter, {address, address, address}, desc} {}
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
#undef LOCKSTEP_UNPACK
#undef LOCKSTEP_FETCH_BY_REFERENCE

// ---- Bindings
template <class T, int Type, enum cudaTextureReadMode Mode>
static inline cudaError_t lockstep_bind(const texture<T, Type, Mode>& reference, const struct cudaResourceDesc& resource) {
    texture<T, Type, Mode>& bound = const_cast<texture<T, Type, Mode>&>(reference);
    struct cudaTextureDesc desc = {};
    for (int k = 0; k < 3; ++k) desc.addressMode[k] = bound.addressMode[k];
    desc.filterMode = bound.filterMode;
    desc.readMode = Mode;
    desc.sRGB = bound.sRGB;
    desc.normalizedCoords = bound.normalized;
    if (bound.lockstepObject) cudaDestroyTextureObject(bound.lockstepObject);
    bound.lockstepObject = 0;
    const cudaError_t error = cudaCreateTextureObject(&bound.lockstepObject, &resource, &desc, nullptr);
    return error != cudaSuccess ? error
                                : ::cudaMemcpyToSymbol((const void*)&bound, &bound.lockstepObject, sizeof bound.lockstepObject);
}
template <class T, int Type, enum cudaTextureReadMode Mode>
static inline cudaError_t cudaBindTexture(size_t* offset, const texture<T, Type, Mode>& reference, const void* pointer,
                                          const struct cudaChannelFormatDesc& desc, size_t bytes = ~0u) {
    struct cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<void*>(pointer);
    resource.res.linear.desc = desc;
    resource.res.linear.sizeInBytes = bytes;
    if (offset) *offset = 0;
    return lockstep_bind(reference, resource);
}
template <class T, int Type, enum cudaTextureReadMode Mode>
static inline cudaError_t cudaBindTexture(size_t* offset, const texture<T, Type, Mode>& reference, const void* pointer,
                                          size_t bytes = ~0u) {
    return cudaBindTexture(offset, reference, pointer, reference.channelDesc, bytes);
}
template <class T, int Type, enum cudaTextureReadMode Mode>
static inline cudaError_t cudaBindTexture2D(size_t* offset, const texture<T, Type, Mode>& reference, const void* pointer,
                                            const struct cudaChannelFormatDesc& desc, size_t width, size_t height,
                                            size_t pitch) {
    struct cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = const_cast<void*>(pointer);
    resource.res.pitch2D.desc = desc;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    if (offset) *offset = 0;
    return lockstep_bind(reference, resource);
}
template <class T, int Type, enum cudaTextureReadMode Mode>
static inline cudaError_t cudaBindTexture2D(size_t* offset, const texture<T, Type, Mode>& reference, const void* pointer,
                                            size_t width, size_t height, size_t pitch) {
    return cudaBindTexture2D(offset, reference, pointer, reference.channelDesc, width, height, pitch);
}
template <class T, int Type, enum cudaTextureReadMode Mode>
static inline cudaError_t cudaBindTextureToArray(const texture<T, Type, Mode>& reference, cudaArray_const_t array) {
    struct cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = const_cast<cudaArray_t>(array);
    return lockstep_bind(reference, resource);
}
template <class T, int Type, enum cudaTextureReadMode Mode>
static inline cudaError_t cudaBindTextureToArray(const texture<T, Type, Mode>& reference, cudaArray_const_t array,
                                                 const struct cudaChannelFormatDesc&) {
    return cudaBindTextureToArray(reference, array);
}
template <class T, int Type, enum cudaTextureReadMode Mode>
static inline cudaError_t cudaUnbindTexture(const texture<T, Type, Mode>& reference) {
    texture<T, Type, Mode>& bound = const_cast<texture<T, Type, Mode>&>(reference);
    if (bound.lockstepObject) cudaDestroyTextureObject(bound.lockstepObject);
    bound.lockstepObject = 0;
    return ::cudaMemcpyToSymbol((const void*)&bound, &bound.lockstepObject, sizeof bound.lockstepObject);
}
template <class T, int Type, enum cudaTextureReadMode Mode>
static inline cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const texture<T, Type, Mode>&) {
    return *offset = 0, cudaSuccess;
}
