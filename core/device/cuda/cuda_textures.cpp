// Textures and surfaces of a real GPU: an array with the texels of some memory, and the object that kernels take.
#include <fmt/format.h>

#include "core/device/cuda/cuda.h"

namespace lockstep::device {
namespace {

using simt::Texture;

constexpr int memory_of_device = 2, memory_of_array = 3;                             // CUmemorytype
constexpr unsigned layered = 1, surface = 2, cube = 4;                               // CUDA_ARRAY3D_...
constexpr unsigned read_as_integer = 1, normalized_coordinates = 2, from_srgb = 16;  // CU_TRSF_...
constexpr int formats[] = {1, 8, 2, 9, 3, 10, 0x10, 0x20};                           // CUarray_format by Texture::Element
constexpr int modes[] = {0, 2, 1, 3};                                                // CUaddress_mode by Texture::Mode

bool has_rows(const Texture& t) {
    return t.shape != Texture::Shape::d1 && t.shape != Texture::Shape::d1_layered;
}
bool is_layered(const Texture& t) {
    return t.shape == Texture::Shape::d1_layered || t.shape == Texture::Shape::d2_layered ||
           t.shape == Texture::Shape::cube_layered;
}

CudaArrayShape array_of(const Texture& t) {
    CudaArrayShape shape{t.width, has_rows(t) ? t.height : 0, 0, formats[static_cast<size_t>(t.element)], t.channels, 0};
    if (t.shape == Texture::Shape::d3 || t.slices() > 1 || is_layered(t)) shape.depth = t.slices();
    if (is_layered(t)) shape.flags |= layered;
    if (t.faces() > 1) shape.flags |= cube;
    if (t.surface) shape.flags |= surface;
    return shape;
}

CudaSampling sampling_of(const Texture& t) {
    CudaSampling sampling;
    for (size_t i = 0; i < 3; ++i) sampling.modes[i] = modes[static_cast<size_t>(t.modes[i])];
    sampling.filter = t.linear;
    if (t.element < Texture::Element::f16 && !t.normalized_float) sampling.flags |= read_as_integer;
    if (t.normalized) sampling.flags |= normalized_coordinates;
    if (t.srgb) sampling.flags |= from_srgb;
    std::copy(std::begin(t.border), std::end(t.border), sampling.border);
    return sampling;
}

}  // namespace

void Cuda::copy_texels(const BoundTexture& bound, bool to_array) const {
    const Texture& t = bound.texture;
    CudaCopyEnd linear{}, array{};
    linear.kind = memory_of_device, linear.device = t.address;
    linear.pitch = t.row_step(), linear.height = t.height;
    array.kind = memory_of_array, array.array = bound.array;
    const CudaCopy copy{to_array ? linear : array, to_array ? array : linear, t.row_bytes(), t.height, t.slices()};
    check(driver_.copy_array(&copy), "a copy of texels");
}

int64_t Cuda::create_texture(const simt::Texture& texture) {
    enter();
    if (texture.levels > 1 || texture.samples > 1)
        throw Failure(fmt::format("the texture '{}' has {}, which {} is not given: one level of one sample", texture.name,
                                  texture.levels > 1 ? "mip levels" : "several samples a texel", name()));
    inside({texture.address}, texture.bytes());
    BoundTexture bound{texture, {}};
    const CudaArrayShape shape = array_of(texture);
    check(driver_.create_array(&bound.array, &shape), fmt::format("an array for '{}'", texture.name));
    uint64_t object = 0;
    try {
        check(driver_.synchronize(), "the work that was under way");
        copy_texels(bound, true);
        CudaResource texels;
        texels.array = bound.array;
        const CudaSampling sampling = sampling_of(texture);
        check(texture.surface ? driver_.create_surface(&object, &texels)
                              : driver_.create_texture(&object, &texels, &sampling, nullptr),
              fmt::format("an object for '{}'", texture.name));
    } catch (...) {
        driver_.destroy_array(bound.array);
        throw;
    }
    textures_.emplace(static_cast<int64_t>(object), std::move(bound));
    return static_cast<int64_t>(object);
}

void Cuda::release_texture(int64_t handle) {
    enter();
    const auto found = textures_.find(handle);
    if (found == textures_.end()) throw Failure(fmt::format("{:#x} is no texture on {}", handle, name()));
    const BoundTexture bound = std::move(found->second);
    textures_.erase(found);
    try {
        check(driver_.synchronize(), "the work that was under way");
        if (bound.texture.surface) copy_texels(bound, false);
    } catch (...) {
        drop(handle, bound);
        throw;
    }
    drop(handle, bound);
}

void Cuda::drop(int64_t handle, const BoundTexture& bound) const {
    if (bound.texture.surface)
        driver_.destroy_surface(static_cast<uint64_t>(handle));
    else
        driver_.destroy_texture(static_cast<uint64_t>(handle));
    driver_.destroy_array(bound.array);
}

}  // namespace lockstep::device
