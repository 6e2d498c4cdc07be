// The font atlas: Inter for prose, JetBrains Mono for code, a few Font Awesome icons, and the hatches, all in ONE texture,
// so that a frame is few draw calls. Built anew when the scale changes. Sizes are em sizes as in the layout (CSS pixels).
// Letters are drawn when they are needed first (glyphs.h), into a part of the texture that is kept free for them.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/gui/widgets/draw.h"
#include "app/gui/widgets/glyphs.h"

struct ImFont;
struct ImFontAtlas;
struct ImFontGlyph;

namespace lockstep::gui {

struct Face {
    int weight = 400;
    bool mono = false;
    bool icons = false;
    float size = 14;         // layout units
    ImFont* font = nullptr;  // of icons; of text: null
    float pixels = 0;        // what ImGui calls the size: ascender minus descender
    int letters = -1;        // of text: its face in the sheet
    float tracking = 0;      // pixels, between letters
};

struct HatchBand {  // where a hatch lies in the atlas, in texels
    int x = 0, y = 0, w = 0, h = 0;
};

struct Fonts {
    std::vector<Face> faces;
    HatchBand hatches[6];  // by Hatch; solid unused
    int hatch_period = 8;  // texels
    int hatch_ids[6] = {};
    std::shared_ptr<GlyphSheet> sheet;  // the letters, and where they lie in the atlas
    int sheet_id = 0, sheet_x = 0, sheet_y = 0;
    int atlas_width = 1, atlas_height = 1;
    float scale = 0;
    std::string missing;  // names of font files not found; empty: all there

    const Face& face(const TextStyle& style) const;  // the nearest size that was built
    const Face& icon_face(float size) const;
};

// Clears `atlas`, adds all faces for `scale` and builds it (alpha and hatches included). The backend uploads it.
// ImGui before 1.92 bakes every glyph here; later ones bake on demand, and may move the hatches: refresh each frame.
void build_fonts(Fonts& fonts, ImFontAtlas& atlas, float scale);
void refresh_hatches(Fonts& fonts, ImFontAtlas& atlas);

const ImFontGlyph* icon_glyph(const Face& face, uint32_t code);  // never null but for a font without a fallback
float icon_ascent(const Face& face);                             // whole pixels from the line's top to the baseline
float tracking_of(const Face& face);                             // between letters, em
std::string icon_file();                                         // with the icons' outlines
// The next code point of UTF-8 text; bad bytes become U+FFFD.
uint32_t next_code(std::string_view text, size_t& at);

}  // namespace lockstep::gui
