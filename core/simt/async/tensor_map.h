// Tensor maps: what cp.async.bulk.tensor knows of a tensor in global memory. make_tensor_map takes what the driver's
// cuTensorMapEncodeTiled takes, make_im2col_tensor_map what cuTensorMapEncodeIm2col takes; both give 128 bytes for a `const
// __grid_constant__ CUtensorMap` parameter (or for global memory). The bytes are an encoding of this machine's own: no real
// GPU reads them, and it reads none of the driver's.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/dtype.h"
#include "core/base/result.h"
#include "core/ptx/decode/program.h"
#include "core/ptx/decode/views_async.h"

namespace lockstep::simt {

// In the order of CUtensorMapDataType and of the driver's other enumerations.
enum class TensorType : uint8_t { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz };
enum class TensorInterleave : uint8_t { none, bytes_16, bytes_32 };
enum class TensorSwizzle : uint8_t { none, bytes_32, bytes_64, bytes_128 };
enum class TensorFill : uint8_t { zeros, nan };

struct alignas(64) TensorMap {
    std::array<std::byte, 128> bytes{};
};

// dims: elements, innermost first, 1 to 5 of them. strides: bytes from one index to the next, of all but the innermost.
// box: elements of one copy, by dimension; element_strides: of every how many elements one is taken. The Diagnostic says
// which argument the driver would refuse as well, or that interleaved layouts are not modelled.
Result<TensorMap> make_tensor_map(uint64_t address, TensorType type, std::span<const uint64_t> dims,
                                  std::span<const uint64_t> strides, std::span<const uint32_t> box,
                                  std::span<const uint32_t> element_strides,
                                  TensorInterleave interleave = TensorInterleave::none,
                                  TensorSwizzle swizzle = TensorSwizzle::none, TensorFill fill = TensorFill::zeros);

// The usual case: a tensor without gaps between its rows, and a whole box a copy. swizzle_bytes: 0, 32, 64 or 128.
TensorType tensor_type_of(DType type);
Result<TensorMap> make_tile_map(uint64_t address, DType type, std::span<const uint64_t> dims, std::span<const uint32_t> box,
                                uint32_t swizzle_bytes);

// The same for copies in im2col mode: of a tensor of 3 to 5 dimensions (channels, width, height, depth, images) a copy takes
// `channels` of `pixels` pixels, one after the other through a box. lower, upper: the box's corners, width first, counted
// from the first and from the last pixel of an image.
Result<TensorMap> make_im2col_tensor_map(uint64_t address, TensorType type, std::span<const uint64_t> dims,
                                         std::span<const uint64_t> strides, std::span<const int32_t> lower,
                                         std::span<const int32_t> upper, uint32_t channels, uint32_t pixels,
                                         std::span<const uint32_t> element_strides,
                                         TensorInterleave interleave = TensorInterleave::none,
                                         TensorSwizzle swizzle = TensorSwizzle::none, TensorFill fill = TensorFill::zeros);

// tensormap.replace: puts `value` into a field of the map in `bytes`; says why not. `dimension`: of fields that have
// several.
std::string replace_in_tensor_map(std::byte* bytes, ptx::TensorMapField field, uint32_t dimension, uint64_t value);

struct TensorLayout {  // what a map says
    uint64_t address = 0;
    uint64_t dims[5] = {1, 1, 1, 1, 1};
    uint64_t strides[5] = {};  // [0] the element's bytes
    uint32_t box[5] = {1, 1, 1, 1, 1};
    uint32_t element_strides[5] = {1, 1, 1, 1, 1};
    uint32_t rank = 0, element_bytes = 0;
    TensorType type = TensorType::u8;
    TensorSwizzle swizzle = TensorSwizzle::none;
    TensorFill fill = TensorFill::zeros;
    bool im2col = false;
    int64_t first[5] = {}, last[5] = {};  // im2col, by dimension: the box's pixels
    uint32_t channels = 0, pixels = 0;    // im2col

    uint32_t count(uint32_t d) const { return (box[d] + element_strides[d] - 1) / element_strides[d]; }  // in shared memory
    uint64_t box_bytes() const;
    uint64_t fill_bits() const;  // an element outside the tensor
};

// Nothing when the bytes are no tensor map.
std::optional<TensorLayout> read_tensor_map(const std::byte* bytes);

// Where the byte at `offset` of shared memory goes under a swizzle: 16-byte pieces change places within 128 bytes.
inline uint64_t swizzled(uint64_t offset, TensorSwizzle swizzle) {
    const uint64_t mask = (uint64_t{1} << static_cast<uint32_t>(swizzle)) - 1;  // 0, 1, 3, 7
    return offset ^ (offset >> 7 & mask) << 4;
}

}  // namespace lockstep::simt
