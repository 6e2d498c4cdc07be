// Bulk copies: cp.async.bulk with and without tensor maps, cp.reduce.async.bulk, st.async, red.async. In Program::lists:
//   copy, reduce           to, from, bytes {, mbarrier} {, mask of blocks}
//   prefetch               from, bytes
//   tensor_load            to, map, coordinates, mbarrier {, mask of blocks}
//   tensor_store, _reduce  from, map, coordinates
//   tensor_prefetch        map, coordinates
//   store, red             to, mbarrier, values
// DecodedInstruction::shape: the dimensions of a tensor, the operation (BulkOperation); offset: bulk_ flags.
#include "core/ptx/decoder.h"

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
    if (holds(modifiers_, ".im2col") || holds(modifiers_, ".im2col_no_offs"))
        complain("tensor copies in im2col mode are not modelled");
    if (holds(modifiers_, ".cp_mask")) complain("bulk copies with a byte mask are not modelled");
    const bool tensor = holds(modifiers_, ".tensor"), prefetch = holds(modifiers_, ".prefetch");
    const bool hint = holds(modifiers_, ".L2::cache_hint"), multicast = holds(modifiers_, ".multicast::cluster");
    const bool signals = holds(modifiers_, ".mbarrier::complete_tx::bytes");
    const bool reduces = holds(modifiers_, ".reduce");
    if (signals) out.offset |= bulk_signals;
    if (multicast) out.offset |= bulk_multicast;
    for (uint16_t d = 1; d <= 5; ++d)
        if (holds(modifiers_, "." + std::to_string(d) + "d")) out.shape[0] = d;
    size_t count = tensor ? (prefetch ? 1 : signals ? 3 : 2) : (prefetch ? 2 : signals ? 4 : 3);
    count += multicast;
    expect_operands(count + hint, count + hint);
    if (tensor) {
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
        if (multicast) list_value(out, operand(3), Type::u16);
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
