// Colours that people have to read, and the text engine's arithmetic.
#include <imgui.h>

#include "app/gui/widgets/fonts.h"
#include "app/gui/widgets/ui_state.h"
#include "core/base/diagnostic.h"
#include "tests/catch.h"

namespace gui_theme_test {

using namespace lockstep;
using namespace lockstep::gui;

TEST_CASE("every text colour of every theme reads on both panel colours") {
    for (const char* name : {"dark", "light", "high-contrast", "print"}) {
        const Theme& t = theme_named(name);
        for (const Color back : {t.panel, t.panel2, t.background, t.selected, t.code}) {
            INFO(name << " on " << std::hex << back);
            CHECK(contrast(t.ink, back) >= 7.0f);
            CHECK(contrast(t.ink2, back) >= 4.5f);
        }
        for (const Color back : {t.panel, t.panel2}) {
            INFO(name << " on " << std::hex << back);
            CHECK(contrast(t.quiet, back) >= 4.5f);
            CHECK(contrast(t.wrong, back) >= 4.5f);
            CHECK(contrast(t.right, back) >= 4.5f);
            CHECK(contrast(t.keyword, back) >= 4.5f);
            for (const Provenance p :
                 {Provenance::executed, Provenance::measured, Provenance::simulated, Provenance::derived})
                CHECK(contrast(color_of(p, t), back) >= 4.5f);
        }
        CHECK(contrast(t.on_accent, t.accent) >= 4.5f);
    }
}

TEST_CASE("text on a data colour is black or white, whichever reads") {
    for (const Color fill : {data::orange, data::sky, data::green, data::yellow, data::purple})
        CHECK(text_on(fill) == data::ink_on_light);
    CHECK(text_on(data::blue) == data::white);
}

TEST_CASE("an unknown theme names the known ones") {
    try {
        theme_named("dim");
        FAIL("accepted");
    } catch (const Failure& failure) {
        CHECK(failure.diagnostic.message.find("dark, light, high-contrast") != std::string::npos);
    }
}

TEST_CASE("numbers and bytes print as people read them") {
    CHECK(with_commas(0) == "0");
    CHECK(with_commas(999) == "999");
    CHECK(with_commas(12525) == "12,525");
    CHECK(with_commas(-1234567) == "-1,234,567");
    CHECK(with_commas(-123) == "-123");
    CHECK(bytes_text(512) == "512 B");
    CHECK(bytes_text(2560) == "2.5 KiB");
    CHECK(bytes_text(200704) == "196 KiB");
}

TEST_CASE("colour maps clamp, and survive what is not a number") {
    const Theme& t = theme_named("dark");
    CHECK(sequential(-3, t) == sequential(0, t));
    CHECK(sequential(7, t) == sequential(1, t));
    CHECK(sequential(std::nanf(""), t) == sequential(0, t));
    CHECK(diverging(std::nanf(""), t) == diverging(0.5f, t));
    CHECK(grey_image(2) == grey_image(1));
}

namespace {

struct Bench {
    Fonts fonts;
    UiState state;
    Ui ui;
    ImDrawListSharedData* shared;
    ImDrawList list;
    Bench() : shared(context()), list(shared) {
        build_fonts(fonts, *ImGui::GetIO().Fonts, 1);
        ImGui::GetIO().DisplaySize = {1600, 1000};
        ImGui::NewFrame();
        list._ResetForNewFrame();
        list.PushClipRect({0, 0}, {1600, 1000});
        list.PushTextureID(ImGui::GetIO().Fonts->TexID);
        ui.list = &list;
        ui.theme = &theme_named("dark");
        ui.fonts = &fonts;
        ui.state = &state;
    }
    ~Bench() {
        ImGui::EndFrame();
        ImGui::DestroyContext();
    }
    static ImDrawListSharedData* context() {
        ImGui::CreateContext();
        ImGui::GetIO().IniFilename = nullptr;
        return ImGui::GetDrawListSharedData();
    }
    int quads() const { return list.VtxBuffer.Size / 4; }
};

}  // namespace

TEST_CASE("text takes one quad a visible glyph and returns where it ends") {
    Bench bench;
    const float end = bench.ui.text(100, 100, "ab c", {.size = 13});
    CHECK(bench.quads() == 3);
    CHECK(end == Approx(100 + bench.ui.text_width("ab c", {.size = 13})));
    CHECK(bench.ui.text(100, 120, "ab c", {.size = 13, .align = Align::right}) ==
          Approx(100 - bench.ui.text_width("ab c", {.size = 13})));
}

TEST_CASE("text of a given width is shortened, never wider") {
    Bench bench;
    const float end = bench.ui.text(0, 100, "a sentence that is far too long for its place", {.size = 13, .width = 120});
    CHECK(end <= 120.5f);
    CHECK(end > 80);
}

TEST_CASE("broken UTF-8 is drawn, not read past its end") {
    Bench bench;
    bench.ui.text(0, 100, "\xF0\x9F", {});
    bench.ui.text(0, 100, "\xC3", {});
    bench.ui.text(0, 100, "a\xFF\x80z", {});
    CHECK(bench.ui.text_width("\xE2\x88") > 0);
}

TEST_CASE("a hatched rectangle is one quad up to 440 x 56") {
    Bench bench;
    bench.ui.hatch({13, 17, 440, 56}, data::orange, Hatch::diagonal);
    CHECK(bench.quads() == 1);
    bench.ui.hatch({13, 17, 900, 14}, data::orange, Hatch::dots);
    CHECK(bench.quads() == 4);
    bench.ui.hatch({-500, 2000, 900, 14}, data::orange, Hatch::dots);  // outside: nothing
    CHECK(bench.quads() == 4);
}

TEST_CASE("a paragraph wraps inside its box and says how high it is") {
    Bench bench;
    const float one = bench.ui.paragraph({0, 0, 2000, 100}, "six words stand in a row", {.size = 15}, 24);
    const float more = bench.ui.paragraph({0, 0, 90, 100}, "six words stand in a row", {.size = 15}, 24);
    CHECK(one == Approx(24));
    CHECK(more >= 48);
    float rightmost = 0;
    for (int i = 0; i < bench.list.VtxBuffer.Size; ++i)
        if (i >= 4 * 19) rightmost = std::max(rightmost, bench.list.VtxBuffer[i].pos.x);
    CHECK(rightmost <= 92);
    std::vector<UiState::Written> written;
    bench.state.written = &written;
    bench.ui.paragraph({0, 0, 104, 100}, "occupancy of 75 %.", {.size = 15}, 24);  // the unit stays with its number
    CHECK(std::any_of(written.begin(), written.end(), [](const auto& text) { return text.text == "75 %."; }));
    written.clear();
    bench.ui.paragraph({0, 0, 104, 100}, "reads every `2 * s`-th word", {.size = 15}, 24);  // short code is not broken
    CHECK(std::any_of(written.begin(), written.end(), [](const auto& text) { return text.text == "2 * s"; }));
}

TEST_CASE("code in a sentence has the sentence's space before and behind its box, and a comma does not lie in it") {
    Bench bench;
    std::vector<UiState::Written> written;
    bench.state.written = &written;
    bench.ui.paragraph({0, 0, 2000, 100}, "H `HHH` H `H`, H", {.size = 15}, 24);
    REQUIRE(written.size() == 6);
    const auto gap = [&](size_t i) { return written[i + 1].ink.x - written[i].ink.right(); };
    const float space = bench.ui.text_width(" ", {.size = 15});
    for (const size_t i : {0u, 1u, 2u}) {
        INFO("gap " << i << " is " << gap(i));
        CHECK(gap(i) >= space + 2);
    }
    CHECK(std::abs(gap(0) - gap(1)) < 2.5f);
    CHECK(gap(3) >= 2);
    CHECK(gap(3) < gap(1));
}

}  // namespace gui_theme_test
