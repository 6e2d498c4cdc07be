// The grammar stands in texture_arguments.h. What is not an option is handed to parse_argument as an in: or inout: argument.
#include "core/scene/arguments/texture_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "core/base/dtype.h"
#include "core/base/nearest.h"

namespace lockstep::scene {
namespace {

using Shape = simt::Texture::Shape;

struct Kind {
    std::string_view name;
    Shape shape;
    bool surface;
    size_t axes;  // of the array, channels aside
};
constexpr Kind kinds[] = {{"tex1d", Shape::d1, false, 1},
                          {"tex2d", Shape::d2, false, 2},
                          {"tex3d", Shape::d3, false, 3},
                          {"tex1dlayered", Shape::d1_layered, false, 2},
                          {"tex2dlayered", Shape::d2_layered, false, 3},
                          {"texcube", Shape::cube, false, 3},
                          {"texcubelayered", Shape::cube_layered, false, 4},
                          {"tex2dms", Shape::d2_ms, false, 3},
                          {"tex2dmslayered", Shape::d2_ms_layered, false, 4},
                          {"surf1d", Shape::d1, true, 1},
                          {"surf2d", Shape::d2, true, 2},
                          {"surf3d", Shape::d3, true, 3},
                          {"surf1dlayered", Shape::d1_layered, true, 2},
                          {"surf2dlayered", Shape::d2_layered, true, 3}};

const Kind& kind_of(const simt::Texture& t, bool surface) {
    for (const Kind& k : kinds)
        if (k.shape == t.shape && k.surface == surface) return k;
    return kinds[1];
}

// levels=4, bias=0.5, minlevel=1, maxlevel=2, compare=less
bool take_number(std::string_view word, simt::Texture& t) {
    using Compare = simt::Texture::Compare;
    constexpr std::pair<std::string_view, Compare> comparisons[] = {
        {"never", Compare::never},          {"less", Compare::less},       {"equal", Compare::equal},
        {"lequal", Compare::less_equal},    {"greater", Compare::greater}, {"notequal", Compare::not_equal},
        {"gequal", Compare::greater_equal}, {"always", Compare::always}};
    const std::string_view name = word.substr(0, word.find('=')), value = word.substr(name.size() + 1);
    if (name == "compare") {
        for (const auto& [text, compare] : comparisons)
            if (text == value) {
                t.compare = compare;
                return true;
            }
        return false;
    }
    const char* const end = value.data() + value.size();
    if (name == "levels") {
        const auto [rest, error] = std::from_chars(value.data(), end, t.levels);
        return error == std::errc() && rest == end && t.levels >= 1 && t.levels <= 32;
    }
    float* const number = name == "bias"       ? &t.level_bias
                          : name == "minlevel" ? &t.least_level
                          : name == "maxlevel" ? &t.most_level
                                               : nullptr;
    if (!number) return false;
    const auto [rest, error] = std::from_chars(value.data(), end, *number);
    return error == std::errc() && rest == end && std::isfinite(*number);
}

bool take_option(std::string_view word, simt::Texture& t) {
    using Mode = simt::Texture::Mode;
    constexpr std::pair<std::string_view, Mode> modes[] = {
        {"wrap", Mode::wrap}, {"mirror", Mode::mirror}, {"clamp", Mode::clamp}, {"border", Mode::border}};
    for (const auto& [name, mode] : modes)
        if (name == word) {
            for (Mode& m : t.modes) m = mode;
            return true;
        }
    if (word.find('=') != std::string_view::npos) return take_number(word, t);
    if (word == "miplinear")
        t.mip_linear = true;
    else if (word == "nearest" || word == "linear")
        t.linear = word == "linear";
    else if (word == "normalized")
        t.normalized = true;
    else if (word == "unit")
        t.normalized_float = true;
    else
        return false;
    return true;
}

double texel_number(const std::byte* from, simt::Texture::Element element) {
    using Element = simt::Texture::Element;
    const auto as = [&](auto zero) {
        std::memcpy(&zero, from, sizeof zero);
        return zero;
    };
    switch (element) {
        case Element::u8:
            return as(uint8_t{});
        case Element::s8:
            return as(int8_t{});
        case Element::u16:
            return as(uint16_t{});
        case Element::s16:
            return as(int16_t{});
        case Element::u32:
            return as(uint32_t{});
        case Element::s32:
            return as(int32_t{});
        case Element::f16:
            return static_cast<double>(f16_to_f32(as(uint16_t{})));
        case Element::f32:
            break;
    }
    return static_cast<double>(as(float{}));
}

void put_texel_number(std::byte* to, simt::Texture::Element element, double value) {
    using Element = simt::Texture::Element;
    if (element == Element::f32) {
        const auto f = static_cast<float>(value);
        std::memcpy(to, &f, 4);
    } else if (element == Element::f16) {
        const uint16_t bits = f32_to_f16(static_cast<float>(value));
        std::memcpy(to, &bits, 2);
    } else {
        const auto whole = static_cast<int64_t>(std::nearbyint(value));
        std::memcpy(to, &whole, element <= Element::s8 ? 1 : element <= Element::s16 ? 2 : 4);
    }
}

// The texture with its smaller levels behind it, in an allocation of its own: each texel is the mean of those of the level
// before that it covers (two along each axis, one where there is no second).
Result<uint64_t> make_levels(simt::Texture t, simt::Memory& memory) {
    const uint64_t base = t.level_bytes(), from = t.address;
    t.address = memory.allocate(t.bytes(), t.name + " and its smaller levels");
    std::byte* const data = memory.write(t.address, t.bytes());
    std::memcpy(data, memory.read(from, base), base);
    const uint32_t pictures = t.layers * t.faces();
    for (uint32_t k = 1; k < t.levels; ++k) {
        const simt::Texture large = t.level(k - 1), small = t.level(k);
        const auto offset = [&](const simt::Texture& level, uint32_t picture, uint32_t z, uint32_t y, uint32_t x,
                                uint32_t c) {
            const uint64_t row = (uint64_t{picture} * level.depth + z) * level.height + y;
            return level.address - t.address + row * level.row_step() + x * t.texel_bytes() + c * t.element_bytes();
        };
        for (uint32_t p = 0; p < pictures; ++p)
            for (uint32_t z = 0; z < small.depth; ++z)
                for (uint32_t y = 0; y < small.height; ++y)
                    for (uint32_t x = 0; x < small.width; ++x)
                        for (uint32_t c = 0; c < t.channels; ++c) {
                            double sum = 0;
                            for (uint32_t corner = 0; corner < 8; ++corner)
                                sum += texel_number(data + offset(large, p, std::min(2 * z + corner / 4, large.depth - 1),
                                                                  std::min(2 * y + corner / 2 % 2, large.height - 1),
                                                                  std::min(2 * x + corner % 2, large.width - 1), c),
                                                    t.element);
                            put_texel_number(data + offset(small, p, z, y, x, c), t.element, sum / 8);
                        }
    }
    return memory.texture(t);
}

// Where the texels end in `text`: behind the brackets and braces, or at the first comma of a file's name.
size_t end_of_texels(std::string_view text) {
    const size_t open = text.find_first_of("[{");
    const size_t comma = std::min(text.find(','), text.size());
    if (open == std::string_view::npos || open > comma) return comma;
    size_t end = text.find(text[open] == '[' ? ']' : '}', open);
    if (end != std::string_view::npos && end + 1 < text.size() && text[end + 1] == '{') end = text.find('}', end);
    if (end == std::string_view::npos) return text.size();
    return std::min(text.find(',', end), text.size());
}

}  // namespace

std::optional<Result<KernelArgument>> parse_texture_argument(std::string_view text) {
    const std::string_view head = text.substr(0, text.find(':'));
    const Kind* const kind = std::find_if(std::begin(kinds), std::end(kinds), [&](const Kind& k) { return k.name == head; });
    const auto bad = [&](size_t column, std::string message) {
        return Diagnostic{std::move(message), {"argument", 1, static_cast<int>(column) + 1}, std::string(text)};
    };
    if (kind == std::end(kinds) || head.size() == text.size()) {
        if (!head.starts_with("tex") && !head.starts_with("surf")) return std::nullopt;
        std::vector<std::string> names;
        for (const Kind& k : kinds) names.push_back(std::string(k.name) + ":");
        return bad(0, fmt::format("unknown texture '{}'{}", head, did_you_mean(head, names)));
    }
    const size_t body = head.size() + 1;
    const std::string_view rest = text.substr(body);
    const size_t end = kind->surface ? rest.size() : end_of_texels(rest);
    const std::string role = kind->surface ? "inout:" : "in:";
    Result<KernelArgument> parsed = parse_argument(role + std::string(rest.substr(0, end)));
    if (!parsed) {
        Diagnostic problem = parsed.error();
        problem.where.column += static_cast<int>(body) - static_cast<int>(role.size());
        problem.source_line = std::string(text);
        return problem;
    }
    KernelArgument argument = std::move(parsed.value());
    argument.text = text;
    simt::Texture texture;
    texture.shape = kind->shape;
    texture.normalized = kind->shape == Shape::cube;
    for (size_t at = end; at < rest.size();) {
        const size_t next = std::min(rest.find(',', at + 1), rest.size());
        const std::string_view word = rest.substr(at + 1, next - at - 1);
        if (!take_option(word, texture)) {
            return bad(
                body + at + 1,
                fmt::format("unknown option '{}'{}", word,
                            did_you_mean(word,
                                         {"nearest", "linear", "wrap", "mirror", "clamp", "border", "normalized", "unit",
                                          "miplinear", "levels=2", "bias=0", "minlevel=0", "maxlevel=0", "compare=lequal"},
                                         ": there are linear, nearest, wrap, mirror, clamp, border, normalized, unit, "
                                         "levels=N, miplinear, bias=X, minlevel=X, maxlevel=X, compare=less")));
        }
        at = next;
    }
    argument.texture = texture;
    argument.is_surface = kind->surface;
    return argument;
}

Result<uint64_t> make_texture(const KernelArgument& argument, const Array& array, uint64_t address, const std::string& name,
                              simt::Memory& memory) {
    using Element = simt::Texture::Element;
    simt::Texture t = *argument.texture;
    const Kind& kind = kind_of(t, argument.is_surface);
    constexpr std::pair<DType, Element> elements[] = {
        {DType::u8, Element::u8},   {DType::i8, Element::s8},   {DType::u16, Element::u16}, {DType::i16, Element::s16},
        {DType::u32, Element::u32}, {DType::i32, Element::s32}, {DType::f16, Element::f16}, {DType::f32, Element::f32}};
    const auto element =
        std::find_if(std::begin(elements), std::end(elements), [&](const auto& e) { return e.first == array.dtype; });
    const auto refuse = [&](std::string why) { return Diagnostic{fmt::format("'{}' {}", argument.text, why)}; };
    if (element == std::end(elements))
        return refuse(
            fmt::format("has texels of {}: they can be u8, i8, u16, i16, u32, i32, f16 or f32", name_of(array.dtype)));
    t.element = element->second;
    std::vector<int64_t> shape = array.shape;
    if (shape.size() == kind.axes + 1) {
        if (shape.back() != 1 && shape.back() != 2 && shape.back() != 4)
            return refuse(fmt::format("has {} channels a texel: there can be 1, 2 or 4", shape.back()));
        t.channels = static_cast<uint8_t>(shape.back());
        shape.pop_back();
    }
    if (shape.size() != kind.axes)
        return refuse(
            fmt::format("has {} axes: {} takes {}, and one more for channels", array.shape.size(), kind.name, kind.axes));
    for (const int64_t extent : shape)
        if (extent < 1 || extent > (int64_t{1} << 30)) return refuse("has no texels");
    const auto extent = [&](size_t from_last) { return static_cast<uint32_t>(shape[shape.size() - 1 - from_last]); };
    const bool samples = kind.shape == Shape::d2_ms || kind.shape == Shape::d2_ms_layered;
    if (samples && extent(0) > 64) return refuse(fmt::format("has {} samples a texel: there can be up to 64", extent(0)));
    if (samples) {
        t.samples = extent(0);
        shape.pop_back();
    }
    t.width = extent(0);
    const bool layered = kind.shape == Shape::d1_layered || kind.shape == Shape::d2_layered ||
                         kind.shape == Shape::cube_layered || kind.shape == Shape::d2_ms_layered;
    if (kind.axes >= 2 && kind.shape != Shape::d1_layered) t.height = extent(1);
    if (kind.shape == Shape::d3) t.depth = extent(2);
    if (layered) t.layers = static_cast<uint32_t>(shape[0]);
    const bool cube = kind.shape == Shape::cube || kind.shape == Shape::cube_layered;
    if (cube && (shape[shape.size() - 3] != 6 || t.width != t.height))
        return refuse("is no cube: it takes six square faces");
    t.address = address;
    t.name = name;
    t.surface = argument.is_surface;
    if (t.levels == 1) return memory.texture(t);
    if (samples) return refuse("has several samples a texel: such textures have no levels");
    const uint32_t longest = std::max({t.width, t.height, t.depth});
    uint32_t most = 1;
    while (longest >> most) ++most;
    if (t.levels > most) return refuse(fmt::format("has texels for {} levels at most, not {}", most, t.levels));
    return make_levels(t, memory);
}

}  // namespace lockstep::scene
