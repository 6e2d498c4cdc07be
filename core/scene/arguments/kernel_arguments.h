// Kernel arguments as a person writes them, for `lockstep run --arg`, for scenes and for exercises: text -> KernelArgument
// -> device buffers and the parameter block -> arrays read back.
//
//   argument = TYPE ":" number                                    scalar: i32:42, f32:1.5, u64:0xff
//            | pointer
//            | "struct:" part { "," part }                        by value, laid out as C++ does: struct:f32:2,i32:100,
//                                                                 struct:i32:4,in:f32[16] with a pointer to a buffer
//            | "pointers:" pointer { "," pointer }                an array of pointers, float **: pointers:in:f32[8],null
//   part     = TYPE ":" number | pointer
//   pointer  = "null"                                             nullptr
//            | "@" NAME [ offset ]                                into the buffer of the parameter that is called so, or
//                                                                 that has this number: @a, @2+16. Buffers of a struct s
//                                                                 and of pointers p are called s.1, s.2 and p[0], p[1]
//            | "in:" source [ offset ] | "inout:" source [ offset ] [ "=" FILE.npy ]
//            | "out:" TYPE "[" extents "]" [ offset ] [ "=" FILE.npy ]   filled with 0xCD bytes, read back afterwards
//                                                          and, but not in a struct or an array, what it has to hold:
//                                                          out:f32[64]=y.npy,expect=ref.npy,rtol=1e-4,atol=1e-6
//            | "map:" rows "x" columns [ ",swizzle=" BYTES ] ":" in, inout or out   a tensor map of that buffer: its box,
//            and
//                                                             how rows lie in shared memory:
//                                                             map:128x64,swizzle=128:in:f16[256,256]
//            | a texture or a surface: see texture_arguments.h
//   source   = FILE.npy | TYPE [ "[" extents "]" ] "{" number { "," number } "}" | TYPE "[" extents [ fill ] "]"
//   offset   = "+" count                                          elements behind the buffer's first: d_in + 3
//   extents  = count { "," count }                                f32[1024], f32[16,784]
//   fill     = "random" (the default: floats in [-1, 1), integers in 0..99) | "below" N | "ramp" (0, 1, 2, ...) | "zero"
//   TYPE     = i8 u8 i16 u16 f16 bf16 i32 u32 f32 i64 u64 f64
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/array.h"
#include "core/base/result.h"
#include "core/simt/launch.h"

namespace lockstep::scene {

// What an output has to hold after the launch: |value - reference| <= absolute + relative * |reference|.
struct ExpectedValues {
    std::string file;
    std::optional<double> relative, absolute;  // none: what sums in another order may be off by, as the type has it
    Array values;                              // once bound
};

struct KernelArgument {
    enum class Role : uint8_t { scalar, in, out, inout };
    enum class Fill : uint8_t { values, file, random, below, ramp, zero, poison };
    Role role = Role::scalar;
    Fill fill = Fill::values;
    DType type = DType::f32;
    Array values;                          // fill values: the scalar, the bytes of the struct (u8), or the list in braces
    std::vector<int64_t> shape;            // generated buffers and out
    uint64_t below = 0;                    // fill below: integers 0 .. below-1
    std::string file;                      // fill file: read when bound
    std::string output_file;               // out, inout: "" none
    std::string text;                      // as written, for messages
    std::optional<simt::Texture> texture;  // of tex2d: and its like: how the kernel reads the texels
    bool is_surface = false;
    std::vector<uint32_t> box;  // of map:, slowest first as extents are; empty: the buffer's address is passed
    uint32_t swizzle = 0;       // bytes
    // `null` and `same` are pointers without a buffer of their own. The values of `members` and `pointers` have room for
    // the addresses of `parts`.
    enum class Kind : uint8_t { plain, null, same, members, pointers };
    Kind kind = Kind::plain;
    std::string same_as;                     // kind same: "a", "2"
    int64_t offset = 0;                      // of a pointer, in elements of its buffer
    std::vector<KernelArgument> parts;       // buffers, null and same
    uint64_t place = 0;                      // of a part: its first byte among the values
    std::optional<ExpectedValues> expected;  // of out and inout
    int number = 0;                          // of a part: which one it is, from 1 in structs, from 0 in arrays

    bool is_buffer() const { return kind == Kind::plain && role != Role::scalar; }
};

struct BoundArgument {
    KernelArgument::Role role = KernelArgument::Role::scalar;
    DType type = DType::f32;
    std::vector<int64_t> shape;
    uint64_t address = 0;  // device; 0 for a scalar
    uint64_t bytes = 0;
    std::string name;  // the kernel's parameter: "c"
    std::string output_file;
    std::optional<ExpectedValues> expected;
};
struct BoundArguments {
    std::vector<BoundArgument> arguments;  // in parameter order, then the buffers that structs and arrays point to
};

// "64", "16,4", "8,8,2". `what` begins the Diagnostic's message: "--grid", "block".
Result<simt::Dim3> parse_dim3(std::string_view text, std::string_view what);

// One argument; the Diagnostic quotes it with a caret.
Result<KernelArgument> parse_argument(std::string_view text);

// Allocates and fills the buffers in `memory`, and writes config.parameters as the program lays them out. Files are sought
// in `folder` (the current one when empty); `seed` feeds random fills (argument i uses its own stream).
Result<BoundArguments> bind_arguments(const ptx::Program& program, const std::vector<KernelArgument>& arguments,
                                      simt::Memory& memory, simt::LaunchConfig& config, uint64_t seed = 1,
                                      const std::filesystem::path& folder = {}, const std::string& source = {});

// What a buffer argument (role in, inout or out) holds before the launch.
Result<Array> initial_contents(const KernelArgument& argument, uint64_t seed, const std::filesystem::path& folder = {});

// The buffers that a struct or an array of pointers, called `name`, points to: made and noted in `bound`. `seed` is of this
// argument alone.
std::optional<Diagnostic> place_pointed(const KernelArgument& argument, const std::string& name, uint64_t seed,
                                        const std::filesystem::path& folder, simt::Memory& memory, BoundArguments& bound);
// What a number, a struct, an array of pointers or a pointer is in bytes, with the addresses of the buffers in `bound`. The
// Diagnostic goes on behind "argument 2 ('@b') ".
Result<std::vector<std::byte>> bytes_of_argument(const KernelArgument& argument, const std::string& name,
                                                 const BoundArguments& bound);

// The out and inout buffers, in order, as they are in `memory` now.
std::vector<Array> read_outputs(const BoundArguments& bound, const simt::Memory& memory);

// Writes those outputs that name a file. Throws Failure.
void write_outputs(const BoundArguments& bound, const std::vector<Array>& outputs);

}  // namespace lockstep::scene
