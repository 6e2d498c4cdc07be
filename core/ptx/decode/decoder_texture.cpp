// Textures and surfaces: tex, tld4, txq, suld, sust, sured, suq. texture_detail.h says where their operands go.
//
//   tex   d[|p], [handle, {sampler,} coordinates] {, level | dx, dy} {, offset} {, depth};    tld4 d[|p], [...] {, offset}
//   {, depth}; suld  d, [handle, coordinates];    sust, sured  [handle, coordinates], b;    txq, suq  d, [handle] {, level};
//   istypep  p, a;
#include "core/ptx/decode/decoder.h"
#include "core/ptx/opcodes/texture_detail.h"

namespace lockstep::ptx {

namespace {

template <size_t n>
uint8_t index_among(const std::string_view (&names)[n], const std::vector<std::string_view>& modifiers) {
    for (uint8_t i = 0; i < n; ++i)
        if (holds(modifiers, names[i])) return i;
    return 0;
}

struct Axes {
    size_t coordinates;  // that mean something
    size_t written;      // with those that pad a vector
    size_t gradient;     // numbers of dx and of dy; 0: there is no gradient
};
Axes axes_of(Geometry geometry) {
    switch (geometry) {
        case Geometry::d1:
            return {1, 1, 1};
        case Geometry::a1d:
            return {2, 2, 1};
        case Geometry::d2:
            return {2, 2, 2};
        case Geometry::a2d:
            return {3, 4, 2};
        case Geometry::d3:
        case Geometry::cube:
            return {3, 4, 4};
        case Geometry::acube:
            return {4, 4, 4};
        case Geometry::d2ms:
            return {3, 4, 0};
        case Geometry::a2dms:
            return {4, 4, 0};
    }
    return {1, 1, 1};
}

}  // namespace

// The texture or surface that an instruction names, by a register that holds its handle or by a .texref.
void Decoder::set_handle(DecodedInstruction& out, const Operand& address) {
    if (address.kind != Operand::Kind::address || address.name.empty() || address.value)
        complain("expected a texture or surface, such as [%rd1, {%r1}]", address);
    out.space = Space::global;
    if (const Slot* slot = frame_.register_named(address.name, statement_->scope)) {
        if (register_size(slot->type) != 8 || is_float(slot->type))
            complain(
                "a texture object is in a register of .b64, '" + std::string(address.name) + "' is of " + dotted(slot->type),
                address);
        out.address = slot->offset;
        return;
    }
    const Located* located = frame_.variable_named(address.name, statement_->scope);
    if (!located) unknown_name(address, address.name);
    if (located->variable->space != Space::global || located->variable->bytes != 8)
        complain("'" + std::string(address.name) + "' is not a .texref, .surfref or .samplerref", address);
    out.variable = located->index;
}

// Numbers of one operand in braces or alone, into the operand list; `count` of them mean something.
void Decoder::list_numbers(DecodedInstruction& out, const Operand& o, size_t count, size_t written, Type type,
                           Type first_type) {
    const bool vector = o.kind == Operand::Kind::vector;
    const size_t given = vector ? o.elements.size() : 1;
    if (given != count && given != written)
        complain(spelled() + " needs " + std::to_string(count) + (count > 1 ? " numbers in braces here" : " number here"),
                 o);
    const Operand* parts = vector ? o.elements.data() : &o;
    if (!out.list_sources && !out.list_destinations) out.list = static_cast<uint32_t>(program_.lists.size());
    for (size_t k = 0; k < count; ++k) {
        program_.lists.push_back(source(parts[k], k == 0 ? first_type : type));
        ++out.list_sources;
    }
}

void Decoder::decode_texture(DecodedInstruction& out) {
    TextureView view;
    TextureDetail& detail = view.detail;
    const std::string_view stem = stem_of(statement_->opcode);
    if (stem == "istypep") {
        expect_operands(2, 2);
        view.operation = TextureOperation::is_type;
        detail.which = static_cast<uint8_t>(1 + index_among({".texref", ".samplerref", ".surfref"}, modifiers_));
        out.type = out.destination_type = Type::pred;
        out.space = Space::global;
        out.destination[0] = destination(operand(0), Type::pred);
        out.source[0] = source(operand(1), Type::b64);
        return put(out, view);
    }
    if (stem == "txq" || stem == "suq") {
        const bool level = holds(modifiers_, ".level");
        expect_operands(level ? 3 : 2, level ? 3 : 2);
        view.operation = TextureOperation::query;
        detail.which = index_among(texture_queries, modifiers_);
        out.type = out.destination_type = Type::b32;
        out.destination[0] = destination(operand(0), Type::b32);
        if (!operand(1).elements.empty()) complain("expected a texture or surface alone, such as [%rd1]", operand(1));
        set_handle(out, operand(1));
        if (level) list_numbers(out, operand(2), 1, 1, Type::b32, Type::b32);
        return put(out, view);
    }
    const bool gathers = stem == "tld4";
    detail.geometry = static_cast<Geometry>(index_among(geometries, modifiers_));
    detail.integer = last_type_ == Type::s32;
    if (detail.integer && (gathers || detail.geometry == Geometry::cube || detail.geometry == Geometry::acube))
        complain(spelled() + " has no integer coordinates");
    if (gathers) detail.which = index_among({".r", ".g", ".b", ".a"}, modifiers_);
    detail.level = holds(modifiers_, ".base")    ? Level::base
                   : holds(modifiers_, ".level") ? Level::level
                   : holds(modifiers_, ".grad")  ? Level::grad
                                                 : Level::none;
    const size_t extra = detail.level == Level::level ? 1 : detail.level == Level::grad ? 2 : 0;
    expect_operands(2 + extra, 4 + extra);
    view.operation = gathers ? TextureOperation::gather : TextureOperation::fetch;
    out.vector = holds(modifiers_, ".v2") ? 2 : 4;
    out.type = first_type_;
    const Operand& address = operand(1);
    const Axes axes = axes_of(detail.geometry);
    set_handle(out, address);
    const size_t parts = address.elements.size();
    if (parts != 1 && parts != 2) complain("expected a texture and its coordinates, such as [%rd1, {%f1, %f2}]", address);
    if (!operand(0).second.empty()) {
        out.list = static_cast<uint32_t>(program_.lists.size());
        out.list_destinations = 1;
        program_.lists.push_back(destination_named(operand(0).second, operand(0), Type::pred));
    }
    if (parts == 2) out.source[4] = source(address.elements[0], Type::b64);
    const Type number = detail.integer ? Type::s32 : Type::f32;
    const bool layered = detail.geometry == Geometry::a1d || detail.geometry == Geometry::a2d ||
                         detail.geometry == Geometry::acube || detail.geometry == Geometry::d2ms ||
                         detail.geometry == Geometry::a2dms;
    list_numbers(out, address.elements[parts - 1], axes.coordinates, axes.written, number, layered ? Type::u32 : number);
    if (detail.level == Level::level) list_numbers(out, operand(2), 1, 1, number, number);
    if (detail.level == Level::grad)
        for (size_t k = 2; k < 4; ++k)
            list_numbers(out, operand(k), std::min<size_t>(axes.gradient, 3), axes.gradient, Type::f32, Type::f32);
    // Behind those: an offset, and a number that the texels are compared with.
    size_t at = 2 + extra;
    const auto is_depth = [&](const Operand& o) {
        if (o.kind == Operand::Kind::real) return true;
        if (o.kind != Operand::Kind::name) return false;
        const Slot* slot = frame_.register_named(o.name, statement_->scope);
        return slot && slot->type == Type::f32;
    };
    const bool cube = detail.geometry == Geometry::cube || detail.geometry == Geometry::acube;
    if (at < statement_->operands.size() && !is_depth(operand(at))) {
        const Operand& offset = operand(at++);
        if (cube) complain(spelled() + " takes no offset", offset);
        detail.offset = true;
        const bool flat = detail.geometry == Geometry::d1 || detail.geometry == Geometry::a1d;
        const bool deep = detail.geometry == Geometry::d3;
        list_numbers(out, offset, flat ? 1 : deep ? 3 : 2, flat ? 1 : deep ? 4 : 2, Type::s32, Type::s32);
    }
    if (at < statement_->operands.size()) {
        const Operand& depth = operand(at++);
        if (detail.geometry == Geometry::d3) complain(spelled() + " does not compare with a depth", depth);
        if (detail.integer) complain(spelled() + " compares with a depth at coordinates of .f32 alone", depth);
        detail.compares = true;
        list_numbers(out, depth, 1, 1, Type::f32, Type::f32);
    }
    if (at < statement_->operands.size()) complain(spelled() + " takes nothing behind this", operand(at - 1));
    take_values(out, operand(0), true, first_type_);
    put(out, view);
}

void Decoder::decode_surface(DecodedInstruction& out) {
    const std::string_view stem = stem_of(statement_->opcode);
    if (stem == "suq") return decode_texture(out);
    TextureView view;
    TextureDetail& detail = view.detail;
    const bool load = stem == "suld", reduce = stem == "sured";
    expect_operands(2, 2);
    view.operation = load ? TextureOperation::load : reduce ? TextureOperation::reduce : TextureOperation::store;
    detail.geometry = static_cast<Geometry>(index_among(geometries, modifiers_));
    detail.formatted = holds(modifiers_, ".p");
    detail.out_of_range = static_cast<OutOfRange>(index_among({".trap", ".clamp", ".zero"}, modifiers_));
    if (reduce) {
        constexpr AtomicOperation operations[] = {AtomicOperation::add, AtomicOperation::min, AtomicOperation::max,
                                                  AtomicOperation::and_, AtomicOperation::or_};
        detail.which = static_cast<uint8_t>(operations[index_among({".add", ".min", ".max", ".and", ".or"}, modifiers_)]);
    }
    out.vector = holds(modifiers_, ".v4") ? 4 : holds(modifiers_, ".v2") ? 2 : 1;
    out.type = last_type_;
    if (size_of(out.type) * out.vector > 16) complain(spelled() + " would move more than 16 bytes a lane");
    const Operand& address = operand(load ? 1 : 0);
    set_handle(out, address);
    if (address.elements.size() != 1)
        complain("expected a surface and its coordinates, such as [%rd1, {%r1, %r2}]", address);
    const Axes axes = axes_of(detail.geometry);
    list_numbers(out, address.elements[0], axes.coordinates, axes.written, Type::s32, Type::s32);
    const Operand& value = operand(load ? 0 : 1);
    const bool alone = value.kind == Operand::Kind::vector && value.elements.size() == 1;  // nvcc writes {%r1}
    take_values(out, alone ? value.elements[0] : value, load, last_type_);
    put(out, view);
}

}  // namespace lockstep::ptx
