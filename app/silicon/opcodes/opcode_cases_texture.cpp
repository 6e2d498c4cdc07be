// Cases of textures and surfaces. A kernel takes the objects of opcode_textures() as %tex0, %tex1, ...; what it stored into
// surfaces is compared behind its outputs, as silicon promises nothing to who reads a surface in the kernel that writes it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "app/silicon/opcodes/opcode_cases.h"
#include "core/base/dtype.h"
#include "core/base/rng.h"

namespace lockstep::device {
namespace {

using ptx::Type;
using simt::Texture;
using Shape = Texture::Shape;
using Element = Texture::Element;
using Mode = Texture::Mode;

enum TextureNumber : size_t {
    floats_1d,     // f32, nearest
    colours_2d,    // u8 x 4 as [0, 1], blended, wrapped
    floats_2d,     // f32 x 4, blended, a border of its own
    colours_3d,    // u8 x 4 as [0, 1], blended, mirrored
    integers_2d,   // s16 x 2 as integers, nearest
    halves_a2d,    // f16 x 2, blended, four layers
    colours_cube,  // u8 x 4 as [0, 1], blended
    integers_a1d,  // u32, nearest, four layers
    surface_1d,    // u32 x 4, a texel a thread, as the next two
    surface_2d,
    surface_3d,
    words_2d  // u32, a texel a thread
};

struct TextureAccess {
    std::string_view geometry;
    TextureNumber texture;
    Type type;           // of the numbers
    float stretch;       // coordinates of -2 to 2 become those that the texture's extent asks for
    bool whole = false;  // may be read at integers
};
constexpr TextureAccess texture_fetches[] = {
    {"1d", floats_1d, Type::f32, 40, true},   {"2d", colours_2d, Type::f32, 1},
    {"2d", floats_2d, Type::f32, 10, true},   {"3d", colours_3d, Type::f32, 1},
    {"2d", integers_2d, Type::s32, 10, true}, {"a2d", halves_a2d, Type::f32, 1},
    {"cube", colours_cube, Type::f32, 1},     {"a1d", integers_a1d, Type::u32, 10, true}};

size_t texture_axes(std::string_view geometry) {
    return geometry.ends_with("1d") ? 1 : geometry.ends_with("2d") ? 2 : 3;
}
std::vector<OpcodeOperand> float_operands(size_t first, size_t count) {
    std::vector<OpcodeOperand> list;
    for (size_t i = 0; i < count; ++i) list.push_back({fmt::format("%r{}", first + i), Type::f32, OpcodeDraw::moderate});
    return list;
}
std::string braced_registers(std::string_view letter, size_t first, size_t count) {
    std::string list;
    for (size_t i = 0; i < count; ++i) list += fmt::format("{}%{}{}", i ? ", " : "", letter, first + i);
    return "{" + list + "}";
}
OpcodeCase& texture_case(std::vector<OpcodeCase>& cases, const std::string& name) {
    const auto found = std::find_if(cases.begin(), cases.end(), [&](const OpcodeCase& it) { return it.name == name; });
    if (found != cases.end()) return *found;
    return cases.emplace_back(OpcodeCase{name, {}});
}

// Coordinates %r1.. stretched into %r11..; in front of those of a layered texture its layer, 0 to 4 of 4; whole: as
// integers.
std::vector<std::string> coordinates(const TextureAccess& access, bool whole) {
    const bool layered = access.geometry.front() == 'a';
    std::vector<std::string> lines;
    const size_t axes = texture_axes(access.geometry), first = layered ? 12 : 11;
    if (layered) lines.emplace_back("mov.b32 %r11, %r5");
    for (size_t i = 0; i < axes; ++i) {
        const float stretch = whole ? 4 * access.stretch : access.stretch;
        lines.push_back(
            fmt::format("mul.rn.f32 %r{}, %r{}, 0f{:08x}", first + i, 1 + i, __builtin_bit_cast(uint32_t, stretch)));
        if (whole) lines.push_back(fmt::format("cvt.rni.s32.f32 %r{}, %r{}", first + i, first + i));
    }
    return lines;
}
std::string texture_place(const TextureAccess& access) {
    const size_t axes = texture_axes(access.geometry), count = axes + (access.geometry.front() == 'a');
    std::string list = braced_registers("r", 11, count);
    if (count == 3) list.insert(list.size() - 1, ", %r11");  // a vector of four, whose last number means nothing
    return fmt::format("[%tex{}, {}]", static_cast<size_t>(access.texture), list);
}

void fetch_cases(std::vector<OpcodeCase>& cases) {
    for (const TextureAccess& access : texture_fetches) {
        const std::string_view type = ptx::name_of(access.type);
        std::vector<OpcodeOperand> results;
        for (size_t i = 0; i < 4; ++i) results.push_back({fmt::format("%r{}", 21 + i), access.type});
        const auto add = [&](const std::string& name, const std::string& text, std::vector<std::string> before,
                             size_t numbers) {
            OpcodeStep step{
                .text = text, .inputs = float_operands(1, 4), .outputs = results, .before = std::move(before), .behind = {}};
            step.inputs.push_back({"%r5", Type::u32, OpcodeDraw::few});
            for (const OpcodeOperand& more : float_operands(6, numbers)) step.inputs.push_back(more);
            texture_case(cases, name).steps.push_back(std::move(step));
        };
        const std::string result = braced_registers("r", 21, 4), where = texture_place(access);
        const std::vector<std::string> at = coordinates(access, false);
        const auto name = [&](std::string_view what, std::string_view index) {
            return fmt::format("{}.{}.{}.{}", what, access.geometry, type, index);
        };
        add(name("tex", "f32"), fmt::format("tex.{}.v4.{}.f32 {}, {}", access.geometry, type, result, where), at, 0);
        if (access.whole)
            add(name("tex", "s32"), fmt::format("tex.{}.v4.{}.s32 {}, {}", access.geometry, type, result, where),
                coordinates(access, true), 0);
        add(name("tex.level", "f32"),
            fmt::format("tex.level.{}.v4.{}.f32 {}, {}, %r6", access.geometry, type, result, where), at, 1);
        const size_t axes = texture_axes(access.geometry);
        if (access.geometry != "cube") {
            const std::string dx = axes == 1 ? "{%r6}" : axes == 2 ? "{%r6, %r7}" : "{%r6, %r7, %r8, %r8}";
            const std::string dy = axes == 1 ? "{%r7}" : axes == 2 ? "{%r8, %r6}" : "{%r7, %r6, %r8, %r8}";
            add(name("tex.grad", "f32"),
                fmt::format("tex.grad.{}.v4.{}.f32 {}, {}, {}, {}", access.geometry, type, result, where, dx, dy), at, 3);
        }
        if (axes == 2 || access.geometry == "cube")
            for (const char channel : {'r', 'g', 'b', 'a'})
                add(name("tld4", std::string(1, channel)),
                    fmt::format("tld4.{}.{}.v4.{}.f32 {}, {}", channel, access.geometry, type, result, where), at, 0);
    }
}

void query_cases(std::vector<OpcodeCase>& cases) {
    const auto add = [&](const std::string& name, const std::string& text, const std::string& result, Type type) {
        texture_case(cases, name)
            .steps.push_back({.text = text, .inputs = {}, .outputs = {{result, type}}, .before = {}, .behind = {}});
    };
    for (const std::string_view what : {"width", "height", "depth", "array_size", "num_mipmap_levels", "num_samples"})
        for (const size_t texture : {floats_1d, colours_2d, colours_3d, halves_a2d, colours_cube})
            add(fmt::format("txq.{}", what), fmt::format("txq.{}.b32 %r21, [%tex{}]", what, texture), "%r21", Type::u32);
    for (const std::string_view what : {"width", "height", "depth"})
        for (const size_t texture : {surface_1d, surface_2d, surface_3d})
            add(fmt::format("suq.{}", what), fmt::format("suq.{}.b32 %r21, [%tex{}]", what, texture), "%r21", Type::u32);
    for (const std::string_view what : {"texref", "samplerref", "surfref"})
        for (const size_t texture : {colours_2d, surface_2d})
            add(fmt::format("istypep.{}", what), fmt::format("istypep.{} %p9, %tex{}", what, texture), "%p9", Type::pred);
}

// The thread's own texel of a surface: %r11 its byte (formatted accesses: its texel), %r12 and %r13 the other coordinates.
std::vector<std::string> own_texel(size_t axes, uint32_t texel, bool formatted) {
    std::vector<std::string> lines = {"mov.u32 %x, %tid.x", "mov.u32 %y, %ctaid.x", "mad.lo.u32 %y, %y, 128, %x"};
    const uint32_t bits = axes == 1 ? 0 : axes == 2 ? 4 : 3;
    if (axes == 1) {
        lines.emplace_back("mov.b32 %r11, %y");
    } else {
        lines.push_back(fmt::format("and.b32 %r11, %y, {}", (1u << bits) - 1));
        lines.push_back(fmt::format("shr.u32 %r12, %y, {}", bits));
    }
    if (axes == 3) lines.insert(lines.end(), {"shr.u32 %r13, %r12, 3", "and.b32 %r12, %r12, 7"});
    if (!formatted) lines.push_back(fmt::format("mul.lo.u32 %r11, %r11, {}", texel));
    return lines;
}
std::string own_place(size_t axes, size_t surface) {
    return fmt::format("[%tex{}, {}]", surface,
                       axes == 1   ? "{%r11}"
                       : axes == 2 ? "{%r11, %r12}"
                                   : "{%r11, %r12, %r13, %r13}");
}

void surface_cases(std::vector<OpcodeCase>& cases) {
    for (size_t axes = 1; axes <= 3; ++axes) {
        const size_t surface = surface_1d + axes - 1;
        const std::string where = own_place(axes, surface);
        for (const std::string_view count : {"", ".v2", ".v4"})
            for (const size_t bits : {8, 16, 32, 64}) {
                const size_t numbers = count.empty() ? 1 : count == ".v2" ? 2 : 4;
                if (bits * numbers > 128) continue;
                const std::string_view letter = bits == 64 ? "rd" : bits == 32 ? "r" : "h";
                const Type type = bits == 64 ? Type::b64 : bits == 32 ? Type::b32 : bits == 16 ? Type::b16 : Type::u8;
                std::vector<OpcodeOperand> list;
                for (size_t i = 0; i < numbers; ++i) list.push_back({fmt::format("%{}{}", letter, 21 + i), type});
                const std::string vector = numbers == 1 ? list[0].reg : braced_registers(letter, 21, numbers);
                for (const std::string_view beyond : {"trap", "clamp", "zero"}) {
                    OpcodeStep load{
                        .text = fmt::format("suld.b.{}d{}.b{}.{} {}, {}", axes, count, bits, beyond, vector, where),
                        .inputs = {},
                        .outputs = list,
                        .before = own_texel(axes, 16, false),
                        .behind = {}};
                    if (beyond != "trap") {  // some lie beyond the edges
                        load.inputs.push_back({"%r1", Type::u32, OpcodeDraw::few});
                        load.before.emplace_back("mad.lo.u32 %r11, %r1, 4096, %r11");
                        if (axes > 1) load.before.emplace_back("add.u32 %r12, %r12, %r1");
                    }
                    texture_case(cases, fmt::format("suld.b.{}d.b{}", axes, bits)).steps.push_back(std::move(load));
                    texture_case(cases, fmt::format("sust.b.{}d.b{}", axes, bits))
                        .steps.push_back(
                            {.text = fmt::format("sust.b.{}d{}.b{}.{} {}, {}", axes, count, bits, beyond, where, vector),
                             .inputs = list,
                             .outputs = {},
                             .before = own_texel(axes, 16, false),
                             .behind = {}});
                }
            }
        texture_case(cases, fmt::format("sust.p.{}d.b32", axes))
            .steps.push_back(
                {.text = fmt::format("sust.p.{}d.v4.b32.trap {}, {}", axes, where, braced_registers("r", 21, 4)),
                 .inputs = {{"%r21", Type::b32}, {"%r22", Type::b32}, {"%r23", Type::b32}, {"%r24", Type::b32}},
                 .outputs = {},
                 .before = own_texel(axes, 16, true),
                 .behind = {}});
    }
    for (const std::string_view what : {"add.u32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32"}) {
        const std::string_view operation = what.substr(0, 3 - what.starts_with("or")),
                               type = what.substr(operation.size() + 1);
        texture_case(cases, fmt::format("sured.b.{}", what))
            .steps.push_back({.text = fmt::format("sured.b.{}.2d.{}.trap {}, %r21", operation, type, own_place(2, words_2d)),
                              .inputs = {{"%r21", type == "s32"   ? Type::s32
                                                  : type == "u32" ? Type::u32
                                                                  : Type::b32}},
                              .outputs = {},
                              .before = own_texel(2, 4, false),
                              .behind = {}});
    }
}

}  // namespace

std::vector<OpcodeCase> texture_cases() {
    std::vector<OpcodeCase> cases;
    fetch_cases(cases);
    query_cases(cases);
    surface_cases(cases);
    return cases;
}

OpcodeTextures opcode_textures(uint32_t threads) {
    const auto with = [](const char* name, Shape shape, Element element, uint8_t channels, std::array<uint32_t, 3> extent) {
        Texture texture;
        texture.name = name, texture.shape = shape, texture.element = element, texture.channels = channels;
        texture.width = extent[0], texture.height = extent[1], texture.depth = extent[2];
        return texture;
    };
    const auto sampled = [&](Texture texture, bool linear, bool normalized, Mode mode) {
        texture.linear = linear, texture.normalized = normalized;
        texture.normalized_float = texture.element == Element::u8;
        std::fill(std::begin(texture.modes), std::end(texture.modes), mode);
        return texture;
    };
    OpcodeTextures all;
    std::vector<Texture>& t = all.textures;
    t.push_back(sampled(with("floats_1d", Shape::d1, Element::f32, 1, {64, 1, 1}), false, false, Mode::clamp));
    t.push_back(sampled(with("colours_2d", Shape::d2, Element::u8, 4, {16, 16, 1}), true, true, Mode::wrap));
    t.push_back(sampled(with("floats_2d", Shape::d2, Element::f32, 4, {16, 16, 1}), true, false, Mode::border));
    const float border[] = {0.5f, -1.5f, 2, 3};
    std::copy(std::begin(border), std::end(border), t.back().border);
    t.push_back(sampled(with("colours_3d", Shape::d3, Element::u8, 4, {8, 8, 8}), true, true, Mode::mirror));
    t.push_back(sampled(with("integers_2d", Shape::d2, Element::s16, 2, {16, 16, 1}), false, false, Mode::clamp));
    t.push_back(sampled(with("halves_a2d", Shape::d2_layered, Element::f16, 2, {8, 8, 1}), true, true, Mode::clamp));
    t.back().layers = 4;
    t.push_back(sampled(with("colours_cube", Shape::cube, Element::u8, 4, {8, 8, 1}), true, true, Mode::clamp));
    t.push_back(sampled(with("integers_a1d", Shape::d1_layered, Element::u32, 1, {16, 1, 1}), false, false, Mode::clamp));
    t.back().layers = 4;
    const size_t first_surface = t.size();
    t.push_back(with("surface_1d", Shape::d1, Element::u32, 4, {threads, 1, 1}));
    t.push_back(with("surface_2d", Shape::d2, Element::u32, 4, {16, threads / 16, 1}));
    t.push_back(with("surface_3d", Shape::d3, Element::u32, 4, {8, 8, threads / 64}));
    t.push_back(with("words_2d", Shape::d2, Element::u32, 1, {16, threads / 16, 1}));
    Rng rng(11);
    for (size_t i = 0; i < t.size(); ++i) {
        t[i].surface = i >= first_surface;
        t[i].address = all.texels.size();  // from the first texel of all
        const size_t elements = t[i].bytes() / t[i].element_bytes();
        for (size_t k = 0; k < elements; ++k) {
            uint32_t bits = static_cast<uint32_t>(rng.next());
            const auto real = static_cast<float>(rng.uniform(-2, 2));
            if (t[i].element == Element::f32) bits = __builtin_bit_cast(uint32_t, real);
            if (t[i].element == Element::f16) bits = f32_to_f16(real);
            const auto* const from = reinterpret_cast<const std::byte*>(&bits);
            all.texels.insert(all.texels.end(), from, from + t[i].element_bytes());
        }
    }
    return all;
}

}  // namespace lockstep::device
