// What the names of a kernel or a function stand for: registers get slots of a warp's register file, variables get offsets
// in their space, numbers become constants. One Frame a function; all frames of a decode share one Common.
#pragma once
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/ptx/decode/program.h"
#include "core/ptx/parse/lexer.h"
#include "core/ptx/parse/module.h"
#include "core/ptx/parse/spelling.h"

namespace lockstep::ptx {

struct Slot {
    int32_t offset = no_operand;
    Type type = Type::none;
};

struct Located {  // a variable or parameter
    const Variable* variable = nullptr;
    uint64_t offset = 0;          // in its space; of global and const variables 0
    int32_t index = no_variable;  // into Program::variables or Program::parameters
};

struct Common {
    Common(const Module& module, const Rows& table);

    const Module& module;
    const Rows& table;
    std::unordered_map<std::string_view, size_t> functions;   // name, or alias -> number in the module
    std::unordered_map<std::string_view, Located> variables;  // of the module
    uint64_t shared = 0, device = 0;                          // bytes so far
    uint32_t dynamic_align = 1;
    std::vector<std::pair<size_t, const Variable*>> referring;  // variables whose initial values hold addresses
    std::vector<Located*> dynamic;                              // shared memory that the launch sizes: behind all other
    std::map<std::pair<uint64_t, size_t>, int32_t> constants;
    std::map<std::vector<uint32_t>, int32_t> lanes;
    std::unordered_map<std::string, std::vector<Candidate>> rows;  // by spelling

    // Module variables: all global and constant ones, and those in shared memory that `named` holds.
    void place_variables(Program& program, const std::unordered_set<std::string_view>& named);
    Located* place(Program& program, const Variable& v, Located& at);  // in global, constant or shared memory
    void finish(Program& program);                                     // when all frames are there: what the sizes are
    void resolve(Program& program, size_t index, const Reference& r);
};

class Frame {
  public:
    // Fills functions[function] of the program, and for function 0, the kernel, Program::parameters.
    Frame(const Entry& entry, Program& program, Common& common, size_t function);
    void finish();  // when all its statements are decoded

    // Null where the name stands for nothing of that kind.
    const Slot* register_named(std::string_view name, int scope);
    const Located* variable_named(std::string_view name, int scope) const;
    const uint32_t* label_named(std::string_view name, int scope) const;
    const TargetList* list_named(std::string_view name, int scope) const;
    const Prototype* prototype_named(std::string_view name, int scope) const;
    // Whether a variable lies in the local memory of the frame, as .local ones do and parameters of functions.
    bool in_frame(const Located& located) const {
        const Space space = located.variable->space;
        return space == Space::local || (space == Space::param && located.index == no_variable);
    }
    // The register that holds where the frame's local memory begins, of 4 or 8 bytes; no_operand: it begins at 0.
    int32_t local_base(size_t bytes);

    int32_t constant(uint64_t bits, size_t bytes);               // in 32 lanes; bytes 0: a mask
    int32_t constant_lanes(const std::vector<uint32_t>& lanes);  // u32 lanes, the rest 0
    Slot carry();                                                // the hidden carry flag, a predicate
    int32_t scratch(Type type);                                  // for results that nobody reads
    // What is said behind an unknown name: the range of the registers that begin like it, else the nearest name in sight,
    // or of `known`.
    std::string hint_for(std::string_view name, int scope, std::vector<std::string_view> known = {}) const;

  private:
    struct Key {
        std::string_view name;
        int64_t scope;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        size_t operator()(const Key& key) const {
            return std::hash<std::string_view>()(key.name) ^ static_cast<size_t>(key.scope) * 0x9e3779b97f4a7c15ull;
        }
    };
    Slot new_slot(Type type, const std::string& name);
    void lay_out_parameters();
    void lay_out_formals(const std::vector<Variable>& formals, std::vector<Passed>& passed);
    void lay_out_variables();
    void take_local(const Variable& v, int scope, uint64_t& end);

    const Entry& entry_;
    Program& program_;
    Common& common_;
    const size_t function_;
    uint64_t local_bytes_ = 0;
    uint32_t register_bytes_ = 0;
    std::unordered_map<Key, size_t, Hash> declarations_;  // -> Entry::registers
    std::unordered_map<Key, Slot, Hash> used_;            // name as written, scope of its declaration
    std::unordered_map<Key, Located, Hash> variables_;
    std::unordered_map<Key, uint32_t, Hash> labels_;
    std::unordered_map<Key, const TargetList*, Hash> lists_;
    std::unordered_map<Key, const Prototype*, Hash> prototypes_;
    std::map<Type, Slot> scratch_;
    Slot carry_;
};

}  // namespace lockstep::ptx
