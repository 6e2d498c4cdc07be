// Textures and surfaces: what a program describes becomes a simt::Texture, whose handle kernels take. A texture reference is
// a variable of the module that holds such a handle.
#include <algorithm>
#include <iterator>

#include "core/runtime/cudart/call.h"

using namespace lockstep::runtime;
using lockstep::simt::Texture;

namespace {

Texture::Mode mode_of(cudaTextureAddressMode mode) {
    switch (mode) {
        case cudaAddressModeWrap:
            return Texture::Mode::wrap;
        case cudaAddressModeMirror:
            return Texture::Mode::mirror;
        case cudaAddressModeBorder:
            return Texture::Mode::border;
        default:
            return Texture::Mode::clamp;
    }
}

Texture linear_texels(const void* pointer, const cudaChannelFormatDesc& desc, size_t bytes) {
    need(pointer, "the pointer");
    Texture texels = texels_of(desc);
    texels.shape = Texture::Shape::d1;
    texels.address = address_of(pointer);
    texels.width = static_cast<uint32_t>(std::min<size_t>(bytes / texels.texel_bytes(), 1u << 28));
    if (texels.width == 0) throw CallFailure{cudaErrorInvalidValue, "the texture has no texels"};
    return texels;
}

Texture pitched_texels(const void* pointer, const cudaChannelFormatDesc& desc, size_t width, size_t height, size_t pitch) {
    need(pointer, "the pointer");
    Texture texels = texels_of(desc);
    texels.shape = Texture::Shape::d2;
    texels.address = address_of(pointer);
    texels.width = static_cast<uint32_t>(width);
    texels.height = static_cast<uint32_t>(height);
    texels.pitch = pitch;
    if (width == 0 || height == 0) throw CallFailure{cudaErrorInvalidValue, "the texture has no texels"};
    if (pitch < texels.row_bytes())
        throw CallFailure{cudaErrorInvalidPitchValue, "the pitch is shorter than a row of texels"};
    return texels;
}

constexpr size_t texture_step = 512, pitch_step = 32;  // cudaDeviceProp: textureAlignment, texturePitchAlignment

// Texels begin where an allocation does, or so many bytes behind it.
void need_aligned(Runtime& r, const void* pointer) {
    const Block* const block = r.find(address_of(pointer));
    if (block && (address_of(pointer) - block->address) % texture_step != 0)
        throw CallFailure{cudaErrorInvalidValue, "the texels of a texture begin at a multiple of 512 bytes, and these lie " +
                                                     std::to_string(address_of(pointer) - block->address) +
                                                     " bytes behind an allocation's begin"};
}

Texture texels_of_resource(Runtime& r, const cudaResourceDesc& resource) {
    switch (resource.resType) {
        case cudaResourceTypeArray:
            return array_of(r, resource.res.array.array).texels;
        case cudaResourceTypeMipmappedArray:
            return array_of(r, resource.res.mipmap.mipmap).texels;
        case cudaResourceTypeLinear:
            need_aligned(r, resource.res.linear.devPtr);
            return linear_texels(resource.res.linear.devPtr, resource.res.linear.desc, resource.res.linear.sizeInBytes);
        case cudaResourceTypePitch2D: {
            const auto& p = resource.res.pitch2D;
            need_aligned(r, p.devPtr);
            if (p.pitchInBytes % pitch_step != 0)
                throw CallFailure{cudaErrorInvalidValue, "the pitch of a texture is a multiple of 32 bytes"};
            return pitched_texels(p.devPtr, p.desc, p.width, p.height, p.pitchInBytes);
        }
    }
    throw CallFailure{cudaErrorInvalidValue, "there is no such kind of resource"};
}

// A view reads other channels of the same bytes, or some of the levels or layers.
void look_through(const cudaResourceViewDesc& view, const cudaExtent& extent, Texture& t) {
    constexpr int formats = 8 * 3;  // of 8 elements, each with 1, 2 and 4 channels; then compressed ones
    if (view.format == 0 || view.format > 34) throw CallFailure{cudaErrorInvalidValue, "the view has no such format"};
    if (view.format > formats)
        throw CallFailure{cudaErrorNotSupported, "textures of compressed blocks are not supported on the modelled GPU"};
    const auto other_size = [](size_t asked, size_t there) { return asked != there; };
    if (other_size(view.width, extent.width) || other_size(view.height, extent.height) ||
        other_size(view.depth, extent.depth))
        throw CallFailure{cudaErrorInvalidValue, "a view is as large as its array: " + std::to_string(extent.width) + " x " +
                                                     std::to_string(extent.height) + " x " + std::to_string(extent.depth)};
    {
        constexpr uint8_t channels[] = {1, 2, 4};
        const uint32_t bytes = t.texel_bytes();
        t.element = static_cast<Texture::Element>((view.format - 1) / 3);
        t.channels = channels[(view.format - 1) % 3];
        if (t.texel_bytes() != bytes)
            throw CallFailure{cudaErrorInvalidValue, "the view's texels have another size than the array's"};
    }
    if (view.lastMipmapLevel >= t.levels || view.firstMipmapLevel > view.lastMipmapLevel)
        throw CallFailure{cudaErrorInvalidValue, "the view has levels that are not there"};
    if (t.levels > 1) {
        const uint32_t levels = view.lastMipmapLevel - view.firstMipmapLevel + 1;
        t = t.level(view.firstMipmapLevel);
        t.levels = levels;
    }
    const uint32_t layers = t.layers * t.faces(), last = std::min(view.lastLayer, std::max(1u, layers) - 1);
    if (view.firstLayer > last) throw CallFailure{cudaErrorInvalidValue, "the view has layers that are not there"};
    const bool layered = t.shape == Texture::Shape::d1_layered || t.shape == Texture::Shape::d2_layered ||
                         t.shape == Texture::Shape::cube_layered;
    if (!layered || (view.firstLayer == 0 && last + 1 == layers) || t.levels > 1) return;
    t.address += view.firstLayer * t.row_step() * t.height;
    t.layers = std::max(1u, (last - view.firstLayer + 1) / t.faces());
}

void sample_as(const cudaTextureDesc& how, bool linear_memory, Texture& t) {
    const bool integers = t.element < Texture::Element::f16;
    t.normalized_float = how.readMode == cudaReadModeNormalizedFloat && integers;
    if (how.readMode == cudaReadModeNormalizedFloat && t.element == Texture::Element::f16)
        throw CallFailure{cudaErrorInvalidNormSetting, "halves are no integers to be normalised"};
    if (t.normalized_float && t.element_bytes() == 4)
        throw CallFailure{cudaErrorInvalidNormSetting, "texels of 32-bit integers cannot be read as normalised floats"};
    t.linear = how.filterMode == cudaFilterModeLinear;
    if (t.linear && integers && !t.normalized_float)
        throw CallFailure{cudaErrorInvalidFilterSetting, "only texels that are read as floats can be filtered"};
    t.normalized = how.normalizedCoords != 0;
    t.srgb = how.sRGB != 0 && t.element == Texture::Element::u8 && t.normalized_float;
    for (int axis = 0; axis < 3; ++axis) t.modes[axis] = mode_of(how.addressMode[axis]);
    std::copy(std::begin(how.borderColor), std::end(how.borderColor), t.border);
    if (linear_memory) {  // read by index alone; beyond the ends lies 0
        t.modes[0] = Texture::Mode::border;
        std::fill(std::begin(t.border), std::end(t.border), 0.0f);
    }
    t.mip_linear = how.mipmapFilterMode == cudaFilterModeLinear;
    t.level_bias = how.mipmapLevelBias;
    t.least_level = how.minMipmapLevelClamp;
    t.most_level = how.maxMipmapLevelClamp;
}

void note_what_is_left_out(Runtime& r, const cudaTextureDesc& how) {
    if (how.maxAnisotropy > 1) r.note("textures are filtered without anisotropy");
}

TextureObject& object_of(Runtime& r, uint64_t handle, bool surface) {
    const auto found = r.textures().find(handle);
    if (found == r.textures().end() || found->second.surface != surface)
        throw CallFailure{cudaErrorInvalidValue, surface ? "this is no surface object, or it was destroyed"
                                                         : "this is no texture object, or it was destroyed"};
    return found->second;
}

// ---- Texture references
ModuleVariable& reference_of(Runtime& r, const void* reference) {
    ModuleVariable* const variable = r.variable_of(reference);
    if (!variable || !variable->is_texture)
        throw CallFailure{cudaErrorInvalidTexture, "this is no texture reference of the program"};
    return *variable;
}

void bind(Runtime& r, const void* reference, Texture texels, bool linear_memory) {
    ModuleVariable& variable = reference_of(r, reference);
    const auto& asked = *static_cast<const textureReference*>(reference);
    cudaTextureDesc how{};
    std::copy(std::begin(asked.addressMode), std::end(asked.addressMode), how.addressMode);
    how.filterMode = asked.filterMode;
    how.readMode = variable.reads_normalized ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    how.normalizedCoords = asked.normalized;
    how.sRGB = asked.sRGB;
    how.maxAnisotropy = asked.maxAnisotropy;
    how.mipmapFilterMode = asked.mipmapFilterMode;
    how.mipmapLevelBias = asked.mipmapLevelBias;
    how.minMipmapLevelClamp = asked.minMipmapLevelClamp;
    how.maxMipmapLevelClamp = asked.maxMipmapLevelClamp;
    sample_as(how, linear_memory, texels);
    note_what_is_left_out(r, how);
    texels.name = variable.name;
    r.set_reference(variable, r.add_texture(texels));
}

}  // namespace

LOCKSTEP_INTERFACE

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* how, const cudaResourceViewDesc* view) {
    return call(__func__, [&](Runtime& r) {
        need(texture, "the texture's address");
        need(resource, "the resource");
        need(how, "the texture's description");
        const bool linear = resource->resType == cudaResourceTypeLinear;
        if (view && (linear || resource->resType == cudaResourceTypePitch2D))
            throw CallFailure{cudaErrorInvalidValue, "only arrays have views"};
        Texture texels = texels_of_resource(r, *resource);
        if (view) {
            const void* const array = resource->resType == cudaResourceTypeArray
                                          ? static_cast<const void*>(resource->res.array.array)
                                          : static_cast<const void*>(resource->res.mipmap.mipmap);
            look_through(*view, array_of(r, array).shape.extent, texels);
        }
        sample_as(*how, linear, texels);
        note_what_is_left_out(r, *how);
        *texture = r.add_texture(texels);
        r.textures()[*texture] = {*resource, *how, view ? *view : cudaResourceViewDesc{}, view != nullptr, false};
    });
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
    return call(__func__, [&](Runtime& r) {
        if (texture == 0) return;
        object_of(r, texture, false);
        r.textures().erase(texture);
    });
}
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t texture) {
    return call(__func__, [&](Runtime& r) {
        need(resource, "the resource");
        *resource = object_of(r, texture, false).resource;
    });
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* how, cudaTextureObject_t texture) {
    return call(__func__, [&](Runtime& r) {
        need(how, "the texture's description");
        *how = object_of(r, texture, false).how;
    });
}
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view, cudaTextureObject_t texture) {
    return call(__func__, [&](Runtime& r) {
        need(view, "the view");
        const TextureObject& object = object_of(r, texture, false);
        if (!object.has_view) throw CallFailure{cudaErrorInvalidValue, "the texture was made without a view"};
        *view = object.view;
    });
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource) {
    return call(__func__, [&](Runtime& r) {
        need(surface, "the surface's address");
        need(resource, "the resource");
        if (resource->resType != cudaResourceTypeArray)
            throw CallFailure{cudaErrorInvalidValue, "a surface's texels lie in an array"};
        const Array& array = array_of(r, resource->res.array.array);
        if ((array.shape.flags & cudaArraySurfaceLoadStore) == 0)  // an H200 with CUDA 13.0 takes it all the same
            r.note("a surface is made of an array without cudaArraySurfaceLoadStore, which not every CUDA takes");
        Texture texels = array.texels;
        if (texels.faces() == 6) {  // a surface has the faces as layers
            texels.layers *= 6;
            texels.shape = Texture::Shape::d2_layered;
        }
        texels.levels = 1;
        texels.surface = true;
        *surface = r.add_texture(texels);
        r.textures()[*surface] = {.resource = *resource, .surface = true};
    });
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
    return call(__func__, [&](Runtime& r) {
        if (surface == 0) return;
        object_of(r, surface, true);
        r.textures().erase(surface);
    });
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t surface) {
    return call(__func__, [&](Runtime& r) {
        need(resource, "the resource");
        *resource = object_of(r, surface, true).resource;
    });
}

// ---- References, as programs of CUDA 11 have them
void __cudaRegisterTexture(void** handle, const textureReference* host, const void**, const char* name, int, int normalized,
                           int) {
    Runtime& r = Runtime::instance();
    const std::scoped_lock lock(r.mutex());
    r.add_reference(reinterpret_cast<Module*>(handle), host, name, normalized != 0);
}
void __cudaRegisterSurface(void** handle, const surfaceReference* host, const void**, const char* name, int, int) {
    Runtime& r = Runtime::instance();
    const std::scoped_lock lock(r.mutex());
    r.add_reference(reinterpret_cast<Module*>(handle), host, name, false);
}
cudaError_t cudaBindTexture(size_t* offset, const textureReference* reference, const void* pointer,
                            const cudaChannelFormatDesc* desc, size_t bytes) {
    return call(__func__, [&](Runtime& r) {
        need(reference, "the texture reference");
        need(desc, "the channel descriptor");
        const Block* block = r.find(address_of(pointer));
        if (!block || block->freed) throw CallFailure{cudaErrorInvalidValue, "this is no memory of the device"};
        const size_t rest = block->bytes - (address_of(pointer) - block->address);  // `bytes` may be "all there is"
        bind(r, reference, linear_texels(pointer, *desc, std::min(bytes, rest)), true);
        if (offset) *offset = 0;
    });
}
cudaError_t cudaBindTexture2D(size_t* offset, const textureReference* reference, const void* pointer,
                              const cudaChannelFormatDesc* desc, size_t width, size_t height, size_t pitch) {
    return call(__func__, [&](Runtime& r) {
        need(reference, "the texture reference");
        need(desc, "the channel descriptor");
        bind(r, reference, pitched_texels(pointer, *desc, width, height, pitch), false);
        if (offset) *offset = 0;
    });
}
cudaError_t cudaBindTextureToArray(const textureReference* reference, cudaArray_const_t array,
                                   const cudaChannelFormatDesc*) {
    return call(__func__, [&](Runtime& r) {
        need(reference, "the texture reference");
        bind(r, reference, array_of(r, array).texels, false);
    });
}
cudaError_t cudaBindTextureToMipmappedArray(const textureReference* reference, cudaMipmappedArray_const_t array,
                                            const cudaChannelFormatDesc*) {
    return call(__func__, [&](Runtime& r) {
        need(reference, "the texture reference");
        bind(r, reference, array_of(r, array).texels, false);
    });
}
cudaError_t cudaUnbindTexture(const textureReference* reference) {
    return call(__func__, [&](Runtime& r) { r.set_reference(reference_of(r, reference), 0); });
}
cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const textureReference* reference) {
    return call(__func__, [&](Runtime& r) {
        need(offset, "the offset's address");
        reference_of(r, reference);
        *offset = 0;
    });
}
cudaError_t cudaGetTextureReference(const textureReference** reference, const void* symbol) {
    return call(__func__, [&](Runtime& r) {
        need(reference, "the reference's address");
        reference_of(r, symbol);
        *reference = static_cast<const textureReference*>(symbol);
    });
}
cudaError_t cudaBindSurfaceToArray(const surfaceReference* reference, cudaArray_const_t array,
                                   const cudaChannelFormatDesc*) {
    return call(__func__, [&](Runtime& r) {
        Texture texels = array_of(r, array).texels;
        texels.surface = true;
        r.set_reference(reference_of(r, reference), r.add_texture(texels));
    });
}
cudaError_t cudaGetSurfaceReference(const surfaceReference** reference, const void* symbol) {
    return call(__func__, [&](Runtime& r) {
        need(reference, "the reference's address");
        reference_of(r, symbol);
        *reference = static_cast<const surfaceReference*>(symbol);
    });
}
LOCKSTEP_ALIAS(cudaCreateTextureObject_v2, cudaCreateTextureObject)
LOCKSTEP_ALIAS(cudaGetTextureObjectTextureDesc_v2, cudaGetTextureObjectTextureDesc)
LOCKSTEP_INTERFACE_END
