// How long until the first picture, and frames a second of every workspace, drawn off screen at 1600 x 1000.
#include "app/gui/bench.h"

#include <imgui.h>

#include <chrono>

#include "app/gui/renderer.h"

namespace lockstep::gui {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

bool starts(std::string_view row, std::string_view wanted) {
    return row.substr(0, wanted.size()) == wanted || wanted.substr(0, row.size()) == row;
}

}  // namespace

std::vector<AppRate> bench_app(std::string_view name) {
    std::vector<AppRate> rates;
    if (!starts("app/", name)) return rates;
    constexpr int width = 1600, height = 1000;
    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    {
        const auto begin = Clock::now();
        Session session({.training_steps = 12});
        Shell shell(session, theme_named("dark"), 1);
        session.workspace = "training";
        Offscreen screen(width, height);
        Renderer renderer(shell);
        renderer.frame({}, width, height, 1, 0.1);
        screen.finish();
        const double frame = seconds_since(begin);
        while (!session.snapshot()->step && !session.snapshot()->problem && seconds_since(begin) < 30)
            renderer.frame({}, width, height, 1, 0.2), screen.finish();
        if (starts("app/first_frame", name))
            rates.push_back({"app/first_frame", 1e3 * frame, "ms", "1600x1000, start to the drawn interface"});
        if (starts("app/first_picture", name))
            rates.push_back({"app/first_picture", 1e3 * seconds_since(begin), "ms",
                             "1600x1000, start to the first training step drawn"});
        session.wait_until_idle(120);
        for (const char* workspace : {"training", "sm", "warps"}) {
            const std::string row = "app/frames/" + std::string(workspace);
            if (!starts(row, name)) continue;
            if (std::string_view(workspace) == "warps")
                shell.show_alone("warps");
            else
                session.workspace = workspace;
            for (int i = 0; i < 4; ++i) renderer.frame({}, width, height, 1, 1 + i), session.wait_until_idle(20);
            screen.finish();
            int frames = 0;
            const auto from = Clock::now();
            while (frames < 10 || seconds_since(from) < 1) {
                shell.focus.time += 1;  // the cursor moves, as while playing
                renderer.frame({}, width, height, 1, 10 + 0.02 * frames++);
                screen.finish();
            }
            const int quads = ImGui::GetDrawData() != nullptr ? ImGui::GetDrawData()->TotalVtxCount / 4 : 0;
            rates.push_back(
                {row, frames / seconds_since(from), "frames/s", "1600x1000, " + std::to_string(quads) + " quads"});
        }
    }
    ImGui::DestroyContext();
    return rates;
}

}  // namespace lockstep::gui
