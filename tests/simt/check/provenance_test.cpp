// Whether an access left the memory that its pointer points into, and who wrote what stands there.
#include <cstring>
#include <limits>

#include "core/simt/origins/odd_values.h"
#include "core/simt/origins/parameter_text.h"
#include "core/simt/origins/written_by.h"
#include "tests/catch.h"
#include "tests/simt/support.h"
#include "tests/simt/text.h"

namespace simt_provenance_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

// Lane n of the warp reads word -n behind the parameter, and all lanes keep what they read.
constexpr const char* backwards = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p) {
    .reg .b64 %rd<5>;
    .reg .b32 %r<4>;
    ld.param.u64 %rd1, [p];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    sub.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r2, [%rd4];
    ret;
})";

// y[t] = t, three times over, then y[0] = 7.
constexpr const char* repeated = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 y) {
    .reg .b64 %rd<5>;
    .reg .b32 %r<4>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [y];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r1;
    st.global.u32 [%rd4], %r1;
    setp.ne.u32 %p1, %r1, 3;
    @%p1 bra end;
    add.s32 %r2, %r1, 4;
    st.global.u32 [%rd2], %r2;
end:
    ret;
})";

// Block 0 makes 1 / 0 of what stands in p[0] and keeps it in p[1]; block 1 takes that to p[2], and p[3] to p[4].
constexpr const char* handed_on = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p) {
    .reg .b64 %rd<5>;
    .reg .b32 %r<4>;
    .reg .f32 %f<6>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %ctaid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra second;
    ld.global.f32 %f1, [%rd1];
    mov.f32 %f2, 0f3F800000;
    div.rn.f32 %f3, %f2, %f1;
    st.global.f32 [%rd1+4], %f3;
    bra end;
second:
    ld.global.f32 %f4, [%rd1+4];
    st.global.f32 [%rd1+8], %f4;
    ld.global.f32 %f5, [%rd1+12];
    add.f32 %f5, %f5, %f5;
    st.global.f32 [%rd1+16], %f5;
end:
    ret;
})";

}  // namespace

TEST_CASE("a kernel's parameters are named as its source names them, where that is clear") {
    using Names = std::vector<std::string>;
    const std::string text = R"(
__global__ void scale(float *x, int n);
template <typename T, int N = 4>
__global__ void __launch_bounds__(256) scale(float *__restrict__ x, const std::array<int, 4> sizes, int n = 3) { f(n); }
void host() { scale<<<1, 2>>>(x, a, n); scale(x); }
__global__ void unnamed(float *, int n) {}
__global__ void twice(int a) {}
__global__ void twice(float b) {}
)";
    CHECK(parameter_names_in(text, "scale") == Names{"x", "sizes", "n"});
    CHECK(parameter_names_in(text, "a::scale") == Names{"x", "sizes", "n"});
    CHECK(parameter_names_in(text, "unnamed").empty());
    CHECK(parameter_names_in(text, "twice").empty());
    CHECK(parameter_names_in(text, "host").empty());
}

TEST_CASE("an access that leaves its allocation for another one is told, unless the two touch") {
    const auto program = text_program(backwards);
    alignas(16) std::byte both[256] = {};
    Memory touching;
    const uint64_t first = 0x10000;
    touching.adopt(first, both, 128, "first");
    touching.adopt(first + 128, both + 128, 128, "second");
    CHECK_FALSE(launch(*program, config_of({1}, {8}, {first + 128}), touching).fault);

    Memory apart;
    apart.adopt(first, both, 120, "first");
    apart.adopt(first + 128, both + 128, 128, "second");
    const auto left = launch(*program, config_of({1}, {8}, {first + 128}), apart).fault;
    REQUIRE(left);
    CHECK(left->message.starts_with("invalid global read of 4 bytes, 4 bytes before the start of 'second' (128 bytes)"));
    CHECK(left->thread == Dim3{1, 0, 0});

    apart.adopt(first + 256, both, 128, "third");
    const auto landed = launch(*program, config_of({1}, {32}, {first + 256 + 64}), apart).fault;
    REQUIRE(landed);
    CHECK(
        landed->message.starts_with("invalid global read of 4 bytes, 4 bytes before the start of 'third' (128 bytes), "
                                    "which is where 'second' lies: "));
}

TEST_CASE("the last writer of an element is told with its operands, and bytes that nobody wrote") {
    const auto program = text_program(repeated);
    Memory memory;
    const uint64_t y = memory.allocate(32, "y");
    const LaunchConfig config = config_of({1}, {6}, {y});
    const MemoryRange elements[] = {{y, 4}, {y + 8, 4}, {y + 24, 4}};
    const auto writers = last_writers(*program, config, memory, {}, elements);
    REQUIRE(writers.size() == 3);
    CHECK(writers[0].written);
    CHECK(writers[0].by.thread == Dim3{3, 0, 0});
    CHECK(writers[0].how == "3 + 4");
    CHECK(writers[1].written);
    CHECK(writers[1].by.thread == Dim3{2, 0, 0});
    CHECK_FALSE(writers[2].written);
    const MemoryRange whole{y, 32};
    const auto bytes = written_bytes(*program, config, memory, {}, std::span(&whole, 1));
    REQUIRE(bytes.size() == 32);
    for (size_t i = 0; i < 32; ++i) CHECK(bytes[i] == (i < 24));
    CHECK(read_back<uint32_t>(memory, y, 1)[0] == 0);  // the memory itself stays as it was
}

TEST_CASE("an infinity is followed to the block that made it, and one of the input is not the kernel's doing") {
    const auto program = text_program(handed_on);
    Memory memory;
    const uint64_t p = put<float>(memory, {0, 0, 0, std::numeric_limits<float>::quiet_NaN(), 0}, "p");
    const LaunchConfig config = config_of({2}, {1}, {p});
    const uint64_t of_input[] = {p + 16};
    CHECK_FALSE(first_nonfinite(*program, config, memory, {}, of_input, Type::f32));
    const uint64_t both[] = {p + 16, p + 8};
    const auto made = first_nonfinite(*program, config, memory, {}, both, Type::f32);
    REQUIRE(made);
    CHECK(made->element == 1);
    CHECK(made->how == "1 / 0");
    CHECK(made->by.block == Dim3{0, 0, 0});
    CHECK(made->advice.starts_with("Keep the divisor from being 0"));
}

TEST_CASE("a launch that faults when it runs again tells of nobody") {
    const auto program = text_program(repeated);
    Memory memory;
    const uint64_t y = memory.allocate(16, "y");
    const MemoryRange element{y, 4};
    CHECK(last_writers(*program, config_of({1}, {6}, {y}), memory, {}, std::span(&element, 1)).empty());
    CHECK(odd_values(*program, config_of({1}, {4}, {y}), memory, {}, 100).empty());
}

}  // namespace simt_provenance_test
