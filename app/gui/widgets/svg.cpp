// An element a shape, in drawing order. Shapes of one clip share a group; patterns and clips stand in front of them all.
#include "app/gui/widgets/svg.h"

#include <fmt/format.h>
#include <ft2build.h>
#include <stb_image_write.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "app/gui/widgets/fonts.h"
#include "core/base/base64.h"

namespace lockstep::gui {

namespace {

std::string number(float value) {  // two places behind the point are less than a pixel's shade
    if (!std::isfinite(value)) return "0";
    return fmt::format("{}", std::round(static_cast<double>(value) * 100) / 100 + 0.0);
}

std::string hex_of(Color color) {
    return fmt::format("#{:02x}{:02x}{:02x}", color & 0xFF, (color >> 8) & 0xFF, (color >> 16) & 0xFF);
}

// " fill="#102030" fill-opacity="0.5"", of fill or stroke.
std::string paint(std::string_view what, Color color) {
    const std::string plain = fmt::format(" {}=\"{}\"", what, hex_of(color));
    const Color alpha = color >> 24;
    if (alpha == 255) return plain;
    return plain + fmt::format(" {}-opacity=\"{}\"", what, number(static_cast<float>(alpha) / 255));
}

std::string box_attributes(const Corners& box) {
    return fmt::format(" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", number(box.x0), number(box.y0),
                       number(box.x1 - box.x0), number(box.y1 - box.y0));
}

std::string points_of(std::span<const Point> points) {
    std::string text;
    for (const Point& p : points) text += (text.empty() ? "" : " ") + number(p.x) + "," + number(p.y);
    return text;
}

Corners around(std::span<const Point> points, float more) {
    Corners box{1e9f, 1e9f, -1e9f, -1e9f};
    for (const Point& p : points)
        box = {std::min(box.x0, p.x - more), std::min(box.y0, p.y - more), std::max(box.x1, p.x + more),
               std::max(box.y1, p.y + more)};
    return box;
}

// The strokes of fonts.cpp's hatches on a ground of their colour, in a tile of 8 by 8.
std::string_view strokes_of(Hatch kind) {
    switch (kind) {
        case Hatch::diagonal:
            return "<path d=\"M-2 2L2-2M-2 10L10-2M6 10L10 6\"/>";
        case Hatch::cross:
            return "<path d=\"M-2 2L2-2M-2 10L10-2M6 10L10 6M-2 6L2 10M-2-2L10 10M6-2L10 2\"/>";
        case Hatch::horizontal:
            return "<path d=\"M0 2H8M0 6H8\"/>";
        case Hatch::vertical:
            return "<path d=\"M2 0V8M6 0V8\"/>";
        case Hatch::dots:
            return "<path stroke-linecap=\"round\" stroke-width=\"3.4\" d=\"M2 2h0M6 6h0\"/>";
        case Hatch::solid:
            break;
    }
    return {};
}

// A glyph's outline in font units, y upwards, as a path; empty: the file or the glyph is not there. `em`: units of 1 em.
std::string outline_of(const std::string& font_file, uint32_t code, float& em) {
    FT_Library library = nullptr;
    FT_Face face = nullptr;
    std::string path;
    if (FT_Init_FreeType(&library) != 0) return path;
    if (FT_New_Face(library, font_file.c_str(), 0, &face) == 0) {
        em = face->units_per_EM > 0 ? static_cast<float>(face->units_per_EM) : 1000.0f;
        const FT_UInt glyph = FT_Get_Char_Index(face, code);
        if (glyph != 0 && FT_Load_Glyph(face, glyph, FT_LOAD_NO_SCALE) == 0) {
            FT_Outline_Funcs pen{};
            pen.move_to = [](const FT_Vector* to, void* out) {
                auto& text = *static_cast<std::string*>(out);
                text += fmt::format("{}M{} {}", text.empty() ? "" : "Z", to->x, to->y);
                return 0;
            };
            pen.line_to = [](const FT_Vector* to, void* out) {
                *static_cast<std::string*>(out) += fmt::format("L{} {}", to->x, to->y);
                return 0;
            };
            pen.conic_to = [](const FT_Vector* by, const FT_Vector* to, void* out) {
                *static_cast<std::string*>(out) += fmt::format("Q{} {} {} {}", by->x, by->y, to->x, to->y);
                return 0;
            };
            pen.cubic_to = [](const FT_Vector* a, const FT_Vector* b, const FT_Vector* to, void* out) {
                *static_cast<std::string*>(out) += fmt::format("C{} {} {} {} {} {}", a->x, a->y, b->x, b->y, to->x, to->y);
                return 0;
            };
            FT_Outline_Decompose(&face->glyph->outline, &pen, &path);
            if (!path.empty()) path += "Z";
        }
        FT_Done_Face(face);
    }
    FT_Done_FreeType(library);
    return path;
}

constexpr uint32_t raised_t = 0x1D40;  // the sign of a transposed matrix: few fonts have it (text.cpp draws it so too)

// The text with raised letters, and what comes down again behind them, as spans of their own.
std::string marked_up(std::string_view text, float size) {
    const std::string up = number(size * 0.23f), small = number(size * 0.68f);
    std::string all, plain;
    bool raised = false;
    const auto end_plain = [&] {
        if (plain.empty()) return;
        all += raised ? fmt::format("<tspan dy=\"{}\">{}</tspan>", up, xml_escaped(plain)) : xml_escaped(plain);
        plain.clear();
        raised = false;
    };
    for (size_t at = 0; at < text.size();) {
        const size_t begin = at;
        if (next_code(text, at) != raised_t) {
            plain += text.substr(begin, at - begin);
            continue;
        }
        end_plain();
        all += raised ? fmt::format("<tspan font-size=\"{}\">T</tspan>", small)
                      : fmt::format("<tspan dy=\"-{}\" font-size=\"{}\">T</tspan>", up, small);
        raised = true;
    }
    end_plain();
    return all;
}

void append_utf8(std::string& text, uint32_t code) {
    if (code < 0x80) {
        text += static_cast<char>(code);
    } else if (code < 0x800) {
        text += static_cast<char>(0xC0 | code >> 6);
        text += static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        text += static_cast<char>(0xE0 | code >> 12);
        text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
        text += static_cast<char>(0x80 | (code & 0x3F));
    } else {
        text += static_cast<char>(0xF0 | code >> 18);
        text += static_cast<char>(0x80 | (code >> 12 & 0x3F));
        text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
        text += static_cast<char>(0x80 | (code & 0x3F));
    }
}

bool xml_may_hold(uint32_t code) {
    return code == '\t' || code == '\n' || (code >= 0x20 && code < 0xD800) || (code >= 0xE000 && code < 0xFFFE) ||
           (code >= 0x10000 && code < 0x110000);
}

}  // namespace

std::string xml_escaped(std::string_view text) {
    std::string escaped;
    for (size_t at = 0; at < text.size();) {
        const uint32_t code = next_code(text, at);
        if (code == '<')
            escaped += "&lt;";
        else if (code == '>')
            escaped += "&gt;";
        else if (code == '&')
            escaped += "&amp;";
        else if (code == '"')
            escaped += "&quot;";
        else if (code == '\'')
            escaped += "&apos;";
        else
            append_utf8(escaped, xml_may_hold(code) ? code : 0xFFFD);
    }
    return escaped;
}

Svg::Svg(float width, float height, Color background, float hatch_period)
    : width_(width),
      height_(height),
      hatch_period_(hatch_period),
      background_(background),
      clip_{0, 0, width, height},
      open_(clip_) {}

void Svg::set_clip(const Corners& clip) {
    clip_ = {std::max(clip.x0, 0.0f), std::max(clip.y0, 0.0f), std::min(clip.x1, width_), std::min(clip.y1, height_)};
}

bool Svg::shows(const Corners& box) const {
    return clip_.x1 > clip_.x0 && clip_.y1 > clip_.y0 && box.x1 > clip_.x0 && box.x0 < clip_.x1 && box.y1 > clip_.y0 &&
           box.y0 < clip_.y1;
}

void Svg::enter_clip() {
    const Corners whole{0, 0, width_, height_};
    if (clip_ == open_) return;
    if (open_ != whole) body_ += "</g>\n";
    open_ = clip_;
    if (open_ == whole) return;
    const size_t id = clips_.try_emplace(open_, clips_.size()).first->second;
    body_ += fmt::format("<g clip-path=\"url(#c{})\">\n", id);
}

void Svg::rect(const Corners& box, Color fill, float radius) {
    if (!shows(box)) return;
    enter_clip();
    body_ += "<rect" + box_attributes(box);
    if (radius > 0) body_ += fmt::format(" rx=\"{}\"", number(radius));
    body_ += paint("fill", fill) + "/>\n";
}

void Svg::frame(const Corners& middle, Color stroke, float width, float radius) {
    if (!shows({middle.x0 - width, middle.y0 - width, middle.x1 + width, middle.y1 + width})) return;
    enter_clip();
    body_ += "<rect" + box_attributes(middle) + " fill=\"none\"" + paint("stroke", stroke);
    if (width != 1) body_ += fmt::format(" stroke-width=\"{}\"", number(width));
    if (radius > 0) body_ += fmt::format(" rx=\"{}\"", number(radius));
    body_ += "/>\n";
}

void Svg::polyline(std::span<const Point> points, Color color, float width, float dash, float gap) {
    if (!shows(around(points, width))) return;
    enter_clip();
    body_ += fmt::format("<polyline points=\"{}\" fill=\"none\"{} stroke-width=\"{}\"", points_of(points),
                         paint("stroke", color), number(width));
    if (dash > 0) body_ += fmt::format(" stroke-dasharray=\"{} {}\"", number(dash), number(gap));
    body_ += "/>\n";
}

void Svg::polygon(std::span<const Point> points, Color fill) {
    if (!shows(around(points, 0))) return;
    enter_clip();
    body_ += fmt::format("<polygon points=\"{}\"{}/>\n", points_of(points), paint("fill", fill));
}

void Svg::circle(Point centre, float radius, Color fill) {
    if (!shows(around({&centre, 1}, radius))) return;
    enter_clip();
    body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>\n", number(centre.x), number(centre.y), number(radius),
                         paint("fill", fill));
}

void Svg::ring(Point centre, float radius, Color stroke, float width) {
    if (!shows(around({&centre, 1}, radius + width))) return;
    enter_clip();
    body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"none\"{} stroke-width=\"{}\"/>\n", number(centre.x),
                         number(centre.y), number(radius), paint("stroke", stroke), number(width));
}

void Svg::hatch(const Corners& box, Color color, Hatch kind) {
    if (!shows(box)) return;
    enter_clip();
    const size_t id = patterns_.try_emplace({kind, color | 0xFF000000}, patterns_.size()).first->second;
    body_ += fmt::format("<rect{} fill=\"url(#h{})\"", box_attributes(box), id);
    if (color >> 24 != 255) body_ += fmt::format(" opacity=\"{}\"", number(static_cast<float>(color >> 24) / 255));
    body_ += "/>\n";
}

void Svg::text(float x, float baseline, std::string_view text, Color color, const Lettering& lettering) {
    if (!shows({x, baseline - 1.2f * lettering.size, x + lettering.length, baseline + 0.5f * lettering.size})) return;
    enter_clip();
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\"", number(x), number(baseline), number(lettering.size));
    if (lettering.weight != 400) body_ += fmt::format(" font-weight=\"{}\"", lettering.weight);
    if (lettering.mono) body_ += " class=\"m\"";
    if (lettering.tracking != 0) body_ += fmt::format(" letter-spacing=\"{}\"", number(lettering.tracking * lettering.size));
    body_ += fmt::format(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"{}>{}</text>\n", number(lettering.length),
                         paint("fill", color), marked_up(text, lettering.size));
}

void Svg::icon(float x, float baseline, uint32_t code, float size, Color color, const std::string& font_file) {
    if (!shows({x, baseline - 1.2f * size, x + 1.5f * size, baseline + 0.5f * size})) return;
    auto known = icons_.find(code);
    if (known == icons_.end()) {
        float em = 1;
        const std::string path = outline_of(font_file, code, em);
        known = icons_.emplace(code, fmt::format("{:.6f}|{}", 1 / em, path)).first;
    }
    const size_t bar = known->second.find('|');
    const std::string_view path = std::string_view(known->second).substr(bar + 1);
    if (path.empty()) return;
    const double scale = std::stod(known->second.substr(0, bar)) * static_cast<double>(size);
    enter_clip();
    body_ += fmt::format("<path transform=\"translate({} {}) scale({:.5f} {:.5f})\"{} d=\"{}\"/>\n", number(x),
                         number(baseline), scale, -scale, paint("fill", color), path);
}

void Svg::image(const Corners& box, int w, int h, std::span<const Color> pixels, float opacity) {
    if (!shows(box) || w <= 0 || h <= 0 || pixels.size() != static_cast<size_t>(w) * static_cast<size_t>(h)) return;
    enter_clip();
    std::vector<unsigned char> png;
    stbi_write_png_to_func(
        [](void* out, void* data, int bytes) {
            const auto* from = static_cast<unsigned char*>(data);
            static_cast<std::vector<unsigned char>*>(out)->insert(static_cast<std::vector<unsigned char>*>(out)->end(), from,
                                                                  from + bytes);
        },
        &png, w, h, 4, pixels.data(), w * 4);
    // As the renderer does: what is enlarged keeps its pixels, what is made smaller is smoothed.
    const bool larger = box.x1 - box.x0 >= static_cast<float>(w);
    body_ += fmt::format("<image{} preserveAspectRatio=\"none\"{}", box_attributes(box),
                         larger ? " style=\"image-rendering:pixelated\"" : "");
    if (opacity < 1) body_ += fmt::format(" opacity=\"{}\"", number(opacity));
    body_ += fmt::format(" xlink:href=\"data:image/png;base64,{}\"/>\n", base64(png));
}

std::string Svg::finish() {
    return finish({0, 0, width_, height_});
}

std::string Svg::finish(const Corners& part) {
    clip_ = {0, 0, width_, height_};
    enter_clip();  // closes the group that is open
    std::string file = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"{0}\" "
        "height=\"{1}\" "
        "viewBox=\"{2} {3} {0} {1}\" xml:space=\"preserve\">\n"
        "<style>text{{font-family:Inter,'Helvetica Neue',Arial,'Liberation Sans',sans-serif;font-kerning:none;"
        "font-feature-settings:'kern' 0,'liga' 0,'calt' 0;white-space:pre}}\n"
        ".m{{font-family:'JetBrains Mono',Menlo,Consolas,'Liberation Mono',monospace}}</style>\n",
        number(part.x1 - part.x0), number(part.y1 - part.y0), number(part.x0), number(part.y0));
    file += "<defs>\n";
    for (const auto& [box, id] : clips_)
        file += fmt::format("<clipPath id=\"c{}\"><rect{}/></clipPath>\n", id, box_attributes(box));
    for (const auto& [key, id] : patterns_)
        file += fmt::format(
            "<pattern id=\"h{}\" width=\"{}\" height=\"{}\" viewBox=\"0 0 8 8\" patternUnits=\"userSpaceOnUse\">"
            "<rect width=\"8\" height=\"8\"{} fill-opacity=\"0.38\"/><g fill=\"none\" stroke-width=\"1.6\"{}>{}</g>"
            "</pattern>\n",
            id, number(hatch_period_), number(hatch_period_), paint("fill", key.second), paint("stroke", key.second),
            strokes_of(key.first));
    file += "</defs>\n";
    file +=
        fmt::format("<rect width=\"{}\" height=\"{}\"{}/>\n", number(width_), number(height_), paint("fill", background_));
    file += body_ + "</svg>\n";
    body_.clear();
    return file;
}

}  // namespace lockstep::gui
