// Letters: four places within a pixel, kerning from the font's own table, fonts of the system for what ours lack.
#include <imgui.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "app/gui/widgets/fonts.h"
#include "app/gui/widgets/kerning.h"
#include "core/base/files.h"
#include "core/system/desktop.h"
#include "tests/catch.h"

namespace gui_letters_test {
using namespace lockstep;
using namespace lockstep::gui;

std::filesystem::path font(const char* name) {
    return resource_root() / "assets" / "fonts" / name;
}

// The middle of a glyph's ink, pixels from the pen's pixel.
double middle_of(GlyphSheet& sheet, const Glyph& glyph) {
    double sum = 0, weighted = 0;
    for (int y = 0; y < glyph.h; ++y)
        for (int x = 0; x < glyph.w; ++x) {
            const double c = sheet.coverage()[static_cast<size_t>((glyph.sheet_y + y) * sheet.width() + glyph.sheet_x + x)];
            sum += c;
            weighted += c * (glyph.x + x + 0.5);
        }
    return weighted / sum;
}

TEST_CASE("a letter is drawn at four places within a pixel, a quarter apart") {
    GlyphSheet sheet(256, 256);
    const int face = sheet.add_face(font("Inter-Regular.otf"), 13, 0, -1);
    for (const char letter : {'i', 'l', 't', 'n', 'o'}) {
        const double first = middle_of(sheet, sheet.glyph(face, static_cast<uint32_t>(letter), 0));
        for (int phase = 1; phase < GlyphSheet::phases; ++phase) {
            INFO(letter << " at place " << phase);
            const Glyph& moved = sheet.glyph(face, static_cast<uint32_t>(letter), phase);
            CHECK(middle_of(sheet, moved) - first == Approx(phase * 0.25).margin(0.06));
            CHECK(moved.y == sheet.glyph(face, static_cast<uint32_t>(letter), 0).y);  // heights snap, and stay
        }
    }
}

TEST_CASE("letters keep their distances: the same word has the same gaps wherever it begins") {
    GlyphSheet sheet(512, 256);
    const int face = sheet.add_face(font("Inter-Regular.otf"), 13, 0, -1);
    // Where the middles of the letters come to lie, against where their widths put them.
    double worst = 0;
    for (const double begin : {0.0, 0.3, 0.55, 0.8}) {
        double pen = begin, error_before = 0;
        bool first = true;
        for (const char letter : std::string("training")) {
            const double quarter = std::floor(pen * 4 + 0.5), whole = std::floor(quarter / 4);
            const Glyph& glyph = sheet.glyph(face, static_cast<uint32_t>(letter), static_cast<int>(quarter - 4 * whole));
            const Glyph& still = sheet.glyph(face, static_cast<uint32_t>(letter), 0);
            const double error = whole + middle_of(sheet, glyph) - (pen + middle_of(sheet, still));
            if (!first) worst = std::max(worst, std::abs(error - error_before));
            error_before = error;
            first = false;
            pen += static_cast<double>(sheet.advance(face, static_cast<uint32_t>(letter)));
        }
    }
    CHECK(worst <= 0.3);  // a whole pixel where letters stand on whole pixels
}

TEST_CASE("pairs of letters stand as close as the font wants, of code none does") {
    GlyphSheet sheet(256, 256);
    const int prose = sheet.add_face(font("Inter-Regular.otf"), 16, 0, -1),
              code = sheet.add_face(font("JetBrainsMono-Regular.ttf"), 13, 7.8f, prose);
    CHECK(sheet.kerning(prose, 'A', 'V') < -0.3f);
    CHECK(sheet.kerning(prose, 'T', 'o') < -0.5f);
    CHECK(sheet.kerning(prose, 'n', 'n') == 0);
    CHECK(sheet.kerning(code, 'A', 'V') == 0);
    CHECK(sheet.advance(code, 'i') == 7.8f);
    CHECK(sheet.advance(code, 'W') == 7.8f);
}

TEST_CASE("a kerning table that is broken has no pairs, whatever its offsets say") {
    const std::string inter = read_file(font("Inter-Regular.otf")).value();
    const auto u16 = [&](size_t at) { return (static_cast<uint8_t>(inter[at]) << 8) | static_cast<uint8_t>(inter[at + 1]); };
    const auto u32 = [&](size_t at) { return (static_cast<uint32_t>(u16(at)) << 16) | static_cast<uint32_t>(u16(at + 2)); };
    std::string table;
    for (int i = 0; i < u16(4); ++i) {
        const size_t record = 12 + 16 * static_cast<size_t>(i);
        if (inter.substr(record, 4) == "GPOS") table = inter.substr(u32(record + 8), u32(record + 12));
    }
    REQUIRE(table.size() > 1000);
    CHECK_FALSE(Kerning(table).empty());
    CHECK(Kerning("").empty());
    CHECK(Kerning(std::string(10, '\xFF')).empty());
    for (size_t length = 1; length < table.size(); length += 977) {  // cut off anywhere
        const Kerning cut(std::string_view(table).substr(0, length));
        for (uint16_t left = 0; left < 2000; left += 37)
            for (uint16_t right = 0; right < 2000; right += 41) CHECK(std::abs(cut.between(left, right)) <= 32768);
    }
    uint64_t seed = 7;
    for (int round = 0; round < 40; ++round) {  // and with any bytes changed
        std::string changed = table;
        for (int i = 0; i < 20; ++i) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            changed[(seed >> 20) % std::min<size_t>(changed.size(), 4000)] = static_cast<char>(seed >> 40);
        }
        const Kerning any(changed);
        CHECK(std::abs(any.between(36, 57)) <= 32768);
    }
}

TEST_CASE("what our fonts lack comes from the fonts that are installed") {
    const auto installed = system::font_files();
    GlyphSheet sheet(512, 512);
    const int prose = sheet.add_face(font("Inter-Regular.otf"), 14, 0, -1),
              code = sheet.add_face(font("JetBrainsMono-Regular.ttf"), 13, 7.8f, prose);
    CHECK(sheet.font_of(prose, 'a').ends_with("Inter-Regular.otf"));
    CHECK(sheet.font_of(code, 'a').ends_with("JetBrainsMono-Regular.ttf"));
    sheet.set_beside(prose, code);
    CHECK(sheet.font_of(prose, 0x2299).ends_with("JetBrainsMono-Regular.ttf"));  // a sign of its neighbour
    const auto is_installed = [&](const char* name) {
        return std::any_of(installed.begin(), installed.end(), [&](const std::filesystem::path& file) {
            return file.filename().string().find(name) != std::string::npos;
        });
    };
    if (is_installed("DejaVuSans.ttf") || is_installed("NotoSansMath")) {
        CHECK(!sheet.font_of(prose, 0x2A0C).empty());   // a fourfold integral
        CHECK(!sheet.font_of(prose, 0x1D54D).empty());  // double-struck V, beyond 16 bits
        CHECK(sheet.glyph(prose, 0x2A0C, 0).w > 0);
    }
    if (is_installed("DroidSansFallback") || is_installed("NotoSansCJK") || is_installed("wqy")) {
        CHECK(!sheet.font_of(prose, 0x6838).empty());
        CHECK(sheet.glyph(prose, 0x6838, 0).w > 8);
        CHECK(sheet.advance(code, 0x6838) == 15.6f);  // two cells of the editor, as in a terminal
        CHECK(sheet.glyph(code, 0x6838, 0).w > 9);    // as large as beside prose
        CHECK(sheet.glyph(code, 0x6838, 0).w <= 17);
    }
    CHECK(sheet.font_of(prose, 0xFDD0).empty());  // nobody's: the font's sign for what it lacks
    CHECK(sheet.glyph(prose, 0x10FFFE, 0).w >= 0);
}

TEST_CASE("a sheet without room says so, and a face without a file is stood in for") {
    GlyphSheet small(40, 24);
    const int face = small.add_face(font("Inter-Bold.otf"), 20, 0, -1);
    for (uint32_t code = 'A'; code <= 'Z'; ++code) small.glyph(face, code, 0);
    CHECK(small.full());
    GlyphSheet sheet(256, 256);
    const int missing = sheet.add_face("/nowhere/nothing.otf", 14, 0, -1);
    CHECK(sheet.advance(missing, 'a') >= 0);
    sheet.glyph(missing, 'a', 0);
    CHECK_FALSE(sheet.full());
}

}  // namespace gui_letters_test
