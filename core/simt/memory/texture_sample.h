// What a texture fetch gives for one lane: the formulas of the CUDA C++ programming guide, "Texture Fetching", and for mip
// levels those of OpenGL ("Scale Factor and Level of Detail"), without anisotropy. Internal to core/simt.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/simt/memory/texture.h"

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
    int64_t sample = 0;      // of the _ms shapes; beyond the ends: the nearest one
    double level = 0;        // of detail, before the texture's bias and limits
    bool levelled = false;   // `level` was given: the nearest level or two of them; else level 0
    bool compares = false;   // texels are 1 where Texture::compare holds for `depth` and them, else 0; then they are blended
    float depth = 0;
};

struct Touched {  // offsets of the texels that a fetch reads and that lie inside
    int64_t offset[16] = {};
    uint32_t count = 0;
};

// `data`: the texture's texels. `touched`, where given, is filled.
Texel sample(const Texture& texture, const std::byte* data, Coordinates coordinates, Touched* touched = nullptr);

// Channel `channel` of the four texels that a linear filter would blend: lower left, lower right, upper right, upper left
// (larger y is lower).
Texel gather(const Texture& texture, const std::byte* data, Coordinates coordinates, uint32_t channel,
             Touched* touched = nullptr);

// The level of detail of a fetch whose coordinates change by dx[k] to the next pixel on the right and by dy[k] to the one
// below.
double level_of_gradients(const Texture& texture, const Coordinates& coordinates, const double* dx, const double* dy);

// Whether texels are read as floats.
bool reads_floats(const Texture& texture);

// Bits of four channels as a texel's bytes, for formatted stores: floats and integers saturate to the element.
void write_texel(const Texture& texture, std::byte* to, const uint32_t* bits, bool is_float, bool is_signed);

}  // namespace lockstep::simt
