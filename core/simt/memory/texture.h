// Textures and surfaces as plain data. A Texture describes texels that lie in device memory and how tex reads them; Memory
// hands out a handle for it (Memory::texture), which is what a kernel has as cudaTextureObject_t or cudaSurfaceObject_t.
// texture_sample.h computes what tex gives, texture.cpp runs the instructions.
#pragma once
#include <cstdint>
#include <string>

namespace lockstep::simt {

struct Texture {
    enum class Shape : uint8_t { d1, d2, d3, d1_layered, d2_layered, cube, cube_layered, d2_ms, d2_ms_layered };
    enum class Element : uint8_t { u8, s8, u16, s16, u32, s32, f16, f32 };
    enum class Mode : uint8_t { wrap, mirror, clamp, border };  // what lies beyond the edges
    enum class Compare : uint8_t { never, less, equal, less_equal, greater, not_equal, greater_equal, always };

    std::string name;      // for reports: the kernel's parameter or the PTX name
    uint64_t address = 0;  // of the first texel; x runs fastest, then y, then z or the layer (a cube has six faces)
    uint64_t pitch = 0;    // bytes from a row to the next one; 0: rows lie side by side
    Shape shape = Shape::d2;
    Element element = Element::f32;
    uint8_t channels = 1;                       // 1, 2 or 4
    uint32_t width = 1, height = 1, depth = 1;  // in texels; 1 where the shape has no such axis
    uint32_t layers = 1;                        // of the layered shapes; a layer of a cube has six faces
    bool linear = false;                        // filter; of values that are read as floats
    bool normalized = false;                    // coordinates in [0, 1)
    bool normalized_float = false;              // 8- and 16-bit integers are read as [0, 1] or [-1, 1]
    bool srgb = false;  // such of u8: red, green and blue are decoded from sRGB; a fourth channel is linear as it is
    Mode modes[3] = {Mode::clamp, Mode::clamp, Mode::clamp};  // x, y, z
    float border[4] = {0, 0, 0, 0};
    Compare compare = Compare::less_equal;  // of a fetch's depth (left) with a texel (right)
    uint32_t samples = 1;                   // of the _ms shapes: a texel's samples lie side by side
    bool surface = false;                   // what istypep says of the handle
    bool array = false;                     // of CUDA's opaque layout, which time alone knows of: placed()
    // Mip levels: each half as large as the one before, at least 1 texel, and behind it without a gap, all its layers
    // together. `pitch` is of level 0; the rows of the others lie side by side.
    uint32_t levels = 1;
    bool mip_linear = false;  // blends two levels; else the nearest one
    float level_bias = 0, least_level = 0, most_level = 1000;

    uint32_t element_bytes() const {
        return element <= Element::s8 ? 1 : element <= Element::s16 || element == Element::f16 ? 2 : 4;
    }
    uint32_t texel_bytes() const { return element_bytes() * channels; }
    uint64_t row_bytes() const { return uint64_t{width} * samples * texel_bytes(); }
    uint64_t row_step() const { return pitch ? pitch : row_bytes(); }
    uint32_t faces() const { return shape == Shape::cube || shape == Shape::cube_layered ? 6 : 1; }
    uint64_t slices() const { return uint64_t{depth} * layers * faces(); }   // pictures that lie one after the other
    uint64_t level_bytes() const { return row_step() * height * slices(); }  // of level 0
    uint64_t bytes() const;                                                  // of all levels
    // Where what is kept at `offset` of level 0 lies in an array of the GPU's: blocks of 64 bytes by 8 rows side by side,
    // in each of them sectors of 16 bytes by 2 rows (Tegra X1 Technical Reference Manual, block linear surfaces). Arrays
    // that are not whole blocks, have levels or one axis lie row by row.
    uint64_t placed(uint64_t offset) const;
    // Level k as a texture of one level: `address` is that of its first texel.
    Texture level(uint32_t k) const;
};

// The handle of texture number n of a Memory is texture_handles + n + 1. Nothing lies at these addresses.
constexpr uint64_t texture_handles = 0x0500'0000'0000ull;

}  // namespace lockstep::simt
