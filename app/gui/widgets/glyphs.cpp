// FreeType behind GlyphSheet. Fonts of the system are opened when a letter is missing first; which one has a letter is found
// once and kept.
#include "app/gui/widgets/glyphs.h"

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H
#include FT_TRUETYPE_TABLES_H
#include FT_TRUETYPE_TAGS_H

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "app/gui/widgets/kerning.h"
#include "app/gui/widgets/text_buffer.h"
#include "core/system/desktop.h"

namespace lockstep::gui {

namespace {

constexpr size_t dense_codes = 0x250, most_opened = 40;

struct FontFile {
    std::filesystem::path path;
    FT_Face face = nullptr;  // null: it cannot be read
    Kerning kerning;
    float em = 1000;
};

struct Found {      // a letter of a face
    int file = -1;  // of `files`; -1: none has it
    uint32_t glyph = 0;
    float advance = 0;  // pixels
    float shrink = 1;   // so that it fits its cell
};

struct GlyphFace {
    int file = 0, beside = -1;
    float em = 13, cell = 0;
    std::vector<std::optional<Found>> dense = std::vector<std::optional<Found>>(dense_codes);
    std::unordered_map<uint32_t, Found> others;
    std::unordered_map<uint64_t, Glyph> glyphs;  // by code and phase
    std::unordered_map<uint64_t, float> pairs;
};

struct Shelf {  // letters of about one height, side by side
    int x = 0, y = 0;
};

bool begins(const std::string& stem, std::string_view wanted) {
    return stem.size() >= wanted.size() && std::equal(wanted.begin(), wanted.end(), stem.begin(), [](char a, char b) {
               const auto low = [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); };
               return low(a) == low(b);
           });
}

// Fonts that are likely to have a letter of that kind, the best first.
std::vector<std::string_view> likely_fonts(uint32_t code) {
    const bool east = (code >= 0x2E80 && code < 0xA000) || (code >= 0xAC00 && code < 0xD7B0) ||
                      (code >= 0xF900 && code < 0xFB00) || (code >= 0xFF00 && code < 0xFFF0) || code >= 0x20000;
    const bool emoji = (code >= 0x1F000 && code < 0x1FB00) || (code >= 0x2600 && code < 0x27C0);
    std::vector<std::string_view> names;
    if (east)
        names = {"NotoSansCJK", "SourceHanSans", "NotoSansSC",   "NotoSansJP", "NotoSansKR", "wqy",    "DroidSansFallback",
                 "ipag",        "TakaoGothic",   "NanumGothic",  "msyh",       "YuGoth",     "malgun", "simsun",
                 "PingFang",    "Hiragino",      "AppleSDGothic"};
    else if (emoji)
        names = {"NotoEmoji", "Symbola", "seguiemj", "seguisym", "NotoSansSymbols2", "DejaVuSans."};
    else
        names = {"NotoSansMath", "STIXTwoMath", "DejaVuMathTeXGyre", "latinmodern-math", "cambria", "NotoSansSymbols"};
    for (const std::string_view any : {"DejaVuSans.", "NotoSans-Regular", "FreeSans.", "seguisym", "segoeui", "arialuni",
                                       "Arial Unicode", "LiberationSans-Regular", "Symbola", "unifont"})
        names.push_back(any);
    return names;
}

}  // namespace

struct GlyphSheet::Library {
    FT_Library library = nullptr;
    std::vector<FontFile> files;
    std::map<std::filesystem::path, int> opened;
    std::vector<GlyphFace> faces;
    std::map<int, Shelf> shelves;  // by their heights
    int next_shelf = 0;
    std::optional<std::vector<std::filesystem::path>> installed;
    std::unordered_map<uint32_t, int> fallbacks;  // file by code; -1: none
    size_t tried = 0;

    Library() { FT_Init_FreeType(&library); }
    ~Library() {
        for (FontFile& file : files)
            if (file.face != nullptr) FT_Done_Face(file.face);
        if (library != nullptr) FT_Done_FreeType(library);
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    int open(const std::filesystem::path& path) {
        if (const auto known = opened.find(path); known != opened.end()) return known->second;
        FontFile file;
        file.path = path;
        if (library == nullptr || FT_New_Face(library, path.string().c_str(), 0, &file.face) != 0) file.face = nullptr;
        if (file.face != nullptr && file.face->units_per_EM > 0) file.em = static_cast<float>(file.face->units_per_EM);
        const auto at = static_cast<int>(files.size());
        files.push_back(std::move(file));
        opened[path] = at;
        return at;
    }
    void read_kerning(FontFile& file) const {
        FT_ULong bytes = 0;
        if (file.face == nullptr || FT_Load_Sfnt_Table(file.face, TTAG_GPOS, 0, nullptr, &bytes) != 0 || bytes == 0) return;
        std::string table(bytes, '\0');
        if (FT_Load_Sfnt_Table(file.face, TTAG_GPOS, 0, reinterpret_cast<FT_Byte*>(table.data()), &bytes) != 0) return;
        file.kerning = Kerning(table);
    }
    uint32_t glyph_in(int file, uint32_t code) const {
        const FT_Face face = file < 0 ? nullptr : files[static_cast<size_t>(file)].face;
        return face == nullptr || !FT_IS_SCALABLE(face) ? 0 : FT_Get_Char_Index(face, code);
    }
    // Of the fonts that are installed the likeliest that has the letter.
    int fallback(uint32_t code) {
        if (const auto known = fallbacks.find(code); known != fallbacks.end()) return known->second;
        if (!installed) installed = system::font_files();
        int found = -1;
        for (const std::string_view name : likely_fonts(code)) {
            for (const std::filesystem::path& path : *installed) {
                if (!begins(path.filename().string(), name)) continue;
                if (!opened.contains(path) && ++tried > most_opened) continue;
                if (const int file = open(path); glyph_in(file, code) != 0) {
                    found = file;
                    break;
                }
            }
            if (found >= 0) break;
        }
        fallbacks[code] = found;
        return found;
    }
    Found find(const GlyphFace& face, uint32_t code) {
        Found found;
        const int own = face.file, beside = face.beside < 0 ? -1 : faces[static_cast<size_t>(face.beside)].file;
        for (const int file : {own, beside})
            if (found.file < 0 && glyph_in(file, code) != 0) found.file = file;
        const bool stands = own >= 0 && files[static_cast<size_t>(own)].face != nullptr;
        if (found.file < 0 && (code >= 0x80 || !stands)) found.file = fallback(code);
        if (found.file < 0) found.file = own;  // the font's own sign for what it lacks
        found.glyph = glyph_in(found.file, code);
        const FontFile& from = files[static_cast<size_t>(found.file)];
        if (from.face != nullptr && FT_Load_Glyph(from.face, found.glyph, FT_LOAD_NO_SCALE) == 0)
            found.advance = static_cast<float>(from.face->glyph->advance.x) / from.em * face.em;
        if (face.cell > 0) {
            const float room = face.cell * static_cast<float>(cells_of(code));
            if (found.advance > room * 1.01f) found.shrink = room / found.advance;
            found.advance = room;
        }
        return found;
    }
    const Found& of(int face_index, uint32_t code) {
        GlyphFace& face = faces[static_cast<size_t>(face_index)];
        if (code < dense_codes) {
            std::optional<Found>& known = face.dense[code];
            if (!known) known = find(face, code);
            return *known;
        }
        const auto known = face.others.find(code);
        return known != face.others.end() ? known->second : face.others.emplace(code, find(face, code)).first->second;
    }
};

GlyphSheet::GlyphSheet(int width, int height)
    : width_(width),
      height_(height),
      coverage_(static_cast<size_t>(width) * static_cast<size_t>(height)),
      library_(std::make_unique<Library>()) {}
GlyphSheet::~GlyphSheet() = default;

int GlyphSheet::add_face(const std::filesystem::path& file, float em, float cell, int beside) {
    GlyphFace face;
    const bool known = library_->opened.contains(file);
    face.file = library_->open(file);
    if (!known) library_->read_kerning(library_->files[static_cast<size_t>(face.file)]);
    face.em = em;
    face.cell = cell;
    face.beside = beside;
    library_->faces.push_back(std::move(face));
    return static_cast<int>(library_->faces.size()) - 1;
}

void GlyphSheet::set_beside(int face, int beside) {
    library_->faces[static_cast<size_t>(face)].beside = beside;
}

float GlyphSheet::advance(int face, uint32_t code) {
    return library_->of(face, code).advance;
}

std::string GlyphSheet::font_of(int face, uint32_t code) {
    const Found& found = library_->of(face, code);
    return found.file < 0 || found.glyph == 0 ? "" : library_->files[static_cast<size_t>(found.file)].path.string();
}

float GlyphSheet::kerning(int face_index, uint32_t left, uint32_t right) {
    GlyphFace& face = library_->faces[static_cast<size_t>(face_index)];
    const FontFile& file = library_->files[static_cast<size_t>(face.file)];
    if (face.cell > 0 || file.kerning.empty()) return 0;
    const uint64_t pair = (uint64_t{left} << 32) | right;
    if (const auto known = face.pairs.find(pair); known != face.pairs.end()) return known->second;
    const Found first = library_->of(face_index, left), second = library_->of(face_index, right);
    float by = 0;
    if (first.file == face.file && second.file == face.file)
        by = static_cast<float>(
                 file.kerning.between(static_cast<uint16_t>(first.glyph), static_cast<uint16_t>(second.glyph))) /
             file.em * face.em;
    face.pairs[pair] = by;
    return by;
}

const Glyph& GlyphSheet::glyph(int face_index, uint32_t code, int phase) {
    GlyphFace& face = library_->faces[static_cast<size_t>(face_index)];
    const uint64_t key = uint64_t{code} * phases + static_cast<uint64_t>(phase);
    if (const auto known = face.glyphs.find(key); known != face.glyphs.end()) return known->second;
    Glyph& made = face.glyphs[key];
    const Found& found = library_->of(face_index, code);
    if (found.file < 0) return made;
    const FT_Face from = library_->files[static_cast<size_t>(found.file)].face;
    if (from == nullptr || !FT_IS_SCALABLE(from)) return made;
    const auto size = static_cast<FT_F26Dot6>(std::lround(face.em * found.shrink * 64));
    if (FT_Set_Char_Size(from, 0, std::max<FT_F26Dot6>(size, 64), 72, 72) != 0) return made;
    if (FT_Load_Glyph(from, found.glyph, FT_LOAD_NO_BITMAP | FT_LOAD_TARGET_LIGHT) != 0) return made;
    if (from->glyph->format != FT_GLYPH_FORMAT_OUTLINE) return made;
    FT_Outline_Translate(&from->glyph->outline, phase * 64 / phases, 0);
    if (FT_Render_Glyph(from->glyph, FT_RENDER_MODE_NORMAL) != 0) return made;
    const FT_Bitmap& bitmap = from->glyph->bitmap;
    const auto w = static_cast<int>(bitmap.width), h = static_cast<int>(bitmap.rows);
    if (w == 0 || h == 0) return made;
    // A place on the shelf of its height, with an empty pixel around.
    const int tall = (h + 1 + 3) / 4 * 4;
    auto shelf = library_->shelves.find(tall);
    if (shelf == library_->shelves.end() || shelf->second.x + w + 1 > width_) {
        if (w + 1 > width_ || library_->next_shelf + tall > height_) {
            full_ = true;
            return made;
        }
        shelf = library_->shelves.insert_or_assign(tall, Shelf{0, library_->next_shelf}).first;
        library_->next_shelf += tall;
    }
    made = {from->glyph->bitmap_left, -from->glyph->bitmap_top, w, h, shelf->second.x, shelf->second.y};
    shelf->second.x += w + 1;
    for (int row = 0; row < h; ++row)
        std::copy_n(bitmap.buffer + static_cast<std::ptrdiff_t>(row) * bitmap.pitch, w,
                    coverage_.begin() + static_cast<std::ptrdiff_t>(made.sheet_y + row) * width_ + made.sheet_x);
    const int right = std::max(changed_.x + changed_.w, made.sheet_x + w),
              bottom = std::max(changed_.y + changed_.h, made.sheet_y + h);
    if (changed_.w == 0) {
        changed_ = {made.sheet_x, made.sheet_y, w, h};
    } else {
        changed_.x = std::min(changed_.x, made.sheet_x);
        changed_.y = std::min(changed_.y, made.sheet_y);
        changed_.w = right - changed_.x;
        changed_.h = bottom - changed_.y;
    }
    return made;
}

GlyphSheet::Part GlyphSheet::take_changed() {
    return std::exchange(changed_, {});
}

void GlyphSheet::touch_all() {
    changed_ = {0, 0, library_->next_shelf > 0 ? width_ : 0, library_->next_shelf};
}

}  // namespace lockstep::gui
