// Bulk copies: cp.async.bulk with and without tensor maps, cp.reduce.async.bulk, st.async, red.async; changes of tensor
// maps; multimem. In Program::lists:
//   copy, reduce           to, from, bytes {, mbarrier} {, mask of blocks}, or: to, from, bytes, mask of bytes
//   prefetch               from, bytes
//   tensor_load            to, map, coordinates, mbarrier {, mask of blocks} {, offsets}
//   tensor_store, _reduce  from, map, coordinates
//   tensor_prefetch        map, coordinates {, offsets}
// Offsets are those of im2col mode: a number for each dimension of a picture.
//   store, red             to, mbarrier, values
// DecodedInstruction::shape: the dimensions of a tensor, the operation (BulkOperation); offset: bulk_ flags.
#include "core/ptx/decode/decoder.h"

namespace lockstep::ptx {

namespace {

constexpr std::string_view operations[] = {"", ".add", ".min", ".max", ".inc", ".dec", ".and", ".or", ".xor"};

}  // namespace

void Decoder::decode_bulk(DecodedInstruction& out) {
    out.list = static_cast<uint32_t>(program_.lists.size());
    for (uint16_t i = 1; i < std::size(operations); ++i)
        if (holds(modifiers_, operations[i])) out.shape[1] = i;
    const std::string_view stem = stem_of(statement_->opcode);
    out.type = out.destination_type = last_type_ == Type::none ? Type::b32 : last_type_;
    if (stem == "st" || stem == "red") return decode_remote_store(out);
    const bool tensor = holds(modifiers_, ".tensor"), prefetch = holds(modifiers_, ".prefetch");
    const bool hint = holds(modifiers_, ".L2::cache_hint"), multicast = holds(modifiers_, ".multicast::cluster");
    const bool signals = holds(modifiers_, ".mbarrier::complete_tx::bytes");
    const bool reduces = holds(modifiers_, ".reduce"), offsets = holds(modifiers_, ".im2col");
    const bool pictures = offsets || holds(modifiers_, ".im2col_no_offs"), masked = holds(modifiers_, ".cp_mask");
    if (signals) out.offset |= bulk_signals;
    if (multicast) out.offset |= bulk_multicast;
    if (pictures) out.offset |= bulk_im2col;
    if (masked) out.offset |= bulk_masked;
    for (uint16_t d = 1; d <= 5; ++d)
        if (holds(modifiers_, "." + std::to_string(d) + "d")) out.shape[0] = d;
    size_t count = tensor ? (prefetch ? 1 : signals ? 3 : 2) : (prefetch ? 2 : signals ? 4 : 3);
    const size_t optional = count;  // where operands begin that not every form has
    count += size_t{multicast} + offsets + masked;
    expect_operands(count + hint, count + hint);
    if (tensor) {
        if (pictures && out.shape[0] < 3) complain(spelled() + ": im2col mode is for 3 to 5 dimensions");
        out.mode = static_cast<uint8_t>(prefetch  ? AsyncBulk::tensor_prefetch
                                        : reduces ? AsyncBulk::tensor_reduce
                                        : signals ? AsyncBulk::tensor_load
                                                  : AsyncBulk::tensor_store);
        // Loads name the shared memory first, stores the tensor.
        if (!prefetch) list_address(out, operand(signals ? 0 : 1), Space::shared);
        const Operand& where = operand(signals ? 1 : 0);
        if (where.kind != Operand::Kind::address || where.elements.size() != 1 ||
            where.elements[0].kind != Operand::Kind::vector || where.elements[0].elements.size() != out.shape[0])
            complain(
                spelled() + " takes a tensor map with " + std::to_string(out.shape[0]) + " coordinates: [%rd1, {%r1, ...}]",
                where);
        list_address(out, where, Space::generic);
        for (const Operand& coordinate : where.elements[0].elements) list_value(out, coordinate, Type::s32);
        if (signals) list_address(out, operand(2), Space::shared);
        if (multicast) list_value(out, operand(optional + offsets), Type::u16);
        if (!offsets) return;
        const Operand& by = operand(optional);
        if (by.kind != Operand::Kind::vector || by.elements.size() + 2 != out.shape[0])
            complain(spelled() + " needs " + std::to_string(out.shape[0] - 2) + " offsets of 16 bits in braces", by);
        for (const Operand& offset : by.elements) list_value(out, offset, Type::u16);
        return;
    }
    out.mode = static_cast<uint8_t>(prefetch ? AsyncBulk::prefetch : reduces ? AsyncBulk::reduce : AsyncBulk::copy);
    if (prefetch) {
        list_address(out, operand(0), Space::global);
        list_value(out, operand(1), Type::u32);
        return;
    }
    // The first of the two spaces is the destination's.
    std::vector<Space> spaces;
    for (const std::string_view m : modifiers_) {
        if (m.starts_with(".shared")) spaces.push_back(Space::shared);
        if (m == ".global") spaces.push_back(Space::global);
    }
    list_address(out, operand(0), spaces[0]);
    list_address(out, operand(1), spaces[1]);
    list_value(out, operand(2), Type::u32);
    if (signals) list_address(out, operand(3), Space::shared);
    if (multicast) list_value(out, operand(4), Type::u16);
    if (masked) list_value(out, operand(optional + hint), Type::b16);
}

// tensormap.replace.tile.FIELD{.SPACE}.b1024.TYPE [map], {dimension,} value; tensormap.cp_fenceproxy... [to], [from], 128
void Decoder::decode_tensor_map(DecodedInstruction& out) {
    constexpr std::string_view fields[] = {
        ".global_address", ".rank",     ".box_dim",           ".global_dim",   ".global_stride",
        ".element_stride", ".elemtype", ".interleave_layout", ".swizzle_mode", ".swizzle_atomicity",
        ".fill_mode"};
    constexpr uint64_t most_of[] = {0, 0, 0, 0, 0, 0, 12, 2, 3, 3, 1};  // of the fields that take a number
    out.list = static_cast<uint32_t>(program_.lists.size());
    out.type = out.destination_type = Type::b32;
    const bool copies = holds(modifiers_, ".cp_fenceproxy");
    out.mode = static_cast<uint8_t>(copies ? TensorMapOperation::copy : TensorMapOperation::replace);
    if (copies) {
        expect_operands(3, 3);
        list_address(out, operand(0), Space::global);
        list_address(out, operand(1), Space::shared);
        number(operand(2), 128, 128, "the size of a tensor map");
        return;
    }
    for (uint16_t i = 0; i < std::size(fields); ++i)
        if (holds(modifiers_, fields[i])) out.shape[0] = i;
    const auto field = static_cast<TensorMapField>(out.shape[0]);
    const bool several = field >= TensorMapField::box_dim && field <= TensorMapField::element_stride;
    expect_operands(several ? 3 : 2, several ? 3 : 2);
    const Space space = holds(modifiers_, ".global")        ? Space::global
                        : holds(modifiers_, ".shared::cta") ? Space::shared
                                                            : Space::generic;
    list_address(out, operand(0), space);
    if (several) out.shape[1] = static_cast<uint16_t>(number(operand(1), 0, 4, "the dimension of a tensor map's field"));
    if (field >= TensorMapField::element_type) {
        number(operand(1), 0, most_of[out.shape[0]], "this field of a tensor map");
        list_value(out, operand(1), Type::b32);
        return;
    }
    const bool wide = field == TensorMapField::global_address || field == TensorMapField::global_stride;
    list_value(out, operand(several ? 2 : 1), wide ? Type::b64 : Type::b32);
}

// multimem.ld_reduce d, [a]; multimem.st, multimem.red [a], b
void Decoder::decode_multimem(DecodedInstruction& out) {
    constexpr std::string_view combinations_of[] = {".add", ".min", ".max", ".inc", ".dec", ".and", ".or", ".xor"};
    const bool loads = holds(modifiers_, ".ld_reduce"), stores = holds(modifiers_, ".st");
    expect_operands(2, 2);
    out.list = static_cast<uint32_t>(program_.lists.size());
    out.mode = static_cast<uint8_t>(loads    ? MultimemOperation::load
                                    : stores ? MultimemOperation::store
                                             : MultimemOperation::reduce);
    for (uint16_t i = 0; i < std::size(combinations_of); ++i)
        if (holds(modifiers_, combinations_of[i])) out.shape[0] = i;
    out.vector = holds(modifiers_, ".v8") ? 8 : holds(modifiers_, ".v4") ? 4 : holds(modifiers_, ".v2") ? 2 : 1;
    out.type = out.destination_type = last_type_;
    out.space = Space::global;
    set_address(out, operand(loads ? 1 : 0));
    const Operand& value = operand(loads ? 0 : 1);
    const bool list = value.kind == Operand::Kind::vector;
    if (list ? value.elements.size() != out.vector : out.vector != 1)
        complain(
            spelled() + " needs " + std::to_string(out.vector) + (out.vector > 1 ? " registers in braces" : " register"),
            value);
    for (size_t k = 0; k < out.vector; ++k) {
        const Operand& part = list ? value.elements[k] : value;
        program_.lists.push_back(loads ? destination(part, last_type_) : source(part, last_type_));
        ++(loads ? out.list_destinations : out.list_sources);
    }
}

// st.async [a], b, [mbarrier]; red.async the same
void Decoder::decode_remote_store(DecodedInstruction& out) {
    expect_operands(3, 3);
    out.mode = static_cast<uint8_t>(stem_of(statement_->opcode) == "st" ? AsyncBulk::store : AsyncBulk::red);
    out.offset |= bulk_signals;
    out.vector = holds(modifiers_, ".v4") ? 4 : holds(modifiers_, ".v2") ? 2 : 1;
    list_address(out, operand(0), Space::shared);
    list_address(out, operand(2), Space::shared);
    const Operand& value = operand(1);
    const bool list = value.kind == Operand::Kind::vector;
    if (list ? value.elements.size() != out.vector : out.vector != 1)
        complain(
            spelled() + " needs " + std::to_string(out.vector) + (out.vector > 1 ? " registers in braces" : " register"),
            value);
    for (size_t k = 0; k < out.vector; ++k) list_value(out, list ? value.elements[k] : value, last_type_);
}

}  // namespace lockstep::ptx
