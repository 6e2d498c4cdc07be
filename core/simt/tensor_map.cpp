// The encoding: the struct below, whose first word tells a tensor map from other bytes. Limits are those that the driver's
// documentation states for cuTensorMapEncodeTiled.
#include "core/simt/tensor_map.h"

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

Result<TensorMap> make_tensor_map(uint64_t address, TensorType type, std::span<const uint64_t> dims,
                                  std::span<const uint64_t> strides, std::span<const uint32_t> box,
                                  std::span<const uint32_t> element_strides, TensorInterleave interleave,
                                  TensorSwizzle swizzle, TensorFill fill) {
    const size_t rank = dims.size();
    if (rank < 1 || rank > 5) return refuse("a tensor map has 1 to 5 dimensions, not " + number(rank));
    if (strides.size() + 1 != rank || box.size() != rank || element_strides.size() != rank)
        return refuse("a tensor map of " + number(rank) + " dimensions takes " + number(rank - 1) +
                      " strides, and as many box sizes and element strides as dimensions");
    if (static_cast<size_t>(type) >= std::size(type_bytes)) return refuse("unknown data type of a tensor map");
    if (interleave != TensorInterleave::none) return refuse("interleaved tensor maps are not modelled");
    if (address % 16) return refuse("the address of a tensor must be a multiple of 16");
    const uint64_t element = type_bytes[static_cast<size_t>(type)];
    Encoded e;
    e.address = address;
    e.rank = static_cast<uint8_t>(rank);
    e.type = static_cast<uint8_t>(type);
    e.swizzle = static_cast<uint8_t>(swizzle);
    e.fill = static_cast<uint8_t>(fill);
    for (size_t d = 0; d < rank; ++d) {
        if (dims[d] < 1 || dims[d] > uint64_t{1} << 32)
            return refuse("dimension " + number(d) + " of a tensor is from 1 to 2^32 elements, not " + number(dims[d]));
        if (box[d] < 1 || box[d] > 256)
            return refuse("a box has 1 to 256 elements in each dimension, not " + number(box[d]) + " in dimension " +
                          number(d));
        if (element_strides[d] < 1 || element_strides[d] > 8)
            return refuse("an element stride is from 1 to 8, not " + number(element_strides[d]));
        e.last[d] = static_cast<uint32_t>(dims[d] - 1);
        e.box[d] = static_cast<uint16_t>(box[d]);
        e.element_strides[d] = static_cast<uint8_t>(d ? element_strides[d] : 1);  // the innermost one has no effect
        if (d == 0) continue;
        if (strides[d - 1] % 16 || strides[d - 1] >= uint64_t{1} << 40)
            return refuse("a stride of a tensor is a multiple of 16 below 2^40, not " + number(strides[d - 1]));
        e.strides[d - 1] = strides[d - 1];
    }
    const uint64_t inner = box[0] * element;
    if (inner % 16) return refuse("the innermost row of a box has " + number(inner) + " bytes: a multiple of 16 is needed");
    const uint64_t widest = uint64_t{16} << static_cast<uint32_t>(swizzle);
    if (swizzle != TensorSwizzle::none && inner > widest)
        return refuse("the innermost row of a box has " + number(inner) + " bytes, more than the " + number(widest) +
                      " of its swizzle");
    if (fill == TensorFill::nan && (type < TensorType::f16)) return refuse("only floats can be filled with NaN");
    TensorMap map;
    std::memcpy(map.bytes.data(), &e, sizeof e);
    return map;
}

std::optional<TensorLayout> read_tensor_map(const std::byte* bytes) {
    Encoded e;
    std::memcpy(&e, bytes, sizeof e);
    if (e.mark != magic || e.rank < 1 || e.rank > 5 || e.type >= std::size(type_bytes) || e.swizzle > 3 || e.fill > 1)
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
        if (e.box[d] < 1 || e.box[d] > 256 || e.element_strides[d] < 1 || e.element_strides[d] > 8) return std::nullopt;
        layout.dims[d] = uint64_t{e.last[d]} + 1;
        layout.box[d] = e.box[d];
        layout.element_strides[d] = e.element_strides[d];
        if (d) layout.strides[d] = e.strides[d - 1];
    }
    return layout;
}

uint64_t TensorLayout::box_bytes() const {
    uint64_t bytes = element_bytes;
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
