// Glyphs as they are needed: each is drawn once, at four places within a pixel, into one sheet of coverage that becomes part
// of the atlas. FreeType hints lightly: heights snap to pixels, widths do not, so letters keep their distances. What the
// program's own fonts lack is looked for among the fonts that are installed (CJK, emoji, mathematics).
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::gui {

struct Glyph {         // pixels
    int x = 0, y = 0;  // of its left edge from the pen's pixel, of its upper edge from the baseline, downwards
    int w = 0, h = 0;  // 0: nothing is seen of it
    int sheet_x = 0, sheet_y = 0;
};

class GlyphSheet {
  public:
    static constexpr int phases = 4;  // places within a pixel
    static constexpr uint32_t no_glyph = 0xFFFFFFFF;

    GlyphSheet(int width, int height);
    ~GlyphSheet();
    GlyphSheet(const GlyphSheet&) = delete;
    GlyphSheet& operator=(const GlyphSheet&) = delete;

    // A face of that many pixels an em. `cell`: the width of its letters where all have one, pixels; 0: each has its own.
    // The face `beside`, of another file, has what this one lacks; -1: none. A file that is not there is stood in for.
    int add_face(const std::filesystem::path& file, float em, float cell, int beside);
    void set_beside(int face, int beside);
    const Glyph& glyph(int face, uint32_t code, int phase);
    float advance(int face, uint32_t code);                  // pixels, as the font says
    float kerning(int face, uint32_t left, uint32_t right);  // pixels, to add between them
    std::string font_of(int face, uint32_t code);            // the file that has the letter; "": none has
    bool full() const { return full_; }                      // a letter found no room: begin anew, larger

    int width() const { return width_; }
    int height() const { return height_; }
    const std::vector<uint8_t>& coverage() const { return coverage_; }
    struct Part {
        int x = 0, y = 0, w = 0, h = 0;
    };
    Part take_changed();  // since the last time; w 0: nothing
    void touch_all();     // the whole has to be uploaded again

  private:
    struct Library;
    int width_, height_;
    bool full_ = false;
    std::vector<uint8_t> coverage_;
    Part changed_;
    std::unique_ptr<Library> library_;
};

}  // namespace lockstep::gui
