// The library's entry: sources to kernels, borrowed arrays to launches, and what is said of what does not fit.
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "core/api/api.h"
#include "core/api/report.h"
#include "tests/catch.h"

namespace api_launch_test {

using namespace lockstep;
using namespace lockstep::api;

namespace {

// y[i] = a * x[i] + y[i], as a compiler makes it of CUDA C++; the text that it was made of comes along.
constexpr const char* saxpy_text = R"(__global__ void saxpy(const float* x, float* y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
)";
constexpr const char* saxpy_ptx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry _Z5saxpyPKfPffi(.param .u64 _Z5saxpyPKfPffi_param_0, .param .u64 _Z5saxpyPKfPffi_param_1,
                                .param .f32 _Z5saxpyPKfPffi_param_2, .param .u32 _Z5saxpyPKfPffi_param_3)
{
    .reg .pred %p<2>;
    .reg .f32 %f<5>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<8>;
    .loc 1 2 0
    ld.param.u64 %rd1, [_Z5saxpyPKfPffi_param_0];
    ld.param.u64 %rd2, [_Z5saxpyPKfPffi_param_1];
    ld.param.f32 %f1, [_Z5saxpyPKfPffi_param_2];
    ld.param.u32 %r2, [_Z5saxpyPKfPffi_param_3];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.s32 %r1, %r3, %r4, %r5;
    .loc 1 3 0
    setp.ge.s32 %p1, %r1, %r2;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mul.wide.s32 %rd5, %r1, 4;
    add.s64 %rd6, %rd3, %rd5;
    add.s64 %rd7, %rd4, %rd5;
    ld.global.f32 %f2, [%rd6];
    ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f4, %f2, %f1, %f3;
    st.global.f32 [%rd7], %f4;
DONE:
    ret;
}
.file 1 "saxpy.cu"
)";

std::shared_ptr<const Kernel> saxpy() {
    return std::make_shared<const Kernel>(Source{.text = saxpy_ptx, .file = "saxpy.ptx", .source_text = saxpy_text});
}

template <class T>
Borrowed borrow(std::vector<T>& values, DType type, bool writable = true) {
    return {reinterpret_cast<std::byte*>(values.data()),
            values.size() * sizeof(T),
            type,
            {static_cast<int64_t>(values.size())},
            writable};
}
Scalar fraction(double value) {
    return {.fraction = true, .real = value};
}
Scalar whole(int64_t value) {
    return {.whole = value};
}
Launch on(uint32_t grid, uint32_t block) {
    Launch how;
    how.grid = {grid, 1, 1};
    how.block = {block, 1, 1};
    return how;
}

std::string refusal(const std::vector<Argument>& arguments, const Launch& how = on(1, 32)) {
    try {
        launch(saxpy(), arguments, how);
    } catch (const Failure& failure) {
        return failure.diagnostic.message;
    }
    return {};
}

}  // namespace

TEST_CASE("a kernel reads and writes the caller's arrays where they lie") {
    std::vector<float> x(1000), y(1000, 1);
    std::iota(x.begin(), x.end(), 0.0f);
    const float* const before = y.data();
    const Launched ran =
        launch(saxpy(), {borrow(x, DType::f32), borrow(y, DType::f32), fraction(2), whole(1000)}, on(4, 256));
    REQUIRE(!ran.faulted());
    CHECK(y.data() == before);
    for (size_t i = 0; i < y.size(); ++i) REQUIRE(y[i] == 2 * static_cast<float>(i) + 1);
    CHECK(ran.run->result.cycles > 0);
    CHECK(ran.verdict);
    // What the array held before is known, for replays and for a copy of the result.
    const std::vector<std::byte> held = ran.before(1);
    REQUIRE(held.size() == 4000);
    CHECK(reinterpret_cast<const float*>(held.data())[999] == 1);
}

TEST_CASE("cycles do not depend on where the caller's arrays lie") {
    std::vector<float> room(5000, 1);
    int64_t cycles = 0;
    for (const size_t shift : {0, 1, 7, 33}) {
        const Borrowed x{reinterpret_cast<std::byte*>(room.data() + shift), 4000, DType::f32, {1000}, true};
        const Borrowed y{reinterpret_cast<std::byte*>(room.data() + shift + 2000), 4000, DType::f32, {1000}, true};
        const Launched ran = launch(saxpy(), {x, y, fraction(2), whole(1000)}, on(4, 256));
        if (cycles == 0) cycles = ran.run->result.cycles;
        CHECK(ran.run->result.cycles == cycles);
    }
}

TEST_CASE("arrays that overlap for the caller overlap for the kernel") {
    std::vector<float> room(65, 1);
    const Borrowed all{reinterpret_cast<std::byte*>(room.data()), 4 * 64, DType::f32, {64}, true};
    const Borrowed shifted{reinterpret_cast<std::byte*>(room.data() + 1), 4 * 64, DType::f32, {64}, true};
    const Launched ran = launch(saxpy(), {all, shifted, fraction(1), whole(32)}, on(1, 32));
    CHECK(ran.arguments[1].address == ran.arguments[0].address + 4);
    CHECK(room[1] == 2);
}

TEST_CASE("an array that may not be written is copied, and what the kernel writes there is lost") {
    std::vector<float> x(32, 1), y(32, 1);
    const Launched ran =
        launch(saxpy(), {borrow(x, DType::f32, false), borrow(y, DType::f32, false), fraction(1), whole(32)}, on(1, 32));
    CHECK(!ran.faulted());
    CHECK(y[5] == 1);
}

TEST_CASE("an access behind the end of a borrowed array is a fault with its name") {
    std::vector<float> x(100, 1), y(100, 1), far(100, 1);
    const Launched ran =
        launch(saxpy(), {borrow(x, DType::f32), borrow(y, DType::f32), fraction(1), whole(128)}, on(1, 128));
    REQUIRE(ran.faulted());
    CHECK(ran.run->result.fault->kind == "memcheck");
    CHECK(ran.run->result.fault->message.find("'x'") != std::string::npos);
    CHECK(ran.run->result.fault->line == 3);
    CHECK(!ran.verdict);
    const auto report = report_of(ran);
    CHECK(report["diagnostics"][0]["kind"] == "memcheck");
    CHECK(report["diagnostics"][0]["text"].get<std::string>().find("saxpy.cu:3") != std::string::npos);
}

TEST_CASE("arguments that do not fit are refused by the parameter's name") {
    std::vector<float> x(32, 1), y(32, 1);
    std::vector<double> wide(32, 1);
    const Borrowed a = borrow(x, DType::f32), b = borrow(y, DType::f32);
    CHECK(refusal({a, b, fraction(1)}) ==
          "saxpy takes 4 arguments (const float* x, float* y, float a, int n), and there are 3");
    CHECK(refusal({a, b, fraction(1), fraction(2.5)}) ==
          "argument 4 ('n') is the fraction 2.5, but the kernel takes 'int n'");
    CHECK(refusal({a, borrow(wide, DType::f64), fraction(1), whole(2)}) ==
          "argument 2 ('y') holds f64, but the kernel takes 'float* y', whose elements are f32");
    CHECK(refusal({a, b, a, whole(2)}) == "argument 3 ('a') is an array, but the kernel takes 'float a'");
    CHECK(refusal({a, b, fraction(1), whole(int64_t{1} << 40)}) ==
          "argument 4 ('n') is 1099511627776, which does not fit into 4 bytes");
    CHECK(refusal({a, b, fraction(1), Null{}}) == "argument 4 ('n') is None, but the kernel takes 'int n'");
    CHECK(refusal({a, b, whole(3), whole(2)}).empty());  // a whole number is a fraction too
    Launch wrong = on(1, 32);
    wrong.gpu = "a1000";
    CHECK(refusal({a, b, fraction(1), whole(2)}, wrong).find("a100") != std::string::npos);
    wrong = on(1, 2000);
    CHECK(refusal({a, b, fraction(1), whole(2)}, wrong).find("1024") != std::string::npos);
    wrong = on(1, 32);
    wrong.check = "racechek";
    CHECK(refusal({a, b, fraction(1), whole(2)}, wrong).find("racecheck") != std::string::npos);
}

TEST_CASE("a functional launch has values and no cycles") {
    std::vector<float> x(32, 3), y(32, 1);
    Launch how = on(1, 32);
    how.functional = true;
    const Launched ran = launch(saxpy(), {borrow(x, DType::f32), borrow(y, DType::f32), fraction(2), whole(32)}, how);
    CHECK(y[31] == 7);
    CHECK(report_of(ran)["cycles"].is_null());
    CHECK_THROWS_AS(save_trace(ran, "x.json"), Failure);
}

TEST_CASE("an infinity that the kernel made itself is warned of") {
    std::vector<float> x(32, 1e30f), y(32, 1);
    const Launched ran =
        launch(saxpy(), {borrow(x, DType::f32), borrow(y, DType::f32), fraction(1e30), whole(32)}, on(1, 32));
    REQUIRE(!ran.run->result.warnings.empty());
    CHECK(std::isinf(y[0]));
}

TEST_CASE("a launch that is stopped says so") {
    std::vector<float> x(32, 1), y(32, 1);
    std::stop_source stop;
    stop.request_stop();
    Launch how = on(1, 32);
    how.stop = stop.get_token();
    CHECK_THROWS_AS(launch(saxpy(), {borrow(x, DType::f32), borrow(y, DType::f32), fraction(1), whole(32)}, how), Cancelled);
}

TEST_CASE("a report has the keys of the command line's") {
    std::vector<float> x(64, 1), y(64, 1);
    Launch how = on(2, 32);
    how.gpu = "a100";
    const Launched ran = launch(saxpy(), {borrow(x, DType::f32), borrow(y, DType::f32), fraction(1), whole(64)}, how);
    const auto report = report_of(ran);
    CHECK(report["gpu"] == "a100");
    CHECK(report["kernel"] == "saxpy");
    CHECK(report["grid"] == nlohmann::ordered_json({2, 1, 1}));
    CHECK(report["cycles"] == ran.run->result.cycles);
    CHECK(report["metrics"].size() > 100);
    CHECK(report["metrics"].size() == report["units"].size());
    CHECK(report["verdict"]["findings"].is_array());
}

TEST_CASE("parameters are called what the source calls them") {
    const std::vector<Parameter> parameters = saxpy()->parameters();
    REQUIRE(parameters.size() == 4);
    CHECK(parameters[0].name == "x");
    CHECK(parameters[0].declaration == "const float* x");
    CHECK(parameters[2].type == "f32");
    CHECK(kernels_in({.text = saxpy_ptx, .file = "saxpy.ptx"}) == std::vector<std::string>{"saxpy"});
}

TEST_CASE("a source that does not parse is refused with its line") {
    try {
        Kernel(Source{
            .text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n    ad.f32 %f1, %f2, %f3;\n}\n",
            .file = "k.ptx"});
        FAIL("it was taken");
    } catch (const Failure& failure) {
        CHECK(failure.diagnostic.where.line == 6);
        CHECK(failure.diagnostic.message.find("ad") != std::string::npos);
    }
}

}  // namespace api_launch_test
