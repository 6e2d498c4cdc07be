// A register's value while a translation is written: in whichever forms are known, the others are made when they are asked
// for. Internal to core/simt/native.
#pragma once
#include <optional>

#include "core/simt/native/operations.h"

namespace lockstep::simt {

struct Value {
    enum class Form : uint8_t { lanes, ramp, predicate };
    Form form = Form::lanes;
    uint32_t bits = 32;  // of a lane
    // Form::lanes, by half of the warp: as integers, as floats, or both.
    std::string lanes[2], floats[2];
    bool is_double = false;
    bool pending = false;  // NaNs among `floats` may be any and count as the one that f32 has; `lanes` have that one
    // Form::ramp: lane i of a half holds first + i * step.
    std::string first[2];
    int64_t step = 0;
    std::optional<uint64_t> constant;  // of all lanes
    // Form::predicate: a mask; one answer for each half; a bit a lane.
    std::string mask, alike[2], each[2];

    bool is_uniform() const { return form == Form::ramp && step == 0; }
};

class Values {
  public:
    explicit Values(Writer& writer) : w(writer) {}
    bool keeps = true;  // what is made is kept in the value; false where later text must not use it

    std::string int_type(uint32_t bits) const { return "i" + std::to_string(bits); }

    // One half's lanes as integers.
    std::string lanes(Value& v, int h) {
        if (!v.lanes[h].empty()) return v.lanes[h];
        const std::string lane = int_type(v.bits), type = Writer::type(half_lanes, lane);
        std::string made;
        if (v.form == Value::Form::ramp) {
            if (v.constant) {
                made = Writer::number(half_lanes, lane, *v.constant);
            } else {
                made = w.splat(lane, v.first[h]);
                if (v.step)
                    made = w.let("add {} {}, {}", type, made, Writer::ramp(half_lanes, lane, static_cast<uint64_t>(v.step)));
            }
        } else {
            const std::string float_type = Writer::type(half_lanes, v.is_double ? "double" : "float");
            made = w.cast("bitcast", float_type, v.floats[h], type);
            if (v.pending) made = canonical(half_lanes, v.floats[h], made);
        }
        if (keeps) v.lanes[h] = made;
        return made;
    }
    // The bits of f32 numbers, their NaNs made the one that f32 has.
    std::string canonical(int n, const std::string& floats, const std::string& bits) {
        const std::string type = Writer::type(n, "i32");
        const std::string nan = w.let("fcmp uno {} {}, {}", Writer::type(n, "float"), floats, floats);
        return w.let("select {} {}, {} {}, {} {}", Writer::type(n, "i1"), nan, type, Writer::number(n, "i32", 0x7fffffffu),
                     type, bits);
    }
    std::string mask(Value& v) {
        if (!v.mask.empty()) return v.mask;
        std::string halves[2];
        for (int h = 0; h < 2; ++h) {
            if (!v.alike[h].empty()) {
                halves[h] = w.let("select i1 {}, i32 {}, i32 0", v.alike[h], h ? -65536 : 65535);
            } else {
                const std::string bits = w.cast("zext", "i16", w.cast("bitcast", "<16 x i1>", v.each[h], "i16"), "i32");
                halves[h] = h ? w.let("shl i32 {}, 16", bits) : bits;
            }
        }
        const std::string made = w.let("or i32 {}, {}", halves[0], halves[1]);
        if (keeps) v.mask = made;
        return made;
    }
    std::string each(Value& v, int h) {
        if (!v.each[h].empty()) return v.each[h];
        std::string made;
        if (!v.alike[h].empty()) {
            made = w.splat("i1", v.alike[h]);
        } else {
            const std::string half = h ? w.let("lshr i32 {}, 16", v.mask) : v.mask;
            made = w.cast("bitcast", "i16", w.cast("trunc", "i32", half, "i16"), "<16 x i1>");
        }
        if (keeps) v.each[h] = made;
        return made;
    }
    // As an operand of `n` lanes (1: v is the same in all lanes of a half).
    std::string operand(Value& v, int h, int n, char letter) {
        if (letter == 'p') return n == 1 ? v.alike[h] : each(v, h);
        const bool is_float = letter == 'f' || letter == 'd';
        const std::string int_of = Writer::type(n, int_type(v.bits)), float_of = Writer::type(n, lane_type(letter));
        if (n == 1) return is_float ? w.cast("bitcast", int_of, v.first[h], float_of) : v.first[h];
        if (!is_float) return lanes(v, h);
        if (!v.floats[h].empty()) return v.floats[h];
        const std::string made = w.cast("bitcast", int_of, lanes(v, h), float_of);
        if (keeps && v.form == Value::Form::lanes) {
            v.floats[h] = made;
            v.is_double = letter == 'd';
        }
        return made;
    }

    static Value number(uint32_t bits, uint64_t constant) {
        Value v;
        v.form = Value::Form::ramp;
        v.bits = bits;
        v.constant = constant;
        v.first[0] = v.first[1] = std::to_string(static_cast<int64_t>(constant));
        return v;
    }
    static Value ramp(uint32_t bits, const std::string& first, const std::string& second, int64_t step) {
        Value v;
        v.form = Value::Form::ramp;
        v.bits = bits;
        v.first[0] = first;
        v.first[1] = second;
        v.step = bits == 32 ? static_cast<int32_t>(step) : step;
        return v;
    }

  private:
    Writer& w;
};

}  // namespace lockstep::simt
