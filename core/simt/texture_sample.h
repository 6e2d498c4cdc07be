// What a texture fetch gives for one lane: the formulas of the CUDA C++ programming guide, "Texture Fetching". Level 0 is
// the only level there is. Internal to core/simt.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/simt/texture.h"

namespace lockstep::simt {

struct Texel {              // four channels; those that the texture lacks are 0, 0 and 1
    bool is_float = false;  // `bits` are floats; else integers, of 8 and 16 bits extended
    uint32_t bits[4] = {};
};

struct Coordinates {
    double at[3] = {};       // x, y, z; of a cube the direction
    bool integers = false;   // texels counted, whatever Texture::normalized says
    int64_t layer = 0;       // beyond the ends: the nearest one
    int32_t offset[3] = {};  // texels
};

struct Touched {  // offsets of the texels that a fetch reads and that lie inside
    int64_t offset[8] = {};
    uint32_t count = 0;
};

// `data`: the texture's texels. `touched`, where given, is filled.
Texel sample(const Texture& texture, const std::byte* data, Coordinates coordinates, Touched* touched = nullptr);

// Channel `channel` of the four texels that a linear filter would blend: lower left, lower right, upper right, upper left
// (larger y is lower).
Texel gather(const Texture& texture, const std::byte* data, Coordinates coordinates, uint32_t channel,
             Touched* touched = nullptr);

// Bits of four channels as a texel's bytes, for formatted stores: floats and integers saturate to the element.
void write_texel(const Texture& texture, std::byte* to, const uint32_t* bits, bool is_float, bool is_signed);

}  // namespace lockstep::simt
