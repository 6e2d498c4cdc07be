// The third part of the parser: statements and their operands.
#include "core/ptx/parse/parser.h"

namespace lockstep::ptx {

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
    entry.statements.push_back(std::move(statement));
}

// operand := [ "!" | "-" ] name [ "|" name ] [ offset ] | [ "-" | "~" ] integer | [ "-" ] real | address
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
        if (take('|')) operand.second = name("a second destination after '|'");
        if (token_.is('+') || token_.is('-')) operand.value = parse_offset();
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
        operand.name = name("an address");
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

// offset := ( "+" | "-" ) [ "-" ] integer
uint64_t Parser::parse_offset() {
    bool negative = token_.is('-');
    advance();
    if (take('-')) negative = !negative;
    if (token_.kind != Token::Kind::integer) complain("expected a number, found " + written());
    const uint64_t value = negative ? -token_.value : token_.value;
    advance();
    return value;
}

}  // namespace lockstep::ptx
