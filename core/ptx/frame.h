// What a kernel's names stand for: registers get slots of a warp's register file, variables get offsets in their space,
// numbers become constants. One Frame for one decode.
#pragma once
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ptx/lexer.h"
#include "core/ptx/module.h"
#include "core/ptx/program.h"

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

class Frame {
  public:
    Frame(const Module& module, const Entry& entry, Program& program);

    // Null where the name stands for nothing of that kind.
    const Slot* register_named(std::string_view name, int scope);
    const Located* variable_named(std::string_view name, int scope) const;
    const uint32_t* label_named(std::string_view name, int scope) const;

    int32_t constant(uint64_t bits, size_t bytes);               // in 32 lanes; bytes 0: a mask
    int32_t constant_lanes(const std::vector<uint32_t>& lanes);  // u32 lanes, the rest 0
    Slot carry(Type type);                                       // the hidden carry register of that width
    int32_t scratch(Type type);                                  // for results that nobody reads
    std::vector<std::string_view> known_names() const;
    const std::vector<uint8_t>& slot_registers() const { return slot_registers_; }

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
    void lay_out_variables();

    const Entry& entry_;
    const Module& module_;
    Program& program_;
    std::unordered_map<Key, size_t, Hash> declarations_;  // -> Entry::registers
    std::unordered_map<Key, Slot, Hash> used_;            // name as written, scope of its declaration
    std::unordered_map<Key, Located, Hash> variables_;
    std::unordered_map<Key, uint32_t, Hash> labels_;
    std::map<std::pair<uint64_t, size_t>, int32_t> constants_;
    std::map<std::vector<uint32_t>, int32_t> lanes_;
    std::map<Type, Slot> hidden_, scratch_;
    std::vector<uint8_t> slot_registers_;
};

}  // namespace lockstep::ptx
