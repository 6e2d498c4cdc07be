// The decoder of one entry: what its steps share. decoder_operands.cpp turns operands into places, decoder_lanes.cpp decodes
// lane-wise instructions and moves, decoder_memory.cpp memory, decoder_control.cpp the rest; decode.cpp drives them.
#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/ptx/analyse/call_graph.h"
#include "core/ptx/decode/frame.h"
#include "core/ptx/decode/views_async.h"
#include "core/ptx/parse/spelling.h"

namespace lockstep::ptx {

inline bool is_float(Type t) {
    return t == Type::f16 || t == Type::f16x2 || t == Type::bf16 || t == Type::bf16x2 || t == Type::f32 || t == Type::f64;
}
inline bool is_bits(Type t) {
    return t == Type::b8 || t == Type::b16 || t == Type::b32 || t == Type::b64 || t == Type::b128;
}
inline bool is_signed(Type t) {
    return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64;
}
inline Type bits_of(size_t bytes) {
    return bytes == 16 ? Type::b128 : bytes == 8 ? Type::b64 : bytes == 4 ? Type::b32 : Type::b16;
}
inline size_t register_size(Type t) {
    return t == Type::pred ? 0 : std::max<size_t>(size_of(t), 2);
}
// Whether a register may be used where an instruction wants a type (table "Operand Type Checking Rules" of the ISA).
inline bool fits(Type wanted, Type have) {
    if (wanted == Type::pred || have == Type::pred) return wanted == have;
    if (register_size(wanted) != register_size(have)) return false;
    return is_bits(wanted) || is_bits(have) || is_float(wanted) == is_float(have) || register_size(have) == 2;
}
inline std::string dotted(Type t) {
    return "." + std::string(name_of(t));
}

std::vector<std::string_view> special_register_names();  // "%tid.x", ...

template <class T>
bool holds(const std::vector<T>& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

class Decoder {
  public:
    // Of function number `function` of the program; 0 is the kernel.
    Decoder(const Entry& entry, Program& program, Common& common, Frame& frame, size_t function)
        : module_(common.module),
          entry_(entry),
          program_(program),
          common_(common),
          frame_(frame),
          function_(function),
          first_(static_cast<uint32_t>(program.instructions.size())) {}
    void decode(std::vector<LiveAtCall>& live);

  private:
    [[noreturn]] void complain(std::string message) const { throw Complaint{std::move(message), statement_->place}; }
    [[noreturn]] void complain(std::string message, const Operand& at) const {
        throw Complaint{std::move(message), at.place};
    }
    std::string spelled() const { return "'" + std::string(statement_->opcode.substr(0, 80)) + "'"; }
    const Operand& operand(size_t i) const { return statement_->operands[i]; }

    const std::vector<Candidate>& rows_of(std::string_view spelling, std::string_view suffix);
    void decode_statement(const Statement& statement);
    bool decode_lane_wise(DecodedInstruction& out, const Candidate& candidate);
    bool shape_fits(std::string_view shape) const;
    bool natural_widths();
    void decode_move(DecodedInstruction& out);
    void decode_memory(DecodedInstruction& out);
    void decode_atomic(DecodedInstruction& out);
    void decode_hint(DecodedInstruction& out);
    void decode_texture(DecodedInstruction& out);
    void decode_surface(DecodedInstruction& out);
    void set_handle(DecodedInstruction& out, const Operand& address);
    void list_numbers(DecodedInstruction& out, const Operand& o, size_t count, size_t written, Type type, Type first_type);
    void decode_policy(DecodedInstruction& out);
    void take_values(DecodedInstruction& out, const Operand& value, bool written, Type type);
    void decode_warp_wide(DecodedInstruction& out);
    void decode_control(DecodedInstruction& out);
    void decode_call(DecodedInstruction& out);
    bool decode_system(DecodedInstruction& out, std::string_view callee, const Operand* results, const Operand* arguments);
    void decode_signature(CallSite& site, const Operand& list, const Operand* results, const Operand* arguments);
    void decode_actuals(CallSite& site, const Operand* results, const Operand* arguments,
                        const std::vector<Variable>& formal_results, const std::vector<Variable>& formals);
    Passed actual(const Operand& o, const Variable& formal, bool written);
    void decode_branch_table(DecodedInstruction& out);
    uint32_t place_of_label(std::string_view name, int scope, Place at);
    std::optional<size_t> function_named(std::string_view name);
    std::optional<uint64_t> kernel_named(std::string_view name) const;
    void decode_local_address(DecodedInstruction& out, const Located& located);
    void decode_matrix(DecodedInstruction& out);
    void decode_matrix_product(DecodedInstruction& out, const std::vector<Type>& types);
    void decode_matrix_memory(DecodedInstruction& out, Type element);
    void decode_matrix_group(DecodedInstruction& out, const std::vector<Type>& types);
    void list_registers(DecodedInstruction& out, const Operand& o, size_t count, Type wanted, size_t used, bool written);
    void decode_async(DecodedInstruction& out);
    void decode_async_copy(DecodedInstruction& out);
    void decode_async_wait(DecodedInstruction& out);
    void decode_mbarrier(DecodedInstruction& out);
    void decode_cluster(DecodedInstruction& out);
    void decode_elect(DecodedInstruction& out);
    void decode_bulk(DecodedInstruction& out);
    void decode_remote_store(DecodedInstruction& out, BulkView view);
    void decode_tensor_map(DecodedInstruction& out);
    void decode_multimem(DecodedInstruction& out);
    void list_address(DecodedInstruction& out, const Operand& address, Space space);
    void list_value(DecodedInstruction& out, const Operand& value, Type type);
    uint64_t number(const Operand& o, uint64_t least, uint64_t most, const char* what) const;
    void take_row(DecodedInstruction& out, const Candidate& candidate);
    void expect_operands(size_t least, size_t most) const;
    void set_address(DecodedInstruction& out, const Operand& address);
    int32_t how_to_compare(const Operand* predicate);
    int32_t how_to_convert();
    int32_t how_to_combine_logic(const Operand& table, const Operand& predicate);
    int32_t how_to_select_parts();
    uint32_t part_selected(const Operand& o, std::string_view part, size_t source) const;

    const Slot& register_of(const Operand& o);
    int32_t source(const Operand& o, Type wanted);
    int32_t destination(const Operand& o, Type wanted);
    int32_t destination_named(std::string_view name, const Operand& at, Type wanted);
    uint64_t immediate(const Operand& o, Type wanted) const;
    [[noreturn]] void unknown_name(const Operand& o, std::string_view name);
    void locate(DecodedInstruction& out);
    void find_nearest_lines();
    const LineLocation& location_of(const Statement& statement) const;
    std::string source_line_of(const Statement& statement) const;
    void finish(std::vector<LiveAtCall>& live);

    const Module& module_;
    const Entry& entry_;
    Program& program_;
    Common& common_;
    Frame& frame_;
    const size_t function_;
    const uint32_t first_;  // the pc of the function's first instruction
    const Statement* statement_ = nullptr;
    std::vector<std::string_view> modifiers_;
    Type first_type_ = Type::none, last_type_ = Type::none;
    // Place -> the locations that say where it is inlined, in the order of the text.
    std::vector<int64_t> nearest_line_;  // of each statement: the nearest one whose .loc names a line; -1: none does
    std::map<std::tuple<int, int, int>, std::vector<int>> inlined_;
    std::vector<int> own_before_;  // of each location: the last one up to it that is of source_file_; -1: none
    std::unordered_map<int32_t, size_t> parameter_in_;       // register offset -> parameter that was loaded into it
    std::unordered_map<const TargetList*, uint32_t> lists_;  // of brx.idx: where it is in Program::lists
    size_t table_edges_ = 0;
    int source_file_ = 0;
};

}  // namespace lockstep::ptx
