// What Hopper adds beside plain bulk copies: copies of pictures in im2col mode, byte masks, tensor maps that a kernel
// changes, and multimem. Expected values come from loops over the pictures' own coordinates.
#include <cmath>
#include <cstring>

#include "core/base/dtype.h"
#include "core/simt/async/tensor_map.h"
#include "tests/catch.h"
#include "tests/simt/text.h"

namespace simt_hopper_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

// p0 a tensor map, p1 out. %r2 an mbarrier of one arrival, %r3 32 KiB of shared memory; %p1 thread 0. 32 threads.
const std::string opening = R"(
.shared .align 8 .b64 bar[2];
.shared .align 1024 .b8 data[32768];
mov.u32 %r1, %tid.x;
mov.u32 %r2, bar;
mov.u32 %r3, data;
ld.param.u64 %rd1, [p0];
ld.param.u64 %rd2, [p1];
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [%r2], 1;
bar.sync 0;
)";

// Copies `bytes` bytes of shared memory out, after the first phase of the mbarrier.
std::string closing(uint64_t bytes) {
    return R"(
wait: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra wait;
shl.b32 %r30, %r1, 2;
LOOP: setp.ge.u32 %p3, %r30, )" +
           std::to_string(bytes) + R"(; @%p3 bra DONE;
add.u32 %r31, %r3, %r30; ld.shared.u32 %r32, [%r31];
cvt.u64.u32 %rd30, %r30; add.u64 %rd31, %rd2, %rd30; st.global.u32 [%rd31], %r32;
add.u32 %r30, %r30, 128; bra LOOP;
DONE:)";
}

uint64_t put_map(Memory& memory, const TensorMap& map) {
    const uint64_t at = memory.allocate(128, "map");
    std::memcpy(memory.write(at, 128), map.bytes.data(), 128);
    return at;
}

void finished(const LaunchResult& result) {
    INFO((result.fault ? render(*result.fault) : ""));
    REQUIRE(!result.fault);
}

// Images of `depth` x `height` x `width` pixels; every word tells where it is.
struct Images {
    int channels = 12, width = 1, height = 1, depth = 1, images = 1;
    int padded = 16;  // channels with those that pad a pixel
    uint32_t word(int c, int w, int h, int d, int n) const {
        return static_cast<uint32_t>(c + 100 * (w + 20 * (h + 20 * (d + 20 * n)))) + 1;
    }
    std::vector<uint32_t> words() const {
        std::vector<uint32_t> v;
        for (int n = 0; n < images; ++n)
            for (int d = 0; d < depth; ++d)
                for (int h = 0; h < height; ++h)
                    for (int w = 0; w < width; ++w)
                        for (int c = 0; c < padded; ++c) v.push_back(c < channels ? word(c, w, h, d, n) : 0xbad);
        return v;
    }
};

struct Im2col {
    int axes = 2;  // of a picture: 1 to 3
    int lower[3] = {0, 0, 0}, upper[3] = {0, 0, 0}, step[3] = {1, 1, 1};
    int channels = 8, pixels = 10;
    int start[5] = {0, 0, 0, 0, 0};  // c, w, h, d, n: as many as there are
    int offset[3] = {0, 0, 0};
    TensorSwizzle swizzle = TensorSwizzle::none;
};

uint64_t map_of(Memory& memory, const Images& x, const Im2col& m, uint64_t at) {
    const uint64_t pixel = static_cast<uint64_t>(x.padded) * 4, w = static_cast<uint64_t>(x.width),
                   h = static_cast<uint64_t>(x.height), d = static_cast<uint64_t>(x.depth);
    std::vector<uint64_t> dims{static_cast<uint64_t>(x.channels), w}, strides{pixel};
    if (m.axes > 1) dims.push_back(h), strides.push_back(pixel * w);
    if (m.axes > 2) dims.push_back(d), strides.push_back(pixel * w * h);
    dims.push_back(static_cast<uint64_t>(x.images)), strides.push_back(pixel * w * h * d);
    std::vector<uint32_t> steps{1};
    for (int k = 0; k < m.axes; ++k) steps.push_back(static_cast<uint32_t>(m.step[k]));
    steps.push_back(1);
    const auto axes = static_cast<size_t>(m.axes);
    return put_map(memory, make_im2col_tensor_map(at, TensorType::f32, dims, strides, {m.lower, axes}, {m.upper, axes},
                                                  static_cast<uint32_t>(m.channels), static_cast<uint32_t>(m.pixels), steps,
                                                  TensorInterleave::none, m.swizzle)
                               .value());
}

// The pixels of all images' boxes in order, as (w, h, d, n), from the first one on; found by counting through whole boxes.
std::vector<std::array<int, 4>> pixels_of(const Images& x, const Im2col& m) {
    const int size[3] = {x.width, x.height, x.depth};
    std::vector<std::array<int, 4>> all;
    for (int n = m.start[m.axes + 1]; all.size() < 5000 && n < m.start[m.axes + 1] + 40; ++n)
        for (int d = m.lower[2]; d <= (m.axes > 2 ? size[2] - 1 + m.upper[2] : 0); d += m.step[2])
            for (int h = m.lower[1]; h <= (m.axes > 1 ? size[1] - 1 + m.upper[1] : 0); h += m.step[1])
                for (int w = m.lower[0]; w <= size[0] - 1 + m.upper[0]; w += m.step[0]) all.push_back({w, h, d, n});
    const std::array<int, 4> first{m.start[1], m.axes > 1 ? m.start[2] : 0, m.axes > 2 ? m.start[3] : 0,
                                   m.start[m.axes + 1]};
    all.erase(all.begin(), std::find(all.begin(), all.end(), first));
    REQUIRE(all.size() >= static_cast<size_t>(m.pixels));
    all.resize(static_cast<size_t>(m.pixels));
    return all;
}

std::string numbers_of(const int* first, int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += (i ? ", " : "") + std::to_string(first[i]);
    return text + "}";
}

void check_im2col(const Images& x, const Im2col& m) {
    Memory memory;
    const uint64_t in = put(memory, x.words(), "images"), map = map_of(memory, x, m, in);
    const auto bytes = static_cast<uint64_t>(m.channels * m.pixels * 4);
    const uint64_t out = memory.allocate(bytes, "out");
    std::string body =
        opening + "@!%p1 bra wait;\nmbarrier.arrive.expect_tx.shared.b64 _, [%r2], " + std::to_string(bytes) + ";\n";
    for (int k = 0; k < m.axes; ++k) body += "mov.u16 %h" + std::to_string(k) + ", " + std::to_string(m.offset[k]) + ";\n";
    body += "cp.async.bulk.tensor." + std::to_string(m.axes + 2) +
            "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r3], [%rd1, " + numbers_of(m.start, m.axes + 2) +
            "], [%r2], " +
            (m.axes == 1   ? "{%h0}"
             : m.axes == 2 ? "{%h0, %h1}"
                           : "{%h0, %h1, %h2}") +
            ";\n" + closing(bytes);
    finished(run_text(text_kernel(body, 2), {1}, {32}, {map, out}, memory));
    const auto got = read_back<uint32_t>(memory, out, bytes / 4);
    size_t i = 0;
    for (const auto& [pw, ph, pd, n] : pixels_of(x, m))
        for (int k = 0; k < m.channels; ++k, ++i) {
            const int c = m.start[0] + k, w = pw + m.offset[0], h = ph + m.offset[1], d = pd + m.offset[2];
            const bool inside = c >= 0 && c < x.channels && w >= 0 && w < x.width && h >= 0 && h < x.height && d >= 0 &&
                                d < x.depth && n < x.images;
            const size_t piece = i / 4 % 8, row = i / 32;
            const size_t to = m.swizzle == TensorSwizzle::bytes_32 ? piece ^ (row & 1) : piece;
            INFO("pixel " << i / static_cast<size_t>(m.channels) << " channel " << k);
            CHECK(got[row * 32 + to * 4 + i % 4] == (inside ? x.word(c, w, h, d, n) : 0));
        }
}

}  // namespace

TEST_CASE("a copy in im2col mode takes a filter's pixels one after the other, through rows, planes and images") {
    const Images flat{.width = 9, .images = 3}, pictures{.width = 9, .height = 7, .images = 3},
        solid{.width = 5, .height = 4, .depth = 3, .images = 2};
    // A 3-wide filter with padding 1: the box begins at -1 and ends one pixel before the last.
    for (const int tap : {0, 1, 2})
        check_im2col(flat, {.axes = 1, .lower = {-1}, .upper = {-1}, .pixels = 20, .start = {0, -1, 0}, .offset = {tap}});
    for (const int tap : {0, 1, 4, 8})
        check_im2col(
            pictures,
            {.lower = {-1, -1}, .upper = {-1, -1}, .pixels = 64, .start = {4, 3, 2, 0}, .offset = {tap % 3, tap / 3}});
    // Every other pixel, from the middle of a row; channels that end in the tensor; images that end.
    check_im2col(pictures, {.lower = {-1, -1}, .upper = {-1, 0}, .step = {2, 2, 1}, .pixels = 40, .start = {8, 5, 3, 1}});
    check_im2col(pictures, {.channels = 4, .pixels = 130, .start = {0, 0, 0, 2}});
    check_im2col(pictures, {.lower = {1, 2}, .upper = {-2, -1}, .pixels = 50, .start = {-4, 1, 2, 0}, .offset = {3, 1}});
    check_im2col(pictures, {.lower = {-1, -1},
                            .upper = {-1, -1},
                            .pixels = 32,
                            .start = {0, -1, -1, 0},
                            .offset = {1, 1},
                            .swizzle = TensorSwizzle::bytes_32});
    check_im2col(solid, {.axes = 3,
                         .lower = {-1, -1, -1},
                         .upper = {-1, -1, -1},
                         .step = {1, 2, 1},
                         .pixels = 60,
                         .start = {0, 2, 1, 0, 0},
                         .offset = {1, 0, 2}});
}

TEST_CASE("a store in im2col mode puts pixels back and leaves out those beyond the images; a reduction adds them") {
    const Images x{.width = 5, .height = 4, .images = 2};
    for (const std::string verb : {"cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group",
                                   "cp.reduce.async.bulk.tensor.4d.global.shared::cta.max.im2col_no_offs.bulk_group"}) {
        const Im2col m{.lower = {-1, 0}, .upper = {0, 0}, .channels = 4, .pixels = 30, .start = {8, -1, 1, 1}};
        Memory memory;
        const uint64_t in = put(memory, x.words(), "images");
        uint64_t dims[] = {12, 5, 4, 2}, strides[] = {64, 320, 1280};
        const uint32_t ones[] = {1, 1, 1, 1};
        const uint64_t map = put_map(
            memory,
            make_im2col_tensor_map(in, TensorType::u32, dims, strides, {m.lower, 2}, {m.upper, 2}, 4, 30, ones).value());
        const std::string body = opening + R"(
mad.lo.u32 %r4, %r1, 16, %r3;
mul.lo.u32 %r5, %r1, 1000;
setp.lt.u32 %p4, %r1, 30;
@%p4 st.shared.v4.u32 [%r4], {%r5, %r5, %r5, %r5};
bar.sync 0;
@!%p1 bra done;
)" + verb + " [%rd1, {8, -1, 1, 1}], [%r3];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\ndone:";
        finished(run_text(text_kernel(body, 2), {1}, {32}, {map, map}, memory));
        std::vector<uint32_t> expected = x.words();
        uint32_t p = 0;
        for (const auto& [w, h, d, n] : pixels_of(x, m)) {
            const uint32_t value = 1000 * p++;
            if (w < 0 || n >= 2) continue;
            for (int c = 8; c < 12; ++c) {
                uint32_t& word = expected[static_cast<size_t>(c + 16 * (w + 5 * (h + 4 * n)))];
                word = verb.starts_with("cp.reduce") ? std::max(word, value) : value;
            }
        }
        CHECK(read_back<uint32_t>(memory, in, expected.size()) == expected);
    }
}

TEST_CASE("maps for im2col mode and copies that do not fit them are refused with a reason") {
    const auto why = [](std::vector<uint64_t> dims, std::vector<int32_t> lower, std::vector<int32_t> upper,
                        uint32_t channels = 8, uint32_t pixels = 64) {
        const std::vector<uint64_t> strides(dims.size() - 1, 64);
        const std::vector<uint32_t> ones(dims.size(), 1);
        const auto map = make_im2col_tensor_map(256, TensorType::f32, dims, strides, lower, upper, channels, pixels, ones);
        return map.ok() ? std::string() : map.error().message;
    };
    CHECK(why({16, 9, 7, 3}, {-1, -1}, {-1, -1}).empty());
    CHECK(why({16, 9}, {}, {}) == "a tensor map for im2col mode has 3 to 5 dimensions, not 2");
    CHECK(why({16, 9, 7, 3}, {-1}, {-1}).find("2 numbers a corner") != std::string::npos);
    CHECK(why({16, 9, 7, 3}, {-129, 0}, {0, 0}) == "a corner of 4 dimensions is from -128 to 127, not -129");
    CHECK(why({16, 9, 7, 3, 2}, {0, 0, 0}, {0, 0, 16}) == "a corner of 5 dimensions is from -16 to 15, not 16");
    CHECK(why({16, 9, 3}, {0}, {-9}) == "the box between the corners is empty");
    CHECK(why({16, 9, 3}, {0}, {0}, 257) == "a copy takes 1 to 256 channels of a pixel, not 257");
    CHECK(why({16, 9, 3}, {0}, {0}, 8, 1025) == "a copy takes 1 to 1024 pixels, not 1025");
    const std::string load =
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r3], [%rd1, ";
    CHECK(refusal_of(load + "{0, 0, 0}], [%r2], {%h1};").empty());
    CHECK(refusal_of(load + "{0, 0, 0}], [%r2], {%h1, %h2};").find("needs 1 offsets of 16 bits in braces") !=
          std::string::npos);
    CHECK(refusal_of(load + "{0, 0, 0}], [%r2];").find("takes 4 operands") != std::string::npos);
    CHECK(refusal_of("cp.async.bulk.tensor.2d.global.shared::cta.im2col_no_offs.bulk_group [%rd1, {0, 0}], [%r3];")
              .find("3 to 5 dimensions") != std::string::npos);
    CHECK(refusal_of("cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%rd1, {0, 0, 0, 0}], {%h1, %h2};").empty());
    // A map of the other mode.
    Memory memory;
    const Images x{.width = 9, .images = 3};
    const uint64_t in = put(memory, x.words(), "images"), map = map_of(memory, x, {.axes = 1}, in);
    const LaunchResult result = run_text(
        text_kernel(opening + "@%p1 cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r3], "
                              "[%rd1, {0, 0, 0}], [%r2];",
                    2),
        {1}, {32}, {map, in}, memory);
    REQUIRE(result.fault);
    CHECK(result.fault->message == "a copy of a box with a tensor map for im2col mode");
}

TEST_CASE("a byte mask writes of each 16 bytes those whose bit is set") {
    for (const uint32_t mask : {0xffffu, 0x0001u, 0x8421u, 0x00f0u, 0u}) {
        Memory memory;
        const uint64_t out = put(memory, std::vector<uint8_t>(128, 0xee), "out");
        const std::string body = opening + R"(
add.u32 %r4, %r3, %r1;
st.shared.u8 [%r4], %r1;
st.shared.u8 [%r4+32], %r1;
mov.b16 %h1, )" + std::to_string(mask) +
                                 R"(;
bar.sync 0;
@!%p1 bra done;
cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%rd2+16], [%r3], 64, %rd9, %h1;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
done:)";
        finished(run_text(text_kernel(body, 2), {1}, {32}, {out, out}, memory));
        const auto got = read_back<uint8_t>(memory, out, 128);
        for (uint32_t i = 0; i < 128; ++i) {
            const bool written = i >= 16 && i < 80 && (mask >> i % 16 & 1);
            CHECK(got[i] == (written ? (i - 16) % 32 : 0xee));
        }
    }
    CHECK(refusal_of("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd2], [%r3], 64;").find("takes 4 operands") !=
          std::string::npos);
}

TEST_CASE("a kernel changes every field of a tensor map, in shared and in global memory, and copies by it") {
    // A map of nonsense is turned into one of 6 x 5 halves of a 20 x 9 picture, and back into global memory.
    std::vector<uint16_t> values(24 * 9 * 3);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint16_t>(i + 1);
    Memory memory;
    const uint64_t in = put(memory, values, "in"), out = memory.allocate(256, "out");
    const uint64_t dims[] = {64, 2, 2}, strides[] = {256, 512};
    const uint32_t box[] = {4, 2, 2}, ones[] = {1, 1, 1};
    const uint64_t map = put_map(memory, make_tensor_map(256, TensorType::u32, dims, strides, box, ones).value());
    const std::string replace = "@%p1 tensormap.replace.tile.", shared = ".shared::cta.b1024.b32 [%r4], ";
    const std::string body = opening + R"(
add.u32 %r4, %r3, 4096;
mul.lo.u32 %r5, %r1, 4; cvt.u64.u32 %rd5, %r5; add.u64 %rd5, %rd5, %rd1; add.u32 %r6, %r4, %r5;
ld.global.u32 %r7, [%rd5]; st.shared.u32 [%r6], %r7;
ld.param.u64 %rd6, [p2];
bar.sync 0;
mov.u32 %r10, 1; mov.u32 %r11, 8; mov.u32 %r12, 5; mov.u32 %r13, 20; mov.u64 %rd10, 48; mov.u64 %rd11, 96;
)" + replace + "global_address.shared::cta.b1024.b64 [%r4], %rd6;\n" +
                             replace + "rank" + shared + "%r10;\n" + replace + "elemtype" + shared + "6;\n" + replace +
                             "box_dim" + shared + "0, %r11;\n" + replace + "box_dim" + shared + "1, %r12;\n" + replace +
                             "global_dim" + shared + "0, %r13;\n" + replace + "swizzle_mode" + shared + "0;\n" + replace +
                             "interleave_layout" + shared + "0;\n" + replace + "fill_mode" + shared + "1;\n" + R"(
bar.sync 0;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r4], 128;
fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;
@%p1 tensormap.replace.tile.global_dim.global.b1024.b32 [%rd1], 1, 9;
@%p1 tensormap.replace.tile.global_stride.global.b1024.b64 [%rd1], 0, %rd11;
@%p1 tensormap.replace.tile.element_stride.b1024.b32 [%rd1], 1, 2;
@!%p1 bra wait;
mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 48;
cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd1, {15, 3}], [%r2];
)" + closing(80);
    finished(run_text(text_kernel(body, 3), {1}, {32}, {map, out, in}, memory));
    const auto got = read_back<uint16_t>(memory, out, 40);
    // Every other one of 5 rows from row 3 on: 3, 5, 7; columns 15 to 22 of 20, rows 48 halves apart.
    for (int y = 0; y < 5; ++y)
        for (int x = 0; x < 8; ++x) {
            const int row = 3 + 2 * y, column = 15 + x;
            const uint16_t want = y >= 3 ? 0 : column < 20 ? values[static_cast<size_t>(row * 48 + column)] : 0x7fff;
            CHECK(got[static_cast<size_t>(y * 8 + x)] == want);
        }
}

TEST_CASE("changes of a tensor map that make no sense are refused, or faults with a reason") {
    const std::string global = ".global.b1024.b32 [%rd1], ";
    CHECK(refusal_of("tensormap.replace.tile.box_dim" + global + "5, %r1;").find("a number from 0 to 4") !=
          std::string::npos);
    CHECK(refusal_of("tensormap.replace.tile.elemtype" + global + "%r1;").find("a number from 0 to 12") !=
          std::string::npos);
    CHECK(refusal_of("tensormap.replace.tile.fill_mode" + global + "2;").find("a number from 0 to 1") != std::string::npos);
    CHECK(refusal_of("tensormap.replace.tile.rank" + global + "1, %r1;").find("takes 2 operands") != std::string::npos);
    CHECK(refusal_of("tensormap.replace.im2col.rank" + global + "%r1;").find("unknown form") != std::string::npos);
    CHECK(refusal_of(
              "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r1], 64;")
              .find("a number from 128 to 128") != std::string::npos);
    const auto trouble = [](const std::string& change, bool real = true) {
        Memory memory;
        const uint64_t dims[] = {64, 64}, strides[] = {256};
        const uint32_t box[] = {4, 2}, ones[] = {1, 1};
        const uint64_t map = put_map(memory, make_tensor_map(256, TensorType::u32, dims, strides, box, ones).value());
        const uint64_t other = memory.allocate(128, "zeros");
        const LaunchResult result =
            run_text(text_kernel(opening + change, 2), {1}, {32}, {real ? map : other, other}, memory);
        return result.fault ? result.fault->message : "";
    };
    CHECK(trouble("tensormap.replace.tile.rank" + global + "5;") ==
          "the rank of a tensor map is given as 0 to 4, one less than it is, not 5");
    CHECK(trouble("tensormap.replace.tile.box_dim" + global + "0, 257;") ==
          "a box has 1 to 256 elements in each dimension, not 257");
    CHECK(trouble("tensormap.replace.tile.element_stride" + global + "1, 9;") == "an element stride is from 1 to 8, not 9");
    CHECK(trouble("tensormap.replace.tile.global_stride.b1024.b64 [%rd1], 0, 8;").find("a multiple of 16") !=
          std::string::npos);
    CHECK(trouble("tensormap.replace.tile.global_address.b1024.b64 [%rd1], 8;").find("a multiple of 16") !=
          std::string::npos);
    CHECK(trouble("tensormap.replace.tile.interleave_layout" + global + "1;") == "interleaved tensor maps are not modelled");
    CHECK(trouble("tensormap.replace.tile.rank" + global + "1;", false) ==
          "these 128 bytes are no tensor map of this machine's make");
    CHECK(trouble("tensormap.replace.tile.rank.global.b1024.b32 [%rd1+16], 1;").find("invalid global write of 128 bytes") !=
          std::string::npos);
}

namespace {

// One multimem instruction on four replicas of 64 words (or on one plain allocation): what each holds afterwards, and what
// thread 0 read.
struct Replicated {
    std::vector<std::vector<uint32_t>> replicas;
    std::vector<uint32_t> read;
    std::string fault;
};
Replicated replicated(const std::string& body, const std::vector<std::vector<uint32_t>>& before, bool plain = false) {
    Memory memory;
    std::vector<uint64_t> addresses;
    for (const auto& words : before) addresses.push_back(put(memory, words, "replica"));
    const uint64_t out = memory.allocate(64, "out");
    const uint64_t object = plain ? addresses[0] : memory.multicast(addresses, before[0].size() * 4, "object");
    const std::string text = text_kernel(
        "ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; ld.param.u64 %rd3, [p2];\n.reg .f64 %fd<3>;\n" + body, 3);
    const LaunchResult result = run_text(text, {1}, {1}, {object, out, addresses[0]}, memory);
    Replicated r;
    for (const uint64_t a : addresses) r.replicas.push_back(read_back<uint32_t>(memory, a, before[0].size()));
    r.read = read_back<uint32_t>(memory, out, 16);
    if (result.fault) r.fault = result.fault->message;
    return r;
}

}  // namespace

TEST_CASE("multimem reads all replicas combined, and writes or combines with every one") {
    const std::vector<std::vector<uint32_t>> four = {{5, 0xfffffff0u, 0x3f800000u, 0, 0x40003c00u, 0x44003c00u, 1, 1},
                                                     {7, 3, 0x40000000u, 0, 0x3c007e00u, 0x40003c00u, 2, 1},
                                                     {0xffffffffu, 9, 0x40400000u, 0, 0xc0004000u, 0x3c003c00u, 4, 1},
                                                     {2, 8, 0x40800000u, 0, 0x3c003c00u, 0x3c003c00u, 8, 1}};
    const auto read = [&](const std::string& spelling, int word, const std::string& store = "st.global.u32 [%rd2], %r1;",
                          const std::string& to = "%r1") {
        const Replicated r = replicated(
            "multimem.ld_reduce" + spelling + " " + to + ", [%rd1+" + std::to_string(4 * word) + "];\n" + store, four);
        INFO(spelling << " " << r.fault);
        CHECK(r.fault.empty());
        CHECK(r.replicas == four);
        return r.read;
    };
    CHECK(read(".relaxed.gpu.global.add.u32", 0)[0] == 13);
    CHECK(read(".min.u32", 0)[0] == 2);
    CHECK(read(".max.u32", 0)[0] == 0xffffffffu);
    CHECK(read(".min.s32", 0)[0] == 0xffffffffu);
    CHECK(read(".max.s32", 0)[0] == 7);
    CHECK(read(".max.s32", 1)[0] == 9);
    CHECK(read(".weak.global.and.b32", 0)[0] == 0);
    CHECK(read(".acquire.sys.global.or.b32", 6)[0] == 15);
    CHECK(read(".xor.b32", 7)[0] == 0);
    CHECK(read(".add.f32", 2, "st.global.f32 [%rd2], %f1;", "%f1")[0] == 0x41200000u);  // 1 + 2 + 3 + 4
    const auto wide = read(".add.u64", 6, "st.global.u64 [%rd2], %rd9;", "%rd9");
    CHECK(wide[0] == 15);
    CHECK(wide[1] == 4);
    // Pairs of halves: 2 + 1 - 2 + 1 above; below 1 + NaN ... is NaN, of which min takes no notice.
    CHECK(read(".add.f16x2", 4)[0] == 0x40007fffu);
    CHECK(read(".min.f16x2", 4)[0] == 0xc0003c00u);
    CHECK(read(".add.acc::f32.f16x2", 5)[0] == 0x48004400u);  // 4 + 2 + 1 + 1, 1 + 1 + 1 + 1
    const auto pair = read(".add.v2.f32", 2, "st.global.v2.f32 [%rd2], {%f1, %f2};", "{%f1, %f2}");
    CHECK(pair[0] == 0x41200000u);
    CHECK(pair[1] == 0);

    const Replicated stored = replicated("mov.u32 %r1, 77; multimem.st.release.sys.global.u32 [%rd1+12], %r1;", four);
    const Replicated added = replicated(
        "multimem.red.add.u32 [%rd1], 3; mov.f32 %f1, 0f3F800000; multimem.red.relaxed.gpu."
        "global.add.f32 [%rd1+8], %f1;",
        four);
    const Replicated vectors = replicated(
        "mov.b32 %r1, 0x3c003c00; mov.b32 %r2, 0x40004000; multimem.red.add.v2.f16x2 [%rd1+16], {%r1, %r2};", four);
    const uint32_t floats[] = {0x40000000u, 0x40400000u, 0x40800000u, 0x40a00000u};
    const uint32_t halves[4][2] = {
        {0x42004000u, 0x46004200u}, {0x40007fffu, 0x44004200u}, {0xbc004200u, 0x42004200u}, {0x40004000u, 0x42004200u}};
    for (size_t k = 0; k < 4; ++k) {
        CHECK(stored.replicas[k][3] == 77);
        CHECK(stored.replicas[k][0] == four[k][0]);
        CHECK(added.replicas[k][0] == four[k][0] + 3);
        CHECK(added.replicas[k][2] == floats[k]);
        CHECK(vectors.replicas[k][4] == halves[k][0]);
        CHECK(vectors.replicas[k][5] == halves[k][1]);
    }
    // On one device an address of ordinary memory is an object of one replica.
    const Replicated alone = replicated(
        "multimem.red.add.u32 [%rd1], 3; multimem.ld_reduce.add.u32 %r1, [%rd1]; st.global.u32 [%rd2], %r1;", four, true);
    CHECK(alone.read[0] == 8);
    CHECK(alone.replicas[1] == four[1]);
}

TEST_CASE("multimem in a type that it has not is refused; beyond its object it is a fault") {
    for (const char* wrong :
         {"multimem.ld_reduce.add.s64 %rd1, [%rd2];", "multimem.ld_reduce.min.f32 %f1, [%rd2];",
          "multimem.red.min.f16x2 [%rd2], %r1;", "multimem.ld_reduce.and.u32 %r1, [%rd2];", "multimem.st.f16 [%rd2], %h1;",
          "multimem.ld_reduce.add.v8.f16x2 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd2];",
          "multimem.ld_reduce.add.v2.u32 {%r1,%r2}, [%rd2];"})
        CHECK(refusal_of(wrong).find("unknown form") != std::string::npos);
    CHECK(refusal_of("multimem.ld_reduce.add.v2.f32 %f1, [%rd2];").find("needs 2 registers in braces") != std::string::npos);
    const std::vector<std::vector<uint32_t>> two = {{1, 2}, {3, 4}};
    CHECK(replicated("multimem.st.u32 [%rd1+8], %r1;", two).fault.find("invalid") != std::string::npos);
    CHECK(replicated("multimem.st.u64 [%rd1+4], %rd2;", two).fault.find("at the end of 'object' (8 bytes)") !=
          std::string::npos);
    CHECK(replicated("multimem.ld_reduce.add.u32 %r1, [%rd1+2];", two).fault.find("misaligned multimem access") !=
          std::string::npos);
    CHECK(replicated("ld.global.u32 %r1, [%rd1];", two).fault.find("invalid global read") != std::string::npos);
    Memory memory;
    CHECK_THROWS_AS(memory.multicast({}, 8, "none"), Failure);
    CHECK_THROWS_AS(memory.multicast({memory.allocate(8, "a")}, 16, "small"), Failure);
}

}  // namespace simt_hopper_test
