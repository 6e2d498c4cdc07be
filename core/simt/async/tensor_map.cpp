// The encoding: the struct below, whose first word tells a tensor map from other bytes. Limits are those that the driver's
// documentation states for cuTensorMapEncodeTiled.
#include "core/simt/async/tensor_map.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace lockstep::simt {

namespace {

constexpr uint64_t magic = 0x70616d726f736e74ull;  // "tnsormap"

struct Encoded {
    uint64_t mark = magic;
    uint64_t address = 0;
    uint64_t strides[4] = {};
    uint32_t last[5] = {};  // dims - 1
    uint16_t box[5] = {};
    uint8_t element_strides[5] = {};
    uint8_t rank = 0, type = 0, swizzle = 0, fill = 0;
    uint8_t im2col = 0;
    int16_t lower[3] = {}, upper[3] = {};  // im2col, as the rest
    uint16_t channels = 0, pixels = 0;
};
static_assert(sizeof(Encoded) <= 128);

constexpr uint32_t type_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

Diagnostic refuse(std::string message) {
    return Diagnostic{std::move(message)};
}
std::string number(uint64_t n) {
    return std::to_string(n);
}

}  // namespace

namespace {

// What both modes take. `inner`: elements of a row in shared memory.
std::optional<Diagnostic> encode_common(Encoded& e, uint64_t address, TensorType type, std::span<const uint64_t> dims,
                                        std::span<const uint64_t> strides, std::span<const uint32_t> element_strides,
                                        uint64_t inner_elements, TensorInterleave interleave, TensorSwizzle swizzle,
                                        TensorFill fill) {
    const size_t rank = dims.size();
    if (static_cast<size_t>(type) >= std::size(type_bytes)) return refuse("unknown data type of a tensor map");
    if (interleave != TensorInterleave::none) return refuse("interleaved tensor maps are not modelled");
    if (address % 16) return refuse("the address of a tensor must be a multiple of 16");
    const uint64_t element = type_bytes[static_cast<size_t>(type)];
    e.address = address;
    e.rank = static_cast<uint8_t>(rank);
    e.type = static_cast<uint8_t>(type);
    e.swizzle = static_cast<uint8_t>(swizzle);
    e.fill = static_cast<uint8_t>(fill);
    for (size_t d = 0; d < rank; ++d) {
        if (dims[d] < 1 || dims[d] > uint64_t{1} << 32)
            return refuse("dimension " + number(d) + " of a tensor is from 1 to 2^32 elements, not " + number(dims[d]));
        if (element_strides[d] < 1 || element_strides[d] > 8)
            return refuse("an element stride is from 1 to 8, not " + number(element_strides[d]));
        e.last[d] = static_cast<uint32_t>(dims[d] - 1);
        e.element_strides[d] = static_cast<uint8_t>(d ? element_strides[d] : 1);  // the innermost one has no effect
        if (d == 0) continue;
        if (strides[d - 1] % 16 || strides[d - 1] >= uint64_t{1} << 40)
            return refuse("a stride of a tensor is a multiple of 16 below 2^40, not " + number(strides[d - 1]));
        e.strides[d - 1] = strides[d - 1];
    }
    const uint64_t inner = inner_elements * element;
    if (inner % 16) return refuse("the innermost row of a box has " + number(inner) + " bytes: a multiple of 16 is needed");
    const uint64_t widest = uint64_t{16} << static_cast<uint32_t>(swizzle);
    if (swizzle != TensorSwizzle::none && inner > widest)
        return refuse("the innermost row of a box has " + number(inner) + " bytes, more than the " + number(widest) +
                      " of its swizzle");
    if (fill == TensorFill::nan && (type < TensorType::f16)) return refuse("only floats can be filled with NaN");
    return std::nullopt;
}

TensorMap bytes_of(const Encoded& e) {
    TensorMap map;
    std::memcpy(map.bytes.data(), &e, sizeof e);
    return map;
}

}  // namespace

Result<TensorMap> make_tensor_map(uint64_t address, TensorType type, std::span<const uint64_t> dims,
                                  std::span<const uint64_t> strides, std::span<const uint32_t> box,
                                  std::span<const uint32_t> element_strides, TensorInterleave interleave,
                                  TensorSwizzle swizzle, TensorFill fill) {
    const size_t rank = dims.size();
    if (rank < 1 || rank > 5) return refuse("a tensor map has 1 to 5 dimensions, not " + number(rank));
    if (strides.size() + 1 != rank || box.size() != rank || element_strides.size() != rank)
        return refuse("a tensor map of " + number(rank) + " dimensions takes " + number(rank - 1) +
                      " strides, and as many box sizes and element strides as dimensions");
    Encoded e;
    for (size_t d = 0; d < rank; ++d) {
        if (box[d] < 1 || box[d] > 256)
            return refuse("a box has 1 to 256 elements in each dimension, not " + number(box[d]) + " in dimension " +
                          number(d));
        e.box[d] = static_cast<uint16_t>(box[d]);
    }
    if (auto bad = encode_common(e, address, type, dims, strides, element_strides, box[0], interleave, swizzle, fill))
        return *bad;
    return bytes_of(e);
}

TensorType tensor_type_of(DType type) {
    constexpr TensorType types[] = {TensorType::u8,  TensorType::u8,   TensorType::u16, TensorType::u16,  // i8 u8 i16 u16
                                    TensorType::f16, TensorType::bf16, TensorType::s32, TensorType::u32,
                                    TensorType::f32, TensorType::s64,  TensorType::u64, TensorType::f64};
    return types[static_cast<size_t>(type)];
}

Result<TensorMap> make_tile_map(uint64_t address, DType type, std::span<const uint64_t> dims, std::span<const uint32_t> box,
                                uint32_t swizzle_bytes) {
    constexpr uint32_t widths[] = {0, 32, 64, 128};
    const auto* const width = std::find(std::begin(widths), std::end(widths), swizzle_bytes);
    if (width == std::end(widths)) return refuse("a swizzle has 0, 32, 64 or 128 bytes, not " + number(swizzle_bytes));
    if (dims.empty() || dims.size() > 5) return refuse("a tensor map has 1 to 5 dimensions, not " + number(dims.size()));
    uint64_t strides[5], bytes = size_of(type);
    constexpr uint32_t ones[] = {1, 1, 1, 1, 1};
    for (size_t d = 0; d < dims.size(); ++d) strides[d] = bytes *= std::min(dims[d], uint64_t{1} << 32);
    return make_tensor_map(address, tensor_type_of(type), dims, std::span(strides, dims.size() - 1), box,
                           std::span(ones, dims.size()), TensorInterleave::none,
                           static_cast<TensorSwizzle>(width - std::begin(widths)));
}

Result<TensorMap> make_im2col_tensor_map(uint64_t address, TensorType type, std::span<const uint64_t> dims,
                                         std::span<const uint64_t> strides, std::span<const int32_t> lower,
                                         std::span<const int32_t> upper, uint32_t channels, uint32_t pixels,
                                         std::span<const uint32_t> element_strides, TensorInterleave interleave,
                                         TensorSwizzle swizzle, TensorFill fill) {
    const size_t rank = dims.size();
    if (rank < 3 || rank > 5) return refuse("a tensor map for im2col mode has 3 to 5 dimensions, not " + number(rank));
    if (strides.size() + 1 != rank || lower.size() + 2 != rank || upper.size() + 2 != rank || element_strides.size() != rank)
        return refuse("a tensor map for im2col mode of " + number(rank) + " dimensions takes " + number(rank - 1) +
                      " strides, " + number(rank - 2) + " numbers a corner, and as many element strides as dimensions");
    if (channels < 1 || channels > 256) return refuse("a copy takes 1 to 256 channels of a pixel, not " + number(channels));
    if (pixels < 1 || pixels > 1024) return refuse("a copy takes 1 to 1024 pixels, not " + number(pixels));
    Encoded e;
    e.im2col = 1;
    e.channels = static_cast<uint16_t>(channels);
    e.pixels = static_cast<uint16_t>(pixels);
    if (auto bad = encode_common(e, address, type, dims, strides, element_strides, channels, interleave, swizzle, fill))
        return *bad;
    const int32_t most = rank == 3 ? 32767 : rank == 4 ? 127 : 15;
    for (size_t d = 0; d + 2 < rank; ++d) {
        for (const int32_t corner : {lower[d], upper[d]})
            if (corner < -most - 1 || corner > most)
                return refuse("a corner of " + number(rank) + " dimensions is from -" +
                              number(static_cast<uint64_t>(most) + 1) + " to " + number(static_cast<uint64_t>(most)) +
                              ", not " + std::to_string(corner));
        if (int64_t{e.last[d + 1]} + upper[d] < lower[d]) return refuse("the box between the corners is empty");
        e.lower[d] = static_cast<int16_t>(lower[d]);
        e.upper[d] = static_cast<int16_t>(upper[d]);
    }
    return bytes_of(e);
}

std::string replace_in_tensor_map(std::byte* bytes, ptx::TensorMapField field, uint32_t dimension, uint64_t value) {
    using ptx::TensorMapField;
    // The ISA numbers element types in an order of its own.
    constexpr TensorType types[] = {TensorType::u8,      TensorType::u16, TensorType::u32,  TensorType::s32,
                                    TensorType::u64,     TensorType::s64, TensorType::f16,  TensorType::f32,
                                    TensorType::f32_ftz, TensorType::f64, TensorType::bf16, TensorType::tf32,
                                    TensorType::tf32_ftz};
    Encoded e;
    std::memcpy(&e, bytes, sizeof e);
    if (e.mark != magic) return "these 128 bytes are no tensor map of this machine's make";
    if (e.im2col) return "this tensor map is for im2col mode: only those of boxes can be changed";
    const uint64_t low = value & 0xffffffffu;
    const size_t d = std::min<size_t>(dimension, 4);
    switch (field) {
        case TensorMapField::global_address:
            if (value % 16) return "the address of a tensor must be a multiple of 16";
            e.address = value;
            break;
        case TensorMapField::rank:
            if (low > 4) return "the rank of a tensor map is given as 0 to 4, one less than it is, not " + number(low);
            e.rank = static_cast<uint8_t>(low + 1);
            break;
        case TensorMapField::box_dim:
            if (low < 1 || low > 256) return "a box has 1 to 256 elements in each dimension, not " + number(low);
            e.box[d] = static_cast<uint16_t>(low);
            break;
        case TensorMapField::global_dim:
            e.last[d] = static_cast<uint32_t>(low) - 1;  // 0: 2^32
            break;
        case TensorMapField::global_stride:
            if (dimension > 3) return "a tensor has a stride for each dimension but the innermost: 0 to 3";
            if (value % 16 || value >= uint64_t{1} << 40)
                return "a stride of a tensor is a multiple of 16 below 2^40, not " + number(value);
            e.strides[d] = value;
            break;
        case TensorMapField::element_stride:
            if (low < 1 || low > 8) return "an element stride is from 1 to 8, not " + number(low);
            e.element_strides[d] = static_cast<uint8_t>(d ? low : 1);
            break;
        case TensorMapField::element_type:
            if (low >= std::size(types)) return "unknown data type of a tensor map";
            e.type = static_cast<uint8_t>(types[low]);
            break;
        case TensorMapField::interleave_layout:
            if (low != 0) return "interleaved tensor maps are not modelled";
            break;
        case TensorMapField::swizzle_mode:
            e.swizzle = static_cast<uint8_t>(low & 3);
            break;
        case TensorMapField::swizzle_atomicity:
            if (low != 0) return "swizzles of pieces larger than 16 bytes are not modelled";
            break;
        case TensorMapField::fill_mode:
            e.fill = static_cast<uint8_t>(low & 1);
            break;
    }
    std::memcpy(bytes, &e, sizeof e);
    return {};
}

std::optional<TensorLayout> read_tensor_map(const std::byte* bytes) {
    Encoded e;
    std::memcpy(&e, bytes, sizeof e);
    if (e.mark != magic || e.rank < 1 || e.rank > 5 || e.type >= std::size(type_bytes) || e.swizzle > 3 || e.fill > 1 ||
        e.im2col > 1)
        return std::nullopt;
    TensorLayout layout;
    layout.address = e.address;
    layout.rank = e.rank;
    layout.type = static_cast<TensorType>(e.type);
    layout.element_bytes = type_bytes[e.type];
    layout.strides[0] = layout.element_bytes;
    layout.swizzle = static_cast<TensorSwizzle>(e.swizzle);
    layout.fill = static_cast<TensorFill>(e.fill);
    for (uint32_t d = 0; d < e.rank; ++d) {
        if (e.element_strides[d] < 1 || e.element_strides[d] > 8) return std::nullopt;
        if (!e.im2col && (e.box[d] < 1 || e.box[d] > 256)) return std::nullopt;
        layout.dims[d] = uint64_t{e.last[d]} + 1;
        layout.box[d] = e.box[d];
        layout.element_strides[d] = e.element_strides[d];
        if (d) layout.strides[d] = e.strides[d - 1];
    }
    if (!e.im2col) return layout;
    if (e.rank < 3 || e.channels < 1 || e.channels > 256 || e.pixels < 1 || e.pixels > 1024) return std::nullopt;
    layout.im2col = true;
    layout.channels = e.channels;
    layout.pixels = e.pixels;
    for (uint32_t d = 1; d + 1 < e.rank; ++d) {
        layout.first[d] = e.lower[d - 1];
        layout.last[d] = int64_t{e.last[d]} + e.upper[d - 1];
    }
    return layout;
}

uint64_t TensorLayout::box_bytes() const {
    uint64_t bytes = element_bytes;
    if (im2col) return bytes * channels * pixels;
    for (uint32_t d = 0; d < rank; ++d) bytes *= count(d);
    return bytes;
}

uint64_t TensorLayout::fill_bits() const {
    if (fill == TensorFill::zeros) return 0;
    switch (type) {
        case TensorType::f16:
        case TensorType::bf16:
            return 0x7fff;
        case TensorType::f64:
            return 0xfff8000000000000ull;
        default:
            return 0x7fffffff;
    }
}

}  // namespace lockstep::simt
