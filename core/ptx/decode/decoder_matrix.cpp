// Matrix instructions: which registers each operand is, by the shape and the types that the spelling names.
//
//   mma.sync.aligned.SHAPE.row.col.DTYPE.ATYPE.BTYPE.CTYPE d, a, b, c         mma.sp...: d, a, b, c, metadata, selector
//   wmma.mma.sync.aligned.ROW.COL.SHAPE[.DTYPE.CTYPE | .DTYPE.ATYPE.BTYPE.CTYPE] d, a, b, c
//   wmma.load.{a,b,c}.sync.aligned.LAYOUT.SHAPE[.SPACE].TYPE r, [p] {, stride}         wmma.store.d...  [p], r {, stride}
//   ldmatrix.sync.aligned.m8n8.xN[.trans][.shared].b16 d, [p]                          stmatrix...  [p], d
//   movmatrix.sync.aligned.m8n8.trans.b16 d, a
//   wgmma.mma_async.sync.aligned.SHAPE.DTYPE.ATYPE.BTYPE d, a, b-descriptor, scale-d {, scale-a, scale-b {, trans-a {,
//   trans-b}}}; wgmma.mma_async.sp...: d, a, b-descriptor, metadata, selector, scale-d ...
#include <charconv>

#include "core/ptx/decode/decoder.h"
#include "core/ptx/opcodes/matrix_group.h"

namespace lockstep::ptx {

namespace {

size_t bits_in(Type element) {
    switch (element) {
        case Type::b1:
            return 1;
        case Type::s4:
        case Type::u4:
            return 4;
        default:
            return 8 * size_of(element);
    }
}

// The type of the registers that hold elements: packed ones are in words.
Type holder_of(Type element) {
    return element == Type::f32 || element == Type::f64 || element == Type::s32 ? element : Type::b32;
}

// ".m16n8k16"; ".m8n8" leaves k as it is.
bool shape_of(std::string_view modifier, uint16_t (&shape)[3]) {
    constexpr char letters[] = {'m', 'n', 'k'};
    if (modifier.empty()) return false;
    modifier.remove_prefix(1);
    for (size_t i = 0; i < 3; ++i) {
        if (modifier.empty() || modifier[0] != letters[i]) return i == 2 && modifier.empty();
        const auto [end, error] = std::from_chars(modifier.data() + 1, modifier.data() + modifier.size(), shape[i]);
        if (error != std::errc()) return false;
        modifier.remove_prefix(static_cast<size_t>(end - modifier.data()));
    }
    return modifier.empty();
}

// In which order the spellings of the table have their modifiers; assemblers take them in others too.
struct Order {
    std::string_view stem, groups;  // "m" a shape, "x" a count, "type" any type
};
constexpr Order orders[] = {
    {"mma", ".sp,.sp::ordered_metadata .sync .aligned m .row,.col .satfinite,.rn,.rz,.rm,.rp type .xor,.and .popc"},
    {"wmma",
     ".load,.mma,.store .a,.b,.c,.d,.xor,.and .popc .sync .aligned .row,.col m .global,.shared,.shared::cta "
     ".rn,.rz,.rm,.rp type .satfinite"},
    {"ldmatrix", ".sync .aligned m x .trans .shared,.shared::cta type"},
    {"stmatrix", ".sync .aligned m x .trans .shared,.shared::cta type"},
    {"wgmma", ".mma_async .sp .sync .aligned m type .and .popc .satfinite"},
};

size_t rank_of(std::string_view modifier, std::string_view groups) {
    const bool numbered = modifier.size() > 2 && modifier[2] >= '0' && modifier[2] <= '9';
    for (size_t rank = 0; !groups.empty(); ++rank) {
        const std::string_view group = groups.substr(0, groups.find(' '));
        groups.remove_prefix(std::min(groups.size(), group.size() + 1));
        if (group == "m" || group == "x") {
            if (numbered && modifier[1] == group[0]) return rank;
        } else if (group == "type") {
            if (type_named(modifier) != Type::none) return rank;
        } else {
            for (size_t at = 0; at < group.size();) {
                const std::string_view word = group.substr(at, group.find(',', at) - at);
                if (word == modifier) return rank;
                at += word.size() + 1;
            }
        }
    }
    return 0;
}

Space space_of(const std::vector<std::string_view>& modifiers) {
    if (holds(modifiers, ".shared") || holds(modifiers, ".shared::cta")) return Space::shared;
    return holds(modifiers, ".global") ? Space::global : Space::generic;
}

}  // namespace

std::string in_matrix_order(std::string_view spelling) {
    const std::string_view stem = stem_of(spelling);
    for (const Order& order : orders) {
        if (order.stem != stem) continue;
        std::vector<std::string_view> modifiers = modifiers_of(spelling);
        std::stable_sort(modifiers.begin(), modifiers.end(), [&](std::string_view a, std::string_view b) {
            return rank_of(a, order.groups) < rank_of(b, order.groups);
        });
        std::string ordered;
        for (std::string_view modifier : modifiers) ordered += modifier;
        return ordered;
    }
    return {};
}

// `count` registers in braces (one may stand alone), of which the first `used` go to the instruction's list.
void Decoder::list_registers(DecodedInstruction& out, const Operand& o, size_t count, Type wanted, size_t used,
                             bool written) {
    const bool list = o.kind == Operand::Kind::vector;
    const size_t given = list ? o.elements.size() : 1;
    if (given != count)
        complain(spelled() + " needs " + std::to_string(count) + (count > 1 ? " registers" : " register") + " of " +
                     dotted(wanted) + " here, not " + std::to_string(given),
                 o);
    for (size_t i = 0; i < count; ++i) {
        const Operand& element = list ? o.elements[i] : o;
        const int32_t at = written ? destination(element, wanted) : source(element, wanted);
        if (i < used) program_.lists.push_back(at);
    }
    uint16_t& number = written ? out.list_destinations : out.list_sources;
    number = static_cast<uint16_t>(number + used);
}

void Decoder::decode_matrix(DecodedInstruction& out) {
    out.list = static_cast<uint32_t>(program_.lists.size());
    std::vector<Type> types;
    for (std::string_view modifier : modifiers_) {
        if (const Type type = type_named(modifier); type != Type::none) types.push_back(type);
        if (modifier.starts_with(".m")) shape_of(modifier, out.shape);
    }
    if (out.kind == Kind::matrix_group)
        decode_matrix_group(out, types);
    else if (out.kind == Kind::matrix)
        decode_matrix_product(out, types);
    else
        decode_matrix_memory(out, last_type_);
}

void Decoder::decode_matrix_product(DecodedInstruction& out, const std::vector<Type>& types) {
    const bool wide = statement_->opcode.starts_with("wmma"),
               sparse = holds(modifiers_, ".sp") || holds(modifiers_, ".sp::ordered_metadata");
    if (statement_->opcode.starts_with("movmatrix")) {
        expect_operands(2, 2);
        out.type = out.destination_type = Type::b32;
        list_registers(out, operand(0), 1, Type::b32, 1, true);
        list_registers(out, operand(1), 1, Type::b32, 1, false);
        return;
    }
    expect_operands(sparse ? 6 : 4, sparse ? 6 : 4);
    const size_t m = out.shape[0], n = out.shape[1], k = out.shape[2];
    const Type d = types.front(), a = types.size() > 2 ? types[1] : Type::f16, c = types.back();
    const bool quads = m == 8 && k == 4 && a == Type::f16;  // each quarter of the warp has a product of its own
    const size_t register_bits = a == Type::f64 ? 64 : 32, copies = quads ? 4 : 1;
    const auto accumulators = [&](Type type) { return copies * m * n / (type == Type::f16 ? 64 : 32); };
    const auto factors = [&](size_t rows, size_t length) {
        return copies * rows * length * bits_in(a) / register_bits / 32;
    };
    const size_t of_a = factors(m, sparse ? k / 2 : k), of_b = factors(n, k);
    // wmma of f16 names 8 registers for A and B whatever the shape.
    const size_t names_a = wide && a == Type::f16 ? 8 : of_a, names_b = wide && a == Type::f16 ? 8 : of_b;
    const Type factor = holder_of(a == Type::f64 ? a : Type::b32);
    out.type = a;
    out.destination_type = holder_of(d);
    list_registers(out, operand(0), accumulators(d), holder_of(d), accumulators(d), true);
    list_registers(out, operand(1), names_a, factor, of_a, false);
    list_registers(out, operand(2), names_b, factor, of_b, false);
    list_registers(out, operand(3), accumulators(c), holder_of(c), accumulators(c), false);
    if (!sparse) return;
    put_sparse(out, true);
    list_registers(out, operand(4), 1, Type::b32, 1, false);
    // How many lanes of a group of four hold metadata: 4 bits for each 4 elements, 8 of 4 bits, 2 of 32 bits.
    const size_t lanes = m * k / (a == Type::tf32 ? 2 : bits_in(a) == 4 ? 8 : 4) * 4 / 32 / 8;
    if (operand(5).kind != Operand::Kind::integer || operand(5).value >= 4 / lanes)
        complain(lanes == 4 ? "the selector of " + spelled() + " is 0"
                            : "the selector of " + spelled() + " is a number from 0 to " + std::to_string(4 / lanes - 1),
                 operand(5));
    list_registers(out, operand(5), 1, Type::b32, 1, false);
}

void Decoder::decode_matrix_memory(DecodedInstruction& out, Type element) {
    const bool load = out.kind == Kind::matrix_load;
    const bool tiles = !statement_->opcode.starts_with("wmma");
    expect_operands(2, tiles ? 2 : 3);
    const Operand& registers = operand(load ? 0 : 1);
    out.space = space_of(modifiers_);
    set_address(out, operand(load ? 1 : 0));
    if (tiles) {
        put(out, FragmentView{MatrixOperand::tiles, holds(modifiers_, ".trans")});
        out.type = Type::b128;  // a row of a tile
        out.destination_type = Type::b32;
        const size_t count = holds(modifiers_, ".x4") ? 4 : holds(modifiers_, ".x2") ? 2 : 1;
        list_registers(out, registers, count, Type::b32, count, load);
        return;
    }
    const MatrixOperand which = holds(modifiers_, ".a")   ? MatrixOperand::a
                                : holds(modifiers_, ".b") ? MatrixOperand::b
                                                          : MatrixOperand::c;
    put(out, FragmentView{which, holds(modifiers_, ".col")});
    const size_t m = out.shape[0], n = out.shape[1], k = out.shape[2];
    const size_t elements = which == MatrixOperand::a ? m * k : which == MatrixOperand::b ? k * n : m * n;
    const Type holder =
        which == MatrixOperand::c ? holder_of(element) : holder_of(element == Type::f64 ? element : Type::b32);
    const size_t count =
        which != MatrixOperand::c && element == Type::f16 ? 8 : elements * bits_in(element) / 32 / (8 * size_of(holder));
    out.type = element;
    out.destination_type = holder;
    list_registers(out, registers, count, holder, count, load);
    if (statement_->operands.size() == 3) out.source[0] = source(operand(2), Type::b32);
}

void Decoder::decode_matrix_group(DecodedInstruction& out, const std::vector<Type>& types) {
    if (!holds(modifiers_, ".mma_async")) {  // what they order is in order here
        GroupOrderView view{holds(modifiers_, ".fence")          ? GroupOrder::fence
                            : holds(modifiers_, ".commit_group") ? GroupOrder::commit
                                                                 : GroupOrder::wait};
        if (holds(modifiers_, ".wait_group")) {
            expect_operands(1, 1);
            if (operand(0).kind != Operand::Kind::integer) complain("expected a number of groups", operand(0));
            view.pending = static_cast<int64_t>(std::min<uint64_t>(operand(0).value, INT32_MAX));
        } else {
            expect_operands(0, 0);
        }
        return put(out, view);
    }
    const Type d = types[0], a = types[1];
    const size_t m = out.shape[0], n = out.shape[1], k = out.shape[2], bits = bits_in(a);
    const bool halves = a == Type::f16 || a == Type::bf16, integers = d == Type::s32, sparse = holds(modifiers_, ".sp");
    const size_t words = group_words * (sparse ? 2 : 1);  // of k, in a column of B
    if (m != 64 || n < 8 || n > 256 || n % 8 || k * bits != words * 32 || (integers && n > 32 && n % 16) ||
        (integers && n % 8))
        complain(spelled() + " has no such shape: it is m64, n 8 to 256 in steps of 8 (integers above 32: 16), k " +
                 std::to_string(words * 32 / bits));
    const bool in_registers = statement_->operands.size() > 1 && operand(1).kind == Operand::Kind::vector;
    const size_t transposes = halves ? (in_registers ? 1 : 2) : 0, scale = sparse ? 5 : 3,
                 count = scale + (integers ? 1 : 3) + transposes;
    expect_operands(count, count);
    const size_t accumulators = n / (d == Type::f16 ? 4 : 2);
    out.type = a;
    out.destination_type = holder_of(d);
    list_registers(out, operand(0), accumulators, holder_of(d), accumulators, true);
    if (in_registers)
        list_registers(out, operand(1), 4, Type::b32, 4, false);
    else
        list_registers(out, operand(1), 1, Type::b64, 1, false);
    list_registers(out, operand(2), 1, Type::b64, 1, false);
    list_registers(out, operand(scale), 1, Type::pred, 1, false);
    list_registers(out, operand(0), accumulators, holder_of(d), accumulators, false);
    if (sparse) {
        const uint64_t most = bits == 8 ? 0 : 1;  // which two of four lanes hold metadata; of bytes all do
        list_registers(out, operand(3), 1, Type::b32, 1, false);
        if (operand(4).kind != Operand::Kind::integer || operand(4).value > most)
            complain("the selector of " + spelled() + (most ? " is 0 or 1" : " is 0"), operand(4));
        list_registers(out, operand(4), 1, Type::b32, 1, false);
    }
    const auto number = [&](size_t i, uint64_t first, uint64_t second) {
        if (operand(i).kind != Operand::Kind::integer || (operand(i).value != first && operand(i).value != second))
            complain("expected " + std::to_string(static_cast<int64_t>(first)) + " or " +
                         std::to_string(static_cast<int64_t>(second)),
                     operand(i));
        return operand(i).value == second;
    };
    GroupView view{.a_in_registers = in_registers, .negates_scale = operand(scale).negated, .sparse = sparse};
    if (!integers) {
        view.negates_a = number(scale + 1, 1, ~uint64_t{0});
        view.negates_b = number(scale + 2, 1, ~uint64_t{0});
    }
    if (transposes == 2) view.turns_a = number(scale + 3, 0, 1);
    if (transposes != 0) view.turns_b = number(scale + 2 + transposes, 0, 1);
    put(out, view);
}

}  // namespace lockstep::ptx
