// CUDA's mathematical functions, as every compiler here translates them (NVRTC and nvcc with NVIDIA's libdevice, clang with
// kernels/include/lockstep_math.h), run on the modelled GPU, against long double: each within 2 units in the last place or
// CUDA's documented bound (CUDA C++ Programming Guide, mathematical functions), whichever is larger.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/rng.h"
#include "core/device/arguments.h"
#include "core/device/kernels/kernel_library.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/compiler_support.h"

namespace device_math_test {

using namespace lockstep;
using namespace lockstep::device;

namespace {

using Exact = long double (*)(long double, long double);
struct Function {
    const char* f32;  // of x and y; "" none
    const char* f64;
    Exact exact;
    double low, high;  // of x, and of y where it has one
    double ulps_f32 = 2, ulps_f64 = 2;
    bool needs_libclc = true;  // not there in a clang without it
};
#define EXACT(expression) [](long double x, [[maybe_unused]] long double y) -> long double { return expression; }
constexpr long double pi = 3.14159265358979323846264338327950288L;
const Function functions[] = {
    {"expf(x)", "exp(x)", EXACT(std::exp(x)), -87, 88},
    {"exp2f(x)", "exp2(x)", EXACT(std::exp2(x)), -125, 127},
    {"exp10f(x)", "exp10(x)", EXACT(powl(10.0L, x)), -37, 38},
    {"expm1f(x)", "expm1(x)", EXACT(std::expm1(x)), -17, 80},
    {"logf(x)", "log(x)", EXACT(std::log(x)), 1e-30, 1e30},
    {"logf(x)", "log(x)", EXACT(std::log(x)), 0.5, 2},
    {"log2f(x)", "log2(x)", EXACT(std::log2(x)), 1e-30, 1e30},
    {"log2f(x)", "log2(x)", EXACT(std::log2(x)), 0.5, 2},
    {"log10f(x)", "log10(x)", EXACT(std::log10(x)), 1e-30, 1e30},
    {"log1pf(x)", "log1p(x)", EXACT(std::log1p(x)), -0.99, 1e4},
    {"sinf(x)", "sin(x)", EXACT(std::sin(x)), -3.2, 3.2, 2, 2, false},
    {"sinf(x)", "sin(x)", EXACT(std::sin(x)), -1e5, 1e5, 2, 2, false},
    {"cosf(x)", "cos(x)", EXACT(std::cos(x)), -1e5, 1e5, 2, 2, false},
    {"tanf(x)", "tan(x)", EXACT(std::tan(x)), -1e5, 1e5, 4, 2, false},
    {"sinf(x)", "sin(x)", EXACT(std::sin(x)), 1e5, 1e18, 2, 2, false},
    {"cosf(x)", "cos(x)", EXACT(std::cos(x)), 1e5, 1e18, 2, 2, false},
    {"tanf(x)", "tan(x)", EXACT(std::tan(x)), 1e5, 1e18, 4, 2, false},
    {"sinpif(x)", "sinpi(x)", EXACT(std::sin(pi* std::remainder(x, 2.0L))), -3.7, 3.7},
    {"asinf(x)", "asin(x)", EXACT(std::asin(x)), -1, 1},
    {"acosf(x)", "acos(x)", EXACT(std::acos(x)), -1, 0.999},
    {"atanf(x)", "atan(x)", EXACT(std::atan(x)), -50, 50},
    {"atan2f(x, y)", "atan2(x, y)", EXACT(std::atan2(x, y)), -10, 10, 3},
    {"sinhf(x)", "sinh(x)", EXACT(std::sinh(x)), -88, 88, 3},
    {"coshf(x)", "cosh(x)", EXACT(std::cosh(x)), -88, 88},
    {"tanhf(x)", "tanh(x)", EXACT(std::tanh(x)), -9, 9},
    {"asinhf(x)", "asinh(x)", EXACT(std::asinh(x)), -1e3, 1e3, 3, 3},
    {"acoshf(x)", "acosh(x)", EXACT(std::acosh(x)), 1.01, 1e3, 4, 3},
    {"atanhf(x)", "atanh(x)", EXACT(std::atanh(x)), -0.999, 0.999, 3},
    {"powf(x, y)", "pow(x, y)", EXACT(powl(x, y)), 0.05, 20, 4},
    {"hypotf(x, y)", "hypot(x, y)", EXACT(std::hypot(x, y)), -1e3, 1e3, 3},
    {"cbrtf(x)", "cbrt(x)", EXACT(std::cbrt(x)), -1e6, 1e6},
    {"erff(x)", "erf(x)", EXACT(std::erf(x)), -4, 4},
    {"erfcf(x)", "erfc(x)", EXACT(std::erfc(x)), -4, 9, 4, 5},
    {"tgammaf(x)", "tgamma(x)", EXACT(std::tgamma(x)), 0.1, 30, 5, 10},
    {"lgammaf(x)", "lgamma(x)", EXACT(std::lgamma(x)), 3, 1e4, 6, 4},
    {"fmodf(x, y)", "fmod(x, y)", EXACT(std::fmod(x, y)), -1e3, 1e3, 0, 0},
    {"sqrtf(x)", "sqrt(x)", EXACT(std::sqrt(x)), 0, 1e6, 0.5, 0.5, false},
    {"rsqrtf(x)", "", EXACT(1 / std::sqrt(x)), 1e-6, 1e6, 2, 2, false},
    {"roundf(x)", "round(x)", EXACT(std::round(x)), -9, 9, 0, 0, false},
    {"rintf(x)", "rint(x)", EXACT(std::nearbyint(x)), -9, 9, 0, 0, false},
    {"floorf(x)", "floor(x)", EXACT(std::floor(x)), -9, 9, 0, 0, false},
    {"fdividef(x, y)", "", EXACT(x / y), 0.1, 1e3, 2, 2, false},
};
constexpr int count = 1024;

// Distance in units in the last place of the exact value; infinite for a NaN that should be none.
template <class T>
double distance(T got, long double exact) {
    if (static_cast<T>(exact) == got) return 0;
    if (!std::isfinite(got)) return INFINITY;
    constexpr int digits = std::is_same_v<T, float> ? 24 : 53, least = std::is_same_v<T, float> ? -149 : -1074;
    int exponent = 0;
    std::frexp(exact, &exponent);
    return static_cast<double>(std::abs(static_cast<long double>(got) - exact) /
                               std::ldexp(1.0L, std::max(exponent - digits, least)));
}

// One source with a kernel for each function that `type` has.
std::string source_of(bool wide, bool libclc) {
    std::string source = "#define fdividef __fdividef\n";
    size_t number = 0;
    for (const Function& f : functions) {
        const std::string expression = wide ? f.f64 : f.f32;
        if (!expression.empty() && (libclc || !f.needs_libclc))
            source += fmt::format(
                "extern \"C\" __global__ void f{0}(const {1}* a, const {1}* b, {1}* out) {{\n"
                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    {1} x = a[i], y = b[i];\n    out[i] = {2};\n}}\n",
                number, wide ? "double" : "float", expression);
        ++number;
    }
    return source;
}

template <class T>
void check(const std::string& compiler, bool libclc) {
    constexpr bool wide = std::is_same_v<T, double>;
    const auto compiled = compile(source_of(wide, libclc), "math.cu", {.compiler = compiler});
    if (!compiled) FAIL(compiler << ": " << render(compiled.error()));
    const auto module = ptx::parse(compiled.value().ptx, "math.ptx").value();
    Rng rng(11);
    size_t number = 0;
    for (const Function& f : functions) {
        const std::string name = fmt::format("f{}", number++);
        const std::string expression = wide ? f.f64 : f.f32;
        if (expression.empty() || (f.needs_libclc && !libclc)) continue;
        std::vector<T> x(count), y(count);
        for (size_t i = 0; i < count; ++i) {
            const bool logarithmic = f.low > 0 && f.high / f.low > 1e6;
            x[i] = static_cast<T>(logarithmic ? std::exp(rng.uniform(std::log(f.low), std::log(f.high)))
                                              : rng.uniform(f.low, f.high));
            y[i] = static_cast<T>(rng.uniform(f.low, f.high));
        }
        const auto program = ptx::decode(module, name);
        if (!program) {
            FAIL_CHECK(compiler << " " << expression << ": " << render(program.error()));
            continue;
        }
        simt::Memory memory;
        const size_t bytes = count * sizeof(T);
        const uint64_t a = memory.allocate(bytes, "a"), b = memory.allocate(bytes, "b"), out = memory.allocate(bytes, "out");
        std::memcpy(memory.write(a, bytes), x.data(), bytes);
        std::memcpy(memory.write(b, bytes), y.data(), bytes);
        const std::vector<Argument> arguments = {Pointer{a}, Pointer{b}, Pointer{out}};
        const auto result =
            simt::launch(*program.value(), {{count / 128}, {128}, 0, pack(*program.value(), arguments)}, memory);
        if (result.fault) FAIL(simt::render(*result.fault));
        std::vector<T> got(count);
        std::memcpy(got.data(), memory.read(out, bytes), bytes);
        double worst = 0;
        size_t at = 0;
        for (size_t i = 0; i < count; ++i) {
            const double apart = distance(got[i], f.exact(x[i], y[i]));
            if (!(apart <= worst)) worst = apart, at = i;
        }
        INFO(compiler << " " << expression << " at " << x[at] << ", " << y[at] << ": " << got[at] << ", " << worst
                      << " ulp");
        CHECK(worst <= (wide ? f.ulps_f64 : f.ulps_f32) + 0.01);
    }
}

}  // namespace

TEST_CASE(
    "a sum and a product of a chosen rounding have their own bits, never those of one fused operation, by every compiler") {
    const std::string source = R"(
__global__ void f(const float* a, const float* b, const float* c, float* out) {
    int i = threadIdx.x;
    out[i] = __fadd_rn(__fmul_rn(a[i], b[i]), c[i]);
    out[32 + i] = __fsub_rn(__fmul_rn(a[i], b[i]), c[i]);
    out[64 + i] = __fmul_rn(a[i], b[i]) + c[i];
}
__global__ void d(const double* a, const double* b, const double* c, double* out) {
    int i = threadIdx.x;
    out[i] = __dadd_rn(__dmul_rn(a[i], b[i]), c[i]);
    out[32 + i] = __dsub_rn(__dmul_rn(a[i], b[i]), c[i]);
    out[64 + i] = __dmul_rn(a[i], b[i]) + c[i];
})";
    const auto check_bits = [](const ptx::Module& module, const char* kernel, auto zero) {
        using T = decltype(zero);
        const auto program = ptx::decode(module, kernel).value();
        Rng rng(5);
        T in[3][32];
        for (auto& array : in)
            for (T& one : array) one = static_cast<T>(rng.uniform(-2, 2));
        simt::Memory memory;
        uint64_t at[3];
        for (int i = 0; i < 3; ++i) {
            at[i] = memory.allocate(sizeof in[i], "in");
            std::memcpy(memory.write(at[i], sizeof in[i]), in[i], sizeof in[i]);
        }
        const uint64_t out = memory.allocate(96 * sizeof(T), "out");
        const std::vector<Argument> arguments = {Pointer{at[0]}, Pointer{at[1]}, Pointer{at[2]}, Pointer{out}};
        const auto result = simt::launch(*program, {{1}, {32}, 0, pack(*program, arguments)}, memory);
        if (result.fault) FAIL(simt::render(*result.fault));
        T got[96];
        std::memcpy(got, memory.read(out, sizeof got), sizeof got);
        for (size_t i = 0; i < 32; ++i) {
            const T product = in[0][i] * in[1][i];
            CHECK(got[i] == product + in[2][i]);
            CHECK(got[32 + i] == product - in[2][i]);
            CHECK(got[64 + i] == product + in[2][i]);
        }
    };
    for (const DeviceListing& compiler : list_compilers()) {
        if (!compiler.available) continue;
        INFO(compiler.name);
        const auto module =
            ptx::parse(compile(source, "alone.cu", {.compiler = compiler.name}).value().ptx, "alone.ptx").value();
        check_bits(module, "f", 0.0f);
        check_bits(module, "d", 0.0);
    }
}

TEST_CASE("every mathematical function is within 2 units in the last place or CUDA's bound, by every compiler") {
    for (const DeviceListing& compiler : list_compilers()) {
        if (!compiler.available) {
            WARN(compiler.name << " is not here: " << compiler.description);
            continue;
        }
        const bool all = compiler.name != "clang" || has_libclc();
        if (!all) WARN("clang has no libclc here: fewer functions are tested");
        check<float>(compiler.name, all);
        check<double>(compiler.name, all);
    }
}

}  // namespace device_math_test
