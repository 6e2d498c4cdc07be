// Arrays, mipmapped arrays and what textures and surfaces read. An array's texels lie in device memory row by row, as
// simt::Texture has them: its layers or slices follow each other, and its smaller levels follow the whole.
#pragma once
#include <cstdint>

#include "core/simt/memory/texture.h"
#include "kernels/include/program/driver_types.h"

namespace lockstep::runtime {

struct ArrayShape {
    cudaChannelFormatDesc channels{};
    cudaExtent extent{};  // as the program asked for it: height 0 is 1-D, depth 0 is 2-D; layers and faces are its depth
    unsigned flags = 0;
};

struct Array {
    ArrayShape shape;
    simt::Texture texels;       // where they lie, and how many there are
    bool owns = true;           // a level of a mipmapped one does not
    const Array* of = nullptr;  // the mipmapped one that it is a level of
    uint64_t rows() const { return texels.height; }
};

struct TextureObject {  // what a program can ask about a texture or surface
    cudaResourceDesc resource{};
    cudaTextureDesc how{};
    cudaResourceViewDesc view{};
    bool has_view = false, surface = false;
};

// Texels of such channels: element, channels. Throws CallFailure where there are none.
simt::Texture texels_of(const cudaChannelFormatDesc& channels);

}  // namespace lockstep::runtime
