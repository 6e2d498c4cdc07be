// What the tests of lane-wise instructions share: they write every spelling of the opcode table down as PTX, decode it, run
// it over 32 lanes of edge values and random ones in every copy of the table, and compare each lane with a plain definition
// that the test gives. `walk` fails for a form of the table that no spelling reached, and for one without a definition.
#pragma once
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/ptx/decode.h"
#include "core/ptx/opcode.h"
#include "core/ptx/ptx.h"
#include "core/ptx/spelling.h"
#include "tests/catch.h"

namespace opcode_test {

using namespace lockstep;
using namespace lockstep::ptx;

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 wide_unsigned;

inline bool signed_type(Type t) {
    return name_of(t)[0] == 's';
}
inline bool float_type(Type t) {
    return name_of(t)[0] == 'f' || name_of(t).starts_with("bf");
}
inline size_t lane_bytes(Type t) {
    return t == Type::pred ? 0 : std::max<size_t>(size_of(t), 2);
}
inline uint64_t low(uint64_t bits, size_t bytes) {
    return bytes >= 8 ? bits : bits & ((1ull << 8 * bytes) - 1);
}
inline wide number(uint64_t bits, Type t) {  // as the type has it
    const int width = t == Type::pred ? 1 : static_cast<int>(8 * size_of(t));
    const wide value = static_cast<wide>(width == 64 ? bits : bits & ((1ull << width) - 1));
    return signed_type(t) && (value >> (width - 1) & 1) ? value - (static_cast<wide>(1) << width) : value;
}

// Every spelling of a pattern: all choices, with and without what may be left out.
inline std::vector<std::string> spellings(std::string_view pattern) {
    std::vector<std::string> all{""};
    while (!pattern.empty()) {
        const char open = pattern[0];
        const size_t end = open == '(' ? pattern.find(')') : open == '{' ? pattern.find('}') : pattern.find_first_of("({");
        std::string group(pattern.substr(0, end));
        pattern.remove_prefix(std::min(pattern.size(), open == '(' || open == '{' ? end + 1 : group.size()));
        std::vector<std::string> choices;
        if (open == '{') choices.push_back("");
        if (open == '(' || open == '{') {
            group.erase(0, 1);
            for (size_t at = 0; at <= group.size();) {
                const size_t bar = std::min(group.find('|', at), group.size());
                choices.push_back(group.substr(at, bar - at));
                at = bar + 1;
            }
        } else {
            choices.push_back(group);
        }
        std::vector<std::string> longer;
        for (const auto& a : all)
            for (const auto& b : choices) longer.push_back(a + b);
        all = std::move(longer);
    }
    return all;
}

struct Operand {
    Type type = Type::none;  // of the register
    std::string reg;         // "%r1"; empty: the operand is a number
    std::string part;        // "b1" of %r1.b1
    bool negated = false;
};
struct Instruction {
    std::string name, modifiers, text;
    Type first = Type::none, last = Type::none;
    std::vector<Type> types;        // as written
    std::vector<Operand> operands;  // destination first
    Operand second;                 // p|q
    uint64_t table = 0;             // lop3's
    bool has(const std::string& m) const { return (modifiers + ".").find(m + ".") != std::string::npos; }
    bool combined() const { return has(".and") || has(".or") || has(".xor"); }
    Type source_type(size_t k) const { return k + 1 < operands.size() ? operands[k + 1].type : Type::none; }
};
using Arguments = std::array<uint64_t, 5>;  // of one lane, in the order that the instruction has them

struct Expected {
    uint64_t bits = 0;
    std::optional<uint64_t> second = std::nullopt;
    double value = 0, absolute = 0, relative = 0;  // compared as a float of the type when a tolerance is given
    bool elsewhere = false;                        // a test of its own compares it
};
// Nothing: the definition has no answer for these arguments (the ISA bounds no error there).
using Definition = std::function<std::optional<Expected>(const Instruction&, const Arguments&)>;

inline Type doubled(Type t) {
    return t == Type::u16 ? Type::u32 : t == Type::s16 ? Type::s32 : t == Type::u32 ? Type::u64 : Type::s64;
}
inline Type operand_type(char c, const Instruction& i) {
    switch (c) {
        case 'D':
            return i.first;
        case 'W':
            return doubled(i.last);
        case 'P':
        case 'p':
            return Type::pred;
        case 'U':
        case 'S':
        case 's':
            return Type::u32;
        case 'A':
            return Type::u64;
        default:
            return i.last;
    }
}
inline std::string register_name(size_t bytes, size_t k) {
    const char* prefix = bytes == 0 ? "%p" : bytes == 2 ? "%h" : bytes == 4 ? "%r" : bytes == 8 ? "%rd" : "%rq";
    return prefix + std::to_string(k);
}

// The spelling as an instruction by its row's shape, variant 0; other variants: registers twice and four times as wide
// (cvt), other parts (video), a negated predicate.
inline Instruction write_down(const Opcode& row, const std::string& modifiers, size_t variant, Rng& rng) {
    Instruction i{.name = std::string(row.name), .modifiers = modifiers, .text = {}};
    for (std::string_view m : modifiers_of(modifiers))
        if (const Type t = type_named(m); t != Type::none) i.types.push_back(t);
    if (!i.types.empty()) i.first = i.types.front(), i.last = i.types.back();
    const std::string_view shape = row.operands;
    const size_t equals = shape.find('=');
    const bool video = shape[0] == 'S', simd = video && (i.name.back() == '2' || i.name.back() == '4');
    const bool combines = i.has(".add") || i.has(".min") || i.has(".max");
    const size_t parts = i.name.back() == '2' ? 2 : 4;
    std::string text = i.name + modifiers + " ";
    const auto part = [&](bool destination) -> std::string {
        if (!simd) {
            const uint64_t n = rng.below(9);
            return n < 4 ? "b" + std::to_string(n) : n < 6 ? "h" + std::to_string(n - 4) : "";
        }
        if (rng.below(4) == 0) return "";
        std::string s = parts == 2 ? "h" : "b";
        if (destination) {
            const uint64_t mask = 1 + rng.below((1u << parts) - 1);
            for (size_t k = parts; k-- > 0;)
                if (mask >> k & 1) s += static_cast<char>('0' + k);
        } else {
            for (size_t k = 0; k < parts; ++k) s += static_cast<char>('0' + rng.below(2 * parts));
        }
        return s;
    };
    const auto add = [&](char c, size_t k) {
        Operand o{.type = operand_type(c, i)};
        size_t bytes = lane_bytes(o.type);
        if (shape == "D=TX" && i.name == "cvt" && ((variant >> (k ? 1 : 0)) & 1)) bytes *= variant > 4 && bytes < 4 ? 4 : 2;
        if (shape == "D=TX" && i.name == "cvt")
            bytes = std::min<size_t>(bytes, 8), o.type = bytes == 8 ? Type::u64 : bytes == 4 ? Type::u32 : Type::u16;
        o.reg = register_name(bytes, k);
        i.operands.push_back(o);
    };
    add(shape[0], 0);
    const bool pair = shape.starts_with("TP") ||
                      (shape.starts_with("Pp") && (i.last == Type::f16x2 || i.last == Type::bf16x2 || variant % 2));
    if (pair) i.second = {.type = Type::pred, .reg = "%p9"};
    size_t k = 0;
    for (const char c : shape.substr(equals + 1)) {
        if (c == 'C' || c == 'X') continue;
        if (c == 'p' && !i.combined()) continue;
        if (c == 's' && !combines && !(variant & 1)) continue;
        if (c == 'I') {
            i.table = rng.below(256);
            i.operands.push_back({});
        } else {
            add(c, ++k);
            const bool may_be = c == 'p' || (c == 'P' && (shape.find('I') != std::string_view::npos || shape == "T=TTP"));
            if (may_be && variant % 3 == 1) i.operands.back().negated = true;
            if (shape == "T=TTX" && ((variant + 1) % 4 >> (k - 1) & 1)) i.operands.back().negated = true;
        }
    }
    if (video) {
        const bool whole = combines && !simd;
        if (!whole && i.name != "vmad" && (simd || i.operands.size() > 3)) i.operands[0].part = part(true);
        if (i.name == "vmad" && !i.has(".po")) {
            i.operands[1].negated = rng.below(2), i.operands[2].negated = rng.below(2);
            i.operands[3].negated = i.operands[1].negated == i.operands[2].negated && rng.below(2);
        }
        i.operands[1].part = part(false), i.operands[2].part = part(false);
    }
    for (size_t n = 0; n < i.operands.size(); ++n) {
        const Operand& o = i.operands[n];
        text += n ? ", " : "";
        text += o.negated ? (o.type == Type::pred ? "!" : "-") : "";
        text += o.reg.empty() ? std::to_string(i.table) : o.reg;
        text += o.part.empty() ? "" : "." + o.part;
        if (n == 0 && pair) text += "|" + i.second.reg;
    }
    i.text = text;
    return i;
}

// --- values -----------------------------------------------------------------------------------------------------------

// The edges of a type as bits: zeros, ones, extremes, NaNs with payloads, infinities, subnormals, numbers whose rounding
// ties.
inline std::vector<uint64_t> edges(Type t) {
    const auto floats = [](int width, int fraction) {
        const uint64_t sign = 1ull << (width - 1), infinity = ((1ull << (width - 1 - fraction)) - 1) << fraction;
        const uint64_t one = ((1ull << (width - 2 - fraction)) - 1) << fraction, unit = 1ull << fraction;
        std::vector<uint64_t> all;
        for (const uint64_t magnitude : {uint64_t{0},
                                         uint64_t{1},
                                         uint64_t{2},
                                         unit / 2,
                                         unit - 1,
                                         unit,
                                         unit + 1,
                                         one,
                                         one + 1,
                                         one - 1,
                                         one - unit,
                                         one + unit / 2,
                                         one + unit + unit / 4,
                                         one + unit,
                                         infinity - 1,
                                         infinity,
                                         infinity + 1,
                                         infinity + unit / 2,
                                         2 * unit - 1,
                                         one + 4 * unit + unit / 8,
                                         one + static_cast<uint64_t>(fraction) * unit,
                                         one + static_cast<uint64_t>(fraction + 1) * unit + 1})
            all.push_back(magnitude), all.push_back(sign | magnitude);
        return all;
    };
    switch (t) {
        case Type::pred:
            return {0, 1};
        case Type::f32:
        case Type::tf32:
            return floats(32, 23);
        case Type::f64:
            return floats(64, 52);
        case Type::f16:
            return floats(16, 10);
        case Type::bf16:
            return floats(16, 7);
        case Type::f16x2:
        case Type::bf16x2:
        case Type::u16x2:
        case Type::s16x2: {
            std::vector<uint64_t> both;
            const auto one = edges(t == Type::f16x2 ? Type::f16 : t == Type::bf16x2 ? Type::bf16 : Type::s16);
            for (size_t k = 0; k < one.size(); ++k)
                both.push_back((one[k] & 0xffff) | (one[(k * 7 + 3) % one.size()] & 0xffff) << 16);
            return both;
        }
        default: {
            std::vector<uint64_t> all = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256};
            for (int bits : {15, 16, 24, 31, 32, 33, 63}) all.push_back(1ull << bits), all.push_back((1ull << bits) - 1);
            all.insert(all.end(),
                       {~0ull, ~1ull, ~31ull, 0x8000000000000001ull, 0xffffffff80000000ull, 0xffffffffffff8000ull});
            return all;
        }
    }
}
inline uint64_t random_value(Rng& rng, Type t) {
    const auto scaled = [&](double span) { return rng.uniform(-1, 1) * std::exp2(rng.uniform(-span, span)); };
    const uint64_t kind = rng.below(3);
    if (kind == 0) return rng.next();
    switch (t) {
        case Type::f32:
            return __builtin_bit_cast(uint32_t, static_cast<float>(scaled(30)));
        case Type::f64:
            return __builtin_bit_cast(uint64_t, scaled(kind == 1 ? 4 : 70));
        case Type::bf16:
            return __builtin_bit_cast(uint32_t, static_cast<float>(scaled(8))) >> 16;
        case Type::bf16x2:
            return (__builtin_bit_cast(uint32_t, static_cast<float>(scaled(8))) & 0xffff0000u) |
                   __builtin_bit_cast(uint32_t, static_cast<float>(scaled(8))) >> 16;
        case Type::f16:
        case Type::f16x2:
        case Type::u16x2:
        case Type::s16x2:
            return rng.next();
        default:
            return kind == 1 ? rng.below(70) : rng.next() >> rng.below(60);
    }
}

// --- running ----------------------------------------------------------------------------------------------------------

struct alignas(64) Cell {
    std::byte bytes[64];
};
class Machine {  // the registers of one warp
  public:
    explicit Machine(const Program& program)
        : registers_(program.register_bytes / 64 + 1), constants_(program.constants.size() / 64 + 1) {
        std::memcpy(constants_.data(), program.constants.data(), program.constants.size());
        for (const Register& r : program.registers) offsets_[r.name] = r.offset;
    }
    std::byte* at(const std::string& name) { return reinterpret_cast<std::byte*>(registers_.data()) + offsets_.at(name); }
    std::byte* at(int32_t offset) { return reinterpret_cast<std::byte*>(registers_.data()) + offset; }
    void set(const std::string& name, Type t, int lane, uint64_t bits) {
        if (t == Type::pred) {
            uint32_t mask;
            std::memcpy(&mask, at(name), 4);
            mask = (mask & ~(1u << lane)) | static_cast<uint32_t>(bits & 1) << lane;
            std::memcpy(at(name), &mask, 4);
        } else {
            std::memcpy(at(name) + static_cast<size_t>(lane) * lane_bytes(t), &bits, std::min<size_t>(lane_bytes(t), 8));
        }
    }
    uint64_t get(const std::string& name, Type t, int lane) {  // of b128 the lower half
        uint64_t bits = 0;
        if (t == Type::pred) {
            std::memcpy(&bits, at(name), 4);
            return bits >> lane & 1;
        }
        std::memcpy(&bits, at(name) + static_cast<size_t>(lane) * lane_bytes(t), std::min<size_t>(lane_bytes(t), 8));
        return bits;
    }
    void run(const DecodedInstruction& i, const Form& form) {
        const auto place = [&](int32_t o) {
            return o >= 0 ? reinterpret_cast<std::byte*>(registers_.data()) + o
                          : reinterpret_cast<std::byte*>(constants_.data()) + ~o;
        };
        std::byte* d[4] = {};
        const std::byte* s[5] = {};
        for (size_t k = 0; k < 4; ++k)
            if (i.destination[k] != no_operand) d[k] = place(i.destination[k]);
        for (size_t k = 0; k < 5; ++k)
            if (i.source[k] != no_operand) s[k] = place(i.source[k]);
        if (form.lanes)
            form.lanes(d[0], s[0], s[1], s[2]);
        else
            form.many(d, s);
    }
    bool operator==(const Machine& other) const {
        return std::memcmp(registers_.data(), other.registers_.data(), registers_.size() * 64) == 0;
    }

  private:
    std::vector<Cell> registers_, constants_;
    std::map<std::string, int32_t> offsets_;
};

inline Result<std::shared_ptr<const Program>> program_of(const std::vector<std::string>& statements) {
    std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n";
    text +=
        ".reg .pred %p<20>;\n.reg .b8 %c<20>;\n.reg .b16 %h<20>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n.reg .b128 "
        "%rq<20>;\n";
    for (const std::string& s : statements) text += s + ";\n";
    auto module = parse(text + "ret;\n}\n", "test.ptx");
    if (!module) return module.error();
    return decode(module.value(), "k");
}

// Where an instruction's form is in the table, to find it in the other copies.
struct Place {
    size_t row = 0, form = 0;
    auto operator<=>(const Place&) const = default;
};
inline Place place_of(const DecodedInstruction& i) {
    Place place{static_cast<size_t>(i.opcode - opcodes().data()), 0};
    for (const Form& f : i.opcode->forms) {
        if (f.lanes == i.lanes && f.many == i.many) break;
        ++place.form;
    }
    return place;
}

inline double as_double(uint64_t bits, Type t) {
    if (t == Type::f64) return __builtin_bit_cast(double, bits);
    return __builtin_bit_cast(float, static_cast<uint32_t>(bits));
}

// All rows of the groups: every spelling in a few variants, all edges against all edges, and random values.
inline void walk(const std::set<std::string_view>& groups, const Definition& definition, size_t least_spellings) {
    Rng rng(7);
    std::set<Place> reached;
    size_t checked = 0, undefined = 0;
    for (const Opcode& row : opcodes()) {
        if (!groups.contains(row.group) || row.operands.find('=') == std::string_view::npos) continue;
        std::vector<Instruction> instructions;
        for (const Form& form : row.forms) {
            const auto all = spellings(form.pattern);
            const size_t variants = row.operands.find_first_of("XI") == std::string_view::npos && row.operands != "T=TTP" ? 1
                                    : row.operands[0] == 'S'                                                              ? 8
                                                             : 4;
            for (size_t n = 0; n < all.size(); n += 1 + all.size() / 300)
                for (size_t v = 0; v < variants; ++v) {
                    // without a combination there is nothing to negate, and 8 bytes are as wide as registers get
                    instructions.push_back(write_down(row, all[n], v + (n % 5) * (variants == 4 ? 1 : 0), rng));
                }
        }
        std::vector<std::string> texts;
        for (const Instruction& i : instructions) texts.push_back(i.text);
        const auto program = program_of(texts);
        if (!program) FAIL(row.name << ": " << program.error().message << " in " << program.error().source_line);
        Machine fresh(*program.value());
        for (size_t n = 0; n < instructions.size(); ++n) {
            const Instruction& i = instructions[n];
            const DecodedInstruction& decoded = program.value()->instructions[n];
            if (!decoded.lanes && !decoded.many) FAIL(i.text << " is no lane-wise instruction");
            const Place place = place_of(decoded);
            reached.insert(place);
            const size_t sources = i.operands.size() - 1;
            const bool carries_in = row.operands.find('C', 2) != std::string_view::npos;
            std::vector<std::vector<uint64_t>> edge(sources);
            for (size_t k = 0; k < sources; ++k) {
                const Type t = i.source_type(k);
                edge[k] = edges(i.name == "cvt" && !i.has(".pack") && t != Type::f32 ? i.last : t);
                if (i.operands[k + 1].reg.empty()) edge[k] = {i.table};
            }
            const bool two = sources > 1 && edge[0].size() * edge[1].size() <= 2000;
            const size_t pairs = two ? edge[0].size() * edge[1].size() : edge[0].size();
            // Many spellings share the pairs of edges among them.
            const size_t rounds = std::min(pairs / 32 + 8, std::max<size_t>(4000 / instructions.size(), 4));
            const bool shares = rounds < pairs / 32 + 8;
            const size_t offset = shares ? n * rounds * 16 : 0;
            bool failed = false, defined = false;
            for (size_t round = 0; round < rounds && !failed; ++round) {
                Arguments x[32] = {};
                Machine& machine = fresh;
                const auto carry_in = static_cast<uint32_t>(rng.next());
                if (carries_in) {
                    for (size_t l = 0; l < 32; ++l) x[l][sources] = carry_in >> l & 1;
                }
                for (int l = 0; l < 32; ++l) {
                    const size_t at = offset + round * 32 + static_cast<size_t>(l);
                    const bool random = shares ? round % 2 == 1 : at >= pairs;
                    for (size_t k = 0; k < sources; ++k) {
                        const Operand& o = i.operands[k + 1];
                        const Type drawn = i.name == "cvt" && !i.has(".pack") ? i.last : o.type;
                        const size_t which = k == 0          ? at % edge[0].size()
                                             : k == 1 && two ? at / edge[0].size() % edge[1].size()
                                                             : rng.below(edge[k].size());
                        uint64_t bits = random && rng.below(4) ? random_value(rng, drawn)
                                                               : edge[k][random ? rng.below(edge[k].size()) : which];
                        if (o.type == Type::pred) bits &= 1;
                        x[l][k] = o.reg.empty() ? i.table : low(bits, o.type == Type::pred ? 1 : lane_bytes(o.type));
                        if (!o.reg.empty()) machine.set(o.reg, o.type, l, x[l][k]);
                    }
                }
                std::optional<Expected> answers[32];
                for (int l = 0; l < 32; ++l) answers[l] = definition(i, x[l]);
                for (const Simd simd : {Simd::portable, Simd::avx2, Simd::avx512}) {
                    const auto copy = opcodes(simd);
                    if (copy.empty()) continue;
                    if (carries_in) std::memcpy(machine.at(decoded.source[sources]), &carry_in, 4);
                    machine.run(decoded, copy[place.row].forms[place.form]);
                    for (int l = 0; l < 32 && !failed; ++l) {
                        const auto& expected = answers[l];
                        if (!expected) continue;
                        defined = true;
                        const Type to = i.operands[0].type;
                        const uint64_t got = machine.get(i.operands[0].reg, to, l);
                        bool right =
                            expected->elsewhere || got == low(expected->bits, to == Type::pred ? 1 : lane_bytes(to));
                        if (!right && expected->absolute + expected->relative > 0)
                            right = std::fabs(as_double(got, to) - expected->value) <=
                                    expected->absolute + expected->relative * std::fabs(expected->value);
                        uint64_t second = 0;
                        if (decoded.destination[1] != no_operand) {  // p|q or the carry flag
                            uint32_t mask;
                            std::memcpy(&mask, machine.at(decoded.destination[1]), 4);
                            second = mask >> l & 1;
                            right = right && expected->second && second == *expected->second;
                        }
                        if (right) continue;
                        failed = true;
                        FAIL_CHECK(i.text << " of " << std::hex << x[l][0] << " " << x[l][1] << " " << x[l][2] << " "
                                          << x[l][3] << ": got " << got << " " << second << ", not "
                                          << low(expected->bits, to == Type::pred ? 1 : lane_bytes(to)) << " "
                                          << expected->second.value_or(0) << " (copy " << static_cast<int>(simd) << ")");
                    }
                    if (failed) break;
                }
            }
            ++checked;
            if (!defined) {
                ++undefined;
                FAIL_CHECK(i.text << " has no definition in this test");
            }
        }
    }
    for (size_t r = 0; r < opcodes().size(); ++r) {
        const Opcode& row = opcodes()[r];
        if (!groups.contains(row.group) || row.operands.find('=') == std::string_view::npos) continue;
        for (size_t n = 0; n < row.forms.size(); ++n) {
            bool found = reached.contains({r, n});
            for (size_t other = 0; other < n && !found; ++other)  // forms that share a function
                found = row.forms[other].lanes == row.forms[n].lanes && row.forms[other].many == row.forms[n].many;
            INFO(row.name << row.forms[n].pattern);
            CHECK(found);
        }
    }
    CHECK(undefined == 0);
    CHECK(checked >= least_spellings);
}

// Which of the comparisons the instruction names, of two numbers of C++.
template <class T>
bool compares(const Instruction& i, T a, T b) {
    const bool nan = a != a || b != b;
    const std::pair<const char*, bool> words[] = {{".eq", a == b},         {".ne", !nan && a != b}, {".lt", a < b},
                                                  {".le", a <= b},         {".gt", a > b},          {".ge", a >= b},
                                                  {".lo", a < b},          {".ls", a <= b},         {".hi", a > b},
                                                  {".hs", a >= b},         {".equ", nan || a == b}, {".neu", nan || a != b},
                                                  {".ltu", nan || a < b},  {".leu", nan || a <= b}, {".gtu", nan || a > b},
                                                  {".geu", nan || a >= b}, {".num", !nan},          {".nan", nan}};
    for (const auto& [word, value] : words)
        if (i.has(word)) return value;
    throw std::runtime_error("no comparison");
}

}  // namespace opcode_test
