// Loads the fonts of assets/fonts, which come with the program.
// ImGui sizes a font by ascender minus descender and rounds advances up; here sizes are em sizes and advances exact.
#include "app/gui/widgets/fonts.h"

#include <ft2build.h>
#include FT_FREETYPE_H
#include <imgui.h>
#include <imgui_freetype.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "core/base/files.h"

namespace lockstep::gui {

namespace {

struct File {
    int weight;
    bool mono, icons;
    const char* name;            // in assets/fonts
    std::array<float, 8> sizes;  // 0 ends
};
const File files[] = {
    {400, false, false, "Inter-Regular.otf", {12, 13, 14, 15, 16, 18}},
    {600, false, false, "Inter-SemiBold.otf", {12, 13, 14, 15, 16, 18, 24}},
    {700, false, false, "Inter-Bold.otf", {12, 15, 16, 18, 20, 24, 32}},
    {400, true, false, "JetBrainsMono-Regular.ttf", {12, 13, 14, 15}},
    {700, true, false, "JetBrainsMono-Bold.ttf", {12, 13, 14, 15}},
    {400, false, true, "FontAwesome.otf", {11, 13, 16}},
};

// Latin, the Greek and the signs that formulas and captions use.
const ImWchar text_ranges[] = {
    0x20,   0x7E,   0xA0,   0xFF,   0x391,  0x3A9,  0x3B1,  0x3C9,  0x2013, 0x2014, 0x2018, 0x201D, 0x2022, 0x2022, 0x2026,
    0x2026, 0x2032, 0x2032, 0x207A, 0x207B, 0x2080, 0x2089, 0x2190, 0x2194, 0x2202, 0x2202, 0x2207, 0x2207, 0x2211, 0x2212,
    0x221A, 0x221A, 0x221E, 0x221E, 0x2248, 0x2248, 0x2260, 0x2260, 0x2264, 0x2265, 0x2299, 0x2299, 0x2713, 0x2713, 0};
const ImWchar headline_ranges[] = {0x20,   0x7E,   0xB0,   0xB7,   0xD7,   0xD7,   0x3B1,  0x3C9,
                                   0x2013, 0x2014, 0x2018, 0x2019, 0x2026, 0x2026, 0x2192, 0x2192,
                                   0x2212, 0x2212, 0x2248, 0x2248, 0x2264, 0x2265, 0};
const ImWchar icon_ranges[] = {0xF00C, 0xF00D, 0xF023, 0xF023, 0xF04B, 0xF04C, 0xF059, 0xF059,
                               0xF065, 0xF066, 0xF071, 0xF071, 0xF0D7, 0xF0D7, 0};

struct Metrics {  // of a font file, for 1 em
    float height = 1.2f;
    std::vector<float> advance;  // by code point
};

Metrics metrics_of(FT_Library library, const char* file, const ImWchar* ranges) {
    Metrics metrics;
    FT_Face face = nullptr;
    if (FT_New_Face(library, file, 0, &face) != 0) return metrics;
    const float em = face->units_per_EM > 0 ? static_cast<float>(face->units_per_EM) : 1000.0f;
    metrics.height = static_cast<float>(face->ascender - face->descender) / em;
    for (const ImWchar* range = ranges; range[0] != 0; range += 2) {
        if (metrics.advance.size() <= range[1]) metrics.advance.resize(size_t{range[1]} + 1, -1.0f);
        for (unsigned code = range[0]; code <= range[1]; ++code) {
            const FT_UInt glyph = FT_Get_Char_Index(face, code);
            if (glyph != 0 && FT_Load_Glyph(face, glyph, FT_LOAD_NO_SCALE) == 0)
                metrics.advance[code] = static_cast<float>(face->glyph->advance.x) / em;
        }
    }
    FT_Done_Face(face);
    return metrics;
}

std::string path_of(const File& file) {
    return (resource_root() / "assets" / "fonts" / file.name).string();
}

// Coverage of the hatch's strokes at a point, in units of the 8 x 8 pattern; `pixel` is one texel in those units.
float strokes(Hatch hatch, float x, float y, float pixel) {
    const auto wrap = [](float v) {
        v = std::fmod(v, 8.0f);
        return v < 0 ? v + 8 : v;
    };
    const auto near = [&](float v, float period) {
        v = std::fmod(wrap(v), period);
        return std::min(v, period - v);
    };
    const auto cover = [&](float distance, float half) { return std::clamp((half - distance) / pixel + 0.5f, 0.0f, 1.0f); };
    constexpr float root = 0.70710678f;
    switch (hatch) {
        case Hatch::diagonal:
            return cover(near(x + y, 8) * root, 0.8f);
        case Hatch::cross:
            return std::max(cover(near(x + y, 8) * root, 0.8f), cover(near(x - y, 8) * root, 0.8f));
        case Hatch::horizontal:
            return cover(near(y - 2, 4), 0.8f);
        case Hatch::vertical:
            return cover(near(x - 2, 4), 0.8f);
        case Hatch::dots: {
            const float a = std::hypot(near(x - 2, 8), near(y - 2, 8)), b = std::hypot(near(x - 6, 8), near(y - 6, 8));
            return cover(std::min(a, b), 1.7f);
        }
        case Hatch::solid:
            return 1;
    }
    return 1;
}

}  // namespace

void build_fonts(Fonts& fonts, ImFontAtlas& atlas, float scale) {
    fonts = {};
    fonts.scale = scale;
    atlas.Clear();
#if IMGUI_VERSION_NUM >= 19200
    atlas.SetFontLoader(ImGuiFreeType::GetFontLoader());
#else
    atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
    atlas.TexDesiredWidth = scale > 1.5f ? 4096 : 2048;
#endif
    FT_Library library = nullptr;
    FT_Init_FreeType(&library);
    std::vector<Metrics> metrics;
    for (const File& file : files) {
        const std::string path = path_of(file);
        const bool there = std::filesystem::exists(path);
        if (!there && fonts.missing.empty()) fonts.missing = path;
        if (!there && file.icons) continue;
        const Metrics all = there ? metrics_of(library, path.c_str(), file.icons ? icon_ranges : text_ranges) : Metrics{};
        for (const float size : file.sizes) {
            if (size == 0) break;
            const ImWchar* ranges = file.icons ? icon_ranges : size >= 16 ? headline_ranges : text_ranges;
            ImFontConfig config;
#if IMGUI_VERSION_NUM >= 19200
            config.FontLoaderFlags = ImGuiFreeTypeLoaderFlags_LightHinting;
#else
            config.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
#endif
            config.PixelSnapH = false;
            Face face{.weight = file.weight, .mono = file.mono, .icons = file.icons, .size = size};
            face.pixels = size * scale * all.height;
            face.font =
                there ? atlas.AddFontFromFileTTF(path.c_str(), face.pixels, &config, ranges) : atlas.AddFontDefault();
            if (face.font == nullptr) continue;
            if (!file.icons && size < 16) {  // signs that one of the two lacks
                static const ImWchar of_mono[] = {0x2299, 0x2299, 0}, of_prose[] = {0x207A, 0x207B, 0};
                if (const std::string other = path_of(files[file.mono ? 0 : 3]); there && std::filesystem::exists(other)) {
                    config.MergeMode = true;
                    atlas.AddFontFromFileTTF(other.c_str(), face.pixels, &config, file.mono ? of_prose : of_mono);
                }
            }
            fonts.faces.push_back(face);
            metrics.push_back(all);
        }
    }
    if (library != nullptr) FT_Done_FreeType(library);
    if (fonts.faces.empty()) fonts.faces.push_back({.font = atlas.AddFontDefault(), .pixels = 13}), metrics.emplace_back();

    fonts.hatch_period = std::max(4, static_cast<int>(std::lround(8 * scale)));
    const int columns = 56, rows = 8, w = fonts.hatch_period * columns, h = fonts.hatch_period * rows;
    for (int kind = 1; kind < 6; ++kind) fonts.hatch_ids[kind] = static_cast<int>(atlas.AddCustomRectRegular(w, h));
#if IMGUI_VERSION_NUM < 19200
    atlas.Build();
    unsigned char* pixels = nullptr;
    atlas.GetTexDataAsAlpha8(&pixels, &fonts.atlas_width, &fonts.atlas_height);
#endif
    refresh_hatches(fonts, atlas);
    for (int kind = 1; kind < 6; ++kind) {
        HatchBand& band = fonts.hatches[kind];
        band.w = w;
        band.h = h;
        const float unit = 8.0f / static_cast<float>(fonts.hatch_period);
        for (int y = 0; y < h; ++y)
            for (int x = 0; x < w; ++x) {
                const float cover = strokes(static_cast<Hatch>(kind), (static_cast<float>(x) + 0.5f) * unit,
                                            (static_cast<float>(y) + 0.5f) * unit, unit);
                const auto alpha = static_cast<unsigned char>(255 * (0.38f + 0.62f * cover));
#if IMGUI_VERSION_NUM >= 19200
                auto* texel = static_cast<unsigned char*>(atlas.TexData->GetPixelsAt(band.x + x, band.y + y));
                for (int c = 0; c < atlas.TexData->BytesPerPixel - 1; ++c) texel[c] = 255;
                texel[atlas.TexData->BytesPerPixel - 1] = alpha;
#else
                pixels[(band.y + y) * fonts.atlas_width + band.x + x] = alpha;
#endif
            }
    }
    for (size_t i = 0; i < fonts.faces.size(); ++i) {
        Face& face = fonts.faces[i];
        const float tracking = tracking_of(face);
        std::vector<float> advances = metrics[i].advance;
        for (float& advance : advances)
            if (advance >= 0) advance = (advance + tracking) * face.size * scale;
        face.advances = std::make_shared<const std::vector<float>>(std::move(advances));
    }
}

void refresh_hatches(Fonts& fonts, ImFontAtlas& atlas) {
    for (int kind = 1; kind < 6; ++kind) {
#if IMGUI_VERSION_NUM >= 19200
        ImFontAtlasRect place;
        if (!atlas.GetCustomRect(fonts.hatch_ids[kind], &place)) continue;
        fonts.atlas_width = atlas.TexData->Width;
        fonts.atlas_height = atlas.TexData->Height;
        fonts.hatches[kind].x = place.x;
        fonts.hatches[kind].y = place.y;
#else
        const ImFontAtlasCustomRect* place = atlas.GetCustomRectByIndex(fonts.hatch_ids[kind]);
        fonts.hatches[kind].x = place->X;
        fonts.hatches[kind].y = place->Y;
#endif
    }
}

const ImFontGlyph* glyph_of(const Face& face, uint32_t code) {
    const auto wide = code > 0xFFFF ? ImWchar{0xFFFD} : static_cast<ImWchar>(code);
#if IMGUI_VERSION_NUM >= 19200
    return face.font->GetFontBaked(face.pixels)->FindGlyph(wide);
#else
    return face.font->FindGlyph(wide);
#endif
}

float advance_of(const Face& face, uint32_t code, const ImFontGlyph& glyph) {
    const auto& known = *face.advances;
    return code < known.size() && known[code] >= 0 ? known[code] : glyph.AdvanceX;
}

float ascent_of(const Face& face) {
#if IMGUI_VERSION_NUM >= 19200
    return std::floor(face.font->GetFontBaked(face.pixels)->Ascent + 0.5f);
#else
    return std::floor(face.font->Ascent + 0.5f);
#endif
}

// Inter is spaced for reading at a distance; its designer's tracking for screens is a little tighter.
float tracking_of(const Face& face) {
    return face.mono || face.icons ? 0 : face.size > 16 ? -0.02f : -0.012f;
}

std::string icon_file() {
    for (const File& file : files)
        if (file.icons) return path_of(file);
    return {};
}

const Face& Fonts::face(const TextStyle& style) const {
    const Face* best = &faces.front();
    float best_cost = 1e9f;
    for (const Face& face : faces) {
        if (face.icons) continue;
        const float cost = (face.mono != style.mono ? 1000.0f : 0.0f) + std::fabs(face.size - style.size) * 10 +
                           std::fabs(static_cast<float>(face.weight - style.weight)) / 25;
        if (cost < best_cost) best = &face, best_cost = cost;
    }
    return *best;
}

const Face& Fonts::icon_face(float size) const {
    const Face* best = nullptr;
    for (const Face& face : faces)
        if (face.icons && (best == nullptr || std::fabs(face.size - size) < std::fabs(best->size - size))) best = &face;
    return best != nullptr ? *best : faces.front();
}

}  // namespace lockstep::gui
