// The third part of the parser: statements and their operands.
#include <algorithm>
#include <charconv>

#include "core/ptx/parse/parser.h"
#include "core/ptx/parse/spelling.h"

namespace lockstep::ptx {

std::string_view Parser::coined(std::string name) {
    if (!module_.coined.names) module_.coined.names = std::make_shared<std::deque<std::string>>();
    return module_.coined.names->emplace_back(std::move(name));
}

// "v.x", as the register of that part is called, for v.x and v.r, its name as a colour; the name itself of whatever else.
std::string_view Parser::part_of_vector(std::string_view name) const {
    const size_t dot = name.rfind('.');
    if (vectors_.empty() || dot == std::string_view::npos || dot + 2 != name.size()) return name;
    const auto vector = vectors_.find(name.substr(0, dot));
    if (vector == vectors_.end()) return name;
    const size_t part = std::string_view("xyzwrgba").find(name[dot + 1]);
    return part == std::string_view::npos || part % 4 >= vector->second.size() ? name : vector->second[part % 4];
}

const RegisterDeclaration* Parser::register_named(std::string_view name) const {
    for (const RegisterDeclaration& declared : entry_->registers) {
        if (!name.starts_with(declared.name)) continue;
        const std::string_view rest = name.substr(declared.name.size());
        int64_t number = -1;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
        const bool counted = error == std::errc{} && end == rest.data() + rest.size() && number < declared.count;
        if (rest.empty() ? declared.count < 0 : counted) return &declared;
    }
    return nullptr;
}

const Variable* Parser::variable_named(std::string_view name) const {
    const std::vector<Variable>* const places[] = {&entry_->variables, &entry_->parameters, &module_.variables};
    for (const std::vector<Variable>* variables : places)
        for (const Variable& variable : *variables)
            if (variable.name == name) return &variable;
    return nullptr;
}

// index := "[" integer "]"    Of a variable: its elements, not bytes.
void Parser::parse_index(Operand& operand) {
    const Variable* variable = variable_named(operand.name);
    if (!variable) complain("only a variable's elements are counted in brackets, found " + written());
    advance();
    if (token_.kind != Token::Kind::integer)
        complain("only a number counts a variable's elements here: add up the address in a register, found " + written());
    operand.value = token_.value * size_of(variable->type) * variable->lanes;
    advance();
    expect(']', "after the number of the element");
    if (to_memory_) operand.kind = Operand::Kind::address;
}

// Operands that assemblers add up in an instruction of its own: "%r1 + 4", and the address that a store writes.
void Parser::take_sums(Entry& entry, Statement& statement) {
    for (Operand& operand : statement.operands) {
        if (operand.kind != Operand::Kind::name || operand.name == "_") continue;
        const RegisterDeclaration* declared = operand.value ? register_named(operand.name) : nullptr;
        const bool address = !declared && to_memory_ && stem_of(statement.opcode) == "st" && variable_named(operand.name);
        if (!declared && !address) continue;
        Statement sum = statement;
        Type type = Type::u64;
        if (declared) {
            const size_t bytes = size_of(declared->type);
            if (bytes < 2 || bytes > 8 || declared->type == Type::f32 || declared->type == Type::f64)
                throw Complaint{"a number is added to a register of whole numbers only", operand.place};
            type = bytes == 8 ? Type::u64 : bytes == 4 ? Type::u32 : Type::u16;
            sum.opcode = bytes == 8 ? "add.u64" : bytes == 4 ? "add.u32" : "add.u16";
        } else {
            const auto modifiers = modifiers_of(statement.opcode);
            const bool wide = !modifiers.empty() && size_of(type_named(modifiers.back())) == 8;
            type = wide ? Type::u64 : Type::u32;
            sum.opcode = wide ? "mov.u64" : "mov.u32";
        }
        const std::string_view name = coined("%lockstep_sum" + std::to_string(entry.registers.size()));
        entry.registers.push_back({.name = name, .type = type, .scope = statement.scope});
        Operand to{.kind = Operand::Kind::name, .place = operand.place}, from = operand;
        to.name = name;
        sum.operands = {to, from};
        if (declared) {
            sum.operands[1].value = 0;
            Operand number{.kind = Operand::Kind::integer, .place = operand.place};
            number.value = operand.value;
            sum.operands.push_back(number);
        }
        entry.statements.push_back(std::move(sum));
        operand.name = name;
        operand.value = 0;
    }
}

// statement := [ "@" [ "!" ] name ] opcode [ operand { "," operand } ] ";"
// label     := name ":"
void Parser::parse_statement(Entry& entry, int scope) {
    Statement statement{.scope = scope, .place = token_.place};
    const size_t begin = token_.offset;
    if (take('@')) {
        statement.guard_negated = take('!');
        statement.guard = name("a predicate register after '@'");
    }
    if (token_.kind != Token::Kind::word) complain("expected an instruction, found " + written());
    if (statement.guard.empty()) statement.place = token_.place;
    const Place opcode_place = token_.place;
    const size_t opcode_begin = token_.offset;
    statement.opcode = token_.spelling;
    advance();
    if (statement.opcode.ends_with(".const") && take('[')) {  // ld.const[4].u32: a bank, as PTX had them before 2.2
        small_integer("the number of a constant bank");
        expect(']', "after the number of the bank");
        if (!starts_with_dot()) complain("expected a type, found " + written());
        advance();
        statement.opcode = text_.substr(opcode_begin, end_of_last_ - opcode_begin);
    }
    if (statement.guard.empty() && take(':')) {
        entry.labels.push_back({statement.opcode, scope, static_cast<uint32_t>(entry.statements.size())});
        return;
    }
    statement.place = opcode_place;
    negated_names_ = statement.opcode.starts_with("vmad.");
    const std::string_view stem = stem_of(statement.opcode);
    to_memory_ = stem == "ld" || stem == "ldu" || stem == "st" || stem == "atom" || stem == "red" || stem == "prefetch";
    while (!token_.is(';')) {
        statement.operands.push_back(parse_operand(0));
        if (statement.operands.size() > 32) complain("too many operands");
        if (!token_.is(';') && !take(','))
            complain(token_.kind == Token::Kind::end || token_.place.line > statement.place.line
                         ? "expected ';' at the end of '" + std::string(statement.opcode.substr(0, 60)) + "', found " +
                               written()
                         : "expected ',' or ';', found " + written());
    }
    statement.text = text_.substr(begin, end_of_last_ - begin);
    statement.location = static_cast<int>(entry.locations.size()) - 1;
    advance();
    take_sums(entry, statement);
    entry.statements.push_back(std::move(statement));
}

// operand := [ "!" | "-" ] name [ "|" name ] [ offset | index ] | [ "-" | "~" ] integer | [ "-" ] real | address
//          | "{" operand { "," operand } "}" | "(" [ operand { "," operand } ] ")"
Operand Parser::parse_operand(int depth) {
    Operand operand;
    operand.place = token_.place;
    if (token_.is('[')) return parse_address();
    if (token_.is('{') || token_.is('(')) {
        if (depth > 1) complain("operands nest too deep");
        const char close = token_.is('{') ? '}' : ')';
        operand.kind = close == '}' ? Operand::Kind::vector : Operand::Kind::group;
        advance();
        while (!take(close)) {
            operand.elements.push_back(parse_operand(depth + 1));
            if (operand.elements.size() > 256) complain("too many operands");
            if (!token_.is(close)) expect(',', "between operands");
        }
        if (close == '}' && take('|')) operand.second = name("a predicate after '|'");
        return operand;
    }
    const bool inverted = take('~');
    const bool negative = !inverted && take('-');
    operand.negated = !inverted && !negative && take('!');
    if (token_.kind == Token::Kind::integer) {
        operand.kind = Operand::Kind::integer;
        operand.value = inverted ? ~token_.value : negative ? -token_.value : operand.negated ? !token_.value : token_.value;
        operand.negated = false;
        advance();
    } else if (token_.kind == Token::Kind::real && !inverted && !operand.negated) {
        operand.kind = Operand::Kind::real;
        operand.value = negative ? token_.value ^ 1ull << 63 : token_.value;
        operand.single = token_.single;
        advance();
    } else if (!inverted && (!negative || negated_names_)) {
        operand.negated |= negative;
        operand.name = name("an operand");
        if (const auto vector = vectors_.find(operand.name); vector != vectors_.end()) {  // all its parts
            operand.kind = Operand::Kind::vector;
            operand.name = {};
            for (const std::string_view part : vector->second) {
                operand.elements.push_back({.kind = Operand::Kind::name, .place = operand.place});
                operand.elements.back().name = part;
            }
            return operand;
        }
        operand.name = part_of_vector(operand.name);
        if (take('|')) operand.second = name("a second destination after '|'");
        if (token_.is('+') || token_.is('-')) operand.value = parse_offset();
        if (token_.is('[')) parse_index(operand);
    } else {
        complain("expected a number, found " + written());
    }
    return operand;
}

// address := "[" ( name [ offset ] | integer ) { "," operand } "]"
Operand Parser::parse_address() {
    Operand operand{.kind = Operand::Kind::address, .place = token_.place};
    advance();
    if (token_.kind == Token::Kind::integer) {
        operand.value = token_.value;
        advance();
    } else {
        operand.name = part_of_vector(name("an address"));
    }
    if (token_.is('+') || token_.is('-')) operand.value += parse_offset();
    while (take(',')) {
        operand.elements.push_back(parse_operand(1));
        if (operand.elements.size() > 8) complain("too many operands");
    }
    expect(']', "after the address");
    take(".unified");
    return operand;
}

// offset := "+" [ "-" ] integer { ( "+" | "-" ) [ "-" ] integer }
// As in ptxas, which has no "-" right behind a name.
uint64_t Parser::parse_offset() {
    if (token_.is('-')) complain("an offset is added, also a negative one: write '+-' instead of '-'");
    uint64_t sum = 0;
    while (token_.is('+') || token_.is('-')) {
        bool negative = token_.is('-');
        advance();
        if (take('-')) negative = !negative;
        if (token_.kind != Token::Kind::integer) complain("expected a number, found " + written());
        sum += negative ? -token_.value : token_.value;
        advance();
    }
    return sum;
}

}  // namespace lockstep::ptx
