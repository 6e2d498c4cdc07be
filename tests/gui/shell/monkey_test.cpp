// Somebody who presses anything: random keys, clicks, drags, wheel turns, typing and windows of any size in every workspace,
// with the engine at work behind them: lessons are opened, kernels and launches run while others run. Nothing may crash,
// hang or write outside of its own folder. LOCKSTEP_RANDOM_INPUTS=10000 asks for more, LOCKSTEP_RANDOM_SEED=7 for others.
#include <cstdlib>
#include <filesystem>
#include <random>

#include "core/base/files.h"
#include "tests/gui/desk.h"

namespace gui_monkey_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {

constexpr KeyCode named_keys[] = {KeyCode::left,  KeyCode::right,   KeyCode::up,        KeyCode::down,      KeyCode::home,
                                  KeyCode::end,   KeyCode::page_up, KeyCode::enter,     KeyCode::page_down, KeyCode::escape,
                                  KeyCode::tab,   KeyCode::f1,      KeyCode::backspace, KeyCode::f5,        KeyCode::delete_,
                                  KeyCode::space, KeyCode::f7,      KeyCode::f8,        KeyCode::plus,      KeyCode::minus,
                                  KeyCode::f6,    KeyCode::f11};

struct Monkey {
    Desk& desk;
    std::mt19937 random;

    int below(int limit) { return static_cast<int>(random() % static_cast<uint32_t>(limit)); }
    void point() {
        desk.input.mouse_x = static_cast<float>(below(static_cast<int>(desk.width)));
        desk.input.mouse_y = static_cast<float>(below(static_cast<int>(desk.height)));
    }
    void press_key() {
        const int what = below(100);
        KeyPress key{named_keys[below(static_cast<int>(std::size(named_keys)))], below(5) == 0, false};
        if (what < 30) key.code = static_cast<KeyCode>('A' + below(26));
        if (what >= 30 && what < 40) key.code = static_cast<KeyCode>('0' + below(10));
        if (what >= 40 && what < 48) {  // with Ctrl, but for O and S, which reach for files
            key = {static_cast<KeyCode>("KRPZF+-0"[below(8)]), below(4) == 0, true};
        }
        if (what >= 48 && what < 60)
            key = {KeyCode::none, false, false, static_cast<char32_t>(below(8) == 0 ? 200 + below(20000) : 32 + below(95))};
        desk.input.keys.push_back(key);
    }
    void resize() {
        static constexpr float sizes[][2] = {{1600, 1000}, {1280, 720}, {640, 400}, {2560, 1440}, {900, 500}, {640, 1200}};
        const auto& [w, h] = sizes[below(static_cast<int>(std::size(sizes)))];
        desk.size(w, h, below(3) == 0 ? 2.5f : 1.0f);
    }
    void ask() {  // of the engine, whatever it does at the moment
        static constexpr const char* lessons[] = {"A01", "A06", "A08", "A12", "A14", "B02", "B09", "C02", "C06", "AX"};
        Session& session = desk.session;
        switch (below(8)) {
            case 0:
                return session.post(ask::OpenLesson{lessons[below(static_cast<int>(std::size(lessons)))], below(5)});
            case 1:
            case 2:
                return session.post(ask::OpenKernel{below(20) - 1});
            case 3:
                return session.post(ask::OpenLaunch{below(6) - 1});
            case 4:
                return session.post(ask::TraceSm{below(90), below(3000) - 1});
            case 5:
                return session.post(ask::Cancel{});
            case 6:
                return session.post(ask::SetGpu{below(2) == 0 ? "teaching:4" : "a100"});
            default:
                session.workspace = static_cast<Workspace>(below(static_cast<int>(std::size(workspaces))));
        }
    }
    void act() {
        switch (below(11)) {
            case 0:
            case 1:
            case 2:
            case 3:
                press_key();
                break;
            case 4:
                point();
                desk.input.wheel = static_cast<float>(below(7) - 3);
                break;
            case 5:  // drags over some frames
                point();
                desk.input.clicked = desk.input.down = true;
                desk.frame();
                for (int i = below(4); i >= 0; --i) {
                    if (below(5) == 0) resize();
                    if (below(12) == 0) ask();
                    point();
                    desk.frame();
                }
                desk.input.down = false;
                desk.input.released = true;
                break;
            case 6:
                point();
                break;
            case 7:
                below(3) == 0 ? resize() : below(2) == 0 ? ask() : point();
                break;
            default:
                point();
                desk.input.clicked = true;
                desk.input.double_clicked = below(6) == 0;
                desk.input.shift = below(6) == 0;
                desk.frame();
                desk.input.released = true;
        }
        desk.frame();
    }
};

}  // namespace

TEST_CASE("random keys, clicks, drags and typing in every workspace do no harm") {
    const TemporaryFolder folder;
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    const char* const asked = std::getenv("LOCKSTEP_RANDOM_INPUTS");
    const int inputs = asked != nullptr ? std::atoi(asked) : 700;
    {
        Desk desk({.training_steps = 2});
        const char* const seed = std::getenv("LOCKSTEP_RANDOM_SEED");
        Monkey monkey{desk, std::mt19937(seed != nullptr ? static_cast<uint32_t>(std::atoi(seed)) : 20261127)};
        for (int i = 0; i < inputs; ++i) {
            if (i % 70 == 0) {
                desk.session.workspace = static_cast<Workspace>(i / 70 % static_cast<int>(std::size(workspaces)));
                desk.size(i % 140 == 0 ? 1600.0f : 1280.0f, i % 140 == 0 ? 1000.0f : 720.0f, i % 420 == 0 ? 2.0f : 1.0f);
            }
            monkey.act();
        }
        desk.shell.presenter.on = false;
        desk.key(KeyCode::escape);
        CHECK(desk.quads > 20);
        desk.session.post(ask::Pause{});
        desk.session.post(ask::Cancel{});
    }
    std::filesystem::current_path(before);
}

}  // namespace gui_monkey_test
