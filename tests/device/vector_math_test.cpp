// The host's vectorisable elementary functions against the C library's, in units in the last place, over the whole range and
// at its edges; f16 and bf16 conversions against core/base's.
#include "core/device/twins/vector_math.h"

#include <bit>
#include <cmath>
#include <limits>

#include "core/base/dtype.h"
#include "core/base/rng.h"
#include "core/device/twins/element.h"
#include "tests/catch.h"

namespace device_vector_math_test {

using namespace lockstep;
namespace math = lockstep::device::twins::portable;

namespace {
// Distance in units in the last place of the expected value; infinite when one is NaN and the other is not.
template <class T>
double apart(T got, long double expected) {
    const T rounded = static_cast<T>(expected);
    if (std::isnan(got) || std::isnan(rounded)) return std::isnan(got) && std::isnan(rounded) ? 0 : INFINITY;
    if (got == rounded) return 0;
    if (std::isinf(got) || std::isinf(rounded)) return INFINITY;
    const T unit = std::max(std::nextafter(std::abs(rounded), std::numeric_limits<T>::infinity()) - std::abs(rounded),
                            std::numeric_limits<T>::denorm_min());
    return static_cast<double>(std::abs(static_cast<long double>(got) - expected) / static_cast<long double>(unit));
}

template <class T, class Got, class Expected>
double worst(double low, double high, Got got, Expected expected) {
    Rng rng(7);
    double most = 0;
    for (int i = 0; i < 200000; ++i) {
        const T x = static_cast<T>(rng.uniform(low, high));
        most = std::max(most, apart<T>(got(x), expected(static_cast<long double>(x))));
    }
    return most;
}

template <class T>
void check_all() {
    const auto exp_of = [](T x) { return math::exp_of(x); };
    const auto log_of = [](T x) { return math::log_of(x); };
    const auto tanh_of = [](T x) { return math::tanh_of(x); };
    const auto erf_of = [](T x) { return math::erf_of(x); };
    const auto real_exp = [](long double x) { return std::exp(x); };
    const auto real_log = [](long double x) { return std::log(x); };
    const auto real_tanh = [](long double x) { return std::tanh(x); };
    const auto real_erf = [](long double x) { return std::erf(x); };
    const bool wide = sizeof(T) == 8;
    CHECK(worst<T>(-1, 1, exp_of, real_exp) < 2);
    CHECK(worst<T>(wide ? -700 : -86, wide ? 700 : 88, exp_of, real_exp) < 2);
    CHECK(worst<T>(0, 2, log_of, real_log) < 2);
    CHECK(worst<T>(0, 1e30, log_of, real_log) < 2);
    CHECK(worst<T>(-1, 1, tanh_of, real_tanh) < 4);
    CHECK(worst<T>(-30, 30, tanh_of, real_tanh) < 4);
    CHECK(worst<T>(-1.5, 1.5, erf_of, real_erf) < 4);
    CHECK(worst<T>(-8, 8, erf_of, real_erf) < 4);

    const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    const T tiny = std::numeric_limits<T>::denorm_min();
    CHECK(math::exp_of(inf) == inf);
    CHECK(math::exp_of(-inf) == 0);
    CHECK(math::exp_of(T(0)) == 1);
    CHECK(std::isnan(math::exp_of(nan)));
    CHECK(math::log_of(T(0)) == -inf);
    CHECK(math::log_of(T(1)) == 0);
    CHECK(math::log_of(inf) == inf);
    CHECK(std::isnan(math::log_of(T(-1))));
    CHECK(std::isnan(math::log_of(nan)));
    CHECK(apart<T>(math::log_of(tiny), std::log(static_cast<long double>(tiny))) < 2);
    CHECK(math::tanh_of(inf) == 1);
    CHECK(math::tanh_of(-inf) == -1);
    CHECK(std::isnan(math::tanh_of(nan)));
    CHECK(math::erf_of(inf) == 1);
    CHECK(math::erf_of(-inf) == -1);
    CHECK(std::isnan(math::erf_of(nan)));
}
}  // namespace

TEST_CASE("the host's f32 exp, log, tanh and erf are within a few units in the last place") {
    check_all<float>();
}

TEST_CASE("the host's f64 exp, log, tanh and erf are within a few units in the last place") {
    check_all<double>();
}

TEST_CASE("f16 and bf16 convert as the tables of IEEE 754 say, both ways") {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
        math::f16 half;
        half.bits = static_cast<uint16_t>(bits);
        const float a = half, b = f16_to_f32(half.bits);
        if (!(std::isnan(a) && std::isnan(b)) && std::bit_cast<uint32_t>(a) != std::bit_cast<uint32_t>(b))
            FAIL("f16 " << bits << ": " << a << " is not " << b);
        math::bf16 brain;
        brain.bits = static_cast<uint16_t>(bits);
        const float c = brain, d = bf16_to_f32(brain.bits);
        if (!(std::isnan(c) && std::isnan(d)) && std::bit_cast<uint32_t>(c) != std::bit_cast<uint32_t>(d))
            FAIL("bf16 " << bits << ": " << c << " is not " << d);
    }
    Rng rng(3);
    for (int i = 0; i < 2000000; ++i) {
        // Any bits, and as many values where f16 rounds, overflows and has its subnormals.
        const auto given = static_cast<uint32_t>(rng.below(uint64_t{1} << 32));
        const uint32_t bits = i % 2 ? given : (given & 0x80ffffffu) | static_cast<uint32_t>(0x30 + rng.below(0x19)) << 24;
        const float value = std::bit_cast<float>(bits);
        const uint16_t half = math::f16(value).bits, brain = math::bf16(value).bits;
        if (std::isnan(value)) {
            if (!std::isnan(f16_to_f32(half)) || !std::isnan(bf16_to_f32(brain)))
                FAIL("a NaN of bits " << bits << " is lost");
            continue;
        }
        if (half != f32_to_f16(value)) FAIL("f16 of " << value << ": " << half << " is not " << f32_to_f16(value));
        if (brain != f32_to_bf16(value)) FAIL("bf16 of " << value << ": " << brain << " is not " << f32_to_bf16(value));
    }
}

}  // namespace device_vector_math_test
