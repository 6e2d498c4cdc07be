// The clang of the Python package ziglang, where it is: LOCKSTEP_ZIG says so, as the package does.
#include <cstdlib>
#include <string>

#include "core/base/diagnostic.h"
#include "core/device/kernels/kernel_library.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace device_ziglang_test {

using namespace lockstep;

TEST_CASE("ziglang's clang compiles kernels with our headers, for every generation") {
    if (std::getenv("LOCKSTEP_ZIG") == nullptr) {
        WARN("not run: LOCKSTEP_ZIG does not say where zig is");
        return;
    }
    const std::string source =
        "__global__ void k(float* y, int n) {\n    if (threadIdx.x < n) y[threadIdx.x] = sqrtf(y[threadIdx.x]);\n}\n";
    for (const int generation : {70, 75, 80, 86, 89, 90}) {
        CAPTURE(generation);
        device::CompileOptions how;
        how.compiler = "ziglang";
        how.least_arch = generation;
        const auto compiled = device::compile(source, "k.cu", how);
        REQUIRE(compiled.ok());
        const auto program = ptx::decode(ptx::parse(compiled.value().ptx, "k.ptx").value(), "k");
        REQUIRE(program.ok());
        CHECK(program.value()->source_file.ends_with("k.cu"));
    }
    device::CompileOptions how;
    how.compiler = "ziglang";
    const auto broken = device::compile("__global__ void k(float* y) {\n    y[0] = 1.0f\n}\n", "k.cu", how);
    REQUIRE(!broken.ok());
    CHECK(broken.error().where.line == 2);
    CHECK(broken.error().message.find("expected ';'") != std::string::npos);
    const auto lacking = device::compile("__global__ void k(double* y) {\n    y[0] = lgamma(y[1]);\n}\n", "k.cu", how);
    if (!lacking.ok()) CHECK(lacking.error().message.find("ziglang's clang has no 'lgamma'") != std::string::npos);
}

TEST_CASE("a compiler that is missing says what to install") {
    if (std::getenv("LOCKSTEP_ZIG") != nullptr) return;
    device::CompileOptions how;
    how.compiler = "ziglang";
    try {
        device::compile("__global__ void k() {}\n", "k.cu", how).value();
    } catch (const Failure& failure) {
        CHECK(failure.diagnostic.message.find("pip install lockstep[compiler]") != std::string::npos);
    }
}

}  // namespace device_ziglang_test
