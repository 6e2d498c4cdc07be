// A panel as a picture: a key asks for it, and the file holds the panel and nothing beside it.
#include "app/gui/window/panel_picture.h"

#include <imgui.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/gui/window/contact_sheet.h"
#include "core/base/files.h"
#include "tests/catch.h"

namespace gui_panel_picture_test {

using namespace lockstep;
using namespace lockstep::gui;

namespace {

struct ImGuiForPictures {
    ImGuiForPictures() { ImGui::CreateContext(), ImGui::GetIO().IniFilename = nullptr; }
    ~ImGuiForPictures() { ImGui::DestroyContext(); }
    ImGuiForPictures(const ImGuiForPictures&) = delete;
    ImGuiForPictures& operator=(const ImGuiForPictures&) = delete;
};

std::string bytes_of_file(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

int number_at(const std::string& png, size_t at) {  // of a PNG's head, big-endian
    int number = 0;
    for (size_t i = 0; i < 4; ++i) number = number * 256 + static_cast<unsigned char>(png[at + i]);
    return number;
}

}  // namespace

TEST_CASE("Ctrl P writes the panel that has the keyboard, as PNG or SVG, and never over a file") {
    const ImGuiForPictures imgui;
    Session session({.training_steps = 1});
    Shell shell(session, theme_named("dark"), 1);
    session.workspace = Workspace::sm;
    Offscreen screen(1280, 800);
    Renderer renderer(shell);
    double now = 0;
    const auto frame = [&](const Input& input) {
        renderer.frame(input, 1280, 800, 1, now += 0.1);
        session.wait_until_idle(60);
    };
    for (int i = 0; i < 4; ++i) frame({});
    const TemporaryFolder folder;
    const auto press = [&](bool shift) {
        Input input;
        input.keys.push_back({static_cast<KeyCode>('P'), shift, true});
        frame(input);
        take_panel_picture(shell, renderer, 1280, 800, 1, now, folder.path());
        return shell.panel_place();
    };
    take_panel_picture(shell, renderer, 1280, 800, 1, 1, folder.path());  // nobody asked
    REQUIRE(std::filesystem::is_empty(folder.path()));
    const Shell::PanelPlace place = press(false);
    REQUIRE(!place.name.empty());
    CHECK(place.width < 1280);
    const std::string png = bytes_of_file(folder.path() / (place.name + ".png"));
    REQUIRE(png.size() > 1000);
    CHECK(std::abs(number_at(png, 16) - static_cast<int>(place.width + 0.5f)) <= 1);
    CHECK(std::abs(number_at(png, 20) - static_cast<int>(place.height + 0.5f)) <= 1);
    press(false);
    CHECK(bytes_of_file(folder.path() / (place.name + ".png")) == png);
    CHECK(std::filesystem::exists(folder.path() / (place.name + "-2.png")));
    press(true);
    const std::string svg = bytes_of_file(folder.path() / (place.name + ".svg"));
    CHECK(svg.find("viewBox=\"" + std::to_string(static_cast<int>(place.x)) + " ") != std::string::npos);
    CHECK(svg.find("<text") != std::string::npos);
    take_panel_picture(shell, renderer, 1280, 800, 1, 9, folder.path() / "nowhere");
    shell.wants_picture = Shell::PictureKind::png;
    take_panel_picture(shell, renderer, 1280, 800, 1, 9, folder.path() / "nowhere");
    session.wait_until_idle(10);
    frame({});
    CHECK(!std::filesystem::exists(folder.path() / "nowhere"));
    REQUIRE(session.snapshot()->problem);
    CHECK(session.snapshot()->problem->message.find("cannot be saved") != std::string::npos);
}

TEST_CASE("a contact sheet has every picture in its place, each pixel the mean of those that it stands for") {
    ContactSheet sheet(2, 4);
    for (uint32_t i = 0; i < 3; ++i) {
        std::vector<Color> pixels(8 * 6);
        for (size_t p = 0; p < pixels.size(); ++p) pixels[p] = 0xFF000000 | (p % 2 == 0 ? 10 * i : 20 + 10 * i);
        sheet.add(pixels, 8, 6);
    }
    CHECK(sheet.count() == 3);
    CHECK(sheet.width() == 2 * (4 + 12) + 12);
    CHECK(sheet.height() == 2 * (3 + 12) + 12);
    const std::vector<Color> pixels = sheet.pixels();
    const auto at = [&](int x, int y) { return pixels[static_cast<size_t>(y * sheet.width() + x)]; };
    CHECK(at(12, 12) == (0xFF000000 | 10));
    CHECK(at(12 + 16 + 3, 12 + 2) == (0xFF000000 | 20));
    CHECK(at(12, 12 + 15) == (0xFF000000 | 30));
    CHECK(at(0, 0) == at(12 + 16, 12 + 15));  // the ground, where there is no fourth
}

TEST_CASE("a film is of the cycles in view, in the window's size and looks") {
    const ImGuiForPictures imgui;
    Session session({.training_steps = 1});
    Shell shell(session, theme_named("light"), 1.25f);
    session.workspace = Workspace::sm;
    REQUIRE(session.wait_until_idle(60));
    shell.describe("warps");
    REQUIRE(session.snapshot()->kernel.run);
    session.sm.cycles_begin = 400, session.sm.cycles_end = 700;
    std::string words;
    for (const std::string& word : film_command(shell, "r.lockstep", "r.gif", 1280, 800, 1)) words += word + " ";
    CHECK(words == "app --open r.lockstep --record r.gif --size 1280x800 --theme light --scale 1.25 --from 400 --to 700 ");
    session.workspace = Workspace::kernel;  // whose pages have a time picture too
    words.clear();
    for (const std::string& word : film_command(shell, "r.lockstep", "r.gif", 1280, 800, 1)) words += word + " ";
    CHECK(words.ends_with("--from 400 --to 700 "));
    session.workspace = Workspace::home;  // no stretch is in view
    CHECK(film_command(shell, "r.lockstep", "r.gif", 1280, 800, 1).size() == 11);
    FilmMaker films(shell);
    CHECK_FALSE(films.take(1280, 800, 1, "."));  // nobody asked
}

}  // namespace gui_panel_picture_test
