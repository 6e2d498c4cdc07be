// Pictures by the processor alone: what a rasteriser has to hold, and the same picture as OpenGL's.
#include "app/gui/raster/raster.h"

#include <imgui.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "app/gui/still.h"
#include "app/gui/window/canvas.h"
#include "core/base/diagnostic.h"
#include "tests/gui/sm_desk.h"

namespace gui_raster_test {

using namespace lockstep::gui;
using namespace lockstep::gui::test;
using lockstep::Failure;

namespace {

constexpr Color black = 0xFF000000, red = 0xFF0000FF, white = 0xFFFFFFFF;

// What a draw list makes of a picture of 16 x 16 pixels, black before.
struct Small {
    Raster raster{16, 16};
    ImGuiContext* const context = ImGui::CreateContext();
    ImDrawList list{ImGui::GetDrawListSharedData()};
    Small() {
        list._ResetForNewFrame();
        list.PushClipRect({0, 0}, {16, 16});
        raster.clear(black);
    }
    ~Small() { ImGui::DestroyContext(context); }
    void draw(int threads = 1) {
        ImDrawList* lists[] = {&list};
        ImDrawData data;
        data.Valid = true;
        data.CmdListsCount = 1;
        data.CmdLists = lists;
        data.DisplaySize = {16, 16};
        raster.draw(
            data, [](uint64_t) { return nullptr; }, threads);
    }
    Color at(int x, int y) const { return raster.pixels()[static_cast<size_t>(y * 16 + x)]; }
    int count(Color color) const {
        return static_cast<int>(std::count(raster.pixels().begin(), raster.pixels().end(), color));
    }
    void triangle(ImVec2 a, ImVec2 b, ImVec2 c, Color color) {
        list.PrimReserve(3, 3);
        for (const ImVec2 p : {a, b, c}) list.PrimVtx(p, {0, 0}, color);
    }
};

struct Difference {
    double mean = 0;  // of a channel, 0..255
    int most = 0;
    double share = 0;  // of pixels that differ by more than 8
};
Difference difference(const std::vector<Color>& a, const std::vector<Color>& b) {
    REQUIRE(a.size() == b.size());
    Difference found;
    size_t far = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        int worst = 0;
        for (int shift = 0; shift < 24; shift += 8) {
            const int one = std::abs(static_cast<int>(a[i] >> shift & 0xFF) - static_cast<int>(b[i] >> shift & 0xFF));
            found.mean += one;
            worst = std::max(worst, one);
        }
        found.most = std::max(found.most, worst);
        far += worst > 8 ? 1 : 0;
    }
    found.mean /= 3.0 * static_cast<double>(a.size());
    found.share = static_cast<double>(far) / static_cast<double>(a.size());
    return found;
}

std::vector<Color> picture(Drawing how, Workspace workspace, const char* view, const char* theme) {
    SmDesk desk(workspace);
    desk.shell.theme = &theme_named(theme);
    if (*view) desk.shell.show_alone(view);
    std::vector<Color> pixels;
    Canvas canvas(desk.shell, 1160, 760, how);
    REQUIRE(canvas.by_opengl() == (how == Drawing::opengl));
    for (int i = 0; i < 4; ++i) canvas.frame({}, 1 + i);
    canvas.read(pixels);
    return pixels;
}

}  // namespace

TEST_CASE("a rectangle covers the pixels whose middles lie in it, of an edge the left and the upper one") {
    Small small;
    small.list.PrimReserve(6, 4);
    small.list.PrimRect({2.5f, 3}, {6.5f, 5.4f}, red);
    small.draw();
    CHECK(small.at(1, 3) == black);
    CHECK(small.at(2, 3) == red);  // its middle is on the left edge
    CHECK(small.at(5, 4) == red);
    CHECK(small.at(6, 4) == black);  // its middle is on the right edge
    CHECK(small.at(5, 5) == black);
    CHECK(small.count(red) == 4 * 2);
}

TEST_CASE("two triangles that share an edge cover each pixel once") {
    Small small;
    const Color half = 0x80FFFFFF;
    for (const ImVec2 middle : {ImVec2{7.3f, 6.1f}, ImVec2{4.5f, 8.5f}}) {
        small.raster.clear(black);
        small.list._ResetForNewFrame();
        small.list.PushClipRect({0, 0}, {16, 16});
        const ImVec2 corners[] = {{0, 0}, {16, 0}, {16, 16}, {0, 16}};
        for (int k = 0; k < 4; ++k) small.triangle(corners[k], corners[(k + 1) % 4], middle, half);
        small.draw();
        CHECK(small.count(0xFF808080) == 256);
    }
}

TEST_CASE("colours are blended by their opacity and clipped to whole pixels") {
    Small small;
    small.list.PushClipRect({4, 4}, {8, 8}, true);
    small.list.PrimReserve(6, 4);
    small.list.PrimRect({0, 0}, {16, 16}, 0x40FFFFFF);
    small.draw();
    CHECK(small.count(0xFF404040) == 16);
    CHECK(small.count(black) == 240);
}

TEST_CASE("threads that share the rows draw the same picture") {
    Small one;
    Raster tall(200, 200), also(200, 200);
    for (Raster* raster : {&tall, &also}) {
        raster->clear(black);
        one.list._ResetForNewFrame();
        one.list.PushClipRect({0, 0}, {200, 200});
        for (int k = 0; k < 40; ++k)
            one.triangle({static_cast<float>(k), 3}, {190, static_cast<float>(5 * k)}, {20, 180},
                         0x20FFFFFFu + static_cast<Color>(k));
        ImDrawList* lists[] = {&one.list};
        ImDrawData data;
        data.Valid = true;
        data.CmdListsCount = 1;
        data.CmdLists = lists;
        data.DisplaySize = {200, 200};
        raster->draw(
            data, [](uint64_t) { return nullptr; }, raster == &tall ? 1 : 3);
    }
    CHECK(tall.pixels() == also.pixels());
}

TEST_CASE("the processor's picture is OpenGL's within the rounding of a rasteriser") {
    struct Row {
        Workspace workspace;
        const char *view, *theme;
    };
    for (const Row& row : {Row{Workspace::sm, "warps", "dark"}, Row{Workspace::sm, "", "light"},
                           Row{Workspace::memory, "", "dark"}, Row{Workspace::machine, "", "high-contrast"}}) {
        std::vector<Color> gl;
        try {
            gl = picture(Drawing::opengl, row.workspace, row.view, row.theme);
        } catch (const Failure& failure) {
            WARN("not run: " << failure.diagnostic.message);
            return;
        }
        const std::vector<Color> cpu = picture(Drawing::cpu, row.workspace, row.view, row.theme);
        const Difference found = difference(gl, cpu);
        CAPTURE(row.view, row.theme, found.mean, found.most, found.share);
        CHECK(found.mean < 0.1);
        CHECK(found.share < 1e-4);  // an edge through the middle of a pixel may fall to either side
    }
}

TEST_CASE("a renderer that there is not is refused") {
    CHECK_THROWS_AS(drawing_named("vulkan"), Failure);
    CHECK(drawing_named("cpu") == Drawing::cpu);
}

TEST_CASE("every still of a kernel is drawn and said, in both schemes") {
    const auto run = small_run({});
    for (const auto& [name, title] : stills()) {
        CAPTURE(name);
        StillOptions options;
        options.view = name;
        options.width = 640;
        options.height = 480;
        for (const char* theme : {"dark", "light"}) {
            options.theme = theme;
            const std::string png = png_of(run, nullptr, options);
            CHECK(png.substr(1, 3) == "PNG");
            CHECK(png.size() > 2000);
        }
        CHECK(words_of(run, nullptr, options).size() > 20);
        CHECK(!title.empty());
    }
    StillOptions wrong;
    wrong.view = "warpz";
    CHECK_THROWS_AS(png_of(run, nullptr, wrong), Failure);
}

}  // namespace gui_raster_test
