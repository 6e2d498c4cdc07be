// Textures and surfaces against the formulas of the CUDA C++ programming guide ("Texture Fetching"), written out here in
// double for each addressing mode, filter, shape and element type.
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "core/base/dtype.h"
#include "core/ptx/ptx.h"
#include "core/simt/memory/texture_sample.h"
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace simt_texture_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

using Shape = Texture::Shape;
using Element = Texture::Element;
using Mode = Texture::Mode;

struct Run {
    std::vector<uint32_t> words;  // four a thread
    std::string fault;
};

// `body` sees %tid in %r0, the handle in %rd0, four 32-bit inputs of the thread in %r1-%r4 and %f1-%f4, and leaves its
// results in %r5-%r8.
std::string kernel(const std::string& body, const std::string& module = "") {
    return ".version 8.8\n.target sm_90\n.address_size 64\n" + module +
           ".visible .entry k(.param .u64 k_0, .param .u64 k_1, .param .u64 k_2) {\n"
           ".reg .pred %p<4>; .reg .b16 %rs<20>; .reg .b32 %r<30>; .reg .b64 %rd<20>; .reg .f32 %f<20>;\n"
           "ld.param.u64 %rd0, [k_0];\nld.param.u64 %rd1, [k_1];\nld.param.u64 %rd2, [k_2];\nmov.u32 %r0, %tid.x;\n"
           "mul.wide.u32 %rd3, %r0, 16;\nadd.s64 %rd1, %rd1, %rd3;\nadd.s64 %rd2, %rd2, %rd3;\n"
           "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];\nmov.b32 %f1, %r1;\nmov.b32 %f2, %r2;\nmov.b32 %f3, %r3;\n"
           "mov.b32 %f4, %r4;\nmov.u32 %r5, 0;\nmov.u32 %r6, 0;\nmov.u32 %r7, 0;\nmov.u32 %r8, 0;\n" +
           body + "\nst.global.v4.b32 [%rd2], {%r5, %r6, %r7, %r8};\nret;\n}\n";
}

Run run_body(const std::string& body, Memory& memory, uint64_t handle, const std::vector<uint32_t>& inputs,
             const std::string& module = "") {
    const auto parsed = ptx::parse(kernel(body, module), "test.ptx");
    INFO(body);
    INFO((parsed ? std::string() : render(parsed.error())));
    REQUIRE(parsed);
    const auto program = ptx::decode(parsed.value(), "k");
    INFO((program ? std::string() : render(program.error())));
    REQUIRE(program);
    const auto threads = static_cast<uint32_t>(inputs.size() / 4);
    const uint64_t in = put(memory, inputs, "inputs"), out = memory.allocate(inputs.size() * 4, "results");
    const auto result = launch(*program.value(), config_of({1}, {threads}, {handle, in, out}), memory);
    return {read_back<uint32_t>(memory, out, inputs.size()), result.fault ? result.fault->message : ""};
}

std::string refusal_of(const std::string& body) {
    const auto parsed = ptx::parse(kernel(body), "test.ptx");
    if (!parsed) return parsed.error().message;
    const auto program = ptx::decode(parsed.value(), "k");
    return program ? "" : program.error().message;
}

uint32_t bits(float value) {
    uint32_t out;
    std::memcpy(&out, &value, 4);
    return out;
}
float value_of(uint32_t word) {
    float out;
    std::memcpy(&out, &word, 4);
    return out;
}

// A picture of floats: texel (x, y, slice) of channel c.
float picture(int64_t x, int64_t y, int64_t slice, int64_t c) {
    return static_cast<float>((x * 7 + y * 13 + slice * 29 + c * 5) % 61) * 0.375f - 4;
}

uint64_t put_picture(Memory& memory, Texture& t) {
    std::vector<float> texels;
    for (uint32_t s = 0; s < t.slices(); ++s)
        for (uint32_t y = 0; y < t.height; ++y)
            for (uint32_t x = 0; x < t.width; ++x)
                for (uint32_t c = 0; c < t.channels; ++c) texels.push_back(picture(x, y, s, c));
    t.address = put(memory, texels, "texels");
    t.name = "picture";
    return memory.texture(t);
}

// The guide: index of a texel after its addressing mode; -1: the border, which is 0.
int64_t index_of(int64_t i, int64_t n, Mode mode) {
    if (mode == Mode::border) return i >= 0 && i < n ? i : -1;
    if (mode == Mode::clamp) return i < 0 ? 0 : i >= n ? n - 1 : i;
    while (i < 0) i += 2 * n;
    if (mode == Mode::wrap) return i % n;
    return i / n % 2 ? n - 1 - i % n : i % n;
}

struct Point {
    double x = 0, y = 0, z = 0;  // in texels
    int64_t layer = 0;
};

double expected(const Texture& t, const Point& p, int channel) {
    const bool three = t.shape == Shape::d3;
    const bool one = t.shape == Shape::d1 || t.shape == Shape::d1_layered;
    const auto texel = [&](int64_t x, int64_t y, int64_t z) -> double {
        const bool folds = t.normalized;
        const auto mode = [&](int axis) {
            const Mode m = t.modes[axis];
            return folds || m == Mode::border ? m : Mode::clamp;
        };
        const int64_t i = index_of(x, t.width, mode(0)), j = one ? 0 : index_of(y, t.height, mode(1));
        const int64_t k = three ? index_of(z, t.depth, mode(2)) : p.layer;
        if (i < 0 || j < 0 || k < 0) return 0;
        return static_cast<double>(picture(i, j, k, channel));
    };
    if (!t.linear)
        return texel(static_cast<int64_t>(std::floor(p.x)), static_cast<int64_t>(std::floor(p.y)),
                     static_cast<int64_t>(std::floor(p.z)));
    const auto split = [](double at, int64_t& i, double& fraction) {
        const double b = at - 0.5;
        i = static_cast<int64_t>(std::floor(b));
        fraction = std::round((b - std::floor(b)) * 256) / 256;  // 9 bits, 8 of them behind the point
    };
    int64_t i, j = 0, k = 0;
    double a, b = 0, c = 0;
    split(p.x, i, a);
    if (!one) split(p.y, j, b);
    if (three) split(p.z, k, c);
    const auto row = [&](int64_t y, int64_t z) { return (1 - a) * texel(i, y, z) + a * texel(i + 1, y, z); };
    const auto plane = [&](int64_t z) { return one ? row(0, z) : (1 - b) * row(j, z) + b * row(j + 1, z); };
    return three ? (1 - c) * plane(k) + c * plane(k + 1) : plane(0);
}

const std::vector<double> places = {0.5, 1.25,  2.75,    -0.5,        -1.75,       6.999, 7.0,
                                    0.0, 9.375, -12.625, 3.501953125, 4.998046875, 23.5};

// All addressing modes and filters of a shape; `inputs` of a thread from a point, in the order of the instruction.
void check_shape(Shape shape, const std::string& name, const std::string& coordinates,
                 const std::function<std::vector<float>(const Point&, const Texture&)>& inputs) {
    for (const Mode mode : {Mode::wrap, Mode::mirror, Mode::clamp, Mode::border})
        for (const bool linear : {false, true})
            for (const bool normalized : {false, true}) {
                Texture t;
                t.shape = shape;
                t.channels = 4;
                t.width = 8;  // powers of two: normalised coordinates come back as they were
                t.height = shape == Shape::d1 || shape == Shape::d1_layered ? 1 : 4;
                t.depth = shape == Shape::d3 ? 2 : 1;
                t.layers = shape == Shape::d1_layered || shape == Shape::d2_layered ? 3 : 1;
                t.linear = linear;
                t.normalized = normalized;
                for (Mode& m : t.modes) m = mode;
                Memory memory;
                const uint64_t handle = put_picture(memory, t);
                std::vector<Point> points;
                std::vector<uint32_t> words;
                for (size_t i = 0; i < 64; ++i) {
                    Point p{places[i % places.size()], places[i * 5 % places.size()], places[i * 3 % places.size()],
                            static_cast<int64_t>(i % t.layers)};
                    points.push_back(p);
                    std::vector<float> in = inputs(p, t);
                    in.resize(4);
                    for (const float v : in) words.push_back(bits(v));
                }
                const Run run = run_body(
                    "cvt.rzi.s32.f32 %r9, %f1;\ntex." + name + ".v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, " + coordinates +
                        "];\nmov.b32 %r5, %f5;\nmov.b32 %r6, %f6;\nmov.b32 %r7, %f7;\nmov.b32 %r8, %f8;",
                    memory, handle, words);
                REQUIRE(run.fault.empty());
                bool same = true;
                for (size_t i = 0; i < points.size(); ++i)
                    for (int c = 0; c < 4; ++c) {
                        const double want = expected(t, points[i], c);
                        const auto got = static_cast<double>(value_of(run.words[i * 4 + static_cast<size_t>(c)]));
                        // Weights of several axes are products of 8 bits: texture_silicon_test.cpp says which.
                        const double close = linear && shape != Shape::d1 && shape != Shape::d1_layered
                                                 ? 23.0 / 128
                                                 : 1e-6 * std::max(1.0, std::fabs(want));
                        if (!(std::fabs(got - want) <= close)) {
                            same = false;
                            UNSCOPED_INFO("x " << points[i].x << " y " << points[i].y << " z " << points[i].z << " channel "
                                               << c << ": got " << got << ", want " << want);
                        }
                    }
                INFO(name << " mode " << static_cast<int>(mode) << (linear ? " linear" : " nearest")
                          << (normalized ? " normalised" : ""));
                CHECK(same);
            }
}

float scaled(double at, uint32_t extent, const Texture& t) {
    return static_cast<float>(t.normalized ? at / extent : at);
}

}  // namespace

TEST_CASE("plain textures follow the guide's formulas in every mode and filter") {
    check_shape(Shape::d1, "1d", "{%f1}",
                [](const Point& p, const Texture& t) { return std::vector<float>{scaled(p.x, t.width, t)}; });
    check_shape(Shape::d2, "2d", "{%f1, %f2}", [](const Point& p, const Texture& t) {
        return std::vector<float>{scaled(p.x, t.width, t), scaled(p.y, t.height, t)};
    });
    check_shape(Shape::d3, "3d", "{%f1, %f2, %f3, %f3}", [](const Point& p, const Texture& t) {
        return std::vector<float>{scaled(p.x, t.width, t), scaled(p.y, t.height, t), scaled(p.z, t.depth, t)};
    });
}

TEST_CASE("layered textures take the layer as an integer in front") {
    check_shape(Shape::d1_layered, "a1d", "{%r9, %f2}", [](const Point& p, const Texture& t) {
        return std::vector<float>{static_cast<float>(p.layer), scaled(p.x, t.width, t)};
    });
    check_shape(Shape::d2_layered, "a2d", "{%r9, %f2, %f3, %f3}", [](const Point& p, const Texture& t) {
        return std::vector<float>{static_cast<float>(p.layer), scaled(p.x, t.width, t), scaled(p.y, t.height, t)};
    });
}

TEST_CASE("a cube's faces are found by the largest coordinate") {
    Texture t;
    t.shape = Shape::cube_layered;
    t.width = t.height = 4;
    t.layers = 2;
    Memory memory;
    const uint64_t handle = put_picture(memory, t);
    // One direction to the middle of a texel of each face: s and t of the texel, then the direction by the guide's table.
    struct Case {
        double x, y, z;
        int face;
        double s, t;
    };
    const double u = 0.25, v = -0.75;  // (s, t) = (u, v) / 2 + 1/2 of the face: texels 2 and 0
    const Case cases[] = {{1, -v, -u, 0, u, v}, {-1, -v, u, 1, u, v}, {u, 1, v, 2, u, v},
                          {u, -1, -v, 3, u, v}, {u, -v, 1, 4, u, v},  {-u, -v, -1, 5, u, v}};
    std::vector<uint32_t> words;
    for (uint32_t layer = 0; layer < 2; ++layer)
        for (const Case& c : cases)
            for (const uint32_t word : {layer, bits(static_cast<float>(3 * c.x)), bits(static_cast<float>(3 * c.y)),
                                        bits(static_cast<float>(3 * c.z))})
                words.push_back(word);
    const Run run = run_body("tex.acube.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {%r1, %f2, %f3, %f4}];\nmov.b32 %r5, %f5;",
                             memory, handle, words);
    REQUIRE(run.fault.empty());
    for (uint32_t layer = 0; layer < 2; ++layer)
        for (size_t i = 0; i < 6; ++i) {
            const auto x = static_cast<int64_t>((cases[i].s + 1) / 2 * 4),
                       y = static_cast<int64_t>((cases[i].t + 1) / 2 * 4);
            CHECK(value_of(run.words[(layer * 6 + i) * 4]) == picture(x, y, layer * 6 + cases[i].face, 0));
        }
}

TEST_CASE("elements of every type are read as they are, or normalised to floats; missing channels are 0, 0, 1") {
    const std::vector<uint8_t> raw = {0x00, 0x7f, 0x80, 0xff, 0x01, 0x3c, 0xfe, 0xbc,
                                      0x34, 0x12, 0x80, 0x81, 0x00, 0xfc, 0x01, 0x00};
    struct Row {
        Element element;
        uint32_t bytes;
        bool normalized;
        std::function<uint32_t(uint32_t)> read;
    };
    const auto as_is = [](uint32_t w) { return w; };
    const Row rows[] = {
        {Element::u8, 1, false, as_is},
        {Element::u8, 1, true, [](uint32_t w) { return bits(static_cast<float>(w) / 255); }},
        {Element::s8, 1, false, [](uint32_t w) { return static_cast<uint32_t>(static_cast<int8_t>(w)); }},
        {Element::s8, 1, true,
         [](uint32_t w) { return bits(std::max(-1.0f, static_cast<float>(static_cast<int8_t>(w)) / 127)); }},
        {Element::u16, 2, false, as_is},
        {Element::u16, 2, true, [](uint32_t w) { return bits(static_cast<float>(w) / 65535); }},
        {Element::s16, 2, false, [](uint32_t w) { return static_cast<uint32_t>(static_cast<int16_t>(w)); }},
        {Element::s16, 2, true,
         [](uint32_t w) { return bits(std::max(-1.0f, static_cast<float>(static_cast<int16_t>(w)) / 32767)); }},
        {Element::u32, 4, false, as_is},
        {Element::s32, 4, false, as_is},
        {Element::f32, 4, false, as_is},
        {Element::f16, 2, false,
         [](uint32_t w) {
             const double sign = w >> 15 ? -1 : 1;
             const int exponent = static_cast<int>(w >> 10 & 31);
             const auto fraction = static_cast<double>(w & 1023);
             if (exponent == 31) return bits(static_cast<float>(sign * INFINITY));
             return bits(static_cast<float>(
                 sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24))));
         }},
    };
    for (const Row& row : rows)
        for (const uint8_t channels : {uint8_t{1}, uint8_t{2}, uint8_t{4}}) {
            Memory memory;
            Texture t;
            t.shape = Shape::d1;
            t.element = row.element;
            t.channels = channels;
            t.normalized_float = row.normalized;
            t.width = static_cast<uint32_t>(raw.size()) / (row.bytes * channels);
            t.address = put(memory, raw, "raw");
            const bool floats = row.normalized || row.element >= Element::f16;
            const std::string type = floats ? "f32" : "s32";
            const std::string list = floats ? "{%f5, %f6, %f7, %f8}" : "{%r5, %r6, %r7, %r8}";
            const Run run =
                run_body("tex.1d.v4." + type + ".s32 " + list + ", [%rd0, {%r1}];" +
                             (floats ? "mov.b32 %r5, %f5;\nmov.b32 %r6, %f6;\nmov.b32 %r7, %f7;\nmov.b32 %r8, %f8;" : ""),
                         memory, memory.texture(t), {t.width - 1, 0, 0, 0});
            REQUIRE(run.fault.empty());
            std::vector<uint32_t> want = {0, 0, 0, floats ? bits(1) : 1};
            for (size_t c = 0; c < channels; ++c) {
                uint32_t word = 0;
                std::memcpy(&word, raw.data() + ((t.width - 1) * channels + c) * row.bytes, row.bytes);
                want[c] = row.read(word);
            }
            INFO("element " << static_cast<int>(row.element) << " channels " << int{channels});
            CHECK(run.words == want);
        }
}

TEST_CASE("bytes of sRGB are read as linear values, a fourth channel as it is, and decoded before they are filtered") {
    const auto linear = [](uint32_t code) {  // IEC 61966-2-1
        const double v = code / 255.0;
        return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    const auto read = [](const std::vector<uint8_t>& raw, uint8_t channels, bool filters, const std::string& fetch,
                         std::vector<uint32_t> with) {
        Memory memory;
        Texture t;
        t.shape = Shape::d1;
        t.element = Element::u8;
        t.channels = channels;
        t.normalized_float = t.srgb = true;
        t.linear = filters;
        t.width = static_cast<uint32_t>(raw.size()) / channels;
        t.address = put(memory, raw, "raw");
        const Run run = run_body(fetch + "mov.b32 %r5, %f5;\nmov.b32 %r6, %f6;\nmov.b32 %r7, %f7;\nmov.b32 %r8, %f8;",
                                 memory, memory.texture(t), std::move(with));
        REQUIRE(run.fault.empty());
        return run.words;
    };
    const std::string at_index = "tex.1d.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd0, {%r1}];";
    for (uint32_t code = 0; code < 256; ++code) {
        const auto byte = static_cast<uint8_t>(code);
        const std::vector<uint32_t> four = read({byte, byte, byte, byte}, 4, false, at_index, {0, 0, 0, 0});
        const uint32_t colour = bits(static_cast<float>(linear(code)));
        CHECK(four == std::vector<uint32_t>{colour, colour, colour, bits(static_cast<float>(code) / 255)});
        CHECK(read({byte}, 1, false, at_index, {0, 0, 0, 0}) == std::vector<uint32_t>{colour, 0, 0, bits(1)});
    }
    // Half way between black and white lies half of the light, not the code in the middle.
    const std::vector<uint32_t> middle = read(
        {0, 255}, 1, true, "mov.f32 %f1, 0f3F800000;\ntex.1d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {%f1}];", {0, 0, 0, 0});
    float value;
    std::memcpy(&value, &middle[0], 4);
    CHECK(value == Approx(0.5).margin(1e-4));
}

TEST_CASE("halves, predicates, levels, gradients and offsets of tex") {
    Memory memory;
    Texture t;
    t.width = 8;
    t.height = 4;
    t.channels = 4;
    const uint64_t handle = put_picture(memory, t);
    const std::vector<uint32_t> at = {bits(2.5f), bits(1.5f), 2, 1};
    const auto p = [](int64_t x, int64_t y, int64_t c) { return bits(picture(x, y, 0, c)); };
    const auto half = [&](int64_t c) -> uint32_t { return f32_to_f16(picture(2, 1, 0, c)); };  // exact in half
    CHECK(run_body("tex.2d.v2.f16x2.f32 {%r5, %r6}, [%rd0, {%f1, %f2}];", memory, handle, at).words ==
          std::vector<uint32_t>{half(0) | half(1) << 16, half(2) | half(3) << 16, 0, 0});
    CHECK(
        run_body("tex.2d.v4.f16.f32 {%rs1, %rs2, %rs3, %rs4}, [%rd0, {%f1, %f2}];\ncvt.u32.u16 %r5, %rs1;\ncvt.u32.u16 %r6, "
                 "%rs4;",
                 memory, handle, at)
            .words == std::vector<uint32_t>{half(0), half(3), 0, 0});
    const std::string back = "\nmov.b32 %r5, %f5;\nmov.b32 %r6, %f6;";
    CHECK(run_body("tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}|%p1, [%rd0, {%f1, %f2}];\nselp.u32 %r7, 1, 0, %p1;" + back,
                   memory, handle, at)
              .words == std::vector<uint32_t>{p(2, 1, 0), p(2, 1, 1), 1, 0});
    CHECK(
        run_body("tex.level.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {%f1, %f2}], 0f3F000000;" + back, memory, handle, at)
            .words == std::vector<uint32_t>{p(2, 1, 0), p(2, 1, 1), 0, 0});
    CHECK(run_body("tex.grad.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {%f1, %f2}], {%f1, %f1}, {%f2, %f2};" + back, memory,
                   handle, at)
              .words == std::vector<uint32_t>{p(2, 1, 0), p(2, 1, 1), 0, 0});
    CHECK(run_body("tex.base.2d.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd0, {%r3, %r4}], {3, -1};" + back, memory, handle, at)
              .words == std::vector<uint32_t>{p(5, 0, 0), p(5, 0, 1), 0, 0});
    // A destination that is a coordinate as well.
    CHECK(run_body("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd0, {%f1, %f2}];\nmov.b32 %r5, %f1;\nmov.b32 %r6, %f2;",
                   memory, handle, at)
              .words == std::vector<uint32_t>{p(2, 1, 0), p(2, 1, 1), 0, 0});
}

TEST_CASE("tld4 gives one channel of the four texels around a point") {
    Memory memory;
    Texture t;
    t.width = 8;
    t.height = 4;
    t.channels = 4;
    const uint64_t handle = put_picture(memory, t);
    for (const int c : {0, 1, 2, 3}) {
        const std::string channel(1, "rgba"[c]);
        const Run run = run_body("tld4." + channel +
                                     ".2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {%f1, %f2}];\nmov.b32 %r5, "
                                     "%f5;\nmov.b32 %r6, %f6;\nmov.b32 %r7, %f7;\nmov.b32 %r8, %f8;",
                                 memory, handle, {bits(3.0f), bits(2.25f), 0, 0, bits(0.25f), bits(3.75f), 0, 0});
        REQUIRE(run.fault.empty());
        std::vector<uint32_t> want;
        for (const auto& [x, y] : {std::pair{2, 2}, {3, 2}, {3, 1}, {2, 1}, {0, 3}, {0, 3}, {0, 3}, {0, 3}})
            want.push_back(bits(picture(x, y, 0, c)));
        CHECK(run.words == want);
    }
}

TEST_CASE("queries tell a texture's extents, format and sampler") {
    Memory memory;
    Texture t;
    t.shape = Shape::d2_layered;
    t.width = 8;
    t.height = 4;
    t.layers = 3;
    t.channels = 2;
    t.normalized = t.linear = true;
    t.modes[0] = Mode::mirror;
    t.modes[1] = Mode::border;
    const uint64_t handle = put_picture(memory, t);
    const auto ask = [&](const std::string& what) {
        return run_body(what + " %r5, [%rd0];", memory, handle, {0, 0, 0, 0}).words[0];
    };
    CHECK(ask("txq.width.b32") == 8);
    CHECK(ask("txq.height.b32") == 4);
    CHECK(ask("txq.depth.b32") == 1);
    CHECK(ask("txq.array_size.b32") == 3);
    CHECK(ask("txq.channel_data_type.b32") == 0x10DE);
    CHECK(ask("txq.channel_order.b32") == 0x10B2);
    CHECK(ask("txq.normalized_coords.b32") == 1);
    CHECK(ask("txq.filter_mode.b32") == 1);
    CHECK(ask("txq.addr_mode_0.b32") == 1);
    CHECK(ask("txq.addr_mode_1.b32") == 4);
    CHECK(ask("txq.addr_mode_2.b32") == 3);
    CHECK(ask("txq.num_mipmap_levels.b32") == 1);
    CHECK(ask("suq.width.b32") == 8);
    CHECK(run_body("txq.level.width.b32 %r5, [%rd0], 0;", memory, handle, {0, 0, 0, 0}).words[0] == 8);
}

TEST_CASE("a texture reference is a name that holds a handle; a sampler may stand apart") {
    Memory memory;
    Texture t;
    t.width = 8;
    t.height = 4;
    t.modes[0] = t.modes[1] = Mode::border;
    const uint64_t handle = put_picture(memory, t);
    Texture sampler;
    sampler.linear = true;
    const uint64_t other = memory.texture(sampler);
    const std::string module = ".global .texref tex_a;\n.global .samplerref smp;\n";
    const std::string back = "\nmov.b32 %r5, %f5;";
    // The kernel itself puts the handle where the name stands: what a host does for it.
    const std::string bind = "mov.u64 %rd5, tex_a;\nst.global.u64 [%rd5], %rd0;\n";
    const std::vector<uint32_t> at = {bits(3.0f), bits(-7.0f), 0, 0};
    CHECK(run_body(bind + "tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [tex_a, {%f1, 0f3F800000}];" + back, memory, handle, at,
                   module)
              .words[0] == bits(picture(3, 1, 0, 0)));
    CHECK(run_body(bind + "tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd5, {%f1, %f2}];" + back, memory, handle, at, module)
              .words[0] == 0);
    const Run apart = run_body("mov.u64 %rd6, " + std::to_string(other) +
                                   ";\ntex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, %rd6, {%f1, %f2}];" + back,
                               memory, handle, at);
    CHECK(value_of(apart.words[0]) == (picture(2, 0, 0, 0) + picture(3, 0, 0, 0)) / 2);
    CHECK(run_body("tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [tex_b, {%f1, %f2}];", memory, handle, at,
                   ".global .texref tex_b;\n")
              .fault == "the texture reference 'tex_b' has no texture");
}

TEST_CASE("surfaces load, store and reduce bytes; outside they trap, clamp or give zero") {
    Memory memory;
    Texture t;
    t.shape = Shape::d2;
    t.element = Element::u32;
    t.width = 4;
    t.height = 3;
    t.name = "s";
    std::vector<uint32_t> texels(12);
    for (uint32_t i = 0; i < 12; ++i) texels[i] = 100 + i;
    t.address = put(memory, texels, "s");
    const uint64_t handle = memory.texture(t);
    const auto go = [&](const std::string& body, std::vector<uint32_t> in) { return run_body(body, memory, handle, in); };
    CHECK(go("suld.b.2d.b32.trap {%r5}, [%rd0, {%r1, %r2}];", {8, 1, 0, 0}).words[0] == 106);
    CHECK(go("suld.b.2d.v2.b32.trap {%r5, %r6}, [%rd0, {%r1, %r2}];", {8, 1, 0, 0}).words ==
          std::vector<uint32_t>{106, 107, 0, 0});
    CHECK(go("suld.b.2d.v4.b32.trap {%r5, %r6, %r7, %r8}, [%rd0, {%r1, %r2}];", {0, 2, 0, 0}).words ==
          std::vector<uint32_t>{108, 109, 110, 111});
    CHECK(go("suld.b.2d.b8.trap %rs1, [%rd0, {%r1, %r2}];\ncvt.u32.u16 %r5, %rs1;", {4, 0, 0, 0}).words[0] == 101);
    CHECK(go("suld.b.2d.b64.trap %rd5, [%rd0, {%r1, %r2}];\nmov.b64 {%r5, %r6}, %rd5;", {8, 0, 0, 0}).words ==
          std::vector<uint32_t>{102, 103, 0, 0});
    const auto minus = static_cast<uint32_t>(-4);
    CHECK(go("suld.b.2d.b32.zero %r5, [%rd0, {%r1, %r2}];", {minus, 1, 0, 0, 16, 1, 0, 0, 0, 3, 0, 0, 12, 2, 0, 0}).words ==
          std::vector<uint32_t>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 111, 0, 0, 0});
    CHECK(go("suld.b.2d.b32.clamp %r5, [%rd0, {%r1, %r2}];", {minus, 1, 0, 0, 16, 7, 0, 0}).words ==
          std::vector<uint32_t>{104, 0, 0, 0, 111, 0, 0, 0});
    CHECK(go("suld.b.2d.b32.trap %r5, [%rd0, {%r1, %r2}];", {16, 1, 0, 0}).fault ==
          "invalid surface read of 4 bytes at x = 16 bytes, y = 1, outside 's' (4 x 3 x 1, 16 bytes a row)");
    CHECK(go("sust.b.2d.b32.trap [%rd0, {%r1, %r2}], {%r3};", {2, 1, 7, 0}).fault ==
          "misaligned surface write of 4 bytes at x = 2 bytes, y = 1, x is not a multiple of 4");
    REQUIRE(go("sust.b.2d.b32.trap [%rd0, {%r1, %r2}], {%r3};", {4, 1, 7, 0, 8, 1, 8, 0}).fault.empty());
    REQUIRE(go("sust.b.2d.v2.b32.zero [%rd0, {%r1, %r2}], {%r3, %r4};", {0, 9, 1, 1, 0, 2, 40, 41}).fault.empty());
    REQUIRE(go("sured.b.add.2d.u32.trap [%rd0, {%r1, %r2}], %r3;", {0, 0, 5, 0, 0, 0, 6, 0, 4, 0, 1, 0}).fault.empty());
    REQUIRE(go("sured.b.min.2d.s32.trap [%rd0, {%r1, %r2}], %r3;", {8, 0, minus, 0}).fault.empty());
    REQUIRE(go("sured.p.max.2d.b32.trap [%rd0, {%r1, %r2}], %r3;", {3, 0, 0x80000000u, 0}).fault.empty());
    REQUIRE(go("sust.p.2d.b32.trap [%rd0, {%r1, %r2}], {%r3};", {3, 1, 55, 0}).fault.empty());
    CHECK(read_back<uint32_t>(memory, t.address, 12) ==
          std::vector<uint32_t>{111, 102, minus, 0x80000000u, 104, 7, 8, 55, 40, 41, 110, 111});
}

TEST_CASE("formatted stores convert to the surface's element") {
    Memory memory;
    Texture t;
    t.shape = Shape::d1;
    t.element = Element::u8;
    t.channels = 4;
    t.width = 4;
    t.normalized_float = true;
    t.address = put(memory, std::vector<uint8_t>(16, 9), "s");
    const uint64_t handle = memory.texture(t);
    const std::vector<uint32_t> in = {bits(0), bits(1), bits(0.5f), bits(-3)};
    REQUIRE(run_body("sust.p.1d.v4.f32.trap [%rd0, {1}], {%f1, %f2, %f3, %f4};", memory, handle, in).fault.empty());
    REQUIRE(run_body("sust.p.1d.v4.s32.trap [%rd0, {3}], {%r1, %r2, %r3, %r4};", memory, handle, {7, 300, 0xffffffffu, 255})
                .fault.empty());
    CHECK(read_back<uint8_t>(memory, t.address, 16) ==
          std::vector<uint8_t>{9, 9, 9, 9, 0, 255, 128, 0, 9, 9, 9, 9, 7, 255, 0, 255});
}

TEST_CASE("surfaces of three axes and of layers address their slices") {
    Memory memory;
    Texture t;
    t.shape = Shape::d3;
    t.element = Element::u32;
    t.width = t.height = t.depth = 2;
    std::vector<uint32_t> texels(8);
    for (uint32_t i = 0; i < 8; ++i) texels[i] = i;
    t.address = put(memory, texels, "s");
    const uint64_t deep = memory.texture(t);
    CHECK(run_body("suld.b.3d.b32.trap %r5, [%rd0, {%r1, %r2, %r3, %r3}];", memory, deep, {4, 0, 1, 0}).words[0] == 5);
    t.shape = Shape::d2_layered;
    t.depth = 1;
    t.layers = 2;
    CHECK(run_body("suld.b.a2d.b32.trap %r5, [%rd0, {%r1, %r2, %r3, %r3}];", memory, memory.texture(t), {1, 4, 1, 0})
              .words[0] == 7);
    t.shape = Shape::d1_layered;
    t.height = 1;
    t.layers = 4;
    CHECK(run_body("suld.b.a1d.b32.trap %r5, [%rd0, {%r1, %r2}];", memory, memory.texture(t), {3, 4, 0, 0}).words[0] == 7);
    CHECK(run_body("suld.b.a1d.b32.trap %r5, [%rd0, {%r1, %r2}];", memory, memory.texture(t), {4, 4, 0, 0})
              .fault.find("layer 4, outside") != std::string::npos);
}

TEST_CASE("a handle that is none, a texture of another shape and freed texels are faults with a reason") {
    Memory memory;
    Texture t;
    t.width = 8;
    t.height = 4;
    const uint64_t handle = put_picture(memory, t);
    const std::string fetch = "tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {%f1, %f2}];";
    CHECK(run_body(fetch, memory, 0, {0, 0, 0, 0}).fault == "0x0 is no texture or surface object, it is null");
    CHECK(run_body(fetch, memory, handle + 9, {0, 0, 0, 0}).fault.find("is no texture or surface object") !=
          std::string::npos);
    CHECK(run_body("tex.3d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {%f1, %f2, %f3, %f3}];", memory, handle, {0, 0, 0, 0})
              .fault == "'picture' is a 2D texture, the instruction reads a 3D one");
    const uint32_t nan = 0x7fffffff, inf = 0x7f800000;
    CHECK(run_body(fetch + "mov.b32 %r5, %f5;", memory, handle, {nan, inf, 0, 0}).words[0] == bits(picture(0, 3, 0, 0)));
    memory.release(memory.find_texture(handle)->address);
    CHECK(run_body(fetch, memory, handle, {0, 0, 0, 0}).fault == "the memory of the texture 'picture' was freed");
    Texture wide = t;
    wide.address = memory.allocate(16, "small");
    CHECK_THROWS_AS(memory.texture(wide), Failure);
}

TEST_CASE("what textures cannot do is refused in words") {
    CHECK(refusal_of("tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {%f1}];") ==
          "'tex.2d.v4.f32.f32' needs 2 numbers in braces here");
    CHECK(refusal_of("tex.cube.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd0, {%r1, %r2, %r3, %r3}];") ==
          "'tex.cube.v4.f32.s32' has no integer coordinates");
    CHECK(refusal_of("tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%r0, {%f1, %f2}];") ==
          "a texture object is in a register of .b64, '%r0' is of .b32");
    CHECK(refusal_of("tex.3d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {%f1, %f2, %f3, %f3}], %f4;") ==
          "'tex.3d.v4.f32.f32' does not compare with a depth");
    CHECK(refusal_of("tex.2d.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd0, {%r1, %r2}], %f4;") ==
          "'tex.2d.v4.f32.s32' compares with a depth at coordinates of .f32 alone");
    CHECK(refusal_of("tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {%f1, %f2}], %f3, %f4;") ==
          "'tex.2d.v4.f32.f32' takes nothing behind this");
    CHECK(refusal_of("tex.cube.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {%f1, %f2, %f3, %f3}], {%r1, %r2, %r3, %r4};") ==
          "'tex.cube.v4.f32.f32' takes no offset");
    CHECK(refusal_of("tex.level.2dms.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd0, {%r1, %r2, %r3, %r4}], %r5;")
              .starts_with("unknown form"));
    CHECK(refusal_of("txq.level.array_size.b32 %r5, [%rd0], 0;").starts_with("unknown form"));
    CHECK(refusal_of("istypep.texref %r5, %rd0;").find("%r5") != std::string::npos);
    CHECK(refusal_of("istypep.sampler %p1, %rd0;").starts_with("unknown form"));
}

namespace {

// A chain of levels, each half as large; texel (x, y, slice) of a level is a number of its own.
float chain_texel(int64_t level, int64_t x, int64_t y, int64_t slice) {
    return static_cast<float>((level * 37 + x * 7 + y * 13 + slice * 17) % 53) * 0.25f - 3;
}

uint64_t put_chain(Memory& memory, Texture& t) {
    std::vector<float> texels;
    uint32_t width = t.width, height = t.height, depth = t.depth;
    for (uint32_t level = 0; level < t.levels; ++level) {
        for (uint32_t slice = 0; slice < depth * t.layers * t.faces(); ++slice)
            for (uint32_t y = 0; y < height; ++y)
                for (uint32_t x = 0; x < width; ++x) texels.push_back(chain_texel(level, x, y, slice));
        width = width > 1 ? width / 2 : 1, height = height > 1 ? height / 2 : 1, depth = depth > 1 ? depth / 2 : 1;
    }
    t.address = put(memory, texels, "texels");
    t.name = "chain";
    return memory.texture(t);
}

// Level `level` of an 8 x 4 picture at normalised u, v, clamped: the nearest texel or four of them blended.
double chain_at(int64_t level, double u, double v, bool linear) {
    const int64_t w = std::max<int64_t>(1, 8 >> level), h = std::max<int64_t>(1, 4 >> level);
    const auto at = [&](int64_t x, int64_t y) {
        return static_cast<double>(
            chain_texel(level, std::clamp<int64_t>(x, 0, w - 1), std::clamp<int64_t>(y, 0, h - 1), 0));
    };
    const double x = u * static_cast<double>(w), y = v * static_cast<double>(h);
    if (!linear) return at(static_cast<int64_t>(std::floor(x)), static_cast<int64_t>(std::floor(y)));
    const double i = std::floor(x - 0.5), j = std::floor(y - 0.5);
    const double a = std::round((x - 0.5 - i) * 256) / 256, b = std::round((y - 0.5 - j) * 256) / 256;
    const auto p = static_cast<int64_t>(i), q = static_cast<int64_t>(j);
    return (1 - b) * ((1 - a) * at(p, q) + a * at(p + 1, q)) + b * ((1 - a) * at(p, q + 1) + a * at(p + 1, q + 1));
}

}  // namespace

TEST_CASE("a level of detail takes the nearest level, or blends two, within the texture's bias and limits") {
    for (const bool linear : {false, true})
        for (const bool blends : {false, true})
            for (const std::array<float, 3> limits :
                 {std::array{0.0f, 0.0f, 1000.0f}, {0.75f, 0.0f, 1000.0f}, {0.0f, 0.5f, 1.75f}}) {
                Memory memory;
                Texture t;
                t.width = 8;
                t.height = 4;
                t.levels = 4;
                t.normalized = true;
                t.linear = linear;
                t.mip_linear = blends;
                t.level_bias = limits[0];
                t.least_level = limits[1];
                t.most_level = limits[2];
                const uint64_t handle = put_chain(memory, t);
                const double u = 0.4375, v = 0.625;
                std::vector<uint32_t> in;
                const std::vector<float> levels = {-1, 0, 0.25f, 0.5f, 0.625f, 1, 1.375f, 1.5f, 2.75f, 3, 17};
                for (const float level : levels)
                    for (const float f : {static_cast<float>(u), static_cast<float>(v), level, 0.0f}) in.push_back(bits(f));
                const Run run =
                    run_body("tex.level.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {%f1, %f2}], %f3;\nmov.b32 %r5, %f5;",
                             memory, handle, in);
                REQUIRE(run.fault.empty());
                for (size_t k = 0; k < levels.size(); ++k) {
                    double level = static_cast<double>(levels[k]) + static_cast<double>(limits[0]);
                    if (level > static_cast<double>(limits[2])) level = static_cast<double>(limits[2]);
                    if (level < static_cast<double>(limits[1])) level = static_cast<double>(limits[1]);
                    if (level > 3) level = 3;
                    if (level < 0) level = 0;
                    int64_t nearest = 0;  // the smaller one of two that are as near
                    for (int64_t l = 1; l < 4; ++l)
                        if (std::fabs(level - static_cast<double>(l)) < std::fabs(level - static_cast<double>(nearest)))
                            nearest = l;
                    const auto below = static_cast<int64_t>(level);
                    const double part = level - static_cast<double>(below);
                    const float first = static_cast<float>(chain_at(below, u, v, linear));
                    const double want =
                        !blends     ? chain_at(nearest, u, v, linear)
                        : part == 0 ? static_cast<double>(first)
                                    : (1 - part) * static_cast<double>(first) +
                                          part * static_cast<double>(static_cast<float>(chain_at(below + 1, u, v, linear)));
                    INFO("level " << levels[k] << " linear " << linear << " blends " << blends << " bias " << limits[0]);
                    CHECK(value_of(run.words[4 * k]) == static_cast<float>(want));
                }
            }
}

TEST_CASE("integer coordinates count the texels of the level that is named; queries tell its extents") {
    Memory memory;
    Texture t;
    t.shape = Shape::d2_layered;
    t.width = 9;
    t.height = 5;
    t.layers = 3;
    t.levels = 4;  // 9 x 5, 4 x 2, 2 x 1, 1 x 1
    const uint64_t handle = put_chain(memory, t);
    const Run run =
        run_body("tex.level.a2d.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd0, {%r4, %r1, %r2, %r2}], %r3;\nmov.b32 %r5, %f5;",
                 memory, handle, {3, 1, 1, 2, 1, 0, 2, 1, 0, 0, 3, 2, 8, 4, 0, 0});
    CHECK(run.words[0] == bits(chain_texel(1, 3, 1, 2)));
    CHECK(run.words[4] == bits(chain_texel(2, 1, 0, 1)));
    CHECK(run.words[8] == bits(chain_texel(3, 0, 0, 2)));
    CHECK(run.words[12] == bits(chain_texel(0, 8, 4, 0)));
    const Run queries = run_body(
        "txq.level.width.b32 %r5, [%rd0], %r1;\ntxq.level.height.b32 %r6, [%rd0], "
        "%r1;\ntxq.num_mipmap_levels.b32 %r7, [%rd0];\ntxq.array_size.b32 %r8, [%rd0];",
        memory, handle, {0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0});
    CHECK(queries.words == std::vector<uint32_t>{9, 5, 4, 3, 4, 2, 4, 3, 1, 1, 4, 3, 0, 0, 4, 3});
}

TEST_CASE("gradients choose the level in which a step to the next pixel is about one texel") {
    Memory memory;
    Texture t;
    t.width = 8;
    t.height = 4;
    t.levels = 4;
    t.normalized = true;
    const uint64_t flat = put_chain(memory, t);
    // Steps in texels of level 0: the longer one of (dx) and (dy) counts.
    const double steps[][4] = {{1, 0, 0, 1}, {2, 0, 0, 1},    {0, 0, 0, 4}, {3, 4, 0, 0},
                               {0, 0, 0, 0}, {0.25, 0, 0, 0}, {0, 8, 1, 1}};
    for (const auto& step : steps) {
        const double longest = std::max(std::hypot(step[0], step[1]), std::hypot(step[2], step[3]));
        int64_t level = 0;  // 2^level is nearest to the step, counted in powers
        while (level < 3 && longest > std::exp2(static_cast<double>(level) + 0.5)) ++level;
        std::vector<uint32_t> in;
        for (int k = 0; k < 4; ++k) in.push_back(bits(static_cast<float>(step[k] / (k % 2 ? 4 : 8))));
        const Run run = run_body(
            "tex.grad.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {0f3E800000, 0f3F000000}], {%f1, %f2}, "
            "{%f3, %f4};\nmov.b32 %r5, %f5;",
            memory, flat, in);
        INFO("steps " << step[0] << ' ' << step[1] << ' ' << step[2] << ' ' << step[3]);
        CHECK(run.words[0] == bits(static_cast<float>(chain_at(level, 0.25, 0.5, false))));
    }
    // On a cube's face of 8 x 8 texels, whose places run from -1 to 1: a step of 2 z at x = 2 is 1 of 2: four texels.
    Texture cube;
    cube.shape = Shape::cube;
    cube.width = cube.height = 8;
    cube.levels = 4;
    const uint64_t round = put_chain(memory, cube);
    const auto at = [&](float dz, float dx) {
        return run_body(
                   "tex.grad.cube.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {0f40000000, 0f00000000, 0f3F800000, %f4}], {%f2, "
                   "%f4, %f1, %f4}, {%f4, %f4, %f4, %f4};\nmov.b32 %r5, %f5;",
                   memory, round, {bits(dz), bits(dx), 0, 0})
            .words[0];
    };
    // s = -z/x = -1/2, t = 0: a quarter and a half of the face.
    CHECK(at(2, 0) == bits(chain_texel(2, 0, 1, 0)));
    CHECK(at(0.5f, 0) == bits(chain_texel(0, 2, 4, 0)));
    CHECK(at(4, 0) == bits(chain_texel(3, 0, 0, 0)));
    CHECK(at(0, 2) == bits(chain_texel(1, 1, 2, 0)));  // away from the face: z/x changes by 1/2
    CHECK(at(1, 2) == bits(chain_texel(0, 2, 4, 0)));  // straight on: nothing moves
}

TEST_CASE("a depth is compared with every texel before they are blended") {
    using Compare = Texture::Compare;
    const std::vector<float> texels = {0.25f, 0.5f, 0.75f, 0.5f};  // 2 x 2
    const std::pair<Compare, std::function<bool(float, float)>> all[] = {
        {Compare::never, [](float, float) { return false; }},
        {Compare::less, [](float d, float x) { return d < x; }},
        {Compare::equal, [](float d, float x) { return d == x; }},
        {Compare::less_equal, [](float d, float x) { return !(d > x); }},
        {Compare::greater, [](float d, float x) { return d > x; }},
        {Compare::not_equal, [](float d, float x) { return !(d == x); }},
        {Compare::greater_equal, [](float d, float x) { return !(d < x); }},
        {Compare::always, [](float, float) { return true; }}};
    for (const auto& [compare, holds] : all) {
        Memory memory;
        Texture t;
        t.width = t.height = 2;
        t.linear = true;
        t.compare = compare;
        t.address = put(memory, texels, "depths");
        const uint64_t handle = memory.texture(t);
        const std::vector<uint32_t> in = {bits(1.0f), bits(0.75f), bits(0.5f), 0};  // between columns, 3/4 in the upper row
        double want = 0;
        const double weights[] = {0.375, 0.375, 0.125, 0.125};
        for (size_t i = 0; i < 4; ++i) want += holds(0.5f, texels[i]) ? weights[i] : 0;
        const Run run = run_body(
            "tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {%f1, %f2}], %f3;\nmov.b32 %r5, %f5;\nmov.b32 "
            "%r8, %f8;",
            memory, handle, in);
        INFO("comparison " << static_cast<int>(compare));
        CHECK(run.fault.empty());
        CHECK(value_of(run.words[0]) == static_cast<float>(want));
        CHECK(run.words[3] == bits(1.0f));  // the channel that is not there
        // An offset in front of the depth, and four comparisons one by one: lower left, lower right, upper right, upper
        // left.
        const Run moved =
            run_body("tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {%f1, %f2}], {1, 1}, %f3;\nmov.b32 %r5, %f5;", memory,
                     handle, in);
        CHECK(value_of(moved.words[0]) == (holds(0.5f, 0.5f) ? 1.0f : 0.0f));
        const Run four = run_body(
            "tld4.r.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {%f1, %f2}], %f3;\nmov.b32 %r5, "
            "%f5;\nmov.b32 %r6, %f6;\nmov.b32 %r7, %f7;\nmov.b32 %r8, %f8;",
            memory, handle, in);
        for (size_t i = 0; i < 4; ++i)
            CHECK(value_of(four.words[i]) == (holds(0.5f, texels[std::array<size_t, 4>{2, 3, 1, 0}[i]]) ? 1.0f : 0.0f));
    }
    Memory memory;
    Texture t;
    t.element = Element::u8;
    t.address = memory.allocate(4, "bytes");
    t.name = "bytes";
    CHECK(
        run_body("tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {%f1, %f2}], %f3;", memory, memory.texture(t), {0, 0, 0, 0})
            .fault == "'bytes' is compared with a depth: its texels have to be read as floats");
}

TEST_CASE("a texture of several samples is read sample by sample") {
    Memory memory;
    Texture t;
    t.shape = Shape::d2_ms_layered;
    t.width = 3;
    t.height = 2;
    t.layers = 2;
    t.samples = 4;
    std::vector<float> texels(48);
    for (size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i);
    t.address = put(memory, texels, "samples");
    const uint64_t layered = memory.texture(t);
    const Run run = run_body(
        "tex.a2dms.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd0, {%r1, %r2, %r3, %r4}];\nmov.b32 %r5, %f5;\n"
        "txq.num_samples.b32 %r6, [%rd0];",
        memory, layered, {1, 3, 2, 1, 0, 1, 1, 0});
    CHECK(run.words[0] == bits(((1 * 2 + 1) * 3 + 2) * 4 + 3));
    CHECK(run.words[4] == bits(1 * 4 + 1));
    CHECK(run.words[1] == 4);
    t.shape = Shape::d2_ms;
    t.layers = 1;
    const Run flat =
        run_body("tex.2dms.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd0, {%r1, %r2, %r3, %r4}], {1, 0};\nmov.b32 %r5, %f5;",
                 memory, memory.texture(t), {2, 1, 1, 0});
    CHECK(flat.words[0] == bits((1 * 3 + 2) * 4 + 2));
}

TEST_CASE("istypep tells names of textures, samplers and surfaces, and handles of theirs, from anything else") {
    Memory memory;
    Texture t;
    t.address = memory.allocate(4, "texel");
    const uint64_t texture = memory.texture(t);
    t.surface = true;
    const uint64_t surface = memory.texture(t), sampler = memory.texture(Texture{});
    const std::string module = ".global .texref tr;\n.global .samplerref sr;\n.global .surfref su;\n.global .u64 none;\n";
    const auto is = [&](const std::string& address) {
        std::string text = address;
        for (const char* type : {"texref", "samplerref", "surfref"})
            text += std::string("istypep.") + type +
                    " %p1, %rd5;\nselp.u32 %r6, 1, 0, %p1;\nshl.b32 %r5, %r5, 1;\nor.b32 %r5, "
                    "%r5, %r6;\n";
        const Run run = run_body(text, memory, texture, {0, 0, 0, 0}, module);
        CHECK(run.fault.empty());
        return run.words[0];
    };
    CHECK(is("mov.u64 %rd5, tr;\n") == 4);
    CHECK(is("mov.u64 %rd5, sr;\n") == 2);
    CHECK(is("mov.u64 %rd5, su;\n") == 1);
    CHECK(is("mov.u64 %rd5, none;\n") == 0);
    CHECK(is("mov.u64 %rd5, 0;\n") == 0);
    CHECK(is("mov.u64 %rd5, " + std::to_string(texture) + ";\n") == 4);
    CHECK(is("mov.u64 %rd5, " + std::to_string(sampler) + ";\n") == 2);
    CHECK(is("mov.u64 %rd5, " + std::to_string(surface) + ";\n") == 1);
}

TEST_CASE("arrays lie in blocks of 64 bytes by 8 rows, sectors of 16 bytes by 2 rows, and every byte has its place") {
    for (const Shape shape : {Shape::d2, Shape::d3, Shape::d2_layered}) {
        Texture t;
        t.shape = shape;
        t.width = 48, t.height = 16;  // floats: three blocks a row, two rows of them
        t.depth = shape == Shape::d3 ? 4 : 1;
        t.layers = shape == Shape::d2_layered ? 3 : 1;
        CHECK(t.placed(1234) == 1234);  // memory of the program's own lies as it does
        t.array = true;
        std::vector<bool> taken(t.bytes());
        for (uint64_t offset = 0; offset < t.bytes(); ++offset) {
            const uint64_t x = offset % 192, y = offset / 192 % 16, z = offset / 192 / 16;
            const uint64_t place = t.placed(offset);
            REQUIRE(place < t.bytes());
            CHECK_FALSE(taken[place]);
            taken[place] = true;
            CHECK(place / 512 == (z * 2 + y / 8) * 3 + x / 64);                            // its block
            CHECK(place / 32 == t.placed((z * 16 + y / 2 * 2) * 192 + x / 16 * 16) / 32);  // its sector's first byte
        }
        // Four texels around a point lie in one sector or four, two in a column in one as often as two in a row.
        CHECK(t.placed(0) / 32 == t.placed(192 + 12) / 32);
        CHECK(t.placed(12) / 32 != t.placed(16) / 32);
        CHECK(t.placed(192) / 32 != t.placed(2 * 192) / 32);
        CHECK(t.placed(0) / 128 == t.placed(3 * 192 + 28) / 128);  // a line: 32 bytes by 4 rows
    }
    Texture odd;
    odd.array = true;
    odd.width = 10, odd.height = 16;
    CHECK(odd.placed(100) == 100);
}

TEST_CASE("a linear filter touches the four texels that it blends, the nearest one a single texel") {
    Texture texture;
    texture.width = texture.height = 8;
    const std::vector<float> texels(64, 1.0f);
    const auto* const data = reinterpret_cast<const std::byte*>(texels.data());
    Coordinates at;
    at.at[0] = 3, at.at[1] = 5;  // where four texels meet
    Touched touched;
    sample(texture, data, at, &touched);
    REQUIRE(touched.count == 1);
    CHECK(touched.offset[0] == (5 * 8 + 3) * 4);
    texture.linear = true;
    sample(texture, data, at, &touched);
    std::set<int64_t> offsets(touched.offset, touched.offset + touched.count);
    CHECK(offsets == std::set<int64_t>{(4 * 8 + 2) * 4, (4 * 8 + 3) * 4, (5 * 8 + 2) * 4, (5 * 8 + 3) * 4});
    texture.modes[0] = texture.modes[1] = Texture::Mode::border;
    at.at[0] = at.at[1] = 0;  // one of the four lies inside
    sample(texture, data, at, &touched);
    REQUIRE(touched.count == 1);
    CHECK(touched.offset[0] == 0);
}

}  // namespace simt_texture_test
