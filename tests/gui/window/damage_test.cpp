// What a frame draws again: the squares that changed, and together with what stayed the picture of a whole drawing.
#include "app/gui/raster/damage.h"

#include <imgui.h>

#include <algorithm>
#include <iterator>
#include <random>

#include "app/gui/shell/notes.h"
#include "app/gui/window/canvas.h"
#include "tests/catch.h"

namespace gui_damage_test {

using namespace lockstep;
using namespace lockstep::gui;

namespace {

struct ImGuiForDamage {
    ImGuiForDamage() { ImGui::CreateContext(), ImGui::GetIO().IniFilename = nullptr; }
    ~ImGuiForDamage() { ImGui::DestroyContext(); }
    ImGuiForDamage(const ImGuiForDamage&) = delete;
    ImGuiForDamage& operator=(const ImGuiForDamage&) = delete;
};

struct OneList {
    ImDrawList list{ImGui::GetDrawListSharedData()};
    ImDrawData data;
    void begin() {
        list._ResetForNewFrame();
        list.PushClipRect({0, 0}, {640, 480});
    }
    const ImDrawData& end() {
#if IMGUI_VERSION_NUM >= 19200
        data.Clear();
        data.AddDrawList(&list);
#else
        static ImDrawList* lists[1];
        lists[0] = &list;
        data.CmdLists = lists;
        data.CmdListsCount = 1;
#endif
        return data;
    }
};

bool holds(const std::vector<PixelArea>& boxes, int x, int y) {
    return std::any_of(boxes.begin(), boxes.end(), [&](const PixelArea& box) {
        return x >= box.left && x < box.right && y >= box.top && y < box.bottom;
    });
}

}  // namespace

TEST_CASE("only the squares in which something changed are drawn again") {
    const ImGuiForDamage imgui;
    OneList one;
    Damage damage;
    const auto frame = [&](float x, ImU32 colour, float far_y = 400) {
        one.begin();
        one.list.AddRectFilled({0, 0}, {640, 480}, 0xFF202020);
        one.list.AddRectFilled({x, 40}, {x + 10, 50}, colour);
        one.list.AddRectFilled({600, far_y}, {610, far_y + 10}, 0xFFFFFFFF);
        return damage.of(one.end(), 640, 480);
    };
    CHECK(frame(100, 0xFF0000FF) == std::vector<PixelArea>{{0, 0, 640, 480}});  // the first is drawn whole
    CHECK(frame(100, 0xFF0000FF).empty());
    const auto coloured = frame(100, 0xFF00FF00);
    CHECK(coloured == std::vector<PixelArea>{{96, 32, 128, 64}});
    const auto moved = frame(300, 0xFF00FF00);  // where it was and where it is
    CHECK(moved.size() == 2);
    CHECK(holds(moved, 104, 45));
    CHECK(holds(moved, 305, 45));
    CHECK_FALSE(holds(moved, 200, 45));
    const auto two = frame(310, 0xFF00FF00, 300);
    CHECK(holds(two, 315, 45));
    CHECK(holds(two, 605, 305));
    CHECK(holds(two, 605, 405));
    CHECK_FALSE(holds(two, 315, 305));
    damage.forget();
    CHECK(frame(310, 0xFF00FF00, 300) == std::vector<PixelArea>{{0, 0, 640, 480}});
}

TEST_CASE("a texture that has other pixels is drawn again where it stands") {
    const ImGuiForDamage imgui;
    OneList one;
    Damage damage;
    const auto frame = [&] {
        one.begin();
        one.list.AddRectFilled({0, 0}, {640, 480}, 0xFF202020);
        one.list.AddImage((ImTextureID)(intptr_t)7, {64, 64}, {128, 96});
        return damage.of(one.end(), 640, 480);
    };
    frame();
    CHECK(frame().empty());
    damage.changed(7);
    CHECK(frame() == std::vector<PixelArea>{{64, 64, 128, 96}});
    damage.changed(8);  // stands nowhere
    CHECK(frame().empty());
}

TEST_CASE("frames that are drawn in parts are the pictures that a whole drawing gives") {
    const ImGuiForDamage imgui;
    Session session({.training_steps = 3});
    Shell shell(session, theme_named("dark"), 1);
    Canvas canvas(shell, 1280, 800);
    std::mt19937 random(5);
    double now = 1;
    std::vector<Color> parts, whole;
    int differ = 0;
    for (int i = 0; i < 120; ++i) {
        Input input;
        input.mouse_x = static_cast<float>(random() % 1280);
        input.mouse_y = static_cast<float>(random() % 800);
        input.clicked = random() % 4 == 0;
        input.wheel = random() % 5 == 0 ? 1.0f : 0.0f;
        if (i % 12 == 0) session.workspace = static_cast<Workspace>(random() % std::size(workspaces));
        if (i % 3 == 0) input.keys.push_back({random() % 2 == 0 ? KeyCode::right : KeyCode::down});
        if (i == 60) shell.theme = &theme_named("light");
        if (i == 90) shell.text_scale = 1.5f;
        canvas.frame(input, now += 0.05);
        if (i % 2 == 0) session.wait_until_idle(30);
        canvas.read(parts);
        canvas.draw_whole();
        canvas.read(whole);
        differ += parts != whole;
    }
    CHECK(differ == 0);
}

TEST_CASE("the speaker's notes fit their window, however long they are") {
    const ImGuiForDamage imgui;
    Session session({.start = false});
    Shell shell(session, theme_named("light"), 1);
    shell.prepare(1);
    std::vector<UiState::Written> written;
    shell.state.written = &written;
    int turned = 0;
    struct Drawn {
        float lowest = 0, largest = 0;
        int pages = 0;
    };
    const auto draw = [&](const std::string& notes, float w = 640, float h = 400) {
        written.clear();
        Drawn drawn;
        ImDrawList list(ImGui::GetDrawListSharedData());
        list._ResetForNewFrame();
        list.PushClipRect({0, 0}, {w, h});
#if IMGUI_VERSION_NUM >= 19200
        list.PushTexture(ImGui::GetIO().Fonts->TexRef);
#else
        list.PushTextureID(ImGui::GetIO().Fonts->TexID);
#endif
        Ui ui;
        ui.list = &list;
        ui.theme = shell.theme;
        ui.fonts = &shell.fonts;
        ui.state = &shell.state;
        drawn.pages = draw_notes(ui, notes, {0, 0, w, h}, turned);
        for (const UiState::Written& text : written) {
            drawn.lowest = std::max(drawn.lowest, text.ink.bottom());
            drawn.largest = std::max(drawn.largest, text.size);
        }
        return drawn;
    };
    std::string notes = "\nA05 step 2 of 8: Latency is hidden\n";
    const auto [short_end, large, one] = draw(notes + "Ask who expected less.\nNext: Few warps\n");
    CHECK(one == 1);
    CHECK(short_end < 200);
    CHECK(large >= 18);
    for (int i = 0; i < 14; ++i) notes += "Ask who expected fewer warps to do, and why: most count the latency twice.\n";
    const auto [long_end, small, still_one] = draw(notes + "Next: Few warps\n");
    CHECK(long_end <= 400);
    CHECK(small < large);
    CHECK(still_one == 1);
    // In a window as low as a strip they stand on pages, with all words and none of them cut.
    std::string found;
    int pages = 1;
    for (int page = 0; page < pages; ++page) {
        turned = page;
        pages = draw(notes + "Next: Few warps\n", 500, 120).pages;
        REQUIRE(pages > 1);
        REQUIRE(turned == page);
        for (const UiState::Written& text : written) {
            INFO(text.text << " on page " << page);
            CHECK(text.ink.bottom() <= 120);
            CHECK(text.ink.right() <= 500);
            CHECK_FALSE(text.shortened);
            if (text.text.find("Page Down") == std::string::npos) found += text.text + " ";
        }
    }
    turned = pages + 3;  // no such page
    draw(notes + "Next: Few warps\n", 500, 120);
    CHECK(turned == pages - 1);
    std::string asked = notes + "Next: Few warps\n";
    const auto words_of = [](std::string text) {
        std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
        return text;
    };
    CHECK(words_of(found) == words_of(asked));
}

}  // namespace gui_damage_test
