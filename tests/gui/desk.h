// The whole interface without a window: a session, a shell, and frames with clicks, drags, wheel and keys put in by hand.
// Everything that is written in a frame is noted, so that tests can look for text that lies on other text or is cut.
#pragma once
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/gui/shell/shell.h"
#include "tests/catch.h"

namespace lockstep::gui::test {

struct Desk {
    Session session;
    Shell shell;
    Input input;  // of the next frame, which takes its clicks and keys
    float width = 1600, height = 1000;
    double now = 0, pace = 0.1;  // seconds a frame
    int quads = 0;
    std::vector<UiState::Written> written;

    explicit Desk(SessionOptions options = {.start = false}, const char* theme = "dark", float text_scale = 1)
        : session(std::move(options)), shell(context(), theme_named(theme), text_scale) {
        shell.state.written = &written;
    }
    ~Desk() { ImGui::DestroyContext(); }
    Desk(const Desk&) = delete;
    Desk& operator=(const Desk&) = delete;

    void size(float w, float h, float text_scale) {
        width = w;
        height = h;
        shell.text_scale = text_scale;
    }
    void frame() {
        shell.prepare(1);
        ImGui::GetIO().DisplaySize = {width, height};
        ImGui::GetIO().DeltaTime = 1.0f / 60;
        ImGui::NewFrame();
        shell.frame(input, width, height, now += pace);
        ImGui::Render();
        quads = ImGui::GetDrawData()->TotalIdxCount / 6;
        input.keys.clear();
        input.clicked = input.double_clicked = input.released = false;
        input.wheel = 0;
    }
    void frame(const Input& once) {
        input = once;
        frame();
        input = {};
    }
    void frames(int count) {
        for (int i = 0; i < count; ++i) frame();
    }
    void settle() {  // until the worker has done what every frame asked of it
        for (int i = 0; i < 8; ++i) {
            frame();
            REQUIRE(session.wait_until_idle(60));
        }
    }
    void show(std::shared_ptr<const Snapshot> snapshot) {
        session.publish_for_test(std::move(snapshot));
        frames(3);
    }
    void key(KeyCode code, bool shift = false, bool control = false) {
        input.keys.push_back({code, shift, control});
        frames(2);
    }
    void drag(float x, float y, float to_x, float to_y) {
        input.mouse_x = x;
        input.mouse_y = y;
        input.clicked = input.down = true;
        frame();
        if (x != to_x || y != to_y) {
            for (const float share : {0.5f, 1.0f}) {
                input.mouse_x = x + (to_x - x) * share;
                input.mouse_y = y + (to_y - y) * share;
                frame();
            }
        }
        input.down = false;
        input.released = true;
        frames(2);
    }
    void click(float x, float y) { drag(x, y, x, y); }
    // Clicks on the middle of what says `words`; false: nothing on screen does.
    bool click_on(const std::string& words) {
        for (const UiState::Written& text : written)
            if (text.text == words) return click(text.ink.x + text.ink.w / 2, text.ink.y + text.ink.h / 2), true;
        return false;
    }
    bool shows(const std::string& words) const {
        return std::any_of(written.begin(), written.end(),
                           [&](const UiState::Written& text) { return text.text.find(words) != std::string::npos; });
    }
    // All that is written, a space between two texts: a paragraph is written word by word.
    std::string said() const {
        std::string all;
        for (const UiState::Written& text : written) all += text.text + " ";
        return all;
    }

    // What is wrong with the text of the last frame, one line each: two texts on each other, cut at the side, half hidden.
    std::vector<std::string> clashes() const {
        std::vector<std::string> found;
        const auto seen = [](const UiState::Written& text) {
            const float x = std::max(text.ink.x, text.clip.x), y = std::max(text.ink.y, text.clip.y);
            return Rect{x, y, std::min(text.ink.right(), text.clip.right()) - x,
                        std::min(text.ink.bottom(), text.clip.bottom()) - y};
        };
        for (size_t i = 0; i < written.size(); ++i) {
            const UiState::Written& one = written[i];
            const Rect a = seen(one);
            if (one.ink.x < a.x - 1.5f || one.ink.right() > a.right() + 1.5f)
                found.push_back(fmt::format("'{}' is cut at x {:.0f}, y {:.0f}", one.text, a.x, a.y));
            if (one.painted_over) found.push_back(fmt::format("'{}' is half hidden at {:.0f}, {:.0f}", one.text, a.x, a.y));
            for (size_t j = i + 1; j < written.size(); ++j) {
                const Rect b = seen(written[j]);
                const float x = std::min(a.right(), b.right()) - std::max(a.x, b.x),
                            y = std::min(a.bottom(), b.bottom()) - std::max(a.y, b.y);
                if (x > 1.5f && y > 1.5f)
                    found.push_back(fmt::format("'{}' lies on '{}' at {:.0f}, {:.0f}", written[j].text, one.text, b.x, b.y));
            }
        }
        return found;
    }

  private:
    Session& context() {
        ImGui::CreateContext();
        ImGui::GetIO().IniFilename = nullptr;
        return session;
    }
};

}  // namespace lockstep::gui::test
