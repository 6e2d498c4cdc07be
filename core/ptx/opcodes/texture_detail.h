// What the modifiers of a texture or surface instruction say: eight bytes, which stand where others have the offset of their
// address (here that is a handle or a name). as_texture(i).detail in views.h reads them. Operands: address or variable: the
// texture object, a u64, or the .texref or .surfref that holds one; source[4]: a sampler of its own, a u64, or absent.
//   fetch, gather   destination: the results (2 or 4); list: destinations the predicate, or none; sources the coordinates,
//                   then the level, or the two gradients, then the offset, then the number to compare with
//   query           destination[0]; list: the level, or none
//   is_type         destination[0] a predicate; source[0] the address or handle in question; which: Opaque
//   load            destination: the elements; list: the coordinates
//   store, reduce   source: the elements (1 of reduce); list: the coordinates
// Layered shapes have the layer as their first coordinate, those of several samples then the sample.
#pragma once
#include <bit>
#include <cstdint>
#include <string_view>

namespace lockstep::ptx {

enum class TextureOperation : uint8_t { fetch, gather, query, load, store, reduce, is_type };
enum class Geometry : uint8_t { d1, d2, d3, a1d, a2d, cube, acube, d2ms, a2dms };
enum class Level : uint8_t { none, base, level, grad };
enum class OutOfRange : uint8_t { trap, clamp, zero };

constexpr std::string_view geometries[] = {".1d", ".2d", ".3d", ".a1d", ".a2d", ".cube", ".acube", ".2dms", ".a2dms"};
constexpr std::string_view texture_queries[] = {".width",         ".height",
                                                ".depth",         ".channel_data_type",
                                                ".channel_order", ".normalized_coords",
                                                ".array_size",    ".num_mipmap_levels",
                                                ".num_samples",   ".force_unnormalized_coords",
                                                ".filter_mode",   ".addr_mode_0",
                                                ".addr_mode_1",   ".addr_mode_2",
                                                ".memory_layout"};

struct TextureDetail {
    Geometry geometry = Geometry::d1;
    Level level = Level::none;
    OutOfRange out_of_range = OutOfRange::trap;
    uint8_t which = 0;       // gather: the channel; query: index into texture_queries; reduce: AtomicOperation
    bool integer = false;    // fetch: the coordinates are s32, not f32
    bool formatted = false;  // surfaces: .p, texels counted and converted, not bytes
    bool offset = false;     // fetch, gather: an offset in texels follows
    bool compares = false;   // fetch, gather: the last number is compared with the texels
};
static_assert(sizeof(TextureDetail) == sizeof(int64_t));

}  // namespace lockstep::ptx
