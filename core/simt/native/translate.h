// A region as a function in LLVM's language; see native.h for what it has to keep to. Internal to core/simt/native.
#pragma once
#include <map>

#include "core/simt/native/region.h"
#include "core/simt/native/values.h"

namespace lockstep::simt {

// How a register comes to a block: as a ramp with a known distance from lane to lane, or as 32 lanes.
struct Shape16 {
    bool ramp = false;
    int64_t step = 0;
    bool operator==(const Shape16&) const = default;
};

class Translator {
  public:
    Translator(const Native& native, const Plan& plan, const Region& region, const NativeCall& call, bool whole,
               std::map<int32_t, int64_t> ramps)
        : native_(native), plan_(plan), region_(region), call_(call), whole_(whole), ramps_(std::move(ramps)), values_(w_) {}

    std::string module();  // the text
  private:
    // translate.cpp: the function, its blocks, and the ways out
    void write_entry();
    void write_expectations();
    void write_block(size_t number);
    void write_branch(uint32_t pc);
    void write_end(uint32_t pc, bool conditional);
    std::string way_to(uint32_t pc, uint32_t executed);
    std::string way_out(uint32_t pc, uint32_t executed);
    void hand_over(uint32_t next);
    bool is_tracked(int32_t reg, uint32_t pc) const;
    void count_idle(const std::string& lanes);
    // translate_steps.cpp: single instructions
    void write_step(uint32_t pc);
    bool write_operation(uint32_t pc, const Operation& operation);
    bool write_linear(uint32_t pc, const Operation& operation, std::vector<Value>& operands);
    void write_by_function(uint32_t pc, const char* which);
    std::optional<std::vector<Value>> operands_of(uint32_t pc, const Operation& operation);
    // translate_memory.cpp
    bool write_load(uint32_t pc);
    bool write_gather(uint32_t pc);
    bool write_store(uint32_t pc);
    struct Place {
        std::string pointer[2];  // i8*, of each half's first lane
    };
    std::optional<Place> place_of(uint32_t pc, uint64_t align, bool is_store, int64_t& step);
    std::string window_field(uint32_t pc, uint32_t at);
    bool check_shared(uint32_t pc, const Value& base);

    uint32_t bits_of(int32_t reg) const;  // of a lane; 1: a predicate
    Value& get(int32_t reg);
    Value source(int32_t operand, uint32_t bits);
    void set(int32_t reg, Value value);
    void write_back(int32_t reg);  // to the registers of the warp
    void read_again(int32_t reg);
    std::string address_of(int32_t reg, uint32_t bits, int h);
    std::string executing(uint32_t pc);  // the mask of an instruction's lanes

    const Native& native_;
    const Plan& plan_;
    const Region& region_;
    const NativeCall& call_;
    const bool whole_;
    const std::map<int32_t, int64_t> ramps_;  // as they were found
    Writer w_;
    Values values_;
    std::string head_, main_, cold_;
    std::vector<std::map<int32_t, Shape16>> shapes_;  // by block: of the registers that come to it
    std::vector<bool> reached_;
    std::vector<bool> meets_;  // by pc: paths may meet there
    bool changed_ = false;
    // Of the block that is written:
    size_t block_ = 0;
    std::map<int32_t, Value> now_;
    std::set<int32_t> written_;
    std::map<std::string, std::pair<int64_t, int64_t>>
        checked_;  // by first lanes of shared addresses: bytes that are inside
};

}  // namespace lockstep::simt
