// A convolution's windows, patches and one matrix: what they sum up to is what the engine's layers and the lesson's kernels
// give, and the picture reads at any size and keeps an open answer to itself.
#include <algorithm>

#include "app/gui/views/tensor/window_data.h"
#include "tests/gui/lesson_desk.h"

namespace gui_convolution_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

TEST_CASE("a convolution's windows, patches and one matrix with zeros give what the engine's layers give") {
    for (const char* op : {"conv2d", "conv2d_im2col"}) {
        const auto step = step_of(std::string(R"(
input x[1,1,5,6] = random
param w[3,1,3,2] = normal 1
param b = {0.5, -1, 2}
y = )") + op + "(x, w, b)\n");
        const auto it = convolution_of(*step);
        REQUIRE(it);
        CHECK(it->form == (op == std::string("conv2d") ? Convolution::Form::windows : Convolution::Form::patches));
        REQUIRE(it->windows_high() == 3);
        REQUIRE(it->windows_wide() == 5);
        REQUIRE(it->ran);
        int64_t copies = 0;
        for (int64_t p = 0; p < it->pixels(); ++p) copies += it->copies(p);
        CHECK(copies == it->windows() * it->elements());
        CHECK(it->copies(0) == 1);
        CHECK(it->copies(2 * 6 + 2) == 6);  // well inside, each window that holds it
        CHECK(it->zeros() == it->windows() * (it->pixels() - it->elements()));
        for (int64_t f = 0; f < 3; ++f)
            for (int64_t w = 0; w < it->windows(); ++w) {
                INFO(op << ", filter " << f << ", window " << w);
                const double ran = it->made[static_cast<size_t>(f * it->windows() + w)];
                CHECK(it->sum(f, w) == Approx(ran).epsilon(1e-4).margin(1e-5));
                double spread = it->bias[static_cast<size_t>(f)];
                for (int64_t p = 0; p < it->pixels(); ++p)
                    spread +=
                        static_cast<double>(it->spread(f, w, p)) * static_cast<double>(it->picture[static_cast<size_t>(p)]);
                CHECK(spread == Approx(ran).epsilon(1e-4).margin(1e-5));
            }
    }
}

TEST_CASE("the lesson's kernels show the convolution that they make, and their numbers are those of the run") {
    const auto lesson = lessons::lesson_named("B05");
    REQUIRE(lesson.ok());
    size_t seen = 0;
    for (const lessons::Step& step : lesson.value().steps)
        for (const scene::Scene& scene : step.scenes) {
            if (scene.view != std::string("convolution")) continue;
            INFO(scene.id);
            std::vector<scene::KernelArgument> arguments;
            for (const std::string& text : scene.arguments) {
                auto argument = scene::parse_argument(text);
                REQUIRE(argument.ok());
                arguments.push_back(std::move(argument.value()));
            }
            const auto it = convolution_of(arguments, lesson.value().seed);
            REQUIRE(it);
            const auto ran = scene::run_scene(lesson.value(), scene, {});
            REQUIRE(ran.ok());
            const auto kernel = ran.value().as<scene::KernelResult>();
            REQUIRE(kernel->outputs.size() == 1);
            const auto* out = kernel->outputs.front().as<float>();
            ++seen;
            for (int64_t w = 0; w < it->windows(); ++w) {
                if (it->filters > 0) CHECK(it->made[static_cast<size_t>(w)] == out[w]);
                for (int64_t e = 0; it->filters == 0 && e < it->elements(); ++e)
                    CHECK(it->patch(w, e) == out[w * it->elements() + e]);
            }
        }
    CHECK(seen == 3);
}

TEST_CASE("the convolution lesson's picture reads at any size, picks windows, and keeps an open answer to itself") {
    Desk desk({.lesson = "B05", .lesson_step = 0});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(desk.session.learn.reveal_steps >= 0);
    CHECK(said_by(desk, "convolution").find("38") == std::string::npos);
    reads_at_any_size(desk);
    answer(desk, 0);
    CHECK(said_by(desk, "convolution").find("window 0: 1 2 4 5 makes 38") != std::string::npos);
    reads_at_any_size(desk);
    REQUIRE(desk.click_on("one matrix"));
    CHECK(desk.shows("20 of 36 weights are zeros"));
    CHECK(desk.clashes() == std::vector<std::string>{});
    for (const int step : {2, 4, 5, 6}) {
        go_to(desk, step);
        INFO("step " << step + 1);
        reads_at_any_size(desk);
    }
}

TEST_CASE("a kernel's weights below zero have their numbers as well") {
    Desk desk({.lesson = "B05", .lesson_step = 7});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(desk.shows("-0.17"));  // LeNet-5's first filter has seven of them
    CHECK(std::count_if(desk.written.begin(), desk.written.end(), [](const UiState::Written& text) {
              return text.text.starts_with("-0.") || text.text.starts_with("-.");
          }) >= 5);
    CHECK(desk.clashes() == std::vector<std::string>{});
}

}  // namespace gui_convolution_test
