// The part of the parser that calls need: functions, prototypes of calls through a register, lists of targets.
//
// A formal parameter or result is a Variable of Space::param, or of Space::none where it is a register (.reg).
#include <algorithm>

#include "core/ptx/parse/parser.h"

namespace lockstep::ptx {

namespace {
constexpr size_t most_parameters = 8192;
constexpr size_t most_targets = 20'000;  // of all lists of a body
}  // namespace

// formals := "(" [ formal { "," formal } ] ")"        formal := ".param" variable | ".reg" type name
std::vector<Variable> Parser::parse_formals() {
    std::vector<Variable> formals;
    expect('(', "before the parameters");
    if (take(')')) return formals;
    do {
        split_directive();
        if (formals.size() >= most_parameters) complain("a function takes at most 8192 parameters");
        if (take(".param")) {
            formals.push_back(parse_variable(Space::param, false, true));
        } else if (take(".reg")) {
            Variable formal{.type = type_named(token_.spelling), .place = token_.place};
            if (size_of(formal.type) == 0 && formal.type != Type::pred)
                complain("expected a type such as .b32 after .reg, found " + written());
            advance();
            formal.name = name("the name of a register");
            formal.bytes = size_of(formal.type);
            formals.push_back(std::move(formal));
        } else {
            complain("expected .param or .reg, found " + written());
        }
    } while (take(','));
    expect(')', "after the parameters");
    return formals;
}

// function  := ".func" attribute* [ formals ] name [ formals ] attribute* ( ";" | body )
// attribute := ".noreturn" | ".abi_preserve" n | ".attribute" "(" ... ")" | ".pragma" text ";" | others with numbers
void Parser::parse_function(std::string_view linkage) {
    Entry function;
    function.linkage = linkage;
    function.function = true;
    const auto attributes = [&] {
        while (starts_with_dot()) {
            const bool pragma = token_.is(".pragma");
            advance();
            if (pragma) {
                function.keeps_rolled |= pragma_keeps_rolled();
                continue;
            }
            if (token_.is('(')) skip_group('(', ')');
            while (token_.kind == Token::Kind::integer) {
                advance();
                take(',');
            }
        }
    };
    attributes();
    if (token_.is('(')) function.results = parse_formals();
    function.place = token_.place;
    function.name = name("the name of the function");
    if (token_.is('(')) function.parameters = parse_formals();
    attributes();
    const bool only_declared = take(';');
    if (!only_declared) parse_body(function);
    function.defined = !only_declared;
    // The first definition counts, else the first declaration; a name has one number whatever comes later.
    const auto [known, fresh] = functions_.try_emplace(function.name, module_.functions.size());
    if (fresh && module_.functions.size() >= most_functions)
        throw Complaint{"a module has at most 20000 functions", function.place};
    if (fresh)
        module_.functions.push_back(std::move(function));
    else if (function.defined && !module_.functions[known->second].defined)
        module_.functions[known->second] = std::move(function);
}

// alias := ".alias" name "," name ";"
void Parser::parse_alias() {
    const std::string_view alias = name("the name of a function");
    expect(',', "between the two names");
    const std::string_view function = name("the name of a function");
    expect(';', "after the alias");
    if (module_.aliases.size() >= most_functions) complain("a module has at most 20000 aliases");
    module_.aliases.try_emplace(alias, function);
}

// The label in front of a directive names it, and no place to go to.
std::string_view Parser::label_of_directive(Entry& entry) {
    if (entry.labels.empty() || entry.labels.back().statement != entry.statements.size())
        complain("expected a label in front of " + written());
    const std::string_view label = entry.labels.back().name;
    entry.labels.pop_back();
    return label;
}

// targets := label ":" ( ".branchtargets" | ".calltargets" ) name { "," name } ";"
void Parser::parse_targets(Entry& entry, int scope) {
    TargetList list{
        .name = label_of_directive(entry), .scope = scope, .of_calls = token_.is(".calltargets"), .place = token_.place};
    advance();
    size_t all = 0;
    for (const TargetList& other : entry.lists) all += other.targets.size() + 1;
    do {
        list.targets.push_back(name("the name of a target"));
        if (++all > most_targets) complain("a kernel's lists have at most 20000 targets");
    } while (take(','));
    expect(';', "after the targets");
    entry.lists.push_back(std::move(list));
}

// prototype := label ":" ".callprototype" [ formals ] "_" [ formals ] attribute* ";"
void Parser::parse_prototype(Entry& entry, int scope) {
    Prototype prototype{.name = label_of_directive(entry), .scope = scope};
    advance();
    if (token_.is('(')) prototype.results = parse_formals();
    name("'_' in the function's place");
    if (token_.is('(')) prototype.parameters = parse_formals();
    skip_to_semicolon();
    if (entry.prototypes.size() >= most_declarations) complain("a kernel has at most 100000 prototypes");
    entry.prototypes.push_back(std::move(prototype));
}

}  // namespace lockstep::ptx
