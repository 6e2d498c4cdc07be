// Bulk copies: cp.async.bulk with and without tensor maps, cp.reduce.async.bulk, st.async, red.async; changes of tensor
// maps; multimem. views_async.h says what they have in Program::lists.
#include "core/ptx/decode/decoder.h"

namespace lockstep::ptx {

namespace {

constexpr std::string_view operations[] = {"", ".add", ".min", ".max", ".inc", ".dec", ".and", ".or", ".xor"};

}  // namespace

void Decoder::decode_bulk(DecodedInstruction& out) {
    out.list = static_cast<uint32_t>(program_.lists.size());
    BulkView view;
    for (uint8_t i = 1; i < std::size(operations); ++i)
        if (holds(modifiers_, operations[i])) view.combines = static_cast<BulkOperation>(i);
    const std::string_view stem = stem_of(statement_->opcode);
    out.type = out.destination_type = last_type_ == Type::none ? Type::b32 : last_type_;
    if (stem == "st" || stem == "red") return decode_remote_store(out, view);
    const bool tensor = holds(modifiers_, ".tensor"), prefetch = holds(modifiers_, ".prefetch");
    const bool hint = holds(modifiers_, ".L2::cache_hint"), multicast = holds(modifiers_, ".multicast::cluster");
    const bool signals = holds(modifiers_, ".mbarrier::complete_tx::bytes");
    const bool reduces = holds(modifiers_, ".reduce"), offsets = holds(modifiers_, ".im2col");
    const bool pictures = offsets || holds(modifiers_, ".im2col_no_offs"), masked = holds(modifiers_, ".cp_mask");
    view.signals = signals;
    view.multicast = multicast;
    view.im2col = pictures;
    view.masked = masked;
    for (uint32_t d = 1; d <= 5; ++d)
        if (holds(modifiers_, "." + std::to_string(d) + "d")) view.rank = d;
    if (tensor)
        view.operation = prefetch  ? AsyncBulk::tensor_prefetch
                         : reduces ? AsyncBulk::tensor_reduce
                         : signals ? AsyncBulk::tensor_load
                                   : AsyncBulk::tensor_store;
    else
        view.operation = prefetch ? AsyncBulk::prefetch : reduces ? AsyncBulk::reduce : AsyncBulk::copy;
    put(out, view);
    size_t count = tensor ? (prefetch ? 1 : signals ? 3 : 2) : (prefetch ? 2 : signals ? 4 : 3);
    const size_t optional = count;  // where operands begin that not every form has
    count += size_t{multicast} + offsets + masked;
    expect_operands(count + hint, count + hint);
    if (tensor) {
        if (pictures && view.rank < 3) complain(spelled() + ": im2col mode is for 3 to 5 dimensions");
        // Loads name the shared memory first, stores the tensor.
        if (!prefetch) list_address(out, operand(signals ? 0 : 1), Space::shared);
        const Operand& where = operand(signals ? 1 : 0);
        if (where.kind != Operand::Kind::address || where.elements.size() != 1 ||
            where.elements[0].kind != Operand::Kind::vector || where.elements[0].elements.size() != view.rank)
            complain(
                spelled() + " takes a tensor map with " + std::to_string(view.rank) + " coordinates: [%rd1, {%r1, ...}]",
                where);
        list_address(out, where, Space::generic);
        for (const Operand& coordinate : where.elements[0].elements) list_value(out, coordinate, Type::s32);
        if (signals) list_address(out, operand(2), Space::shared);
        if (multicast) list_value(out, operand(optional + offsets), Type::u16);
        if (!offsets) return;
        const Operand& by = operand(optional);
        if (by.kind != Operand::Kind::vector || by.elements.size() + 2 != view.rank)
            complain(spelled() + " needs " + std::to_string(view.rank - 2) + " offsets of 16 bits in braces", by);
        for (const Operand& offset : by.elements) list_value(out, offset, Type::u16);
        return;
    }
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
    TensorMapView view{copies ? TensorMapOperation::copy : TensorMapOperation::replace};
    if (copies) {
        put(out, view);
        expect_operands(3, 3);
        list_address(out, operand(0), Space::global);
        list_address(out, operand(1), Space::shared);
        number(operand(2), 128, 128, "the size of a tensor map");
        return;
    }
    size_t index = 0;
    for (size_t i = 0; i < std::size(fields); ++i)
        if (holds(modifiers_, fields[i])) index = i;
    const auto field = static_cast<TensorMapField>(index);
    view.field = field;
    const bool several = field >= TensorMapField::box_dim && field <= TensorMapField::element_stride;
    expect_operands(several ? 3 : 2, several ? 3 : 2);
    const Space space = holds(modifiers_, ".global")        ? Space::global
                        : holds(modifiers_, ".shared::cta") ? Space::shared
                                                            : Space::generic;
    list_address(out, operand(0), space);
    if (several) view.dimension = static_cast<uint32_t>(number(operand(1), 0, 4, "the dimension of a tensor map's field"));
    put(out, view);
    if (field >= TensorMapField::element_type) {
        number(operand(1), 0, most_of[index], "this field of a tensor map");
        list_value(out, operand(1), Type::b32);
        return;
    }
    list_value(out, operand(several ? 2 : 1), view.is_wide() ? Type::b64 : Type::b32);
}

// multimem.ld_reduce d, [a]; multimem.st, multimem.red [a], b
void Decoder::decode_multimem(DecodedInstruction& out) {
    constexpr std::string_view combinations_of[] = {".add", ".min", ".max", ".inc", ".dec", ".and", ".or", ".xor"};
    const bool loads = holds(modifiers_, ".ld_reduce"), stores = holds(modifiers_, ".st");
    expect_operands(2, 2);
    out.list = static_cast<uint32_t>(program_.lists.size());
    MultimemView view{loads ? MultimemOperation::load : stores ? MultimemOperation::store : MultimemOperation::reduce};
    for (uint8_t i = 0; i < std::size(combinations_of); ++i)
        if (holds(modifiers_, combinations_of[i])) view.combines = static_cast<AtomicOperation>(i);
    put(out, view);
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
void Decoder::decode_remote_store(DecodedInstruction& out, BulkView view) {
    expect_operands(3, 3);
    view.operation = stem_of(statement_->opcode) == "st" ? AsyncBulk::store : AsyncBulk::red;
    view.signals = true;
    put(out, view);
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
