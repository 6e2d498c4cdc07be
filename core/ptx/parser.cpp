// Tokens -> Module. Each function below parses the production written above it; `text`, `name` and numbers are tokens.
//
// module    := ( version | target | address_size | file | section | pragma | linkage* ( entry | function | variable ) )*
// linkage   := ".visible" | ".extern" | ".weak" | ".common"
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#include "core/ptx/lexer.h"
#include "core/ptx/ptx.h"

namespace lockstep::ptx {
namespace {

constexpr size_t most_text = size_t{64} << 20;
constexpr size_t most_statements = 200'000;
constexpr size_t most_declarations = 100'000;
constexpr size_t most_scopes = 20'000;
constexpr int deepest_scope = 64;
constexpr uint64_t largest_variable = uint64_t{1} << 30;

class Parser {
  public:
    Parser(std::string_view text, Module& module) : text_(text), lexer_(text), module_(module) { advance(); }
    void parse_module();

  private:
    void advance() {
        end_of_last_ = token_.offset + token_.spelling.size();
        token_ = lexer_.next();
    }
    [[noreturn]] void complain(std::string message) const { throw Complaint{std::move(message), token_.place}; }
    std::string written() const {
        if (token_.kind == Token::Kind::end) return "the end of the text";
        return "'" + std::string(token_.spelling.substr(0, 60)) + "'";
    }
    bool take(char mark) {
        if (!token_.is(mark)) return false;
        advance();
        return true;
    }
    bool take(std::string_view word) {
        if (!token_.is(word)) return false;
        advance();
        return true;
    }
    void expect(char mark, const char* after) {
        if (!take(mark)) complain("expected '" + std::string(1, mark) + "' " + after + ", found " + written());
    }
    bool starts_with_dot() const { return token_.kind == Token::Kind::word && token_.spelling[0] == '.'; }
    std::string_view name(const char* what) {
        if (token_.kind != Token::Kind::word || token_.spelling[0] == '.')
            complain(std::string("expected ") + what + ", found " + written());
        const std::string_view found = token_.spelling;
        advance();
        return found;
    }
    int small_integer(const char* what) {
        if (token_.kind != Token::Kind::integer || token_.value > 1'000'000'000)
            complain(std::string("expected ") + what + ", found " + written());
        const int value = static_cast<int>(token_.value);
        advance();
        return value;
    }
    void split_directive();
    void skip_to_semicolon();
    void skip_group(char open, char close);
    void parse_file();
    void parse_location(Entry& entry);
    void parse_function();
    void parse_entry();
    void parse_entry_attribute(Entry& entry);
    void parse_body(Entry& entry);
    void parse_registers(Entry& entry, int scope);
    Variable parse_variable(Space space, bool external, bool parameter);
    uint64_t parse_dimensions(Variable& variable, bool& open);
    void parse_initialiser(Variable& variable);
    void parse_statement(Entry& entry, int scope);
    Operand parse_operand(int depth);
    Operand parse_address();
    uint64_t parse_offset();

    std::string_view text_;
    Lexer lexer_;
    Module& module_;
    Token token_;
    size_t end_of_last_ = 0;
};

// ".reg.b32 x" is ".reg .b32 x": leaves the first directive as the current token and has the lexer read the rest again.
void Parser::split_directive() {
    for (std::string_view first :
         {".reg", ".shared", ".local", ".param", ".global", ".const", ".visible", ".extern", ".weak"}) {
        if (!starts_with_dot() || token_.spelling.size() <= first.size() || !token_.spelling.starts_with(first)) continue;
        if (token_.spelling[first.size()] != '.') continue;
        lexer_.back(token_.spelling.size() - first.size());
        token_.spelling = first;
        return;
    }
}

void Parser::skip_to_semicolon() {
    while (!token_.is(';') && token_.kind != Token::Kind::end) advance();
    take(';');
}

// Whatever is between two brackets, brackets nested; the first is the current token.
void Parser::skip_group(char open, char close) {
    const Token start = token_;
    int depth = 0;
    do {
        if (token_.kind == Token::Kind::end)
            throw Complaint{"this '" + std::string(1, open) + "' is never closed", start.place};
        if (token_.is(open)) ++depth;
        if (token_.is(close)) --depth;
        advance();
    } while (depth > 0);
}

void Parser::parse_module() {
    bool external = false;
    while (token_.kind != Token::Kind::end) {
        split_directive();
        if (take(".version")) {
            module_.version = token_.spelling;
            advance();
        } else if (take(".target")) {
            module_.target = token_.spelling;
            advance();
            while (take(',')) advance();
        } else if (take(".address_size")) {
            module_.address_size = small_integer("32 or 64");
        } else if (take(".file")) {
            parse_file();
        } else if (take(".section")) {
            advance();
            if (token_.is('{')) skip_group('{', '}');
        } else if (take(".pragma") || take(".alias")) {
            skip_to_semicolon();
        } else if (take(".visible") || take(".weak") || take(".common")) {
        } else if (take(".extern")) {
            external = true;
        } else if (take(".entry")) {
            parse_entry();
            external = false;
        } else if (take(".func")) {
            parse_function();
            external = false;
        } else if (token_.is(".global") || token_.is(".const") || token_.is(".shared")) {
            const Space space = token_.is(".global") ? Space::global : token_.is(".const") ? Space::constant : Space::shared;
            advance();
            if (token_.is(".texref") || token_.is(".samplerref") || token_.is(".surfref")) {
                skip_to_semicolon();
                continue;
            }
            do module_.variables.push_back(parse_variable(space, external, false));
            while (module_.variables.size() < most_declarations && take(','));
            expect(';', "after the variable");
            external = false;
        } else if (take(';')) {
        } else {
            const std::vector<std::string_view> known = {".version", ".target",  ".address_size", ".file",   ".section",
                                                         ".pragma",  ".visible", ".weak",         ".common", ".extern",
                                                         ".entry",   ".func",    ".global",       ".const",  ".shared"};
            complain("expected a directive such as .visible .entry, found " + written() +
                     did_you_mean(token_.spelling, known));
        }
    }
}

// file := ".file" integer text [ "," integer "," integer ]
void Parser::parse_file() {
    const int index = small_integer("the number of the file");
    if (token_.kind != Token::Kind::text) complain("expected the name of the file in quotes, found " + written());
    if (index > 65'535) complain("a file number is at most 65535");
    if (module_.files.size() <= static_cast<size_t>(index)) module_.files.resize(static_cast<size_t>(index) + 1);
    module_.files[static_cast<size_t>(index)] = token_.spelling;
    advance();
    while (take(',')) advance();
}

// location := ".loc" file line column [ "," "function_name" label [ "+" integer ] "," "inlined_at" file line column ]
void Parser::parse_location(Entry& entry) {
    LineLocation at;
    at.file = small_integer("a file number after .loc");
    at.line = small_integer("a line number");
    at.column = small_integer("a column number");
    while (take(',')) {
        if (take("function_name")) {
            name("a label");
            if (take('+')) advance();
        } else if (take("inlined_at")) {
            at.inlined_file = small_integer("a file number after inlined_at");
            at.inlined_line = small_integer("a line number");
            at.inlined_column = small_integer("a column number");
        } else {
            complain("expected function_name or inlined_at, found " + written());
        }
    }
    entry.locations.push_back(at);
}

// function := ".func" attribute* [ "(" ... ")" ] name [ "(" ... ")" ] attribute* ( ";" | "{" ... "}" )
void Parser::parse_function() {
    while (starts_with_dot()) advance();
    if (token_.is('(')) skip_group('(', ')');
    module_.functions.push_back(name("the name of the function"));
    if (token_.is('(')) skip_group('(', ')');
    while (!token_.is('{') && !token_.is(';')) {
        if (token_.kind == Token::Kind::end) complain("expected '{' or ';' after the function, found " + written());
        advance();
    }
    if (token_.is('{'))
        skip_group('{', '}');
    else
        advance();
}

// entry := ".entry" name [ "(" [ parameter { "," parameter } ] ")" ] attribute* ( body | ";" )
void Parser::parse_entry() {
    Entry entry;
    entry.place = token_.place;
    entry.name = name("the name of the kernel");
    if (take('(') && !take(')')) {
        do {
            if (!take(".param")) complain("expected .param, found " + written());
            if (entry.parameters.size() >= 8192) complain("a kernel takes at most 8192 parameters");
            entry.parameters.push_back(parse_variable(Space::param, false, true));
        } while (take(','));
        expect(')', "after the parameters");
    }
    while (starts_with_dot()) parse_entry_attribute(entry);
    if (take(';')) return;
    parse_body(entry);
    module_.entries.push_back(std::move(entry));
}

// attribute := ".maxntid" n [, n [, n]] | ".reqntid" n ... | ".maxnreg" n | ".minnctapersm" n | ".pragma" text ";" |
// ".noreturn" | ".reqnctapercluster" n [, n [, n]] | ".maxclusterrank" n | ".explicitcluster"
void Parser::parse_entry_attribute(Entry& entry) {
    const std::string_view word = token_.spelling;
    const Place place = token_.place;
    advance();
    uint64_t numbers[3] = {1, 1, 1};
    for (int i = 0; i < 3 && token_.kind == Token::Kind::integer; ++i) {
        numbers[i] = std::min<uint64_t>(token_.value, 1 << 20);
        advance();
        if (!take(',')) break;
    }
    const uint64_t product = std::min<uint64_t>(numbers[0] * numbers[1] * numbers[2], 1u << 31);
    if (word == ".maxntid") {
        entry.max_threads = static_cast<uint32_t>(product);
    } else if (word == ".reqntid") {
        for (int i = 0; i < 3; ++i) entry.required_threads[i] = static_cast<uint32_t>(numbers[i]);
    } else if (word == ".maxnreg") {
        entry.max_registers = static_cast<uint32_t>(numbers[0]);
    } else if (word == ".pragma") {
        skip_to_semicolon();
    } else if (word == ".reqnctapercluster") {
        for (int i = 0; i < 3; ++i) entry.required_cluster[i] = static_cast<uint32_t>(numbers[i]);
    } else if (word == ".maxclusterrank") {
        entry.max_cluster_blocks = static_cast<uint32_t>(numbers[0]);
    } else if (word == ".explicitcluster") {
        entry.explicit_cluster = true;
    } else if (word == ".blocksareclusters") {
        throw Complaint{"kernels whose blocks are clusters (.blocksareclusters) are not supported", place};
    } else if (word != ".minnctapersm" && word != ".maxnctapersm" && word != ".noreturn") {
        throw Complaint{"unknown attribute '" + std::string(word) + "' of a kernel", place};
    }
}

// body := "{" ( "{" | "}" | label | registers | variable ";" | location | pragma | statement )* "}"
// A scope is a pair of braces: what it declares ends with it.
void Parser::parse_body(Entry& entry) {
    const Token open = token_;
    expect('{', "before the instructions");
    entry.scope_parent.push_back(-1);
    int scope = 0, depth = 0;
    while (true) {
        if (token_.kind == Token::Kind::end) throw Complaint{"this '{' is never closed", open.place};
        if (entry.statements.size() > most_statements) complain("a kernel has at most 200000 instructions");
        if (entry.registers.size() + entry.variables.size() + entry.labels.size() + entry.locations.size() >
            5 * most_declarations)
            complain("this kernel declares too much");
        split_directive();
        if (take('{')) {
            if (++depth > deepest_scope) complain("scopes nest at most 64 deep");
            if (entry.scope_parent.size() > most_scopes) complain("a kernel has at most 20000 scopes");
            entry.scope_parent.push_back(scope);
            scope = static_cast<int>(entry.scope_parent.size()) - 1;
        } else if (take('}')) {
            scope = entry.scope_parent[static_cast<size_t>(scope)];
            --depth;
            if (scope < 0) return;
        } else if (take(';')) {
        } else if (take(".reg")) {
            parse_registers(entry, scope);
        } else if (take(".loc")) {
            parse_location(entry);
        } else if (token_.is(".local") || token_.is(".shared") || token_.is(".param") || token_.is(".global") ||
                   token_.is(".const")) {
            const Space space = token_.is(".local")    ? Space::local
                                : token_.is(".shared") ? Space::shared
                                : token_.is(".param")  ? Space::param
                                : token_.is(".global") ? Space::global
                                                       : Space::constant;
            advance();
            do {
                Variable variable = parse_variable(space, false, false);
                variable.scope = scope;
                entry.variables.push_back(std::move(variable));
            } while (entry.variables.size() < most_declarations && take(','));
            expect(';', "after the variable");
        } else if (take(".pragma") || take(".branchtargets") || take(".calltargets") || take(".callprototype")) {
            skip_to_semicolon();
        } else if (starts_with_dot()) {
            complain("unknown directive " + written() +
                     did_you_mean(token_.spelling, {".reg", ".loc", ".local", ".shared", ".param", ".pragma"}));
        } else {
            parse_statement(entry, scope);
        }
    }
}

// registers := ".reg" [ ".v2" | ".v4" ] type name [ "<" integer ">" ] { "," name [ "<" integer ">" ] } ";"
void Parser::parse_registers(Entry& entry, int scope) {
    if (token_.is(".v2") || token_.is(".v4")) complain("vector registers are not supported");
    const Type type = type_named(token_.spelling);
    if (type == Type::none) complain("expected a type such as .b32 after .reg, found " + written());
    advance();
    do {
        RegisterDeclaration declared{.type = type, .scope = scope};
        declared.name = name("the name of a register");
        if (take('<')) {
            declared.count = small_integer("a number of registers");
            expect('>', "after the number of registers");
        }
        if (entry.registers.size() >= most_declarations) complain("a kernel has at most 100000 register declarations");
        entry.registers.push_back(declared);
    } while (take(','));
    expect(';', "after the registers");
}

// variable := [ ".align" n ] [ ".attribute" "(" ... ")" ] [ ".v2" | ".v4" ] type [ ".ptr" [ space ] [ ".align" n ] ]
//             name dimension* [ "=" initialiser ]
Variable Parser::parse_variable(Space space, bool external, bool parameter) {
    Variable variable{.space = space, .external = external};
    uint32_t lanes = 1;
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
        } else if (word == ".v2" || word == ".v4") {
            lanes = word == ".v2" ? 2 : 4;
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
    if (variable.type == Type::none || variable.type == Type::pred)
        complain("expected a type such as .f32, found " + written());
    variable.place = token_.place;
    variable.name = name(parameter ? "the name of the parameter" : "the name of the variable");
    const uint32_t element = static_cast<uint32_t>(size_of(variable.type)) * lanes;
    if (!variable.align) variable.align = element;
    bool open = false;
    variable.bytes = element * parse_dimensions(variable, open);
    if (variable.bytes > largest_variable) throw Complaint{"a variable has at most 1 GiB", variable.place};
    if (!parameter && token_.is('=')) parse_initialiser(variable);
    if (open && variable.initial.empty() && !(external && space == Space::shared))
        throw Complaint{"an array without a size must be .extern .shared or have an initialiser", variable.place};
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
        const uint64_t extent = static_cast<uint64_t>(small_integer("the size of the array"));
        count *= extent;
        if (count > largest_variable) complain("a variable has at most 1 GiB");
        expect(']', "after the size of the array");
    }
    return count;
}

// initialiser := "=" ( value | "{" [ initialiser-list ] "}" );  values fill the variable in order, nested braces or not
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
        } else {
            complain("only numbers can initialise a variable, found " + written());
        }
        advance();
        if (token_.is('(')) throw Complaint{"only numbers can initialise a variable", place};
        const size_t at = variable.initial.size();
        if (variable.bytes && at + element > variable.bytes)
            throw Complaint{"this variable has more values than room", place};
        if (at > (size_t{256} << 20)) throw Complaint{"this variable has more values than room", place};
        variable.initial.resize(at + element);
        std::memcpy(variable.initial.data() + at, &bits, element);
        while (depth > 0 && take('}')) --depth;
    } while (depth > 0 && take(','));
    while (depth > 0) {
        expect('}', "after the values");
        --depth;
    }
    if (!variable.bytes) variable.bytes = variable.initial.size();
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

// operand := [ "!" ] name [ "|" name ] [ offset ] | [ "-" | "~" ] integer | [ "-" ] real | address
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
    } else if (!inverted && !negative) {
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

}  // namespace

Result<Module> parse(std::string_view text, const std::string& file) {
    Module module;
    if (text.size() > most_text) return Diagnostic{"this PTX text is larger than 64 MiB", {file}};
    module.text = std::make_shared<const std::string>(text);
    module.file = file;
    try {
        Parser(*module.text, module).parse_module();
    } catch (const Complaint& complaint) {
        return diagnostic_of(complaint, *module.text, file);
    }
    return module;
}

std::vector<std::string> entries(const Module& module) {
    std::vector<std::string> names;
    for (const Entry& entry : module.entries) names.emplace_back(entry.name);
    return names;
}

}  // namespace lockstep::ptx
