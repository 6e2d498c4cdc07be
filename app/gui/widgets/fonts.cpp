// Loads the fonts of assets/fonts, which come with the program.
// ImGui draws the icons alone, and sizes them by ascender minus descender; here sizes are em sizes.
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

const ImWchar icon_ranges[] = {0xF00C, 0xF00D, 0xF023, 0xF023, 0xF04B, 0xF04C, 0xF059, 0xF059,
                               0xF065, 0xF066, 0xF071, 0xF071, 0xF0D7, 0xF0D7, 0};

// Ascender minus descender, for 1 em.
float height_of(FT_Library library, const char* file) {
    FT_Face face = nullptr;
    if (FT_New_Face(library, file, 0, &face) != 0) return 1.2f;
    const float em = face->units_per_EM > 0 ? static_cast<float>(face->units_per_EM) : 1000.0f;
    const float height = static_cast<float>(face->ascender - face->descender) / em;
    FT_Done_Face(face);
    return height;
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

namespace {

// The icons of one size, as ImGui draws them.
void add_icons(Fonts& fonts, ImFontAtlas& atlas, FT_Library library, const File& file, float size, float scale) {
    ImFontConfig config;
#if IMGUI_VERSION_NUM >= 19200
    config.FontLoaderFlags = ImGuiFreeTypeLoaderFlags_LightHinting;
#else
    config.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
#endif
    config.PixelSnapH = false;
    const std::string path = path_of(file);
    Face face{.weight = file.weight, .icons = true, .size = size};
    face.pixels = size * scale * height_of(library, path.c_str());
    face.font = atlas.AddFontFromFileTTF(path.c_str(), face.pixels, &config, icon_ranges);
    if (face.font != nullptr) fonts.faces.push_back(face);
}

// How much room letters get: as many as a long session at that scale draws, and no more than a texture may have.
void make_sheet(Fonts& fonts, float scale) {
    const int width = scale > 1.5f ? 4000 : 2000;
    const float rows = 700 * scale * scale * 2000 / static_cast<float>(width);
    fonts.sheet = std::make_shared<GlyphSheet>(width, std::clamp(static_cast<int>(rows), 320, 2040));
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
    make_sheet(fonts, scale);
    int prose = -1, mono = -1;  // each has signs that the other lacks
    for (const File& file : files) {
        const std::string path = path_of(file);
        const bool there = std::filesystem::exists(path);
        if (!there && fonts.missing.empty()) fonts.missing = path;
        for (const float size : file.sizes) {
            if (size == 0) break;
            if (file.icons) {
                if (there && library != nullptr) add_icons(fonts, atlas, library, file, size, scale);
                continue;
            }
            Face face{.weight = file.weight, .mono = file.mono, .size = size};
            face.tracking = tracking_of(face) * size * scale;
            face.pixels = size * scale * 1.2f;
            face.letters = fonts.sheet->add_face(path, size * scale, file.mono ? 0.6f * size * scale : 0, prose);
            if (!file.mono && prose < 0) prose = face.letters;
            if (file.mono && mono < 0) mono = face.letters;
            fonts.faces.push_back(face);
        }
    }
    for (const Face& face : fonts.faces)
        if (!face.icons && !face.mono) fonts.sheet->set_beside(face.letters, mono);
    if (library != nullptr) FT_Done_FreeType(library);
    if (atlas.Fonts.Size == 0) atlas.AddFontDefault();  // ImGui itself wants one

    fonts.hatch_period = std::max(4, static_cast<int>(std::lround(8 * scale)));
    const int columns = 56, rows = 8, w = fonts.hatch_period * columns, h = fonts.hatch_period * rows;
    for (int kind = 1; kind < 6; ++kind) fonts.hatch_ids[kind] = static_cast<int>(atlas.AddCustomRectRegular(w, h));
    fonts.sheet_id = static_cast<int>(atlas.AddCustomRectRegular(fonts.sheet->width(), fonts.sheet->height()));
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
#if IMGUI_VERSION_NUM >= 19200
    if (ImFontAtlasRect place; atlas.GetCustomRect(fonts.sheet_id, &place)) fonts.sheet_x = place.x, fonts.sheet_y = place.y;
#else
    const ImFontAtlasCustomRect* place = atlas.GetCustomRectByIndex(fonts.sheet_id);
    fonts.sheet_x = place->X;
    fonts.sheet_y = place->Y;
#endif
}

const ImFontGlyph* icon_glyph(const Face& face, uint32_t code) {
#if IMGUI_VERSION_NUM >= 19200
    return face.font->GetFontBaked(face.pixels)->FindGlyph(static_cast<ImWchar>(code));
#else
    return face.font->FindGlyph(static_cast<ImWchar>(code));
#endif
}

float icon_ascent(const Face& face) {
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
