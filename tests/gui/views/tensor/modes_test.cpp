// A step in several modes: calls and kernels add up to the engine's own figures, the modes stand eager first, and the
// picture reads at any size and tells nothing while a question is open.
#include <tuple>

#include "app/gui/views/training/mode_times.h"
#include "core/scene/figures/figures.h"
#include "core/scene/tape/tape_program.h"
#include "tests/gui/desk.h"

namespace gui_modes_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

TEST_CASE("calls, kernels, bytes and the whole step of a mode are the engine's figures") {
    for (const char* mode : {"eager", "graph", "fused"}) {
        INFO(mode);
        const auto text =
            scene::parse_tape(fmt::format("mode {}\nsteps 3\ninput x[32,32] = random\ninput y[32,32] = random\n"
                                          "z = matmul_t(x, y)\ns = relu(z) * 2\n",
                                          mode),
                              "step.tape");
        REQUIRE(text.ok());
        const auto run = scene::run_tape(text.value(), {.device = "sim:v100"});
        REQUIRE(run.ok());
        const ModeTimes times = mode_times(*run.value());
        const scene::SceneResult result{run.value()};
        const auto figure = [&](const char* name) {
            const auto value = scene::figure_of(result, std::string(name));
            REQUIRE(value.ok());
            return value.value();
        };
        CHECK(times.mode == mode);
        CHECK(times.launches() == figure("launches"));
        CHECK(times.calls_us == Approx(figure("dispatch_us")));
        CHECK(times.kernels_us == Approx(figure("kernel_us")));
        CHECK(times.step_us == Approx(figure("step_us")));
        CHECK(times.bytes == figure("bytes_moved"));
        CHECK(times.replayed == (std::string_view(mode) != "eager"));
        for (const ModeSpan& kernel : times.kernels) {
            CHECK(kernel.begin >= 0);
            CHECK(kernel.end <= times.step_us + 1e-9);
        }
    }
}

TEST_CASE("the lesson's three modes stand on one axis, eager first, with one loss; a kernel can be picked") {
    Desk desk({.lesson = "B11", .lesson_step = 9});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    const std::vector<ModeTimes> modes = modes_shown(*desk.session.snapshot());
    REQUIRE(modes.size() == 3);
    CHECK(modes[0].mode == "eager");
    CHECK(modes[1].mode == "graph");
    CHECK(modes[2].mode == "fused");
    CHECK(modes[0].loss == modes[1].loss);
    CHECK(modes[0].loss == modes[2].loss);
    CHECK(modes[1].calls_us < modes[0].calls_us);
    CHECK(modes[2].launches() < modes[1].launches());
    CHECK(modes_title(modes) == "One step in several modes");
    CHECK(desk.shows("All 3 losses agree to the last bit"));
    CHECK(desk.shell.describe("modes").find("eager: " + std::to_string(modes[0].launches()) + " launches") !=
          std::string::npos);
    for (const auto& [w, h, scale] :
         {std::tuple{1600.0f, 1000.0f, 1.0f}, {1280.0f, 720.0f, 1.0f}, {1600.0f, 1000.0f, 2.0f}}) {
        desk.size(w, h, scale);
        desk.frames(3);
        INFO(w << " x " << h << " at " << scale);
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
    desk.size(1600, 1000, 1);
    desk.shell.show_alone("modes");
    desk.frames(3);
    CHECK(desk.quads < 8000);
    desk.key(KeyCode::down);
    CHECK(desk.shows("graph, kernel 1 of "));
    desk.key(KeyCode::d);
    CHECK(desk.shows("graph, kernel 2 of "));
    desk.session.learn.reveal_steps = 0;
    const std::string hidden = view_named("modes")->make()->describe(desk.session, desk.shell.focus);
    CHECK(hidden.find("hidden until you lock") != std::string::npos);
    CHECK(hidden.find("launches") == std::string::npos);
}

TEST_CASE("in half a panel of a small window the modes' lanes stand without scrolling") {
    Desk desk({.lesson = "B11", .lesson_step = 9});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(view_named("modes")->least <= 300);
    desk.shell.show_alone("modes");
    for (const float height : {420.0f, 700.0f}) {
        desk.size(900, height, 1);
        desk.frames(4);
        INFO(height);
        for (const char* mode : {"eager", "graph", "fused"}) CHECK(desk.shows(mode));
        CHECK(desk.shows("bytes moved") == (height > 600));
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("two programs in one mode go by their names, each with its own time, and losses agree but for rounding") {
    const auto run_of = [](const char* file, const char* product) {
        const auto text = scene::parse_tape(
            fmt::format("param A[16,32] = normal 0.4\nparam B[16,32] = normal 0.4\ninput x[8,32] = random\n"
                        "input t[8,32] = random\n{}\nloss = mse(y, t)\nbackward loss\n",
                        product),
            file);
        REQUIRE(text.ok());
        const auto run = scene::run_tape(text.value(), {.device = "sim:v100"});
        REQUIRE(run.ok());
        return run.value();
    };
    Snapshot snapshot;
    snapshot.tape = run_of("lessons/C05/mlp_whole.tape", "y = linear(x, cat(A, B, 0))");
    snapshot.beside.push_back(run_of("lessons/C05/mlp_split.tape", "y = cat(linear(x, A), linear(x, B), 1)"));
    const std::vector<ModeTimes> modes = modes_shown(snapshot);
    REQUIRE(modes.size() == 2);
    CHECK(modes[0].mode == "mlp whole");
    CHECK(modes[1].mode == "mlp split");
    const std::string headline = modes_headline(modes);
    for (const ModeTimes& mode : modes)
        CHECK(headline.find(time_text(mode.step_us, {.significant = mode.step_us >= 100 ? 4 : 3})) != std::string::npos);
    CHECK(modes_caption(modes).find("differ") == std::string::npos);
    CHECK(modes_caption(modes).find("same program") == std::string::npos);
    CHECK(modes_title(modes) == "Two programs, one step of each");
    CHECK(std::string_view(view_named("modes")->title).find("modes") == std::string_view::npos);  // its tab is of either
    snapshot.beside.clear();
    CHECK(modes_title(modes_shown(snapshot)) == "One step: calls and kernels");
}

}  // namespace gui_modes_test
