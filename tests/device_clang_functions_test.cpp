// The functions of kernels/include/lockstep_cuda.h, compiled by clang and run on the modelled GPU, against double precision:
// each keeps the error that it states.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/rng.h"
#include "core/device/arguments.h"
#include "core/device/kernel_library.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

using namespace lockstep;
using namespace lockstep::device;

namespace {
struct Function {
    const char* expression;  // of x
    double (*exact)(double);
    double low, high;           // of x
    double relative, absolute;  // as the header states, the sum of both
};
const Function functions[] = {
    {"expf(x)", [](double x) { return std::exp(x); }, -87, 88.7, 0x1p-21, 0},
    {"__expf(x)", [](double x) { return std::exp(x); }, -10, 10, 0x1p-22 + 10 * 0x1p-23, 0},
    {"exp2f(x)", [](double x) { return std::exp2(x); }, -100, 100, 0x1p-22, 0},
    {"logf(x)", [](double x) { return std::log(x); }, 1e-3, 1e3, 0x1p-21, 0x1p-22},
    {"log2f(x)", [](double x) { return std::log2(x); }, 1e-3, 1e3, 0x1p-22, 0x1p-22},
    {"log10f(x)", [](double x) { return std::log10(x); }, 1e-3, 1e3, 0x1p-21, 0x1p-22},
    {"exp10f(x)", [](double x) { return std::pow(10.0, x); }, -10, 10, 0x1p-21 + 10 * 0x1p-22, 0},
    {"powf(x, 2.5f)", [](double x) { return std::pow(x, 2.5); }, 1e-2, 1e2, 0x1p-20 * 18, 0},
    {"tanhf(x)", [](double x) { return std::tanh(x); }, -12, 12, 0, 0x1p-21},
    {"sinf(x)", [](double x) { return std::sin(x); }, -1e4, 1e4, 0, 0x1p-19},
    {"cosf(x)", [](double x) { return std::cos(x); }, -1e4, 1e4, 0, 0x1p-19},
    {"rsqrtf(x)", [](double x) { return 1 / std::sqrt(x); }, 1e-6, 1e6, 0x1p-22, 0},
    {"sqrtf(x)", [](double x) { return std::sqrt(x); }, 0, 1e6, 0x1p-24, 0},
    {"rintf(x)", [](double x) { return std::nearbyint(x); }, -9, 9, 0, 0},
    {"floorf(x)", [](double x) { return std::floor(x); }, -9, 9, 0, 0},
    {"ceilf(x)", [](double x) { return std::ceil(x); }, -9, 9, 0, 0},
    {"fabsf(x)", [](double x) { return std::abs(x); }, -9, 9, 0, 0},
    {"fminf(x, 1.0f)", [](double x) { return std::fmin(x, 1.0); }, -9, 9, 0, 0},
    {"fmaxf(x, 1.0f)", [](double x) { return std::fmax(x, 1.0); }, -9, 9, 0, 0},
    {"(float)__popc((int)x)", [](double x) { return double(std::popcount(static_cast<unsigned>(x))); }, 0, 1e6, 0, 0},
    {"(float)__clz((int)x)", [](double x) { return double(std::countl_zero(static_cast<unsigned>(x))); }, 0, 1e6, 0, 0},
    {"(float)min((int)x, 3)", [](double x) { return double(std::min(static_cast<int>(x), 3)); }, -9, 9, 0, 0},
};
constexpr int count = 4096;

std::vector<float> evaluated(const Function& function, const std::vector<float>& x) {
    const std::string source = fmt::format(
        "extern \"C\" __global__ void f(const float* in, float* out) {{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    float x = in[i];\n    out[i] = {};\n}}\n",
        function.expression);
    const auto module = ptx::parse(compile(source, "f.cu", {.compiler = "clang"}).value().ptx, "f.ptx").value();
    const auto program = ptx::decode(module).value();
    simt::Memory memory;
    const uint64_t in = memory.allocate(x.size() * 4, "in"), out = memory.allocate(x.size() * 4, "out");
    std::memcpy(memory.write(in, x.size() * 4), x.data(), x.size() * 4);
    const std::vector<Argument> arguments = {Pointer{in}, Pointer{out}};
    const auto result = simt::launch(*program, {{count / 256}, {256}, 0, pack(*program, arguments)}, memory);
    if (result.fault) FAIL(simt::render(*result.fault));
    std::vector<float> y(x.size());
    std::memcpy(y.data(), memory.read(out, x.size() * 4), x.size() * 4);
    return y;
}
}  // namespace

TEST_CASE("every function for toolkit-less clang keeps the error that it states") {
    for (const DeviceListing& listing : list_compilers())
        if (listing.name == "clang" && !listing.available) {
            WARN("clang is not here: " << listing.description);
            return;
        }
    Rng rng(11);
    for (const Function& function : functions) {
        std::vector<float> x(count);
        for (float& value : x) value = static_cast<float>(rng.uniform(function.low, function.high));
        const std::vector<float> y = evaluated(function, x);
        double worst = 0;  // of the error over what is allowed
        float at = 0;
        for (size_t i = 0; i < x.size(); ++i) {
            const double exact = function.exact(double{x[i]}), error = std::abs(double{y[i]} - exact);
            const double allowed = function.absolute + function.relative * std::abs(exact) + std::abs(exact) * 0x1p-24;
            const double ratio = error == 0 ? 0 : error / allowed;
            if (!(ratio <= worst)) worst = ratio, at = x[i];
        }
        INFO(function.expression << " at " << at);
        CHECK(worst <= 1.0);
    }
}
