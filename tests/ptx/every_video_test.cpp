// Every video instruction of the opcode table, scalar and SIMD. The definition takes operands apart as text has them
// (%r1.b2), computes in 128 bits and puts the result together digit by digit.
#include "tests/ptx/opcode_support.h"

namespace ptx_every_video_test {

using namespace opcode_test;

namespace {

struct Part {
    int first = 0, bits = 32;
};
Part part_of(const std::string& text) {
    if (text.empty()) return {};
    const int width = text[0] == 'h' ? 16 : 8;
    return {width * (text[1] - '0'), width};
}
wide extract(uint64_t word, Part part, bool is_signed) {
    wide value = 0;
    for (int k = 0; k < part.bits; ++k)
        value +=
            (word >> (part.first + k) & 1) ? (is_signed && k == part.bits - 1 ? -1 : 1) * (static_cast<wide>(1) << k) : 0;
    return value;
}
wide clamped(wide value, int bits, bool is_signed) {
    const wide span = static_cast<wide>(1) << bits;
    return is_signed ? std::min(std::max(value, -span / 2), span / 2 - 1)
                     : std::min<wide>(std::max<wide>(value, 0), span - 1);
}
wide operation(const Instruction& i, const std::string& stem, wide a, wide b) {
    if (stem == "vadd") return a + b;
    if (stem == "vsub") return a - b;
    if (stem == "vabsdiff") return a < b ? b - a : a - b;
    if (stem == "vmin") return std::min(a, b);
    if (stem == "vmax") return std::max(a, b);
    if (stem == "vset") return compares(i, a, b);
    if (stem == "vavrg") {  // the middle, away from zero; the sum of two equal bits counts as positive when it is zero
        const wide sum = a + b, half = (sum < 0 ? -sum : sum) / 2;
        if (sum % 2 == 0) return sum / 2;
        return sum > 0 ? half + 1 : -half - 1;
    }
    const wide by = i.has(".wrap") ? b % 32 : std::min<wide>(b, 32);
    wide result = a;
    for (wide k = 0; k < by; ++k)
        result = stem == "vshl" ? result * 2 : (result - (result < 0 ? (result % 2 ? 1 : 0) : 0)) / 2;
    return result;
}

std::optional<Expected> scalar(const Instruction& i, const Arguments& x) {
    const bool compares_only = i.name == "vset";
    const bool d_signed = i.types[0] == Type::s32;
    const bool a_signed = i.types[compares_only ? 0 : 1] == Type::s32,
               b_signed = i.types[compares_only ? 1 : 2] == Type::s32;
    const wide a = extract(x[0], part_of(i.operands[1].part), a_signed),
               b = extract(x[1], part_of(i.operands[2].part), b_signed);
    if (i.name == "vmad") {
        const bool minus = i.operands[1].negated != i.operands[2].negated, minus_c = i.operands[3].negated;
        const bool is_signed = a_signed || b_signed || minus || minus_c;
        const wide c = number(x[2], is_signed ? Type::s32 : Type::u32);
        wide sum = (minus ? -1 : 1) * a * b + (minus_c ? -1 : 1) * c + (i.has(".po") ? 1 : 0);
        const int shift = i.has(".shr7") ? 7 : i.has(".shr15") ? 15 : 0;
        const wide divisor = static_cast<wide>(1) << shift;
        sum = (sum - ((sum % divisor) + divisor) % divisor) / divisor;  // down
        return Expected{.bits = static_cast<uint64_t>(i.has(".sat") ? clamped(sum, 32, is_signed) : sum)};
    }
    const Part to = part_of(i.operands[0].part);
    // What comes behind the operation as it was measured on an H200: see forms/video.h.
    wide value = operation(i, i.name, a, b);
    const bool sums = i.name == "vadd" || i.name == "vsub", chooses = i.name == "vmin" || i.name == "vmax";
    const bool part = !i.operands[0].part.empty();
    const wide ones = 0xffffffff, huge = static_cast<wide>(1) << 40;
    if (i.has(".sat")) {
        if (part && (sums || chooses) && value < 0) value = huge;
        if (!part && sums && !d_signed && value > ones) value -= ones + 1;
        value = clamped(value, to.bits, d_signed);
    }
    const Type d = d_signed ? Type::s32 : Type::u32;
    const wide c = number(x[2], d);
    if (i.has(".add")) value += c;
    if (i.has(".min") || i.has(".max")) {
        if (sums) value = number(static_cast<uint64_t>(value & ones), d);
        if (!d_signed && ((chooses && value < 0) || (sums && value > ones / 2))) value += huge;
        value = i.has(".min") ? std::min(value, c) : std::max(value, c);
    }
    if (i.operands[0].part == "h1") value >>= 16;  // not the lower half
    if (i.operands[0].part.empty()) return Expected{.bits = static_cast<uint64_t>(value)};
    uint64_t merged = 0;
    for (int k = 0; k < 32; ++k)
        merged |=
            (k >= to.first && k < to.first + to.bits ? static_cast<uint64_t>(value >> (k - to.first) & 1) : x[2] >> k & 1)
            << k;
    return Expected{.bits = merged};
}

std::optional<Expected> simd(const Instruction& i, const Arguments& x) {
    const std::string stem = i.name.substr(0, i.name.size() - 1);
    const int parts = i.name.back() - '0', width = 32 / parts;
    const bool compares_only = stem == "vset";
    const bool a_signed = i.types[compares_only ? 0 : 1] == Type::s32,
               b_signed = i.types[compares_only ? 1 : 2] == Type::s32;
    std::vector<uint64_t> lanes;  // of a, then of b
    for (const uint64_t word : {x[0], x[1]})
        for (int k = 0; k < parts; ++k) lanes.push_back(word >> k * width);
    const auto picked = [&](const std::string& part, int k, int usual, bool is_signed) {
        const int which = part.empty() ? usual + k : part[part.size() - 1 - static_cast<size_t>(k)] - '0';
        return extract(lanes[static_cast<size_t>(which)], {0, width}, is_signed);
    };
    uint64_t result = 0;
    wide sum = static_cast<wide>(x[2]);
    for (int k = 0; k < parts; ++k) {
        wide value =
            operation(i, stem, picked(i.operands[1].part, k, 0, a_signed), picked(i.operands[2].part, k, parts, b_signed));
        if (i.has(".sat")) value = clamped(value, width, i.types[0] == Type::s32);
        const std::string& mask = i.operands[0].part;
        const bool chosen = mask.empty() || mask.find(static_cast<char>('0' + k)) != std::string::npos;
        if (chosen) sum += value;
        const uint64_t bits = chosen ? static_cast<uint64_t>(value) : x[2] >> k * width;
        result |= (bits & ((1ull << width) - 1)) << k * width;
    }
    return Expected{.bits = i.has(".add") ? static_cast<uint64_t>(sum) : result};
}

}  // namespace

TEST_CASE("every video instruction gives what it means in every lane") {
    walk(
        {"video"},
        [](const Instruction& i, const Arguments& x) {
            return i.name.back() == '2' || i.name.back() == '4' ? simd(i, x) : scalar(i, x);
        },
        1000);
}

TEST_CASE("a part of a register that there is not is refused with its name") {
    const std::pair<const char*, const char*> wrong[] = {{"vadd.u32.u32.u32 %r1, %r2.b4, %r3", "b4"},
                                                         {"vadd.u32.u32.u32 %r1, %r2.h2, %r3", "h2"},
                                                         {"vadd.u32.u32.u32 %r1, %r2, %r3.h10", "h10"},
                                                         {"vadd2.u32.u32.u32 %r1, %r2.h40, %r3, %r4", "h40"},
                                                         {"vadd4.u32.u32.u32 %r1.b012, %r2, %r3, %r4", "b012"},
                                                         {"vadd4.u32.u32.u32 %r1, %r2.b01, %r3, %r4", "b01"},
                                                         {"vadd.u32.u32.u32 %r1.b0, %r2, %r3", "third operand"},
                                                         {"vmad.u32.u32.u32.po %r1, -%r2, %r3, %r4", "negated"},
                                                         {"vadd.u32.u32.u32 %r1, -%r2, %r3", "number"}};
    for (const auto& [text, word] : wrong) {
        const auto program = program_of({text});
        INFO(text);
        REQUIRE(!program);
        CHECK(program.error().message.find(word) != std::string::npos);
    }
}

}  // namespace ptx_every_video_test
