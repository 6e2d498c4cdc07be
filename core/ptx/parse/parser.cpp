// Tokens -> Module. Each function below parses the production written above it; `text`, `name` and numbers are tokens.
//
// module    := ( version | target | address_size | file | section | pragma | linkage* ( entry | function | variable ) )*
// linkage   := ".visible" | ".extern" | ".weak" | ".common"
#include "core/ptx/parse/parser.h"

#include <algorithm>
#include <utility>

#include "core/ptx/parse/names.h"
#include "core/ptx/ptx.h"

namespace lockstep::ptx {

constexpr size_t most_text = size_t{64} << 20;

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

// pragma := ".pragma" text { "," text } ";"    Whether loops are to stay as they are written.
bool Parser::pragma_keeps_rolled() {
    bool rolled = false;
    for (; !token_.is(';') && token_.kind != Token::Kind::end; advance())
        rolled |= token_.kind == Token::Kind::text && token_.spelling == "nounroll";
    take(';');
    return rolled;
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
    bool keeps_rolled = false;
    std::string_view linkage;  // of what comes next
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
        } else if (take(".pragma")) {
            keeps_rolled |= pragma_keeps_rolled();
        } else if (take(".alias")) {
            parse_alias();
        } else if (token_.is(".visible") || token_.is(".weak") || token_.is(".common") || token_.is(".extern")) {
            linkage = token_.spelling;
            advance();
        } else if (take(".entry")) {
            parse_entry(std::exchange(linkage, {}));
        } else if (take(".func")) {
            parse_function(std::exchange(linkage, {}));
        } else if (token_.is(".global") || token_.is(".const") || token_.is(".shared")) {
            const Space space = token_.is(".global") ? Space::global : token_.is(".const") ? Space::constant : Space::shared;
            advance();
            do {
                module_.variables.push_back(parse_variable(space, linkage == ".extern", false));
                module_.variables.back().linkage = linkage;
            } while (module_.variables.size() < most_declarations && take(','));
            expect(';', "after the variable");
            linkage = {};
        } else if (take(';')) {
        } else {
            const std::vector<std::string_view> known = {".version", ".target",  ".address_size", ".file",   ".section",
                                                         ".pragma",  ".visible", ".weak",         ".common", ".extern",
                                                         ".entry",   ".func",    ".global",       ".const",  ".shared"};
            complain("expected a directive such as .visible .entry, found " + written() +
                     did_you_mean(token_.spelling, known));
        }
    }
    if (!keeps_rolled) return;  // wherever in the module that stands
    for (Entry& entry : module_.entries) entry.keeps_rolled = true;
    for (Entry& function : module_.functions) function.keeps_rolled = true;
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

// entry := ".entry" name [ "(" [ parameter { "," parameter } ] ")" ] attribute* ( body | ";" )
void Parser::parse_entry(std::string_view linkage) {
    Entry entry;
    entry.linkage = linkage;
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
    if (word == ".maxntid" || word == ".reqntid") {
        for (int i = 0; i < 3; ++i)
            (word == ".maxntid" ? entry.max_threads : entry.required_threads)[i] = static_cast<uint32_t>(numbers[i]);
    } else if (word == ".maxnreg") {
        entry.max_registers = static_cast<uint32_t>(numbers[0]);
    } else if (word == ".minnctapersm") {
        entry.min_blocks = static_cast<uint32_t>(numbers[0]);
    } else if (word == ".pragma") {
        entry.keeps_rolled |= pragma_keeps_rolled();
    } else if (word == ".reqnctapercluster") {
        for (int i = 0; i < 3; ++i) entry.required_cluster[i] = static_cast<uint32_t>(numbers[i]);
    } else if (word == ".maxclusterrank") {
        entry.max_cluster_blocks = static_cast<uint32_t>(numbers[0]);
    } else if (word == ".explicitcluster") {
        entry.explicit_cluster = true;
    } else if (word == ".blocksareclusters") {
        throw Complaint{"kernels whose blocks are clusters (.blocksareclusters) are not supported", place};
    } else if (word != ".maxnctapersm" && word != ".noreturn") {
        throw Complaint{"unknown attribute '" + std::string(word) + "' of a kernel", place};
    }
}

// body := "{" ( "{" | "}" | label | registers | variable ";" | location | pragma | statement )* "}"
// A scope is a pair of braces: what it declares ends with it.
void Parser::parse_body(Entry& entry) {
    const Token open = token_;
    expect('{', "before the instructions");
    entry.scope_parent.push_back(-1);
    entry_ = &entry;
    vectors_.clear();
    int scope = 0, depth = 0;
    bool keeps_rolled = false;  // the loop that the next instruction begins
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
        } else if (take(".pragma")) {
            keeps_rolled |= pragma_keeps_rolled();
        } else if (token_.is(".branchtargets") || token_.is(".calltargets")) {
            parse_targets(entry, scope);
        } else if (token_.is(".callprototype")) {
            parse_prototype(entry, scope);
        } else if (starts_with_dot()) {
            complain("unknown directive " + written() +
                     did_you_mean(token_.spelling, {".reg", ".loc", ".local", ".shared", ".param", ".pragma"}));
        } else {
            const size_t before = entry.statements.size();
            parse_statement(entry, scope);
            if (entry.statements.size() != before) entry.statements.back().keeps_rolled = std::exchange(keeps_rolled, false);
        }
    }
}

// registers := ".reg" [ ".v2" | ".v4" ] type name [ "<" integer ">" ] { "," name [ "<" integer ">" ] } ";"
void Parser::parse_registers(Entry& entry, int scope) {
    const size_t lanes = take(".v2") ? 2 : take(".v4") ? 4 : 1;
    const Type type = type_named(token_.spelling);
    if (size_of(type) == 0 && type != Type::pred) complain("expected a type such as .b32 after .reg, found " + written());
    advance();
    do {
        RegisterDeclaration declared{.type = type, .scope = scope};
        declared.name = name("the name of a register");
        if (take('<')) {
            declared.count = small_integer("a number of registers");
            expect('>', "after the number of registers");
        }
        if (entry.registers.size() + lanes > most_declarations)
            complain("a kernel has at most 100000 register declarations");
        if (lanes == 1) {
            entry.registers.push_back(declared);
            continue;
        }
        if (declared.count >= 0) complain("vector registers are declared one by one");
        std::vector<std::string_view>& parts = vectors_[declared.name];
        parts.clear();
        for (size_t k = 0; k < lanes; ++k) {
            parts.push_back(coined(std::string(declared.name) + "." + "xyzw"[k]));
            entry.registers.push_back({.name = parts.back(), .type = type, .scope = scope});
        }
    } while (take(','));
    expect(';', "after the registers");
}

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
    for (const Entry& entry : module.entries)
        if (!of_cuda_header(entry.name)) names.emplace_back(entry.name);
    if (names.empty())
        for (const Entry& entry : module.entries) names.emplace_back(entry.name);
    return names;
}

}  // namespace lockstep::ptx
