// The grammar stands in texture_arguments.h. What is not an option is handed to parse_argument as an in: or inout: argument.
#include "lessons/player/texture_arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/nearest.h"

namespace lockstep::lessons {
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

bool take_option(std::string_view word, simt::Texture& t) {
    using Mode = simt::Texture::Mode;
    constexpr std::pair<std::string_view, Mode> modes[] = {
        {"wrap", Mode::wrap}, {"mirror", Mode::mirror}, {"clamp", Mode::clamp}, {"border", Mode::border}};
    for (const auto& [name, mode] : modes)
        if (name == word) {
            for (Mode& m : t.modes) m = mode;
            return true;
        }
    if (word == "nearest" || word == "linear")
        t.linear = word == "linear";
    else if (word == "normalized")
        t.normalized = true;
    else if (word == "unit")
        t.normalized_float = true;
    else
        return false;
    return true;
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
        for (const Kind& k : kinds) names.emplace_back(k.name);
        const std::string near = nearest_name(head, names);
        return bad(0, fmt::format("unknown texture '{}'{}", head,
                                  near.empty() ? ": there are tex1d, tex2d, tex3d, tex2dlayered, surf2d ..."
                                               : ", did you mean '" + near + ":'?"));
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
            const std::string near =
                nearest_name(word, {"nearest", "linear", "wrap", "mirror", "clamp", "border", "normalized", "unit"});
            return bad(body + at + 1, fmt::format("unknown option '{}'{}", word,
                                                  near.empty() ? ": there are linear, nearest, wrap, mirror, clamp, border, "
                                                                 "normalized, unit"
                                                               : ", did you mean '" + near + "'?"));
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
    t.width = extent(0);
    const bool layered = kind.shape == Shape::d1_layered || kind.shape == Shape::d2_layered;
    if (kind.axes >= 2 && kind.shape != Shape::d1_layered) t.height = extent(1);
    if (kind.shape == Shape::d3) t.depth = extent(2);
    if (layered) t.layers = static_cast<uint32_t>(shape[0]);
    if (kind.shape == Shape::cube && (shape[0] != 6 || t.width != t.height))
        return refuse("is no cube: it takes six square faces");
    t.address = address;
    t.name = name;
    return memory.texture(t);
}

}  // namespace lockstep::lessons
