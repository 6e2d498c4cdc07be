// What is remembered from start to start: read, written, said where it is wrong, merged where two windows changed it.
#include "app/gui/desk/remembered.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/files.h"
#include "tests/gui/desk.h"

namespace gui_remembered_test {
using namespace lockstep;
using namespace lockstep::gui;
using test::Desk;
namespace fs = std::filesystem;

Remembered everything() {
    Remembered kept;
    kept.theme = "light";
    kept.text_size = 1.25;
    kept.motion = "reduced";
    kept.gpu = "teaching:4";
    kept.workspace = "memory";
    kept.width = 1280;
    kept.height = 720;
    kept.whole_screen = true;
    kept.panels = {{"row warps+code", {0.25, 0.75}}, {"column a+b+c", {0.5, 0.3, 0.2}}};
    kept.lesson = "A05";
    kept.lesson_step = 3;
    kept.kernel = "walk  (kernel 1 of 1)";
    kept.cycles = 12345;
    kept.cycle = 678;
    kept.speed = 100;
    kept.line_heat = false;
    kept.line_values = false;
    return kept;
}

TEST_CASE("everything that is remembered comes back as it was") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "state" / "remembered.json";
    {
        RememberedKeeper keeper(file, {});
        CHECK(keeper.note(everything(), 1));  // soon
        CHECK(keeper.note(everything(), 1.2));
        CHECK_FALSE(keeper.note(everything(), 2));  // it is written
    }
    const RememberedRead read = read_remembered(file);
    CHECK(read.problem.empty());
    CHECK(read.kept == everything());
    CHECK(read_remembered(folder.path() / "nothing.json").kept == Remembered());
    CHECK(read_remembered({}).kept == Remembered());
}

TEST_CASE("what is left when the window closes is written then") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "remembered.json";
    { RememberedKeeper(file, {}).note(everything(), 0); }
    CHECK(read_remembered(file).kept == everything());
}

TEST_CASE("a file that is none of ours is said and set aside, and of a value that cannot be the rest is taken") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "remembered.json";
    const auto read = [&](const std::string& text) {
        std::ofstream(file, std::ios::trunc) << text;
        return read_remembered(file);
    };
    const RememberedRead none = read("{ half");
    CHECK(none.kept == Remembered());
    CHECK(
        none.problem ==
        "'remembered.json' is no JSON object and was set aside as 'remembered.json.unreadable'; nothing of the last time is "
        "taken from it");
    CHECK(read_file(folder.path() / "remembered.json.unreadable").value() == "{ half");
    const RememberedRead part = read(R"({"theme":"blue","text_size":9,"workspace":"memory","gpu":"v9000",
        "panels":{"row a+b":[0.5,0.5],"row c+d":[1,-1]},"window":{"width":1,"height":800},"speed":"fast"})");
    CHECK(part.kept.workspace == "memory");
    CHECK(part.kept.theme.empty());
    CHECK(part.kept.panels.size() == 1);
    CHECK(part.kept.height == 800);
    for (const char* const name : {"theme", "text_size", "gpu", "panels: row c+d", "width", "speed"}) {
        INFO(name);
        CHECK(part.problem.find(name) != std::string::npos);
    }
    CHECK(part.problem.ends_with("; the rest of it is taken"));
    CHECK(read("[1,2]").kept == Remembered());
    CHECK(read(std::string(3 << 20, ' ')).kept == Remembered());
}

TEST_CASE("two windows keep each what it changed") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "remembered.json";
    { RememberedKeeper(file, {}).note(everything(), 0); }
    {
        RememberedKeeper one(file, everything()), other(file, everything());
        Remembered dark = everything(), larger = everything();
        dark.theme = "dark";
        dark.panels["row warps+code"] = {0.4, 0.6};
        larger.text_size = 1.5;
        larger.panels.erase("column a+b+c");
        one.note(dark, 0);
        other.note(larger, 0);
    }
    const Remembered kept = read_remembered(file).kept;
    CHECK(kept.theme == "dark");
    CHECK(kept.text_size == 1.5);
    CHECK(kept.panels == std::map<std::string, std::vector<double>>{{"row warps+code", {0.4, 0.6}}});
}

TEST_CASE("that it cannot be written is said, once") {
    RememberedKeeper keeper("/dev/null/remembered.json", {});
    keeper.note(everything(), 0);
    keeper.note(everything(), 5);
    std::string said;
    for (int i = 0; i < 200 && said.empty(); ++i) {
        said = keeper.problem();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(said.starts_with("what you chose cannot be kept: "));
    CHECK(keeper.problem().empty());
}

TEST_CASE("the shell says what it stands at and takes it over again") {
    Remembered kept;
    {
        Desk desk;
        desk.frames(2);
        desk.key(static_cast<KeyCode>('T'));  // the next theme
        desk.key(KeyCode::plus, false, true);
        desk.shell.panel_shares["row warps+code"] = {0.3, 0.7};
        desk.session.machine.speed = 1000;
        desk.session.workspace = Workspace::kernel;
        desk.key(static_cast<KeyCode>('H'));
        desk.session.workspace = Workspace::memory;
        desk.shell.motion = "reduced";
        desk.frames(2);
        kept = desk.shell.remembered();
        CHECK(desk.shell.state.calm);
    }
    CHECK(kept.theme == "light");
    CHECK(kept.text_size == Approx(1.1));
    CHECK(kept.workspace == "memory");
    Desk next;
    next.shell.recall(kept, true);
    next.frames(2);
    CHECK(next.session.machine.speed == 1000);
    CHECK_FALSE(next.session.desk.shows_heat);
    CHECK(next.session.desk.shows_values);
    CHECK(next.shell.panel_shares == kept.panels);
    CHECK(next.shell.state.calm);
    next.shell.motion = "full";
    next.shell.desktop_is_calm = true;  // her own wish goes before the desktop's
    next.frame();
    CHECK_FALSE(next.shell.state.calm);
}

}  // namespace gui_remembered_test
