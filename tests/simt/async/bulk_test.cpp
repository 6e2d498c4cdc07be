// Bulk copies as PTX text: whole pieces of memory, boxes of tensors under every swizzle, reductions, several blocks at once.
#include <cmath>
#include <cstring>

#include "core/simt/async/tensor_map.h"
#include "tests/catch.h"
#include "tests/simt/text.h"

namespace simt_bulk_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

void contains(const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
}

template <class T>
std::vector<T> numbers(size_t count, T first = 1) {
    std::vector<T> v(count);
    for (size_t i = 0; i < count; ++i) v[i] = static_cast<T>(first + static_cast<T>(i));
    return v;
}

// p0 in, p1 out. %r2 an mbarrier of one arrival, %r3 4 KiB of shared memory; %p1 thread 0. 32 threads.
const std::string prologue = R"(
.shared .align 8 .b64 bar[2];
.shared .align 1024 .b8 data[4096];
mov.u32 %r1, %tid.x;
mov.u32 %r2, bar;
mov.u32 %r3, data;
ld.param.u64 %rd1, [p0];
ld.param.u64 %rd2, [p1];
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [%r2], 1;
bar.sync 0;
)";
const std::string meet = R"(
wait: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra wait;
)";
// Every thread stores its 16 words of the 2 KiB at %r3.
const std::string show = R"(
mul.lo.u32 %r30, %r1, 64;
add.u32 %r31, %r3, %r30;
cvt.u64.u32 %rd30, %r30;
add.u64 %rd31, %rd2, %rd30;
ld.shared.v4.u32 {%r32, %r33, %r34, %r35}, [%r31]; st.global.v4.u32 [%rd31], {%r32, %r33, %r34, %r35};
ld.shared.v4.u32 {%r32, %r33, %r34, %r35}, [%r31+16]; st.global.v4.u32 [%rd31+16], {%r32, %r33, %r34, %r35};
ld.shared.v4.u32 {%r32, %r33, %r34, %r35}, [%r31+32]; st.global.v4.u32 [%rd31+32], {%r32, %r33, %r34, %r35};
ld.shared.v4.u32 {%r32, %r33, %r34, %r35}, [%r31+48]; st.global.v4.u32 [%rd31+48], {%r32, %r33, %r34, %r35};
)";

struct Run {
    Memory memory;
    uint64_t in = 0, out = 0;
    LaunchResult result;
};
Run ran(const std::string& body, const std::vector<uint32_t>& input, const LaunchOptions& options = {}) {
    Run run;
    run.in = put(run.memory, input, "in");
    run.out = run.memory.allocate(2048, "out");
    run.result = run_text(text_kernel(body, 2), {1}, {32}, {run.in, run.out}, run.memory, options);
    return run;
}
std::vector<uint32_t> outcome(const std::string& body, const std::vector<uint32_t>& input) {
    const Run run = ran(body, input);
    INFO((run.result.fault ? render(*run.result.fault) : ""));
    REQUIRE(!run.result.fault);
    return read_back<uint32_t>(run.memory, run.out, 512);
}
std::string trouble(const std::string& body) {
    LaunchOptions options;
    options.max_instructions = 200'000;
    const Run run = ran(body, numbers<uint32_t>(512), options);
    return run.result.fault ? run.result.fault->kind + ": " + run.result.fault->message : "";
}

}  // namespace

TEST_CASE("a bulk copy brings its bytes and tells the mbarrier") {
    const auto got = outcome(prologue + R"(
@!%p1 bra wait;
mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 2032;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1+16], 1024, [%r2];
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r3+1024], [%rd1], 1008, [%r2], %rd9;
)" + meet + show,
                             numbers<uint32_t>(512));
    for (uint32_t i = 0; i < 512; ++i) CHECK(got[i] == (i < 256 ? 5 + i : i < 508 ? 1 + i - 256 : 0));
}

TEST_CASE("bytes that nobody waits for have not arrived, and a wait for too many never ends") {
    const auto early = outcome(prologue + R"(
@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 1024, [%r2];
bar.sync 0;
)" + show,
                               numbers<uint32_t>(512));
    CHECK(early == std::vector<uint32_t>(512, 0));
    contains(trouble(prologue + R"(
@!%p1 bra wait;
mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 1040;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 1024, [%r2];
)" + meet),
             "which still expects 0 arrivals of 1 and 16 bytes");
}

TEST_CASE("bulk stores are there after the wait for their group, or when the kernel ends") {
    const std::string fill = R"(
mad.lo.u32 %r4, %r1, 64, %r3;
mad.lo.u32 %r5, %r1, 10, 7;
st.shared.u32 [%r4], %r5;
st.shared.u32 [%r4+60], %r5;
bar.sync 0;
@!%p1 bra done;
)";
    const std::string store = "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r3], 2048;\n";
    std::vector<uint32_t> expected(512);
    for (uint32_t t = 0; t < 32; ++t) expected[16 * t] = expected[16 * t + 15] = 10 * t + 7;
    CHECK(outcome(prologue + fill + store + "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; done:", {1}) ==
          expected);
    CHECK(outcome(prologue + fill + store + "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; done:", {1}) ==
          expected);
    CHECK(outcome(prologue + fill + store + "done:", {1}) == expected);
    // What a thread sees in between: the old word before the wait, the new one behind it.
    const auto seen = outcome(prologue + fill + store + R"(
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
ld.global.u32 %r6, [%rd2];
cp.async.bulk.wait_group 0;
ld.global.u32 %r7, [%rd2];
st.global.v2.u32 [%rd2+8], {%r6, %r7};
done:)",
                              {1});
    CHECK(seen[2] == 0);
    CHECK(seen[3] == 7);
}

TEST_CASE("bulk reductions combine integers and floats with what is there") {
    const auto reduce = [](const std::string& operation, uint32_t here, uint32_t there) {
        const auto got = outcome(prologue + R"(
mad.lo.u32 %r4, %r1, 4, %r3;
mov.u32 %r5, )" + std::to_string(here) +
                                     R"(;
st.shared.u32 [%r4], %r5;
mul.wide.u32 %rd4, %r1, 4;
add.u64 %rd4, %rd4, %rd2;
mov.u32 %r6, )" + std::to_string(there) +
                                     R"(;
st.global.u32 [%rd4], %r6;
bar.sync 0;
@!%p1 bra done;
cp.reduce.async.bulk.global.shared::cta.bulk_group)" +
                                     operation + R"( [%rd2], [%r3], 128;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
done:)",
                                 {1});
        if (!operation.ends_with("64")) CHECK(got[0] == got[31]);
        CHECK(got[32] == 0);
        return got[0];
    };
    const uint32_t minus = 0xfffffffeu;
    CHECK(reduce(".add.u32", 5, minus) == 3);
    CHECK(reduce(".min.u32", 5, minus) == 5);
    CHECK(reduce(".min.s32", 5, minus) == minus);
    CHECK(reduce(".max.s32", 5, minus) == 5);
    CHECK(reduce(".inc.u32", 5, 5) == 0);
    CHECK(reduce(".inc.u32", 5, 4) == 5);
    CHECK(reduce(".dec.u32", 5, 0) == 5);
    CHECK(reduce(".dec.u32", 5, 3) == 2);
    CHECK(reduce(".and.b32", 12, 10) == 8);
    CHECK(reduce(".or.b32", 12, 10) == 14);
    CHECK(reduce(".xor.b32", 12, 10) == 6);
    CHECK(reduce(".add.f32", 0x40000000u, 0x3fc00000u) == 0x40600000u);         // 2 + 1.5
    CHECK(reduce(".add.f32", 0x7f800000u, 0xff800000u) == 0x7fffffffu);         // inf - inf
    CHECK(reduce(".add.noftz.f16", 0x40003c00u, 0x3c003c00u) == 0x42004000u);   // 2 + 1, 1 + 1
    CHECK(reduce(".add.noftz.bf16", 0x40003f80u, 0x3f803f80u) == 0x40404000u);  // the same
    CHECK(reduce(".max.f16", 0x40007e00u, 0x3c003c00u) == 0x40003c00u);         // a NaN loses
    CHECK(reduce(".add.u64", 1, 0xffffffffu) == 0);  // carries into the next word, which has its own
}

TEST_CASE("boxes of a tensor arrive in order, zero or NaN where the tensor ends, under every swizzle") {
    // A tensor of 20 x 9 x 5 floats in rows of 24; boxes of 16 x 4 x 2 at corners inside and outside.
    constexpr uint64_t row = 24 * 4, plane = row * 9;
    const auto values = numbers<uint32_t>(24 * 9 * 5 + 8, 1000);
    for (const TensorSwizzle swizzle : {TensorSwizzle::none, TensorSwizzle::bytes_64, TensorSwizzle::bytes_128})
        for (const TensorFill fill : {TensorFill::zeros, TensorFill::nan})
            for (const std::array<int, 3> corner : {std::array{0, 0, 0}, {4, 3, 1}, {-3, -1, 0}, {12, 7, 4}, {40, 0, 0}}) {
                Memory memory;
                const uint64_t in = put(memory, values, "in"), out = memory.allocate(2048, "out");
                const uint64_t dims[] = {20, 9, 5}, strides[] = {row, plane};
                const uint32_t box[] = {16, 4, 2}, ones[] = {1, 1, 1};
                const TensorMap map =
                    make_tensor_map(in, TensorType::f32, dims, strides, box, ones, TensorInterleave::none, swizzle, fill)
                        .value();
                const uint64_t at = memory.allocate(128, "map");
                std::memcpy(memory.write(at, 128), map.bytes.data(), 128);
                const std::string body =
                    prologue + R"(
@!%p1 bra wait;
mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 512;
mov.u32 %r10, )" + std::to_string(corner[0]) +
                    "; mov.u32 %r11, " + std::to_string(corner[1]) + ";\n" +
                    "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd1, "
                    "{%r10, %r11, " +
                    std::to_string(corner[2]) + "}], [%r2];\n" + meet + show;
                const LaunchResult result = run_text(text_kernel(body, 2), {1}, {32}, {at, out}, memory);
                INFO((result.fault ? render(*result.fault) : ""));
                REQUIRE(!result.fault);
                const auto got = read_back<uint32_t>(memory, out, 512);
                for (int z = 0, i = 0; z < 2; ++z)
                    for (int y = 0; y < 4; ++y)
                        for (int x = 0; x < 16; ++x, ++i) {
                            const int gx = corner[0] + x, gy = corner[1] + y, gz = corner[2] + z;
                            const bool inside = gx >= 0 && gx < 20 && gy >= 0 && gy < 9 && gz >= 0 && gz < 5;
                            const uint32_t want = inside ? 1000 + static_cast<uint32_t>(gx + 24 * (gy + 9 * gz))
                                                  : fill == TensorFill::nan ? 0x7fffffffu
                                                                            : 0u;
                            // Swizzles as published: of 16-byte pieces in 128 bytes, piece ^ row (of 128 bytes).
                            const int piece = i / 4, r = piece / 8, column = piece % 8;
                            const int to = swizzle == TensorSwizzle::bytes_128  ? column ^ r % 8
                                           : swizzle == TensorSwizzle::bytes_64 ? column ^ r % 4
                                                                                : column;
                            CHECK(got[static_cast<size_t>((r * 8 + to) * 4 + i % 4)] == want);
                        }
                for (size_t i = 128; i < 512; ++i) CHECK(got[i] == 0);
            }
}

TEST_CASE("boxes stored into a tensor leave out what is outside, and reductions add") {
    constexpr uint64_t row = 16 * 2;  // 10 x 6 halves in rows of 16
    for (const std::string verb : {"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group",
                                   "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"}) {
        Memory memory;
        std::vector<uint16_t> values(16 * 6, 0x3c00);  // 1.0
        const uint64_t in = put(memory, values, "in");
        const uint64_t dims[] = {10, 6}, strides[] = {row};
        const uint32_t box[] = {8, 4}, ones[] = {1, 1};
        const TensorMap map = make_tensor_map(in, TensorType::f16, dims, strides, box, ones).value();
        const uint64_t at = memory.allocate(128, "map");
        std::memcpy(memory.write(at, 128), map.bytes.data(), 128);
        const std::string body = prologue + R"(
mad.lo.u32 %r4, %r1, 2, %r3;
mov.u16 %h1, 0x4000;
st.shared.u16 [%r4], %h1;
bar.sync 0;
@!%p1 bra done;
)" + verb + R"( [%rd1, {5, -2}], [%r3];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
done:)";
        const LaunchResult result = run_text(text_kernel(body, 2), {1}, {32}, {at, at}, memory);
        INFO((result.fault ? render(*result.fault) : ""));
        REQUIRE(!result.fault);
        const auto got = read_back<uint16_t>(memory, in, values.size());
        const uint16_t changed = verb.starts_with("cp.reduce") ? 0x4200 : 0x4000;
        for (uint32_t y = 0; y < 6; ++y)
            for (uint32_t x = 0; x < 16; ++x) CHECK(got[y * 16 + x] == (x >= 5 && x < 10 && y < 2 ? changed : 0x3c00));
    }
}

TEST_CASE("an element stride takes every so manyth row") {
    Memory memory;
    const uint64_t in = put(memory, numbers<uint32_t>(64), "in"), out = memory.allocate(2048, "out");
    const uint64_t dims[] = {4, 16}, strides[] = {16};
    const uint32_t box[] = {4, 7}, every[] = {1, 3};
    const TensorMap map = make_tensor_map(in, TensorType::u32, dims, strides, box, every).value();
    const uint64_t at = memory.allocate(128, "map");
    std::memcpy(memory.write(at, 128), map.bytes.data(), 128);
    const std::string body = prologue + R"(
@!%p1 bra wait;
mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 48;
cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd1, {0, 2}], [%r2];
)" + meet + show;
    REQUIRE(!run_text(text_kernel(body, 2), {1}, {32}, {at, out}, memory).fault);
    const auto got = read_back<uint32_t>(memory, out, 16);
    for (uint32_t i = 0; i < 16; ++i) CHECK(got[i] == (i < 12 ? 1 + 4 * (2 + 3 * (i / 4)) + i % 4 : 0));
}

TEST_CASE("a tensor map that the driver would refuse is refused with its reason") {
    const auto why = [](uint64_t address, std::vector<uint64_t> dims, std::vector<uint64_t> strides,
                        std::vector<uint32_t> box, TensorSwizzle swizzle = TensorSwizzle::none,
                        TensorInterleave interleave = TensorInterleave::none) {
        const std::vector<uint32_t> ones(dims.size(), 1);
        const auto map = make_tensor_map(address, TensorType::f32, dims, strides, box, ones, interleave, swizzle);
        return map.ok() ? std::string() : map.error().message;
    };
    CHECK(why(256, {64, 64}, {256}, {32, 8}, TensorSwizzle::bytes_128).empty());
    contains(why(264, {64, 64}, {256}, {32, 8}), "a multiple of 16");
    contains(why(256, {64, 64}, {264}, {32, 8}), "a stride of a tensor is a multiple of 16");
    contains(why(256, {64, 64}, {256}, {257, 8}), "1 to 256 elements");
    contains(why(256, {64, 64}, {256}, {3, 8}), "has 12 bytes: a multiple of 16");
    contains(why(256, {64, 64}, {256}, {64, 8}, TensorSwizzle::bytes_128), "more than the 128 of its swizzle");
    contains(why(256, {64, 64}, {}, {32, 8}), "takes 1 strides");
    contains(why(256, {}, {}, {}), "1 to 5 dimensions");
    contains(why(256, {0}, {}, {32}), "from 1 to 2^32");
    contains(why(256, {64, 64}, {256}, {32, 8}, TensorSwizzle::none, TensorInterleave::bytes_32), "interleaved");
}

TEST_CASE("bad bulk copies are faults") {
    contains(trouble(prologue +
                     "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 1000, [%r2];"),
             "a multiple of 16 bytes, not 1000");
    contains(trouble(prologue +
                     "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1+8], 16, [%r2];"),
             "misaligned global read");
    contains(
        trouble(prologue +
                "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1+16], 2048, [%r2];"),
        "invalid global read of 2048 bytes that reaches 16 bytes past the end of 'in'");
    contains(
        trouble(prologue +
                "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3+4080], [%rd1], 32, [%r2];"),
        "invalid shared write of 32 bytes");
    contains(trouble(prologue +
                     "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 16, [%r2+8];"),
             "no mbarrier at offset 8");
    contains(trouble(prologue + "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2+8], [%r3], 16;"),
             "misaligned global write");
    contains(trouble(prologue + "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2+2048], [%r3], 16;"),
             "invalid global write of 16 bytes that reaches 16 bytes past the end of 'out'");
    contains(
        trouble(
            prologue +
            "@%p1 cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd1, {0}], [%r2];"),
        "no tensor map");
    contains(trouble(prologue + R"(
again: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 16, [%r2];
bra again;)"),
             "too many asynchronous copies");
    contains(
        refusal_of(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd1, {%r1}], [%r2];"),
        "2 coordinates");
}

}  // namespace simt_bulk_test
