// The second part of the parser: variables with their sizes and initial values.
#include <algorithm>
#include <bit>
#include <cstring>

#include "core/ptx/parse/parser.h"

namespace lockstep::ptx {

// variable := [ ".align" n ] [ ".attribute" "(" ... ")" ] [ ".v2" | ".v4" ] type [ ".ptr" [ space ] [ ".align" n ] ]
//             name dimension* [ "=" initialiser ]
Variable Parser::parse_variable(Space space, bool external, bool parameter) {
    Variable variable{.space = space, .external = external};
    while (starts_with_dot()) {
        const std::string_view word = token_.spelling;
        if (const Type type = type_named(word); type != Type::none) {
            variable.type = type;
            advance();
        } else if (word == ".align") {
            advance();
            const int align = small_integer("an alignment");
            if (align < 1 || align > 65'536 || (align & (align - 1))) complain("an alignment is a power of two up to 65536");
            if (!variable.pointer) variable.align = static_cast<uint32_t>(align);
        } else if (word == ".texref" || word == ".samplerref" || word == ".surfref") {  // holds a handle, at first none
            variable.type = Type::b64;
            variable.opaque = word == ".texref" ? Opaque::texref : word == ".surfref" ? Opaque::surfref : Opaque::samplerref;
            advance();
        } else if (word == ".v2" || word == ".v4") {
            variable.lanes = word == ".v2" ? 2 : 4;
            advance();
        } else if (word == ".ptr") {
            variable.pointer = true;
            advance();
        } else if (variable.pointer && (word == ".global" || word == ".shared" || word == ".const" || word == ".local")) {
            advance();
        } else if (word == ".attribute") {
            advance();
            if (token_.is('(')) skip_group('(', ')');
        } else {
            complain("unknown attribute " + written() + " of a variable");
        }
    }
    if (size_of(variable.type) == 0)  // also of .pred, .b1 and .u4, which no memory holds
        complain("expected a type such as .f32, found " + written());
    variable.place = token_.place;
    variable.name = name(parameter ? "the name of the parameter" : "the name of the variable");
    const uint32_t element = static_cast<uint32_t>(size_of(variable.type)) * variable.lanes;
    if (!variable.align) variable.align = element;
    bool open = false;
    variable.bytes = element * parse_dimensions(variable, open);
    if (variable.bytes > largest_variable) throw Complaint{"a variable has at most 1 GiB", variable.place};
    if (!parameter && token_.is('=')) parse_initialiser(variable);
    if (open && variable.initial.empty() && !parameter && !external)
        throw Complaint{"an array without a size must be .extern or have an initialiser", variable.place};
    return variable;
}

// dimension := "[" [ integer ] "]"
uint64_t Parser::parse_dimensions(Variable& variable, bool& open) {
    uint64_t count = 1;
    while (take('[')) {
        variable.array = true;
        if (take(']')) {
            open = true;
            count = 0;
            continue;
        }
        if (token_.kind != Token::Kind::integer) complain("expected the size of the array, found " + written());
        if (token_.value > largest_variable || count * token_.value > largest_variable)
            complain("a variable has at most 1 GiB");
        count *= token_.value;
        advance();
        expect(']', "after the size of the array");
    }
    return count;
}

// initialiser := "=" ( value | "{" [ initialiser-list ] "}" );  values fill the variable in order, nested braces or not
// value := number | reference
void Parser::parse_initialiser(Variable& variable) {
    advance();
    const size_t element = size_of(variable.type);
    int depth = 0;
    do {
        while (take('{')) ++depth;
        if (token_.is('}')) continue;
        const bool negative = take('-');
        const Place place = token_.place;
        uint64_t bits = token_.value;
        if (token_.kind == Token::Kind::real) {
            double value = std::bit_cast<double>(bits);
            if (negative) value = -value;
            if (variable.type == Type::f64)
                bits = std::bit_cast<uint64_t>(value);
            else
                bits = std::bit_cast<uint32_t>(static_cast<float>(value));
        } else if (token_.kind == Token::Kind::integer) {
            if (variable.type == Type::f64)
                bits = std::bit_cast<uint64_t>(static_cast<double>(bits));
            else if (variable.type == Type::f32)
                bits = std::bit_cast<uint32_t>(static_cast<float>(bits));
            if (negative)
                bits = variable.type == Type::f64 ? bits ^ 1ull << 63 : variable.type == Type::f32 ? bits ^ 1u << 31 : -bits;
        } else if (token_.kind == Token::Kind::word && !negative) {
            bits = 0;
        } else {
            complain("only numbers and addresses can initialise a variable, found " + written());
        }
        const size_t at = variable.initial.size();
        if (variable.bytes && at + element > variable.bytes)
            throw Complaint{"this variable has more values than room", place};
        if (at > (size_t{256} << 20)) throw Complaint{"this variable has more values than room", place};
        variable.initial.resize(at + element);
        const bool is_address = token_.kind == Token::Kind::word;
        if (!is_address) advance();
        if (is_address || token_.is('('))
            parse_reference(variable, is_address ? UINT64_MAX : bits);
        else
            std::memcpy(variable.initial.data() + at, &bits, std::min(element, sizeof bits));
        while (depth > 0 && take('}')) --depth;
    } while (depth > 0 && take(','));
    while (depth > 0) {
        expect('}', "after the values");
        --depth;
    }
    if (!variable.bytes) variable.bytes = variable.initial.size();
}

// reference := address | mask "(" address ")"        address := ( name | "generic" "(" name ")" ) [ offset ]
// The mask has been read: 0xFF00 takes the second byte of the address. All ones: there is none.
void Parser::parse_reference(Variable& variable, uint64_t mask) {
    const size_t element = size_of(variable.type);
    Reference reference{
        .at = variable.initial.size() - element, .bytes = static_cast<uint32_t>(element), .place = token_.place};
    const bool masked = take('(');
    if (masked) {
        reference.shift = mask ? static_cast<uint32_t>(std::countr_zero(mask)) : 0;
        const uint64_t field = mask >> reference.shift;
        const auto bits = static_cast<uint32_t>(std::popcount(field));
        if (!field || reference.shift % 8 || bits % 8 || field != (UINT64_MAX >> (64 - bits)) || bits > 8 * element)
            complain(
                "a mask in front of an address takes whole bytes of it, such as 0xFF00, no more than there is room for");
        reference.bytes = bits / 8;
    } else if (element != 8) {
        complain("an address needs a variable of 64 bits");
    }
    reference.generic = take("generic");
    if (reference.generic) expect('(', "after generic");
    reference.name = name("the name of a variable or a function");
    if (reference.generic) expect(')', "after the name");
    if (token_.is('+') || token_.is('-')) reference.addend = parse_offset();
    if (masked) expect(')', "after the address");
    variable.references.push_back(reference);
}

}  // namespace lockstep::ptx
