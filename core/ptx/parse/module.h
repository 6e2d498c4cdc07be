// What a PTX text says, before anybody decides what it means: entries, their declarations, statements and labels as
// written. Views point into `text`, which copies of a Module share. printer.h makes text of it again. Modules compare equal
// where they say the same, in whatever lines and columns.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/opcodes/opcode.h"

namespace lockstep::ptx {

// A place in the text: for carets.
struct Place {
    int line = 0, column = 0;
    bool operator==(const Place&) const { return true; }
};

struct Operand {
    enum class Kind : uint8_t {
        name,     // register, label, symbol, special register; also `_`
        integer,  // value
        real,     // bits of a double; single: bits of a float (0f3F800000)
        vector,   // {a, b}
        address,  // [name + value]; name may be empty
        group,    // (a, b): of a call
    };
    Kind kind = Kind::name;
    bool negated = false;                // !p
    bool single = false;                 // real: written as 0f...
    std::string_view name = {};          // of an address: its base
    std::string_view second = {};        // p|q
    uint64_t value = 0;                  // integer, real: bits; address, name: + offset
    std::vector<Operand> elements = {};  // vector, group; address: a second operand after a comma
    Place place = {};
    bool operator==(const Operand&) const = default;
};

struct Statement {
    std::string_view guard = {};  // "%p1" of @%p1, @!%p1
    bool guard_negated = false;
    std::string_view opcode = {};  // "mad.lo.s32"
    std::vector<Operand> operands = {};
    int scope = 0;
    Place place = {};
    int location = -1;           // index into Entry::locations
    std::string_view text = {};  // without the semicolon
    bool keeps_rolled = false;   // .pragma "nounroll" in front of it: the loop that it begins stays as it is
    bool operator==(const Statement&) const = default;
};

struct RegisterDeclaration {
    std::string_view name = {};  // "%r" of "%r<6>"
    int64_t count = -1;          // 6; -1: a single register
    Type type = Type::none;
    int scope = 0;
    bool operator==(const RegisterDeclaration&) const = default;
};

struct Reference {  // an address among a variable's initial values
    std::string_view name = {};
    uint64_t at = 0;       // its byte among them
    uint32_t bytes = 8;    // that it takes there
    uint32_t shift = 0;    // bits of the address below those: of 0xFF00(name) 8
    uint64_t addend = 0;   // of name + 4
    bool generic = false;  // generic(name)
    Place place = {};
    bool operator==(const Reference&) const = default;
};

struct Variable {  // .global, .const, .shared, .local or .param
    std::string_view name = {};
    Space space = Space::none;
    Type type = Type::none;
    uint64_t bytes = 0;  // whole
    uint32_t align = 0;
    uint32_t lanes = 1;             // of .v2 and .v4
    std::string_view linkage = {};  // of a module's: ".visible", ".extern", ".weak"
    bool external = false;          // .extern: shared memory that the launch sizes
    bool array = false;
    bool pointer = false;          // .ptr
    Opaque opaque = Opaque::none;  // .texref and its like
    int scope = -1;                // of an entry's own variables
    std::vector<std::byte> initial = {};
    std::vector<Reference> references = {};
    std::string_view remark = {};  // a comment for people, of a generated module: parse leaves comments out
    Place place = {};
    bool operator==(const Variable&) const = default;
};

struct Label {
    std::string_view name = {};
    int scope = 0;
    uint32_t statement = 0;
    bool operator==(const Label&) const = default;
};

struct LineLocation {  // .loc
    int file = 0, line = 0, column = 0;
    int inlined_file = 0, inlined_line = 0, inlined_column = 0;  // 0: not inlined
    std::string_view remark = {};                                // see Variable
    bool operator==(const LineLocation&) const = default;
};

struct TargetList {  // .branchtargets, .calltargets
    std::string_view name = {};
    int scope = 0;
    std::vector<std::string_view> targets = {};
    bool of_calls = false;
    Place place = {};
    bool operator==(const TargetList&) const = default;
};

struct Prototype {  // .callprototype
    std::string_view name = {};
    int scope = 0;
    std::vector<Variable> results = {}, parameters = {};
    bool operator==(const Prototype&) const = default;
};

struct Entry {  // a kernel, or a function (.func)
    std::string_view name = {};
    Place place = {};
    std::string_view linkage = {};          // ".visible", ".extern", ".weak"
    bool function = false, defined = true;  // defined: it has a body
    std::vector<Variable> parameters, results;
    std::vector<int> scope_parent;  // scope 0 is the body; its parent is -1
    std::vector<RegisterDeclaration> registers;
    std::vector<Variable> variables;
    std::vector<Statement> statements;
    std::vector<Label> labels;
    std::vector<LineLocation> locations;
    std::vector<TargetList> lists;
    std::vector<Prototype> prototypes;
    uint32_t max_threads[3] = {0, 0, 0};  // .maxntid
    uint32_t required_threads[3] = {0, 0, 0};
    uint32_t max_registers = 0;                // .maxnreg
    uint32_t min_blocks = 1;                   // .minnctapersm
    uint32_t required_cluster[3] = {0, 0, 0};  // .reqnctapercluster
    uint32_t max_cluster_blocks = 0;           // .maxclusterrank
    bool explicit_cluster = false;
    bool keeps_rolled = false;  // .pragma "nounroll": all its loops
    bool operator==(const Entry&) const = default;
};

// Names that the text does not have letter by letter: those of a vector register's parts, of a sum that an operand needs.
struct CoinedNames {
    std::shared_ptr<std::deque<std::string>> names;
    bool operator==(const CoinedNames&) const { return true; }  // whoever uses them says what they are
};

struct Module {
    std::shared_ptr<const std::string> text;
    CoinedNames coined;
    std::string file;
    std::string version, target;
    int address_size = 64;
    std::vector<Entry> entries;
    std::vector<Variable> variables;
    std::vector<Entry> functions;                          // .func, one a name
    std::map<std::string_view, std::string_view> aliases;  // .alias: name, function
    std::vector<std::string> files;                        // of .file, index 0 unused
    bool operator==(const Module&) const = default;
};

}  // namespace lockstep::ptx
