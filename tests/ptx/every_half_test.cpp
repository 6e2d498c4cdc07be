// Every instruction of f16, bf16 and their pairs: defined by exact arithmetic rounded once, half by half.
#include "tests/ptx/exact.h"
#include "tests/ptx/opcode_support.h"

namespace ptx_every_half_test {

using namespace opcode_test;
using exact::Number;

namespace {

struct Half {
    const exact::Format& format;
    const Instruction& i;

    bool negative(uint64_t x) const { return x >> 15 & 1; }
    bool nan(uint64_t x) const { return format.nan(x); }
    bool infinite(uint64_t x) const { return format.infinite(x); }
    uint64_t flushed(uint64_t x) const { return i.has(".ftz") && (x & 0x7fff) < 1ull << format.fraction ? x & 0x8000 : x; }
    uint64_t finish(uint64_t x) const {
        x = flushed(x);
        const uint64_t one = static_cast<uint64_t>(format.bias()) << format.fraction;
        if (i.has(".sat")) return nan(x) || negative(x) ? 0 : std::min(x, one);
        if (i.has(".relu") && !nan(x) && negative(x)) return 0;
        return x;
    }
    // a * b + c; infinities and NaNs first
    uint64_t fma(uint64_t a, uint64_t b, uint64_t c, bool add_only) const {
        if (i.has(".oob") && (a == 0x7fff || b == 0x7fff || c == 0x7fff)) return 0;
        if (nan(a) || nan(b) || nan(c)) return finish(0x7fff);
        const bool zero_a = (a & 0x7fff) == 0, zero_b = (b & 0x7fff) == 0;
        const bool minus = negative(a) != negative(b);
        if (infinite(a) || infinite(b)) {
            if (zero_a || zero_b || (infinite(c) && negative(c) != minus)) return finish(0x7fff);
            return finish(format.infinity() | (minus ? 0x8000u : 0u));
        }
        if (infinite(c)) return finish(c);
        const Number p = exact::product(format, a, b), sum = p + Number::of(format, c);
        const bool same_zeros = p.sign() == 0 && (c & 0x7fff) == 0 && minus == negative(c);
        (void)add_only;
        const Number nearly = Number::scaled((1 << 12) - 1, -26, false);  // is rounded to f16's smallest normal number
        if (i.has(".ftz") && sum.sign() != 0 && (sum.sign() > 0 ? nearly - sum : nearly + sum).sign() > 0)
            return finish(sum.sign() < 0 ? 0x8000 : 0);
        return finish(exact::round_to(format, sum, exact::Rounding::nearest, same_zeros && minus));
    }
    uint64_t operator()(uint64_t x, uint64_t y, uint64_t z) const {
        const std::string& n = i.name;
        const uint64_t a = flushed(x), b = flushed(y), c = flushed(z);
        const uint64_t one = static_cast<uint64_t>(format.bias()) << format.fraction;
        if (n == "add") return fma(a, one, b, true);
        if (n == "sub") return nan(b) ? finish(0x7fff) : fma(a, one, b ^ 0x8000, true);
        if (n == "mul") return nan(a) || nan(b) ? finish(0x7fff) : fma(a, b, negative(a) != negative(b) ? 0x8000 : 0, false);
        if (n == "fma") return fma(a, b, c, false);
        if ((n == "neg" || n == "abs") && nan(a)) return 0x7fff;
        if (n == "neg") return a ^ 0x8000;
        if (n == "abs") return a & 0x7fff;
        // min and max
        const bool signs = i.has(".xorsign");
        const uint64_t p = signs ? a & 0x7fff : a, q = signs ? b & 0x7fff : b;
        const auto order = [&](uint64_t v) { return negative(v) ? -static_cast<int>(v & 0x7fff) - 1 : static_cast<int>(v); };
        uint64_t r;
        if (nan(p) || nan(q))
            r = i.has(".NaN") || (nan(p) && nan(q)) ? 0x7fff : nan(p) ? q : p;
        else
            r = (order(p) < order(q)) == (n == "min") ? p : q;
        return signs && !nan(r) ? (r & 0x7fff) | ((a ^ b) & 0x8000) : r;
    }
};

std::optional<Expected> definition(const Instruction& i, const Arguments& x) {
    const bool pair = i.last == Type::f16x2 || i.last == Type::bf16x2;
    const Half half{i.last == Type::f16 || i.last == Type::f16x2 ? exact::f16 : exact::bf16, i};
    const uint64_t first = half(x[0] & 0xffff, x[1] & 0xffff, x[2] & 0xffff);
    if (!pair) return Expected{.bits = first};
    return Expected{.bits = first | half(x[0] >> 16 & 0xffff, x[1] >> 16 & 0xffff, x[2] >> 16 & 0xffff) << 16};
}

}  // namespace

TEST_CASE("every half-precision instruction rounds the exact result once") {
    walk({"half"}, definition, 90);
}

}  // namespace ptx_every_half_test
