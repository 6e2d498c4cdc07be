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
#include "core/ptx/decode/program.h"
#include "core/ptx/opcodes/opcode.h"
#include "core/ptx/opcodes/opcode_text.h"
#include "core/ptx/parse/spelling.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace opcode_test {

using namespace lockstep;
using namespace lockstep::ptx;
using namespace lockstep::ptx::opcode_text;

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 wide_unsigned;

inline bool signed_type(Type t) {
    return name_of(t)[0] == 's';
}
inline bool float_type(Type t) {
    return name_of(t)[0] == 'f' || name_of(t).starts_with("bf");
}
inline wide number(uint64_t bits, Type t) {  // as the type has it
    const int width = t == Type::pred ? 1 : static_cast<int>(8 * size_of(t));
    const wide value = static_cast<wide>(width == 64 ? bits : bits & ((1ull << width) - 1));
    return signed_type(t) && (value >> (width - 1) & 1) ? value - (static_cast<wide>(1) << width) : value;
}

using Arguments = std::array<uint64_t, 5>;  // of one lane, in the order that the instruction has them

struct Expected {
    uint64_t bits = 0;
    std::optional<uint64_t> second = std::nullopt;
    double value = 0, absolute = 0, relative = 0;  // compared as a float of the type when a tolerance is given
    bool elsewhere = false;                        // a test of its own compares it
};
// Nothing: the definition has no answer for these arguments (the ISA bounds no error there).
using Definition = std::function<std::optional<Expected>(const Instruction&, const Arguments&)>;

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
            const size_t rounds = std::min(
                pairs / 32 + 8, std::max<size_t>((sanitized ? 400 : 4000) / instructions.size(), sanitized ? 2 : 4));
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
                        const opcode_text::Operand& o = i.operands[k + 1];
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
