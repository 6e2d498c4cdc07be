// Where arrays lie and what textures read of them.
#include "core/runtime/arrays.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/runtime/runtime.h"

namespace lockstep::runtime {

simt::Texture texels_of(const cudaChannelFormatDesc& channels) {
    using Element = simt::Texture::Element;
    const int bits[] = {channels.x, channels.y, channels.z, channels.w};
    const auto count = static_cast<size_t>(std::count_if(std::begin(bits), std::end(bits), [](int b) { return b != 0; }));
    const bool alike = std::all_of(bits, bits + count, [&](int b) { return b == bits[0]; });
    const bool is_float = channels.f == cudaChannelFormatKindFloat, is_signed = channels.f == cudaChannelFormatKindSigned;
    const bool known = is_float ? bits[0] == 16 || bits[0] == 32
                                : (is_signed || channels.f == cudaChannelFormatKindUnsigned) &&
                                      (bits[0] == 8 || bits[0] == 16 || bits[0] == 32);
    if (!alike || !known || (count != 1 && count != 2 && count != 4))
        throw CallFailure{
            cudaErrorInvalidChannelDescriptor,
            fmt::format("there are no texels of {}, {}, {} and {} bits: 1, 2 or 4 channels have 8, 16 or 32 each", bits[0],
                        bits[1], bits[2], bits[3])};
    simt::Texture texels;
    texels.channels = static_cast<uint8_t>(count);
    if (is_float)
        texels.element = bits[0] == 16 ? Element::f16 : Element::f32;
    else if (is_signed)
        texels.element = bits[0] == 8 ? Element::s8 : bits[0] == 16 ? Element::s16 : Element::s32;
    else
        texels.element = bits[0] == 8 ? Element::u8 : bits[0] == 16 ? Element::u16 : Element::u32;
    return texels;
}

namespace {

simt::Texture laid_out(const ArrayShape& shape) {
    using Shape = simt::Texture::Shape;
    constexpr size_t most = 1 << 27;  // texels along an axis, beyond what any GPU has
    const cudaExtent& extent = shape.extent;
    if (extent.width == 0 || extent.width > most || extent.height > most || extent.depth > most)
        throw CallFailure{cudaErrorInvalidValue, fmt::format("there are no arrays of {} x {} x {} texels", extent.width,
                                                             extent.height, extent.depth)};
    // As an H200 with CUDA 13.0 refuses them.
    constexpr unsigned known =
        cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather | 0xc0;
    if ((shape.flags & ~known) != 0) throw CallFailure{cudaErrorInvalidValue, "there is no such flag"};
    const bool in_layers = (shape.flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
    const size_t widest = in_layers ? 32768 : extent.depth > 0 ? 16384 : 131072;
    if (extent.width > widest ||
        extent.height > (in_layers          ? 32768
                         : extent.depth > 0 ? 16384
                                            : 65536) ||
        (!in_layers && (extent.depth > 16384 || (extent.depth > 0 && extent.height == 0))))
        throw CallFailure{cudaErrorInvalidValue, fmt::format("no GPU has arrays of {} x {} x {} texels", extent.width,
                                                             extent.height, extent.depth)};
    simt::Texture texels = texels_of(shape.channels);
    const bool layered = (shape.flags & cudaArrayLayered) != 0, cube = (shape.flags & cudaArrayCubemap) != 0;
    const auto depth = static_cast<uint32_t>(extent.depth);
    texels.width = static_cast<uint32_t>(extent.width);
    texels.height = static_cast<uint32_t>(std::max<size_t>(1, extent.height));
    if (cube && (extent.width != extent.height || depth == 0 || depth % 6 != 0 || (!layered && depth != 6)))
        throw CallFailure{cudaErrorInvalidValue, "a cube has six square faces"};
    if (layered && depth == 0) throw CallFailure{cudaErrorInvalidValue, "a layered array has one layer or more"};
    if (cube) {
        texels.shape = layered ? Shape::cube_layered : Shape::cube;
        texels.layers = depth / 6;
    } else if (layered) {
        texels.shape = extent.height == 0 ? Shape::d1_layered : Shape::d2_layered;
        texels.layers = depth;
    } else {
        texels.shape = depth > 0 ? Shape::d3 : extent.height > 0 ? Shape::d2 : Shape::d1;
        texels.depth = std::max(1u, depth);
    }
    return texels;
}

}  // namespace

Array* Runtime::add_array(const ArrayShape& shape, uint32_t levels) {
    auto array = std::make_unique<Array>();
    array->shape = shape;
    array->texels = laid_out(shape);
    array->texels.levels = levels;
    array->texels.array = true;
    array->texels.address = allocate(array->texels.bytes(), MemoryKind::array, "array");
    array->texels.name = find(array->texels.address)->name;
    Array* const handle = array.get();
    arrays_[handle] = std::move(array);
    return handle;
}

Array* Runtime::level_of(Array& array, uint32_t level) {
    if (level >= array.texels.levels)
        throw CallFailure{cudaErrorInvalidValue, fmt::format("there are {} levels", array.texels.levels)};
    for (const auto& [handle, other] : arrays_)
        if (other->of == &array && other->texels.address == array.texels.level(level).address) return other.get();
    auto view = std::make_unique<Array>(array);
    view->texels = array.texels.level(level);
    view->shape.extent.width = view->texels.width;
    if (view->shape.extent.height > 0) view->shape.extent.height = view->texels.height;
    if (view->texels.shape == simt::Texture::Shape::d3) view->shape.extent.depth = view->texels.depth;
    view->owns = false;
    view->of = &array;
    Array* const handle = view.get();
    arrays_[handle] = std::move(view);
    return handle;
}

Array* Runtime::array_of(const void* handle) {
    const auto found = arrays_.find(handle);
    return found == arrays_.end() ? nullptr : found->second.get();
}

void Runtime::remove_array(Array* array) {
    std::erase_if(arrays_, [&](const auto& entry) { return entry.second->of == array; });
    if (array->owns) release(array->texels.address, false);
    arrays_.erase(array);
}

uint64_t Runtime::add_texture(simt::Texture texture) {
    if (const Block* block = find(texture.address); block && texture.name.empty()) texture.name = block->name;
    try {
        return memory_.texture(std::move(texture));
    } catch (const Failure& problem) {
        throw CallFailure{cudaErrorInvalidValue, problem.diagnostic.message};
    }
}

}  // namespace lockstep::runtime
