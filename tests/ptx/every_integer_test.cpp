// Every integer instruction of the opcode table: arithmetic, carry chains, logic, shifts, bit fields. The definitions count
// in 128 bits, or bit by bit.
#include "tests/ptx/opcode_support.h"

namespace ptx_every_integer_test {

using namespace opcode_test;

namespace {

Expected give(wide value) {
    return {.bits = static_cast<uint64_t>(value)};
}
wide clamped(wide value, wide least, wide most) {
    return std::min(std::max(value, least), most);
}
constexpr wide int_most = 0x7fffffff, int_least = -int_most - 1;

// One half of a u16x2 or s16x2.
wide half_of(const Instruction& i, wide a, wide b) {
    const wide r = i.name == "add" ? a + b : i.name == "min" ? std::min(a, b) : std::max(a, b);
    return i.has(".relu") ? std::max<wide>(r, 0) : r;
}

std::optional<Expected> arithmetic(const Instruction& i, const Arguments& x) {
    const Type t = i.last;
    const int width = static_cast<int>(8 * size_of(t));
    const wide a = number(x[0], t), b = number(x[1], t), c = number(x[2], t);
    const std::string& n = i.name;
    if (t == Type::u16x2 || t == Type::s16x2) {
        const Type part = t == Type::u16x2 ? Type::u16 : Type::s16;
        const auto half = [&](int k) {
            return static_cast<uint64_t>(half_of(i, number(x[0] >> k, part), number(x[1] >> k, part))) & 0xffff;
        };
        return Expected{.bits = half(0) | half(16) << 16};
    }
    const bool chained = i.has(".cc") || n == "addc" || n == "subc" || n == "madc";
    if (chained) {  // in unsigned numbers; the carry in comes last
        const Type u = width == 64 ? Type::u64 : Type::u32;
        const bool in = n == "addc" || n == "subc" || n == "madc", multiplies = n[0] == 'm';
        const wide carry = in ? static_cast<wide>(x[multiplies ? 3 : 2]) : 0;
        const wide product = static_cast<wide>(static_cast<wide_unsigned>(a) * static_cast<wide_unsigned>(b));
        const wide half = i.has(".hi") ? (signed_type(t) ? product >> width
                                                         : static_cast<wide>(static_cast<wide_unsigned>(product) >> width))
                                       : product;
        const wide result = multiplies    ? number(static_cast<uint64_t>(half), u) + number(x[2], u) + carry
                            : n[0] == 'a' ? number(x[0], u) + number(x[1], u) + carry
                                          : number(x[0], u) - number(x[1], u) - (in ? 1 - carry : 0);
        const bool subtracts = n[0] == 's';  // its flag is 0 where it borrows
        return Expected{.bits = static_cast<uint64_t>(result),
                        .second = static_cast<uint64_t>(result >> width & 1) ^ (subtracts ? 1u : 0u)};
    }
    const auto sat = [&](wide v) { return i.has(".sat") ? clamped(v, int_least, int_most) : v; };
    const auto rectified = [&](wide v) { return i.has(".relu") ? std::max<wide>(v, 0) : v; };
    if (n == "add") return give(sat(a + b));
    if (n == "sub") return give(sat(a - b));
    if (n == "mul" || n == "mad") {
        const wide_unsigned product = static_cast<wide_unsigned>(a) * static_cast<wide_unsigned>(b);
        if (i.has(".wide")) return give(static_cast<wide>(product + (n == "mad" ? x[2] : 0)));
        const wide part = !i.has(".hi")    ? static_cast<wide>(product)
                          : signed_type(t) ? static_cast<wide>(product) >> width
                                           : static_cast<wide>(product >> width);
        // Only the low bits count where nothing saturates: .u64 products fill all 128 bits.
        return give(
            sat(static_cast<wide>(static_cast<wide_unsigned>(part) + static_cast<wide_unsigned>(n == "mad" ? c : 0))));
    }
    if (n == "mul24" || n == "mad24") {
        const auto low_bits = [&](wide v) {
            const wide u = v & 0xffffff;
            return signed_type(t) && u >> 23 ? u - (1 << 24) : u;
        };
        const wide product = low_bits(a) * low_bits(b);
        return give(sat((i.has(".hi") ? product >> 16 : product) + (n == "mad24" ? c : 0)));
    }
    if (n == "div") return give(b == 0 ? -1 : a / b);
    if (n == "rem") return give(b == 0 ? -1 : a % b);
    if (n == "min") return give(rectified(std::min(a, b)));
    if (n == "max") return give(rectified(std::max(a, b)));
    if (n == "neg") return give(-a);
    if (n == "abs") return give(a < 0 ? -a : a);
    if (n == "sad") return give(c + (a > b ? a - b : b - a));
    const auto products = [&](int count, int at, Type of_a, Type of_b, int step) {
        wide sum = c;
        for (int k = 0; k < count; ++k) sum += number(x[0] >> step * k, of_a) * number(x[1] >> (at + 8 * k), of_b);
        return give(sum);
    };
    const Type byte_a = i.first == Type::s32 ? Type::s8 : Type::u8, byte_b = t == Type::s32 ? Type::s8 : Type::u8;
    if (n == "dp4a") return products(4, 0, byte_a, byte_b, 8);
    if (n == "dp2a") return products(2, i.has(".hi") ? 16 : 0, byte_a == Type::s8 ? Type::s16 : Type::u16, byte_b, 16);
    return {};
}

int bit(const wide& v, int k) {
    return static_cast<int>(v >> k & 1);
}

std::optional<Expected> logic(const Instruction& i, const Arguments& x) {
    const Type t = i.last;
    const int width = t == Type::pred ? 1 : static_cast<int>(8 * size_of(t));
    const wide a = number(x[0], t), b = number(x[1], t), c = number(x[2], t);
    const std::string& n = i.name;
    if (t == Type::pred && i.operands.size() > 2 && (i.operands[1].negated || i.operands[2].negated)) {
        const bool p = (x[0] & 1) != (i.operands[1].negated ? 1u : 0u), q = (x[1] & 1) != (i.operands[2].negated ? 1u : 0u);
        return Expected{.bits = n == "and" ? p && q : n == "or" ? p || q : p != q};
    }
    if (n == "and") return give(a & b);
    if (n == "or") return give(a | b);
    if (n == "xor") return give(a ^ b);
    if (n == "not") return give(~a & (t == Type::pred ? 1 : -1));
    if (n == "cnot") return give(a == 0);
    if (n == "lop3") {
        uint64_t result = 0;
        const uint64_t table = i.combined() ? i.table : x[3];
        for (int k = 0; k < 32; ++k) result |= (table >> (4 * bit(a, k) + 2 * bit(b, k) + bit(c, k)) & 1) << k;
        if (!i.combined()) return Expected{.bits = result};
        const uint64_t q = x[4] ^ (i.operands[5].negated ? 1 : 0);
        return Expected{.bits = result, .second = i.has(".or") ? (result != 0) | q : (result != 0) & q};
    }
    const uint32_t amount = static_cast<uint32_t>(x[1]);
    if (n == "shl") return give(amount >= static_cast<uint32_t>(width) ? 0 : a << amount);
    if (n == "shr") return give(a >> std::min<uint32_t>(amount, 100));
    if (n == "shf") {
        const uint64_t both = x[1] << 32 | x[0];
        const uint32_t by = static_cast<uint32_t>(i.has(".wrap") ? x[2] & 31 : std::min<uint64_t>(x[2], 32));
        return give(i.has(".l") ? static_cast<wide>((static_cast<wide_unsigned>(both) << by) >> 32)
                                : static_cast<wide>(both >> by));
    }
    return {};
}

std::optional<Expected> bit_field(const Instruction& i, const Arguments& x) {
    const Type t = i.last;
    const int width = static_cast<int>(8 * size_of(t));
    const wide a = number(x[0], t), b = number(x[1], t);
    const std::string& n = i.name;
    // The low byte of a position and a length, of 64 bits all of it: measured on an H200.
    const auto field = [&](uint64_t v) { return static_cast<int64_t>(width == 64 ? v & 0xffffffff : v & 255); };
    if (n == "bfe") {
        const int64_t at = field(x[1]), count = field(x[2]);
        wide result = 0;
        const int64_t top = std::min<int64_t>(at + count - 1, width - 1);
        const wide sign = signed_type(t) && count ? (a >> top & 1) : 0;
        for (int k = 0; k < width; ++k) result |= (k < count && at + k < width ? (a >> (at + k) & 1) : sign) << k;
        return give(count ? result : 0);
    }
    if (n == "bfi") {
        const int64_t at = field(x[2]), count = field(x[3]);
        wide result = b;
        for (int k = 0; k < count && at + k < width; ++k)
            result = (result & ~(static_cast<wide>(1) << (at + k))) | (a >> k & 1) << (at + k);
        return give(result);
    }
    if (n == "bmsk") {
        wide result = 0;
        const uint64_t at = i.has(".wrap") ? x[0] & 31 : x[0], count = i.has(".wrap") ? x[1] & 31 : x[1];
        for (uint64_t k = 0; k < 32; ++k) result |= static_cast<wide>(k >= at && k - at < count) << k;
        return give(result);
    }
    if (n == "szext") {
        const uint64_t count = i.has(".wrap") ? x[1] & 31 : x[1];
        uint64_t result = 0;
        for (uint64_t k = 0; k < 32; ++k) {
            const uint64_t from = k < count ? k : count - 1;
            if (count && (k < count || signed_type(t))) result |= (x[0] >> from & 1) << k;
        }
        return Expected{.bits = result};
    }
    if (n == "clz" || n == "popc" || n == "brev" || n == "bfind") {
        int zeros = 0, count = 0;
        wide reversed = 0;
        const wide v = n == "bfind" && a < 0 ? ~a : a;
        while (zeros < width && !bit(v, width - 1 - zeros)) ++zeros;
        for (int k = 0; k < width; ++k) count += bit(v, k), reversed |= static_cast<wide>(bit(v, k)) << (width - 1 - k);
        if (n == "bfind") return give(zeros == width ? 0xffffffff : i.has(".shiftamt") ? zeros : width - 1 - zeros);
        return give(n == "clz" ? zeros : n == "popc" ? count : reversed);
    }
    if (n == "fns") {  // steps from bit b, up or down, until the |c|-th set bit; c = 0: bit b itself
        const int64_t offset = static_cast<int32_t>(x[2]);
        if (offset == INT32_MIN) return give(0);  // measured on an H200
        if (x[1] > 31) return give(0xffffffff);
        if (offset == 0) return give(x[0] >> x[1] & 1 ? static_cast<wide>(x[1]) : 0xffffffff);
        int64_t left = std::abs(offset);
        for (int64_t at = static_cast<int64_t>(x[1]); at >= 0 && at<32; at += offset> 0 ? 1 : -1)
            if ((x[0] >> at & 1) && --left == 0) return give(at);
        return give(0xffffffff);
    }
    if (n == "prmt") {
        const uint64_t both = x[1] << 32 | x[0];
        const int mode = static_cast<int>(x[2] & 3);
        uint64_t result = 0;
        for (int k = 0; k < 4; ++k) {
            int from = static_cast<int>(x[2] >> 4 * k & 15);
            if (i.has(".f4e")) from = mode + k;
            if (i.has(".b4e")) from = (mode - k) & 7;
            if (i.has(".rc8")) from = mode;
            if (i.has(".ecl")) from = std::max(mode, k);
            if (i.has(".ecr")) from = std::min(mode, k);
            if (i.has(".rc16")) from = 2 * (mode & 1) + (k & 1);
            const uint64_t byte = both >> 8 * (from & 7) & 255;
            result |= (from < 8 ? byte : byte >> 7 ? 255 : 0) << 8 * k;
        }
        return Expected{.bits = result};
    }
    return {};
}

}  // namespace

TEST_CASE("every integer instruction gives what it means in every lane") {
    walk({"integer", "integer multiply", "integer divide"}, arithmetic, 120);
}

TEST_CASE("a carry goes from 32-bit to 64-bit chains and back") {
    const auto program = program_of({"add.cc.u32 %r3, %r1, %r2", "addc.cc.u64 %rd3, %rd1, %rd2", "addc.u32 %r4, %r1, 0"});
    REQUIRE(program);
    Machine machine(*program.value());
    machine.set("%r1", Type::u32, 5, 0xffffffff), machine.set("%r2", Type::u32, 5, 1);
    machine.set("%rd1", Type::u64, 5, ~0ull), machine.set("%rd2", Type::u64, 5, 0);
    for (size_t n = 0; n < 3; ++n) {
        const DecodedInstruction& i = program.value()->instructions[n];
        machine.run(i, opcodes()[place_of(i).row].forms[place_of(i).form]);
    }
    CHECK(machine.get("%r3", Type::u32, 5) == 0);
    CHECK(machine.get("%rd3", Type::u64, 5) == 0);
    CHECK(machine.get("%r4", Type::u32, 5) == 0);
    CHECK(machine.get("%r4", Type::u32, 4) == 0);
}

TEST_CASE("every instruction of logic, shifts and bit fields gives what it means in every lane") {
    walk({"logic and shift"}, logic, 34);
    walk({"bit field"}, bit_field, 30);
}

}  // namespace ptx_every_integer_test
