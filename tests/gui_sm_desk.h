// The whole interface without a window, showing a kernel run made by hand: clicks, wheel and keys by filling in `input`.
#pragma once
#include <imgui.h>

#include "app/gui/shell.h"
#include "tests/gui_sm_scene.h"

namespace lockstep::gui::test {

struct Desk {
    Session session;
    Shell shell;
    double now = 0;
    int quads = 0;
    Input input;
    float width = 1600, height = 1000;

    explicit Desk(const char* workspace, const SceneOptions& options = {})
        : session({.start = false}), shell(context(session), theme_named("dark"), 1) {
        session.workspace = workspace;
        session.grain = Grain::cycle;
        auto snapshot = std::make_shared<Snapshot>();
        snapshot->kernel = small_run(options);
        auto history = std::make_shared<simt::WarpHistory>(*even_odd_history());
        snapshot->history = history;
        session.publish_for_test(snapshot);
        for (int i = 0; i < 4; ++i) frame();
    }
    ~Desk() { ImGui::DestroyContext(); }
    static Session& context(Session& session) {
        ImGui::CreateContext();
        ImGui::GetIO().IniFilename = nullptr;
        return session;
    }
    void frame() {
        shell.prepare(1);
        ImGui::GetIO().DisplaySize = {width, height};
        ImGui::GetIO().DeltaTime = 1.0f / 60;
        ImGui::NewFrame();
        shell.frame(input, width, height, now += 0.1);
        ImGui::Render();
        quads = ImGui::GetDrawData()->TotalIdxCount / 6;
        input.keys.clear();
        input.clicked = input.released = false;
        input.wheel = 0;
    }
    void size(float w, float h, float text_scale) {
        width = w;
        height = h;
        shell.text_scale = text_scale;
    }
    void click(float x, float y) {
        input.mouse_x = x;
        input.mouse_y = y;
        input.clicked = input.down = true;
        frame();
        input.down = false;
        input.released = true;
        frame();
        frame();
    }
    const KernelTrace& trace() const { return session.snapshot()->kernel->result.trace; }
};

}  // namespace lockstep::gui::test
