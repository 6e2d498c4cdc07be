// Single instructions: operations that have a translation, on ramps, on one number a half, or on lanes; all others by the
// function of their row, on the warp's registers.
#include <cstring>

#include "core/simt/native/translate.h"

namespace lockstep::simt {

using Form = Value::Form;
using Linear = Operation::Linear;

// A register's value, or the constant.
Value Translator::source(int32_t operand, uint32_t bits) {
    if (operand >= 0) return get(operand);
    const std::byte* const at = plan_.constants + ~operand;
    uint64_t number = 0;
    if (bits != 1) {
        std::memcpy(&number, at, bits / 8);
        return Values::number(bits, number);
    }
    uint32_t mask = 0;
    std::memcpy(&mask, at, 4);
    Value v;
    v.form = Form::predicate;
    v.bits = 1;
    v.mask = std::to_string(static_cast<int32_t>(mask));
    return v;
}

// Nothing: an operand has not the width that the operation takes.
std::optional<std::vector<Value>> Translator::operands_of(uint32_t pc, const Operation& operation) {
    const ptx::DecodedInstruction& i = native_.program.instructions[pc];
    std::vector<Value> operands;
    for (size_t k = 0; k < operation.operands.size(); ++k) {
        const uint32_t bits = lane_bits(operation.operands[k]);
        const int32_t operand = i.source[k];
        if (operand == ptx::no_operand) return std::nullopt;
        if (operand >= 0 && bits_of(operand) != bits) return std::nullopt;
        if (operand < 0 && bits != 1) {  // the same number in all lanes
            const std::byte* const at = plan_.constants + ~operand;
            for (uint32_t lane = 1; lane < warp_size; ++lane)
                if (std::memcmp(at, at + lane * bits / 8, bits / 8) != 0) return std::nullopt;
        }
        operands.push_back(source(operand, bits));
    }
    return operands;
}

bool Translator::write_linear(uint32_t pc, const Operation& operation, std::vector<Value>& o) {
    const ptx::DecodedInstruction& i = native_.program.instructions[pc];
    const int32_t d = i.destination[0];
    if (operation.linear == Linear::copy) {
        set(d, o[0]);
        return true;
    }
    if (operation.linear == Linear::none) return false;
    for (const Value& v : o)
        if (v.form != Form::ramp) return false;
    const uint32_t bits = lane_bits(operation.result);
    const std::string type = values_.int_type(bits);
    const auto both = [&](const char* what, const Value& a, const Value& b, int64_t step) {
        std::string first[2];
        for (int h = 0; h < 2; ++h) first[h] = w_.let("{} {} {}, {}", what, type, a.first[h], b.first[h]);
        Value v = Values::ramp(bits, first[0], first[1], step);
        return v;
    };
    const auto product = [&](Value& a, Value& b) -> std::optional<Value> {
        if (a.step == 0 && b.step == 0) return both("mul", a, b, 0);
        if (!a.constant && !b.constant) return std::nullopt;
        const Value& number = a.constant ? a : b;
        const Value& ramp = a.constant ? b : a;
        const uint64_t step = static_cast<uint64_t>(ramp.step) * *number.constant;
        return both("mul", a, b, static_cast<int64_t>(step));
    };
    switch (operation.linear) {
        case Linear::sum:
            set(d, both("add", o[0], o[1], o[0].step + o[1].step));
            return true;
        case Linear::difference:
            set(d, both("sub", o[0], o[1], o[0].step - o[1].step));
            return true;
        case Linear::product: {
            std::optional<Value> made = product(o[0], o[1]);
            if (made) set(d, std::move(*made));
            return made.has_value();
        }
        case Linear::multiply_add: {
            std::optional<Value> made = product(o[0], o[1]);
            if (made) set(d, both("add", *made, o[2], made->step + o[2].step));
            return made.has_value();
        }
        case Linear::shift_left: {
            if (!o[1].constant || *o[1].constant >= bits) return false;
            const Value by = Values::number(bits, *o[1].constant);
            const uint64_t step = static_cast<uint64_t>(o[0].step) << *o[1].constant;
            set(d, both("shl", o[0], by, static_cast<int64_t>(step)));
            return true;
        }
        case Linear::widen_signed:
        case Linear::widen_unsigned: {
            // Of a + i * step the 32-bit numbers must not wrap from lane to lane; then the product is a ramp too.
            const bool is_signed = operation.linear == Linear::widen_signed;
            const bool multiplies = o.size() > 1;
            if (o[0].step == 0 && multiplies && o[1].step == 0) break;  // numbers: by the operation itself
            Value& ramp = multiplies && o[0].constant ? o[1] : o[0];
            const Value* const number = !multiplies ? nullptr : o[0].constant ? &o[0] : &o[1];
            if (number && !number->constant) return false;
            if (ramp.step < -(1 << 24) || ramp.step > 1 << 24) return false;
            const int64_t far = 15 * ramp.step;
            int64_t times = 1;
            if (number)
                times = is_signed ? static_cast<int32_t>(*number->constant)
                                  : static_cast<int64_t>(*number->constant & 0xffffffffu);
            if (far != 0) {
                std::string fits[2];
                for (int h = 0; h < 2; ++h) {
                    const int64_t least = is_signed ? INT32_MIN : 0, most = is_signed ? INT32_MAX : UINT32_MAX;
                    const std::string a = ramp.first[h];
                    const char* const sign = is_signed ? "s" : "u";
                    fits[h] = far > 0 ? w_.let("icmp {}le i32 {}, {}", sign, a, most - far)
                                      : w_.let("icmp {}ge i32 {}, {}", sign, a, least - far);
                }
                const std::string fit = w_.let("and i1 {}, {}", fits[0], fits[1]);
                const std::string on = w_.fresh_label();
                w_.line("br i1 {}, label %{}, label %{}", fit, on, way_out(pc, pc - region_.blocks[block_].begin));
                w_.label(on);
            }
            std::string first[2];
            for (int h = 0; h < 2; ++h) {
                first[h] = w_.cast(is_signed ? "sext" : "zext", "i32", ramp.first[h], "i64");
                if (number) first[h] = w_.let("mul i64 {}, {}", first[h], times);
            }
            Value made = Values::ramp(64, first[0], first[1],
                                      static_cast<int64_t>(static_cast<uint64_t>(ramp.step) * static_cast<uint64_t>(times)));
            if (o.size() > 2) made = both("add", made, o[2], made.step + o[2].step);
            set(d, std::move(made));
            return true;
        }
        default:
            break;
    }
    return false;
}

bool Translator::write_operation(uint32_t pc, const Operation& operation) {
    const ptx::DecodedInstruction& i = native_.program.instructions[pc];
    const int32_t d = i.destination[0];
    const uint32_t bits = lane_bits(operation.result);
    if (d == ptx::no_operand || bits_of(d) != bits) return false;
    std::optional<std::vector<Value>> found = operands_of(pc, operation);
    if (!found) return false;
    std::vector<Value>& o = *found;
    const bool guarded = plan_.steps[pc].guard != ptx::no_operand;
    if (!guarded && write_linear(pc, operation, o)) return true;
    bool uniform = !guarded;
    for (const Value& v : o) uniform = uniform && (v.form == Form::predicate ? !v.alike[0].empty() : v.is_uniform());
    const int n = uniform ? 1 : half_lanes;
    Value made;
    made.bits = bits;
    made.form = operation.result == 'p' ? Form::predicate : uniform ? Form::ramp : Form::lanes;
    for (int h = 0; h < 2; ++h) {
        std::string names[3];
        for (size_t k = 0; k < o.size(); ++k) names[k] = values_.operand(o[k], h, n, operation.operands[k]);
        const std::string result = operation.write(w_, n, names);
        switch (operation.result) {
            case 'p':
                (uniform ? made.alike : made.each)[h] = result;
                break;
            case 'i':
            case 'l':
                (uniform ? made.first : made.lanes)[h] = result;
                break;
            default: {
                made.is_double = operation.result == 'd';
                made.pending = operation.result == 'F';
                if (!uniform) {
                    made.floats[h] = result;
                    break;
                }
                const std::string number = w_.cast("bitcast", lane_type(operation.result), result, values_.int_type(bits));
                made.first[h] = made.pending ? values_.canonical(1, result, number) : number;
            }
        }
    }
    if (uniform) made.pending = false;
    if (guarded) {
        const std::string mask = executing(pc);
        count_idle(w_.let("and i32 {}, {}", w_.let("xor i32 {}, -1", mask), "%active"));
        Value old = get(d), chosen, merged;
        chosen.form = Form::predicate;
        chosen.mask = mask;
        merged.bits = bits;
        if (bits == 1) {
            merged.form = Form::predicate;
            const std::string differs = w_.let("xor i32 {}, {}", values_.mask(old), values_.mask(made));
            merged.mask = w_.let("xor i32 {}, {}", values_.mask(old), w_.let("and i32 {}, {}", differs, mask));
        } else {
            const std::string type = Writer::type(half_lanes, values_.int_type(bits));
            for (int h = 0; h < 2; ++h)
                merged.lanes[h] = w_.let("select <16 x i1> {0}, {1} {2}, {1} {3}", values_.each(chosen, h), type,
                                         values_.lanes(made, h), values_.lanes(old, h));
        }
        made = std::move(merged);
    }
    set(d, std::move(made));
    // What the operands have become by being looked at is kept for the next one.
    for (size_t k = 0; k < o.size(); ++k)
        if (const int32_t reg = i.source[k]; reg >= 0 && reg != d) now_[reg] = std::move(o[k]);
    return true;
}

// By NativeCall::lanes or ::access: on the warp's registers, with those that the translation holds written there before.
void Translator::write_by_function(uint32_t pc, const char* which) {
    const ptx::DecodedInstruction& i = native_.program.instructions[pc];
    const bool accesses = std::string_view(which) == "access";
    std::set<int32_t> reads, writes;
    ptx::each_read(native_.program.lists, i, [&](int32_t reg) { reads.insert(reg); });
    ptx::each_written(native_.program.lists, i, [&](int32_t reg) { writes.insert(reg); });
    const std::set<int32_t>& before = region_.blocks[block_].written_before;
    const auto is_dirty = [&](int32_t reg) { return written_.count(reg) != 0 || before.count(reg) != 0; };
    const bool guarded = plan_.steps[pc].guard != ptx::no_operand;
    for (const int32_t reg : reads)
        if (is_dirty(reg)) write_back(reg);
    for (const int32_t reg : writes)  // lanes whose guard does not hold keep it
        if (guarded && reads.count(reg) == 0 && is_dirty(reg)) write_back(reg);
    const std::string mask = executing(pc);
    if (guarded) count_idle(w_.let("and i32 {}, {}", w_.let("xor i32 {}, -1", mask), "%active"));
    const std::string function =
        w_.let("bitcast i8* %function.{} to {} (i64*, i32, i32)*", which, accesses ? "i32" : "void");
    if (accesses) {
        const std::string done = w_.let("call i32 {}(i64* %call, i32 {}, i32 {})", function, pc, mask);
        const std::string works = w_.let("icmp ne i32 {}, 0", done), on = w_.fresh_label();
        // What the guard kept out is counted by whoever runs the instruction again; a launch that comes to that runs anew.
        w_.line("br i1 {}, label %{}, label %{}", works, on, way_out(pc, pc - region_.blocks[block_].begin));
        w_.label(on);
    } else {
        w_.line("call void {}(i64* %call, i32 {}, i32 {})", function, pc, mask);
    }
    for (const int32_t reg : writes) read_again(reg);
}

void Translator::write_step(uint32_t pc) {
    const Prepared& p = plan_.steps[pc];
    const ptx::DecodedInstruction& i = native_.program.instructions[pc];
    switch (p.code) {
        case Code::lane_wise:
            if (const auto operation = operation_of(i, native_.options.wrong); operation && write_operation(pc, *operation))
                return;
            return write_by_function(pc, "lanes");
        case Code::load_global:
        case Code::load_shared:
        case Code::load_param:
        case Code::load_any:
            if (!write_load(pc)) write_by_function(pc, "access");
            return;
        case Code::store_global:
        case Code::store_shared:
        case Code::store_any:
            if (!write_store(pc)) write_by_function(pc, "access");
            return;
        case Code::nop:
            if (p.guard != ptx::no_operand)
                count_idle(w_.let("and i32 {}, {}", w_.let("xor i32 {}, -1", executing(pc)), "%active"));
            return;
        default:
            return write_by_function(pc, "lanes");
    }
}

}  // namespace lockstep::simt
