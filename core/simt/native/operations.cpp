// The rows: spelling, types, what it is to ramps, and the translation. Those of core/ptx/opcodes/forms are the definition.
#include "core/simt/native/operations.h"

#include <map>

namespace lockstep::simt {
namespace {

using Linear = Operation::Linear;

// Of a half: T(w, n).type("i32").
struct Half {
    Writer& w;
    int n;
    std::string type(const char* lane) const { return Writer::type(n, lane); }
    std::string number(const char* lane, uint64_t value) const { return Writer::number(n, lane, value); }
    std::string two(const char* what, const char* lane, const std::string& a, const std::string& b) const {
        return w.let("{} {} {}, {}", what, type(lane), a, b);
    }
    std::string cast(const char* how, const char* from, const std::string& a, const char* to) const {
        return w.cast(how, type(from), a, type(to));
    }
    std::string select(const std::string& condition, const char* lane, const std::string& a, const std::string& b) const {
        return w.let("select {} {}, {} {}, {} {}", type("i1"), condition, type(lane), a, type(lane), b);
    }
    std::string compare(const char* what, const char* lane, const std::string& a, const std::string& b) const {
        return two(what, lane, a, b);
    }
    // A call of an intrinsic that LLVM has for any number of lanes.
    std::string call(const char* what, const char* lane, const char* suffix,
                     std::initializer_list<std::string> operands) const {
        std::string list;
        for (const std::string& o : operands) list += (list.empty() ? "" : ", ") + type(lane) + " " + o;
        const std::string name = n == 1 ? suffix : fmt::format("v{}{}", n, suffix);
        return w.let("call {} @llvm.{}.{}({})", type(lane), what, name, list);
    }
};

using Write = std::string (*)(const Half&, const std::string* o);

struct Row {
    const char* spelling;  // name and pattern of the form
    const char* types;     // "i=ii"
    Write write;
    Linear linear = Linear::none;
};

#define TWO(what, lane) [](const Half& h, const std::string* o) { return h.two(what, lane, o[0], o[1]); }
#define WIDEN(how)                                                                                    \
    [](const Half& h, const std::string* o) {                                                         \
        return h.two("mul", "i64", h.cast(how, "i32", o[0], "i64"), h.cast(how, "i32", o[1], "i64")); \
    }
#define WIDEN_ADD(how)                                                                                                    \
    [](const Half& h, const std::string* o) {                                                                             \
        return h.two("add", "i64", h.two("mul", "i64", h.cast(how, "i32", o[0], "i64"), h.cast(how, "i32", o[1], "i64")), \
                     o[2]);                                                                                               \
    }
#define HIGH(how, shift)                                                                                             \
    [](const Half& h, const std::string* o) {                                                                        \
        const std::string p = h.two("mul", "i64", h.cast(how, "i32", o[0], "i64"), h.cast(how, "i32", o[1], "i64")); \
        return h.cast("trunc", "i64", h.two("lshr", "i64", p, h.number("i64", 32)), "i32");                          \
    }
#define PICK(what, lane) \
    [](const Half& h, const std::string* o) { return h.select(h.compare("icmp " what, lane, o[0], o[1]), lane, o[0], o[1]); }
// b beyond the width gives `beyond` (a shift by all but one bit where it is signed).
#define SHIFT(what, lane, width)                                                               \
    [](const Half& h, const std::string* o) {                                                  \
        const std::string within = h.two("and", "i32", o[1], h.number("i32", width - 1));      \
        const std::string by = width == 64 ? h.cast("zext", "i32", within, "i64") : within;    \
        const std::string inside = h.compare("icmp ult", "i32", o[1], h.number("i32", width)); \
        return h.select(inside, lane, h.two(what, lane, o[0], by), h.number(lane, 0));         \
    }
#define SHIFT_SIGNED(lane, width)                                                              \
    [](const Half& h, const std::string* o) {                                                  \
        const std::string inside = h.compare("icmp ult", "i32", o[1], h.number("i32", width)); \
        const std::string within = h.select(inside, "i32", o[1], h.number("i32", width - 1));  \
        const std::string by = width == 64 ? h.cast("zext", "i32", within, "i64") : within;    \
        return h.two("ashr", lane, o[0], by);                                                  \
    }
#define CAST(how, from, to) [](const Half& h, const std::string* o) { return h.cast(how, from, o[0], to); }
#define COPY [](const Half&, const std::string* o) { return o[0]; }

std::string float_bits(const Half& h, const std::string& x) {
    return h.cast("bitcast", "float", x, "i32");
}
std::string double_bits(const Half& h, const std::string& x) {
    return h.cast("bitcast", "double", x, "i64");
}
// min and max: see least and greatest in opcodes/arithmetic.h.
std::string extreme(const Half& h, const std::string* o, const char* lane, const char* word, const char* before,
                    const char* of_equal) {
    const std::string &a = o[0], &b = o[1];
    const std::string a_first = h.compare(before, lane, a, b), b_first = h.compare(before, lane, b, a);
    const std::string both = h.two(of_equal, word, h.cast("bitcast", lane, a, word), h.cast("bitcast", lane, b, word));
    const std::string either = h.select(a_first, lane, a, h.select(b_first, lane, b, h.cast("bitcast", word, both, lane)));
    const std::string a_nan = h.compare("fcmp uno", lane, a, a), b_nan = h.compare("fcmp uno", lane, b, b);
    return h.select(a_nan, lane, b, h.select(b_nan, lane, a, either));
}
// NaN results of doubles: see canonical in opcodes/arithmetic.h.
std::string quiet(const Half& h, const std::string& x) {
    return h.cast("bitcast", "i64", h.two("or", "i64", double_bits(h, x), h.number("i64", 0x0008000000000000ull)), "double");
}
std::string canonical_double(const Half& h, const std::string& result, const std::string& first, const std::string& second) {
    const std::string plain = h.cast("bitcast", "i64", h.number("i64", 0xfff8000000000000ull), "double");
    const auto is_nan = [&](const std::string& x) { return h.compare("fcmp uno", "double", x, x); };
    const std::string of_second = h.select(is_nan(second), "double", quiet(h, second), plain);
    const std::string of_first = h.select(is_nan(first), "double", quiet(h, first), of_second);
    return h.select(is_nan(result), "double", of_first, result);
}
// Quotients of 32 bits by way of doubles, which round none of them up to a whole number: the next one is further than 1 part
// in 2^32 away. A divisor of 0 gives all ones.
std::string divide(const Half& h, const std::string* o, bool is_signed, bool wants_rest) {
    const char* const convert = is_signed ? "sitofp" : "uitofp";
    const auto number = [&](uint64_t bits) { return h.cast("bitcast", "i64", h.number("i64", bits), "double"); };
    const std::string a = h.cast(convert, "i32", o[0], "double"), b = h.cast(convert, "i32", o[1], "double");
    const std::string whole = h.call("trunc", "double", "f64", {h.two("fdiv", "double", a, b)});
    const std::string shifted = h.two("fadd", "double", whole, number(0x4338000000000000ull));  // 1.5 * 2^52
    const std::string q = h.cast("trunc", "i64", h.cast("bitcast", "double", shifted, "i64"), "i32");
    const std::string result = wants_rest ? h.two("sub", "i32", o[0], h.two("mul", "i32", q, o[1])) : q;
    return h.select(h.compare("icmp eq", "i32", o[1], h.number("i32", 0)), "i32", h.number("i32", ~0ull), result);
}
#define DIVIDE(is_signed, wants_rest) [](const Half& h, const std::string* o) { return divide(h, o, is_signed, wants_rest); }
#define TWO_DOUBLES(what) \
    [](const Half& h, const std::string* o) { return canonical_double(h, h.two(what, "double", o[0], o[1]), o[1], o[0]); }

const Row rows[] = {
    {"add(.u32|.s32)", "i=ii", TWO("add", "i32"), Linear::sum},
    {"add(.u64|.s64)", "l=ll", TWO("add", "i64"), Linear::sum},
    {"sub(.u32|.s32)", "i=ii", TWO("sub", "i32"), Linear::difference},
    {"sub(.u64|.s64)", "l=ll", TWO("sub", "i64"), Linear::difference},
    {"mul.lo(.u32|.s32)", "i=ii", TWO("mul", "i32"), Linear::product},
    {"mul.lo(.u64|.s64)", "l=ll", TWO("mul", "i64"), Linear::product},
    {"mul.hi.u32", "i=ii", HIGH("zext", 32)},
    {"mul.hi.s32", "i=ii", HIGH("sext", 32)},
    {"mul.wide.u32", "l=ii", WIDEN("zext"), Linear::widen_unsigned},
    {"mul.wide.s32", "l=ii", WIDEN("sext"), Linear::widen_signed},
    {"mad.lo(.u32|.s32)", "i=iii",
     [](const Half& h, const std::string* o) { return h.two("add", "i32", h.two("mul", "i32", o[0], o[1]), o[2]); },
     Linear::multiply_add},
    {"mad.lo(.u64|.s64)", "l=lll",
     [](const Half& h, const std::string* o) { return h.two("add", "i64", h.two("mul", "i64", o[0], o[1]), o[2]); },
     Linear::multiply_add},
    {"mad.wide.u32", "l=iil", WIDEN_ADD("zext"), Linear::widen_unsigned},
    {"mad.wide.s32", "l=iil", WIDEN_ADD("sext"), Linear::widen_signed},
    {"min.u32", "i=ii", PICK("ult", "i32")},
    {"min.s32", "i=ii", PICK("slt", "i32")},
    {"max.u32", "i=ii", PICK("ugt", "i32")},
    {"max.s32", "i=ii", PICK("sgt", "i32")},
    {"min.u64", "l=ll", PICK("ult", "i64")},
    {"min.s64", "l=ll", PICK("slt", "i64")},
    {"max.u64", "l=ll", PICK("ugt", "i64")},
    {"max.s64", "l=ll", PICK("sgt", "i64")},
    {"neg.s32", "i=i", [](const Half& h, const std::string* o) { return h.two("sub", "i32", h.number("i32", 0), o[0]); }},
    {"neg.s64", "l=l", [](const Half& h, const std::string* o) { return h.two("sub", "i64", h.number("i64", 0), o[0]); }},
    {"div.u32", "i=ii", DIVIDE(false, false)},
    {"div.s32", "i=ii", DIVIDE(true, false)},
    {"rem.u32", "i=ii", DIVIDE(false, true)},
    {"rem.s32", "i=ii", DIVIDE(true, true)},
    {"and.b32", "i=ii", TWO("and", "i32")},
    {"and.b64", "l=ll", TWO("and", "i64")},
    {"and.pred", "p=pp", TWO("and", "i1")},
    {"or.b32", "i=ii", TWO("or", "i32")},
    {"or.b64", "l=ll", TWO("or", "i64")},
    {"or.pred", "p=pp", TWO("or", "i1")},
    {"xor.b32", "i=ii", TWO("xor", "i32")},
    {"xor.b64", "l=ll", TWO("xor", "i64")},
    {"xor.pred", "p=pp", TWO("xor", "i1")},
    {"not.b32", "i=i", [](const Half& h, const std::string* o) { return h.two("xor", "i32", o[0], h.number("i32", ~0ull)); }},
    {"not.b64", "l=l", [](const Half& h, const std::string* o) { return h.two("xor", "i64", o[0], h.number("i64", ~0ull)); }},
    {"not.pred", "p=p", [](const Half& h, const std::string* o) { return h.two("xor", "i1", o[0], h.number("i1", ~0ull)); }},
    {"shl.b32", "i=ii", SHIFT("shl", "i32", 32), Linear::shift_left},
    {"shl.b64", "l=li", SHIFT("shl", "i64", 64), Linear::shift_left},
    {"shr(.u32|.b32)", "i=ii", SHIFT("lshr", "i32", 32)},
    {"shr(.u64|.b64)", "l=li", SHIFT("lshr", "i64", 64)},
    {"shr.s32", "i=ii", SHIFT_SIGNED("i32", 32)},
    {"shr.s64", "l=li", SHIFT_SIGNED("i64", 64)},
    {"mov(.b32|.u32|.s32|.f32|.f16x2|.bf16x2)", "i=i", COPY, Linear::copy},
    {"mov(.b64|.u64|.s64|.f64)", "l=l", COPY, Linear::copy},
    {"mov.pred", "p=p", COPY},
    {"cvta{.to}(.global|.const).u64", "l=l", COPY, Linear::copy},
    {"cvt.u32.s32", "i=i", COPY, Linear::copy},
    {"cvt.s32.u32", "i=i", COPY, Linear::copy},
    {"cvt.u64.s64", "l=l", COPY, Linear::copy},
    {"cvt.s64.u64", "l=l", COPY, Linear::copy},
    {"cvt.u64.u32", "l=i", CAST("zext", "i32", "i64"), Linear::widen_unsigned},
    {"cvt.s64.u32", "l=i", CAST("zext", "i32", "i64"), Linear::widen_unsigned},
    {"cvt.u64.s32", "l=i", CAST("sext", "i32", "i64"), Linear::widen_signed},
    {"cvt.s64.s32", "l=i", CAST("sext", "i32", "i64"), Linear::widen_signed},
    {"cvt.u32.u64", "i=l", CAST("trunc", "i64", "i32")},
    {"cvt.s32.u64", "i=l", CAST("trunc", "i64", "i32")},
    {"cvt.u32.s64", "i=l", CAST("trunc", "i64", "i32")},
    {"cvt.s32.s64", "i=l", CAST("trunc", "i64", "i32")},
    {"cvt.rn{.ftz}.f32.s32", "f=i", CAST("sitofp", "i32", "float")},
    {"cvt{.rn}.f64.s32", "d=i", CAST("sitofp", "i32", "double")},
    {"selp(.b32|.u32|.s32|.f32)", "i=iip",
     [](const Half& h, const std::string* o) { return h.select(o[2], "i32", o[0], o[1]); }},
    {"selp(.b64|.u64|.s64|.f64)", "l=llp",
     [](const Half& h, const std::string* o) { return h.select(o[2], "i64", o[0], o[1]); }},
    {"selp.pred", "p=ppp", [](const Half& h, const std::string* o) { return h.select(o[2], "i1", o[0], o[1]); }},
    // f32
    {"add{.rn}.f32", "F=ff", TWO("fadd", "float")},
    {"sub{.rn}.f32", "F=ff", TWO("fsub", "float")},
    {"mul{.rn}.f32", "F=ff", TWO("fmul", "float")},
    {"div.rn.f32", "F=ff", TWO("fdiv", "float")},
    {"fma.rn.f32", "F=fff",
     [](const Half& h, const std::string* o) { return h.call("fma", "float", "f32", {o[0], o[1], o[2]}); }},
    {"mad{.rn}.f32", "F=fff",
     [](const Half& h, const std::string* o) { return h.call("fma", "float", "f32", {o[0], o[1], o[2]}); }},
    {"rcp.rn.f32", "F=f",
     [](const Half& h, const std::string* o) {
         return h.two("fdiv", "float", h.cast("bitcast", "i32", h.number("i32", 0x3f800000u), "float"), o[0]);
     }},
    {"sqrt.rn.f32", "F=f", [](const Half& h, const std::string* o) { return h.call("sqrt", "float", "f32", {o[0]}); }},
    {"neg.f32", "F=f",
     [](const Half& h, const std::string* o) {
         return h.cast("bitcast", "i32", h.two("xor", "i32", float_bits(h, o[0]), h.number("i32", 0x80000000u)), "float");
     }},
    {"abs.f32", "F=f",
     [](const Half& h, const std::string* o) {
         return h.cast("bitcast", "i32", h.two("and", "i32", float_bits(h, o[0]), h.number("i32", 0x7fffffffu)), "float");
     }},
    {"min.f32", "F=ff", [](const Half& h, const std::string* o) { return extreme(h, o, "float", "i32", "fcmp olt", "or"); }},
    {"max.f32", "F=ff", [](const Half& h, const std::string* o) { return extreme(h, o, "float", "i32", "fcmp ogt", "and"); }},
    // f64
    {"add{.rn}.f64", "d=dd", TWO_DOUBLES("fadd")},
    {"sub{.rn}.f64", "d=dd", TWO_DOUBLES("fsub")},
    {"mul{.rn}.f64", "d=dd", TWO_DOUBLES("fmul")},
    {"div.rn.f64", "d=dd", TWO_DOUBLES("fdiv")},
    {"fma.rn.f64", "d=ddd",
     [](const Half& h, const std::string* o) {
         const std::string r = canonical_double(h, h.call("fma", "double", "f64", {o[0], o[1], o[2]}), o[2], o[0]);
         return h.select(h.compare("fcmp uno", "double", o[1], o[1]), "double", quiet(h, o[1]), r);
     }},
};

struct Suffix {
    const char* spelling;
    char type;
    bool is_signed;
};
constexpr Suffix suffixes[] = {{".s32", 'i', true},  {".u32", 'i', false}, {".b32", 'i', false}, {".s64", 'l', true},
                               {".u64", 'l', false}, {".b64", 'l', false}, {".f32", 'f', false}, {".f64", 'd', false}};
struct Relation {
    const char *spellings[3], *of_floats, *of_signed, *of_unsigned;
};
constexpr Relation relations[] = {
    {{".eq"}, "oeq", "eq", "eq"},
    {{".ne"}, "one", "ne", "ne"},
    {{".lt", "(.lt|.lo)"}, "olt", "slt", "ult"},
    {{".le", "(.le|.ls)"}, "ole", "sle", "ule"},
    {{".gt", "(.gt|.hi)"}, "ogt", "sgt", "ugt"},
    {{".ge", "(.ge|.hs)"}, "oge", "sge", "uge"},
    {{".equ"}, "ueq"},
    {{".neu"}, "une"},
    {{".ltu"}, "ult"},
    {{".leu"}, "ule"},
    {{".gtu"}, "ugt"},
    {{".geu"}, "uge"},
    {{".num"}, "ord"},
    {{".nan"}, "uno"},
};

// setp without a combination.
std::optional<Operation> comparison_of(std::string_view pattern) {
    for (const Suffix& suffix : suffixes) {
        if (!pattern.ends_with(suffix.spelling)) continue;
        const std::string_view relation = pattern.substr(0, pattern.size() - 4);
        for (const Relation& r : relations)
            for (const char* const spelling : r.spellings) {
                if (!spelling || relation != spelling) continue;
                const bool is_float = suffix.type == 'f' || suffix.type == 'd';
                const char* const what = is_float ? r.of_floats : suffix.is_signed ? r.of_signed : r.of_unsigned;
                if (!what) return std::nullopt;
                const std::string full = (is_float ? "fcmp " : "icmp ") + std::string(what);
                const char* const lane = lane_type(suffix.type);
                Operation found{'p', std::string(2, suffix.type), Linear::none, {}};
                found.write = [full, lane](Writer& w, int lanes, const std::string* o) {
                    return Half{w, lanes}.compare(full.c_str(), lane, o[0], o[1]);
                };
                return found;
            }
        return std::nullopt;
    }
    return std::nullopt;
}

const std::map<std::string_view, const Row*>& row_by_spelling() {
    static const auto* const all = [] {
        auto* const made = new std::map<std::string_view, const Row*>;
        for (const Row& row : rows) made->emplace(row.spelling, &row);
        return made;
    }();
    return *all;
}

}  // namespace

const char* lane_type(char letter) {
    switch (letter) {
        case 'i':
            return "i32";
        case 'l':
            return "i64";
        case 'f':
        case 'F':
            return "float";
        case 'd':
            return "double";
        default:
            return "i1";
    }
}
uint32_t lane_bits(char letter) {
    return letter == 'l' || letter == 'd' ? 64 : letter == 'p' ? 1 : 32;
}

std::string spelling_of(const ptx::DecodedInstruction& i) {
    if (i.kind != ptx::Kind::lane_wise || !i.opcode || !i.lanes) return "";
    for (const ptx::Form& form : i.opcode->forms)
        if (form.lanes == i.lanes) return std::string(i.opcode->name) + std::string(form.pattern);
    return "";
}

std::vector<std::string> translated_spellings() {
    std::vector<std::string> all;
    for (const Row& row : rows) all.emplace_back(row.spelling);
    return all;
}

std::optional<Operation> operation_of(const ptx::DecodedInstruction& i, const std::string& wrong) {
    const std::string spelling = spelling_of(i);
    if (spelling.empty()) return std::nullopt;
    std::optional<Operation> found;
    if (i.opcode->name == "setp") {
        found = comparison_of(std::string_view(spelling).substr(4));
    } else if (const auto row = row_by_spelling().find(spelling); row != row_by_spelling().end()) {
        const Row& r = *row->second;
        found = Operation{r.types[0], std::string(r.types).substr(2), r.linear, {}};
        found->write = [&r](Writer& w, int lanes, const std::string* o) { return r.write(Half{w, lanes}, o); };
    }
    if (found && !wrong.empty() &&
        spelling == wrong) {  // a predicate is turned, else the first operand stands for the result
        found->write = [right = found->write, from = found->operands[0], to = found->result](Writer& w, int lanes,
                                                                                             const std::string* o) {
            const std::string a = Writer::type(lanes, lane_type(from)), b = Writer::type(lanes, lane_type(to));
            const std::string made = right(w, lanes, o);
            if (to == 'p') return w.let("xor {} {}, {}", b, made, Writer::number(lanes, "i1", ~0ull));
            return lane_bits(from) != lane_bits(to) ? made : a == b ? o[0] : w.cast("bitcast", a, o[0], b);
        };
        found->linear = Linear::none;
    }
    return found;
}

}  // namespace lockstep::simt
