// Textures and surfaces as arguments of a kernel: an array of texels and how the kernel reads it.
//
//   argument = TEXTURE ":" texels { "," option }                      tex2d:image.npy,linear,clamp
//            | SURFACE ":" texels [ "=" FILE.npy ]                    surf2d:u8[480,640,4]=out.npy, read back afterwards
//   TEXTURE  = "tex1d" | "tex2d" | "tex3d" | "tex1dlayered" | "tex2dlayered" | "texcube" | "texcubelayered"
//            | "tex2dms" | "tex2dmslayered"                          several samples a texel, the last axis before channels
//   SURFACE  = "surf1d" | "surf2d" | "surf3d" | "surf1dlayered" | "surf2dlayered"
//   texels   = a source of in: (kernel_arguments.h): extents [depth or layers,] [height,] width [, channels], slowest first
//   option   = "nearest" | "linear" | "wrap" | "mirror" | "clamp" | "border" | "normalized" | "unit"
//            | "levels=" N | "miplinear" | "bias=" X | "minlevel=" X | "maxlevel=" X
//            | "compare=" ( "never" | "less" | "equal" | "lequal" | "greater" | "notequal" | "gequal" | "always" )
// "normalized" is of coordinates; "unit" reads 8- and 16-bit integers as 0..1 or -1..1. Without options: nearest, clamp.
// "levels" makes a mip chain of N levels, each the mean of the one before; "miplinear" blends two of them. "compare" is what
// a fetch with a depth asks of depth and texel.
#pragma once
#include <optional>
#include <string_view>

#include "core/base/array.h"
#include "core/base/result.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "core/simt/memory/memory.h"

namespace lockstep::scene {

// None when `text` begins with neither a TEXTURE nor a SURFACE.
std::optional<Result<KernelArgument>> parse_texture_argument(std::string_view text);

// The handle of the argument's texture, whose texels `array` lie at `address` of `memory`.
Result<uint64_t> make_texture(const KernelArgument& argument, const Array& array, uint64_t address, const std::string& name,
                              simt::Memory& memory);

}  // namespace lockstep::scene
